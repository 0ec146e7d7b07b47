"""BLEU, chrF2 and TER with their signatures, bootstrap intervals and paired significance.

All numbers are sacreBLEU's. Its statistics of each sentence (n-gram matches, edits, lengths) are extracted once; the
score of the whole, of a part, of one sentence and of a resample are then sums over rows of the same table. sacreBLEU
does the same inside `corpus_score` and `PairedTest`, but takes its seed from the environment and extracts anew for
every question.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from translate.evaluate.literature import literature_form, literature_signature

METRICS = ("BLEU", "chrF2", "TER")
PROTOCOLS = ("cased", "literature")


@dataclass(frozen=True)
class Score:
    """One metric over one test set.

    Attributes:
        metric: One of `METRICS`; TER counts errors, so lower is better there.
        value: 0 to 100 (TER may exceed 100).
        low: Lower end of the 95 % bootstrap interval; None without bootstrap.
        high: Upper end of it.
        signature: Everything needed to compute the same number elsewhere.
        baseline: The value of the baseline, if there is one.
        p_value: Paired-bootstrap p-value of `value` against `baseline`, by sacreBLEU's formula.
        difference_low: Lower end of the 95 % paired-bootstrap interval of `value - baseline`.
        difference_high: Upper end of it.
    """

    metric: str
    value: float
    low: float | None
    high: float | None
    signature: str
    baseline: float | None = None
    p_value: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None


class Statistics:
    """sacreBLEU's statistics of each sentence of one output, under one protocol.

    Args:
        hypotheses: Raw output, one sentence each; an empty one counts as an error, not as missing.
        references: As many raw references.
        protocol: "cased": raw text, BLEU tokenizes with `13a`. "literature": both sides first go through
            `literature_form`, BLEU then only splits at spaces; chrF2 and TER see the same prepared text.
        tgt_lang: Language code of both sides.

    Raises:
        ValueError: If the two differ in length, are empty, or the protocol is unknown.
    """

    def __init__(self, hypotheses: Sequence[str], references: Sequence[str], *, protocol: str, tgt_lang: str) -> None:
        from sacrebleu.metrics import BLEU, CHRF, TER

        if protocol not in PROTOCOLS:
            raise ValueError(f"protocol ({protocol}) must be one of {', '.join(PROTOCOLS)}")
        if len(hypotheses) != len(references):
            raise ValueError(
                f"{len(hypotheses)} hypotheses do not fit {len(references)} references; give one line for each"
            )
        if not references:
            raise ValueError("there is nothing to score: 0 sentences")
        self._suffix = ""
        if protocol == "literature":
            hypotheses, references = literature_form(hypotheses, tgt_lang), literature_form(references, tgt_lang)
            self._suffix = "|" + literature_signature(tgt_lang)
        tokenize = "13a" if protocol == "cased" else "none"
        # force only silences sacreBLEU's warning about tokenized text, which the literature protocol means to score
        self._metrics: dict[str, Any] = {"BLEU": BLEU(tokenize=tokenize, force=True), "chrF2": CHRF(), "TER": TER()}
        self._sentence_bleu = BLEU(tokenize=tokenize, force=True, effective_order=True)
        self._rows: dict[str, list[list[float]]] = {
            name: metric._extract_corpus_statistics(hypotheses, [references]) for name, metric in self._metrics.items()
        }

    def value(self, metric: str, rows: Sequence[int] | None = None) -> float:
        """Score of all sentences, or of those in `rows` taken as a separate test set; 0 to 100."""
        table = self._rows[metric] if rows is None else [self._rows[metric][i] for i in rows]
        return float(self._metrics[metric]._aggregate_and_compute(table).score)

    def resampled(self, metric: str, bootstrap: int, seed: int, rows: Sequence[int] | None = None) -> NDArray[Any]:
        """Score `bootstrap` test sets of the same size, drawn from this one with replacement, [bootstrap].

        The same seed draws the same sentences from any output of the same length, so two outputs are paired.

        Source: Koehn 2004, "Statistical significance tests for machine translation evaluation"; the draws and the
        float32 sums are those of `sacrebleu --confidence`.
        """
        table = np.array(self._rows[metric] if rows is None else [self._rows[metric][i] for i in rows], dtype="float32")
        draws = np.random.default_rng(seed).choice(len(table), size=(bootstrap, len(table)), replace=True)
        compute = self._metrics[metric]._compute_score_from_stats
        return np.array([compute(table[draw].sum(0)).score for draw in draws])

    def sentence_values(self, metric: str) -> list[float]:
        """Score of each sentence by itself; BLEU with effective order, as `sacrebleu --sentence-level` does."""
        compute = (self._sentence_bleu if metric == "BLEU" else self._metrics[metric])._compute_score_from_stats
        return [float(compute(row).score) for row in self._rows[metric]]

    def lengths(self) -> NDArray[Any]:
        """Count the words of each hypothesis and of its reference as BLEU counts them, [sentences, 2]."""
        return np.array(self._rows["BLEU"])[:, :2]

    def signature(self, metric: str, bootstrap: int, seed: int) -> str:
        """Return the signature of sacreBLEU, and after it what the protocol did to the text before."""
        owner = self._metrics[metric]
        owner.n_bootstrap, owner.seed = (bootstrap, str(seed)) if bootstrap else (None, None)
        return f"{owner.get_signature()}{self._suffix}"


def interval(resampled: NDArray[Any]) -> tuple[float, float]:
    """Return the 95 % interval: sorted resamples without 1/40 at each end, as in sacreBLEU.

    >>> interval(np.arange(100.0))
    (2.0, 97.0)
    """
    ordered, cut = np.sort(resampled), len(resampled) // 40
    return float(ordered[cut]), float(ordered[len(ordered) - cut - 1])


def p_value(system: NDArray[Any], baseline: NDArray[Any], difference: float) -> float:
    """Return how often chance alone gives a difference this large, in (0, 1]; below 0.05 is called significant.

    sacreBLEU's formula, but equal scores give 1, where its own prints 1/(resamples + 1) for a system against itself.

    Args:
        system: Resampled scores, [bootstrap].
        baseline: Scores of the same resamples for the other output, [bootstrap].
        difference: Absolute difference of the two scores on the whole test set.
    """
    if difference == 0:
        return 1.0
    gaps = np.abs(system - baseline)
    return float((np.sum(gaps - gaps.mean() > difference) + 1) / (len(gaps) + 1))


def score_statistics(
    system: Statistics, baseline: Statistics | None = None, *, bootstrap: int = 1000, seed: int = 12345
) -> list[Score]:
    """Score BLEU, chrF2 and TER of one output, see `score`."""
    if bootstrap == 1 or (baseline and not bootstrap):
        raise ValueError(f"bootstrap ({bootstrap}) must be 0 (off) or at least 2; a baseline needs it above 0")
    scores = []
    for metric in METRICS:
        found = Score(metric, system.value(metric), None, None, system.signature(metric, bootstrap, seed))
        if bootstrap:
            resampled = system.resampled(metric, bootstrap, seed)
            low, high = interval(resampled)
            found = replace(found, low=low, high=high)
            if baseline:
                found = _compared(found, resampled, baseline.value(metric), baseline.resampled(metric, bootstrap, seed))
        scores.append(found)
    return scores


def _compared(score: Score, system: NDArray[Any], value: float, baseline: NDArray[Any]) -> Score:
    """Add the baseline's value, and how sure the difference is by the same resamples of both, each [bootstrap]."""
    low, high = interval(system - baseline)
    p = p_value(system, baseline, abs(score.value - value))
    return replace(score, baseline=value, p_value=p, difference_low=low, difference_high=high)


