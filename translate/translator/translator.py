"""Strings in, translations out: an engine, its tokenizer and its settings behind one class.

Nothing here imports torch: an exported model is translated without it (see `engines/`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Unpack

from translate.common.resources import SHIPPED
from translate.config.decode import FORMAL, FRENCH, INFORMAL, DecodeChanges, DecodeConfig
from translate.data.cleaning import clean_text
from translate.data.tokenizer import Tokenizer
from translate.markup.protect import fill_slots, translate_masked
from translate.markup.spans import find_spans
from translate.markup.terminology import Terminology
from translate.search.rules import output_rules
from translate.translator.alignment import Links, joined_links, pair_links
from translate.translator.beside import NOTHING, Beside
from translate.translator.bundle import BundleConfig, with_tags
from translate.translator.engines.engine import Engine
from translate.translator.engines.opening import open_engine
from translate.translator.guards.formality import can_choose, in_one_formality
from translate.translator.guards.guarded import guarded_translations
from translate.translator.scoring import Pair, Score, encode_pairs, make_score
from translate.translator.segment_translator import Progress, SegmentTranslator
from translate.translator.translation import CrossAttention, Request, TranslatedHypothesis, Translation

AUTO = "auto"  # as a language to translate into: the other one than a text is in


class Translator:
    """Translate with one model.

    Args:
        engine: What runs it.
        tokenizer: The one it was trained with.
        config: Languages, limits and the search settings used where a call gives none.
        beside: What else its model directory holds.
    """

    def __init__(
        self,
        engine: Engine,
        tokenizer: Tokenizer,
        config: BundleConfig,
        beside: Beside = NOTHING,
    ) -> None:
        self.engine, self.tokenizer, self.config = engine, with_tags(tokenizer, config), config
        self.recognizer, self.memory, self.glossary, self.truecaser = beside

    @classmethod
    def load(cls, path: Path | str = SHIPPED, *, device: str = "auto", precision: str = "auto") -> Translator:
        """Open a model directory, or one that `translate.export` wrote.

        Args:
            path: A model directory, a run directory or an exported one; "en-fr" is the model that comes with the
                package.
            device: "cpu", "cuda", "cuda:1" …; "auto" takes a GPU where there is one.
            precision: "32", "bf16", "16" (GPU only) or "int8" (CPU only): the type of weights and matmuls;
                log-probabilities are always float32. "auto" is "16" on a GPU, "int8" on a CPU whose C kernels can run
                the model, else "32". Of an exported model the type of whatever its quantization leaves in floating
                point; there "auto" is "32".

        Raises:
            ValueError: If there is no model, it is damaged, or device and precision are not possible here.
        """
        return cls(*open_engine(path, device=device, precision=precision))

    @classmethod
    def ensemble(cls, members: Sequence[Translator]) -> Translator:
        """Make one translator of several: a token's probability is the mean of what their models give it.

        Settings that a call does not give are those of the first; sources are cut where the first of them would cut.

        Raises:
            ValueError: If they do not share languages, tokenizer and precision, or one is an exported model.
        """
        from translate.translator.engines.ensemble import EnsembleEngine
        from translate.translator.engines.local import LocalEngine

        first, engines = members[0], [member.engine for member in members if isinstance(member.engine, LocalEngine)]
        if len(engines) < len(members):
            raise ValueError("an exported model cannot join an ensemble; use the model that it was made from")
        for number, member in enumerate(members, 1):
            _check_member(first, member, number)
        networks = [member.config.model for member in members]
        shortest = min(members, key=lambda member: member.config.max_positions or float("inf"))
        limit = min(member.max_src_len for member in members)
        config = replace(first.config, model=shortest.config.model, max_src_len=limit)
        engine = EnsembleEngine(engines, [network.d_model for network in networks])
        return cls(engine, first.tokenizer, config, first._beside)

    def into(self, tgt_lang: str) -> Translator:
        """Return the same model asked to translate into `tgt_lang`, from the other of its two languages.

        Raises:
            ValueError: If it was not trained for that (data.both_directions with data.language_tags).
        """
        config = self.config
        if tgt_lang == config.tgt_lang:
            return self
        if tgt_lang not in config.tgt_langs:
            raise ValueError(f"tgt_lang ({tgt_lang}): this model translates {self._ways}")
        turned = replace(config, src_lang=config.tgt_lang, tgt_lang=tgt_lang)
        return Translator(self.engine, self.tokenizer, turned, self._beside)

    @property
    def _beside(self) -> Beside:
        return Beside(self.recognizer, self.memory, self.glossary, self.truecaser)

    @property
    def _ways(self) -> str:
        back = " and back" if len(self.config.tgt_langs) > 1 else " only"
        return f"{self.config.src_lang} to {self.config.tgt_lang}{back}"

    @property
    def device(self) -> Any:
        """Where the model is: a `torch.device`, or "cpu" or "cuda" of an exported model."""
        return self.engine.device

    @property
    def precision(self) -> str:
        """Type of the model's weights, such as "32" or "int8"."""
        return self.engine.precision

    @property
    def threads(self) -> int:
        """CPU threads that translate."""
        return self.engine.threads

    def describe(self) -> str:
        """Describe the engine, its device, precision and threads in a line."""
        return self.engine.describe()

    @property
    def max_src_len(self) -> int:
        """Longest source that is translated in one piece, in tokens with EOS."""
        return min(self.config.max_src_len, self.config.max_positions or self.config.max_src_len)

    def translate(
        self,
        texts: Sequence[str],
        options: DecodeConfig | None = None,
        *,
        tgt_lang: str | None = None,
        prefixes: Sequence[str | None] | None = None,
        alignments: bool = False,
        protect: bool = False,
        terms: Mapping[str, str] | Terminology | None = None,
        progress: Progress | None = None,
        **changes: Unpack[DecodeChanges],
    ) -> list[Translation]:
        """Translate texts; each comes out as one line, in the order given, whatever the batches were.

        A text is cleaned as in training (`clean_text`); one that is then empty gives an empty translation without
        touching the model. Equal texts are translated once. A text of several
        sentences longer than `paragraph_len` tokens, and any text longer than `max_src_len`, is cut (`split_paragraph`,
        `split_text`), its segments are translated on their own and joined by spaces: hypothesis number k of the text is
        made of number k of each segment.

        Args:
            texts: Any strings.
            options: Settings of the search; None means those of the model directory.
            tgt_lang: Language to translate into, see `into`; None means that of the model directory, "auto" for each
                text the other one than it is in, see `recognize`.
            prefixes: What the translation of each text begins with, and which the search goes on from; None or an empty
                one = anything. Then no text is translated again by `copy_guard`, and those with a prefix are read in
                their form. Where the clean prefix ends, a word need not: the next token may continue its last word.
                Of a text that is cut it is the beginning of the first segment; an empty text stays empty.
            alignments: Whether to align the words of each hypothesis, see `align`.
            protect: Whether tags, addresses, placeholders and quantities (`find_spans`) come through as they are.
            terms: Source to target; what `Terminology` finds of them is translated so, and never changed. With this or
                `protect` the model reads stand-ins (`mask`); scores and token ids are of its output before what they
                stand for is put back (`fill`).
            progress: Called after each batch with the number of texts that it completed.
            **changes: Single settings on top of `options`, such as beam_size=4; see `DecodeConfig`.

        Raises:
            ValueError: If a setting is out of its range or not possible with the engine, a term is not usable,
                `max_output_len` exceeds the model's positions, or alignments or prefixes are asked for beside `protect`
                or `terms`.
            TypeError: If there is no such setting.
        """
        texts = texts if isinstance(texts, str) else list(texts)  # a generator, too
        _check_arguments(texts, prefixes, alignments=alignments, keeps=protect or bool(terms))
        self._check_formality(changes.get("formality"), tgt_lang, prefixes)
        if tgt_lang == AUTO:
            more: Any = {"alignments": alignments, "protect": protect, "terms": terms, "progress": progress, **changes}
            return self._translate_recognized(texts, options, prefixes, more)
        decode = (options or self.config.decode).changed(changes)
        self._check(decode)
        translator = self if tgt_lang is None else self.into(tgt_lang)
        clean = [clean_text(text) for text in texts]
        if prefixes is not None:
            requests = list(map(Request, clean, [clean_text(prefix or "") for prefix in prefixes]))
            translations = translator._translate(requests, decode, progress)
        else:
            translations = translator._translate_guarded(
                texts, clean, decode, progress, protect=protect, terms=terms or {}, guards=not alignments
            )
        return translator._with_alignments(clean, translations) if alignments else translations

    def recognize(self, texts: Sequence[str]) -> list[str]:
        """Return the language of each text, one of the two of a model that translates both ways; see `Recognizer`.

        Raises:
            ValueError: If the model translates one way only, or its directory tells nothing about its languages.
        """
        if len(self.config.tgt_langs) < 2:
            raise ValueError(f"only a model of both directions recognizes languages; this one translates {self._ways}")
        if self.recognizer is None:
            raise ValueError("this model directory has no languages.tsv to recognize languages by; name the language")
        return self.recognizer.recognize(map(clean_text, texts))

    def score(
        self,
        pairs: Sequence[Pair],
        *,
        length_penalty: float | None = None,
        batch_tokens: int | None = None,
        progress: Progress | None = None,
    ) -> list[Score]:
        """Score given targets, token by token, by teacher forcing; the batches change nothing.

        Texts are cleaned as in training and end in EOS; a side that is then empty is EOS alone. Target ids, such as
        those of a `TranslatedHypothesis`, are taken as they are: what a search reports is what this gives for its ids,
        if no guard changed what the model read and a shortlist was checked. The text alone may be cut into other pieces
        than the search put it together from.
        Pairs are read whole, whatever their length.

        Args:
            pairs: (source, target), the target a text or token ids.
            length_penalty: Exponent of the length in `Score.score`; None means that of the model directory.
            batch_tokens: Limit of sentences * longest side in a batch; None means that of the model directory.
            progress: Called after each batch with the number of pairs in it.

        Raises:
            ValueError: If a setting is out of its range, a pair is malformed or longer than learned positions.
        """
        decode = self.config.decode.changed({"length_penalty": length_penalty, "batch_tokens": batch_tokens})
        encoded = encode_pairs(self.tokenizer, pairs, self.config.max_positions)
        scores: dict[int, Score] = {}
        for places, log_probs in self.engine.score(encoded, decode.batch_tokens):
            for place, own in zip(places, log_probs, strict=True):
                scores[place] = make_score(self.tokenizer, encoded[place][1], own, decode.length_penalty)
            if progress is not None:
                progress(len(places))
        return [scores[place] for place in range(len(pairs))]

    def align(self, pairs: Sequence[tuple[str, str]]) -> list[Links]:
        """Link each target word of a pair to a source word, by the model's cross-attention.

        The words are what spaces separate in the clean texts, counted from 0, and each target word has one link. The
        weights are the mean over the heads of one decoder layer; where positions end, words behind them have no links.

        Args:
            pairs: (source, target).

        Returns:
            Links of each pair, (source word, target word), in the order of the target.
        """
        end = self.config.max_positions
        encoded = [(src_ids[:end], tgt_ids[:end]) for src_ids, tgt_ids in encode_pairs(self.tokenizer, pairs, None)]
        weights = self.engine.align(encoded)
        return [pair_links(own, *ids, self.tokenizer) for ids, own in zip(encoded, weights, strict=True)]

    def cross_attention(self, src: str, tgt: str) -> CrossAttention:
        """Return the cross-attention weights while the model reads `src` and is led through the translation `tgt`."""
        src_ids, tgt_ids = self.tokenizer.encode_src(clean_text(src)), self.tokenizer.encode_tgt(clean_text(tgt))
        pieces = self.tokenizer.pieces_src(src_ids), self.tokenizer.pieces_tgt(tgt_ids)
        return CrossAttention(*pieces, self.engine.cross_attention(src_ids, tgt_ids))

    def _check(self, decode: DecodeConfig) -> None:
        """Raise ValueError if the engine or the model's positions do not allow the settings."""
        self.engine.check(decode)
        end = self.config.max_positions
        if end is not None and decode.max_output_len > end:
            raise ValueError(
                f"max_output_len ({decode.max_output_len}) must be at most {end}, the number of positions that this "
                "model knows"
            )
        if decode.mbr != "none" and find_spec("sacrebleu") is None:
            raise ValueError(f"mbr ({decode.mbr}) measures with sacrebleu, which is missing: pip install sacrebleu")

    def _check_formality(self, asked: str | None, tgt_lang: str | None, prefixes: Sequence[str | None] | None) -> None:
        """Raise ValueError if translations are asked to say tu or vous and cannot be; `tgt_lang` as of `translate`."""
        if asked not in (FORMAL, INFORMAL):
            return
        possible = self.config.tgt_langs if tgt_lang == AUTO else [tgt_lang or self.config.tgt_lang]
        if possible and FRENCH not in possible:
            raise ValueError(f"formality ({asked}) is for translations into {FRENCH}, not {' or '.join(possible)}")
        if any(prefixes or ()):
            raise ValueError(f"formality ({asked}) cannot be combined with prefixes; leave one of them out")

    def check_prefix(self, prefix: str, decode: DecodeConfig) -> None:
        """Raise ValueError if a prefix leaves no room for anything else in an output."""
        output_rules([], self.tokenizer.encode_tgt(clean_text(prefix))[:-1], decode)

    def _translate_guarded(
        self,
        texts: Sequence[str],
        clean: Sequence[str],
        decode: DecodeConfig,
        progress: Progress | None,
        *,
        protect: bool,
        terms: Mapping[str, str] | Terminology,
        guards: bool,
    ) -> list[Translation]:
        """Translate texts without prefixes, with the guards that look over whole texts; arguments as of `translate`."""
        terminology = terms if isinstance(terms, Terminology) else Terminology(terms)
        kept = cache(partial(_kept_ranges, protect=protect, terminology=terminology))
        # what is kept comes through to the letter
        sources = [text if kept(text) else own for text, own in zip(texts, clean, strict=True)]
        translate = partial(self._translate_whole, protect=protect, terminology=terminology)

        def run(texts: list[str], decode: DecodeConfig, progress: Progress | None = None) -> list[Translation]:
            found, langs = translate(texts, decode, progress), (self.config.src_lang, self.config.tgt_lang)
            if not guards:
                return found
            return guarded_translations(
                texts, found, translate, decode, tokenizer=self.tokenizer, langs=langs, kept=kept
            )

        found = run(sources, decode, progress)
        if decode.formality != "consistent" or not can_choose(decode, self.config.tgt_lang):
            return found
        return in_one_formality(
            found,
            lambda places, formality: run([sources[place] for place in places], replace(decode, formality=formality)),
        )

    def _translate_whole(
        self,
        texts: Sequence[str],
        decode: DecodeConfig,
        progress: Progress | None = None,
        *,
        protect: bool,
        terminology: Terminology,
    ) -> list[Translation]:
        """Translate texts without prefixes, clean ones if nothing of them is kept; arguments as of `translate`."""
        if protect or terminology:
            return self._translate_protected(texts, terminology, protect, decode, progress)
        return self._translate(list(map(Request, texts)), decode, progress)

    def _translate(self, requests: list[Request], decode: DecodeConfig, progress: Progress | None) -> list[Translation]:
        """Translate clean texts."""
        translator = SegmentTranslator(self.engine, self.tokenizer, self.config, self._beside, self.max_src_len)
        return translator.translate(requests, decode, progress)

    def _translate_recognized(
        self,
        texts: Sequence[str],
        options: DecodeConfig | None,
        prefixes: Sequence[str | None] | None,
        more: dict[str, Any],
    ) -> list[Translation]:
        """Translate each text into the other language than it is in; the arguments are those of `translate`."""
        languages, found = self.recognize(texts), dict[int, Translation]()
        for tgt_lang in self.config.tgt_langs:
            places = [place for place, language in enumerate(languages) if language != tgt_lang]
            some = prefixes and [prefixes[place] for place in places]
            own = [texts[place] for place in places]
            asked = more if tgt_lang == FRENCH else {**more, "formality": None}
            translations = self.translate(own, options, tgt_lang=tgt_lang, prefixes=some, **asked)
            found.update(zip(places, translations, strict=True))
        return [found[place] for place in range(len(texts))]

    def _translate_protected(
        self,
        texts: Sequence[str],
        terminology: Terminology,
        spans: bool,
        decode: DecodeConfig,
        progress: Progress | None,
    ) -> list[Translation]:
        """Translate texts with stand-ins for what must stay, and put that back by the alignment."""

        def translate(clean: list[str], attempt: int) -> list[Translation]:
            return self._translate(list(map(Request, clean)), decode, None if attempt else progress)

        results = translate_masked(texts, terminology, spans=spans, translate=translate)
        found = [translation for _, translation in results]
        # what has nothing to put back stays as it is
        places = [place for place, (masked, _) in enumerate(results) if masked.head or masked.slots]
        aligned = self._with_alignments(
            [results[place][0].text for place in places], [found[place] for place in places]
        )
        for place, translation in zip(places, aligned, strict=True):
            found[place] = fill_slots(results[place][0], translation, decode.num_hypotheses)
        return found

    def _with_alignments(self, texts: list[str], translations: list[Translation]) -> list[Translation]:
        """Return the translations with the alignments of all their hypotheses."""
        pairs = list({part: None for one in translations for found in one.hypotheses for part in found.parts})
        links = dict(zip(pairs, self.align(pairs), strict=True))

        def align(text: str, found: TranslatedHypothesis) -> TranslatedHypothesis:
            return found._replace(alignment=joined_links(text, found.parts, links))

        return [
            one._replace(hypotheses=tuple(align(text, found) for found in one.hypotheses))
            for text, one in zip(texts, translations, strict=True)
        ]


