"""From settings to a benchmark of training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import lightning as L
import torch

from translate.benchmark.cores import attention_cores
from translate.benchmark.flops import Work, training_flops
from translate.benchmark.loop import peer_turn
from translate.benchmark.operators import Operator, OperatorProfiler
from translate.benchmark.peak import matmul_dtype, matmul_peak, memory_kind
from translate.benchmark.peers import Peer, Sizes, find_peers
from translate.benchmark.report import SystemResult, TrainBenchmark
from translate.benchmark.timing import PARTS, Turn, training_turn
from translate.benchmark.train_probe import run_bytes
from translate.common.files import write_text
from translate.compare.measure import Rate, measure_in_turns
from translate.config.benchmark import BenchmarkTrainConfig
from translate.data.datamodule import TranslationDataModule
from translate.evaluate.test_sets import versions
from translate.model.attention import keep_cudnn_out
from translate.model.transformer import Transformer, build_model
from translate.train.console import say
from translate.train.parallel.layout import with_layout
from translate.train.run import describe
from translate.train.setup import training_device
from translate.translator.bundle import num_parameters

OURS, PEAK = "translate", "matmul peak"


class Turns:
    """A `Rate` that keeps what each of its turns found.

    Args:
        turn: Takes a turn.
    """

    def __init__(self, turn: Callable[[], Turn]) -> None:
        self._turn = turn
        self.all: list[Turn] = []

    def __call__(self) -> float:
        """Take a turn; its target tokens per second."""
        self.all.append(self._turn())
        return self.all[-1].tokens_per_s

    @property
    def counted(self) -> list[Turn]:
        """All but the first, which warms up."""
        return self.all[1:]


def benchmark_training(config: BenchmarkTrainConfig, *, command: str) -> TrainBenchmark:
    """Measure training as `config` describes it, and its peers; write benchmark.json and benchmark.md if it says so.

    Args:
        config: As for training, and how to measure.
        command: What to write down as the command.

    Raises:
        ValueError: For anything in the settings or the data that cannot work.
    """
    device = training_device(config.trainer)
    keep_cudnn_out()  # the peers' attention, too
    data = TranslationDataModule(config.data, config.tokenizer, seed=config.seed)
    data.prepare()
    config = with_layout(config, data)
    L.seed_everything(config.seed, verbose=False)
    tokenizer = data.tokenizer
    model = build_model(config.model, tokenizer.src_vocab_size, tokenizer.tgt_vocab_size, pad_id=tokenizer.pad_id)
    say(describe(config, data, model))
    peers, left_out = find_peers(config.model, _sizes(config, data)) if config.peers else ({}, {})
    ours = Turns(partial(training_turn, model, config, data, device))
    theirs = {name: Turns(partial(peer_turn, peer, config, data, device)) for name, peer in peers.items()}
    peak = matmul_peak(device, matmul_dtype(config.trainer.precision))
    rates: dict[str, Rate] = {PEAK: peak, OURS: ours, **theirs}
    rounds = measure_in_turns(rates, config.rounds, _progress)
    work = Work.of(ours.counted[0].batches)
    found = TrainBenchmark(
        systems=[
            _ours(model, ours, rounds[OURS]),
            *(_theirs(name, peer, theirs[name], rounds[name]) for name, peer in peers.items()),
        ],
        left_out=left_out,
        peak_rounds=rounds[PEAK],
        src_tokens=work.src_tokens,
        tgt_tokens=work.tgt_tokens,
        flops=training_flops(model, work),
        padding_share=work.padding_share,
        epoch_tokens=data.num_train_tokens,
        epoch_padding_share=data.padding_share(),
        parts={part: sum(turn.parts[part] for turn in ours.counted) for part in PARTS},
        memory_kind=memory_kind(device),
        run_bytes=run_bytes(config),
        operators=_operators(model, config, data, device) if config.profile else [],
        config=asdict(config),
        machine=_machine(config, device) | attention_cores(model, device, matmul_dtype(config.trainer.precision)),
        command=command,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    if config.output:
        _write(found, Path(config.output))
    return found


def _sizes(config: BenchmarkTrainConfig, data: TranslationDataModule) -> Sizes:
    tokenizer = data.tokenizer
    return Sizes(
        src_vocab=tokenizer.src_vocab_size,
        tgt_vocab=tokenizer.tgt_vocab_size,
        max_len=config.data.max_len,
        pad_id=tokenizer.pad_id,
        bos_id=tokenizer.bos_id,
        eos_id=tokenizer.eos_id,
    )


def _ours(model: Transformer, turns: Turns, rounds: list[float]) -> SystemResult:
    return _result(OURS, versions()["translate"], num_parameters(model), turns, rounds, [])


def _theirs(name: str, peer: Peer, turns: Turns, rounds: list[float]) -> SystemResult:
    trained = sum(p.numel() for p in peer.build().parameters() if p.requires_grad)
    return _result(name, peer.version, trained, turns, rounds, peer.differences)


def _result(
    name: str, version: str, parameters: int, turns: Turns, rounds: list[float], differences: list[str]
) -> SystemResult:
    return SystemResult(name, version, parameters, rounds, max(turn.peak_bytes for turn in turns.all), differences)


def _operators(
    model: Transformer, config: BenchmarkTrainConfig, data: TranslationDataModule, device: torch.device
) -> list[Operator]:
    profiler = OperatorProfiler(device, config.warmup)
    training_turn(model, config, data, device, [profiler])
    return profiler.costliest()


def _machine(config: BenchmarkTrainConfig, device: torch.device) -> dict[str, str]:
    precision = config.trainer.precision
    return versions() | {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else str(device),
        "threads": str(torch.get_num_threads()),
        "workers": str(config.trainer.workers),
        "precision": precision,
        "compiled layers": str(config.trainer.compile).lower(),
        "matmul": f"{matmul_dtype(precision)}, float32 precision {torch.get_float32_matmul_precision()}",
    }


def _progress(number: int, name: str, rate: float) -> None:
    figure = f"{rate / 1e9:,.1f} GFLOP/s" if name == PEAK else f"{rate:,.0f} target tokens/s"
    say(f"{f'round {number}' if number else 'warm-up'}: {figure}  {name}")


def _write(found: TrainBenchmark, output: Path) -> None:
    write_text(output / "benchmark.json", found.to_json())
    write_text(output / "benchmark.md", found.to_markdown())
