"""Batches that are translated side by side: several threads, each with a share of the cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")


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


def side_by_side(
    work: Callable[[Job], Result],
    jobs: Sequence[Job],
    workers: int,
    prepare: Callable[[], object] | None = None,
) -> Iterator[Result]:
    """Yield `work(job)` for each job, in their order.

    Small matmuls do not split well over threads, and everything around them not at all, while batches need not wait for
    each other: what computes holds no lock of Python.

    Args:
        work: Several threads may call it at once.
        jobs: Those that take longest come first.
        workers: Largest number of threads that call it.
        prepare: Called first in each of several threads.
    """
    workers = min(workers, len(jobs))
    if workers < 2:
        yield from map(work, jobs)
        return
    pool = ThreadPoolExecutor(workers, "translate", prepare)
    try:
        yield from pool.map(work, jobs)
    finally:
        pool.shutdown(cancel_futures=True)
