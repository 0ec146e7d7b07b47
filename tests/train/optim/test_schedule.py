"""Learning-rate schedules at the points that define them."""

import pytest

from translate.config.optim import OptimConfig
from translate.train.optim.schedule import lr_share


def share(
    step: int,
    schedule: str,
    total_steps: int | None = 100,
    min_lr_ratio: float = 0.0,
    time_done: float | None = None,
) -> float:
    optim = OptimConfig(schedule=schedule, warmup_steps=10, min_lr_ratio=min_lr_ratio)
    return lr_share(step, optim, total_steps, time_done)


@pytest.mark.parametrize("schedule", ["inverse_sqrt", "cosine", "linear", "constant"])
def test_warm_up_rises_in_a_straight_line_to_the_peak(schedule: str) -> None:
    assert [share(step, schedule) for step in (0, 4, 9)] == pytest.approx([0.1, 0.5, 1.0])


def test_inverse_sqrt_halves_when_the_steps_quadruple() -> None:
    assert share(39, "inverse_sqrt") == pytest.approx(share(9, "inverse_sqrt") / 2)
    assert lr_share(3, OptimConfig(warmup_steps=0), None) == pytest.approx(0.5)


@pytest.mark.parametrize("schedule", ["cosine", "linear"])
def test_cosine_and_linear_pass_the_middle_and_end_at_their_floor(schedule: str) -> None:
    assert share(55, schedule) == pytest.approx(0.5)
    assert share(100, schedule, min_lr_ratio=0.2) == pytest.approx(0.2)
    assert share(1000, schedule) == pytest.approx(0.0)


@pytest.mark.parametrize("schedule", ["cosine", "linear"])
def test_cosine_and_linear_end_with_the_steps_or_the_time_whichever_is_first(schedule: str) -> None:
    assert share(55, schedule, time_done=0.2) == pytest.approx(0.5)
    assert share(20, schedule, time_done=0.5) == pytest.approx(0.5)
    assert share(20, schedule, time_done=1.2, min_lr_ratio=0.1) == pytest.approx(0.1)
    assert share(4, schedule, time_done=0.5) == pytest.approx(0.25)  # half of the warm-up, half of the time


def test_a_schedule_with_an_end_needs_to_know_it() -> None:
    assert share(50, "cosine", total_steps=None, time_done=0.5) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="cosine needs the number of steps or the time"):
        share(50, "cosine", total_steps=None)
    with pytest.raises(ValueError, match=r"optim\.schedule \(step\) must be one of"):
        share(50, "step")
