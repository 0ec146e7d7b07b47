"""Cache entries are whole or not there, whoever writes at once and whoever is killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from translate.benchmarking.peak import PeakMemory
from translate.data.token_cache import Rows, RowWriter, cache_key, new_entry

WRITER = """
import sys
from pathlib import Path
from translate.data.token_cache import RowWriter, new_entry
entry, value = Path(sys.argv[1]), int(sys.argv[2])
with new_entry(entry) as folder, RowWriter(folder, "rows", "uint16") as rows:
    rows.extend([[value] * 5])
    print("writing", flush=True)
    sys.stdin.readline()
print("done", flush=True)
"""


def start_writer(entry: Path, value: int) -> subprocess.Popen[str]:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(entry), str(value)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
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
    assert list(tmp_path.iterdir()) == []


def test_of_two_writers_at_once_the_first_to_end_wins(tmp_path):
    entry = tmp_path / "entry"
    first, second = start_writer(entry, 1), start_writer(entry, 2)
    finish(second)
    assert Rows(entry, "rows")[0].tolist() == [2] * 5
    finish(first)
    assert Rows(entry, "rows")[0].tolist() == [2] * 5
    assert os.listdir(tmp_path) == ["entry"]


def test_a_killed_writer_leaves_no_entry_and_the_next_one_cleans_up(tmp_path):
    entry = tmp_path / "entry"
    dead, alive = start_writer(entry, 1), start_writer(tmp_path / "other", 2)
    dead.send_signal(signal.SIGKILL)
    dead.wait()
    assert not entry.exists()
    assert len(os.listdir(tmp_path)) == 2
    with new_entry(entry) as folder:
        (folder / "file").write_text("x")
    assert len([name for name in os.listdir(tmp_path) if name.startswith("entry")]) == 1
    finish(alive)
    assert sorted(os.listdir(tmp_path)) == ["entry", "other"]
