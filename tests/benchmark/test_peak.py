"""The machine's own peak, and memory."""

import sys

import pytest
import torch

from translate.benchmark.peak import PeakMemory, matmul_dtype, matmul_peak, memory_kind
from translate.common.timer import Timer

CPU = torch.device("cpu")


def test_the_peak_goes_with_the_work_and_is_tried_for_as_long_as_told() -> None:
    with Timer() as timer:
        found = matmul_peak(CPU, torch.float32, size=256, seconds=0.2)()
    assert timer.seconds >= 0.2
    assert 1e8 < found < 1e14  # a machine's FLOP/s
    assert found >= 2 * 256**3 / timer.seconds


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
