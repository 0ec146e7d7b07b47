"""Fixtures that several test files share."""

import ctypes
import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import torch
from filelock import FileLock
from hypothesis import settings

from translate import kernels
from translate.kernels import build

MULTI30K = Path(__file__).resolve().parents[2] / "shared" / "multi30k"

settings.register_profile("any machine", deadline=None)  # which may stand still for a moment
settings.load_profile("any machine")

LONGEST = ("test_notebooks.py", "test_wheel.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest tests, so that no process ends with one of them while the others have nothing to do."""
    items.sort(key=lambda item: item.path.name not in LONGEST)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """Tiny tensors are faster on one thread, and results do not depend on the machine."""
    torch.set_num_threads(1)


@pytest.fixture
def multi30k() -> Path:
    """The folder with raw/ and tok/ of Multi30k, if this machine has it."""
    if not (MULTI30K / "raw" / "train.en.gz").exists():
        pytest.skip(f"Multi30k is not at {MULTI30K}")
    return MULTI30K


@pytest.fixture(scope="session")
def compiled_for(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ctypes.CDLL]:
    """The kernels for an instruction set, compiled when first asked for, once for all processes of the tests."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    @cache
    def compiled(name: str) -> ctypes.CDLL:
        if name == "avxvnni" and name not in build.usable_instruction_sets():
            return _avx_vnni_by_avx512(tmp_path_factory.mktemp(name))
        if name not in build.usable_instruction_sets():
            pytest.skip(f"this processor has no {name}")
        with FileLock(base / f"{name}.lock"):
            made = base / f"{name}.so"
            if not made.exists():
                build.compile_kernels(["cc"], tmp_path_factory.mktemp(name), name).rename(made)
        return kernels.declare(ctypes.CDLL(str(made)))

    return compiled


@pytest.fixture(params=build.possible_instruction_sets())
def instruction_set(
    request: pytest.FixtureRequest, compiled_for: Callable[[str], ctypes.CDLL], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run with the kernels for each instruction set that this processor has."""
    found = compiled_for(request.param)
    monkeypatch.setattr(kernels, "library", lambda: found)


def _avx_vnni_by_avx512(folder: Path) -> ctypes.CDLL:
    """The kernels for AVX-VNNI, with its one instruction taken from AVX-512, which few processors have beside it."""
    if "avx512vnni" not in build.usable_instruction_sets():
        pytest.skip("this processor has neither AVX-VNNI nor AVX-512 VNNI")
    for source in build.SOURCES + build.HEADERS:
        code = source.read_text(encoding="utf-8").replace("_mm256_dpbusd_avx_epi32", "_mm256_dpbusd_epi32")
        code = code.replace("__AVX512VNNI__", "NEVER").replace("__AVXVNNI__", "__AVX512VNNI__")
        (folder / source.name).write_text(code, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "SOURCES", [folder / source.name for source in build.SOURCES])
        return kernels.declare(ctypes.CDLL(str(build.compile_kernels(["cc"], folder, "avx512vnni"))))


@pytest.fixture
def small_files() -> Iterator[Callable[[int], None]]:
    """What limits the size of the files that this process may write, as a full disk does, until the test ends."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 128 KiB; needs the right to mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a file system cannot be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)
