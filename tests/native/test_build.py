"""How the kernels are compiled and kept, and what is said where that fails."""

import logging
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from translate.native import build, library
from translate.native.build import load_kernels

needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler (cc)")


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Iterator[Path]:
    """The cache folder, empty; nothing is loaded yet, and the compiler hurries."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(build, "FLAGS", ("-O0", "-w", "-shared", "-fPIC"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    caplog.set_level(logging.WARNING, "translate.native")
    forget()
    yield tmp_path / "cache" / "translate"
    forget()


def forget() -> None:
    """Make the next call load the kernels as a new process does."""
    library.cache_clear()
    load_kernels.cache_clear()


def kept(folder: Path) -> Path:
    (path,) = folder.glob("kernels-*.so")
    return path


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Where each compilation wrote."""
    found: list[Path] = []
    compile_kernels = build.compile_kernels

    def noted(compiler: list[str], folder: Path) -> Path:
        found.append(folder)
        return compile_kernels(compiler, folder)

    monkeypatch.setattr(build, "compile_kernels", noted)
    return found


@needs_cc
def test_kernels_are_compiled_once_and_kept(folder: Path, compiled: list[Path]) -> None:
    for _ in range(2):
        assert library() is not None
        forget()
    assert len(compiled) == 1
    assert [path.name for path in folder.iterdir()] == [kept(folder).name]


@needs_cc
def test_without_a_cache_folder_kernels_are_compiled_in_a_private_one(
    folder: Path, tmp_path: Path, compiled: list[Path], caplog: pytest.LogCaptureFixture
) -> None:
    folder.parent.write_text("")  # a file is in the way
    assert library() is not None
    (private,) = compiled
    assert private.parent == tmp_path
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]  # it is gone
    (record,) = caplog.records
    assert str(folder) in record.message
    assert "set XDG_CACHE_HOME to a folder that you alone can write to" in record.message


def test_threads_without_a_compiler_get_one_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setattr(shutil, "which", lambda name: time.sleep(0.05))  # so that the others come meanwhile
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: library(), range(8))) == [None] * 8
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "there is no C compiler (no-such-compiler)" in record.message
    assert "install gcc or clang, or name a compiler in CC" in record.message


def test_what_a_compiler_says_is_passed_on_in_a_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(command: list[str], **options: object) -> None:
        raise subprocess.CalledProcessError(1, command, stderr="kernels.c:\n no space left")

    monkeypatch.setenv("CC", "true")  # the path of some program
    monkeypatch.setattr(subprocess, "run", fail)
    assert library() is None
    (record,) = caplog.records
    assert "kernels.c: no space left: install gcc" in record.message


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ('" ', 'CC (" ) is not a command: No closing quotation'),
        ("true", "kernels.so"),  # compiles nothing
        ("cc -fvisibility=hidden", "does not export its functions"),
    ],
)
@needs_cc
def test_a_compiler_that_is_none_is_reported(
    given: str, reason: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("CC", given)
    assert library() is None
    (record,) = caplog.records
    assert reason in record.message


@needs_cc
@pytest.mark.parametrize("given", ["", " ", "''"])
def test_a_blank_name_of_a_compiler_is_cc(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", given)
    assert build._compiler() == ["cc"]
