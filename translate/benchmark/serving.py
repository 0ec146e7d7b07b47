"""Benchmark the server: what requests cost beyond the engine's own time, and what many clients at once get.

Server and clients share the machine. Every client has one connection and sends a sentence as soon as it has the
translation of the one before.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from translate.benchmark.overload import DIFFERENT, Overload, measure_overload
from translate.benchmark.serving_client import Connection
from translate.common.cores import available_cores
from translate.common.files import write_text
from translate.common.resources import everyday_dir
from translate.common.tables import aligned_table
from translate.common.timer import Timer
from translate.config.benchmark import BenchmarkServeConfig
from translate.evaluate.test_sets import versions
from translate.infer.lines import read_chunks
from translate.train.console import say
from translate.translator.beside import Beside
from translate.translator.bundle import load_bundle
from translate.translator.translator import Translator

_OURS, _PEER = "translate.serve", "CTranslate2 int8 behind a plain route"


@dataclass
class ServerResult:
    """What a server did, round after round.

    Attributes:
        name: Of the server.
        one_ms: Milliseconds of each sentence of a single client, of all rounds.
        sentences_per_s: Of all clients together, in each round.
        many_ms: Milliseconds of each sentence of all clients, of all rounds.
    """

    name: str
    one_ms: list[float] = field(default_factory=list)
    sentences_per_s: list[float] = field(default_factory=list)
    many_ms: list[float] = field(default_factory=list)


@dataclass
class ServeBenchmark:
    """Servers beside the engine of the first, on the same sentences.

    Attributes:
        engine_ms: Milliseconds of each sentence that the engine translates by itself, one at a time.
        engine_sentences_per_s: Of the engine, all sentences in one call, in each round.
        servers: Ours first.
        overload: What ours did when it was offered too much, if that was measured.
        left_out: What could not be measured, and why.
        config: The settings.
        machine: Versions and cores.
        command: What reproduces it.
        date: UTC.
    """

    engine_ms: list[float]
    engine_sentences_per_s: list[float]
    servers: list[ServerResult]
    overload: Overload | None
    left_out: dict[str, str]
    config: dict[str, object]
    machine: dict[str, str]
    command: str
    date: str

    def to_markdown(self) -> str:
        """Return the tables."""
        clients = f"{self.config['clients']} clients"
        header = ["", "one at a time: median, ms", "95 % below", f"{clients}: sentences/s", "share of the engine's"]
        header += [f"{clients}: median, ms", "99 % below"]
        engine = median(self.engine_sentences_per_s)
        rows = [["the engine by itself", *_quantiles(self.engine_ms, 95), f"{engine:,.0f}", "", "", ""]]
        for server in self.servers:
            rate = median(server.sentences_per_s)
            row = [server.name, *_quantiles(server.one_ms, 95), f"{rate:,.0f}", f"{rate / engine:.0%}"]
            rows.append([*row, *_quantiles(server.many_ms, 99)])
        lines = ["# Benchmark of serving", "", *aligned_table(header, rows), ""]
        if self.overload:
            lines += [f"- {self.overload.described()}"]
        lines += [f"- left out: {name}: {reason}" for name, reason in self.left_out.items()]
        lines += [f"- {name}: {value}" for name, value in {**self.config, **self.machine}.items() if value is not None]
        return "\n".join([*lines, f"- command: `{self.command}`", f"- date: {self.date}", ""])


def benchmark_serving(config: BenchmarkServeConfig, *, command: str) -> ServeBenchmark:
    """Measure as `config` describes it; write serve.json and serve.md if it says so.

    Raises:
        ValueError: If the model or the sentences cannot be read, or a server does not start.
    """
    all_texts = _read_texts(config)
    if config.overload_minutes and len(all_texts) < DIFFERENT:
        count = f"{len(all_texts):,} different sentences"
        raise ValueError(f"{count} are too few for overload_minutes, which needs {DIFFERENT:,}: name another src")
    texts = all_texts[: config.sentences]
    singles = texts[:: max(1, len(texts) // config.latency_sentences)][: config.latency_sentences]
    translator = Translator.load(config.model, device="cpu").into(config.target)
    engine_ms, engine_rates = list[float](), list[float]()
    left_out: dict[str, str] = {}
    with TemporaryDirectory(prefix="serve-") as folder:
        servers = [(ServerResult(_OURS), _our_command(config))]
        if config.peers:
            try:
                servers.append((ServerResult(_PEER), _peer_command(config, Path(folder))))
            except ValueError as error:
                left_out[_PEER] = str(error)
        for number in range(config.rounds + 1):  # the first does not count
            with Timer() as timer:
                translator.translate(texts)
            own = [_time_of(translator, text) for text in singles]
            if number:
                engine_rates.append(len(texts) / timer.seconds)
                engine_ms += own
            for server, arguments in servers:
                _measure(server if number else ServerResult(server.name), arguments, singles, texts, config)
    overload = None
    if config.overload_minutes:
        rate = 2 * median(servers[0][0].sentences_per_s)
        with _running(servers[0][1]) as (url, process):
            connect = partial(Connection, url, config.source, config.target)
            seconds = 60 * config.overload_minutes
            overload = asyncio.run(measure_overload(connect, all_texts, rate, seconds, process=process))
    found = ServeBenchmark(
        engine_ms=engine_ms,
        engine_sentences_per_s=engine_rates,
        servers=[server for server, _ in servers],
        overload=overload,
        left_out=left_out,
        config=asdict(config) | {"sentences": len(texts)},
        machine=versions() | {"cores used": str(available_cores()), "uvicorn": version("uvicorn")},
        command=command,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    if config.output:
        write_text(Path(config.output) / "serve.json", json.dumps(asdict(found), indent=2) + "\n")
        write_text(Path(config.output) / "serve.md", found.to_markdown())
    return found


def _read_texts(config: BenchmarkServeConfig) -> list[str]:
    """Return the different sentences of the file."""
    path = Path(config.src) if config.src else everyday_dir() / "valid.en"
    with path.open("rb") as file:
        lines = [line for chunk in read_chunks(file, str(path)) for line in chunk]
    texts = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if not texts:
        raise ValueError(f"there is nothing to translate in {path}")
    return texts


def _our_command(config: BenchmarkServeConfig) -> list[str]:
    model = ["--model", config.model] if config.model else []
    return [sys.executable, "-m", "translate.serve", "--port", "0", "--cache", "0", "--no-page", *model]


def _peer_command(config: BenchmarkServeConfig, folder: Path) -> list[str]:
    """Export the model for CTranslate2, and return the command of its server."""
    from translate.export.writer import save_exported
    from translate.translator.bundle import find_model

    if find_spec("ctranslate2") is None:
        raise ValueError("ctranslate2 is not installed")
    model = find_model(config.model)
    save_exported(folder / "exported", *load_bundle(model), "int8", beside=Beside.load(model))
    return [sys.executable, "-m", "translate.benchmark.serving_peer", str(folder / "exported"), config.target]


def _time_of(translator: Translator, text: str) -> float:
    with Timer() as timer:
        translator.translate([text])
    return 1000 * timer.seconds


def _measure(
    server: ServerResult,
    arguments: Sequence[str],
    singles: Sequence[str],
    texts: Sequence[str],
    config: BenchmarkServeConfig,
) -> None:
    with _running(arguments) as (url, _):
        asyncio.run(_send(url, singles[:5], 1, config))  # warms up
        server.one_ms += asyncio.run(_send(url, singles, 1, config))
        with Timer() as timer:
            server.many_ms += asyncio.run(_send(url, texts, config.clients, config))
        server.sentences_per_s.append(len(texts) / timer.seconds)
    say(f"{server.sentences_per_s[-1]:,.0f} sentences/s, {median(server.one_ms):.1f} ms  {server.name}")


@contextmanager
def _running(arguments: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Start a server; give its address and the number of its process."""
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        if not line.startswith("serving "):
            raise ValueError(f"the server did not start: {line.strip() or 'it said nothing'}")
        yield line.split()[1], process.pid
    finally:
        process.kill()
        process.communicate()


async def _send(url: str, texts: Sequence[str], clients: int, config: BenchmarkServeConfig) -> list[float]:
    """Let clients translate texts, each the next one that is left; return the milliseconds of each."""
    left, found = iter(texts), list[float]()
    await asyncio.gather(*(_client(url, left, found, config) for _ in range(clients)))
    return found


async def _client(url: str, left: Iterator[str], found: list[float], config: BenchmarkServeConfig) -> None:
    with closing(Connection(url, config.source, config.target)) as connection:
        for text in left:
            with Timer() as timer:
                status = await connection.translate(text)
            if status != 200:
                raise ValueError(f"the server answered with status {status}")
            found.append(1000 * timer.seconds)


def _quantiles(values: Sequence[float], percent: int) -> list[str]:
    high = quantiles(values, n=100)[percent - 1] if len(values) > 1 else values[0]
    return [f"{median(values):,.1f}", f"{high:,.1f}"]
