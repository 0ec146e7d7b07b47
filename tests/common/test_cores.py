"""The cores that are there, in a container too."""

import os
from pathlib import Path

import pytest
import torch

from translate.common.cores import available_cores, limit_threads
from translate.translator.translator import Translator


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        ("0::/\n", {}, 8),
        ("0::/\n", {"cpu.max": "max 100000\n"}, 8),
        ("0::/\n", {"cpu.max": "300000 100000\n"}, 3),
        ("0::/\n", {"cpu.max": "150000 100000\n"}, 2),
        ("0::/a/b\n", {"a/cpu.max": "200000 100000\n", "a/b/cpu.max": "max 100000\n", "cpu.max": "600000 100000\n"}, 2),
        ("0::/not/mounted/here\n", {"cpu.max": "400000 100000\n"}, 4),
        ("4:memory:/\n3:cpu,cpuacct:/x\n", {"cpu/x/cpu.cfs_quota_us": "5000", "cpu/x/cpu.cfs_period_us": "1000"}, 5),
        ("1:cpu:/\n0::/\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 8),
    ],
)  # fmt: skip
def test_a_quota_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, groups: str, files: dict[str, str], expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)))
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    for name, text in {"proc/self/cgroup": groups, **{f"sys/fs/cgroup/{n}": t for n, t in files.items()}}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert available_cores(tmp_path) == expected
    monkeypatch.setenv("OMP_NUM_THREADS", "3,2")
    assert available_cores(tmp_path) == min(expected, 3)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {5})
    assert available_cores(tmp_path) == 1


@pytest.mark.parametrize(
    ("quota", "processes", "omp", "expected"),
    [("800000", 1, "", 8), ("800000", 3, "", 2), ("150000", 4, "", 1), ("800000", 2, "3", 3), ("800000", 4, "3", 2)],
)
def test_processes_of_a_run_share_cores_and_quota_but_not_their_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quota: str, processes: int, omp: str, expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(64)))
    monkeypatch.setenv("OMP_NUM_THREADS", omp)
    for name, text in {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": f"{quota} 100000\n"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert available_cores(tmp_path, processes=processes) == expected


@pytest.mark.parametrize(("threads", "expected"), [(None, 2), (5, 5)])
def test_torch_gets_no_more_threads_than_there_are_cores(
    monkeypatch: pytest.MonkeyPatch, threads: int | None, expected: int
) -> None:
    monkeypatch.setattr("translate.common.cores.available_cores", lambda *, processes: 4 // processes)
    torch.set_num_threads(7)
    limit_threads(threads, processes=2)
    assert torch.get_num_threads() == expected
    torch.set_num_threads(1)
    limit_threads()  # fewer than there are cores stay as they are
    assert torch.get_num_threads() == 1


def test_opening_a_model_heeds_the_quota(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("translate.common.cores.available_cores", lambda *, processes: 2)
    torch.set_num_threads(7)
    Translator.load(Path(__file__).parents[1] / "fixtures" / "tiny_model", device="cpu", precision="32")
    assert torch.get_num_threads() == 2
