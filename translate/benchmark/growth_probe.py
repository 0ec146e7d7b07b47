"""One measurement of growth in a process of its own, so that no other has touched its memory.

python -m translate.benchmark.growth_probe prepare|start|step CONFIG.yaml RESULT.json
"""

from __future__ import annotations

import json
import signal
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from time import perf_counter

import datasets  # noqa: F401  # read here, or its import would count as growth of the first reading
import lightning as L
import torch
from torch.utils.data import DataLoader

from translate.benchmark.flops import Work, training_flops
from translate.benchmark.growth_memory import formula_holds, training_bytes
from translate.benchmark.growth_report import Preparation, Start, Step
from translate.benchmark.peak import PeakMemory, mapped_bytes
from translate.benchmark.timing import training_turn
from translate.compare.measure import StepClock, make_bare
from translate.config.benchmark import BenchmarkGrowthConfig
from translate.config.files import load_config
from translate.data.batch import Batch, Example, collate
from translate.data.cleaning import CleaningRules
from translate.data.corpus import open_corpus
from translate.data.datamodule import TranslationDataModule
from translate.data.prepare import TokenStore, cached_text, cached_tokenizer, cached_tokens
from translate.data.sampler import TokenBudgetBatches
from translate.data.tokenizer import Tokenizer
from translate.model.transformer import Transformer, build_model
from translate.train.setup import on_gpu, training_device
from translate.translator.bundle import num_parameters

_CPU = torch.device("cpu")


def prepare(config: BenchmarkGrowthConfig) -> Preparation:
    """Clean and encode the corpus of the settings into its empty cache."""
    cache, memory, start = Path(config.data.cache_dir), PeakMemory(_CPU), perf_counter()
    text = cached_text(open_corpus(config.data), CleaningRules.of(config.data), cache)
    cleaned = perf_counter()
    store = _tokens(config)
    encoded, peak_bytes = perf_counter(), memory.bytes()
    rows = [store.rows[f"train.{side}"] for side in ("src", "tgt")]
    return Preparation(
        pairs=len(text.rows["train.src"]),
        tokens=sum(int(side.lengths.sum(dtype="int64")) for side in rows),
        clean_seconds=cleaned - start,
        encode_seconds=encoded - cleaned,
        peak_bytes=peak_bytes,
        cache_bytes=sum(file.stat().st_size for file in cache.rglob("*") if file.is_file()),
    )


def start(config: BenchmarkGrowthConfig) -> Start:
    """Start on the corpus of the settings, which is in its cache; train; plan an epoch."""
    memory, mapped, before = PeakMemory(_CPU), mapped_bytes(), perf_counter()
    data = TranslationDataModule(config.data, config.tokenizer, seed=config.seed)
    data.prepare()
    next(iter(data.train_dataloader()))
    first_batch_seconds, start_bytes, start_mapped = perf_counter() - before, memory.bytes(), mapped_bytes()
    model = _model(config, data.tokenizer)
    mapped_then, turn = mapped_bytes(), training_turn(model, config, data, training_device(config.trainer))
    training_mapped = mapped_bytes() - mapped_then
    return Start(
        first_batch_seconds=first_batch_seconds,
        plan_seconds=_plan_seconds(config),
        start_bytes=start_bytes,
        start_mapped=start_mapped - mapped,
        tokens_per_s=turn.tokens_per_s,
        data_share=turn.parts["data"] / sum(turn.parts.values()),
        training_bytes=turn.peak_bytes,
        training_mapped=training_mapped,
    )


def step(config: BenchmarkGrowthConfig) -> Step:
    """Train on batches of sentences of the settings' first length."""
    tokenizer = Tokenizer.load(config.tokenizer.path or "")
    model, device, length = _model(config, tokenizer), training_device(config.trainer), config.lengths[0]
    batch = _batch(config.data.batch_tokens // length, length, tokenizer)
    memory = PeakMemory(device)
    clock = _train(model, config, batch)
    known = device == _CPU and config.trainer.workers == 1 and formula_holds(model, config.trainer.precision)
    return Step(
        seconds=clock.seconds / (config.steps * config.trainer.accumulate),
        tokens=batch.num_tokens,
        flops=training_flops(model, Work.of([batch])),
        peak_bytes=memory.bytes(),
        formula_bytes=training_bytes(model, len(batch.labels), length, length) if known else None,
        parameters=num_parameters(model),
    )


def _train(model: Transformer, config: BenchmarkGrowthConfig, batch: Batch) -> StepClock:
    """The settings' steps, all on one batch."""
    clock, accelerator = StepClock(config.warmup), "gpu" if on_gpu(config.trainer) else "cpu"
    module, trainer = make_bare(model, config, [clock], accelerator=accelerator, precision=config.trainer.precision)
    batches = [batch] * ((config.warmup + config.steps) * config.trainer.accumulate)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*no `val_dataloader`")
        trainer.fit(module, train_dataloaders=DataLoader(batches, batch_size=None))  # type: ignore[arg-type]
    return clock


def _tokens(config: BenchmarkGrowthConfig) -> TokenStore:
    """As the data module makes them, each part only if the cache lacks it."""
    data, cache = config.data, Path(config.data.cache_dir)
    text = cached_text(open_corpus(data), CleaningRules.of(data), cache)
    return cached_tokens(text, cached_tokenizer(text, config.tokenizer, cache), data.max_len, cache)


def _plan_seconds(config: BenchmarkGrowthConfig) -> float:
    rows = _tokens(config).rows
    lengths = (rows["train.src"].lengths, rows["train.tgt"].lengths)
    plan = TokenBudgetBatches(*lengths, config.data.batch_tokens, seed=config.seed)
    before = perf_counter()
    for _ in plan.epoch(1):
        pass
    return perf_counter() - before


def _model(config: BenchmarkGrowthConfig, tokenizer: Tokenizer) -> Transformer:
    L.seed_everything(config.seed, verbose=False)
    return build_model(config.model, tokenizer.src_vocab_size, tokenizer.tgt_vocab_size, pad_id=tokenizer.pad_id)


def _batch(sentences: int, length: int, tokenizer: Tokenizer) -> Batch:
    """Sentences of random tokens, all `length` long on both sides."""
    draw = torch.Generator().manual_seed(length)
    sizes = (tokenizer.src_vocab_size, tokenizer.tgt_vocab_size)
    src, tgt = (torch.randint(tokenizer.eos_id + 1, size, (sentences, length), generator=draw) for size in sizes)
    examples = [Example(*pair) for pair in zip(src.tolist(), tgt.tolist(), strict=True)]
    return collate(examples, pad_id=tokenizer.pad_id, bos_id=tokenizer.bos_id)


def main() -> None:
    """Measure what the command line names."""
    kind, config_path, result_path = sys.argv[1:]
    config = load_config(Path(config_path), BenchmarkGrowthConfig)
    if config.trainer.threads:
        torch.set_num_threads(config.trainer.threads)
    probes: dict[str, Callable[[BenchmarkGrowthConfig], Preparation | Start | Step]]
    probes = {"prepare": prepare, "start": start, "step": step}
    Path(result_path).write_text(json.dumps(asdict(probes[kind](config))), encoding="utf-8")


if __name__ == "__main__":
    signal.signal(
        signal.SIGINT, signal.SIG_DFL
    )  # Ctrl-C reaches whoever waits for us too, who says what there is to say
    main()
