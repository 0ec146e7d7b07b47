"""What a search gives back, and the value it is ranked by."""

from __future__ import annotations

import math
from typing import NamedTuple


class Hypothesis(NamedTuple):
    """One candidate output.

    Attributes:
        token_ids: Generated tokens without BOS; EOS stands last, unless the length limit cut the hypothesis short.
        log_prob: Sum of the tokens' log-probabilities, natural log, <= 0.
        score: `normalized_score` of `log_prob` and `len(token_ids)`; higher is better.
        token_log_probs: Of each token; None where what searched does not give them.
    """

    token_ids: tuple[int, ...]
    log_prob: float
    score: float
    token_log_probs: tuple[float, ...] | None = None


def normalized_score(log_prob: float, length: int, length_penalty: float) -> float:
    """Rank value of a hypothesis: log_prob / length ** length_penalty.

    Args:
        log_prob: Summed token log-probabilities, natural log, each <= 0.
        length: Generated tokens, EOS counted and BOS not, >= 1.
        length_penalty: Exponent >= 0; 0 ranks by probability, 1 by mean log-probability per token.

    Returns:
        Score; higher is better.

    Source: Wu et al. 2016 (arXiv:1609.08144), section 7, without its constants 5 and 6.

    >>> normalized_score(-3.0, 3, 1.0)
    -1.0
    """
    divisor: float = length**length_penalty
    return log_prob / divisor


def check_number(log_prob: float) -> None:
    """Refuse the NaN of a model whose training or precision went wrong.

    Raises:
        ValueError: If it is one.
    """
    if math.isnan(log_prob):
        raise ValueError("the model's output is not a number (NaN): use precision=32, or train it anew")
