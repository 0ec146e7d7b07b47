"""Arrays of numpy and of torch: searches are written in the standard that both follow (https://data-apis.org/array-api).

A search works with arrays of the kind that its model takes, on the model's device.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = Any  # of numpy or of torch
quiet = np.errstate(divide="ignore", invalid="ignore")  # around a search, in which infinities are meant
_CHUNK = 64  # columns that share a maximum


def namespace(x: Array) -> Any:
    """Return the functions of the standard for arrays of the kind of x."""
    if isinstance(x, np.ndarray):
        return np
    import array_api_compat.torch

    return array_api_compat.torch


def log_softmax(x: Array) -> Array:
    """Compute the logarithm of the softmax of each row of x [..., V], in float32."""
    xp = namespace(x)
    x = xp.astype(x, xp.float32, copy=False)
    x = x - xp.max(x, axis=-1, keepdims=True)
    return x - xp.log(xp.sum(xp.exp(x), axis=-1, keepdims=True))


def gather(x: Array, places: Array) -> Array:
    """Return x[..., places] of each row: [..., V] at [..., n] to [..., n]."""
    return namespace(x).take_along_axis(x, places, axis=-1)


def top_k(x: Array, k: int) -> tuple[Array, Array]:
    """Return the k largest of each row of x [R, V], the largest first, and their places, [R, k] each.

    They lie in the k chunks with the largest maxima, and in the few columns that fill no chunk, so that no row is
    sorted. Of equal values at the border another may be chosen.
    """
    xp, (rows, columns) = namespace(x), x.shape
    chunks = columns // _CHUNK
    if chunks < 2 * k:
        return _sorted_top(x, k)
    whole = chunks * _CHUNK
    by_chunk = xp.reshape(x[:, :whole], (rows, chunks, _CHUNK))
    first = _sorted_top(xp.max(by_chunk, axis=2), k)[1]  # [R, k]
    places = first[:, :, None] * _CHUNK + xp.arange(_CHUNK, device=x.device)
    places = xp.reshape(places, (rows, -1))
    if whole < columns:
        rest = xp.broadcast_to(xp.arange(whole, columns, device=x.device), (rows, columns - whole))
        places = xp.concat((places, rest), axis=1)
    values, found = _sorted_top(gather(x, places), k)
    return values, gather(places, found)


def _sorted_top(x: Array, k: int) -> tuple[Array, Array]:
    if not isinstance(x, np.ndarray):
        values, places = x.topk(k, dim=1)
        return values, places
    places = np.argpartition(x, -k, axis=1)[:, -k:] if k < x.shape[1] else np.broadcast_to(np.arange(k), x.shape)
    values = gather(x, places)
    order = np.argsort(-values, axis=1, kind="stable")
    return gather(values, order), gather(places, order)


def largest(values: Array, count: int) -> tuple[Array, Array]:
    """Return the largest of values [B, K] and their places, [B, count]; -inf where a tiny vocabulary has fewer."""
    xp, (rows, columns) = namespace(values), values.shape
    if columns < count:
        filling = xp.full((rows, count - columns), -math.inf, dtype=values.dtype, device=values.device)
        values = xp.concat((values, filling), axis=1)
    found, places = top_k(values, count)
    return found, xp.clip(places, max=columns - 1)


def compact(stays: Sequence[bool]) -> list[int]:
    """Return the places where `stays` is true, in an order that leaves as many as possible where they are.

    >>> compact([True, False, True, False, True])
    [0, 4, 2]
    """
    count = sum(stays)
    later = (place for place in range(count, len(stays)) if stays[place])
    return [place if stays[place] else next(later) for place in range(count)]
