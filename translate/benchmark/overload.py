"""Offer a server more than it can translate: what it refuses, how late its answers are, whether its memory grows."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from translate.benchmark.serving_client import Connection
from translate.common.files import allow_open_files
from translate.common.memory import status_bytes

DIFFERENT = 10_000  # sentences at least, since equal ones that wait are translated once
_STEP = 0.005  # seconds between two looks at what is due


@dataclass
class Overload:
    """What a server did while it was offered too much.

    Attributes:
        offered_per_s: Sentences, each a request, that came in a second.
        seconds: For how long.
        statuses: Answers by their status, or by what broke off.
        accepted_ms: Median and 99th percentile of the milliseconds until a translation came.
        refused_ms: The same of the other answers.
        memory_mib: Resident memory of the server, at each second.
    """

    offered_per_s: float
    seconds: float
    statuses: dict[str, int]
    accepted_ms: tuple[float, float]
    refused_ms: tuple[float, float]
    memory_mib: list[float]

    def described(self) -> str:
        """Return it in a sentence."""
        counts = ", ".join(f"{status}: {count:,}" for status, count in sorted(self.statuses.items()))
        tenth = max(1, len(self.memory_mib) // 10)
        early, late = median(self.memory_mib[tenth : 2 * tenth] or [0]), median(self.memory_mib[-tenth:] or [0])
        return (
            f"offered {self.offered_per_s:,.0f} sentences/s for {self.seconds:,.0f} s: {counts}; translations came "
            f"after {self.accepted_ms[0]:,.0f} ms (median), {self.accepted_ms[1]:,.0f} ms (99 %), refusals after "
            f"{self.refused_ms[0]:,.0f} ms, {self.refused_ms[1]:,.0f} ms; resident memory {early:,.0f} MiB in the "
            f"second tenth of the time, {late:,.0f} MiB in the last"
        )


async def measure_overload(
    connect: Callable[[], Connection], texts: Sequence[str], rate: float, seconds: float, *, process: int
) -> Overload:
    """Send sentences at a steady rate, whether or not the server keeps up.

    Args:
        connect: Makes a connection.
        texts: Sentences, one after the other, again and again.
        rate: Sentences/s.
        seconds: For how long.
        process: Number of the server's process, whose memory is read.
    """
    allow_open_files()
    crowd = _Crowd(connect)
    memory = list[float]()
    loop = asyncio.get_running_loop()
    start, sent, tasks = loop.time(), 0, set[asyncio.Task[None]]()
    following = itertools.cycle(texts)
    while (elapsed := loop.time() - start) < seconds:
        for _ in range(int(elapsed * rate) - sent):
            task = asyncio.create_task(crowd.ask(next(following)))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            sent += 1
        if elapsed > len(memory):
            memory.append((status_bytes("VmRSS", process) or 0) / 2**20)
        await asyncio.sleep(_STEP)
    await asyncio.gather(*tasks)
    crowd.close()
    accepted, refused = crowd.milliseconds.pop("200", []), [ms for own in crowd.milliseconds.values() for ms in own]
    return Overload(sent / elapsed, elapsed, dict(crowd.counts), _spread(accepted), _spread(refused), memory)


class _Crowd:
    """Clients, as many as wait for an answer at a time."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self.connect = connect
        self.counts = Counter[str]()
        self.milliseconds: dict[str, list[float]] = {}
        self._idle: list[Connection] = []

    async def ask(self, text: str) -> None:
        """Have a sentence translated, and note how that went."""
        loop = asyncio.get_running_loop()
        connection, start = self._idle.pop() if self._idle else self.connect(), loop.time()
        try:
            outcome = str(await connection.translate(text))
            self._idle.append(connection)
        except (OSError, EOFError) as error:
            outcome = type(error).__name__
            connection.close()
        self.counts[outcome] += 1
        self.milliseconds.setdefault(outcome, []).append(1000 * (loop.time() - start))

    def close(self) -> None:
        """Close all connections."""
        for connection in self._idle:
            connection.close()


def _spread(values: Sequence[float]) -> tuple[float, float]:
    """Return the median and the 99th percentile; zeros of nothing."""
    if len(values) < 2:
        return (values[0], values[0]) if values else (0.0, 0.0)
    return median(values), quantiles(values, n=100)[98]
