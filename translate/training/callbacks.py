"""Validation by BLEU, and stopping without losing anything."""

import signal
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import lightning as L
import sacrebleu
import torch
from lightning.pytorch.callbacks import Checkpoint

from translate.data.corpus import Pair
from translate.training.progress import describe_validation, say
from translate.translator import Translator


class Interrupted(Exception):
    """Training was asked to stop, and a checkpoint to resume from is written."""


class ValidationBleu(L.Callback):
    """Translates validation sentences greedily, logs `valid_bleu` and shows three of them.

    Args:
        translator: Holds the model that is being trained.
        pairs: Validation sentences; none turns BLEU off.
    """

    def __init__(self, translator: Translator, pairs: Sequence[Pair]) -> None:
        self.translator, self.pairs = translator, pairs
        self._bleu = sacrebleu.metrics.BLEU()
        self._samples: list[tuple[str, str, str]] = []
        self._value: float | None = None

    def on_validation_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Translate and score, on the first process only."""
        value = 0.0
        if trainer.is_global_zero and self.pairs:
            outputs = [t.text for t in self.translator.translate([pair.src for pair in self.pairs], beam_size=1)]
            value = self._bleu.corpus_score(outputs, [[pair.tgt for pair in self.pairs]]).score
            chosen = range(0, len(outputs), max(1, len(outputs) // 3))
            self._samples = [(self.pairs[i].src, self.pairs[i].tgt, outputs[i]) for i in chosen][:3]
        if self.pairs:
            self._value = float(trainer.strategy.broadcast(value))
            pl_module.log("valid_bleu", self._value, sync_dist=True)

    def on_validation_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Print the figures of this validation."""
        if trainer.is_global_zero:
            metrics = trainer.callback_metrics
            signature = str(self._bleu.get_signature()) if self.pairs else ""
            figures = float(metrics["valid_loss"]), float(metrics["valid_perplexity"]), self._value
            say(*describe_validation(trainer.global_step, *figures, signature, self._samples))


class Resumable(Checkpoint):
    """Writes the checkpoint that `resume=` goes on from, and turns Ctrl-C and SIGTERM into a clean stop.

    Being a Lightning `Checkpoint` it runs after those that keep the best weights, so that what it saves knows of them.

    Args:
        path: The checkpoint, replaced each time.
        every: Optimizer steps between two of them; one is also written after each validation.
    """

    def __init__(self, path: Path, every: int) -> None:
        self.path, self.every = path, every
        self._last_step = -1
        self._signal: signal.Signals | None = None
        self._handlers: dict[int, Any] = {}

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Take the signals over; a second one stops at once."""
        self._last_step = trainer.global_step
        for number in (signal.SIGINT, signal.SIGTERM):
            self._handlers[number] = signal.signal(number, self._on_signal)

    def on_train_batch_end(
        self, trainer: L.Trainer, pl_module: L.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Save when it is time, or when asked to stop; make the last of `max_steps` end in a validation."""
        stepped = trainer.global_step > self._last_step
        asked: Any = trainer.strategy.reduce(
            torch.tensor(float(self._signal is not None), device=pl_module.device), reduce_op="max"
        )
        if stepped and (trainer.global_step % self.every == 0 or asked):
            self._save(trainer)
        if stepped and asked:
            raise Interrupted
        if trainer.global_step == trainer.max_steps:
            trainer.should_stop = True

    def on_validation_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Save after each validation."""
        self._save(trainer)

    def on_train_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Give the signals back."""
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers.clear()

    def on_exception(self, trainer: L.Trainer, pl_module: L.LightningModule, exception: BaseException) -> None:
        """Give the signals back."""
        self.on_train_end(trainer, pl_module)

    def _save(self, trainer: L.Trainer) -> None:
        self._last_step = trainer.global_step
        trainer.save_checkpoint(self.path)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._signal is not None:
            raise KeyboardInterrupt
        self._signal = signal.Signals(number)
        say(f"{self._signal.name}: stopping after this step; once more to stop at once, losing the steps since the last checkpoint")
