"""What each process of a job does: open the model once, then translate shards, whatever single rows hold."""

from __future__ import annotations

import argparse
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from translate.common.errors import first_line
from translate.common.extras import explain_missing
from translate.data.cleaning import clean_text
from translate.infer.answers import Settings, lines_per_source, pair_lines
from translate.infer.bulk.shards import Chunk, Shard, format_of
from translate.infer.lines import lines_at_once
from translate.infer.model import open_translator, translate_settings

if TYPE_CHECKING:
    from translate.translator.translator import Translator


@dataclass(frozen=True)
class Outcome:
    """What became of a shard, as plain values, which pass between processes.

    Attributes:
        name: Its name.
        part: File with the translations, to be renamed; "" if there is none.
        lines: How many rows it has.
        failed: Rows without a translation: their numbers, from 1, and why.
        error: Why the whole shard could not be translated; "" if it could.
    """

    name: str
    part: str = ""
    lines: int = 0
    failed: list[tuple[int, str]] = field(default_factory=list)
    error: str = ""


class Worker:
    """A process with a model.

    Args:
        args: The command line of `translate.infer`; with `pairs`, of text files, each line becomes its training pairs.
    """

    def __init__(self, args: argparse.Namespace) -> None:
        self.column, self.most = args.column, lines_at_once(args.num_hypotheses)
        translator = open_translator(args)
        settings = translate_settings(args, translator)
        if args.pairs:
            self._lines_each = lines_per_source(settings)
            self._answer: Callable[[list[str]], list[str]] = partial(self._pairs, translator, settings)
        else:
            self._lines_each = 0
            self._answer = partial(_translations, translator, settings, args.prefix)

    def work(self, shard: Shard) -> Outcome:
        """Translate a shard into a new file beside its output, which whoever asked for it renames.

        A shard fails as a whole only where the model does: on each text of its first chunk, if there are several, or
        on each text of a later chunk and on one that it translated before.
        """
        part = shard.target.with_name(f".{shard.target.name}.{uuid.uuid4().hex}.tmp")
        rows = _Rows()
        try:
            form = format_of(shard.source, self.column, self.most)
            part.parent.mkdir(parents=True, exist_ok=True)
            with part.open("wb") as file:
                form.write(file, shard.target, self._translated(form.read(shard.source), rows))
        except Exception as error:  # whatever it is, the other shards go on
            with suppress(FileNotFoundError):
                part.unlink()
            return Outcome(shard.name, error=what_failed(error))
        return Outcome(shard.name, str(part), rows.lines, rows.failed)

    def _translated(self, chunks: Iterator[Chunk], rows: _Rows) -> Iterator[tuple[Chunk, list[str]]]:
        for chunk in chunks:
            failed: dict[int, str] = {}
            outputs = self._outputs(chunk.texts, 0, failed)
            good = (text for place, text in enumerate(chunk.texts) if place not in failed and clean_text(text))
            found = next(good, "")
            if len(failed) > 1 and not found and not self._can_translate(rows.good):
                raise ValueError(next(iter(failed.values())))
            rows.good = found or rows.good
            chunk.problems.update(failed)
            rows.failed += [(rows.lines + place + 1, problem) for place, problem in sorted(chunk.problems.items())]
            rows.lines += len(outputs)
            yield chunk, outputs

    def _outputs(self, texts: list[str], first: int, problems: dict[int, str]) -> list[str]:
        """Translate texts; where that fails, each half by itself, down to the text that is to blame.

        Args:
            texts: Sources.
            first: Place of the first one in its chunk.
            problems: Gets the places of those that cannot be translated, and why.
        """
        try:
            return self._answer(texts)
        except Exception as error:
            if len(texts) == 1:
                problems[first] = what_failed(error)
                return ["\n".join([f"{clean_text(texts[0])}\t"] * self._lines_each)]
        middle = len(texts) // 2
        found = self._outputs(texts[:middle], first, problems)
        return found + self._outputs(texts[middle:], first + middle, problems)

    def _can_translate(self, text: str) -> bool:
        """Return whether a text that was translated before still can be; "" is none."""
        with suppress(Exception):
            return bool(text and self._answer([text]))
        return False

    def _pairs(self, translator: Translator, settings: Settings, texts: list[str]) -> list[str]:
        """Return the lines of the training pairs of each text in one string."""
        lines, each = list(pair_lines(translator, settings, texts, 1)), self._lines_each
        return ["\n".join(lines[place : place + each]) for place in range(0, len(lines), each)]


def _translations(translator: Translator, settings: Settings, prefix: str | None, texts: list[str]) -> list[str]:
    prefixes = None if prefix is None else [prefix] * len(texts)
    return [one.text for one in translator.translate(texts, prefixes=prefixes, **settings)]


@dataclass
class _Rows:
    """What is known of the rows of a shard so far; `good` is a text that the model could translate."""

    lines: int = 0
    failed: list[tuple[int, str]] = field(default_factory=list)
    good: str = ""


def as_values(found: Shard | Outcome) -> dict[str, Any]:
    """Return a shard or an outcome as values that JSON can hold."""
    return {name: str(value) if hasattr(value, "__fspath__") else value for name, value in asdict(found).items()}


def what_failed(error: Exception) -> str:
    """Return in a line why a file or a line has no translation, and for a missing package what brings it."""
    if isinstance(error, ModuleNotFoundError) and (hint := explain_missing(error)):
        return hint
    text = first_line(error)
    return text if isinstance(error, ValueError | OSError) else f"{type(error).__name__}: {text}"
