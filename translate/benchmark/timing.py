"""One turn of training through the run's own module and Trainer: its time, by part of a step, and its peak memory."""

import threading
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from time import perf_counter
from typing import Any

import lightning as L
import torch
from torch import Tensor, nn

from translate.benchmark.peak import PeakMemory
from translate.compare.measure import make_bare
from translate.config.benchmark import BenchmarkTrainConfig
from translate.data.batch import Batch
from translate.data.datamodule import BatchLoader, TranslationDataModule
from translate.model.transformer import Transformer
from translate.train.callbacks.step_clock import StepClock
from translate.train.setup import make_ema

PARTS = {  # of a step; every moment is in one of them
    "data": "waiting for the next batch",
    "copy": "the batch to the device",
    "forward": "encoder and decoder",
    "loss": "output projection and cross-entropy, with both gradients, which are computed there",
    "backward": "decoder and encoder; with workers, also waiting for the slowest of them",
    "optimizer": "adding, scaling and clipping of gradients, AdamW or Muon, schedule",
    "other": "Lightning between these",
}


@dataclass(frozen=True)
class Turn:
    """A measured piece of training; its warm-up is in nothing but the memory.

    Attributes:
        seconds: Wall time of the counted steps.
        batches: Their batches.
        peak_bytes: As `PeakMemory` counts.
        parts: Seconds by name, as in `PARTS`; nothing where only the whole was timed.
    """

    seconds: float
    batches: list[Batch]
    peak_bytes: int
    parts: dict[str, float] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """Real target tokens."""
        return sum(batch.num_tokens for batch in self.batches)

    @property
    def tokens_per_s(self) -> float:
        """Real target tokens per second."""
        return self.tokens / self.seconds


class Stopwatch:
    """Divides time among parts, on the GPU's own time line where there is one, without waiting for it.

    Args:
        device: Whose time counts.
    """

    def __init__(self, device: torch.device) -> None:
        self._on_gpu = device.type == "cuda"
        self._marks: list[tuple[str, Any]] = []

    def switch(self, part: str) -> None:
        """Count the time from now on as time of `part`."""
        self._marks.append((part, self._now()))

    def seconds(self) -> dict[str, float]:
        """Return the seconds of each part, from the first switch to the last."""
        if self._on_gpu:
            torch.cuda.synchronize()
        found = dict.fromkeys((part for part, _ in self._marks[:-1]), 0.0)
        for (part, start), (_, end) in pairwise(self._marks):
            found[part] += start.elapsed_time(end) / 1000 if self._on_gpu else end - start
        return found

    def _now(self) -> Any:
        if not self._on_gpu:
            return perf_counter()
        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        event.record()
        return event


class PartClock(StepClock):
    """A `StepClock` that keeps the batches it counts and knows what each moment was spent on.

    Args:
        device: Where training runs.
        warmup: Optimizer steps, from 1, before it starts.
    """

    def __init__(self, device: torch.device, warmup: int) -> None:
        super().__init__(warmup)
        self.batches: list[Batch] = []
        self._watch = Stopwatch(device)
        self._hook: Any = None

    def parts(self) -> dict[str, float]:
        """Return the seconds of each of `PARTS`."""
        return dict.fromkeys(PARTS, 0.0) | self._watch.seconds()

    def switch(self, part: str) -> None:
        """Count the time from now on as time of `part`, if the steps count already."""
        if self.running:
            self._watch.switch(part)

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Watch the decoder's last module: the loss begins where it ends, the backward where its gradient arrives."""
        model: Any = pl_module.model
        self._hook = model.decoder_norm.register_forward_hook(self._on_hidden)

    def on_train_batch_start(
        self, trainer: L.Trainer, pl_module: L.LightningModule, batch: Any, batch_idx: int
    ) -> None:
        """Begin the forward."""
        self.switch("forward")

    def on_before_zero_grad(self, *_: Any) -> None:
        """End the loss."""
        self.switch("optimizer")

    def on_before_backward(self, *_: Any) -> None:
        """Begin the backward; with workers, the distribution of gradients that are computed already."""
        self.switch("backward")

    def on_after_backward(self, *_: Any) -> None:
        """End the backward."""
        self.switch("optimizer")

    def on_train_batch_end(
        self, trainer: L.Trainer, pl_module: L.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """End the batch."""
        if self.running:
            self.batches.append(batch)
        super().on_train_batch_end(trainer, pl_module, outputs, batch, batch_idx)
        self.switch("other")

    def on_train_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Leave the model as it was."""
        self._hook.remove()

    def _on_hidden(self, module: nn.Module, args: Any, hidden: Tensor) -> None:
        if threading.current_thread() is threading.main_thread():  # one of the workers
            self.switch("loss")
            hidden.register_hook(lambda _: self.switch("backward"))  # type: ignore[no-untyped-call]

    def on_exception(self, trainer: L.Trainer, pl_module: L.LightningModule, exception: BaseException) -> None:
        """Let Ctrl-C reach the command; Lightning would end the process with status 1."""
        if isinstance(exception, KeyboardInterrupt):
            raise exception


class TimedData(L.LightningDataModule):
    """The training batches of `data`, from the first one on, and nothing to validate.

    Args:
        data: The run's, prepared.
        clock: Is told when a batch is waited for or copied.
    """

    def __init__(self, data: TranslationDataModule, clock: PartClock) -> None:
        super().__init__()
        self._data, self._clock = data, clock

    def train_dataloader(self) -> "TimedLoader":
        """Return the run's batches."""
        self._data.trainer = self.trainer
        return TimedLoader(self._data.train_dataloader(), self._clock)

    def teardown(self, stage: str) -> None:
        """Let go of the trainer, or its weights would stay in memory while others take their turn."""
        self._data.trainer = None

    def transfer_batch_to_device(self, batch: Batch, device: torch.device, dataloader_idx: int) -> Batch:
        """Transfer a batch as the run does."""
        self._clock.switch("copy")
        copied = self._data.transfer_batch_to_device(batch, device, dataloader_idx)
        self._clock.switch("other")
        return copied


class TimedLoader:
    """Tells a clock how long its batches are waited for.

    Args:
        loader: The run's.
        clock: Is told.
    """

    def __init__(self, loader: BatchLoader, clock: PartClock) -> None:
        self._loader, self._clock = loader, clock

    def __len__(self) -> int:
        """Count the batches of an epoch."""
        return len(self._loader)

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches of the next epoch."""
        batches = iter(self._loader)
        while True:
            self._clock.switch("data")
            batch = next(batches, None)
            self._clock.switch("other")
            if batch is None:
                return
            yield batch


def training_turn(
    model: Transformer,
    config: BenchmarkTrainConfig,
    data: TranslationDataModule,
    device: torch.device,
    callbacks: Sequence[L.Callback] = (),
) -> Turn:
    """Train a copy of `model` for the settings' `warmup` and `steps` from the first batch on, as `fit` does.

    Args:
        model: Stays as it is.
        config: With a precision that this machine has.
        data: Prepared.
        device: Where.
        callbacks: Further ones.
    """
    memory, clock = PeakMemory(device), PartClock(device, config.warmup)
    module, trainer = make_bare(
        model,
        config,
        [*make_ema(config.trainer), *callbacks, clock],
        accelerator="gpu" if device.type == "cuda" else "cpu",
        precision=config.trainer.precision,
        max_steps=config.warmup + config.steps,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*(no `val_dataloader`|`max_epochs` was not set).*")
        trainer.fit(module, datamodule=TimedData(data, clock))
    return Turn(clock.seconds, clock.batches, memory.bytes(), clock.parts())
