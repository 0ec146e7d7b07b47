"""The one place where a tensor becomes an address that C reads or writes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import torch
from torch import Tensor


def pointer(name: str, x: Tensor, dtype: torch.dtype, *shape: int, strided: bool = False) -> int:
    """Return the address of a tensor, after a check that it is what C takes it for.

    The tensor must live until C has returned: pass one that the caller holds, not the result of an expression.

    Args:
        name: Name of the tensor, for the message.
        x: On the CPU.
        dtype: What C reads.
        shape: The sizes that C is told.
        strided: Whether C is told the strides of all dimensions but the last, which has to be contiguous; otherwise
            the whole tensor has to be.

    Raises:
        ValueError: If the dtype, the device, a size or the strides differ.
    """
    dense = x.size(-1) < 2 or x.stride(-1) == 1 if strided else x.is_contiguous()
    if x.dtype != dtype or x.shape != shape or not dense or not x.is_cpu:
        raise ValueError(
            f"{name}: the kernels take a contiguous {dtype} tensor of shape {list(shape)} on the CPU, "
            f"not {x.dtype} of shape {list(x.shape)} with strides {list(x.stride())} on {x.device}"
        )
    return x.data_ptr()


def token_array(name: str, token_ids: Sequence[int], vocab_size: int) -> ctypes.Array[ctypes.c_int64]:
    """Return token ids as C reads them.

    Raises:
        ValueError: If one of them is outside the vocabulary.
    """
    if token_ids and not (min(token_ids) >= 0 and max(token_ids) < vocab_size):
        raise ValueError(f"{name} {list(token_ids)} must lie in 0 to {vocab_size - 1}")
    return (ctypes.c_int64 * len(token_ids))(*token_ids)
