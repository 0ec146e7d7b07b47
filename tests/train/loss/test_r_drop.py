"""R-Drop: its loss and gradients against the plain formula, and what a training step makes of it."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.testing import assert_close

from translate.config.model import ModelConfig
from translate.config.optim import OptimConfig
from translate.config.train import TrainConfig
from translate.config.trainer import TrainerConfig
from translate.data.batch import Batch, Example, collate
from translate.model.transformer import build_model
from translate.train.loss.cross_entropy import projected_cross_entropy
from translate.train.loss.r_drop import projected_r_drop, repeat_batch
from translate.train.module import TranslationModule
from translate.train.setup import make_module


def problem() -> tuple[Tensor, Tensor, Tensor]:
    """Five tokens: hidden states of both passes [5, 2, 6], weight [11, 6], labels [5]."""
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(5, 2, 6, generator=generator, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(11, 6, generator=generator, dtype=torch.float64, requires_grad=True)
    return hidden, weight, torch.randint(11, (5,), generator=generator)


def plain(hidden: Tensor, weight: Tensor, labels: Tensor, alpha: float, smoothing: float) -> Tensor:
    p, q = (hidden[:, number] @ weight.T for number in (0, 1))
    nll = sum(F.cross_entropy(x, labels, reduction="sum", label_smoothing=smoothing) for x in (p, q))
    p, q = p.log_softmax(1), q.log_softmax(1)
    divergence = sum(F.kl_div(x, y, reduction="sum", log_target=True) for x, y in ((p, q), (q, p)))
    return nll / 2 + alpha * divergence / 4


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("chunk_tokens", [2, 100])
def test_loss_and_gradients_equal_a_float64_reference(smoothing: float, chunk_tokens: int) -> None:
    hidden, weight, labels = problem()
    expected = plain(hidden, weight, labels, 5.0, smoothing)
    gradients = torch.autograd.grad(3 * expected, (hidden, weight))
    fast = [tensor.detach().float().requires_grad_() for tensor in (hidden, weight)]
    both = labels.repeat_interleave(2)
    loss = projected_r_drop(fast[0].flatten(0, 1), fast[1], both, 5.0, smoothing, chunk_tokens)
    assert_close(loss, expected.float())
    for got, wanted in zip(torch.autograd.grad(3 * loss, fast), gradients, strict=True):
        assert_close(got, wanted.float(), atol=1e-4, rtol=1e-5)  # float32 against float64


def test_two_passes_that_agree_have_the_ordinary_loss() -> None:
    hidden, weight, labels = problem()
    same, both = hidden[:, :1].expand(-1, 2, -1).flatten(0, 1), labels.repeat_interleave(2)
    once = projected_cross_entropy(hidden[:, 0].float(), weight.float(), labels, 0.1)
    assert_close(projected_r_drop(same.float(), weight.float(), both, 5.0, 0.1), once)


def make_batch() -> Batch:
    generator = torch.Generator().manual_seed(0)
    lengths = torch.randint(1, 9, (9, 2), generator=generator).tolist()
    rows = [[torch.randint(4, 30, (length,), generator=generator).tolist() for length in pair] for pair in lengths]
    return collate([Example([*src, 3], [*tgt, 3]) for src, tgt in rows], pad_id=0, bos_id=2)


def test_the_doubled_batch_has_the_passes_of_each_token_side_by_side() -> None:
    batch = make_batch()
    doubled = repeat_batch(batch)
    for name in ("src_ids", "src_mask", "tgt_in_ids", "tgt_mask", "labels"):
        assert torch.equal(getattr(doubled, name), getattr(batch, name).repeat(2, 1)), name
    passes = doubled.tgt_positions.view(-1, 2)
    assert torch.equal(passes[:, 0], batch.tgt_positions)
    assert torch.equal(passes[:, 1] - passes[:, 0], torch.full_like(passes[:, 0], batch.labels.numel()))


def step(r_drop: float, workers: int = 1, *, precision: str = "32", dropout: float = 0.3) -> tuple[float, list[Tensor]]:
    """Loss per token of a training step, and its gradients."""
    torch.manual_seed(1)
    sizes = {"d_model": 16, "d_ff": 32, "num_heads": 2, "num_encoder_layers": 1, "num_decoder_layers": 1}
    network = ModelConfig(**sizes, dropout=dropout, embedding_dropout=0.0)
    config = TrainConfig(trainer=TrainerConfig(workers=workers), optim=OptimConfig(r_drop=r_drop))
    module: TranslationModule = make_module(build_model(network, 30, 30).train(), config)
    with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16-mixed"):
        outputs = module.training_step(make_batch(), 0)
    outputs["loss"].backward()  # type: ignore[union-attr, no-untyped-call]
    grads = [parameter.grad for parameter in module.parameters() if parameter.grad is not None]
    return float(outputs["loss_sum"]) / int(outputs["num_tokens"]), grads


@pytest.mark.parametrize("workers", [1, 2])
def test_without_a_difference_of_masks_a_step_is_the_ordinary_one(workers: int) -> None:
    assert_close(step(5.0, workers, dropout=0.0), step(0.0, dropout=0.0), atol=1e-5, rtol=1e-4)  # sums in another order


def test_a_step_is_drawn_by_the_seed_and_grows_with_the_divergence() -> None:
    for workers in (1, 2):
        assert_close(step(5.0, workers), step(5.0, workers), atol=0, rtol=0)
        assert step(5.0, workers)[0] > step(1e-6, workers)[0] + 0.1
    exact, rounded = step(5.0), step(5.0, precision="bf16-mixed")
    assert rounded[0] == pytest.approx(exact[0], rel=0.02)  # 8 bits of mantissa


def test_validation_has_no_part_of_it() -> None:
    torch.manual_seed(1)
    config = TrainConfig(optim=OptimConfig(r_drop=5.0))
    small = replace(config.model, d_model=16, d_ff=32, num_encoder_layers=1, num_decoder_layers=1)
    model, batch, sums = build_model(small, 30, 30).eval(), make_batch(), []
    for optim in (config.optim, OptimConfig()):
        module = make_module(model, replace(config, optim=optim))
        with torch.no_grad():
            module.validation_step(batch, 0)
        sums.append(module._valid_sums)
    assert torch.equal(*sums)
