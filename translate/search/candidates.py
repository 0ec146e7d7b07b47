"""The most probable continuations of hypotheses, found without sorting whole vocabularies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from translate.kernels import best_continuations
from translate.search.arrays import Array, gather, largest, namespace, top_k


class Candidates(NamedTuple):
    """The K best continuations of each sentence, best first; of a beam of N hypotheses K = 2N."""

    log_probs: Array  # [B, K] summed over the whole hypothesis; -inf marks an impossible one
    beams: Array  # [B, K] which of the sentence's N hypotheses it continues
    token_ids: Array  # [B, K] with which token


def best_candidates(logits: Array, log_probs: Array, banned: Sequence[int], count: int) -> Candidates:
    """Find the most probable continuations [B, count] of hypotheses, without the banned tokens.

    Args:
        logits: [B * N, V].
        log_probs: Of the hypotheses so far, [B, N] float32.
        banned: Token ids.
        count: How many; where there are fewer, -inf fills up.
    """
    xp, sentences = namespace(logits), log_probs.shape[0]
    logits = xp.astype(logits, xp.float32, copy=False)
    if str(logits.device) == "cpu":
        found = best_continuations(np.asarray(logits), np.asarray(log_probs), banned, count)
        if found is not None:
            return Candidates(*map(xp.asarray, found))
    width = min(count + len(banned), logits.shape[1])
    best, token_ids = top_k(logits, width)  # [B * N, width]: no other token can be among the best
    share = xp.log(xp.sum(xp.exp(logits - best[:, :1]), axis=1, keepdims=True))
    best = best - best[:, :1] - share + xp.reshape(log_probs, (-1, 1))
    for token_id in banned:
        best = xp.where(token_ids == token_id, -math.inf, best)
    best, places = largest(xp.reshape(best, (sentences, -1)), count)
    return Candidates(best, places // width, gather(xp.reshape(token_ids, (sentences, -1)), places))
