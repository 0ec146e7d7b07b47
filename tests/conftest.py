"""Fixtures that several test files share."""

import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

MULTI30K = Path(__file__).resolve().parents[2] / "shared" / "multi30k"

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
