"""The loss by hand, against torch, and with the projection fused in."""

import math

import pytest
import torch
from torch.testing import assert_close

from translate.training.loss import projected_cross_entropy, smoothed_cross_entropy


def problem(dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(7, 6, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()
    weight = torch.randn(11, 6, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()
    return hidden, weight, torch.randint(11, (7,), generator=generator)


def test_two_tokens_by_hand() -> None:
    logits = torch.log(torch.tensor([[0.5, 0.25, 0.25], [0.2, 0.2, 0.6]]))
    labels = torch.tensor([0, 1])
    assert_close(smoothed_cross_entropy(logits, labels), torch.tensor(-math.log(0.5) - math.log(0.2)))
    uniform = [-(math.log(0.5) + 2 * math.log(0.25)) / 3, -(2 * math.log(0.2) + math.log(0.6)) / 3]
    expected = 0.7 * (-math.log(0.5) - math.log(0.2)) + 0.3 * sum(uniform)
    assert_close(smoothed_cross_entropy(logits, labels, 0.3), torch.tensor(expected))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("chunk_tokens", [1, 3, 7, 100])
def test_fused_projection_equals_a_float64_reference(smoothing: float, chunk_tokens: int) -> None:
    hidden, weight, labels = problem()
    expected = smoothed_cross_entropy_64(hidden @ weight.T, labels, smoothing)
    gradients = torch.autograd.grad(3 * expected, (hidden, weight))
    fast = [tensor.detach().float().requires_grad_() for tensor in (hidden, weight)]
    loss = projected_cross_entropy(*fast, labels, smoothing, chunk_tokens)
    assert_close(loss, expected.float())
    for got, wanted in zip(torch.autograd.grad(3 * loss, fast), gradients, strict=True):
        assert_close(got, wanted.float(), atol=1e-5, rtol=1e-5)  # float32 against float64


def smoothed_cross_entropy_64(logits: torch.Tensor, labels: torch.Tensor, smoothing: float) -> torch.Tensor:
    log_probs = logits.log_softmax(1)
    nll = -log_probs.gather(1, labels[:, None]).sum()
    return (1 - smoothing) * nll - smoothing * log_probs.mean(1).sum()


def test_under_autocast_the_gradients_are_those_of_bfloat16_products() -> None:
    hidden, weight, labels = problem(torch.float32)
    expected = torch.autograd.grad(smoothed_cross_entropy(hidden @ weight.T, labels, 0.1), (hidden, weight))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = projected_cross_entropy(hidden, weight, labels, 0.1, 3)
    for got, wanted in zip(torch.autograd.grad(loss, (hidden, weight)), expected, strict=True):
        assert got.dtype == torch.float32
        assert_close(got, wanted, atol=0.05, rtol=0.05)  # 8 bits of mantissa


def test_no_gradient_is_computed_where_none_is_asked_for() -> None:
    hidden, weight, labels = problem(torch.float32)
    with torch.no_grad():
        loss = projected_cross_entropy(hidden, weight, labels)
    assert not loss.requires_grad
    assert_close(loss, smoothed_cross_entropy(hidden @ weight.T, labels).detach())
