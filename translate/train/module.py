"""The Lightning module: a step of training, a step of validation, the optimizer and its schedule."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import lightning as L
import torch
import torch.nn.functional as F
from torch import Tensor

from translate.config.train import TrainConfig
from translate.data.batch import Batch
from translate.model.transformer import Transformer
from translate.train.callbacks.step_clock import steps_of, time_done
from translate.train.loss.cross_entropy import projected_cross_entropy
from translate.train.loss.distillation import TeacherStates, projected_distillation
from translate.train.loss.r_drop import projected_r_drop, repeat_batch
from translate.train.optim.muon import Muon, stacked_maps
from translate.train.optim.schedule import lr_share
from translate.train.parallel.workers import Workers


class TranslationModule(L.LightningModule):
    """Trains a Transformer on `Batch` objects.

    The loss of a batch is a sum over target tokens. Gradients of all batches of a step, on all devices, are added and
    divided once by the tokens of the whole step, so that accumulation and uneven batches change nothing.

    Args:
        model: The network.
        config: Settings of the run. `data.batch_tokens` scales the loss into a good range for 16-bit gradients and
            cancels out; `trainer.workers` are the threads that share each batch on a CPU, where null means one.
        teachers: Networks in eval mode with the same tokens, whose predictions this one learns from too, as in
            `projected_distillation`. They are not used in validation.
    """

    def __init__(self, model: Transformer, config: TrainConfig, teachers: Sequence[Transformer] = ()) -> None:
        super().__init__()
        self.model, self.optim, self.batch_tokens = model, config.optim, config.data.batch_tokens
        parts = config.trainer.workers or 1
        self.workers = Workers(parts, max(1, torch.get_num_threads() // parts)) if parts > 1 else None
        self._teachers = (*teachers,)  # in a tuple, so that they are not trained
        self._fused = config.trainer.precision != "16-mixed"  # a fused optimizer sees gradients before their unscaling
        self._step_tokens = 0  # target tokens of the batches since the last optimizer step
        self._valid_sums = torch.zeros(2)  # loss in nats, tokens
        self._rng_state: tuple[Tensor, Tensor | None] | None = None  # CPU and GPU, of the checkpoint resumed from

    def training_step(self, batch: Batch, batch_idx: int) -> dict[str, Tensor | int]:
        """Return the summed loss of a batch, divided by the nominal batch size, and what the mean in the logs needs."""
        loss_sum = self._training_loss_sum
        loss = self.workers.loss_sum(loss_sum, batch, self._trained) if self.workers else loss_sum(batch)
        self._step_tokens += batch.num_tokens
        return {"loss": loss / self.batch_tokens, "loss_sum": loss.detach(), "num_tokens": batch.num_tokens}

    def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:
        """Turn the accumulated gradient into that of the mean loss over all tokens of the step, and clip it."""
        tokens: Any = torch.full((), float(self._step_tokens), device=self.device)  # unlike a copy it waits for no GPU
        tokens = self.trainer.strategy.reduce(tokens, reduce_op="mean")
        self._step_tokens = 0
        scale = self.batch_tokens * self.trainer.accumulate_grad_batches / tokens
        torch._foreach_mul_([p.grad for p in self._trained if p.grad is not None], scale)
        if self.optim.clip_norm:  # here, since Lightning refuses to clip for a fused optimizer
            torch.nn.utils.clip_grad_norm_(self.parameters(), self.optim.clip_norm)

    def on_train_start(self) -> None:
        """Restore the checkpoint's random generators, or seed each process differently; move teachers to the device.

        The first process of a fresh run keeps the generator that made the weights.
        """
        for teacher in self._teachers:
            teacher.to(self.device)
        if self._rng_state is not None:
            cpu, cuda = self._rng_state
            torch.set_rng_state(cpu)
            if cuda is not None and self.device.type == "cuda":
                torch.cuda.set_rng_state(cuda, self.device)
            self._rng_state = None
        elif self.global_rank:
            torch.manual_seed(torch.initial_seed() + self.global_rank)

    def on_validation_epoch_start(self) -> None:
        """Reset the sums."""
        self._valid_sums = torch.zeros(2, device=self.device)

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        """Add a batch to the validation loss, without label smoothing."""
        self._valid_sums[0] += self._loss_sum(batch, 0.0)
        self._valid_sums[1] += batch.num_tokens

    def on_validation_epoch_end(self) -> None:
        """Publish the loss in nats per token and the perplexity; `ValidationBleu` hands them to the loggers."""
        total: Any = self.trainer.strategy.reduce(self._valid_sums, reduce_op="sum")
        loss = total[0] / total[1]
        self.log_dict({"valid_loss": loss, "valid_perplexity": loss.exp()}, sync_dist=True, logger=False)

    def configure_optimizers(self) -> Any:
        """Make AdamW or Muon; biases, norms, positions, embeddings and the output have no weight decay."""
        optim = self.optim
        rows = {matrix: rows for matrix, rows in stacked_maps(self.model).items() if matrix.requires_grad}
        matrices = self._trained if optim.lora_rank else [*rows]  # with LoRA all that is trained are factors of those
        others = [] if optim.lora_rank else [p for p in self._trained if p not in rows]
        groups: list[dict[str, Any]] = [
            {"params": matrices, "weight_decay": optim.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ]
        settings: dict[str, Any] = {"lr": optim.lr, "betas": (optim.beta1, optim.beta2), "eps": optim.eps}
        if optim.algorithm == "muon":
            groups[0]["rows"] = [*rows.values()]
            settings["dtype"] = torch.bfloat16 if self.trainer.precision == "bf16-mixed" else torch.float32
        optimizer = (Muon if optim.algorithm == "muon" else torch.optim.AdamW)(groups, fused=self._fused, **settings)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, self._lr_share())
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}

    def _lr_share(self) -> Callable[[int], float]:
        """Return the function of a step that gives its learning rate as a share of the peak."""
        if self.optim.schedule not in ("cosine", "linear"):
            return partial(lr_share, optim=self.optim, total_steps=None)
        trainer, total_steps = self.trainer, steps_of(self.trainer)
        return lambda step: lr_share(step, self.optim, total_steps, time_done(trainer))

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Save the states of the random generators, on which dropout depends.

        Raises:
            ValueError: If a weight is not finite; such weights are never saved.
        """
        if not all(bool(parameter.isfinite().all()) for parameter in self.parameters()):
            raise divergence_error("a weight", self.trainer.global_step)
        cuda = torch.cuda.get_rng_state(self.device) if self.device.type == "cuda" else None
        states: list[Any] = [(torch.get_rng_state(), cuda)]
        if self.trainer.world_size > 1:
            states *= self.trainer.world_size
            torch.distributed.all_gather_object(states, states[0])
        checkpoint["rng_states"] = states  # of each process

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Keep the state of this process's random generators until `on_train_start` restores it."""
        self._rng_state = checkpoint["rng_states"][self.global_rank]

    @property
    def _trained(self) -> list[Tensor]:
        return [parameter for parameter in self.model.parameters() if parameter.requires_grad]

    def _training_loss_sum(self, batch: Batch) -> Tensor:
        weight, optim, smoothing = output_weight(self.model), self.optim, self.optim.label_smoothing
        if self._teachers:
            with torch.no_grad():
                teachers = [
                    TeacherStates(_hidden_and_labels(model, batch)[0], output_weight(model)) for model in self._teachers
                ]
            hidden, labels = _hidden_and_labels(self.model, batch)
            return projected_distillation(hidden, weight, labels, teachers, optim.teacher_share, smoothing)
        if optim.r_drop:
            hidden, labels = _hidden_and_labels(self.model, repeat_batch(batch))
            return projected_r_drop(hidden, weight, labels, optim.r_drop, smoothing)
        return self._loss_sum(batch, smoothing)

    def _loss_sum(self, batch: Batch, smoothing: float) -> Tensor:
        hidden, labels = _hidden_and_labels(self.model, batch)
        return projected_cross_entropy(hidden, output_weight(self.model), labels, smoothing)


def output_weight(model: Transformer) -> Tensor:
    """Return the output projection [V, M], with its bias as a last column if it has one."""
    weight, bias = model.output.weight, model.output.bias
    return weight if bias is None else torch.cat((weight, bias[:, None]), dim=1)


def _hidden_and_labels(model: Transformer, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return the hidden states [tokens, M] of the real target tokens, and the labels [tokens] they must predict.

    They are what `output_weight` is multiplied with, so that they end with a one where it has a bias.
    """
    memory = model.encode(batch.src_ids, batch.src_mask)
    hidden = model.decode(batch.tgt_in_ids, batch.tgt_mask, memory, batch.src_mask)
    labels = batch.labels.flatten()[batch.tgt_positions]
    hidden = hidden.flatten(0, 1)[batch.tgt_positions]
    return hidden if model.output.bias is None else F.pad(hidden, (0, 1), value=1.0), labels


def divergence_error(what: str, step: int) -> ValueError:
    """Return the error that ends a run in which `what` is infinite or not a number at `step`."""
    return ValueError(
        f"{what} is not finite at step {step:,}: training has diverged; start again with a lower optim.lr, a longer "
        "optim.warmup_steps or optim.clip_norm=1, and with trainer.precision=32 if it was lower"
    )
