"""Keep the best weights, and stop and resume without losing a step."""

import signal
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Any

import lightning as L
import torch
from lightning.pytorch.callbacks import Checkpoint, ModelCheckpoint

from translate.train.console import say


class Interrupted(BaseException):
    """Training was asked to stop; like KeyboardInterrupt it is not caught by `except Exception`."""


class KeptCheckpoints(ModelCheckpoint):
    """Keeps the best weights after validations; the run directory may be moved between two resumes.

    Args:
        directory: Where the files are.
        prefix: Start of their names; the step follows.
        monitor: The logged value that ranks them.
        mode: "max" or "min", which of its values is better.
        count: How many to keep.
        weights_only: False lets callbacks change what is saved, as the moving average must.
    """

    def __init__(
        self, directory: Path, prefix: str, monitor: str, *, mode: str, count: int, weights_only: bool
    ) -> None:
        super().__init__(
            directory,
            filename=prefix + "-{step}",
            auto_insert_metric_name=False,
            monitor=monitor,
            mode=mode,
            save_top_k=count,
            save_weights_only=weights_only,
            save_on_train_epoch_end=False,  # later than `Resumable` saves, which must know what is kept
            enable_version_counter=False,
        )

    def ranked(self) -> list[Path]:
        """Return the files, best first."""
        scores = {path: float(score) for path, score in self.best_k_models.items()}
        return [Path(path) for path in sorted(scores, key=scores.__getitem__, reverse=self.mode == "max")]

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the scores, with the files in this directory."""
        state = dict(state_dict)
        for name in ("best_model_path", "kth_best_model_path"):
            state[name] = self._here(state[name])
        state["best_k_models"] = {self._here(path): score for path, score in state["best_k_models"].items()}
        super().load_state_dict(state | {"dirpath": self.dirpath})

    def _here(self, path: str) -> str:
        return str(Path(str(self.dirpath)) / Path(path).name) if path else ""


class Resumable(Checkpoint):
    """Writes the checkpoint that `resume=` goes on from, and turns Ctrl-C and SIGTERM into a clean stop.

    A checkpoint is written only where an optimizer step is complete, and after the validation if one follows that step,
    so that a resumed run neither loses half a step nor leaves out a validation. Being a Lightning `Checkpoint` this
    callback runs after those that keep the best weights, so that what it saves knows of them.

    Args:
        path: The checkpoint, replaced each time.
        every: Optimizer steps between two of them; one is also written after each validation.
    """

    def __init__(self, path: Path, every: int) -> None:
        self.path, self.every = path, every
        self._step = -1  # optimizer steps at the end of the latest batch
        self._stepped = self._due = False  # whether that batch completed one; whether to save as soon as one does
        self._signal: signal.Signals | None = None
        self._handlers: dict[int, Any] = {}
        self._speaks = True  # the first process does, for all
        self._seconds_before = 0.0  # of training, in the processes before this one
        self._started = perf_counter()

    @property
    def seconds(self) -> float:
        """Return the wall time of training so far, validation and the runs that this one resumed included."""
        return self._seconds_before + perf_counter() - self._started

    def state_dict(self) -> dict[str, Any]:
        """Return the training time so far."""
        return {"seconds": self.seconds}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the training time so far."""
        self._seconds_before = state_dict["seconds"]

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Handle the signals; a second one stops at once."""
        self._step, self._started = trainer.global_step, perf_counter()
        self._speaks = trainer.is_global_zero
        for number in (signal.SIGINT, signal.SIGTERM):
            self._handlers[number] = signal.signal(number, self._on_signal)

    def on_train_batch_end(
        self, trainer: L.Trainer, pl_module: L.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Save when it is time, or when asked to stop; make the last step end in a validation."""
        self._stepped, self._step = trainer.global_step > self._step, trainer.global_step
        self._due |= self._stepped and self._step % self.every == 0
        if is_last_step(trainer):
            trainer.should_stop = True
        if self._stepped and not validation_follows(trainer):
            asked = self._asked(trainer)
            if self._due or asked:
                self._save(trainer)
            if asked:
                raise Interrupted

    def on_validation_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Save after each validation, or, where it came amid an accumulated step, after that step."""
        if self._stepped or trainer.should_stop:
            self._save(trainer)
            if self._asked(trainer):
                raise Interrupted
        else:
            self._due = True

    def on_train_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Restore the handlers of the signals."""
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers.clear()

    def on_exception(self, trainer: L.Trainer, pl_module: L.LightningModule, exception: BaseException) -> None:
        """Restore the handlers of the signals."""
        self.on_train_end(trainer, pl_module)

    def _save(self, trainer: L.Trainer) -> None:
        self._due = False
        trainer.save_checkpoint(self.path)

    def _asked(self, trainer: L.Trainer) -> bool:
        """Return whether any process got a signal."""
        asked = self._signal is not None
        if trainer.world_size == 1:
            return asked
        flag = torch.tensor(float(asked), device=trainer.strategy.root_device)
        return bool(trainer.strategy.reduce(flag, reduce_op="max"))

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._signal is not None:
            raise Interrupted
        self._signal = signal.Signals(number)
        if self._speaks:
            say(
                f"{self._signal.name}: stopping after this step, or the validation that has begun; "
                "once more to stop at once, losing the steps since the last checkpoint"
            )


def is_last_step(trainer: L.Trainer) -> bool:
    """Return whether `max_steps` or `max_epochs` ends training after the batch that has just been trained on."""
    last_batch = trainer.fit_loop.epoch_loop.batch_progress.is_last_batch
    return trainer.global_step == trainer.max_steps or (last_batch and trainer.current_epoch + 1 == trainer.max_epochs)


def validation_follows(trainer: L.Trainer) -> bool:
    """Return whether Lightning validates after the batch that has just been trained on."""
    if trainer.should_stop:
        return True
    if trainer.check_val_every_n_epoch is None:
        return (trainer.fit_loop.total_batch_idx + 1) % int(trainer.val_check_batch or 1) == 0
    return bool(trainer.fit_loop.epoch_loop.batch_progress.is_last_batch)
