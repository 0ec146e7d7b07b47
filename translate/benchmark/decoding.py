"""Benchmark decoding: engines with the same weights, in turns, each in a separate process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep

import torch

from translate.benchmark.decode_commands import measure_commands
from translate.benchmark.decode_engines import OURS, TRIES, EngineSpec, batch_sizes
from translate.benchmark.decode_process import EngineProcess, RefusedError
from translate.benchmark.decode_report import CommandResult, DecodeBenchmark, EngineResult, StreamResult, WidthResult
from translate.benchmark.decode_rows import LeftOut, find_rows
from translate.benchmark.decode_stream import joined_lines, measure_stream
from translate.benchmark.decode_worker import Job
from translate.common.cores import available_cores
from translate.common.files import write_text
from translate.config.benchmark import BenchmarkDecodeConfig
from translate.config.files import load_config
from translate.config.train import TrainConfig
from translate.data.cleaning import clean_text
from translate.data.corpus import Pair, open_corpus
from translate.evaluate.inputs import read_pairs
from translate.evaluate.scores import Statistics
from translate.evaluate.test_sets import versions
from translate.train.console import say
from translate.translator.bundle import find_model

_PEERS = ("ctranslate2", "transformers")
_REST = 0.3  # seconds before each turn, in which the threads of the engine before it stop waiting busily


def benchmark_decoding(config: BenchmarkDecodeConfig, *, command: str) -> DecodeBenchmark:
    """Measure decoding as `config` describes it; write decode.json and decode.md if it says so.

    Args:
        config: The model, the sentences, what to measure.
        command: What to write down as the command.

    Raises:
        ValueError: If there is no model or no sentence, or none of our precisions is possible.
    """
    bundle = find_model(config.model)
    if config.device == "cuda" and not torch.cuda.is_available():
        raise ValueError("device=cuda needs a GPU, and there is none; use cpu")
    pairs = read_sentences(config, bundle)
    texts, references = [pair.src for pair in pairs], [pair.tgt for pair in pairs]
    lines = joined_lines(texts, len(texts) * max(config.sizes)) if config.sizes else []
    singles = texts[:: max(1, len(texts) // config.latency_sentences)][: config.latency_sentences]
    with TemporaryDirectory(prefix="decode-") as name:
        folder = Path(name)
        specs, left_out = find_rows(config, bundle, max(texts, key=len), folder)
        jobs = [Job(spec, config.decode, texts, singles) for spec in specs]
        engines = measure(jobs, references, config.rounds, folder, left_out)
        precision, stream = _fastest_precision(engines, specs), list[StreamResult]()
        try:
            stream += _stream(config, bundle, precision, lines, folder) if lines else []
        except ValueError as error:  # the table above it is there
            left_out["growth with the sentences"] = str(error)
        commands = _commands(config, bundle, texts, left_out, folder) if config.command_lines else []
    found = DecodeBenchmark(
        engines=engines,
        left_out=left_out,
        stream=stream,
        stream_precision=precision if stream else None,
        commands=commands,
        sentences=len(texts),
        distinct=len(set(texts)),
        singles=len(singles),
        signature=_statistics(references, references).signature("BLEU", 0, 0),
        config=asdict(config),
        machine=_machine(config.device),
        command=command,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    if config.output:
        _write(found, Path(config.output))
    return found


def read_sentences(config: BenchmarkDecodeConfig, bundle: Path) -> list[Pair]:
    """Read the first sentences, clean, of two files or of a split of the model's run; none is empty.

    Raises:
        ValueError: If there are none, or a file or a split is not there.
    """
    if config.src and config.ref:
        pairs: Sequence[Pair] | Iterator[Pair] = read_pairs(config.src, config.ref)
    else:
        settings = bundle.parent / "config.yaml"
        if not settings.is_file():
            raise ValueError(f"{bundle} is in no run, whose data could be translated; give src=FILE ref=FILE")
        data = load_config(settings, TrainConfig).data.own
        corpus = open_corpus(replace(data, root=config.data_root) if config.data_root else data)
        pairs = corpus.valid() if config.split == "valid" else corpus.test(config.split)
    clean = (Pair(clean_text(pair.src), pair.tgt) for pair in pairs)
    found = list(islice((pair for pair in clean if pair.src), config.sentences))
    if not found:
        raise ValueError("there is nothing to translate: 0 sentences")
    return found


def measure(
    jobs: Sequence[Job], references: list[str], rounds: int, folder: Path, left_out: LeftOut
) -> list[EngineResult]:
    """Measure all rows, in turns.

    Args:
        jobs: A row each.
        references: Of their texts.
        rounds: Turns of each.
        folder: Takes a file for each process.
        left_out: Takes those that cannot be opened, and why.

    Raises:
        ValueError: If none of them is ours.
    """
    rows: list[tuple[EngineResult, EngineProcess]] = []
    with ExitStack() as stack:
        for job in jobs:
            try:
                sizes = _choose_sizes(job, folder)
                process = stack.enter_context(EngineProcess(job, folder))
            except RefusedError as error:
                left_out[job.spec.name] = str(error)
                continue
            rows.append((_warm_up(job.spec, process, sizes, references), process))
        if not any(engine.kind == OURS for engine, _ in rows):
            reasons = [f"{name}: {reason}" for name, reason in left_out.items() if name.startswith(f"{OURS} ")]
            raise ValueError(f"precisions: none of them is possible here ({'; '.join(reasons)})")
        for number in range(rounds):
            start = number % len(rows)
            for engine, process in rows[start:] + rows[:start]:
                _take_turn(engine, process)
                say(f"round {number + 1}: {_progress(engine, len(references))}  {engine.name}")
        for engine, process in rows:
            engine.peak_bytes = process.ask("memory")
    return [engine for engine, _ in rows]


def _choose_sizes(job: Job, folder: Path) -> dict[int, int]:
    """Try batch sizes for each beam size in a separate process, whose memory then does not count."""
    sizes, chosen = batch_sizes(job.spec.kind, job.spec.device), {}
    with EngineProcess(job, folder) as process:
        for beam_size in dict.fromkeys((job.decode.beam_size, 1)):
            process.ask("batch", beam_size=beam_size, batch_size=sizes[0])  # warms up
            tries = [
                (process.ask("batch", beam_size=beam_size, batch_size=size)["seconds"], size)
                for size in [*sizes] * TRIES
            ]
            _, chosen[beam_size] = min(tries)
    return chosen


def _warm_up(spec: EngineSpec, process: EngineProcess, sizes: dict[int, int], references: list[str]) -> EngineResult:
    widths = []
    for beam_size, batch_size in sizes.items():
        texts = process.ask("warm_up", beam_size=beam_size, batch_size=batch_size)
        widths.append(WidthResult(beam_size, batch_size, _statistics(texts, references).value("BLEU")))
    found = ", ".join(f"{width.bleu:.2f}" for width in widths)
    say(f"warm-up: BLEU {found}, batches of {', '.join(map(str, sizes.values()))} tokens  {spec.name}")
    return EngineResult(spec.name, spec.kind, process.description, process.framework_bytes, widths)


def _take_turn(engine: EngineResult, process: EngineProcess) -> None:
    sleep(_REST)
    for width in engine.widths:
        sizes = {"beam_size": width.beam_size, "batch_size": width.batch_size}
        width.add_batch(**process.ask("batch", **sizes))
        width.add_singles(process.ask("single", **sizes))


def _progress(engine: EngineResult, sentences: int) -> str:
    return "; ".join(
        f"{width.search} {sentences / width.seconds[-1]:,.1f} sentences/s, {width.p50_ms[-1]:,.1f} ms"
        for width in engine.widths
    )


def _statistics(texts: list[str], references: list[str]) -> Statistics:
    return Statistics(texts, references, protocol="cased", tgt_lang="")


def _fastest_precision(engines: Sequence[EngineResult], specs: Sequence[EngineSpec]) -> str:
    """Return our precision with the fastest beam search."""
    fastest = min(
        (engine for engine in engines if engine.kind == OURS), key=lambda engine: min(engine.widths[0].seconds)
    )
    return next(spec.precision for spec in specs if spec.name == fastest.name)


def _stream(
    config: BenchmarkDecodeConfig, bundle: Path, precision: str, lines: Sequence[str], folder: Path
) -> Iterator[StreamResult]:
    """Measure an empty file, then each size."""
    once = len(lines) // max(config.sizes)
    for size in (0, *sorted(config.sizes)):
        found = measure_stream(bundle, precision, config.decode, lines[: size * once], size=size, folder=folder)
        say(f"translate.infer, {found.lines:,} lines: {found.seconds:,.1f} s, {found.peak_bytes / 2**20:,.0f} MiB")
        yield found


def _commands(
    config: BenchmarkDecodeConfig, bundle: Path, texts: list[str], left_out: LeftOut, folder: Path
) -> list[CommandResult]:
    peer = config.peers and find_spec("ctranslate2") is not None
    given = bundle, texts, config.command_lines, config.decode
    try:
        return measure_commands(*given, peer=peer, rounds=config.rounds, folder=folder)
    except ValueError as error:
        left_out["from start to exit"] = str(error)
        return []


def _machine(device: str) -> dict[str, str]:
    peers = {package: version(package) for package in _PEERS if find_spec(package)}
    gpu = {"device": torch.cuda.get_device_name()} if device == "cuda" else {}
    return versions() | peers | {"cores used": str(available_cores())} | gpu


def _write(found: DecodeBenchmark, output: Path) -> None:
    write_text(output / "decode.json", found.to_json())
    write_text(output / "decode.md", found.to_markdown())
