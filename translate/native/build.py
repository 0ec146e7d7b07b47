"""How the kernels are compiled, and where they are kept."""

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

logger = logging.getLogger("translate.native")


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
    return made


def _compiler() -> list[str]:
    """The command in the environment variable CC, or cc.

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
    """The folder that kernels are kept in, which it makes.

    Raises:
        OSError: If it cannot be made.
        RuntimeError: If there is no home directory.
    """
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "translate"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _from_cache(folder: Path, compiler: list[str]) -> ctypes.CDLL:
    """The kernels that are kept in a folder; compiled into it if they are not there."""
    name = f"kernels-{_fingerprint(compiler)}"
    path = folder / f"{name}.so"
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=folder) as private:
            compile_kernels(compiler, Path(private)).replace(path)
    return _opened(path)


def _opened(path: Path) -> ctypes.CDLL:
    """The kernels in a file.

    Raises:
        OSError: If there are none in it.
    """
    found = ctypes.CDLL(str(path))
    if not hasattr(found, "attend"):
        raise OSError(f"{path} does not export its functions")
    return found


def _fingerprint(compiler: list[str]) -> str:
    """Tells apart what must not share a kernel: versions of the sources, compilers, processors."""
    made_of = [source.read_bytes() for source in SOURCES], compiler, FLAGS, platform.machine(), _processor()
    return hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]


def _processor() -> str:
    """What the processor can do: code for one need not run on another that shares the folder."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


def _reason(error: BaseException) -> str:
    """What went wrong, in a line: what the compiler said, or the error."""
    said = getattr(error, "stderr", None)
    return " ".join((said if isinstance(said, str) and said.strip() else str(error)).split())[-300:]
