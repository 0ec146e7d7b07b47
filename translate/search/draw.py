"""What samples are drawn from, and the random numbers they are drawn with."""

import hashlib
import math

import numpy as np

from translate.search.arrays import Array, log_softmax, namespace
from translate.search.arrays import top_k as largest_of

_LEAST_SHARE = 1e-30  # in float32 above 0, so that the most probable token always stays


def drawing_log_probs(log_probs: Array, *, temperature: float, top_k: int, top_p: float) -> Array:
    """Return the distribution that tokens are drawn from: temperature, then `top_k`, then `top_p`, normalized.

    Args:
        log_probs: The model's, or any logits, [R, V]; -inf is never drawn.
        temperature: Divides them; below 1 sharpens, above 1 flattens.
        top_k: Only the k most probable tokens; ties with the last of them stay; 0 = all.
        top_p: Only the most probable tokens that together reach this share; 1 = all.

    Returns:
        Log-probabilities [R, V], float32; -inf for what is left out.

    Source: top-k: Fan et al. 2018 (arXiv:1805.04833); top-p, nucleus sampling: Holtzman et al. 2020 (arXiv:1904.09751).

    >>> log_probs = np.log([[0.5, 0.3, 0.2]])
    >>> np.exp(drawing_log_probs(log_probs, temperature=1.0, top_k=0, top_p=0.6)).round(3).tolist()
    [[0.625, 0.375, 0.0]]
    """
    xp = namespace(log_probs)
    scaled = xp.astype(log_probs, xp.float32) / temperature
    if top_k:
        least = largest_of(scaled, min(top_k, scaled.shape[1]))[0][:, -1:]
        scaled = xp.where(scaled < least, -math.inf, scaled)
    if top_p < 1:
        scaled = xp.where(_outside_nucleus(xp.exp(log_softmax(scaled)), top_p), -math.inf, scaled)
    return log_softmax(scaled)


def _outside_nucleus(shares: Array, top_p: float, width: int = 64) -> Array:
    """Return which tokens [R, V] are not among the most probable that reach `top_p`; few rows are sorted whole."""
    xp, width, top_p = namespace(shares), min(width, shares.shape[1]), max(top_p, _LEAST_SHARE)
    ordered, places = largest_of(shares, width)
    before = xp.cumulative_sum(ordered, axis=1) - ordered  # share of the more probable tokens
    outside, rows = xp.ones_like(shares, dtype=xp.bool), xp.arange(len(shares), device=shares.device)[:, None]
    outside[rows, places] = before >= top_p
    short = xp.sum(ordered, axis=1) < top_p
    if width < shares.shape[1] and xp.any(short):
        outside[short] = _outside_nucleus(shares[short], top_p, shares.shape[1])
    return outside


def generator_of(seed: int, src_ids: list[int]) -> np.random.Generator:
    """Make the random number generator of one source, of numpy, so that draws are the same on every device.

    It depends on the seed and on the ids of the source, not on its place among others: a sentence gets the same samples
    in every file, order and batch, and on every machine.
    """
    digest = hashlib.blake2b(repr((seed, src_ids)).encode(), digest_size=8).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))
