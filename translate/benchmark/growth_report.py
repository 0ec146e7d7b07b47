"""What a measurement of growth found, as plain data: growth.json holds it, growth.md and stdout show it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from translate.benchmark import flops, growth_memory
from translate.common.tables import markdown_table


@dataclass(frozen=True)
class Preparation:
    """A corpus made ready in a cache that had nothing of it but the tokenizer; bytes are growth of resident memory.

    Attributes:
        pairs: Training pairs after cleaning.
        tokens: Their source and target tokens, EOS counted.
        clean_seconds: From files to clean text in the cache.
        encode_seconds: From there to token ids in the cache.
        peak_bytes: Largest growth while doing so.
        cache_bytes: Of all files in the cache.
    """

    pairs: int
    tokens: int
    clean_seconds: float
    encode_seconds: float
    peak_bytes: int
    cache_bytes: int


@dataclass(frozen=True)
class Start:
    """A run started again on a corpus that is in the cache; bytes are growth of resident memory.

    Attributes:
        first_batch_seconds: From settings to the first training batch.
        plan_seconds: Planning of all batches of a later epoch.
        start_bytes: Largest growth until then.
        start_mapped: Pages of files in it, which the system may take back.
        tokens_per_s: Real target tokens per second of training.
        data_share: Share of the step time in which the next batch was waited for.
        training_bytes: Largest growth while training, as `PeakMemory` counts.
        training_mapped: Growth of the resident pages of files meanwhile.
    """

    first_batch_seconds: float
    plan_seconds: float
    start_bytes: int
    start_mapped: int
    tokens_per_s: float
    data_share: float
    training_bytes: int
    training_mapped: int


@dataclass(frozen=True)
class Step:
    """Training steps on a batch of sentences of equal length.

    Attributes:
        seconds: Of a step.
        tokens: Target tokens of the batch; it has as many source tokens.
        flops: Of a step, by the formula.
        peak_bytes: As `PeakMemory` counts.
        formula_bytes: By the formula; None where it does not hold.
        parameters: Trained numbers.
    """

    seconds: float
    tokens: int
    flops: int
    peak_bytes: int
    formula_bytes: int | None
    parameters: int


@dataclass
class CorpusRow:
    """One size of corpus.

    Attributes:
        copies: Of the corpus's training pairs.
        preparation: Measured once.
        starts: One for each round.
    """

    copies: int
    preparation: Preparation
    starts: list[Start] = field(default_factory=list)

    def median(self, name: str) -> float:
        """Of a field of `Start` over the rounds."""
        return float(median(getattr(start, name) for start in self.starts))


@dataclass
class StepRow:
    """One model, or one length of sentence.

    Attributes:
        model: Its name in conf/model, or of the chosen one.
        length: Tokens of each sentence.
        steps: One for each round.
    """

    model: str
    length: int
    steps: list[Step] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Of a step, median over the rounds."""
        return median(step.seconds for step in self.steps)

    @property
    def peak_bytes(self) -> float:
        """Median over the rounds."""
        return median(step.peak_bytes for step in self.steps)


