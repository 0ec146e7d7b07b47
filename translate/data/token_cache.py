"""The disk cache: entries that are whole or not there, and rows of numbers that are read without loading them.

An entry is a folder that records how long its files are; one whose files are not so long is made anew. Whoever comes
second waits for the first and uses what it has written.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from translate.common.files import free_lock, lock, new_directory, remove_leftovers, write_text

logger = logging.getLogger(__name__)

_BLOCK = 10_000  # rows read at a time where all are read in order
_FORMAT = 1  # of the files, and of what cleaning and encoding mean; a change makes every old entry unused
_SIZES = "sizes.json"  # the length in bytes of every other file of an entry


def cache_key(*parts: object) -> str:
    """Name of an entry that depends on `parts`, whose `repr` must say all that matters."""
    return hashlib.blake2b(repr((_FORMAT, parts)).encode(), digest_size=16).hexdigest()


@contextmanager
def new_entry(entry: Path) -> Iterator[Path | None]:
    """Give a folder to fill, which becomes `entry` when the block ends without an error; None if `entry` is complete.

    Of several processes one fills it while the others wait. What killed processes left of this entry and of its
    neighbours is removed.
    """
    if _is_complete(entry):
        yield None
        return
    with lock(_lock_file(entry)):
        if _is_complete(entry):
            yield None
            return
        if entry.exists():
            logger.warning("%s is damaged or of an earlier version; it is made anew", entry)
        _remove_neighbours_leftovers(entry)
        with new_directory(entry) as folder:
            yield folder
            sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
            write_text(folder / _SIZES, json.dumps(sizes))


def _is_complete(entry: Path) -> bool:
    """Return whether every file of an entry exists and has the length that was written."""
    try:
        sizes = json.loads((entry / _SIZES).read_text(encoding="utf-8"))
        return all((entry / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError):
        return False


def _lock_file(entry: Path) -> Path:
    return entry.with_name(f"{entry.name}.lock")


def _remove_neighbours_leftovers(entry: Path) -> None:
    """Remove what killed writers of other entries left; a living one holds the lock of its entry."""
    names = {leftover.name.split(".")[1] for leftover in entry.parent.glob(".*.tmp")}
    for neighbour in (entry.with_name(name) for name in sorted(names - {entry.name})):
        with free_lock(_lock_file(neighbour)) as free:
            if free:
                remove_leftovers(neighbour)


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
        self._values.write(np.concatenate(arrays).data)  # `tofile` does not say why it fails
        self._ends.write(ends.data)
        self._lengths.write(lengths.astype(np.int32).data)

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

    def padded(self, indices: npt.NDArray[np.integer]) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]]:
        """Return several rows [indices, longest], where what is behind a row's end has no meaning, and their lengths.

        All at once: where a GPU trains, taking them one by one would keep it waiting.
        """
        lengths = self.lengths[indices]
        places = (self._ends[indices] - lengths)[:, None] + np.arange(lengths.max(initial=0))
        return self._values.take(places, mode="clip"), lengths

    def text(self, index: int) -> str:
        """Return row `index` of a file of texts."""
        return self[index].tobytes().decode()

    def texts(self) -> Iterator[str]:
        """Yield all rows of a file of texts, in order; read and not mapped, so that past rows leave memory."""
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
