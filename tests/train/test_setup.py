"""From settings to a run's objects: what `auto` picks, and what is refused in one line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from translate.config.model import ModelConfig
from translate.config.train import TrainConfig
from translate.config.trainer import TrainerConfig
from translate.model.transformer import build_model
from translate.train import setup
from translate.train.setup import Patience, compile_layers, make_trainer, pick_precision, training_device
from translate.train.start import train


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


@pytest.mark.slow
def test_compiled_layers_compute_the_same() -> None:
    graphs = []

    def backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., Any]:
        graphs.append(graph)
        return graph.forward

    config = ModelConfig(d_model=8, d_ff=8, num_heads=2, num_encoder_layers=1, num_decoder_layers=1)
    model = build_model(config, 9, 9).eval()
    ids, mask = torch.ones(2, 3, dtype=torch.int64), torch.ones(2, 3, dtype=torch.bool)
    plain = model(ids, ids, mask, mask)
    compile_layers(model, backend)
    with torch.compiler.set_stance("force_eager"):  # as validation does
        model(ids, ids, mask, mask)
    assert not graphs
    assert_close(model(ids, ids, mask, mask), plain)
    assert len(graphs) == 2  # one of each kind of layer


def test_a_run_compiles_its_layers_if_asked_to(make_config, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[torch.nn.Module] = []
    monkeypatch.setattr(setup, "compile_layers", compiled.append)
    train(make_config(max_steps=1))
    assert not compiled
    train(make_config(max_steps=1, compile=True))
    assert [type(model).__name__ for model in compiled] == ["Transformer"]


@pytest.mark.parametrize("cuda", [False, True])
def test_apples_gpu_is_left_alone_with_a_word(
    make_config, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], cuda: bool
) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr("lightning.pytorch.accelerators.mps.MPSAccelerator.is_available", lambda: True)
    config = make_config(accelerator="auto", precision="32")
    trainer = make_trainer(config, tmp_path, [])
    assert trainer.strategy.root_device == torch.device("cpu")
    assert "training on the CPU: this machine's GPU (MPS) is not supported" in capsys.readouterr().err
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    assert training_device(config.trainer).type == ("cuda" if cuda else "cpu")


def test_training_leaves_cudnn_out_of_attention(tmp_path: Path) -> None:
    torch.backends.cuda.enable_cudnn_sdp(True)
    config = TrainConfig(trainer=TrainerConfig(accelerator="cpu", precision="32"))
    make_trainer(config, tmp_path, [])
    assert not torch.backends.cuda.cudnn_sdp_enabled()


def test_an_accelerator_that_is_not_supported_is_refused() -> None:
    with pytest.raises(ValueError, match=r"trainer\.accelerator \(mps\) must be one of auto, cpu, gpu"):
        TrainerConfig(accelerator="mps")
