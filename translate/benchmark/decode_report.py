"""What a benchmark of decoding found, as plain data: decode.json holds it, decode.md and stdout show it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from math import ceil
from statistics import median
from typing import Any

from translate.benchmark.decode_engines import CTRANSLATE2, HUGGING_FACE, OTHER, OURS, TRIES, batch_sizes
from translate.common.tables import aligned_table

DIFFERENCES = {
    OURS: (
        "ours: stops a sentence when no unfinished hypothesis can still win; outputs also have the limit of "
        "decode.max_output_ratio and a guard against endless repetition; equal sentences are translated once; cleans "
        "each text as in training; its tokens of a batch are source positions times beams"
    ),
    CTRANSLATE2: (
        "CTranslate2: stops a sentence when beam_size hypotheses are finished (patience=1); may generate PAD, BOS and "
        "UNK; gets clean texts; its tokens of a batch are source tokens"
    ),
    HUGGING_FACE: (
        "Hugging Face: stops a sentence by its heuristic (early_stopping=False), and batches stay whole until all of "
        "their sentences are done; gets clean texts; its tokens of a batch are source positions"
    ),
}


@dataclass
class WidthResult:
    """An engine at one beam size.

    Attributes:
        beam_size: 1 is greedy.
        batch_size: Its limit of tokens in a batch.
        bleu: Cased sacreBLEU of all translations.
        seconds: Of all sentences, from strings to strings, each round.
        tokens: Target tokens of them, EOS counted.
        p50_ms: Median latency of a single sentence, each round.
        p95_ms: 95th percentile of it, each round.
    """

    beam_size: int
    batch_size: int
    bleu: float
    seconds: list[float] = field(default_factory=list)
    tokens: int = 0
    p50_ms: list[float] = field(default_factory=list)
    p95_ms: list[float] = field(default_factory=list)

    @property
    def search(self) -> str:
        """In words."""
        return search_name(self.beam_size)

    def add_batch(self, seconds: float, tokens: int) -> None:
        """Add a round of all sentences."""
        self.seconds.append(seconds)
        self.tokens = tokens

    def add_singles(self, seconds: Sequence[float]) -> None:
        """Add a round of single sentences."""
        self.p50_ms.append(1000 * median(seconds))
        self.p95_ms.append(1000 * percentile(seconds, 0.95))


@dataclass
class EngineResult:
    """A row.

    Attributes:
        name: Of the row.
        kind: `OURS`, `OTHER`, `CTRANSLATE2` or `HUGGING_FACE`.
        description: Description of the engine.
        framework_bytes: Most resident bytes of its process when all that it is built on was imported.
        widths: The beam, then greedy search.
        peak_bytes: Most resident bytes of its process at the end.
    """

    name: str
    kind: str
    description: str
    framework_bytes: int
    widths: list[WidthResult]
    peak_bytes: int = 0


@dataclass(frozen=True)
class StreamResult:
    """`translate.infer` over a file.

    Attributes:
        size: How many times the sentences it has; 0 is an empty file, which shows what starting takes.
        lines: Of the file.
        seconds: Of the whole command, without its interpreter's start.
        peak_bytes: Most resident bytes of its process.
    """

    size: int
    lines: int
    seconds: float
    peak_bytes: int


@dataclass
class CommandResult:
    """A command, as it was run.

    Attributes:
        name: What it translates: one sentence, or so many lines.
        engine: `OURS` or `CTRANSLATE2`.
        seconds: From its start to its exit, each round.
        peak_bytes: Most resident bytes, each round.
    """

    name: str
    engine: str
    seconds: list[float] = field(default_factory=list)
    peak_bytes: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class DecodeBenchmark:
    """Speeds of engines with the same weights, and of another model, on the same sentences, and how they were measured.

    Attributes:
        engines: Rows, ours first.
        left_out: Rows that are not possible here, and why.
        stream: How cost grows, the empty file first; nothing if it was not asked for.
        stream_precision: Precision of ours there.
        commands: The command from its start to its exit; nothing if it was not asked for.
        sentences: How many were translated.
        distinct: How many of them are different.
        singles: How many of them also one at a time.
        signature: sacreBLEU's.
        config: All settings.
        machine: Processor, cores, versions.
        command: The command line.
        date: When, UTC.
    """

    engines: list[EngineResult]
    left_out: dict[str, str]
    stream: list[StreamResult]
    stream_precision: str | None
    commands: list[CommandResult]
    sentences: int
    distinct: int
    singles: int
    signature: str
    config: dict[str, Any]
    machine: dict[str, str]
    command: str
    date: str

    def to_json(self) -> str:
        """Return everything as indented JSON."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n"

    def to_markdown(self) -> str:
        """Return how it was measured, the table, what its columns mean, how cost grows, and the comparison."""
        facts = {
            "command": f"`{self.command}`",
            "date": self.date,
            **self.machine,
            "sentences": f"{self.sentences:,}, {self.distinct:,} of them different",
            "rounds": self.config["rounds"],
            "search": ", ".join(
                f"{name}={self.config['decode'][name]}" for name in ("length_penalty", "max_output_len")
            ),
        }
        lines = ["# Benchmark of decoding", "", *(f"- {name}: {value}" for name, value in facts.items()), ""]
        lines += [*self._table(), "", *self._legend(), *self._engines(), ""]
        if self.stream:
            lines += ["## Growth with the sentences", "", *self._growth(), "", *self._growth_legend(), ""]
        if self.commands:
            lines += ["## From start to exit", "", *self._commands(), ""]
            lines += ["- medians, fastest and slowest of the rounds; one before them warmed the disk's cache", ""]
        return "\n".join([*lines, *self._ratios()]) + "\n"

    def sentences_per_s(self, width: WidthResult) -> list[float]:
        """Compute sentences/s of each round."""
        return [self.sentences / seconds for seconds in width.seconds]

    def _table(self) -> Iterator[str]:
        names = [width.search for width in self.engines[0].widths]
        header = ["engine"]
        for name in names:
            header += [f"{name}: sentences/s", "target tokens/s"]
        for name in names:
            header += [f"one sentence, {name}: median, ms", "95 % below, ms"]
        header += ["memory in total, MiB", "of which the framework, MiB", *(f"BLEU, {name}" for name in names)]
        return aligned_table(header, [self._cells(engine) for engine in self.engines])

    def _cells(self, engine: EngineResult) -> list[str]:
        cells = [engine.name]
        for width in engine.widths:
            rates = self.sentences_per_s(width)
            cells += [_spread(rates), f"{width.tokens * median(rates) / self.sentences:,.0f}"]
        for width in engine.widths:
            cells += [_spread(width.p50_ms), _spread(width.p95_ms)]
        cells += [f"{size / 2**20:,.0f}" for size in (engine.peak_bytes, engine.framework_bytes)]
        return [*cells, *(f"{width.bleu:.2f}" for width in engine.widths)]

    def _legend(self) -> Iterator[str]:
        yield (
            f"- medians over the rounds ({self.config['rounds']}), and in brackets their slowest and fastest; in each "
            "round every row had its turn, in an order that moves on by one; each engine has a separate process, "
            "and only the one whose turn it is works"
        )
        yield (
            "- warm-up, not counted: everything once and a few single sentences, after the batch size was chosen in "
            f"another process: the fastest of those listed below, each tried {TRIES} times"
        )
        yield (
            "- sentences/s and target tokens/s (EOS counted): all sentences in one call, from text to text: "
            "tokenizing, batching, search, detokenizing; loading is not in it"
        )
        yield f"- one sentence: {self.singles:,} of the sentences, evenly spaced, each in a separate call"
        yield (
            "- memory in total: most resident memory of the engine's process in all of that; of which the framework: "
            "what it held once its libraries were imported (torch; ctranslate2; torch and transformers; sentencepiece "
            "for all)"
        )
        yield f"- BLEU: sacreBLEU of the translations, cased; {self.signature}"
        kinds = {engine.kind for engine in self.engines}
        yield from (f"- {text}" for kind, text in DIFFERENCES.items() if kind in kinds)
        yield from (f"- {name} left out: {reason}" for name, reason in self.left_out.items())

    def _engines(self) -> Iterator[str]:
        for engine in self.engines:
            sizes = ", ".join(f"{width.batch_size:,} ({width.search})" for width in engine.widths)
            tried = ", ".join(f"{size:,}" for size in batch_sizes(engine.kind, self.config["device"]))
            yield f"- {engine.name}: {engine.description}; tokens of a batch {sizes}, of {tried}"

    def _growth(self) -> Iterator[str]:
        start = self.stream[0].seconds
        header = ["times the sentences", "lines", "seconds", "lines/s after the start", "most resident memory, MiB"]
        rows = [
            [
                f"{row.size:,}" if row.size else "an empty file",
                f"{row.lines:,}",
                f"{row.seconds:,.1f}",
                f"{row.lines / (row.seconds - start):,.1f}" if row.seconds > start else "–",
                f"{row.peak_bytes / 2**20:,.0f}",
            ]
            for row in self.stream
        ]
        return aligned_table(header, rows)

    def _growth_legend(self) -> Iterator[str]:
        yield (
            f"- `translate.infer` from file to file, precision {self.stream_precision}, beam "
            f"{self.config['decode']['beam_size']}, each size once in a separate process, with what it imports"
        )
        yield (
            "- lines: two of the sentences joined, drawn at random by a fixed seed, no two lines equal: equal ones "
            "read together are translated once, so that copies of a file would be too fast; all sizes are drawn alike, "
            "so that their lines are equally long"
        )
        yield "- the start, of which an empty file consists, is imports and the model; lines/s are of the rest"

    def _commands(self) -> Iterator[str]:
        header = ["translate.infer", "engine", "seconds", "most resident memory, MiB", "to CTranslate2"]
        rows = []
        for one in self.commands:
            low, high = min(one.seconds), max(one.seconds)
            cells = [f"{median(one.seconds):,.2f} ({low:,.2f}–{high:,.2f})", f"{median(one.peak_bytes) / 2**20:,.0f}"]
            rows.append([one.name, one.engine, *cells, self._command_ratios(one)])
        return aligned_table(header, rows)

    def _command_ratios(self, ours: CommandResult) -> str:
        for other in self.commands:
            if (other.name, other.engine, ours.engine) == (ours.name, CTRANSLATE2, OURS):
                seconds = median(ours.seconds) / median(other.seconds)
                return (
                    f"{seconds:.2f} × its time, {median(ours.peak_bytes) / median(other.peak_bytes):.2f} × its memory"
                )
        return ""

    def _ratios(self) -> Iterator[str]:
        """Compare ours with each kind of the others, each by the best of its rows."""
        for kind in (OTHER, CTRANSLATE2, HUGGING_FACE):
            if any(engine.kind == kind for engine in self.engines):
                parts = [
                    part
                    for place, width in enumerate(self.engines[0].widths)
                    for part in self._width_ratios(kind, place, width.search)
                ]
                memory = self._ratio(kind, lambda engine: -engine.peak_bytes)
                parts.append(f"{memory[0]:.2f} × its memory in total ({memory[1]})")
                yield f"- ours to {kind}, each by its best row: {'; '.join(parts)}"

    def _width_ratios(self, kind: str, place: int, search: str) -> Iterator[str]:
        speed, rows = self._ratio(kind, lambda engine: median(self.sentences_per_s(engine.widths[place])))
        yield f"{speed:.2f} × its sentences/s, {search} ({rows})"
        latency, rows = self._ratio(kind, lambda engine: -median(engine.widths[place].p50_ms))
        yield f"{latency:.2f} × its median latency, {search} ({rows})"

    def _ratio(self, kind: str, value: Callable[[EngineResult], float]) -> tuple[float, str]:
        """Divide the largest value among ours by the largest among the others; return also which rows these are."""
        ours, theirs = (
            max((engine for engine in self.engines if engine.kind == each), key=value) for each in (OURS, kind)
        )
        return value(ours) / value(theirs), f"{ours.name} / {theirs.name}"


def search_name(beam_size: int) -> str:
    """Name the search of a beam size, 1 being greedy."""
    return "greedy" if beam_size == 1 else f"beam {beam_size}"


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of the values do not exceed.

    >>> percentile([4.0, 1.0, 3.0, 2.0], 0.75), percentile([7.0], 0.95)
    (3.0, 7.0)
    """
    return sorted(values)[ceil(share * len(values)) - 1]


def _spread(values: Sequence[float]) -> str:
    """Write median, least and most, with at least three digits."""
    digits = 0 if median(values) >= 100 else 1
    low, high = min(values), max(values)
    return f"{median(values):,.{digits}f} ({low:,.{digits}f}–{high:,.{digits}f})"
