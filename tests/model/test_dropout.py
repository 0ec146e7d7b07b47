"""Dropout by drawn bits: the share, the scale, the generator, the gradient."""

import pytest
import torch
from torch.testing import assert_close

from translate.model.dropout import apply_dropout


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_share_is_zeroed_and_the_rest_scaled(share: float, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    out = apply_dropout(torch.ones(1000, 1003, dtype=dtype), share, training=True)
    zeroed = (out == 0).float().mean().item()
    assert zeroed == pytest.approx(share, abs=5 * (share * (1 - share) / 1_003_000) ** 0.5)  # five standard deviations
    scale = torch.tensor(1 / (1 - share), dtype=dtype)
    assert ((out == 0) | (out == scale)).all()


def test_neighbours_are_dropped_independently() -> None:
    torch.manual_seed(0)
    dropped = (apply_dropout(torch.ones(1_000_000), 0.3, training=True) == 0).double() - 0.3
    for distance in (1, 2, 3, 4, 8):  # four elements share a draw
        assert abs((dropped[:-distance] * dropped[distance:]).mean().item() / 0.21) < 0.005


def test_the_generator_decides() -> None:
    x = torch.ones(7, 5)
    first, again, other = ((torch.manual_seed(seed), apply_dropout(x, 0.5, training=True))[1] for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_the_gradient_has_the_same_mask() -> None:
    x = torch.randn(6, 9, requires_grad=True)
    out = apply_dropout(x, 0.4, training=True)
    out.sum().backward()
    assert x.grad is not None
    assert_close(x.grad * x.detach(), out.detach())


def test_it_does_nothing_outside_training_or_with_no_share() -> None:
    x = torch.randn(3, 4)
    assert apply_dropout(x, 0.5, training=False) is x
    assert apply_dropout(x, 0.0, training=True) is x
    assert apply_dropout(x[:0], 0.5, training=True).shape == (0, 4)
