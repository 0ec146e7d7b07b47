"""The disk cache: entries that are whole or not there, and rows of numbers that are read without loading them.

An entry is a folder. It is written under a temporary name and renamed when complete; whoever comes second uses what the
first has written.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

_BLOCK = 10_000  # rows read at a time where all are read in order
_FORMAT = 1  # of the files, and of what cleaning and encoding mean; a change makes every old entry unused


def cache_key(*parts: object) -> str:
    """Name of an entry that depends on `parts`, whose `repr` must say all that matters."""
    return hashlib.blake2b(repr((_FORMAT, parts)).encode(), digest_size=16).hexdigest()


@contextmanager
def new_entry(entry: Path) -> Iterator[Path]:
    """Give a temporary folder to fill; it becomes `entry` when the block ends without an error.

    Safe with several writers at once (the first to end wins) and against killed ones: a living writer holds a lock on
    its folder, which the system takes back from a dead one, and the next writer removes folders without a lock.
    """
    entry.parent.mkdir(parents=True, exist_ok=True)
    for leftover in entry.parent.glob("*.tmp"):
        if (lock := _lock(leftover)) is not None:
            shutil.rmtree(leftover, ignore_errors=True)
            os.close(lock)
    temporary, lock = _locked_folder(entry)
    try:
        yield temporary
        try:
            temporary.rename(entry)
        except OSError:
            if not entry.is_dir():  # else another writer was first, and its entry stays
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        os.close(lock)


def _locked_folder(entry: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{entry.name}.", suffix=".tmp", dir=entry.parent))
        lock = _lock(folder)
        if lock is not None:
            if folder.is_dir():
                return folder, lock
            os.close(lock)
        # another writer took the folder for a leftover before we could lock it


def _lock(folder: Path) -> int | None:
    """Open and lock a folder; None if it is gone or another process has it."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except OSError:
            os.close(descriptor)
    return None


class RowWriter:
    """Append rows of numbers to files that `Rows` reads; use as a context manager."""

    def __init__(self, folder: Path, name: str, dtype: npt.DTypeLike) -> None:
        """Start `name` in `folder`; every value must fit `dtype`."""
        self._dtype = np.dtype(dtype)
        (folder / f"{name}.dtype").write_text(self._dtype.str)
        self._values = (folder / f"{name}.values").open("wb")
        self._ends = (folder / f"{name}.ends").open("wb")
        self._lengths = (folder / f"{name}.lengths").open("wb")
        self._end = 0

    def extend(self, rows: Iterable[Sequence[int]]) -> None:
        """Append rows."""
        arrays = [np.asarray(row, dtype=self._dtype) for row in rows]
        if not arrays:
            return
        lengths = np.array([len(array) for array in arrays], dtype=np.int64)
        ends = self._end + np.cumsum(lengths)
        self._end = int(ends[-1])
        np.concatenate(arrays).tofile(self._values)
        ends.tofile(self._ends)
        lengths.astype(np.int32).tofile(self._lengths)

    def extend_texts(self, texts: Iterable[str]) -> None:
        """Append strings as UTF-8, one row each, for a writer of uint8."""
        self.extend(np.frombuffer(text.encode(), dtype=np.uint8) for text in texts)  # type: ignore[misc]

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, *_: object) -> None:
        for file in (self._values, self._ends, self._lengths):
            file.close()


class Rows:
    """Rows of numbers on disk, memory-mapped: only what is used is read.

    Attributes:
        lengths: Length of each row, [rows] int32.
    """

    def __init__(self, folder: Path, name: str) -> None:
        """Open what a `RowWriter` wrote as `name` in `folder`."""
        self._folder, self._name = folder, name
        self._values = _map(folder / f"{name}.values", np.dtype((folder / f"{name}.dtype").read_text()))
        self._ends = _map(folder / f"{name}.ends", np.dtype(np.int64))
        self.lengths = _map(folder / f"{name}.lengths", np.dtype(np.int32))

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> npt.NDArray[np.integer]:
        end = int(self._ends[index])
        return self._values[end - int(self.lengths[index]) : end]

    def text(self, index: int) -> str:
        """Row `index` of a file of texts."""
        return self[index].tobytes().decode()

    def texts(self) -> Iterator[str]:
        """All rows of a file of texts, in order; read and not mapped, so that what has gone by leaves memory."""
        values, ends = (self._folder / f"{self._name}.{part}" for part in ("values", "ends"))
        with values.open("rb") as value_file, ends.open("rb") as end_file:
            start = 0
            while stops := np.fromfile(end_file, np.int64, _BLOCK).tolist():
                block = value_file.read(stops[-1] - start)
                for begin, stop in pairwise([start, *stops]):
                    yield block[begin - start : stop - start].decode()
                start = stops[-1]


def _map(path: Path, dtype: np.dtype[np.integer]) -> npt.NDArray[np.integer]:
    if path.stat().st_size == 0:  # nothing can be mapped
        return np.empty(0, dtype)
    return np.asarray(np.memmap(path, dtype=dtype, mode="r"))
