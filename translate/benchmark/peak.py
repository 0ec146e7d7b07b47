"""What the machine can do: its fastest large matmul, and how much memory a piece of work takes at most."""

import ctypes
import gc
from collections.abc import Callable
from contextlib import suppress

import torch

from translate.common.memory import high_water, restart_high_water, status_bytes
from translate.common.timer import Timer

_AUTOCAST = {"32": torch.float32, "bf16-mixed": torch.bfloat16, "16-mixed": torch.float16}


def matmul_dtype(precision: str) -> torch.dtype:
    """Return the dtype of matmuls in a Trainer's precision."""
    return _AUTOCAST[precision]


def matmul_peak(
    device: torch.device, dtype: torch.dtype, *, size: int | None = None, seconds: float = 0.5
) -> Callable[[], float]:
    """Measure FLOP/s of square matmuls: the fastest of as many as fit into `seconds`, at least three.

    Args:
        device: Where.
        dtype: Of both factors and the product.
        size: Rows and columns; None means 8,192 on a GPU and 2,048 elsewhere.
        seconds: How long to try.
    """
    size = size or (8192 if device.type == "cuda" else 2048)

    def measure() -> float:
        a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
        out = torch.empty_like(a)
        fastest, spent, count = float("inf"), 0.0, 0
        while spent < seconds or count < 3:
            _wait_for(device)
            with Timer() as timer:
                torch.mm(a, b, out=out)
                _wait_for(device)
            fastest, spent, count = min(fastest, timer.seconds), spent + timer.seconds, count + 1
        return 2 * size**3 / fastest

    return measure


class PeakMemory:
    """Most memory that is in use between its making and `bytes()`.

    On a GPU what torch has allocated there. Elsewhere by how much the process's resident memory grows at most; so it
    holds what the work itself makes, not torch or the corpus, which were there before.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        gc.collect()
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        else:
            _give_back_free_memory()
            self._before = restart_high_water()

    def bytes(self) -> int:
        """Return the most so far."""
        if self._device.type == "cuda":
            return torch.cuda.max_memory_allocated(self._device)
        return max(0, high_water() - self._before)


def memory_kind(device: torch.device) -> str:
    """Describe what `PeakMemory` counts."""
    if device.type == "cuda":
        return "torch.cuda.max_memory_allocated"
    return f"growth of the process's resident memory ({'VmHWM' if status_bytes('VmHWM') else 'ru_maxrss'})"


def _wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _give_back_free_memory() -> None:
    """Let what was freed leave the process, where the C library can, so that using it anew counts."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
