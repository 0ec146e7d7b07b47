"""The one place where an array becomes an address that C reads or writes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def pointer(name: str, x: Array, dtype: npt.DTypeLike, *shape: int, strided: bool = False) -> int:
    """Return the address of an array, after a check that it is what C takes it for.

    The array must live until C has returned: pass one that the caller holds, not the result of an expression.

    Args:
        name: Name of the array, for the message.
        x: The array.
        dtype: What C reads.
        shape: The sizes that C is told.
        strided: Whether C is told the strides of all dimensions but the last, which has to be contiguous; otherwise
            the whole array has to be.

    Raises:
        ValueError: If the dtype, a size or the strides differ.
    """
    dense = x.flags.c_contiguous or (strided and (x.shape[-1] < 2 or x.strides[-1] == x.itemsize))
    if x.dtype != dtype or x.shape != shape or not dense:
        raise ValueError(
            f"{name}: the kernels take a contiguous {np.dtype(dtype)} array of shape {list(shape)}, "
            f"not {x.dtype} of shape {list(x.shape)} with strides {list(strides(x))}"
        )
    address: int = x.__array_interface__["data"][0]
    return address


def strides(x: Array) -> tuple[int, ...]:
    """Return the strides of an array in elements, as C counts them."""
    return tuple(stride // x.itemsize for stride in x.strides)


def token_array(name: str, token_ids: Sequence[int], vocab_size: int) -> ctypes.Array[ctypes.c_int64]:
    """Return token ids as C reads them.

    Raises:
        ValueError: If one of them is outside the vocabulary.
    """
    if token_ids and not (min(token_ids) >= 0 and max(token_ids) < vocab_size):
        raise ValueError(f"{name} {list(token_ids)} must lie in 0 to {vocab_size - 1}")
    return (ctypes.c_int64 * len(token_ids))(*token_ids)
