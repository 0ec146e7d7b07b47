"""What samples are drawn from, and the random numbers they are drawn with."""

import hashlib
import math

import torch
from torch import Tensor


def drawing_log_probs(log_probs: Tensor, *, temperature: float, top_k: int, top_p: float) -> Tensor:
    """Return the distribution that tokens are drawn from: temperature, then `top_k`, then `top_p`, normalized.

    Args:
        log_probs: The model's, or any logits, [R, V]; -inf is never drawn.
        temperature: Divides them; below 1 sharpens, above 1 flattens.
        top_k: Only the k most probable tokens; ties with the last of them stay; 0 = all.
        top_p: Only the most probable tokens that together reach this share; 1 = all.

    Returns:
        Log-probabilities [R, V], float32; -inf for what is left out.

    Source: top-k: Fan et al. 2018 (arXiv:1805.04833); top-p, nucleus sampling: Holtzman et al. 2020 (arXiv:1904.09751).

    >>> log_probs = torch.tensor([[0.5, 0.3, 0.2]]).log()
    >>> drawing_log_probs(log_probs, temperature=1.0, top_k=0, top_p=0.6).exp()
    tensor([[0.6250, 0.3750, 0.0000]])
    """
    scaled = log_probs.float() / temperature
    if top_k:
        least = scaled.topk(min(top_k, scaled.size(1)), dim=1).values[:, -1:]
        scaled = scaled.masked_fill(scaled < least, -math.inf)
    if top_p < 1:
        scaled = scaled.masked_fill(_outside_nucleus(scaled.softmax(1), top_p), -math.inf)
    return scaled.log_softmax(1)


def _outside_nucleus(shares: Tensor, top_p: float, width: int = 64) -> Tensor:
    """Return which tokens [R, V] are not among the most probable that reach `top_p`; few rows are sorted whole."""
    width = min(width, shares.size(1))
    ordered, places = shares.topk(width, dim=1)
    before = ordered.cumsum(1) - ordered  # share of the more probable tokens
    outside = torch.ones_like(shares, dtype=torch.bool).scatter_(1, places, before >= top_p)
    short = ordered.sum(1) < top_p
    if width < shares.size(1) and short.any():
        outside[short] = _outside_nucleus(shares[short], top_p, shares.size(1))
    return outside


def generator_of(seed: int, src_ids: list[int]) -> torch.Generator:
    """Make the random number generator of one source, on the CPU, so that draws are the same on every device.

    It depends on the seed and on the ids of the source, not on its place among others: a sentence gets the same samples
    in every file, order and batch, and on every machine.
    """
    digest = hashlib.blake2b(repr((seed, src_ids)).encode(), digest_size=8).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest, "little") - 2**63)