def _check_arguments(
    texts: Sequence[str], prefixes: Sequence[str | None] | None, *, alignments: bool, keeps: bool
) -> None:
    """Raise ValueError if the arguments of `translate` do not go together."""
    if isinstance(texts, str):
        raise ValueError("texts must be a list of strings, not one string: translate([text])")
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise ValueError(f"text {number} must be a string, not {text!r}")
    if prefixes is not None and len(prefixes) != len(texts):
        raise ValueError(f"prefixes ({len(prefixes)}) must be as many as texts ({len(texts)}), or None")
    for name, given in (("alignments", alignments), ("prefixes", prefixes is not None)):
        if given and keeps:
            raise ValueError(f"{name} cannot be combined with protect or terms; leave one of them out")


def _kept_ranges(text: str, *, protect: bool, terminology: Terminology) -> list[tuple[int, int]]:
    """Return where a text holds spans that come through, or terms."""
    spans = [(span.start, span.end) for span in find_spans(text)] if protect else []
    return spans + [(use.start, use.end) for use in terminology.find(text)]


def _check_member(first: Translator, member: Translator, number: int) -> None:
    """Raise ValueError unless model `number` of an ensemble fits the first."""
    languages = [(one.config.src_lang, one.config.tgt_lang) for one in (first, member)]
    if languages[0] != languages[1]:
        (src, tgt), (other_src, other_tgt) = languages
        raise ValueError(f"model {number} translates {other_src} to {other_tgt}, but model 1 {src} to {tgt}")
    if first.config.tgt_langs != member.config.tgt_langs:
        codes, other_codes = (", ".join(one.config.tgt_langs) or "none" for one in (first, member))
        raise ValueError(f"model {number} was trained with the language codes {other_codes}, but model 1 with {codes}")
    if _pieces_of(first.tokenizer) != _pieces_of(member.tokenizer):
        raise ValueError(
            f"model {number} has other pieces in its tokenizer than model 1; an ensemble needs runs that share one: "
            "train with the same tokenizer.path"
        )


def _pieces_of(tokenizer: Tokenizer) -> tuple[list[str], list[str]]:
    src, tgt = range(tokenizer.src_vocab_size), range(tokenizer.tgt_vocab_size)
    return tokenizer.pieces_src(src), tokenizer.pieces_tgt(tgt)
