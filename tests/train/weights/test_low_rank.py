"""LoRA: what is trained, what it becomes, and that a run with it stops, goes on and averages like any other."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from translate.config.files import load_config
from translate.config.model import ModelConfig
from translate.config.optim import OptimConfig
from translate.config.tokenizer import TokenizerConfig
from translate.config.train import TrainConfig
from translate.config.trainer import TrainerConfig
from translate.model.transformer import build_model
from translate.train.start import train
from translate.train.weights.averaging import load_weights
from translate.train.weights.checkpoint_io import SafeCheckpointIO
from translate.train.weights.low_rank import LowRank, add_low_rank, merge_low_rank, merged_weights
from translate.translator.bundle import load_bundle

TINY = Path(__file__).resolve().parents[2] / "fixtures" / "tiny_model"


def small_network(attention: str = "mha", **settings: object) -> nn.Module:
    """A network of one layer with random weights."""
    torch.manual_seed(0)
    sizes = {"d_model": 16, "d_ff": 24, "num_heads": 4, "num_encoder_layers": 1, "num_decoder_layers": 1}
    return build_model(ModelConfig(attention=attention, **sizes, **settings), 30, 30).eval()


def outputs(model: nn.Module) -> torch.Tensor:
    """Logits of two fixed sentences."""
    src, tgt = torch.arange(4, 12).view(2, 4), torch.arange(12, 22).view(2, 5)
    return model(src, tgt, torch.ones_like(src, dtype=torch.bool), torch.ones_like(tgt, dtype=torch.bool))


def changes_of(model: nn.Module) -> list[LowRank]:
    return [module for module in model.modules() if isinstance(module, LowRank)]


@pytest.mark.parametrize("attention", ["mha", "gqa", "mla", "talking_heads"])
@pytest.mark.parametrize("activation", ["relu", "swiglu"])
def test_changes_start_as_nothing_and_are_added_up_at_the_end(attention, activation) -> None:
    kv = {"num_kv_heads": 2} if attention == "gqa" else {}
    model = small_network(attention, activation=activation, **kv)
    before, names = outputs(model), model.state_dict().keys()
    add_low_rank(model, rank=3, alpha=6)
    torch.testing.assert_close(outputs(model), before, rtol=0, atol=0)
    with torch.no_grad():
        for change in changes_of(model):
            nn.init.normal_(change.up)
    changed = outputs(model)
    assert (changed - before).abs().max() > 0.1
    state = merged_weights(model.state_dict())
    merge_low_rank(model)
    assert not changes_of(model)
    assert model.state_dict().keys() == state.keys() == names
    torch.testing.assert_close(outputs(model), changed, rtol=0, atol=1e-6)
    fresh = small_network(attention, activation=activation, **kv)
    fresh.load_state_dict(state)
    torch.testing.assert_close(outputs(fresh), changed, rtol=0, atol=1e-6)


def test_the_change_is_up_times_down_scaled_by_alpha_over_rank() -> None:
    model = small_network()
    matrix = model.encoder_layers[0].feed_forward.inner.weight.detach().clone()
    add_low_rank(model, rank=2, alpha=7)
    linear = model.encoder_layers[0].feed_forward.inner
    (change,) = changes_of(linear)
    with torch.no_grad():
        change.up.fill_(0.5)
    torch.testing.assert_close(linear.weight, matrix + 3.5 * (0.5 * torch.ones(24, 2) @ change.down))
    assert torch.linalg.matrix_rank(linear.weight - matrix) == 1  # both columns of `up` are the same


def test_only_factors_of_attention_and_feed_forward_are_trained() -> None:
    model = small_network()
    add_low_rank(model, rank=2, alpha=2)
    trained = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    assert {name.rsplit(".", 1)[1] for name in trained} == {"up", "down"}
    layers = {name.partition(".parametrizations")[0] for name in trained}
    linears = {
        name
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) and (".feed_forward." in name or "attention." in name)
    }
    assert layers == linears
    assert len(layers) == 2 * 5  # qkv, out, inner, outer in the encoder, qkv and out twice in the decoder


def test_a_rank_beyond_a_matrix_is_that_of_the_matrix() -> None:
    model = small_network()
    add_low_rank(model, rank=500, alpha=500)
    assert {change.down.size(0) for change in changes_of(model)} == {16}


def lora(make_config, **trainer):
    config = make_config(
        optim={"lr": 3e-2, "warmup_steps": 1},
        changes={"model": ModelConfig(), "tokenizer": TokenizerConfig(), "init_from": str(TINY)},
        **trainer,
    )
    return replace(config, optim=replace(config.optim, lora_rank=4))


def validations(run_dir: Path) -> list[float]:
    with (run_dir / "metrics.csv").open(newline="") as file:
        return [float(row["valid_loss"]) for row in csv.DictReader(file) if row["valid_loss"]]


@pytest.mark.slow
@pytest.mark.parametrize("trainer", [{}, {"ema_decay": 0.5}, {"average": "best", "average_count": 2}, {"workers": 2}])
def test_a_run_learns_and_leaves_a_plain_model(make_config, trainer) -> None:
    run_dir = train(lora(make_config, max_epochs=3, **trainer))
    losses = validations(run_dir)
    assert losses[-1] < losses[0] - 0.1
    before, _, _ = load_bundle(TINY)
    after, _, _ = load_bundle(run_dir / "model")
    old, new = before.state_dict(), after.state_dict()
    assert old.keys() == new.keys()
    changed = {name for name in old if not torch.equal(old[name], new[name])}
    assert changed
    assert all(name.endswith(("qkv.weight", "out.weight", "inner.weight", "outer.weight")) for name in changed)
    for name in changed:
        assert torch.linalg.matrix_rank(new[name] - old[name], rtol=1e-4) <= (8 if "average" in trainer else 4)


@pytest.mark.slow
def test_a_resumed_run_becomes_the_same_model_with_a_small_optimizer(make_config) -> None:
    whole = train(lora(make_config, max_epochs=2))
    config = lora(make_config, max_epochs=1)
    part = train(config)
    saved = load_config(part / "config.yaml", TrainConfig)
    train(replace(saved, resume=str(part), trainer=replace(saved.trainer, max_epochs=2)))
    ours, theirs = (load_bundle(run / "model")[0].state_dict() for run in (part, whole))
    for name, tensor in ours.items():
        torch.testing.assert_close(tensor, theirs[name], rtol=0, atol=0)
    checkpoint = SafeCheckpointIO().load_checkpoint(part / "checkpoints/last.ckpt")
    moments = sum(state["exp_avg"].numel() for state in checkpoint["optimizer_states"][0]["state"].values())
    assert moments < sum(tensor.numel() for tensor in load_weights(part / "checkpoints/last.ckpt").values()) / 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"optim": OptimConfig(lora_rank=4)}, "name it with init_from"),
        (
            {
                "optim": OptimConfig(lora_rank=4),
                "init_from": "x",
                "trainer": TrainerConfig(strategy="fsdp", accelerator="gpu"),
            },
            "strategy=ddp",
        ),
    ],
)
def test_what_it_cannot_work_with_is_refused(settings, message) -> None:
    with pytest.raises(ValueError, match=message):
        TrainConfig(**settings)


def test_it_refuses_muon_and_a_scale_of_nothing() -> None:
    with pytest.raises(ValueError, match="use adamw"):
        OptimConfig(lora_rank=4, algorithm="muon")
    with pytest.raises(ValueError, match=r"does nothing without optim\.lora_rank"):
        OptimConfig(lora_alpha=8)
