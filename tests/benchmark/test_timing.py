"""Turns of training: which steps count, and where their time goes."""

import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice

import lightning as L
import pytest
import torch

from translate.benchmark.operators import OperatorProfiler
from translate.benchmark.timing import PARTS, Stopwatch, Turn, training_turn
from translate.common.timer import Timer
from translate.data.batch import Example, collate
from translate.train.callbacks.progress import Progress

pytestmark = pytest.mark.slow
CPU = torch.device("cpu")


def same(one, other) -> bool:
    return torch.equal(one.src_ids, other.src_ids) and torch.equal(one.labels, other.labels)


def test_every_moment_belongs_to_one_part() -> None:
    watch = Stopwatch(CPU)
    with Timer() as timer:
        for part, seconds in (("forward", 0.02), ("backward", 0.01), ("forward", 0.03), ("data", 0.0)):
            watch.switch(part)
            time.sleep(seconds)
    found = watch.seconds()
    assert list(found) == ["forward", "backward"]
    assert found["forward"] >= 0.05
    assert found["backward"] >= 0.01
    assert sum(found.values()) <= timer.seconds


def test_speed_is_real_target_tokens_over_seconds() -> None:
    batch = collate([Example([5, 3], [6, 6, 3]), Example([3], [3])], pad_id=0, bos_id=2)
    turn = Turn(2.0, [batch, batch], 0)
    assert (turn.tokens, turn.tokens_per_s) == (8, 4.0)


@pytest.mark.parametrize(("warmup", "steps", "accumulate"), [(1, 3, 1), (2, 7, 1), (1, 2, 2)])
def test_a_turn_counts_the_batches_after_the_warm_up(config, data, model, warmup, steps, accumulate) -> None:
    trainer = replace(config.trainer, accumulate=accumulate)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    turn = training_turn(model, replace(config, warmup=warmup, steps=steps, trainer=trainer), data, CPU)
    loader = data.train_dataloader()
    expected = [*loader, *loader][warmup * accumulate : (warmup + steps) * accumulate]
    assert len(turn.batches) == len(expected)
    assert all(same(one, other) for one, other in zip(turn.batches, expected, strict=True))
    assert list(turn.parts) == list(PARTS)
    assert min(turn.parts.values()) > 0
    assert sum(turn.parts.values()) == pytest.approx(turn.seconds, rel=0.05)
    assert turn.peak_bytes > 0
    for name, tensor in model.state_dict().items():  # it trained a copy
        assert torch.equal(tensor, before[name])
    assert not model.decoder_norm._forward_hooks
    assert data.trainer is None


def test_the_speed_is_the_one_that_training_prints(config, data, model, monkeypatch) -> None:
    monkeypatch.setattr("translate.train.callbacks.step_clock.perf_counter", count().__next__)  # a second a reading
    speeds: list[float] = []
    monkeypatch.setattr(Progress, "_show", lambda self, trainer, loss, speed: speeds.append(speed))
    turn = training_turn(model, replace(config, steps=12), data, CPU, [Progress(log_every=1)])
    seconds = [batch.num_tokens / speed for batch, speed in zip(turn.batches, speeds[1:], strict=True)]
    assert turn.seconds == pytest.approx(sum(seconds))


@pytest.fixture
def signal_handlers() -> Iterator[None]:
    """Puts back what Lightning leaves changed when it is interrupted."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("signal_handlers")
def test_ctrl_c_is_not_swallowed(config, data, model) -> None:
    class Impatient(L.Callback):
        def on_train_batch_end(self, *_: object) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        training_turn(model, config, data, CPU, [Impatient()])


def test_turns_repeat_their_batches(config, data, model) -> None:
    first, second = (training_turn(model, config, data, CPU).batches for _ in range(2))
    assert all(same(one, other) for one, other in zip(first, second, strict=True))
    assert same(first[0], next(islice(data.train_dataloader(), 1, None)))


def test_operators_are_those_of_the_counted_steps(config, data, model) -> None:
    profiler = OperatorProfiler(CPU, warmup=1)
    training_turn(model, config, data, CPU, [profiler])
    operators = profiler.costliest(1000)
    assert sum(op.share for op in operators) == pytest.approx(1)
    by_name = {op.name: op for op in operators}
    assert by_name["aten::native_layer_norm"].calls_per_step == 2 + 3 + 2
    own = [op.ms_per_step for op in profiler.costliest(5)]
    assert own == sorted(own, reverse=True)
    assert len(own) == 5
