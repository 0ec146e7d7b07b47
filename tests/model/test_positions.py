"""Positions: their formulas, their offsets, their growth."""

import math

import pytest
import torch
from torch.testing import assert_close

from translate.model.positions import LearnedPositions, RotaryPositions, SinusoidalPositions


def test_sinusoids_are_those_of_the_paper() -> None:
    table = SinusoidalPositions(8)(torch.zeros(1, 5, 8))[0]
    for position in range(5):
        for i in range(4):
            angle = position / 10000 ** (2 * i / 8)
            assert math.isclose(table[position, 2 * i], math.sin(angle), abs_tol=1e-6)
            assert math.isclose(table[position, 2 * i + 1], math.cos(angle), abs_tol=1e-6)


@pytest.mark.parametrize("positions", [SinusoidalPositions(8), LearnedPositions(8, 600)])
def test_an_offset_continues_where_the_last_call_ended(positions: torch.nn.Module) -> None:
    x = torch.randn(2, 600, 8)  # more than the first table holds
    assert_close(torch.cat((positions(x[:, :7]), positions(x[:, 7:], offset=7)), 1), positions(x))


def test_rotary_offset_continues_where_the_last_call_ended() -> None:
    rotary, x = RotaryPositions(8), torch.randn(2, 3, 600, 8)
    assert_close(torch.cat((rotary(x[:, :, :7]), rotary(x[:, :, 7:], offset=7)), 2), rotary(x))


def test_rotary_scores_depend_on_the_distance_alone() -> None:
    rotary = RotaryPositions(8)
    q, k = torch.randn(1, 1, 1, 8), torch.randn(1, 1, 1, 8)
    near = (rotary(q, offset=5) * rotary(k, offset=3)).sum()
    far = (rotary(q, offset=205) * rotary(k, offset=203)).sum()
    assert_close(near, far, atol=1e-4, rtol=0)  # float32 sines of large angles
    assert not torch.isclose(near, (rotary(q, offset=6) * rotary(k, offset=3)).sum())


def test_odd_widths_are_refused() -> None:
    with pytest.raises(ValueError, match="even head_dim, not 5"):
        RotaryPositions(5)
    with pytest.raises(ValueError, match="even d_model, not 5"):
        SinusoidalPositions(5)


def test_rotary_angles_are_those_of_the_paper() -> None:
    x = torch.randn(1, 1, 7, 8)
    pairs = torch.complex(x[..., :4], x[..., 4:])  # channel i with i + D / 2
    angles = torch.tensor([[position / 10000 ** (2 * i / 8) for i in range(4)] for position in range(7)])
    expected = pairs * torch.polar(torch.ones(7, 4), angles)
    assert_close(RotaryPositions(8)(x), torch.cat((expected.real, expected.imag), dim=-1))


def test_a_table_that_is_too_short_at_least_doubles() -> None:
    sinusoidal, rotary = SinusoidalPositions(4), RotaryPositions(4)
    before = len(sinusoidal.table)
    sinusoidal(torch.zeros(1, 1, 4), offset=before)
    rotary(torch.zeros(1, 1, 1, 4), offset=before)
    assert len(sinusoidal.table) == rotary.table.size(1) == 2 * before
    table = sinusoidal.table
    sinusoidal(torch.zeros(1, 1, 4), offset=before - 1)  # still long enough: nothing is made anew
    assert sinusoidal.table is table


def test_learned_positions_begin_as_small_as_embeddings() -> None:
    assert math.isclose(LearnedPositions(64, 2000).weight.detach().std(), 1 / 8, rel_tol=0.02)
