"""From settings to a run's objects: what `auto` picks, and what is refused in one line."""

import pytest
import torch

from translate.config import TrainerConfig
from translate.training.setup import Patience, pick_precision


@pytest.mark.parametrize(("in_hardware", "expected"), [(True, "bf16-mixed"), (False, "32")])
def test_auto_precision_is_bfloat16_only_where_the_processor_has_it(
    monkeypatch: pytest.MonkeyPatch, in_hardware: bool, expected: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)  # a GPU that accelerator=cpu leaves alone
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: in_hardware, raising=False)
    assert pick_precision(TrainerConfig(precision="auto", accelerator="cpu")) == expected
    assert pick_precision(TrainerConfig(precision="32", accelerator="cpu")) == "32"


def test_float16_is_refused_without_a_gpu() -> None:
    with pytest.raises(ValueError, match="16-mixed needs a GPU"):
        pick_precision(TrainerConfig(precision="16-mixed", accelerator="cpu"))


@pytest.mark.parametrize(("supported", "expected"), [(True, "bf16-mixed"), (False, "16-mixed")])
def test_auto_precision_on_a_gpu_is_the_16_bit_type_that_it_has(
    monkeypatch: pytest.MonkeyPatch, supported: bool, expected: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: supported)
    assert pick_precision(TrainerConfig(precision="auto")) == expected


def test_a_resumed_run_waits_as_long_as_its_settings_say() -> None:
    before, after = Patience("valid_loss", patience=2), Patience("valid_loss", patience=7)
    before.wait_count = 1
    after.load_state_dict(before.state_dict())
    assert (after.patience, after.wait_count) == (7, 1)
