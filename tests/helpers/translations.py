"""Made-up translations for tests of what is done with them."""

from __future__ import annotations

from translate.translator.translation import TranslatedHypothesis, Translation


def translation(*texts: str, score: float = -0.5, tgt_lang: str = "fr") -> Translation:
    """Return a translation with one hypothesis for each text, all with the same score; the first is the best."""
    return Translation(
        texts[0], score, tuple(TranslatedHypothesis(text, score, score, (5, 3)) for text in texts), tgt_lang
    )