def score(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    protocol: str,
    tgt_lang: str,
    bootstrap: int = 1000,
    seed: int = 12345,
    baseline: Sequence[str] | None = None,
) -> list[Score]:
    """Score one output under one protocol.

    Args:
        hypotheses: Raw output, one sentence each.
        references: As many raw references.
        protocol: "cased" or "literature", see `Statistics`.
        tgt_lang: Language code of both sides.
        bootstrap: Resamples for intervals and p-values; 0 leaves both out.
        seed: Of the resampling; 12345 is what the sacreBLEU command line uses.
        baseline: Another output for the same references, to be compared with.

    Returns:
        BLEU, chrF2, TER in this order.

    Raises:
        ValueError: If lengths differ (the message has both), nothing is given, or protocol or bootstrap are unusable.

    >>> [f"{s.metric} {s.value:.1f}" for s in score(["a b c d e"], ["a b c d"], protocol="cased", tgt_lang="en")]
    ['BLEU 66.9', 'chrF2 91.4', 'TER 25.0']
    """
    system = Statistics(hypotheses, references, protocol=protocol, tgt_lang=tgt_lang)
    other = None if baseline is None else Statistics(baseline, references, protocol=protocol, tgt_lang=tgt_lang)
    return score_statistics(system, other, bootstrap=bootstrap, seed=seed)
