"""Files and folders that are whole or not there, locks between processes, and what to say when a disk is full.

A file with its final name is on the disk: contents are synced before the rename that gives them their name, so
that neither a killed process nor a power failure leaves half of them there. Imports the standard library alone.
"""

from __future__ import annotations

import csv
import errno
import gzip
import logging
import os
import re
import resource
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from filelock import BaseFileLock

logger = logging.getLogger(__name__)

_FULL = {  # what the system says when there is no room for a file, and what to do
    errno.ENOSPC: "free some space and run the same again",
    errno.EDQUOT: "free some space and run the same again",
    errno.EFBIG: "raise the limit on the size of a file (`ulimit -f`) or write to another file system",
}
_NO_FLOCK = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK)  # of file systems without flock
_PATIENCE = 10.0  # seconds of waiting for a lock before we say so


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write, which becomes `path` when the block ends without an error.

    A file that is there already is replaced then, in one rename. Several processes may write the same path at once; the
    last one to end wins.

    Raises:
        OSError: If it cannot be written; the message names `path` and what is full.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            _sync(path.parent)
        finally:
            with suppress(FileNotFoundError):
                temporary.unlink()


def read_rows(path: Path) -> Iterator[dict[str, str | None]]:
    """Yield the rows of a CSV file by the names in its header, without a last line that a full disk cut off."""
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        yield from csv.DictReader(takewhile(lambda line: line.endswith("\n"), file))


def write_text(path: Path, text: str) -> None:
    r"""Write a whole file as UTF-8 with lines that end in \n, as `atomic_write` does."""
    with atomic_write(path) as file:
        file.write(text.encode("utf-8"))


def write_tsv_gz(path: Path, rows: Iterable[Sequence[str]]) -> None:
    """Write rows of columns, compressed, into a directory that is being made; the same rows give the same bytes."""
    path.write_bytes(gzip.compress("".join("\t".join(row) + "\n" for row in rows).encode(), mtime=0))


def copy_file(source: Path, target: Path) -> None:
    """Copy the contents of a file, as `atomic_write` does."""
    with source.open("rb") as contents, atomic_write(target) as file:
        shutil.copyfileobj(contents, file)


def move_file(source: Path, target: Path) -> None:
    """Rename a file that another program has written to a finished name on the same file system."""
    with explained(target):
        _sync(source)
        source.replace(target)
        _sync(target.parent)


def remove_leftovers(path: Path) -> None:
    """Remove what killed processes left when they wrote `path`, which no living one may be writing."""
    for leftover in path.parent.glob(f".{path.name}.*.tmp"):
        _remove(leftover)


@contextmanager
def new_directory(target: Path) -> Iterator[Path]:
    """Give an empty folder to fill, which becomes `target` when the block ends without an error.

    A folder that is there already is replaced then, see `replace_directory`. One process at a time may write a target.

    Raises:
        OSError: If it cannot be written; the message names `target` and what is full.
    """
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    with explained(target):
        remove_leftovers(target)
        temporary.mkdir(parents=True)
        try:
            yield temporary
            _sync_tree(temporary)
            replace_directory(temporary, target)
        finally:
            _remove(temporary)


def replace_directory(source: Path, target: Path) -> None:
    """Rename a folder to `target`, in place of a folder that is there already.

    No call exchanges two folders on every file system, so the old one steps aside first. A process that is killed
    before the new one has taken its place leaves the old one aside, from where `recover_directory` takes it back.
    """
    aside = _aside(target)
    if target.exists():
        _remove(aside)
        target.rename(aside)
    try:
        source.rename(target)
    except OSError:
        if not target.exists():
            raise
        target.rename(aside)  # meanwhile a reader took the old one for what a killed process left, and put it back
        source.rename(target)
    _sync(target.parent)
    if aside.exists():
        aside.rename(source)  # the name of a leftover: what is removed in part must not be taken back
        _remove(source)


def recover_directory(target: Path) -> None:
    """Take back the folder that a process moved aside and was killed before it could put a new one there.

    Whoever opens a folder that `new_directory` replaces calls this first.
    """
    if target.name and not target.exists() and _aside(target).is_dir():
        with suppress(OSError):
            _aside(target).rename(target)


