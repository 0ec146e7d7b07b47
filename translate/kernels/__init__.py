"""Inner loops of decoding on a CPU, in C, which read and write once what torch passes over several times.

The sources beside this file are compiled when they are first needed, for the processor at hand, and kept in the user's
cache folder. Without a C compiler the callers do the same in torch, more slowly.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor

from translate.kernels.build import load_kernels
from translate.kernels.pointers import pointer, token_array
from translate.kernels.structures import check_layout

_MOST_TOKENS = 64  # that `best_continuations` may be asked for: they are kept sorted by insertion
_FEW_QUERIES = 16  # up to which `attend` is faster than torch's kernel
_LANES = 16  # that the widths of its heads are multiples of

_Strides = ctypes.c_long * 3
_LOADING = threading.Lock()  # for threads that come at once: the first one compiles


def attends(q: Tensor, v: Tensor, attn_mask: Tensor | None) -> bool:
    """Return whether `attend` can take queries [B, H, Q, D], values [B, G, K, E] and a mask, and is faster than torch.

    That is for a few queries, without gradients, on a CPU, with one mask for all heads.
    """
    return (
        q.size(2) <= _FEW_QUERIES
        and q.size(3) % _LANES == v.size(3) % _LANES == 0
        and q.dtype == v.dtype == torch.float32
        and q.device.type == v.device.type == "cpu"
        and (attn_mask is None or attn_mask.dim() < 3 or attn_mask.size(-3) == 1)
        and not torch.is_grad_enabled()
        and not torch.compiler.is_compiling()
        and library() is not None
    )


def attend(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None, scale: float) -> Tensor:
    """Compute softmax(q kᵀ * scale, masked) v, reading only the keys that a query may attend to.

    Args:
        q: [B, H, Q, D], such as `attends` allows.
        k: [B, G, K, D]; query head h reads key head h // (H // G).
        v: [B, G, K, E].
        attn_mask: Bool [B or 1, 1, Q or 1, K], or None.
        scale: Factor of the scores.

    Returns:
        [B, H, Q, E], as it lies in [B, Q, H, E]; zeros where a query may attend to nothing.

    Raises:
        ValueError: If the tensors do not fit each other.
    """
    q, k, v = (x if x.stride(-1) == 1 else x.contiguous() for x in (q, k, v))
    (batch, heads, queries, dim), (_, groups, keys, value_dim) = q.shape, v.shape
    if heads % groups or dim % _LANES or value_dim % _LANES:
        raise ValueError(f"{heads} heads of width {dim} and {value_dim} must be multiples of {groups} and of {_LANES}")
    out = q.new_empty(batch, queries, heads, value_dim)
    mask, mask_strides = None, _Strides()
    if attn_mask is not None:
        attn_mask = attn_mask.expand(batch, 1, queries, keys)
        attn_mask = attn_mask if attn_mask.stride(-1) == 1 else attn_mask.contiguous()
        mask = pointer("attn_mask", attn_mask, torch.bool, batch, 1, queries, keys, strided=True)
        mask_strides = _Strides(attn_mask.stride(0), attn_mask.stride(2), attn_mask.stride(3))
    number = torch.float32
    failed = loaded().attend(
        *(pointer("q", q, number, batch, heads, queries, dim, strided=True), _Strides(*q.stride()[:3])),
        *(pointer("k", k, number, batch, groups, keys, dim, strided=True), _Strides(*k.stride()[:3])),
        *(pointer("v", v, number, batch, groups, keys, value_dim, strided=True), _Strides(*v.stride()[:3])),
        *(mask, mask_strides, batch, heads, groups, queries, keys, dim, value_dim, scale),
        pointer("out", out, number, batch, queries, heads, value_dim),
    )
    if failed:
        raise MemoryError("no memory for attention")
    return out.transpose(1, 2)


def round_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """Round x [R, C] to 8-bit integers [R, C], each row scaled so that its largest entry, of [R, 1], becomes ±127."""
    if library() is None:
        largest = x.abs().amax(dim=1, keepdim=True).clamp_min_(1e-30)
        return (x * (127 / largest)).round_().to(torch.int8), largest
    x = x.contiguous()
    rows, cols = x.shape
    rounded, largest = x.new_empty(rows, cols, dtype=torch.int8), x.new_empty(rows, 1)
    loaded().round_rows(
        *(pointer("x", x, torch.float32, rows, cols), rows, cols),
        *(pointer("rounded", rounded, torch.int8, rows, cols), pointer("largest", largest, torch.float32, rows, 1)),
    )
    return rounded, largest


def widen_rows(sums: Tensor, row_scale: Tensor, col_scale: Tensor, bias: Tensor | None) -> Tensor:
    """Scale sums [R, C] int32 by row_scale [R, 1] and col_scale [C], and add bias [C] if there is one: float32.

    They are overwritten.
    """
    if library() is None:
        out = sums.to(torch.float32).mul_(row_scale)
        return out.mul_(col_scale) if bias is None else torch.addcmul(bias, out, col_scale)
    rows, cols = sums.shape
    loaded().widen_rows(
        *(pointer("sums", sums, torch.int32, rows, cols), rows, cols),
        pointer("row_scale", row_scale, torch.float32, rows, 1),
        pointer("col_scale", col_scale, torch.float32, cols),
        None if bias is None else pointer("bias", bias, torch.float32, cols),
    )
    return sums.view(torch.float32)


def best_continuations(
    logits: Tensor, sums: Tensor, banned: Sequence[int], count: int
) -> tuple[Tensor, Tensor, Tensor] | None:
    """Find the most probable continuations of the hypotheses of each sentence, best first.

    Args:
        logits: [B * N, V].
        sums: Log-probabilities of the hypotheses so far [B, N].
        banned: Tokens that may not come.
        count: How many continuations of each sentence.

    Returns:
        Their log-probabilities, the hypotheses that they continue and the tokens, [B, count] each; -inf where there
        are fewer. None where it takes other logits than float32 on a CPU, or the count is large.
    """
    if logits.dtype != torch.float32 or logits.device.type != "cpu" or count > _MOST_TOKENS or library() is None:
        return None
    logits, sums = logits.contiguous(), sums.contiguous()
    (sentences, hypotheses), vocab_size = sums.shape, logits.size(1)
    found = empty_continuations(sentences, count)
    failed = loaded().best_continuations(
        pointer("logits", logits, torch.float32, sentences * hypotheses, vocab_size),
        pointer("sums", sums, torch.float32, sentences, hypotheses),
        *(token_array("banned", banned, vocab_size), len(banned), sentences, hypotheses, vocab_size, count),
        *continuation_pointers(found, sentences, count),
    )
    if failed:
        raise MemoryError("no memory to choose tokens")
    return found


def empty_continuations(sentences: int, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """Allocate what `best_continuations` fills."""
    shape = sentences, count
    return torch.empty(shape), torch.empty(shape, dtype=torch.long), torch.empty(shape, dtype=torch.long)


def continuation_pointers(found: tuple[Tensor, Tensor, Tensor], sentences: int, count: int) -> tuple[int, int, int]:
    """Return the addresses of what `empty_continuations` gave."""
    log_probs, beams, token_ids = found
    return (
        pointer("log_probs", log_probs, torch.float32, sentences, count),
        pointer("beams", beams, torch.long, sentences, count),
        pointer("token_ids", token_ids, torch.long, sentences, count),
    )


def loaded() -> ctypes.CDLL:
    """Return the compiled kernels; only where `library` has them."""
    found = library()
    assert found is not None
    return found


@cache
def library() -> ctypes.CDLL | None:
    """Return the compiled kernels; None where they cannot be compiled or loaded."""
    with _LOADING:
        found = load_kernels()
    return None if found is None else declare(found)


def declare(kernels: ctypes.CDLL) -> ctypes.CDLL:
    """Tell ctypes the types of the kernels' functions, and check the layout of the structures they take.

    Raises:
        RuntimeError: If C lays out a structure otherwise than `structures.py` declares it.
    """
    check_layout(kernels)
    pointer, number = ctypes.c_void_p, ctypes.c_long
    kernels.attend.argtypes = [*(pointer, _Strides) * 4, *[number] * 7, ctypes.c_float, pointer]
    kernels.best_continuations.argtypes = [*[pointer] * 3, *[number] * 5, *[pointer] * 3]
    kernels.round_rows.argtypes = [pointer, number, number, pointer, pointer]
    kernels.widen_rows.argtypes = [pointer, number, number, *[pointer] * 3]
    kernels.round_rows.restype = kernels.widen_rows.restype = None
    kernels.encode.argtypes = [*[pointer] * 3, number, number]
    kernels.decode_step.argtypes = [*[pointer] * 7, *[number] * 5, pointer]
    kernels.greedy.argtypes = [*[pointer] * 5, *[number] * 4, pointer]
    kernels.greedy.restype = number
    return kernels
