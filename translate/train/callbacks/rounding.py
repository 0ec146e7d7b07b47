"""Quantization-aware training: the network computes with rounded weights, and the optimizer moves the exact ones."""

from typing import Any

import lightning as L
import torch
from torch import Tensor

from translate.train.callbacks.step_clock import share_done
from translate.translator.weights import round_rows


class RoundedWeights(L.Callback):
    """Rounds every matrix as an export to integers of so many bits does, for each batch of training and validation.

    Gradients at the rounded weights are applied to the exact ones (straight-through estimator), which checkpoints keep.

    Args:
        bits: Bits of an integer, its sign counted.
        begin: Share of the training that goes on with exact weights at first, 0 to 1.

    Source: Jacob et al. 2018 (arXiv:1712.05877), section 3; Bengio et al. 2013 (arXiv:1308.3432).
    """

    def __init__(self, bits: int, begin: float = 0.0) -> None:
        self._bits, self._begin = bits, begin
        self._step, self._early = -1, False  # the step that has begun, and whether it is too early to round in it
        self._exact: list[tuple[Tensor, Tensor]] = []  # parameters that are rounded now, and what they were

    def on_train_batch_start(
        self, trainer: L.Trainer, pl_module: L.LightningModule, batch: Any, batch_idx: int
    ) -> None:
        """Round, unless it is too early, or an earlier batch of the same optimizer step has done so."""
        if self._begin and trainer.global_step != self._step:  # once a step
            self._step, self._early = trainer.global_step, share_done(trainer) < self._begin
        if not self._early:
            self._round(pl_module)

    def on_before_optimizer_step(
        self, trainer: L.Trainer, pl_module: L.LightningModule, optimizer: torch.optim.Optimizer
    ) -> None:
        """Put the exact weights back, which the optimizer moves."""
        self._restore()

    def on_validation_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Score the weights as they will be exported."""
        self._round(pl_module)

    def on_validation_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Put the exact weights back."""
        self._restore()

    def on_exception(self, trainer: L.Trainer, pl_module: L.LightningModule, exception: BaseException) -> None:
        """Put the exact weights back, so that what is saved of a stopped run has them."""
        self._restore()

    @torch.no_grad()
    def _round(self, module: L.LightningModule) -> None:
        if not self._exact:
            matrices = [weight for weight in module.parameters() if weight.dim() == 2 and weight.requires_grad]
            self._exact = [(weight, weight.detach().clone()) for weight in matrices]
            for weight in matrices:
                integers, scale = round_rows(weight, self._bits)
                weight.copy_(integers * scale[:, None])

    @torch.no_grad()
    def _restore(self) -> None:
        for weight, exact in self._exact:
            weight.copy_(exact)
        self._exact = []