@dataclass(frozen=True)
class GrowthBenchmark:
    """How cost grows with the corpus, the model and the sentences, and how that was measured.

    Attributes:
        corpus: Rows by copies.
        models: Rows by model.
        lengths: Rows by length.
        memory_kind: What peak memory counts.
        config: All settings.
        machine: Processor, device, threads, precision, versions.
        command: The command line.
        date: When, UTC.
    """

    corpus: list[CorpusRow]
    models: list[StepRow]
    lengths: list[StepRow]
    memory_kind: str
    config: dict[str, Any]
    machine: dict[str, str]
    command: str
    date: str

    def to_json(self) -> str:
        """Everything, indented."""
        found = asdict(self) | {"flops_formula": flops.FORMULA, "memory_formula": growth_memory.FORMULA}
        return json.dumps(found, indent=2, ensure_ascii=False) + "\n"

    def to_markdown(self) -> str:
        """The three tables, what their columns mean and how to get them again."""
        measured = {name: self.config[name] for name in ("rounds", "steps", "warmup", "seed")}
        facts = {"command": f"`{self.command}`", "date": self.date, **self.machine, **measured}
        lines = [
            *("# Growth of cost", "", "## With the corpus: prepared once", "", *self._preparations(), ""),
            *("## With the corpus: started again, and trained on", "", *self._starts(), ""),
            *("## With the size of the model", "", *self._step_table(self.models, "model"), ""),
            *("## With the length of the sentences", "", *self._step_table(self.lengths, "tokens a sentence"), ""),
            *self._legend(),
            "",
            *(f"- {name}: {value}" for name, value in facts.items()),
        ]
        return "\n".join(lines) + "\n"

    def _preparations(self) -> Iterator[str]:
        header = ["copies", "pairs", "tokens", "s per M pairs", "cleaning", "encoding", "memory, MiB"]
        return markdown_table([*header, "cache, bytes per token"], [_preparation_cells(row) for row in self.corpus])

    def _starts(self) -> Iterator[str]:
        header = [
            *("copies", "first batch, s", "s per M pairs", "plan an epoch, s per M pairs"),
            *("memory, MiB", "of it mapped", "training, target tokens/s", "slowest to fastest round", "data wait"),
            *("memory of training, MiB", "of that mapped"),
        ]
        return markdown_table(header, [_start_cells(row) for row in self.corpus])

    def _step_table(self, rows: Sequence[StepRow], first: str) -> Iterator[str]:
        header = [
            *(first, "parameters, M", "ms per step", "slowest to fastest round", "ms per 1,000 tokens"),
            *("GFLOP by the formula", "time / formula", "memory, MiB", "by the formula", "memory / formula"),
        ]
        return markdown_table(header, [_step_cells(row, rows[0], first == "model") for row in rows])

    def _legend(self) -> Iterator[str]:
        tokens = self.lengths[0].steps[0].tokens
        yield (
            "- corpus: copies of its training pairs, in each the words of every sentence in another order, as two text "
            "files of their own; through the same reading, cleaning, encoding, planning and training as any corpus, "
            "each size in processes of its own"
        )
        yield (
            "- prepared: with an empty cache, by a tokenizer that is trained once, on the corpus as it is; measured "
            "once; the index that finds duplicates holds up to 64 MiB in memory, the rest on disk"
        )
        yield (
            "- first batch: from the settings to it, with that cache, imports not counted; plan an epoch: sorting and "
            "cutting all batches of a later epoch, a million pairs at a time at most; training: the chosen model; "
            "medians over the rounds"
        )
        yield (
            "- mapped: pages of the cache and of libraries that were read; they count as resident while the system "
            "needs the memory for nothing else, up to the size of the token ids"
        )
        yield (
            f"- model and sentences: {tokens:,} source and {tokens:,} target tokens a step, no padding; models with "
            f"sentences of {self.models[0].length} tokens, sentences with the chosen model; medians over the rounds, "
            "in which all rows took turns"
        )
        yield (
            "- time / formula, memory / formula: the first row is 1, so a row that grows as arithmetic says is 1 too; "
            "time falls below where larger matmuls come nearer to the machine's peak, memory where what lives for a "
            "moment weighs less"
        )
        yield f"- formula of time: {flops.FORMULA}"
        yield (
            f"- formula of memory: {growth_memory.FORMULA}. A dash where it does not hold: other attention than mha, "
            "dropout of attention weights, rotary positions, RMSNorm, 16-bit precision, several workers, a GPU"
        )
        yield (
            f"- memory: {self.memory_kind} of a process of its own, with what the allocator keeps for later and what "
            "lives for a moment, such as logits; before training always the growth of resident memory"
        )


def _preparation_cells(row: CorpusRow) -> list[str]:
    cold, millions = row.preparation, row.preparation.pairs / 1e6
    return [
        f"{row.copies:,}",
        f"{cold.pairs:,}",
        f"{cold.tokens:,}",
        f"{(cold.clean_seconds + cold.encode_seconds) / millions:,.1f}",
        f"{cold.clean_seconds / millions:,.1f}",
        f"{cold.encode_seconds / millions:,.1f}",
        _mib(cold.peak_bytes),
        f"{cold.cache_bytes / cold.tokens:.2f}",
    ]


def _start_cells(row: CorpusRow) -> list[str]:
    millions, rates = row.preparation.pairs / 1e6, [start.tokens_per_s for start in row.starts]
    return [
        f"{row.copies:,}",
        f"{row.median('first_batch_seconds'):,.2f}",
        f"{row.median('first_batch_seconds') / millions:,.2f}",
        f"{row.median('plan_seconds') / millions:,.2f}",
        _mib(row.median("start_bytes")),
        _mib(row.median("start_mapped")),
        f"{median(rates):,.0f}",
        f"{min(rates):,.0f}–{max(rates):,.0f}",
        f"{100 * row.median('data_share'):.1f} %",
        _mib(row.median("training_bytes")),
        _mib(row.median("training_mapped")),
    ]


def _step_cells(row: StepRow, base: StepRow, by_model: bool) -> list[str]:
    step, times = row.steps[0], [1000 * step.seconds for step in row.steps]
    return [
        row.model if by_model else f"{row.length:,}",
        f"{step.parameters / 1e6:.2f}",
        f"{1000 * row.seconds:,.0f}",
        f"{min(times):,.0f}–{max(times):,.0f}",
        f"{1e6 * row.seconds / step.tokens:,.1f}",
        f"{step.flops / 1e9:,.2f}",
        f"{(row.seconds / step.flops) / (base.seconds / base.steps[0].flops):.2f}",
        _mib(row.peak_bytes),
        *_memory_cells(row, base),
    ]


def _memory_cells(row: StepRow, base: StepRow) -> list[str]:
    ours, first = row.steps[0].formula_bytes, base.steps[0].formula_bytes
    if ours is None or first is None:
        return ["–", "–"]
    return [_mib(ours), f"{(row.peak_bytes / ours) / (base.peak_bytes / first):.2f}"]


def _mib(count: float) -> str:
    return f"{count / 2**20:,.0f}"
