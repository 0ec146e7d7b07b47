"""What training leaves out: the share, the scale, the generator, the gradient."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from translate.model.dropout import apply_dropout, drop_words, masks_from, run_layers


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


def test_a_share_of_words_is_zeroed_whole_and_the_rest_left_alone() -> None:
    torch.manual_seed(0)
    x = torch.randn(100, 200, 3)
    out = drop_words(x, 0.2, training=True)
    dropped = (out == 0).all(dim=2)
    assert dropped.float().mean().item() == pytest.approx(0.2, abs=5 * (0.2 * 0.8 / 20_000) ** 0.5)
    assert torch.equal(out[~dropped], x[~dropped])
    assert drop_words(x, 0.2, training=False) is x


def test_words_and_layers_are_drawn_from_the_generator_of_the_thread() -> None:
    layers, x = nn.ModuleList(nn.Linear(4, 4) for _ in range(20)), torch.ones(20, 4)

    def draw(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
        with masks_from(torch.Generator().manual_seed(seed)):
            return drop_words(x, 0.5, training=True), run_layers(layers, x, drop=0.5, training=True)

    (words, out), again, other = draw(1), draw(1), draw(2)
    assert_close((words, out), again, atol=0, rtol=0)
    assert not torch.equal(words, other[0])
    assert not torch.equal(out, other[1])


class AddMemory(nn.Module):
    """A layer of one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(()))

    def forward(self, x: torch.Tensor, memory: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        return x + self.weight * memory


def test_layers_are_skipped_with_the_given_probability_and_all_run_outside_training() -> None:
    torch.manual_seed(0)
    layers, zero, one = nn.ModuleList(AddMemory() for _ in range(4000)), torch.zeros(()), torch.ones(())
    with torch.no_grad():
        assert run_layers(layers, zero, one, None, drop=0.3, training=False) == 4000
        run = float(run_layers(layers, zero, one, None, drop=0.3, training=True))
    assert run / 4000 == pytest.approx(0.7, abs=5 * (0.3 * 0.7 / 4000) ** 0.5)


def test_a_skipped_layer_gives_its_weights_and_the_memory_a_gradient_of_zero() -> None:
    layers, memory = nn.ModuleList(AddMemory() for _ in range(3)), torch.full((2,), 2.0, requires_grad=True)
    layers[2].requires_grad_(False)
    out = run_layers(layers, torch.ones(2), memory, None, drop=1.0, training=True)  # every draw is below 1
    assert torch.equal(out, torch.ones(2))
    first, second, of_memory = torch.autograd.grad(out.sum(), (layers[0].weight, layers[1].weight, memory))
    assert (first, second) == (0, 0)
    assert torch.equal(of_memory, torch.zeros(2))
    assert torch.equal(run_layers(layers, torch.ones(2), memory, None, drop=0.0, training=True), torch.full((2,), 7.0))


def test_a_share_of_almost_all_zeroes_almost_all() -> None:
    kept = apply_dropout(torch.ones(4096), 0.999999, training=True).count_nonzero()
    assert kept < 10


def test_masks_are_drawn_from_the_generator_of_the_thread() -> None:
    def draw(seed: int) -> torch.Tensor:
        with masks_from(torch.Generator().manual_seed(seed)):
            return apply_dropout(torch.ones(512), 0.5, training=True)

    before = torch.get_rng_state()
    assert_close(draw(1), draw(1))
    assert not torch.equal(draw(1), draw(2))
    assert torch.equal(torch.get_rng_state(), before)
