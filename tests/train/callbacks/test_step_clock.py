"""The clock of training steps: which steps and which time it counts."""

import time
from types import SimpleNamespace

import pytest
import torch

from translate.train.callbacks.step_clock import StepClock, StepTimer


def test_a_timer_counts_laps_and_leaves_out_what_comes_before_a_restart() -> None:
    timer = StepTimer(torch.device("cpu"))
    start = time.perf_counter()
    timer.restart()
    time.sleep(0.05)
    timer.lap()
    assert 0.05 <= timer.seconds <= time.perf_counter() - start
    before, start = timer.seconds, time.perf_counter()
    timer.restart()
    timer.lap()
    time.sleep(0.05)
    timer.restart()
    timer.lap()
    assert before < timer.seconds <= before + time.perf_counter() - start - 0.05


@pytest.mark.parametrize(("warmup", "counted"), [(1, 4), (3, 2)])
def test_a_clock_counts_the_tokens_after_the_warm_up(warmup: int, counted: int) -> None:
    clock, module = StepClock(warmup), SimpleNamespace(device=torch.device("cpu"))
    for step in range(1, 6):
        clock.on_train_batch_end(SimpleNamespace(global_step=step), module, {"num_tokens": 10}, None, step)
        assert clock.running == (step >= warmup)
    assert clock.tokens == 10 * counted
    assert clock.tokens_per_s == clock.tokens / clock.seconds > 0
