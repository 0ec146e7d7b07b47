"""The models of the server: which languages they translate, and the threads that do it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from translate.config.serve import ServeConfig
from translate.serve.pool import Pool, Sentence
from translate.translator.engines.native import NativeEngine
from translate.translator.recognition import Recognizer
from translate.translator.translation import Translation
from translate.translator.translator import Translator

NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek",
    "en": "English", "es": "Spanish", "et": "Estonian", "fi": "Finnish", "fr": "French", "hr": "Croatian",
    "hu": "Hungarian", "it": "Italian", "lt": "Lithuanian", "lv": "Latvian", "nl": "Dutch", "no": "Norwegian",
    "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian",
    "sv": "Swedish", "tr": "Turkish", "uk": "Ukrainian",
}  # fmt: skip


_TELLING = 2000  # characters of a text that tell its language


class Guess(NamedTuple):
    """A language that a text may be in, and how sure that is, 0 to 100."""

    confidence: float
    language: str


class Models:
    """Opened models, each pair of languages with the one that translates it.

    Args:
        paths: Models as `Translator.load` takes them; of several for a pair of languages the first counts.
        config: Settings of the server.

    Raises:
        ValueError: If a model cannot be opened.
    """

    def __init__(self, paths: Sequence[str], config: ServeConfig) -> None:
        self.translators: dict[tuple[str, str], Translator] = {}
        self.recognizer: Recognizer | None = None
        workers = []
        for path in paths:
            translator = Translator.load(path)
            workers.append(_own_threads(translator))
            self.recognizer = self.recognizer or translator.recognizer
            for pair, own in _directions(translator):
                self.translators.setdefault(pair, own)
        self.pool = Pool(
            self._translate, config.workers or min(workers), queue_limit=config.queue_limit, cache=config.cache
        )

    @property
    def languages(self) -> list[str]:
        """Codes of all languages, in alphabetical order."""
        return sorted({code for pair in self.translators for code in pair})

    def targets(self, src_lang: str) -> list[str]:
        """Return the codes of the languages that a language can be translated into, itself among them."""
        return sorted({src_lang, *(tgt for src, tgt in self.translators if src == src_lang)})

    def formality(self, src_lang: str, tgt_lang: str) -> str:
        """Return `decode.formality` of the model that translates a pair of languages; "any" if there is none."""
        translator = self.translators.get((src_lang, tgt_lang))
        return translator.config.decode.formality if translator else "any"

    def guess(self, text: str) -> list[Guess]:
        """Return the languages that a text may be in, the likeliest first."""
        if self.recognizer is None:
            return [Guess(0.0, self.languages[0])]
        share = 1 / (1 + math.exp(-min(50.0, max(-50.0, self.recognizer.evidence(text[:_TELLING])))))
        guesses = [Guess(round(100 * share, 1), self.recognizer.languages[0])]
        guesses.append(Guess(round(100 * (1 - share), 1), self.recognizer.languages[1]))
        return sorted(guesses, reverse=True)

    def _translate(self, sentences: Sequence[Sentence]) -> list[Translation]:
        """Translate sentences that differ in their text alone."""
        first = sentences[0]
        translator = self.translators[first.src_lang, first.tgt_lang]
        decode, count = translator.config.decode, first.num_hypotheses
        group_size = -(-max(decode.beam_size, count) // decode.beam_groups)
        beam_size = group_size * decode.beam_groups
        options = replace(decode, num_hypotheses=count, beam_size=beam_size, formality=first.formality)
        texts = [one.text for one in sentences]
        more: Any = {"protect": first.protect, "alignments": first.alignments, "terms": dict(first.terms)}
        return translator.translate(texts, options, **more)


def _own_threads(translator: Translator) -> int:
    """Return how many threads may translate with a model at once; one, if its engine uses all cores by itself."""
    engine = translator.engine
    if not isinstance(engine, NativeEngine):
        return 1
    threads, engine.cores = engine.cores, 1
    return threads


def _directions(translator: Translator) -> Iterator[tuple[tuple[str, str], Translator]]:
    config = translator.config
    for tgt_lang in config.tgt_langs or [config.tgt_lang]:
        own = translator.into(tgt_lang)
        yield (own.config.src_lang, own.config.tgt_lang), own
