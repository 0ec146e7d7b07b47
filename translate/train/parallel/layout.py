"""Find the fastest way to share this machine's cores among the parts of a batch: measure once, then remember."""

from __future__ import annotations

import ctypes
import json
import platform
import sys
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import TypeVar

import torch

from translate.common.cores import limit_threads
from translate.common.files import write_text
from translate.common.memory import limit_kernel_caches
from translate.config.train import TrainConfig
from translate.data.batch import Batch
from translate.data.datamodule import TranslationDataModule
from translate.data.token_cache import cache_key, new_entry
from translate.model.transformer import build_model
from translate.train.callbacks.step_clock import StepTimer
from translate.train.console import say
from translate.train.module import TranslationModule
from translate.train.parallel.distributed import processes_here
from translate.train.setup import make_module, on_gpu, pick_precision

Config = TypeVar("Config", bound=TrainConfig)
Layout = tuple[int, str]  # workers, precision
ROUNDS = 3
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h
LEAST_TOKENS = 256  # in a part of a batch; with fewer a thread mostly waits for Python


def with_layout(config: Config, data: TranslationDataModule) -> Config:
    """Return the settings with `trainer.workers` and `trainer.precision` filled in where they were left open.

    On a CPU each layout that the settings allow trains on a real batch in turn; the fastest is kept in the cache.

    Args:
        config: Settings of the user.
        data: Data of the run, prepared.

    Raises:
        ValueError: If this machine lacks what the settings ask for.
    """
    trainer, precision = config.trainer, pick_precision(config.trainer)
    limit_threads(trainer.threads, processes=processes_here(trainer))
    _keep_freed_memory()
    limit_kernel_caches()
    if trainer.workers is not None or on_gpu(trainer) or trainer.processes > 1 or trainer.strategy == "fsdp":
        return _fill_in(config, (trainer.workers or 1, precision))
    candidates = _candidates(config, precision)
    if len(candidates) == 1:
        return _fill_in(config, candidates[0])
    entry = Path(config.data.cache_dir) / "layout" / _key(config, data, candidates)
    with new_entry(entry) as folder:
        if folder is not None:
            rates = _measure(config, data, candidates)
            write_text(folder / "layout.json", json.dumps(rates))
    rates = json.loads((entry / "layout.json").read_text(encoding="utf-8"))
    (workers, precision), best = max(rates, key=lambda found: float(found[1]))
    others = ", ".join(f"{rate:,.0f} with {_describe(*layout)}" for layout, rate in rates if rate < best)
    say(f"layout: {_describe(workers, precision)} is fastest here, {best:,.0f} target tokens/s against {others}")
    return _fill_in(config, (workers, precision))


def _keep_freed_memory() -> None:
    """Let glibc keep the memory that a step frees for the next one; else the system would clear its pages again."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(_TRIM_THRESHOLD, 2**31 - 1)
        mallopt(_MMAP_THRESHOLD, 2**25)  # the largest value allowed


def _fill_in(config: Config, layout: Layout) -> Config:
    return replace(config, trainer=replace(config.trainer, workers=layout[0], precision=layout[1]))


def _candidates(config: TrainConfig, precision: str) -> list[Layout]:
    threads = torch.get_num_threads()
    most = max(1, config.data.batch_tokens // LEAST_TOKENS)
    counts = [count for count in range(1, threads + 1) if threads % count == 0 and count <= most]
    precisions = ["32", precision] if config.trainer.precision == "auto" and precision != "32" else [precision]
    return [(count, name) for name in precisions for count in counts]


def _key(config: TrainConfig, data: TranslationDataModule, candidates: list[Layout]) -> str:
    machine = platform.node(), torch.backends.cpu.get_cpu_capability(), torch.__version__, torch.get_num_threads()
    batch = config.data.batch_tokens, config.optim.r_drop > 0, len(config.optim.teachers)
    work = asdict(config.model), data.tokenizer.tgt_vocab_size, batch, data.num_train_tokens
    return cache_key("layout", machine, work, candidates)


def _measure(config: TrainConfig, data: TranslationDataModule, candidates: list[Layout]) -> list[tuple[Layout, float]]:
    """Return the target tokens/s of each layout: its fastest of `ROUNDS`, after one that warms up."""
    say(f"trying {len(candidates)} layouts, once for this network, batch size and machine …")
    tokenizer = data.tokenizer
    with torch.random.fork_rng(devices=[]):  # a run is the same whether or not it had to measure
        model = build_model(config.model, tokenizer.src_vocab_size, tokenizer.tgt_vocab_size, pad_id=tokenizer.pad_id)
        model.train()
        batch = max(islice(data.train_dataloader(), 4), key=lambda batch: batch.num_tokens)  # a typical one
        modules = {layout: make_module(model, _fill_in(config, layout)) for layout in candidates}
        times = [
            {layout: _seconds(modules[layout], batch, layout[1]) for layout in candidates} for _ in range(1 + ROUNDS)
        ]
    return [(layout, batch.num_tokens / min(found[layout] for found in times[1:])) for layout in candidates]


def _seconds(module: TranslationModule, batch: Batch, precision: str) -> float:
    """Return the wall time of one forward and backward."""
    timer = StepTimer()
    with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16-mixed"):
        loss = module.training_step(batch, 0)["loss"]
    assert isinstance(loss, torch.Tensor)
    loss.backward()  # type: ignore[no-untyped-call]
    timer.lap()
    module.zero_grad()
    return timer.seconds


def _describe(workers: int, precision: str) -> str:
    threads = max(1, torch.get_num_threads() // workers)
    parts = f"{workers} worker{'s' if workers > 1 else ''} × {threads} thread{'s' if threads > 1 else ''}"
    return f"{parts} in {precision}"
