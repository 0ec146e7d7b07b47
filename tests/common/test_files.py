"""Files are whole or not there, whenever a process dies and whatever is full; one process at a time holds a lock."""

import errno
import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import BinaryIO

import pytest

from translate.common import files
from translate.common.files import (
    atomic_write,
    copy_file,
    explained,
    free_lock,
    lock,
    move_file,
    new_directory,
    recover_directory,
    write_text,
)

NO_FLOCK = [errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK]


def listed(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write_half(file: BinaryIO) -> None:
    file.write(b"half")
    raise ZeroDivisionError


def fill(folder: Path, text: str) -> None:
    (folder / "one").write_text(text)
    (folder / "sub").mkdir()
    (folder / "sub" / "two").write_text(text)


def fill_wrongly(folder: Path) -> None:
    fill(folder, "half")
    (folder / "sub").write_text("a folder cannot hold text")


def contents(folder: Path) -> tuple[str, str]:
    return (folder / "one").read_text(), (folder / "sub" / "two").read_text()


def test_a_file_is_written_with_the_folders_that_hold_it(tmp_path: Path) -> None:
    write_text(tmp_path / "a" / "b" / "file", "déjà\nvu\n")
    assert (tmp_path / "a" / "b" / "file").read_bytes() == "déjà\nvu\n".encode()
    copy_file(tmp_path / "a" / "b" / "file", tmp_path / "copy")
    move_file(tmp_path / "a" / "b" / "file", tmp_path / "moved")
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "moved").read_bytes() == "déjà\nvu\n".encode()
    assert listed(tmp_path) == ["a", "copy", "moved"]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    write_text(tmp_path / "file", "old")
    with pytest.raises(ZeroDivisionError), atomic_write(tmp_path / "file") as file:
        write_half(file)
    assert (tmp_path / "file").read_text() == "old"
    assert listed(tmp_path) == ["file"]


def test_an_error_leaves_the_old_folder_and_nothing_else(tmp_path: Path) -> None:
    with new_directory(tmp_path / "target") as folder:
        fill(folder, "old")
    with pytest.raises(IsADirectoryError), new_directory(tmp_path / "target") as folder:
        fill_wrongly(folder)
    assert contents(tmp_path / "target") == ("old", "old")
    assert listed(tmp_path) == ["target"]


def test_contents_and_their_folder_are_synced_around_the_rename(tmp_path: Path, monkeypatch) -> None:
    """Every file reaches the disk before it gets its name, and the name after."""
    calls: list[str] = []
    fsync, rename, replace = os.fsync, os.rename, os.replace

    def synced(descriptor: int) -> None:
        calls.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        fsync(descriptor)

    def renamed(source: object, target: object) -> None:
        calls.append(f"-> {Path(str(target)).name}")
        (replace if Path(str(target)).is_file() else rename)(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "rename", renamed)
    monkeypatch.setattr(os, "replace", renamed)
    mine = f".file.{os.getpid()}.tmp"
    write_text(tmp_path / "file", "x")
    assert calls == [mine, "-> file", tmp_path.name]
    calls.clear()
    move_file(tmp_path / "file", tmp_path / "moved")
    assert calls == ["file", "-> moved", tmp_path.name]
    calls.clear()
    with new_directory(tmp_path / "target") as folder:
        fill(folder, "x")
    named = calls.index("-> target")
    assert sorted(calls[:named]) == sorted(["one", "sub", "two", f".target.{os.getpid()}.tmp"])
    assert calls[named + 1 :] == [tmp_path.name]


# Dies before the k-th change of the file system, k = 1, 2, …, each time in a child of its own, until a child lives.
KILLED = """
import os, sys
from pathlib import Path
from translate.common.files import new_directory, recover_directory
root, left = Path(sys.argv[1]), None
CHANGES = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate"}

def count(event, arguments):
    global left
    if left is None or event not in CHANGES or (event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR)):
        return
    left -= 1
    if left == 0:
        os._exit(9)

def fill(target, text):
    with new_directory(target) as folder:
        (folder / "one").write_text(text)
        (folder / "sub").mkdir()
        (folder / "sub" / "two").write_text(text)

sys.addaudithook(count)
status, k = 9, 0
while status == 9:
    k += 1
    target = root / str(k) / "target"
    target.parent.mkdir()
    fill(target, "old")
    if (child := os.fork()) == 0:
        left = k
        fill(target, "new")
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
assert status == 0, status
"""


def test_a_process_that_dies_at_any_moment_leaves_the_old_folder_or_the_new_one(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=True)
    found = []
    for k in range(1, len(listed(tmp_path)) + 1):
        target = tmp_path / str(k) / "target"
        if (aside := target.with_name(".target.old")).exists():
            assert contents(aside) == ("old", "old")  # removed in part it must not be taken back
        found.append("gap" if not target.exists() else "")
        recover_directory(target)
        one, two = contents(target)
        assert one == two
        found[-1] += one
        with new_directory(target) as folder:  # the next writer removes what was left
            fill(folder, "next")
        assert contents(target) == ("next", "next")
        assert listed(target.parent) == ["target"]
    assert found == sorted(found, key=["old", "gapold", "new"].index)  # old, then new, with one moment between them
    assert found.count("gapold") == 1
    assert found.count("old") > 4
    assert found.count("new") > 4


