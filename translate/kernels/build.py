"""How the kernels are compiled, where they are kept, and which of the kept ones are trusted."""

from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import platform
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

SOURCES = [Path(__file__).with_name(name) for name in ("kernels.c", "layers.c")]
FLAGS = (
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
_DAYS_KEPT = 30  # since a kernel was last used: machines and versions that share a folder leave each other's alone

logger = logging.getLogger("translate.kernels")


@cache
def load_kernels() -> ctypes.CDLL | None:
    """Load the kernels from the user's cache folder, where they are compiled first if they are not there.

    If that folder is of no use they are compiled in a private temporary one, for this process alone. One warning says
    why that is so, or why there are none, and what to do.

    Returns:
        None where they cannot be compiled.
    """
    if sys.platform == "win32":
        logger.warning("decoding on a CPU is slower on Windows, where its kernels in C are not built: use WSL")
        return None
    try:
        compiler = _compiler()
        try:
            return _from_cache(_cache_folder(), compiler)
        except (OSError, RuntimeError, subprocess.CalledProcessError) as error:  # a full disk lets the compiler fail
            not_kept = _reason(error)
        with tempfile.TemporaryDirectory(prefix="translate-") as private:
            found = _opened(compile_kernels(compiler, Path(private)))
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        logger.warning(
            "decoding on a CPU is slower, int8 less than half as fast, as its kernels could not be compiled: %s: "
            "install gcc or clang, or name a compiler in CC",
            _reason(error),
        )
        return None
    logger.warning(
        "each start compiles the kernels for decoding on a CPU anew, as they cannot be kept: %s: "
        "set XDG_CACHE_HOME to a folder that you alone can write to",
        not_kept,
    )
    return found


def compile_kernels(compiler: list[str], folder: Path) -> Path:
    """Compile the sources into a shared library in a folder.

    Args:
        compiler: The command and its first arguments.
        folder: There, and private.

    Raises:
        FileNotFoundError: If there is no such compiler.
        subprocess.SubprocessError: If it fails.
    """
    if shutil.which(compiler[0]) is None:
        raise FileNotFoundError(f"there is no C compiler ({compiler[0]})")
    made = folder / "kernels.so"
    command = [*compiler, *FLAGS, "-o", str(made), *map(str, SOURCES), "-lm"]
    subprocess.run(command, check=True, capture_output=True, text=True, errors="replace", timeout=60)
    made.chmod(0o700)
    return made


def _compiler() -> list[str]:
    """Return the command in the environment variable CC, or cc.

    Raises:
        ValueError: If it is not a command.
    """
    given = os.environ.get("CC", "")
    try:
        command = shlex.split(given)
    except ValueError as error:
        raise ValueError(f"CC ({given}) is not a command: {error}") from error
    return command if any(command) else ["cc"]


def _cache_folder() -> Path:
    """Return the folder that kernels are kept in, and make it.

    Raises:
        OSError: If it cannot be made, or other users can write to it.
        RuntimeError: If there is no home directory.
    """
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "translate"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _trusted(folder):
        raise PermissionError(f"{folder} belongs to another user, or others can write to it")
    return folder


def _from_cache(folder: Path, compiler: list[str]) -> ctypes.CDLL:
    """Return the kernels kept in a folder; compile them into it if they are missing, damaged or not trusted."""
    name = f"kernels-{_fingerprint(compiler)}"
    for path in folder.glob(f"{name}-*.so"):
        if _intact(path):
            with suppress(OSError):  # it may be the administrator's
                os.utime(path)  # when it was last used
            return _opened(path)
        path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix="kernels-") as private:
        made = compile_kernels(compiler, Path(private))
        path = made.replace(folder / f"{name}-{_digest(made)}.so")
    _remove_old(folder)
    return _opened(path)


def _opened(path: Path) -> ctypes.CDLL:
    """Load the kernels in a file.

    Raises:
        OSError: If there are none in it.
    """
    found = ctypes.CDLL(str(path))
    if not hasattr(found, "attend"):
        raise OSError(f"{path} does not export its functions")
    return found


def _intact(path: Path) -> bool:
    """Return whether a kept kernel is trusted and whole (its name ends in its digest): a part of one may crash."""
    try:
        return _trusted(path) and path.stem.endswith(_digest(path))
    except OSError:  # it is gone, or cannot be read
        return False


def _trusted(path: Path) -> bool:
    """Return whether a file or folder belongs to this user or the administrator, and no one else can write to it."""
    found = path.stat()
    return found.st_uid in (0, os.geteuid()) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _remove_old(folder: Path) -> None:
    """Remove kernels that have not been used for a month, and what builds that were broken off have left."""
    for path in folder.glob("kernels-*"):
        with suppress(OSError):
            if path.stat().st_mtime > time.time() - _DAYS_KEPT * 86400:
                continue
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _fingerprint(compiler: list[str]) -> str:
    """Return a digest of what must not share a kernel: versions of the sources, compilers, processors."""
    made_of = [source.read_bytes() for source in SOURCES], compiler, FLAGS, platform.machine(), _processor()
    return hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _processor() -> str:
    """Describe the processor: code for one may not run on another that shares the folder."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


def _reason(error: BaseException) -> str:
    """Return what went wrong, in a line: the compiler's message, or the error."""
    said = getattr(error, "stderr", None)
    return " ".join((said if isinstance(said, str) and said.strip() else str(error)).split())[-300:]
