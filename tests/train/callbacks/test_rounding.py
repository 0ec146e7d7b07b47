"""Quantization-aware training: the loss is that of rounded weights, and the exact ones are moved and kept."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from translate.config.optim import OptimConfig
from translate.config.train import TrainConfig
from translate.config.trainer import TrainerConfig
from translate.train.callbacks.rounding import RoundedWeights
from translate.train.module import TranslationModule
from translate.train.start import train
from translate.translator.weights import round_rows


def weights_of(run: Path) -> dict[str, torch.Tensor]:
    return load_file(run / "model/model.safetensors")


@pytest.mark.parametrize("trainer", [{}, {"accumulate": 2}, {"precision": "bf16-mixed"}, {"workers": 2}], ids=str)
def test_the_network_computes_with_rounded_weights_and_keeps_exact_ones(make_config, monkeypatch, trainer) -> None:
    seen: list[int] = []

    def record(self: TranslationModule, batch, smoothing: float) -> torch.Tensor:
        matrix = self.model.encoder_layers[0].feed_forward.inner.weight.detach()
        integers, scale = round_rows(matrix, 3)
        assert torch.allclose(matrix, integers * scale[:, None], rtol=0, atol=1e-6)
        seen.append(len(integers.unique()))
        return loss_sum(self, batch, smoothing)

    loss_sum = TranslationModule._loss_sum
    monkeypatch.setattr(TranslationModule, "_loss_sum", record)
    run = train(make_config(max_epochs=1, optim={"weight_bits": 3}, **trainer))
    assert seen
    assert max(seen) <= 7
    matrix = weights_of(run)["encoder_layers.0.feed_forward.inner.weight"]
    assert len(matrix.unique()) > 100


def test_it_begins_after_its_share_of_the_steps_and_validation_does_at_once(make_config, monkeypatch) -> None:
    rounded: list[tuple[bool, bool]] = []  # of each batch: in training, with rounded weights

    def record(self: TranslationModule, batch, smoothing: float) -> torch.Tensor:
        values = self.model.encoder_layers[0].feed_forward.inner.weight.detach()[0].unique()
        rounded.append((self.training, len(values) <= 7))
        return loss_sum(self, batch, smoothing)

    loss_sum = TranslationModule._loss_sum
    monkeypatch.setattr(TranslationModule, "_loss_sum", record)
    optim = {"weight_bits": 3, "weight_bits_from": 0.5}
    train(make_config(max_epochs=None, max_steps=10, validate_every=2, optim=optim))
    assert [is_rounded for training, is_rounded in rounded if training] == [False] * 5 + [True] * 5
    assert all(is_rounded for training, is_rounded in rounded if not training)


def test_training_resumes_as_if_never_stopped(make_config) -> None:
    whole = train(make_config(max_epochs=2, optim={"weight_bits": 6}))
    half = train(make_config(max_epochs=1, optim={"weight_bits": 6}))
    config = make_config(max_epochs=2, optim={"weight_bits": 6})
    train(replace(config, resume=str(half)))
    torch.testing.assert_close(weights_of(half), weights_of(whole), rtol=0, atol=0)


def test_without_it_other_weights_come_out(make_config) -> None:
    rounded, exact = (weights_of(train(make_config(max_epochs=1, optim=optim))) for optim in ({"weight_bits": 6}, {}))
    assert any(not torch.equal(rounded[name], exact[name]) for name in exact)


def test_a_step_moves_the_exact_weights_by_the_gradient_at_the_rounded_ones() -> None:
    random = torch.Generator().manual_seed(0)
    module, x = torch.nn.Linear(12, 7), torch.randn(5, 12, generator=random)
    exact = module.weight.detach().clone()
    integers, scale = round_rows(exact, 3)
    rounded = (integers * scale[:, None]).requires_grad_()
    ((x @ rounded.T + module.bias.detach()) ** 2).sum().backward()
    callback, optimizer = RoundedWeights(3), torch.optim.SGD(module.parameters(), lr=0.1)
    callback.on_train_batch_start(None, module, None, 0)  # type: ignore[arg-type]
    (module(x) ** 2).sum().backward()
    callback.on_before_optimizer_step(None, module, optimizer)  # type: ignore[arg-type]
    optimizer.step()
    torch.testing.assert_close(module.weight.detach(), exact - 0.1 * rounded.grad, rtol=0, atol=1e-5)


def test_training_moves_every_matrix(make_config) -> None:
    first, last = (
        weights_of(train(make_config(max_steps=steps, max_epochs=None, optim={"weight_bits": 6}))) for steps in (1, 5)
    )
    assert all(not torch.equal(first[name], last[name]) for name in first)


def test_exact_weights_come_back_where_training_fails() -> None:
    module = torch.nn.Linear(40, 40)
    exact = module.weight.detach().clone()
    callback = RoundedWeights(6)
    callback.on_train_batch_start(None, module, None, 0)  # type: ignore[arg-type]
    assert not torch.equal(module.weight, exact)
    callback.on_exception(None, module, ValueError())  # type: ignore[arg-type]
    assert torch.equal(module.weight, exact)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"trainer": TrainerConfig(strategy="fsdp")}, r"^optim\.weight_bits \(6\) rounds rows of whole matrices"),
        ({"trainer": TrainerConfig(ema_decay=0.9)}, r"^optim\.weight_bits \(6\) validates rounded weights"),
    ],
)
def test_what_it_cannot_be_combined_with_is_refused(settings, message) -> None:
    with pytest.raises(ValueError, match=message):
        TrainConfig(optim=OptimConfig(weight_bits=6), **settings)
    with pytest.raises(ValueError, match=r"^optim\.lora_rank \(4\) changes matrices that optim\.weight_bits"):
        OptimConfig(weight_bits=6, lora_rank=4)
    with pytest.raises(ValueError, match=r"^optim\.weight_bits \(9\) must be at least 2 and at most 8"):
        OptimConfig(weight_bits=9)
    with pytest.raises(ValueError, match=r"^optim\.weight_bits_from \(0\.5\) does nothing without optim\.weight_bits"):
        OptimConfig(weight_bits_from=0.5)
