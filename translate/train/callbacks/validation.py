"""BLEU of validation sentences during training."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import lightning as L
import torch
from torch.nn.utils import parametrize

from translate.data.corpus import Pair
from translate.train.console import say
from translate.translator.translator import Translator


class ValidationBleu(L.Callback):
    """Translates validation sentences greedily, logs `valid_bleu` and shows three of them.

    Args:
        translator: Holds the model that is being trained.
        pairs: Validation sentences; none turns BLEU off.
    """

    def __init__(self, translator: Translator, pairs: Sequence[Pair]) -> None:
        self.translator, self.pairs = translator, pairs
        self._samples: list[tuple[str, str, str]] = []
        self._value: float | None = None

    @cached_property
    def _bleu(self) -> Any:
        from sacrebleu.metrics import BLEU  # not before the first validation

        return BLEU()

    def on_validation_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Translate and score, on the first process only."""
        value = 0.0
        if trainer.is_global_zero and self.pairs:
            sources = [pair.src for pair in self.pairs]
            # decoding has too many shapes to compile, and needs the matrices that LoRA changes once, not at each step
            with torch.compiler.set_stance("force_eager"), parametrize.cached():
                outputs = [t.text for t in self.translator.translate(sources, beam_size=1, num_hypotheses=1)]
            value = self._bleu.corpus_score(outputs, [[pair.tgt for pair in self.pairs]]).score
            chosen = range(0, len(outputs), max(1, len(outputs) // 3))
            self._samples = [(self.pairs[i].src, self.pairs[i].tgt, outputs[i]) for i in chosen][:3]
        if self.pairs:
            self._value = float(trainer.strategy.broadcast(value))
            pl_module.log("valid_bleu", self._value, sync_dist=True, logger=False)

    def on_validation_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Print the figures of this validation and hand them to the loggers."""
        if trainer.is_global_zero:
            metrics = trainer.callback_metrics
            row = {name: float(value) for name, value in metrics.items() if name.startswith("valid_")}
            for logger in trainer.loggers:
                logger.log_metrics(row | {"epoch": float(trainer.current_epoch)}, trainer.global_step)
            signature = str(self._bleu.get_signature()) if self.pairs else ""
            figures = float(metrics["valid_loss"]), float(metrics["valid_perplexity"]), self._value
            say(*describe_validation(trainer.global_step, *figures, signature, self._samples))


def describe_validation(
    step: int,
    loss: float,
    perplexity: float,
    bleu: float | None,
    signature: str,
    samples: Sequence[tuple[str, str, str]],
) -> list[str]:
    """Return the lines that a validation prints: figures, then source, reference and output of some sentences."""
    figures = f"validation at step {step:,}: loss {loss:.4f} nats per token, perplexity {perplexity:.2f}"
    lines = [figures if bleu is None else f"{figures}, BLEU {bleu:.2f}"]
    if bleu is not None:
        lines.append(f"  greedy, {signature}")
    for src, reference, output in samples:
        lines += [f"  source     {src}", f"  reference  {reference}", f"  output     {output}"]
    return lines
