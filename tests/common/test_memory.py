"""What the process keeps in memory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from translate.common.memory import limit_kernel_caches
from translate.translator.translator import Translator

TINY = Path(__file__).parents[1] / "fixtures" / "tiny_model"
CAPACITIES = ("LRU_CACHE_CAPACITY", "ONEDNN_PRIMITIVE_CACHE_CAPACITY")
NEW_SHAPES = """
import torch
from translate.common.memory import limit_kernel_caches, status_bytes

torch.set_num_threads(1)
limit_kernel_caches()
weight = torch.ones(64, 64, dtype=torch.bfloat16)
for rows in range(1, 401):
    torch.ones(rows, 64, dtype=torch.bfloat16) @ weight
    if rows == 100:
        before = status_bytes("VmRSS")
print((status_bytes("VmRSS") - before) / 2**20)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
def test_matmuls_of_new_shapes_do_not_fill_the_memory() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in CAPACITIES}
    environment["OMP_NUM_THREADS"] = "1"
    done = subprocess.run(
        [sys.executable, "-c", NEW_SHAPES], capture_output=True, text=True, check=True, env=environment
    )
    assert float(done.stdout) < 30  # MiB; 195 where 300 more shapes are all kept


@pytest.fixture
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the environment say nothing of the caches, and leave it as it was."""
    for name in CAPACITIES:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def test_what_the_user_has_set_stays(unset: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CAPACITIES[0], "7")
    limit_kernel_caches()
    assert os.environ[CAPACITIES[0]] == "7"
    assert 1 <= int(os.environ[CAPACITIES[1]]) < 1024


@pytest.mark.parametrize(("precision", "limited"), [("32", False), ("bf16", True)])
def test_translating_in_16_bit_keeps_kernels_for_few_shapes(unset: None, precision: str, limited: bool) -> None:
    Translator.load(TINY, device="cpu", precision=precision)
    assert (CAPACITIES[0] in os.environ) == limited