def test_a_reader_that_takes_the_old_folder_back_amid_a_replacement_does_not_stop_it(
    tmp_path: Path, monkeypatch
) -> None:
    target, rename = tmp_path / "target", os.rename
    with new_directory(target) as folder:
        fill(folder, "old")

    def interrupted(source: object, destination: object) -> None:
        if str(destination) == str(target):
            monkeypatch.setattr(os, "rename", rename)
            recover_directory(target)
            assert contents(target) == ("old", "old")
        rename(source, destination)

    monkeypatch.setattr(os, "rename", interrupted)
    with new_directory(target) as folder:
        fill(folder, "new")
    assert contents(target) == ("new", "new")
    assert listed(tmp_path) == ["target"]


@pytest.mark.parametrize("name", [".", "..", "/", "nowhere", "file"])
def test_there_is_nothing_to_recover_in_other_places(tmp_path: Path, monkeypatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("x")
    recover_directory(Path(name))
    assert listed(tmp_path) == ["file"]


def test_a_full_file_system_is_named_with_what_it_has_left(tmp_path: Path, tiny_disk: Path) -> None:
    write_text(tiny_disk / "file", "old")
    with pytest.raises(OSError, match=r"No space left on device: more is needed than the 0\.1 MB .*; free") as error:
        write_text(tiny_disk / "file", "x" * 300_000)
    assert error.value.filename == str(tiny_disk / "file")
    assert (tiny_disk / "file").read_text() == "old"
    with pytest.raises(OSError, match="No space left") as error, new_directory(tiny_disk / "folder") as folder:
        write_text(folder / "part", "x" * 300_000)
    assert error.value.filename == str(tiny_disk / "folder")
    assert listed(tiny_disk) == ["file"]


def test_errors_of_other_files_and_other_kinds_stay_as_they_are(tmp_path: Path) -> None:
    elsewhere = OSError(errno.ENOSPC, "No space left on device", "/elsewhere/file")
    for error in (elsewhere, OSError(errno.EIO, "broken"), ValueError("bad (os error 28)"), RuntimeError("other")):
        with pytest.raises(type(error)) as raised, explained(tmp_path / "file"):
            raise error
        assert raised.value is error


HOLDER = """
import errno, sys
from pathlib import Path
if len(sys.argv) > 2:
    import fcntl
    def flock(*_): raise OSError(int(sys.argv[2]), "no flock here")
    fcntl.flock = flock
from translate.common.files import lock
with lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


def start_holder(path: Path, *missing: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "ignore", "-c", HOLDER, str(path), *map(str, missing)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    return holder


@pytest.fixture(params=[None, *NO_FLOCK], ids=lambda number: errno.errorcode.get(number, "flock"))
def missing(request, monkeypatch) -> list[int]:
    """The error of flock on a file system without it, or none where there is one."""
    if request.param is None:
        return []

    def flock(*_: object) -> None:
        raise OSError(request.param, "no flock here")

    monkeypatch.setattr(fcntl, "flock", flock)
    return [request.param]


@pytest.mark.filterwarnings("ignore:flock not supported")
def test_a_lock_is_held_by_one_process_with_and_without_flock(tmp_path: Path, missing: list[int]) -> None:
    path = tmp_path / "sub" / "name.lock"
    for _ in range(2):
        with lock(path):
            pass
    holder = start_holder(path, *missing)
    with free_lock(path) as free:
        assert not free
    holder.communicate("go\n", timeout=30)
    with free_lock(path) as free:
        assert free
    assert len(listed(path.parent)) <= 1


@pytest.mark.filterwarnings("ignore:flock not supported")
def test_a_killed_process_loses_its_lock_with_and_without_flock(tmp_path: Path, missing: list[int]) -> None:
    holder = start_holder(tmp_path / "name.lock", *missing)
    holder.kill()
    holder.wait()
    started = time.monotonic()
    with lock(tmp_path / "name.lock"):
        pass
    assert time.monotonic() - started < 9  # far less than `_PATIENCE`, after which we would speak


def test_waiting_long_for_a_lock_is_said(tmp_path: Path, monkeypatch, caplog) -> None:
    monkeypatch.setattr(files, "_PATIENCE", 0.05)
    holder = start_holder(tmp_path / "a")
    warning = files.logger.warning

    def say_and_let_go(*message: object) -> None:
        warning(*message)
        holder.stdin.write("go\n")
        holder.stdin.flush()

    monkeypatch.setattr(files.logger, "warning", say_and_let_go)
    with lock(tmp_path / "a"):
        assert holder.wait(60) == 0
    assert len(caplog.messages) == 1
    assert f"waiting for the process that holds {tmp_path / 'a'}; delete it if there is no such process" in caplog.text


def test_another_error_of_a_lock_is_raised(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError, match="file"), lock(tmp_path / "file" / "name.lock"):
        pass
