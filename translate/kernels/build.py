"""How the kernels are compiled, where they are kept, and which of the kept ones are trusted.

They are compiled for several instruction sets. A wheel brings all that its compiler could make, in `compiled/`; a
checkout compiles the one that suits the processor when it is first needed. Needs Python's standard library alone, as
the wheel's build uses it too.
"""

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
from typing import NamedTuple

_FOLDER = Path(__file__).parent
SOURCES = [_FOLDER / name for name in ("kernels.c", "layers.c", "search.c", "structures.c")]
HEADERS = [_FOLDER / name for name in ("lanes.h", "products.h", "structures.h")]
FLAGS = (
    "-O3",
    "-fopenmp-simd",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-strict-aliasing",
    "-Wno-psabi",
    "-shared",
    "-fPIC",
)
_AVX2 = "-mavx2", "-mfma", "-mf16c", "-mbmi", "-mbmi2", "-mlzcnt"
_AVX512 = *_AVX2, "-mavx512f", "-mavx512bw", "-mavx512cd", "-mavx512dq", "-mavx512vl"


class InstructionSet(NamedTuple):
    """What a processor can do beyond its kind's least, and how compilers call it.

    Attributes:
        features: As Linux lists them in /proc/cpuinfo; none = every processor has it.
        flags: Of gcc and clang.
        machines: Names that `platform.machine` gives the kind of processor; none = every kind.
    """

    features: frozenset[str]
    flags: tuple[str, ...]
    machines: tuple[str, ...] = ()


_AVX2_FEATURES = frozenset({"avx2", "fma", "f16c", "bmi1", "bmi2", "abm"})
_AVX512_FEATURES = _AVX2_FEATURES | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
_X86, _ARM = ("x86_64", "AMD64"), ("aarch64", "arm64")
INSTRUCTION_SETS = {  # the fastest first
    "avx512vnni": InstructionSet(_AVX512_FEATURES | {"avx512_vnni"}, (*_AVX512, "-mavx512vnni"), _X86),
    "avxvnni": InstructionSet(_AVX2_FEATURES | {"avx_vnni"}, (*_AVX2, "-mavxvnni"), _X86),
    "avx2": InstructionSet(_AVX2_FEATURES, _AVX2, _X86),
    "dotprod": InstructionSet(frozenset({"asimddp"}), ("-march=armv8.2-a+dotprod",), _ARM),
    "portable": InstructionSet(frozenset(), ()),
}
_DAYS_KEPT = 30  # since a kernel was last used: machines and versions that share a folder leave each other's alone

logger = logging.getLogger("translate.kernels")


@cache
def load_kernels() -> ctypes.CDLL | None:
    """Load the kernels that came with the package, or else those in the user's cache folder.

    There they are compiled first if they are missing. If that folder is of no use they are compiled in a private
    temporary one, for this process alone. One warning says why that is so, or why there are none, and what to do.

    Returns:
        None where they cannot be compiled.
    """
    if sys.platform == "win32":
        logger.warning("decoding on a CPU is slower on Windows, where its kernels in C are not built: use WSL")
        return None
    usable = usable_instruction_sets()
    for name in usable:
        if (path := _FOLDER / "compiled" / f"{name}.so").exists():
            with suppress(OSError):  # damaged, or where nothing may be executed: the next one, or a compiler
                return _opened(path)
    try:
        compiler = find_compiler()
        try:
            return _from_cache(_cache_folder(), compiler, usable)
        except (OSError, RuntimeError, subprocess.CalledProcessError) as error:  # a full disk lets the compiler fail
            not_kept = _reason(error)
        with tempfile.TemporaryDirectory(prefix="translate-") as private:
            found = _opened(_compile_best(compiler, Path(private), usable))
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


def usable_instruction_sets() -> list[str]:
    """Return which of `INSTRUCTION_SETS` this processor has, the fastest first; where nothing says so, the last."""
    features = _features()
    return [name for name in possible_instruction_sets() if INSTRUCTION_SETS[name].features <= features]


def possible_instruction_sets() -> list[str]:
    """Return which of `INSTRUCTION_SETS` some processors of this kind have, the fastest first."""
    machine = platform.machine()
    return [name for name, needed in INSTRUCTION_SETS.items() if machine in needed.machines or not needed.machines]


def compile_kernels(compiler: list[str], folder: Path, instruction_set: str) -> Path:
    """Compile the sources into a shared library in a folder.

    Args:
        compiler: The command and its first arguments.
        folder: There, and private.
        instruction_set: One of `INSTRUCTION_SETS`.

    Returns:
        The library, named after its instruction set.

    Raises:
        FileNotFoundError: If there is no such compiler.
        subprocess.SubprocessError: If it fails.
    """
    if shutil.which(compiler[0]) is None:
        raise FileNotFoundError(f"there is no C compiler ({compiler[0]})")
    made = folder / f"{instruction_set}.so"
    flags = *FLAGS, *INSTRUCTION_SETS[instruction_set].flags
    command = [*compiler, *flags, "-o", str(made), *map(str, SOURCES), "-lm"]
    subprocess.run(command, check=True, capture_output=True, text=True, errors="replace", timeout=60)
    made.chmod(0o700)
    return made


def _compile_best(compiler: list[str], folder: Path, usable: list[str]) -> Path:
    """Compile for the first instruction set that the compiler knows."""
    for name in usable[:-1]:
        with suppress(subprocess.CalledProcessError):
            return compile_kernels(compiler, folder, name)
    return compile_kernels(compiler, folder, usable[-1])


def find_compiler() -> list[str]:
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


def _from_cache(folder: Path, compiler: list[str], usable: list[str]) -> ctypes.CDLL:
    """Return the kernels kept in a folder; compile them into it if they are missing, damaged or not trusted."""
    name = f"kernels-{_fingerprint(compiler, usable)}"
    for path in folder.glob(f"{name}-*.so"):
        if _intact(path):
            with suppress(OSError):  # it may be the administrator's
                os.utime(path)  # when it was last used
            return _opened(path)
        path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix="kernels-") as private:
        made = _compile_best(compiler, Path(private), usable)
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


def _fingerprint(compiler: list[str], usable: list[str]) -> str:
    """Return a digest of what must not share a kernel: versions of the sources, compilers, processors."""
    sources = [source.read_bytes() for source in SOURCES + HEADERS]
    made_of = sources, compiler, FLAGS, platform.machine(), [INSTRUCTION_SETS[name].flags for name in usable]
    return hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _features() -> frozenset[str]:
    """Return what Linux lists of the first processor, and what all of Apple's have; nothing elsewhere."""
    if (sys.platform, platform.machine()) == ("darwin", "arm64"):
        return INSTRUCTION_SETS["dotprod"].features
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return frozenset(next((line for line in lines if line.startswith(("flags", "Features"))), "").split())
    except OSError:
        return frozenset()


def _reason(error: BaseException) -> str:
    """Return what went wrong, in a line: the compiler's message, or the error."""
    said = getattr(error, "stderr", None)
    return " ".join((said if isinstance(said, str) and said.strip() else str(error)).split())[-300:]
