"""The lines that `translate.infer` writes for those it reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from translate.translator.alignment import pharaoh
from translate.translator.translation import TranslatedHypothesis, Translation

if TYPE_CHECKING:
    from translate.translator.translator import Translator

Settings = dict[str, Any]
Answer = Callable[[list[str], int], Iterator[str]]  # input lines and the number of the first one to output lines


def translated_lines(
    translator: Translator,
    settings: Settings,
    texts: list[str],
    first: int,
    *,
    prefixes: Callable[[int], list[str]] | None,
    as_json: bool,
    attention: bool,
) -> Iterator[str]:
    """Translate `texts` and yield their output lines.

    Args:
        translator: Translates.
        settings: Keyword arguments of `Translator.translate`.
        texts: Sources.
        first: Number of the first source, as a line of the input.
        prefixes: Gives the prefixes of the next `count` translations.
        as_json: Write one object per source, instead of its translation.
        attention: With `as_json`, add the cross-attention of the translation.
    """
    wanted = lines_per_source(settings)  # several begin with the number of their source
    translations = translator.translate(texts, prefixes=prefixes and prefixes(len(texts)), **settings)
    for number, (src, translation) in enumerate(zip(texts, translations, strict=True), first):
        if as_json:
            yield _json_translation(src, translation, _attention(translator, src, translation) if attention else {})
        else:
            found = translation.hypotheses or [TranslatedHypothesis("", 0.0, 0.0, (), (), (), ())] * wanted
            for one in found[:wanted]:
                columns = [str(number), f"{one.score:.4f}"] if wanted > 1 else []
                links = [pharaoh(one.alignment or ())] if settings["alignments"] else []
                yield "\t".join([*columns, one.text, *links])


def pair_lines(
    translator: Translator,
    settings: Settings,
    texts: list[str],
    first: int,
    *,
    prefixes: Callable[[int], list[str]] | None = None,
) -> Iterator[str]:
    """Translate `texts` and yield training pairs, source, tab, translation, for `translate.data.readers.read_table`.

    A TSV has no quoting, so both sides are clean (`clean_text`), without tabs and line ends. An empty source, and a
    hypothesis that a search did not find, give an empty target, which cleaning drops: every source has
    `lines_per_source` lines.

    Args:
        translator: Translates.
        settings: Keyword arguments of `Translator.translate`.
        texts: Sources.
        first: Number of the first source; not used.
        prefixes: Gives the prefixes of the next `count` translations.
    """
    from translate.data.cleaning import clean_text

    wanted = lines_per_source(settings)
    translations = translator.translate(texts, prefixes=prefixes and prefixes(len(texts)), **settings)
    for src, translation in zip(texts, translations, strict=True):
        found = [one.text for one in translation.hypotheses[:wanted]]
        for tgt in [*found, *[""] * (wanted - len(found))]:
            yield f"{clean_text(src)}\t{clean_text(tgt)}"


def pairs_header(translator: Translator) -> bytes:
    """Return the line before all `pair_lines`, which names their columns."""
    return f"{translator.config.src_lang}\t{translator.config.tgt_lang}\n".encode()


def write_answers(answer: Answer, chunks: Iterable[list[str]], output: BinaryIO, done: int) -> int:
    """Write the output lines of each chunk as soon as they are ready.

    Args:
        answer: Makes the output lines of a chunk.
        chunks: Input lines.
        output: Gets the output lines.
        done: Number of input lines that were done before.

    Returns:
        Number of input lines that are done now.
    """
    for texts in chunks:
        for line in answer(texts, done + 1):
            output.write(line.encode() + b"\n")
        output.flush()
        done += len(texts)
    return done


def lines_per_source(settings: Settings) -> int:
    """Return how many lines `translated_lines`, unless as JSON, and `pair_lines` write for a source."""
    if settings["mbr"] not in (None, "none"):
        return 1  # the others were asked for to choose among them
    return settings["num_hypotheses"] or 1


def scored_lines(
    translator: Translator, settings: Settings, lines: list[str], first: int, *, name: str, as_json: bool
) -> Iterator[str]:
    """Score pairs and yield a line for each: log-probability and length-normalized score, tab-separated.

    Args:
        translator: Scores.
        settings: Keyword arguments of `Translator.score`.
        lines: Source, tab, target.
        first: Number of the first line in the input.
        name: Name of the input, for messages.
        as_json: Write one object per pair, with the log-probability of each token.

    Raises:
        ValueError: At a line that is not a pair, after the lines before it were yielded.
    """
    pairs, problem = _pairs(lines, first, name)
    for (src, tgt), found in zip(pairs, translator.score(pairs, **settings), strict=True):
        if as_json:
            tokens = [token._asdict() for token in found.tokens]
            yield _json({"src": src, "tgt": tgt, **found._asdict(), "tokens": tokens})
        else:
            yield f"{found.log_prob:.6f}\t{found.score:.6f}"
    if problem:
        raise ValueError(problem)


def _pairs(lines: list[str], first: int, name: str) -> tuple[list[tuple[str, str]], str]:
    """Return the pairs before the first line that is not a pair, and the error message for that line."""
    pairs: list[tuple[str, str]] = []
    for number, line in enumerate(lines, first):
        src, *rest = line.split("\t")
        if len(rest) != 1:
            return pairs, f"{name}, line {number}: {len(rest)} tabs; --score needs source, one tab, target on each line"
        pairs.append((src, rest[0]))
    return pairs, ""


def _attention(translator: Translator, src: str, translation: Translation) -> Settings:
    """Return the weights [layers, H, T, S] with their pieces; None for an empty source and for one cut into pieces."""
    if not translation.hypotheses or len(translation.hypotheses[0].parts) > 1:
        return {"attention": None}
    found = translator.into(translation.tgt_lang).cross_attention(src, translation.text)
    return {"attention": {**found._asdict(), "weights": found.weights.astype(float).round(4).tolist()}}


def _json_translation(src: str, translation: Translation, more: Settings) -> str:
    hypotheses = []
    for hypothesis in translation.hypotheses:
        columns = hypothesis._asdict()
        del columns["parts"]
        if hypothesis.alignment is None:
            del columns["alignment"]
        hypotheses.append(columns)
    return _json({"src": src, **translation._asdict(), "hypotheses": hypotheses, **more})


def _json(found: dict[str, Any]) -> str:
    return json.dumps(found, ensure_ascii=False)
