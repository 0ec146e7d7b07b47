"""Show loss, speed and time left while training: a bar in a terminal, else a line now and then."""

import math
import sys
import time
from typing import Any

import lightning as L
import torch
from torch import Tensor
from tqdm import tqdm

from translate.train.callbacks.metrics_csv import MetricsCsv
from translate.train.callbacks.step_clock import StepTimer, steps_of, training_timer
from translate.train.console import clock, say
from translate.train.module import divergence_error

LINE_SECONDS = 15.0  # between lines when stderr is a file


class Progress(L.Callback):
    """Measures loss and target tokens per second, shows them and logs them.

    Args:
        log_every: Optimizer steps between two measurements.
    """

    def __init__(self, log_every: int) -> None:
        self.log_every = log_every
        self._bar: tqdm[Any] | None = None
        self._sums: Tensor | None = None  # loss in nats, target tokens, since the last measurement
        self._timer = StepTimer()  # of the steps since then
        self._last_step, self._first_step = 0, 0
        self._started = self._line_at = 0.0

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Open the bar, and cut metrics.csv, at the step from which training goes on."""
        self._first_step = self._last_step = trainer.global_step
        self._started = time.perf_counter()
        self._timer.restart()
        self._sums = torch.zeros(2, device=pl_module.device)
        for logger in trainer.loggers:
            if isinstance(logger, MetricsCsv):
                logger.truncate(trainer.global_step)
        if trainer.is_global_zero and sys.stderr.isatty():
            total = steps_of(trainer)
            self._bar = tqdm(total=total, initial=trainer.global_step, unit="step", dynamic_ncols=True, smoothing=0.05)

    def on_train_batch_end(
        self, trainer: L.Trainer, pl_module: L.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Add the batch; at every multiple of `log_every` steps report.

        Raises:
            ValueError: If the loss since the last report is not a number.
        """
        assert self._sums is not None
        self._sums[0] += outputs["loss_sum"]
        self._sums[1] += outputs["num_tokens"]
        self._timer.lap()
        if self._bar is not None:
            self._bar.update(trainer.global_step - self._bar.n)
        if trainer.global_step > self._last_step and trainer.global_step % self.log_every == 0:
            self._report(trainer)

    def on_validation_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Leave the validation's time out of the training speed."""
        self._timer.restart()

    def on_train_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Close the bar."""
        if self._bar is not None:
            self._bar.close()

    def on_exception(self, trainer: L.Trainer, pl_module: L.LightningModule, exception: BaseException) -> None:
        """Close the bar before the message that follows."""
        self.on_train_end(trainer, pl_module)

    def _report(self, trainer: L.Trainer) -> None:
        sums: Any = trainer.strategy.reduce(self._sums, reduce_op="sum")
        loss, tokens = float(sums[0] / sums[1]), float(sums[1])
        if not math.isfinite(loss):
            raise divergence_error(f"the training loss ({loss})", trainer.global_step)
        speed = tokens / self._timer.seconds
        lr = float(trainer.optimizers[0].param_groups[0]["lr"])
        metrics = {"train_loss": loss, "tokens_per_s": speed, "lr": lr, "epoch": float(trainer.current_epoch)}
        for logger in trainer.loggers:
            logger.log_metrics(metrics, trainer.global_step)
        self._show(trainer, loss, speed)
        self._last_step, self._timer.seconds = trainer.global_step, 0.0
        assert self._sums is not None
        self._sums.zero_()

    def _show(self, trainer: L.Trainer, loss: float, speed: float) -> None:
        now, timer, total = time.perf_counter(), training_timer(trainer), steps_of(trainer)
        time_left = timer.time_remaining() if timer else None
        ends = [] if time_left is None else [max(0.0, time_left)]
        if total:
            seconds = (now - self._started) / (trainer.global_step - self._first_step)  # of a step
            ends.append(seconds * (total - trainer.global_step))
        left = clock(min(ends)) if ends else None
        if self._bar is not None:
            by_clock = f"{left} left, " if timer else ""
            self._bar.set_postfix_str(
                f"{by_clock}epoch {trainer.current_epoch}, loss {loss:.3f}, {speed:,.0f} target tokens/s"
            )
            return
        if trainer.is_global_zero and now - self._line_at >= LINE_SECONDS:
            self._line_at = now
            say(
                f"step {trainer.global_step:,}{f' of {total:,}' if total else ''}  epoch {trainer.current_epoch}  "
                f"loss {loss:.3f}  {speed:,.0f} target tokens/s{f'  {left} left' if left else ''}"
            )
