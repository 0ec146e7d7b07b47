"""Measure the time of training steps: the one clock of training, benchmarks and comparisons."""

from time import perf_counter
from typing import Any

import lightning as L
import torch
from lightning.pytorch.callbacks import Checkpoint, Timer


class StepTimer:
    """Adds up the wall time of training steps.

    Args:
        device: At each reading, wait until it has done all its work; None = read the clock at once, since waiting would
            keep the CPU from preparing the next step of a GPU.

    Attributes:
        seconds: Wall time counted so far.
    """

    def __init__(self, device: torch.device | None = None) -> None:
        self._device, self.seconds = device, 0.0
        self.restart()

    def restart(self) -> None:
        """Leave the time since the last reading out."""
        self._last = self._now()

    def lap(self) -> None:
        """Count the time since the last reading."""
        before = self._last
        self.restart()
        self.seconds += self._last - before

    def _now(self) -> float:
        if self._device is not None and self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        return perf_counter()


class StepClock(Checkpoint):
    """Times all optimizer steps of a training but those of a warm-up.

    It calls itself a checkpoint, since Lightning adds a writing one where it finds none.

    Args:
        warmup: Optimizer steps before it starts, from 1, since the optimizer makes its state in the first.

    Attributes:
        tokens: Target tokens of the steps that count.
    """

    def __init__(self, warmup: int = 1) -> None:
        self.warmup, self.tokens = warmup, 0
        self._timer: StepTimer | None = None

    @property
    def running(self) -> bool:
        """Return whether the warm-up is over."""
        return self._timer is not None

    @property
    def seconds(self) -> float:
        """Return the wall time of the steps that count."""
        return self._timer.seconds if self._timer else 0.0

    @property
    def tokens_per_s(self) -> float:
        """Return the target tokens per second of these steps."""
        return self.tokens / self.seconds

    def on_train_batch_end(
        self, trainer: L.Trainer, pl_module: L.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Start after the warm-up, then count."""
        if self._timer is not None:
            self._timer.lap()
            self.tokens += int(outputs["num_tokens"])
        elif trainer.global_step >= self.warmup:
            self._timer = StepTimer(pl_module.device)


def training_timer(trainer: L.Trainer) -> Timer | None:
    """Return what ends the training after `trainer.max_time`, if that is set; it counts earlier parts of a run, too."""
    callbacks: list[L.Callback] = trainer.callbacks  # type: ignore[attr-defined]
    return next((callback for callback in callbacks if isinstance(callback, Timer)), None)


def time_done(trainer: L.Trainer) -> float | None:
    """Return the share of `trainer.max_time` that has passed, the same in all processes; None if it is not set."""
    timer = training_timer(trainer)
    if timer is None:
        return None
    elapsed = timer.time_elapsed()
    left = timer.time_remaining()
    assert left is not None
    share = elapsed / max(elapsed + left, 1e-9)
    if trainer.world_size > 1:
        share = float(
            trainer.strategy.reduce(torch.tensor(share, device=trainer.strategy.root_device), reduce_op="mean")
        )
    return share


def steps_of(trainer: L.Trainer) -> int | None:
    """Return how many optimizer steps a training has, by `max_steps` or `max_epochs`; None if neither is set."""
    total = trainer.estimated_stepping_batches
    return int(total) if 0 < total < float("inf") else None


def share_done(trainer: L.Trainer) -> float:
    """Return how much of a training is over, from 0 to 1, by its steps or its time, whichever ends it first."""
    total = steps_of(trainer)
    return min(1.0, max(trainer.global_step / total if total else 0.0, time_done(trainer) or 0.0))
