"""One optimizer step: what accumulation, padding and clipping do to the gradient, and which parameters decay."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import lightning as L
import pytest
import torch
from torch.testing import assert_close

from translate.config.data import DataConfig
from translate.config.model import ModelConfig
from translate.config.optim import OptimConfig
from translate.config.train import TrainConfig
from translate.config.trainer import TrainerConfig
from translate.data.batch import Batch, Example, collate
from translate.model.transformer import build_model
from translate.train.module import TranslationModule
from translate.train.optim.schedule import lr_share

PAIRS = [([5, 6, 7, 2], [8, 9, 2]), ([4, 2], [11, 2]), ([9, 8, 7, 6, 5, 2], [4, 5, 6, 7, 8, 2]), ([10, 2], [6, 7, 2])]
EXAMPLES = [Example(*pair) for pair in PAIRS]


class Loader(list[Batch]):
    """One loader of several batches; Lightning takes a plain list for several loaders."""


class Recorder(TranslationModule):
    """Keeps the gradient that the optimizer gets."""

    def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:
        super().on_before_optimizer_step(optimizer)
        self.gradients = {name: p.grad.clone() for name, p in self.named_parameters() if p.grad is not None}


def make_module(
    cls: type[TranslationModule] = Recorder,
    *,
    tie_output: bool = True,
    output_bias: bool = False,
    dropout: float = 0.0,
    batch_tokens: int = 50,
    workers: int = 1,
    optim: dict[str, Any] | None = None,
) -> Any:
    torch.manual_seed(0)
    config = ModelConfig(d_model=16, d_ff=32, num_heads=2, num_encoder_layers=1, num_decoder_layers=1)
    config.dropout, config.embedding_dropout = dropout, 0.0
    config.tie_output, config.output_bias = tie_output, output_bias
    optim = OptimConfig(weight_decay=0.1, warmup_steps=2, **{"clip_norm": 0.0} | (optim or {}))
    data, trainer = DataConfig(batch_tokens=batch_tokens, max_len=4), TrainerConfig(workers=workers)
    return cls(build_model(config, 12, 12), TrainConfig(optim=optim, data=data, trainer=trainer))


def batch(*numbers: int, padding: int = 0) -> Batch:
    made = collate([EXAMPLES[i] for i in numbers], pad_id=0, bos_id=1)
    if not padding:
        return made

    def longer(x: torch.Tensor, value: int) -> torch.Tensor:
        return torch.nn.functional.pad(x, (0, padding), value=value)

    return Batch(
        longer(made.src_ids, 0),
        longer(made.src_mask, 0),
        longer(made.tgt_in_ids, 0),
        longer(made.tgt_mask, 0),
        longer(made.labels, -100),
        longer(made.tgt_mask, 0).flatten().nonzero().squeeze(1),
    )


def gradients(batches: list[Batch], **changes: Any) -> dict[str, torch.Tensor]:
    module = make_module(**changes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = L.Trainer(
            accelerator="cpu",
            max_steps=1,
            accumulate_grad_batches=len(batches),
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        trainer.fit(module, Loader(batches))
    assert trainer.global_step == 1
    return module.gradients


def assert_gradients_close(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    assert list(one) == list(other)
    for name in one:
        assert_close(one[name], other[name], atol=1e-6, rtol=1e-4, msg=name)  # float32 sums in another order


@pytest.mark.parametrize("clip_norm", [0.0, 0.05])
def test_accumulating_uneven_parts_equals_the_whole(clip_norm: float) -> None:
    whole = gradients([batch(0, 1, 2, 3)], optim={"clip_norm": clip_norm})
    assert_gradients_close(gradients([batch(2), batch(0, 1, 3)], optim={"clip_norm": clip_norm}), whole)
    assert_gradients_close(gradients([batch(0, 1), batch(3), batch(2)], optim={"clip_norm": clip_norm}), whole)
    norm = float(torch.cat([g.flatten() for g in whole.values()]).norm())
    assert norm == pytest.approx(0.05, rel=1e-4) if clip_norm else norm > 0.1


@pytest.mark.parametrize("output_bias", [False, True])
def test_the_gradient_is_that_of_the_mean_loss_per_token(output_bias: bool) -> None:
    got = gradients([batch(0, 1), batch(2)], output_bias=output_bias)
    model = make_module(output_bias=output_bias).model
    loss, tokens = torch.zeros(()), 0
    for b in (batch(0, 1), batch(2)):
        logits = model(b.src_ids, b.tgt_in_ids, b.src_mask, b.tgt_mask)
        loss = loss + torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), b.labels.flatten(), reduction="sum", label_smoothing=0.1
        )
        tokens += int((b.labels != -100).sum())
    (loss / tokens).backward()
    expected = {f"model.{name}": p.grad for name, p in model.named_parameters() if p.grad is not None}
    assert_gradients_close(got, expected)


def test_padding_weighs_nothing() -> None:
    assert_gradients_close(gradients([batch(0, 2, padding=5)]), gradients([batch(0, 2)]))


def test_the_nominal_batch_size_cancels_out() -> None:
    assert_gradients_close(gradients([batch(0, 2)], batch_tokens=7), gradients([batch(0, 2)], batch_tokens=5000))


@pytest.mark.parametrize("tie_output", [True, False])
def test_matrices_decay_and_embeddings_norms_biases_and_output_do_not(tie_output: bool) -> None:
    module = make_module(TranslationModule, tie_output=tie_output)
    decayed, kept = module.configure_optimizers()["optimizer"].param_groups
    names = {id(p): name for name, p in module.model.named_parameters()}
    assert (decayed["weight_decay"], kept["weight_decay"]) == (0.1, 0.0)
    assert {names[id(p)] for p in decayed["params"]} == {
        name for name in names.values() if name.endswith("weight") and ("attention" in name or "feed_forward" in name)
    }
    assert len(decayed["params"]) + len(kept["params"]) == len(names)
    outside = {names[id(p)] for p in kept["params"] if p.dim() == 2}
    assert all("embed" in name or name == "output.weight" for name in outside)


def test_the_learning_rate_follows_the_schedule_step_by_step() -> None:
    made = make_module(TranslationModule, optim={"lr": 0.5}).configure_optimizers()
    optimizer, scheduler = made["optimizer"], made["lr_scheduler"]["scheduler"]
    for step in range(6):
        share = lr_share(step, OptimConfig(warmup_steps=2), total_steps=None)
        assert [group["lr"] for group in optimizer.param_groups] == [0.5 * share] * 2
        optimizer.step()
        scheduler.step()


@pytest.mark.parametrize("workers", [1, 2])
def test_each_process_draws_dropout_masks_of_its_own_and_the_first_keeps_its_generator(
    workers: int,
) -> None:
    def draw(rank: int, seed: int = 5) -> tuple[float, ...]:
        """Losses of two steps of a process, which depend on the masks alone."""
        module = make_module(TranslationModule, workers=workers, dropout=0.5).train()
        module._trainer = SimpleNamespace(global_rank=rank)
        torch.manual_seed(seed)
        module.on_train_start()
        return tuple(float(module.training_step(batch(0, 1, 2), 0)["loss_sum"]) for _ in range(2))

    drawn = [draw(rank) for rank in range(4)]
    assert len({loss for losses in drawn for loss in losses}) == 8
    assert drawn == [draw(rank) for rank in range(4)]
    assert draw(1, seed=50) != drawn[1]
    module = make_module(TranslationModule)
    module._trainer = SimpleNamespace(global_rank=0)
    state = torch.get_rng_state()
    module.on_train_start()
    assert torch.equal(torch.get_rng_state(), state)


def test_weights_that_are_not_numbers_are_never_saved() -> None:
    module = make_module(TranslationModule)
    module.trainer = L.Trainer(accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
    checkpoint: dict[str, Any] = {}
    module.on_save_checkpoint(checkpoint)
    assert torch.equal(checkpoint["rng_states"][0][0], torch.get_rng_state())
    with torch.no_grad():
        next(module.parameters())[0, 0] = float("nan")
    with pytest.raises(ValueError, match=r"a weight is not finite at step 0.*lower optim\.lr"):
        module.on_save_checkpoint({})


class WaitsForNothing(TranslationModule):
    """Lets torch raise where the CPU would wait for the GPU within forward, backward or the work on gradients."""

    def training_step(self, batch: Batch, batch_idx: int) -> Any:
        with no_waiting():
            return super().training_step(batch, batch_idx)

    def backward(self, loss: torch.Tensor, *_: Any, **__: Any) -> None:
        with no_waiting():
            loss.backward()  # type: ignore[no-untyped-call]

    def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:
        with no_waiting():
            super().on_before_optimizer_step(optimizer)


@contextmanager
def no_waiting() -> Iterator[None]:
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_step_never_waits_for_the_gpu() -> None:
    module = make_module(WaitsForNothing, optim={"clip_norm": 1.0})
    trainer = L.Trainer(
        accelerator="gpu",
        devices=1,
        precision="bf16-mixed",
        max_steps=3,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(module, Loader([batch(0, 1), batch(2), batch(3)]))
    assert trainer.global_step == 3
