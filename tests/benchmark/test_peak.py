"""The machine's own peak, and memory."""

import sys

import pytest
import torch

from translate.benchmark.peak import PeakMemory, matmul_dtype, matmul_peak, memory_kind

CPU = torch.device("cpu")


def test_the_peak_is_that_of_the_fastest_matmul(monkeypatch) -> None:
    times = iter([0.0, 2.0, 10.0, 10.5, 20.0, 24.0])
    monkeypatch.setattr("translate.benchmark.peak.perf_counter", lambda: next(times))
    assert matmul_peak(CPU, torch.float32, size=8, seconds=0.1)() == 2 * 8**3 / 0.5


def test_it_tries_for_as_long_as_it_is_told(monkeypatch) -> None:
    times = iter([float(number) for number in range(10)])
    monkeypatch.setattr("translate.benchmark.peak.perf_counter", lambda: next(times))
    matmul_peak(CPU, torch.float32, size=8, seconds=5)()
    assert next(times, None) is None


def test_the_precision_of_training_is_that_of_the_matmul() -> None:
    assert [matmul_dtype(name) for name in ("32", "bf16-mixed", "16-mixed")] == [
        torch.float32,
        torch.bfloat16,
        torch.float16,
    ]
    assert matmul_peak(CPU, torch.bfloat16, size=8, seconds=0)() > 0


@pytest.mark.skipif(sys.platform != "linux", reason="the mark starts again where the system has /proc")
def test_memory_is_the_most_at_any_moment_and_each_measurement_starts_again() -> None:
    first = PeakMemory(CPU)
    block = torch.ones(16 * 2**20)
    del block
    assert 60 * 2**20 < first.bytes() < 80 * 2**20  # the system counts pages in batches
    second = PeakMemory(CPU)
    assert second.bytes() < 16 * 2**20
    assert "VmHWM" in memory_kind(CPU)
