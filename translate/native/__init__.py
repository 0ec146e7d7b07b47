"""Inner loops of decoding on a CPU, in C, which read and write once what torch passes over several times.

The sources beside this file are compiled when they are first needed, for the processor at hand, and kept in the user's
cache folder. Without a C compiler the callers do the same in torch, more slowly.
"""

from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from translate.files import move_file

_SOURCES = [Path(__file__).with_name(name) for name in ("kernels.c", "layers.c")]
_FLAGS = (
    "-O3",
    "-march=native",
    "-fopenmp-simd",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-strict-aliasing",
    "-Wno-psabi",
    "-shared",
    "-fPIC",
)
_MOST_TOKENS = 64  # that `best_continuations` may be asked for: they are kept sorted by insertion
_FEW_QUERIES = 16  # up to which `attend` is faster than torch's kernel
_LANES = 16  # that the widths of its heads are multiples of

_Strides = ctypes.c_long * 3

logger = logging.getLogger("translate.native")


def attends(q: Tensor, v: Tensor, attn_mask: Tensor | None) -> bool:
    """Whether `attend` can take queries [B, H, Q, D], values [B, G, K, E] and a mask, and is faster than torch.

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
    """softmax(q kᵀ * scale, masked) v, reading only the keys that a query may attend to.

    Args:
        q: [B, H, Q, D], such as `attends` allows.
        k: [B, G, K, D]; query head h reads key head h // (H // G).
        v: [B, G, K, E].
        attn_mask: Bool [B or 1, 1, Q or 1, K], or None.
        scale: Factor of the scores.

    Returns:
        [B, H, Q, E], as it lies in [B, Q, H, E]; zeros where a query may attend to nothing.
    """
    q, k, v = (x if x.stride(-1) == 1 else x.contiguous() for x in (q, k, v))
    batch, heads, queries, dim = q.shape
    out = q.new_empty(batch, queries, heads, v.size(-1))
    mask_strides = _Strides()
    if attn_mask is not None:
        attn_mask = attn_mask.expand(batch, 1, queries, k.size(2))
        mask_strides = _Strides(attn_mask.stride(0), attn_mask.stride(2), attn_mask.stride(3))
    failed = loaded().attend(
        *(q.data_ptr(), _Strides(*q.stride()[:3])),
        *(k.data_ptr(), _Strides(*k.stride()[:3])),
        *(v.data_ptr(), _Strides(*v.stride()[:3])),
        *(None if attn_mask is None else attn_mask.data_ptr(), mask_strides),
        *(batch, heads, k.size(1), queries, k.size(2), dim, v.size(-1), scale, out.data_ptr()),
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
    rounded, largest = x.new_empty(x.shape, dtype=torch.int8), x.new_empty(len(x), 1)
    loaded().round_rows(x.data_ptr(), *x.shape, rounded.data_ptr(), largest.data_ptr())
    return rounded, largest


def widen_rows(sums: Tensor, row_scale: Tensor, col_scale: Tensor, bias: Tensor | None) -> Tensor:
    """Scale sums [R, C] int32 by row_scale [R, 1] and col_scale [C], and add bias [C] if there is one: float32.

    They are overwritten.
    """
    if library() is None:
        out = sums.to(torch.float32).mul_(row_scale)
        return out.mul_(col_scale) if bias is None else torch.addcmul(bias, out, col_scale)
    scales = row_scale.data_ptr(), col_scale.data_ptr(), None if bias is None else bias.data_ptr()
    loaded().widen_rows(sums.data_ptr(), *sums.shape, *scales)
    return sums.view(torch.float32)


def best_continuations(
    logits: Tensor, sums: Tensor, banned: Sequence[int], count: int
) -> tuple[Tensor, Tensor, Tensor] | None:
    """The most probable continuations of the hypotheses of each sentence, best first.

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
    found = empty_continuations(len(sums), count)
    failed = loaded().best_continuations(
        *(logits.data_ptr(), sums.data_ptr(), token_array(banned), len(banned)),
        *(*sums.shape, logits.size(1), count, *(part.data_ptr() for part in found)),
    )
    if failed:
        raise MemoryError("no memory to choose tokens")
    return found


def empty_continuations(sentences: int, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """Space for what `best_continuations` gives."""
    shape = sentences, count
    return torch.empty(shape), torch.empty(shape, dtype=torch.long), torch.empty(shape, dtype=torch.long)


def token_array(token_ids: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
    """Token ids as C reads them."""
    return (ctypes.c_int64 * len(token_ids))(*token_ids)


def loaded() -> ctypes.CDLL:
    """The compiled kernels, where `library` has them."""
    found = library()
    assert found is not None
    return found


@cache
def library() -> ctypes.CDLL | None:
    """The compiled kernels; None where they cannot be had."""
    command = shlex.split(os.environ.get("CC") or "cc")
    if sys.platform == "win32" or shutil.which(command[0]) is None:
        logger.info("no C compiler (%s): decoding on a CPU is slower without", command[0])
        return None
    try:
        return _declared(ctypes.CDLL(str(_compiled(command))))
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:  # RuntimeError: there is no home directory
        reason = getattr(error, "stderr", None) or str(error)
        logger.info("decoding on a CPU is slower, as its kernels could not be compiled: %s", reason.strip()[-300:])
        return None


def _compiled(compiler: list[str]) -> Path:
    """The shared library; compiled if it is not there yet."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "translate"
    made_of = [source.read_bytes() for source in _SOURCES], compiler, _FLAGS, platform.machine(), _processor()
    path = root / f"kernels-{hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]}.so"
    if not path.exists():
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=root) as folder:
            made = Path(folder) / path.name
            command = [*compiler, *_FLAGS, "-o", str(made), *map(str, _SOURCES), "-lm"]
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
            move_file(made, path)
    return path


def _processor() -> str:
    """What the processor can do: code for one need not run on another that shares the folder."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


def _declared(found: ctypes.CDLL) -> ctypes.CDLL:
    pointer, number = ctypes.c_void_p, ctypes.c_long
    found.attend.argtypes = [*(pointer, _Strides) * 4, *[number] * 7, ctypes.c_float, pointer]
    found.best_continuations.argtypes = [*[pointer] * 3, *[number] * 5, *[pointer] * 3]
    found.round_rows.argtypes = [pointer, number, number, pointer, pointer]
    found.widen_rows.argtypes = [pointer, number, number, *[pointer] * 3]
    found.round_rows.restype = found.widen_rows.restype = None
    found.encode.argtypes = [*[pointer] * 3, number, number]
    found.decode_step.argtypes = [*[pointer] * 7, *[number] * 5, pointer]
    found.greedy.argtypes = [*[pointer] * 5, *[number] * 4, pointer]
    found.greedy.restype = number
    return found
