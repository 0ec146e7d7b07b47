"""Measure the wall time of a block."""

from time import perf_counter
from typing import Self


class Timer:
    """Measure the seconds that a `with` block took.

    >>> with Timer() as timer:
    ...     sum(range(1000))
    499500
    >>> timer.seconds > 0
    True

    Attributes:
        seconds: Wall time of the block, once it has ended.
    """

    seconds: float

    def __enter__(self) -> Self:
        self._start = perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = perf_counter() - self._start
