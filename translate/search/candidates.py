"""The most probable continuations of hypotheses, found without sorting whole vocabularies; and who stays in a batch."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from translate.kernels import best_continuations


class Candidates(NamedTuple):
    """The K best continuations of each sentence, best first; of a beam of N hypotheses K = 2N."""

    log_probs: Tensor  # [B, K] summed over the whole hypothesis; -inf marks an impossible one
    beams: Tensor  # [B, K] which of the sentence's N hypotheses it continues
    token_ids: Tensor  # [B, K] with which token


def best_candidates(logits: Tensor, log_probs: Tensor, banned: Sequence[int], count: int) -> Candidates:
    """Find the most probable continuations [B, count] of hypotheses, without the banned tokens.

    Args:
        logits: [B * N, V].
        log_probs: Of the hypotheses so far.
        banned: Token ids.
        count: How many; where there are fewer, -inf fills up.
    """
    found = best_continuations(logits, log_probs, banned, count)
    if found is not None:
        return Candidates(*found)
    width = min(count + len(banned), logits.size(1))
    best, token_ids = top_k(logits, width)  # [B * N, width]: no other token can be among the best
    likeliest = logits.softmax(dim=1, dtype=torch.float32).gather(1, token_ids[:, :1])  # of all, at least 1 / V
    best = best.float() - best[:, :1] + likeliest.log() + log_probs.view(-1, 1)
    for token_id in banned:
        best.masked_fill_(token_ids == token_id, -math.inf)
    best, places = largest(best.view(len(log_probs), -1), count)
    return Candidates(best, places // width, token_ids.view(len(log_probs), -1).gather(1, places))


def top_k(x: Tensor, k: int, chunk: int = 64) -> tuple[Tensor, Tensor]:
    """Compute `x.topk(k)` over the columns of x [R, V], exactly, at the cost of a maximum: values and indices [R, k].

    The k largest lie in the k chunks with the largest maxima, and in the few columns that fill no chunk. Of equal
    values at the border another may be chosen.
    """
    num_chunks = x.size(1) // chunk
    if num_chunks < 2 * k:
        return x.topk(k, dim=1)
    whole = num_chunks * chunk
    chunks = x[:, :whole].view(len(x), num_chunks, chunk)
    first = chunks.amax(dim=2).topk(k, dim=1).indices  # [R, k]
    places = (first[:, :, None] * chunk + torch.arange(chunk, device=x.device)).flatten(1)
    values = chunks.gather(1, first[:, :, None].expand(-1, -1, chunk)).flatten(1)
    if whole < x.size(1):
        rest = torch.arange(whole, x.size(1), device=x.device).expand(len(x), -1)
        places, values = torch.cat((places, rest), dim=1), torch.cat((values, x[:, whole:]), dim=1)
    best, found = values.topk(k, dim=1)
    return best, places.gather(1, found)


def largest(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the largest of values [B, K] and their places, [B, count]; -inf where a tiny vocabulary has fewer."""
    found, places = F.pad(values, (0, max(0, count - values.size(1))), value=-math.inf).topk(count, dim=1)
    return found, places.clamp(max=values.size(1) - 1)


def compact(stays: Sequence[bool]) -> list[int]:
    """Return the places where `stays` is true, in an order that leaves as many as possible where they are.

    >>> compact([True, False, True, False, True])
    [0, 4, 2]
    """
    count = sum(stays)
    later = (place for place in range(count, len(stays)) if stays[place])
    return [place if stays[place] else next(later) for place in range(count)]
