"""Choices by a measure of translations: the candidate that is most like all the others, or most like a reference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

from translate.config.decode import METRICS


def mbr_order(texts: Sequence[str], scores: Sequence[float], weights: Sequence[float], metric: str) -> list[int]:
    """Return the indices of the candidates, the largest expected utility first.

    The expected utility of a candidate is the mean, over all candidates as if each were the reference, of its sentence
    chrF or sentence BLEU: sacreBLEU's `sentence_chrf` and, with effective order, `sentence_bleu`. It takes their number
    squared of measurements.

    Args:
        texts: Candidates; equal ones are measured once and count as often as they stand here.
        scores: Of each; of candidates with the same expected utility the better score stands first.
        weights: Of each as a reference, >= 0 and not all 0, in any unit.
        metric: "chrf" or "bleu".

    Raises:
        ValueError: If there is no such metric.

    Source: Kumar and Byrne 2004, "Minimum Bayes-Risk Decoding for Statistical Machine Translation"; over samples:
    Eikema and Aziz 2020 (arXiv:2005.10283).

    >>> mbr_order(["a cat sat", "a dog", "a cat sat down"], [-1.0, -2.0, -3.0], [1.0, 1.0, 1.0], "chrf")
    [2, 0, 1]
    """
    shares: dict[str, float] = {}
    for text, weight in zip(texts, weights, strict=True):
        shares[text] = shares.get(text, 0.0) + weight / math.fsum(weights)
    utilities = _expected_utilities(shares, _measure(metric))
    return sorted(range(len(texts)), key=lambda place: (-utilities[texts[place]], -scores[place]))


def posterior(log_probs: Sequence[float]) -> list[float]:
    """Return the shares of different candidates: their probabilities, normalized to sum to 1.

    >>> posterior([-1000.0, -1000.0])
    [0.5, 0.5]
    """
    largest = max(log_probs)
    weights = [math.exp(log_prob - largest) for log_prob in log_probs]
    return [weight / math.fsum(weights) for weight in weights]


def closest(texts: Sequence[str], reference: str, metric: str) -> int:
    """Place of the candidate that is most like a reference; of equals the first.

    Args:
        texts: Candidates, at least one.
        reference: What they should be like.
        metric: "chrf" or "bleu", as in `mbr_order`.

    Raises:
        ValueError: If there is no such metric, or no candidate.

    Source: sequence-level interpolation, Kim and Rush 2016 (arXiv:1606.07947), section 3.3.

    >>> closest(["a dog", "a cat sat", "a cat sat"], "the cat sat", "chrf")
    1
    """
    measure = _measure(metric)
    if not texts:
        raise ValueError("there is no candidate to choose")
    return max(range(len(texts)), key=lambda place: measure.sentence_score(texts[place], [reference]).score)


@cache
def _measure(metric: str) -> Any:
    """Return the metric of sacreBLEU for single sentences."""
    if metric not in METRICS:
        raise ValueError(f"the metric ({metric}) must be one of {', '.join(METRICS)}")
    from sacrebleu.metrics import BLEU, CHRF

    return CHRF() if metric == "chrf" else BLEU(effective_order=True, force=True)


def _expected_utilities(shares: dict[str, float], measure: Any) -> dict[str, float]:
    """Compute mean sentence scores, counting the n-grams of each reference once instead of once per text."""
    prepared = {text: measure._preprocess_segment(text) for text in shares}
    utilities = dict.fromkeys(shares, 0.0)
    for reference, share in shares.items():
        ngrams = measure._extract_reference_info([prepared[reference]])
        for text in shares:
            counts = measure._compute_segment_statistics(prepared[text], ngrams)
            utilities[text] += share * measure._compute_score_from_stats(counts).score
    return {text: round(utility, 9) for text, utility in utilities.items()}  # ties are ties, however they add up
