"""Requests to a translator and its translations, and how translations of segments are joined."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from translate.config.decode import DecodeConfig
from translate.search.hypothesis import Hypothesis, normalized_score
from translate.search.mbr import mbr_order, posterior
from translate.translator.alignment import Links

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


class Request(NamedTuple):
    """A clean text to translate, and the clean text that its translation begins with."""

    text: str
    prefix: str = ""


class TranslatedHypothesis(NamedTuple):
    """One candidate translation of a text.

    Attributes:
        text: One line.
        score: log_prob / len(token_ids) ** length_penalty; higher is better.
        log_prob: Sum of the tokens' log-probabilities, natural log.
        token_ids: Target ids, EOS last; for a text translated in segments, those of all segments.
        token_log_probs: Those of the tokens; their sum is `log_prob`. None from a CTranslate2 model.
        parts: What the model read and what it wrote, one pair or one for each segment: without a form that a guard took
            off, and with stand-ins where one put them in.
        alignment: If asked for, (source word, target word) for each word of `text`; words are what spaces separate in
            the clean source and in `text`, counted from 0.
    """

    text: str
    score: float
    log_prob: float
    token_ids: tuple[int, ...]
    token_log_probs: tuple[float, ...] | None = None
    parts: tuple[tuple[str, str], ...] = ()
    alignment: Links | None = None


class Translation(NamedTuple):
    """The translation of one text.

    Attributes:
        text: That of the best hypothesis; one line, "" for an empty source.
        score: That of the best hypothesis; 0 for an empty source.
        hypotheses: As many as asked for, best score first (with `mbr` largest expected utility first), but those that a
            guard found before the others; of a text in segments the best of each, then the second best of each, and
            so on; none for an empty source.
        tgt_lang: Language it is in.
    """

    text: str
    score: float
    hypotheses: tuple[TranslatedHypothesis, ...]
    tgt_lang: str = ""

    def with_texts(self, texts: Sequence[str]) -> Translation:
        """Return the same with other texts of its hypotheses, one for each; at least one."""
        pairs = zip(self.hypotheses, texts, strict=True)
        return self._replace(text=texts[0], hypotheses=tuple(one._replace(text=text) for one, text in pairs))


class CrossAttention(NamedTuple):
    """Cross-attention weights between the pieces of a source and its translation; EOS ends both sides.

    Attributes:
        src_pieces: S pieces.
        tgt_pieces: T pieces.
        weights: [decoder layers, H, T, S]; row t belongs to the step that predicts `tgt_pieces[t]`, and sums to 1.
    """

    src_pieces: list[str]
    tgt_pieces: list[str]
    weights: NDArray[np.float32]


def join_segments(
    segments: Sequence[str],
    found: Sequence[Sequence[tuple[Hypothesis | TranslatedHypothesis, str]]],
    decode: DecodeConfig,
) -> Translation:
    """Join the hypotheses of a text's segments, each with its text, into one translation."""
    joined = []
    for chosen in zip(*found, strict=False):  # as many as the segment with the fewest has
        texts = [text for _, text in chosen]
        token_ids = tuple(chain.from_iterable(one.token_ids for one, _ in chosen))
        token_log_probs = tuple(chain.from_iterable(one.token_log_probs or () for one, _ in chosen))
        log_prob = sum(one.log_prob for one, _ in chosen)
        score = normalized_score(log_prob, len(token_ids), decode.length_penalty) if token_ids else 0.0
        whole, parts = " ".join(filter(None, texts)), tuple(zip(segments, texts, strict=True))
        joined.append(TranslatedHypothesis(whole, score, log_prob, token_ids, token_log_probs or None, parts))
    if decode.mbr != "none":
        joined = _by_expected_utility(joined, decode)
    return Translation(joined[0].text, joined[0].score, tuple(joined))


def _by_expected_utility(hypotheses: list[TranslatedHypothesis], decode: DecodeConfig) -> list[TranslatedHypothesis]:
    texts, scores = [found.text for found in hypotheses], [found.score for found in hypotheses]
    equal = decode.search == "sample"  # probable texts are drawn more often
    weights = [1.0] * len(texts) if equal else posterior([found.log_prob for found in hypotheses])
    return [hypotheses[place] for place in mbr_order(texts, scores, weights, decode.mbr)]
