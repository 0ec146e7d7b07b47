"""The plain PyTorch loop that peers are trained by."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from time import perf_counter

import lightning as L
import torch
from torch import nn

from translate.benchmark.peak import PeakMemory, matmul_dtype
from translate.benchmark.peers import Peer, peer_loss
from translate.benchmark.timing import Turn
from translate.config.benchmark import BenchmarkTrainConfig
from translate.data.batch import Batch
from translate.data.datamodule import TranslationDataModule
from translate.train.optim.schedule import lr_share
from translate.train.setup import compile_layers


def peer_turn(peer: Peer, config: BenchmarkTrainConfig, data: TranslationDataModule, device: torch.device) -> Turn:
    """Train a fresh peer on the batches that `training_turn` trains on, with the same settings; arguments as there."""
    memory, optim = PeakMemory(device), config.optim
    data.trainer = _bare_trainer() if device.type == "cuda" else None
    model = peer.build().to(device).train()
    if config.trainer.compile:
        compile_layers(model)
    mixed = config.trainer.precision == "16-mixed"
    optimizer = torch.optim.AdamW(
        _groups(model, optim.weight_decay),
        lr=optim.lr,
        betas=(optim.beta1, optim.beta2),
        eps=optim.eps,
        fused=not mixed,
    )
    share = partial(lr_share, optim=optim, total_steps=config.warmup + config.steps)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, share)
    scaler = torch.amp.GradScaler(device.type, enabled=mixed)
    counted: list[Batch] = []
    start, done = 0.0, 0
    for batch, completes in _batches(data, config.trainer.accumulate):
        batch = batch.to(device, non_blocking=device.type == "cuda")
        with _autocast(device, config.trainer.precision):
            loss = peer_loss(model, batch, optim.label_smoothing) / config.trainer.accumulate
        scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
        if done >= config.warmup:
            counted.append(batch)
        if completes:
            _update(model, optimizer, scheduler, scaler, optim.clip_norm)
            done += 1
            if done == config.warmup:
                start = _now(device)
            if done == config.warmup + config.steps:
                break
    return Turn(_now(device) - start, counted, memory.bytes())


def _batches(data: TranslationDataModule, accumulate: int) -> Iterator[tuple[Batch, bool]]:
    """Yield training batches, epoch after epoch, and whether each completes an optimizer step, as the Trainer does."""
    loader = data.train_dataloader()
    while True:
        for number, batch in enumerate(loader, start=1):
            yield batch, number % accumulate == 0 or number == len(loader)


def _bare_trainer() -> L.Trainer:
    """Tell the loader that its batches go to a GPU, so that it pins them, as it does for us."""
    return L.Trainer(
        accelerator="gpu",
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )


def _update(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scheduler: torch.optim.lr_scheduler.LRScheduler,
    scaler: torch.amp.GradScaler,
    clip_norm: float,
) -> None:
    if clip_norm:
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
    scaler.step(optimizer)
    scaler.update()
    scheduler.step()
    optimizer.zero_grad()


def _groups(model: nn.Module, weight_decay: float) -> list[dict[str, object]]:
    """Return parameter groups: weight decay on matrices, never on embeddings or weights tied to them."""
    tables = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    parameters = [p for p in model.parameters() if p.requires_grad]
    decayed = {id(p) for p in parameters if p.dim() > 1} - tables
    return [
        {"params": [p for p in parameters if id(p) in decayed], "weight_decay": weight_decay},
        {"params": [p for p in parameters if id(p) not in decayed], "weight_decay": 0.0},
    ]


def _autocast(device: torch.device, precision: str) -> AbstractContextManager[object]:
    return nullcontext() if precision == "32" else torch.autocast(device.type, matmul_dtype(precision))


def _now(device: torch.device) -> float:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return perf_counter()
