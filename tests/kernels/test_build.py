"""How the kernels are compiled, kept and trusted, and what is said where that fails."""

import logging
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from translate.kernels import build, library
from translate.kernels.build import load_kernels

needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler (cc)")
NOBODY = 54321


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Iterator[Path]:
    """The cache folder, empty; nothing is loaded yet, and the compiler hurries."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(build, "FLAGS", ("-O0", "-w", "-shared", "-fPIC"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    caplog.set_level(logging.WARNING, "translate.kernels")
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

    def noted(compiler: list[str], folder: Path, instruction_set: str) -> Path:
        found.append(folder)
        return compile_kernels(compiler, folder, instruction_set)

    monkeypatch.setattr(build, "compile_kernels", noted)
    return found


@needs_cc
@pytest.mark.slow
def test_kernels_are_compiled_once_and_kept_for_their_user_alone(folder: Path, compiled: list[Path]) -> None:
    before = os.umask(0o002)  # lets groups write
    try:
        for _ in range(2):
            assert library() is not None
            forget()
    finally:
        os.umask(before)
    assert len(compiled) == 1
    assert [path.name for path in folder.iterdir()] == [kept(folder).name]
    assert folder.stat().st_mode & 0o777 == kept(folder).stat().st_mode & 0o777 == 0o700


@needs_cc
@pytest.mark.slow
def test_a_kernel_of_the_package_that_cannot_be_loaded_is_compiled_instead(
    folder: Path, compiled: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("portable", "avx2"):
        (tmp_path / "package/compiled").mkdir(parents=True, exist_ok=True)
        (tmp_path / f"package/compiled/{name}.so").write_bytes(b"no library")
    monkeypatch.setattr(build, "_FOLDER", tmp_path / "package")
    assert library() is not None
    assert len(compiled) == 1


@needs_cc
@pytest.mark.parametrize("harm", ["cut short", "overwritten", "others can write to it", "missing"])
@pytest.mark.slow
def test_a_kernel_that_is_damaged_or_not_trusted_is_compiled_anew(
    harm: str, folder: Path, compiled: list[Path], caplog: pytest.LogCaptureFixture
) -> None:
    library()
    path = kept(folder)
    content = path.read_bytes()
    path.unlink()  # the loaded one must stay whole
    if harm == "others can write to it":
        path.write_bytes(content)
        path.chmod(0o722)
    elif harm == "missing":
        path.symlink_to(folder / "gone")
    else:
        path.write_bytes(content[: len(content) // 2] if harm == "cut short" else content[:-1] + b"x")
        path.chmod(0o700)
    forget()
    assert library() is not None
    assert len(compiled) == 2
    assert build._intact(kept(folder))
    assert kept(folder).read_bytes() == content
    assert not caplog.records


def test_only_this_user_and_the_administrator_are_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for mode, trusted in ((0o700, True), (0o755, True), (0o720, False), (0o702, False), (0o777, False)):
        tmp_path.chmod(mode)
        assert build._trusted(tmp_path) == trusted
    tmp_path.chmod(0o700)
    if os.geteuid() == 0:
        os.chown(tmp_path, NOBODY, NOBODY)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: NOBODY)
    assert not build._trusted(tmp_path)


@needs_cc
@pytest.mark.parametrize("harm", ["a file is in the way", "others can write to it"])
@pytest.mark.slow
def test_without_a_cache_folder_kernels_are_compiled_in_a_private_one(
    harm: str, folder: Path, tmp_path: Path, compiled: list[Path], caplog: pytest.LogCaptureFixture
) -> None:
    if harm == "a file is in the way":
        folder.parent.write_text("")
    else:
        folder.mkdir(parents=True)
        folder.chmod(0o777)
    assert library() is not None
    (private,) = compiled
    assert private.parent == tmp_path
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]  # it is gone
    (record,) = caplog.records
    assert str(folder) in record.message or str(folder.parent) in record.message
    assert "set XDG_CACHE_HOME to a folder that you alone can write to" in record.message
    assert not folder.exists() or not list(folder.iterdir())


@needs_cc
@pytest.mark.slow
def test_kernels_unused_for_a_month_are_removed(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True)
    month = time.time() - 31 * 86400
    for name in ("kernels-old.so", "kernels-recent.so", "other.so"):
        (folder / name).write_text("")
    (folder / "kernels-broken_off").mkdir()
    for name in ("kernels-old.so", "kernels-broken_off", "other.so"):
        os.utime(folder / name, (month, month))
    library()
    (own,) = folder.glob("kernels-*-*.so")
    assert {path.name for path in folder.iterdir()} == {"kernels-recent.so", "other.so", own.name}
    os.utime(own, (month, month))
    forget()
    library()
    assert own.stat().st_mtime > month + 86400  # to be used counts


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
        ("true", ".so"),  # compiles nothing
        ("cc -fvisibility=hidden", "does not export its functions"),
    ],
)
@needs_cc
@pytest.mark.slow
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
    assert build.find_compiler() == ["cc"]


@pytest.mark.parametrize(
    ("machine", "system", "features", "usable"),
    [
        ("x86_64", "linux", build.INSTRUCTION_SETS["avx2"].features, ["avx2", "portable"]),
        ("x86_64", "linux", {"asimddp"}, ["portable"]),
        ("aarch64", "linux", {"asimd", "asimddp"}, ["dotprod", "portable"]),
        ("aarch64", "linux", {"asimd"}, ["portable"]),
        ("riscv64", "linux", {"avx2"}, ["portable"]),
        ("arm64", "darwin", set(), ["dotprod", "portable"]),
    ],
)
def test_kernels_suit_the_processor(
    machine: str, system: str, features: set[str], usable: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build.platform, "machine", lambda: machine)
    monkeypatch.setattr(build.sys, "platform", system)
    if system == "linux":
        monkeypatch.setattr(build, "_features", lambda: frozenset(features))
    assert build.usable_instruction_sets() == usable