@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Let one process at a time do the block, of all that name the same lock file; the others wait.

    The system takes the lock back from a process that dies. The empty lock file stays, since removing it would give two
    processes a lock each. Where the file system has no flock, as some network mounts, the existence of a second file
    beside it is the lock; one that a dead process on this machine left is removed, one from another machine is named
    in a warning.
    """
    held = _acquire(path, wait=True)
    assert held is not None
    try:
        yield
    finally:
        held.release()


@contextmanager
def free_lock(path: Path) -> Iterator[bool]:
    """Take a lock if no process has it, without waiting; gives whether it was free."""
    held = _acquire(path, wait=False)
    try:
        yield held is not None
    finally:
        if held is not None:
            held.release()


def allow_open_files() -> None:
    """Allow as many open files, such as connections, as the system lets a process have; it often starts with 1,024."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with suppress(ValueError, OSError):  # macOS refuses what it says is the most
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Replace any error of the block that means a full disk by one that names `path` and says what to do.

    Raises:
        OSError: In place of such an error; one that names a file elsewhere is left as it is.
    """
    try:
        yield
    except Exception as error:
        number, name = _full(error), getattr(error, "filename", None)
        if number is not None and (name is None or Path(name).is_relative_to(path.parent)):
            raise OSError(number, _describe(number, path), str(path)) from error
        raise


def _full(error: Exception) -> int | None:
    """Return the system's error number of a full disk or quota, where one caused an error.

    torch raises another error while it handles the system's; libraries in Rust quote the number in their text. A
    ValueError says already what a user should do.
    """
    link: BaseException | None = None if isinstance(error, ValueError) else error
    while link is not None:
        quoted = re.search(r"\(os error (\d+)\)", str(link))
        number = link.errno if isinstance(link, OSError) else int(quoted[1]) if quoted else None
        if number in _FULL:
            return number
        link = link.__cause__ or link.__context__
    return None


def _describe(number: int, path: Path) -> str:
    """Say what is full and what to do."""
    room = ""
    if number != errno.EFBIG:
        with suppress(OSError):
            free = shutil.disk_usage(_existing(path)).free
            room = f": more is needed than the {free / 1e6:,.1f} MB that its file system has left"
    return f"{os.strerror(number)}{room}; {_FULL[number]}"


def _existing(path: Path) -> Path:
    """Return the path, or the nearest folder above it that exists."""
    return next(place for place in (path, *path.absolute().parents) if place.exists())


def _acquire(path: Path, *, wait: bool) -> BaseFileLock | None:
    """Take a lock; None if another process has it and we do not wait."""
    from filelock import FileLock, SoftFileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return _take(FileLock(path), wait=wait)
    except Timeout:
        return None
    except (OSError, NotImplementedError) as error:  # the second is said by older versions for ENOSYS
        if isinstance(error, OSError) and error.errno not in _NO_FLOCK:
            raise
    try:
        return _take(SoftFileLock(path.with_name(f"{path.name}.held")), wait=wait)
    except Timeout:
        return None


def _take(found: BaseFileLock, *, wait: bool) -> BaseFileLock:
    from filelock import Timeout

    try:
        found.acquire(timeout=_PATIENCE if wait else 0)
    except Timeout:
        if not wait:
            raise
        logger.warning("waiting for the process that holds %s; delete it if there is no such process", found.lock_file)
        found.acquire()
    return found


def _aside(target: Path) -> Path:
    """Return the path to which `replace_directory` moves the directory that it replaces."""
    return target.with_name(f".{target.name}.old")


def _remove(path: Path) -> None:
    """Remove a folder with all that it holds, or a file or link, if it is there and can be removed."""
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _sync_tree(folder: Path) -> None:
    for path in (*folder.rglob("*"), folder):
        _sync(path)


def _sync(path: Path) -> None:
    """Wait until the disk holds what a file, or a folder's list of names, holds."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        if not path.is_dir():  # not every file system syncs folders
            raise
    finally:
        os.close(descriptor)


def is_gzip(path: Path) -> bool:
    """Return whether a file is packed, by its name in any case."""
    return path.suffix.lower() == ".gz"
