"""Cache entries are whole or not there, whoever writes at once and whoever is killed."""

import os
import signal
import subprocess
import sys
from multiprocessing.connection import wait
from pathlib import Path

import numpy as np
import pytest
import torch

from translate.benchmark.peak import PeakMemory
from translate.data.token_cache import Rows, RowWriter, cache_key, new_entry

WRITER = """
import sys
from pathlib import Path
from translate.data.token_cache import RowWriter, new_entry
entry, value = Path(sys.argv[1]), int(sys.argv[2])
print("started", flush=True)
with new_entry(entry) as folder:
    if folder is not None:
        with RowWriter(folder, "rows", "uint16") as rows:
            rows.extend([[value] * 5])
        print("writing", flush=True)
        sys.stdin.readline()
print("done", flush=True)
"""


def start_writer(entry: Path, value: int, *, waits: bool = False) -> subprocess.Popen[str]:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(entry), str(value)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdout.readline() == "started\n"
    if not waits:
        assert writer.stdout.readline() == "writing\n"
    return writer


def finish(writer: subprocess.Popen[str]) -> None:
    out, _ = writer.communicate("go\n", timeout=30)
    assert out == "done\n"
    assert writer.returncode == 0


@pytest.mark.parametrize(("dtype", "top"), [(np.uint16, 65_535), (np.int32, 70_000)])
def test_rows_come_back_as_written(tmp_path, dtype, top):
    rows = [[1, 2, top], [], [7], list(range(50))]
    with RowWriter(tmp_path, "ids", dtype) as writer:
        writer.extend(rows[:2])
        writer.extend([])
        writer.extend(iter(rows[2:]))
    stored = Rows(tmp_path, "ids")
    assert [stored[i].tolist() for i in range(len(stored))] == rows
    assert stored.lengths.tolist() == [3, 0, 1, 50]
    assert (tmp_path / "ids.values").stat().st_size == 54 * np.dtype(dtype).itemsize


@pytest.mark.parametrize("wanted", [[0], [2, 1, 2], [3, 0]], ids=["first", "twice", "last and longest"])
def test_several_rows_at_once_are_those_one_by_one(tmp_path, wanted):
    with RowWriter(tmp_path, "ids", np.uint16) as writer:
        writer.extend([[1, 2], [], [3], [4, 5, 6]])
    stored = Rows(tmp_path, "ids")
    ids, lengths = stored.padded(np.array(wanted))
    assert ids.shape == (len(wanted), max(lengths))
    assert [row[:length].tolist() for row, length in zip(ids, lengths, strict=True)] == [
        stored[row].tolist() for row in wanted
    ]


def test_texts_come_back_as_written(tmp_path):
    texts = ["", "déjà vu", "🙂\u202f!", "a\nb"]
    with RowWriter(tmp_path, "text", np.uint8) as writer:
        writer.extend_texts(texts)
    assert list(Rows(tmp_path, "text").texts()) == texts


def test_texts_are_read_across_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("translate.data.token_cache._BLOCK", 3)
    texts = [f"été {number}" * (number % 4) for number in range(11)]
    with RowWriter(tmp_path, "text", np.uint8) as writer:
        writer.extend_texts(texts)
    assert list(Rows(tmp_path, "text").texts()) == texts


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
def test_reading_all_texts_keeps_none_of_them_in_memory(tmp_path):
    with RowWriter(tmp_path, "text", np.uint8) as writer:
        for _ in range(12):
            writer.extend_texts(["a" * 500] * 10_000)
    rows, memory = Rows(tmp_path, "text"), PeakMemory(torch.device("cpu"))
    assert sum(map(len, rows.texts())) == 60_000_000
    assert memory.bytes() < 25_000_000


def test_a_file_without_rows_can_be_read(tmp_path):
    with RowWriter(tmp_path, "ids", np.uint16):
        pass
    assert len(Rows(tmp_path, "ids")) == 0


def test_keys_depend_on_every_part():
    keys = {cache_key(*parts) for parts in [("a", 1), ("a", 2), ("a", "1"), ("a",), ("a", 1, None)]}
    assert len(keys) == 5
    assert cache_key("a", 1) == cache_key("a", 1)


def test_an_error_leaves_nothing(tmp_path):
    def fail() -> None:
        with new_entry(tmp_path / "entry") as folder:
            (folder / "half").write_text("x")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["entry.lock"]


def names(folder: Path) -> list[str]:
    """What lies in a cache folder beside the empty lock files."""
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


def test_of_two_writers_at_once_the_second_waits_and_uses_what_the_first_has_written(tmp_path):
    entry = tmp_path / "entry"
    first = start_writer(entry, 1)
    second = start_writer(entry, 2, waits=True)
    assert not wait([second.stdout], 0.3)  # it neither writes nor ends
    finish(first)
    finish(second)
    assert Rows(entry, "rows")[0].tolist() == [1] * 5
    assert names(tmp_path) == ["entry"]


@pytest.mark.parametrize("wanted", ["dead", "new"])
def test_a_killed_writer_leaves_no_entry_and_the_next_one_of_any_entry_cleans_up(tmp_path, wanted):
    dead, alive = start_writer(tmp_path / "dead", 1), start_writer(tmp_path / "alive", 2)
    dead.send_signal(signal.SIGKILL)
    dead.wait()
    assert not (tmp_path / "dead").exists()
    assert len(names(tmp_path)) == 2
    with new_entry(tmp_path / wanted) as folder:
        (folder / "file").write_text("x")
    assert len(names(tmp_path)) == 2  # the entry and the folder of the living writer
    finish(alive)
    assert names(tmp_path) == sorted(["alive", wanted])


def test_a_complete_entry_is_not_filled_again(tmp_path):
    for expected in (True, False):
        with new_entry(tmp_path / "entry") as folder:
            assert (folder is not None) == expected
            if folder is not None:
                (folder / "file").write_text("x")


def write_rows(entry: Path) -> None:
    with new_entry(entry) as folder, RowWriter(folder, "rows", "uint16") as rows:
        rows.extend([[7, 8], [9]])


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: os.truncate(entry / "rows.values", 3),
        lambda entry: os.truncate(entry / "rows.values", 60),
        lambda entry: (entry / "rows.values").unlink(),
        lambda entry: (entry / "sizes.json").unlink(),
        lambda entry: os.truncate(entry / "sizes.json", 10),
    ],
    ids=["shorter", "longer", "a file is gone", "no sizes", "half the sizes"],
)
def test_an_entry_whose_files_are_not_as_long_as_written_is_made_anew(tmp_path, damage):
    entry = tmp_path / "entry"
    write_rows(entry)
    damage(entry)
    write_rows(entry)
    stored = Rows(entry, "rows")
    assert [stored[row].tolist() for row in range(2)] == [[7, 8], [9]]
    assert names(tmp_path) == ["entry"]


def test_an_entry_that_does_not_fit_is_named_and_leaves_nothing(tmp_path, small_files):
    def write() -> None:
        with new_entry(tmp_path / "entry") as folder, RowWriter(folder, "rows", "uint16") as rows:
            rows.extend([[1] * 100_000])

    small_files(100_000)
    with pytest.raises(OSError, match=r"File too large; .*ulimit -f") as error:
        write()
    assert error.value.filename == str(tmp_path / "entry")
    assert names(tmp_path) == []
