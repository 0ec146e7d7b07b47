"""Fixtures that several test files share."""

from pathlib import Path

import pytest
import torch

MULTI30K = Path(__file__).resolve().parents[2] / "shared" / "multi30k"


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """Tiny tensors are faster on one thread, and results do not depend on the machine."""
    torch.set_num_threads(1)


@pytest.fixture
def multi30k() -> Path:
    """The folder with raw/ and tok/ of Multi30k, if this machine has it."""
    if not (MULTI30K / "raw" / "train.en.gz").exists():
        pytest.skip(f"Multi30k is not at {MULTI30K}")
    return MULTI30K
