"""Inner loops of decoding on a CPU, in C, which read and write once what torch passes over several times.

The sources beside this file are compiled when they are first needed, for the processor at hand, and kept in the user's
cache folder. Without a C compiler the callers do the same in torch or numpy, more slowly. Arrays are of numpy; those of
torch on a CPU share their memory with them (`Tensor.numpy`).
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from functools import cache

import numpy as np

from translate.kernels.build import load_kernels
from translate.kernels.pointers import Array, pointer, strides, token_array
from translate.kernels.structures import check_layout

_MOST_TOKENS = 64  # that `best_continuations` may be asked for: they are kept sorted by insertion
_NO_TOKEN = 2  # what `decode_step` returns for a token outside the vocabulary
LANES = 16  # that the widths of heads are multiples of

_Strides = ctypes.c_long * 3
_LOADING = threading.Lock()  # for threads that come at once: the first one compiles


def attend(q: Array, k: Array, v: Array, attn_mask: Array | None, scale: float) -> Array:
    """Compute softmax(q kᵀ * scale, masked) v, reading only the keys that a query may attend to.

    Args:
        q: [B, H, Q, D] float32, D a multiple of `LANES`.
        k: [B, G, K, D]; query head h reads key head h // (H // G).
        v: [B, G, K, E], E a multiple of `LANES`.
        attn_mask: Bool [B or 1, 1, Q or 1, K], or None.
        scale: Factor of the scores.

    Returns:
        [B, H, Q, E], as it lies in [B, Q, H, E]; zeros where a query may attend to nothing.

    Raises:
        ValueError: If the arrays do not fit each other.
    """
    q, k, v = (x if x.strides[-1] == x.itemsize else np.ascontiguousarray(x) for x in (q, k, v))
    (batch, heads, queries, dim), (_, groups, keys, value_dim) = q.shape, v.shape
    if heads % groups or dim % LANES or value_dim % LANES:
        raise ValueError(f"{heads} heads of width {dim} and {value_dim} must be multiples of {groups} and of {LANES}")
    out = np.empty((batch, queries, heads, value_dim), np.float32)
    mask, mask_strides = None, _Strides()
    if attn_mask is not None:
        attn_mask = np.broadcast_to(attn_mask, (batch, 1, queries, keys))
        attn_mask = attn_mask if attn_mask.strides[-1] == 1 else np.ascontiguousarray(attn_mask)
        mask = pointer("attn_mask", attn_mask, np.bool_, batch, 1, queries, keys, strided=True)
        mask_strides = _Strides(*strides(attn_mask)[::2], strides(attn_mask)[3])
    call(
        "attend",
        *(pointer("q", q, np.float32, batch, heads, queries, dim, strided=True), _Strides(*strides(q)[:3])),
        *(pointer("k", k, np.float32, batch, groups, keys, dim, strided=True), _Strides(*strides(k)[:3])),
        *(pointer("v", v, np.float32, batch, groups, keys, value_dim, strided=True), _Strides(*strides(v)[:3])),
        *(mask, mask_strides, batch, heads, groups, queries, keys, dim, value_dim, scale),
        *(pointer("out", out, np.float32, batch, queries, heads, value_dim), None),
    )
    return out.swapaxes(1, 2)


def round_rows(x: Array) -> tuple[Array, Array]:
    """Round x [R, C] to 8-bit integers [R, C], each row scaled so that its largest entry, of [R, 1], becomes ±127."""
    x = np.ascontiguousarray(x)
    rows, cols = x.shape
    rounded, largest = np.empty((rows, cols), np.int8), np.empty((rows, 1), np.float32)
    loaded().round_rows(
        *(pointer("x", x, np.float32, rows, cols), rows, cols),
        *(pointer("rounded", rounded, np.int8, rows, cols), pointer("largest", largest, np.float32, rows, 1)),
    )
    return rounded, largest


def widen_rows(sums: Array, row_scale: Array, col_scale: Array, bias: Array | None) -> Array:
    """Scale sums [R, C] int32 by row_scale [R, 1] and col_scale [C], and add bias [C] if there is one: float32.

    They are overwritten.
    """
    rows, cols = sums.shape
    loaded().widen_rows(
        *(pointer("sums", sums, np.int32, rows, cols), rows, cols),
        pointer("row_scale", row_scale, np.float32, rows, 1),
        pointer("col_scale", col_scale, np.float32, cols),
        None if bias is None else pointer("bias", bias, np.float32, cols),
    )
    return sums.view(np.float32)


def best_continuations(
    logits: Array, sums: Array, banned: Sequence[int], count: int
) -> tuple[Array, Array, Array] | None:
    """Find the most probable continuations of the hypotheses of each sentence, best first.

    Args:
        logits: [B * N, V] float32.
        sums: Log-probabilities of the hypotheses so far [B, N].
        banned: Tokens that may not come.
        count: How many continuations of each sentence.

    Returns:
        Their log-probabilities, the hypotheses that they continue and the tokens, [B, count] each; -inf where there
        are fewer. None where the count is large, or without the kernels.

    Raises:
        ValueError: If the count is below 1 or the arrays do not fit each other.
    """
    if count < 1:
        raise ValueError(f"count ({count}) must be at least 1")
    if count > _MOST_TOKENS or library() is None:
        return None
    logits, sums = np.ascontiguousarray(logits), np.ascontiguousarray(sums)
    (sentences, hypotheses), vocab_size = sums.shape, logits.shape[1]
    found = empty_continuations(sentences, count)
    call(
        "best_continuations",
        pointer("logits", logits, np.float32, sentences * hypotheses, vocab_size),
        pointer("sums", sums, np.float32, sentences, hypotheses),
        *(token_array("banned", banned, vocab_size), len(banned), sentences, hypotheses, vocab_size, 0, 0.0, count),
        *continuation_pointers(found, sentences, count),
    )
    return found


def empty_continuations(sentences: int, count: int) -> tuple[Array, Array, Array]:
    """Allocate what `best_continuations` fills."""
    shape = sentences, count
    return np.empty(shape, np.float32), np.empty(shape, np.int64), np.empty(shape, np.int64)


def continuation_pointers(found: tuple[Array, Array, Array], sentences: int, count: int) -> tuple[int, int, int]:
    """Return the addresses of what `empty_continuations` gave."""
    log_probs, beams, token_ids = found
    return (
        pointer("log_probs", log_probs, np.float32, sentences, count),
        pointer("beams", beams, np.int64, sentences, count),
        pointer("token_ids", token_ids, np.int64, sentences, count),
    )


def call(name: str, *arguments: object) -> None:
    """Call a function of the kernels that returns whether it failed; errors as `check_code`."""
    check_code(name, getattr(loaded(), name)(*arguments))


def check_code(name: str, failed: int) -> None:
    """Raise what a code that a function of the kernels returned stands for; 0 and less are none.

    Raises:
        MemoryError: If it had no memory.
        ValueError: If a newest token lies outside the vocabulary.
    """
    if failed == _NO_TOKEN:
        raise ValueError("the newest token ids must lie in the vocabulary")
    if failed > 0:
        raise MemoryError(f"no memory for {name}")


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
    kernels.attend.argtypes = [*(pointer, _Strides) * 4, *[number] * 7, ctypes.c_float, pointer, pointer]
    kernels.best_continuations.argtypes = [*[pointer] * 3, *[number] * 5, ctypes.c_float, number, *[pointer] * 3]
    kernels.round_rows.argtypes = [pointer, number, number, pointer, pointer]
    kernels.widen_rows.argtypes = [pointer, number, number, *[pointer] * 3]
    kernels.pack.argtypes = [pointer, pointer, number, number, pointer, pointer]
    kernels.pack.restype = None
    kernels.project.argtypes = [pointer, pointer, number, pointer]
    kernels.round_rows.restype = kernels.widen_rows.restype = None
    kernels.encode.argtypes = [*[pointer] * 3, number, number]
    kernels.decode_step.argtypes = [*[pointer] * 7, *[number] * 6, pointer]
    kernels.beam_search.argtypes = [*[pointer] * 5, *[number] * 4, pointer]
    kernels.beam_search.restype = number
    kernels.score_tokens.argtypes = [*[pointer] * 3, number, pointer, number, *[pointer] * 2]
    return kernels
