"""The costliest operators of training, as torch's profiler sees them."""

from dataclasses import dataclass
from typing import Any

import lightning as L
import torch
from torch.profiler import ProfilerActivity, profile


@dataclass(frozen=True)
class Operator:
    """What an operator costs.

    Attributes:
        name: As torch calls it.
        calls_per_step: Calls in an optimizer step.
        ms_per_step: Time in itself, not in what it calls, of an optimizer step; on a GPU its kernels' time there.
        share: Of all operators' time, 0 to 1.
    """

    name: str
    calls_per_step: float
    ms_per_step: float
    share: float


class OperatorProfiler(L.Callback):
    """Profiles the steps of a training after its warm-up.

    Args:
        device: Whose time counts.
        warmup: Optimizer steps before it starts.
    """

    def __init__(self, device: torch.device, warmup: int) -> None:
        self._on_gpu, self._warmup, self._steps = device.type == "cuda", warmup, 0
        gpu = [ProfilerActivity.CUDA] if self._on_gpu else []
        self._profile = profile(activities=[ProfilerActivity.CPU, *gpu])
        self._running = False

    def on_train_batch_end(self, trainer: L.Trainer, *_: Any) -> None:
        """Start after the warm-up."""
        if trainer.global_step >= self._warmup and not self._running:
            self._running = True
            self._profile.start()

    def on_train_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Stop."""
        self._steps = trainer.global_step - self._warmup
        self._profile.stop()

    def costliest(self, count: int = 15) -> list[Operator]:
        """Sort operators by their time without callees, most first."""
        operators = (event for event in self._profile.key_averages() if event.device_type.name == "CPU")
        events = [(event, self._own_time(event)) for event in operators]  # kernels count for what launches them
        total = sum(time for _, time in events)
        events.sort(key=lambda pair: pair[1], reverse=True)
        return [
            Operator(event.key, event.count / self._steps, time / 1000 / self._steps, time / total)
            for event, time in events[:count]
        ]

    def _own_time(self, event: Any) -> float:
        """Return the time without callees, in microseconds."""
        return float(event.self_device_time_total if self._on_gpu else event.self_cpu_time_total)
