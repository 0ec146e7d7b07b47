"""The cores that are there, in a container too."""

import os
from pathlib import Path

import pytest

from translate.cores import available_cores


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
