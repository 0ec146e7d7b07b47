"""Batches that are translated side by side: several threads, each with a share of the cores."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")

_PATIENCE = 0.0005  # seconds that a thread waits for Python's lock before it asks for it


def by_length(lengths: Sequence[int], batch_tokens: int, most: int | None = None) -> list[list[int]]:
    """Cut the indices of lengths into batches, longest first, so that the first ones show whether memory suffices.

    Args:
        lengths: In tokens.
        batch_tokens: Limit of number * longest in a batch; one is always allowed.
        most: Limit of their number in a batch; None = any.
    """
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    batches, start = [], 0
    while start < len(order):
        rows = max(1, batch_tokens // lengths[order[start]])
        batches.append(order[start : start + (rows if most is None else min(rows, most))])
        start += len(batches[-1])
    return batches


class _Impatient:
    """Within the block threads wait less long for Python's lock; blocks of several threads may overlap."""

    def __init__(self) -> None:
        self._lock, self._blocks, self._before = threading.Lock(), 0, 0.0

    def __enter__(self) -> None:
        with self._lock:
            if not self._blocks:
                self._before = sys.getswitchinterval()
                sys.setswitchinterval(min(self._before, _PATIENCE))
            self._blocks += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._blocks -= 1
            if not self._blocks:
                sys.setswitchinterval(self._before)


_impatient = _Impatient()


def side_by_side(work: Callable[[Job], Result], jobs: Sequence[Job], workers: int, cores: int) -> Iterator[Result]:
    """Yield `work(job)` for each job, in their order.

    Small matmuls do not split well over threads, and everything around them not at all, while batches need not wait for
    each other: torch computes without Python's lock.

    Args:
        work: Computes with torch; several threads may call it at once.
        jobs: Those that take longest come first.
        workers: Largest number of threads that call it.
        cores: Number of cores that the workers share; a single worker has them all.
    """
    workers = min(workers, len(jobs))
    if workers < 2:
        yield from map(work, jobs)
        return
    import torch

    before = torch.get_num_threads()  # before one of the others becomes what new threads start with
    pool = ThreadPoolExecutor(workers, "translate", _use_threads, (max(1, cores // workers),))
    try:
        with _impatient:
            yield from pool.map(work, jobs)
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(before)


def _use_threads(number: int) -> None:
    """Let torch use so many threads for the operations of this thread."""
    import torch

    torch.get_num_threads()  # at its first use of it a thread takes over another's number
    torch.set_num_threads(number)
