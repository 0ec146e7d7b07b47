"""What a comparison found, as plain data: compare.json holds it, the table and the picture show it."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from translate.common.tables import markdown_table


@dataclass(frozen=True)
class RunResult:
    """One run.

    Attributes:
        run: Its directory.
        seed: Its seed.
        weights: Which weights its model directory holds.
        valid_loss: Of these weights, nats per target token.
        bleu: Of the validation split, cased, 0 to 100.
        bleu_low: Lower end of its 95 % bootstrap interval.
        bleu_high: Upper end of it.
        curve: (epoch, nats per token) of each validation while it trained.
    """

    run: str
    seed: int
    weights: str
    valid_loss: float
    bleu: float
    bleu_low: float
    bleu_high: float
    curve: list[tuple[float, float]]


@dataclass(frozen=True)
class RowResult:
    """Runs with the same settings.

    Attributes:
        label: What tells them from the other rows.
        differences: The same by dotted name.
        parameters: Trained numbers of the model.
        bytes_per_token: Memory of one more target token of a hypothesis while decoding, float32.
        bytes_per_src_token: Memory of one source token of a sentence while decoding, float32.
        precision: That of training, and of its speed.
        training_tokens_per_s: Median over the rounds; None if speeds were not measured.
        training_rounds: Each round.
        decoding_tokens_per_s: Median over the rounds; None if speeds were not measured.
        decoding_rounds: Each round.
        valid_loss: Mean over the runs.
        valid_loss_std: Standard deviation of a single run (n - 1); None for one run.
        bleu: Mean over the runs.
        bleu_std: Standard deviation of a single run (n - 1); None for one run.
        bleu_low: Lower end of the 95 % interval of this mean; sentences are drawn once for all runs of the row.
        bleu_high: Upper end of it.
        p_value: Of the difference between this mean and that of the first row, by paired bootstrap and sacreBLEU's
            formula; None for the first row.
        difference_low: Lower end of the 95 % paired-bootstrap interval of that difference; None for the first row.
        difference_high: Upper end of it.
        runs: One for each seed.
    """

    label: str
    differences: dict[str, str]
    parameters: int
    bytes_per_token: int
    bytes_per_src_token: int
    precision: str
    training_tokens_per_s: float | None
    training_rounds: list[float]
    decoding_tokens_per_s: float | None
    decoding_rounds: list[float]
    valid_loss: float
    valid_loss_std: float | None
    bleu: float
    bleu_std: float | None
    bleu_low: float
    bleu_high: float
    p_value: float | None
    difference_low: float | None
    difference_high: float | None
    runs: list[RunResult]


@dataclass(frozen=True)
class Comparison:
    """Rows of runs, and how they were measured.

    Attributes:
        rows: In the order in which the runs were named.
        sentences: Validation sentences, which BLEU is of.
        signature: sacreBLEU's, of BLEU and its interval.
        same_tokenizer: Whether the losses of all rows are per token of one vocabulary.
        settings: How it was measured.
        machine: Processor, device, threads, versions.
        command: The command line.
        date: When, UTC.
    """

    rows: list[RowResult]
    sentences: int
    signature: str
    same_tokenizer: bool
    settings: dict[str, int]
    machine: dict[str, str]
    command: str
    date: str

    def to_json(self) -> str:
        """Return everything as indented JSON."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n"

    def table(self) -> str:
        """Return a Markdown table with a row for each group of runs."""
        speeds = bool(self.settings["rounds"])
        header = ["settings", "seeds", "parameters, M", "cache bytes per target token", "per source token"]
        header += ["training, target tokens/s", "decoding, target tokens/s"] if speeds else []
        header += ["validation loss, nats per token", "validation BLEU [95 %]", "against the first row"]
        rows = [[*_cells(row, speeds), _against(row, self.rows[0])] for row in self.rows]
        return "\n".join(markdown_table(header, rows)) + "\n"

    def to_markdown(self) -> str:
        """Return the table, what its columns mean, each run, and how to repeat it."""
        count = sum(len(row.runs) for row in self.rows)
        lines = [f"# Comparison of {count} {'run' if count == 1 else 'runs'}", "", self.table(), *self._legend()]
        header = ["run", "settings", "seed", "validation loss", "BLEU [95 %]", "weights"]
        runs = [
            [run.run, row.label, str(run.seed), f"{run.valid_loss:.4f}", _interval(run), run.weights]
            for row in self.rows
            for run in row.runs
        ]
        lines += ["", "## Runs", "", *markdown_table(header, runs), "", "## How", "", "```", self.command, "```", ""]
        facts: dict[str, Any] = {"date": self.date, **self.machine, **self.settings, "BLEU": self.signature}
        return "\n".join([*lines, *(f"- {name}: {value}" for name, value in facts.items())]) + "\n"

    def _legend(self) -> Iterator[str]:
        if len(self.rows) > 1 and not self.rows[0].differences:
            yield "- settings: what tells a row from the first"
        yield "- cache: float32, all decoder layers; per target token and hypothesis, per source token and sentence"
        if self.settings["rounds"]:
            yield (
                f"- speeds: medians of {self.settings['rounds']} rounds in which all rows took turns in one process; "
                f"training in the run's precision ({', '.join(sorted({row.precision for row in self.rows}))}), "
                f"{self.settings['steps']} optimizer steps a round; decoding in float32 with the run's search, "
                f"{min(self.settings['sentences'], self.sentences)} validation sentences a round, EOS counted"
            )
        yield "- validation loss: of the weights in model/, float32, without label smoothing; mean ± standard deviation"
        if not self.same_tokenizer:
            yield "- the rows have different tokenizers: compare their BLEU, not their losses, which are per own token"
        yield (
            f"- BLEU: {self.sentences:,} validation sentences, cased, mean over seeds ± standard deviation; its "
            "interval and p (two-sided, paired bootstrap) resample sentences, the same for all runs: they know the "
            "luck of the sentences, not that of the seeds"
        )


def _cells(row: RowResult, speeds: bool) -> list[str]:
    std = "" if row.valid_loss_std is None else f" ± {row.valid_loss_std:.4f}"
    bleu_std = "" if row.bleu_std is None else f" ± {row.bleu_std:.2f}"
    rates = [f"{row.training_tokens_per_s:,.0f}", f"{row.decoding_tokens_per_s:,.0f}"] if speeds else []
    return [
        f"`{row.label}`",
        ", ".join(str(run.seed) for run in row.runs),
        f"{row.parameters / 1e6:.2f}",
        f"{row.bytes_per_token:,}",
        f"{row.bytes_per_src_token:,}",
        *rates,
        f"{row.valid_loss:.4f}{std}",
        _interval(row, bleu_std),
    ]


def _against(row: RowResult, first: RowResult) -> str:
    if row.p_value is None:
        return ""
    between = f"[{row.difference_low:+.2f}, {row.difference_high:+.2f}]"
    return f"{row.bleu - first.bleu:+.2f} {between}, p = {row.p_value:.3f}"


def _interval(result: RowResult | RunResult, std: str = "") -> str:
    return f"{result.bleu:.2f}{std} [{result.bleu_low:.2f}, {result.bleu_high:.2f}]"
