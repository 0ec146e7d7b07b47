"""What a benchmark of training found, as plain data: benchmark.json holds it, benchmark.md and stdout show it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from translate.benchmark.flops import FORMULA
from translate.benchmark.operators import Operator
from translate.benchmark.timing import PARTS
from translate.common.tables import aligned_table


@dataclass(frozen=True)
class SystemResult:
    """One implementation.

    Attributes:
        name: "translate" or the peer's.
        version: Of its package.
        parameters: Trained numbers.
        rounds: Real target tokens per second of each round.
        peak_bytes: Largest over the rounds, warm-up included.
        differences: What a peer does not do as we do.
    """

    name: str
    version: str
    parameters: int
    rounds: list[float]
    peak_bytes: int
    differences: list[str]

    @property
    def tokens_per_s(self) -> float:
        """Median of the rounds."""
        return median(self.rounds)


@dataclass(frozen=True)
class TrainBenchmark:
    """Speeds of training on the same batches, and how they were measured.

    Attributes:
        systems: Ours first.
        left_out: Peers that could not run, and why.
        peak_rounds: FLOP/s of a large matmul in each round.
        src_tokens: Real source tokens of the measured batches of a round.
        tgt_tokens: Real target tokens of them.
        flops: Model FLOPs of them.
        padding_share: Share of their positions without a token.
        epoch_tokens: Target tokens of an epoch.
        epoch_padding_share: Share of an epoch's positions without a token.
        parts: Seconds of each part of our steps, all rounds together.
        memory_kind: What peak memory counts.
        run_bytes: Most resident bytes of the process of a whole run of ours, in which all counts.
        operators: The costliest, if they were asked for.
        config: All settings: the network, the data, `rounds`, `steps`, `warmup`.
        machine: Processor, device, threads, precision, versions.
        command: The command line.
        date: When, UTC.
    """

    systems: list[SystemResult]
    left_out: dict[str, str]
    peak_rounds: list[float]
    src_tokens: int
    tgt_tokens: int
    flops: int
    padding_share: float
    epoch_tokens: int
    epoch_padding_share: float
    parts: dict[str, float]
    memory_kind: str
    run_bytes: int
    operators: list[Operator]
    config: dict[str, Any]
    machine: dict[str, str]
    command: str
    date: str

    @property
    def peak_flops_per_s(self) -> float:
        """Median over the rounds."""
        return median(self.peak_rounds)

    def flops_per_s(self, system: SystemResult) -> float:
        """Compute model FLOPs per second."""
        return system.tokens_per_s * self.flops / self.tgt_tokens

    def mfu(self, system: SystemResult) -> float:
        """Share of the machine's measured matmul peak, 0 to 1."""
        return self.flops_per_s(system) / self.peak_flops_per_s

    def seconds_per_epoch(self, system: SystemResult) -> float:
        """Compute the time of training alone: no validation, no checkpoints."""
        return self.epoch_tokens / system.tokens_per_s

    @property
    def shares(self) -> dict[str, float]:
        """Share of each part in our step time."""
        total = sum(self.parts.values())
        return {name: seconds / total for name, seconds in self.parts.items()}

    def to_json(self) -> str:
        """Return everything as indented JSON, with what follows from it."""
        found = asdict(self)
        for row, system in zip(found["systems"], self.systems, strict=True):
            row["tokens_per_s"], row["seconds_per_epoch"] = system.tokens_per_s, self.seconds_per_epoch(system)
            row["model_flops_per_s"], row["mfu"] = self.flops_per_s(system), self.mfu(system)
        found |= {"peak_flops_per_s": self.peak_flops_per_s, "part_shares": self.shares, "flops_formula": FORMULA}
        found["data_wait_share"] = self.shares["data"]
        return json.dumps(found, indent=2, ensure_ascii=False) + "\n"

    def to_markdown(self) -> str:
        """Return the figures, the parts, the operators, what they mean and how to repeat them."""
        lines = ["# Benchmark of training", "", *self._figures(), "", *self._parts()]
        if self.operators:
            lines += ["", *self._operators()]
        measured = {name: self.config[name] for name in ("rounds", "steps", "warmup", "seed")}
        facts = {"command": f"`{self.command}`", "date": self.date, **self.machine, **measured}
        lines += ["", *self._legend(), "", *(f"- {name}: {value}" for name, value in facts.items())]
        return "\n".join(lines) + "\n"

    def _figures(self) -> Iterator[str]:
        ours = self.systems[0].tokens_per_s
        rows = [
            ["target tokens/s", *(f"{system.tokens_per_s:,.0f}" for system in self.systems)],
            ["  slowest to fastest round", *(f"{min(s.rounds):,.0f}–{max(s.rounds):,.0f}" for s in self.systems)],
        ]
        if self.systems[1:]:
            rows.append(["  relative to ours", *(f"{system.tokens_per_s / ours:.2f}" for system in self.systems)])
        rows += [
            ["seconds per epoch", *(f"{self.seconds_per_epoch(system):,.1f}" for system in self.systems)],
            ["model GFLOP/s", *(f"{self.flops_per_s(system) / 1e9:,.1f}" for system in self.systems)],
            ["share of matmul peak (MFU)", *(f"{100 * self.mfu(system):.1f} %" for system in self.systems)],
            ["padding share", *(f"{100 * self.padding_share:.1f} %" for _ in self.systems)],
            ["data-wait share", f"{100 * self.shares['data']:.1f} %", *("" for _ in self.systems[1:])],
            ["peak memory, MiB", *(f"{system.peak_bytes / 2**20:,.0f}" for system in self.systems)],
            ["resident memory of a run, MiB", f"{self.run_bytes / 2**20:,.0f}", *("" for _ in self.systems[1:])],
            ["parameters, M", *(f"{system.parameters / 1e6:.3f}" for system in self.systems)],
        ]
        return aligned_table(["", *(system.name for system in self.systems)], rows)

    def _parts(self) -> Iterator[str]:
        steps = self.config["rounds"] * self.config["steps"]
        rows = [
            [name, f"{1000 * seconds / steps:,.2f}", f"{100 * self.shares[name]:.1f} %", PARTS[name]]
            for name, seconds in self.parts.items()
        ]
        return aligned_table(["part of our step", "ms per step", "share", "what it is"], rows)

    def _operators(self) -> Iterator[str]:
        rows = [
            [f"`{op.name}`", f"{op.calls_per_step:,.1f}", f"{op.ms_per_step:,.2f}", f"{100 * op.share:.1f} %"]
            for op in self.operators
        ]
        return aligned_table(["operator", "calls per step", "own ms per step", "share of all"], rows)

    def _legend(self) -> Iterator[str]:
        yield (
            "- target tokens/s: real tokens, EOS counted, padding not; median over the rounds "
            f"({self.config['rounds']}), in which all took turns in one process, after one that does not count; "
            f"optimizer steps in a round: {self.config['steps']}, always on the same {self.tgt_tokens:,} target and "
            f"{self.src_tokens:,} source tokens"
        )
        yield f"- an epoch: {self.epoch_tokens:,} target tokens, without validation and checkpoints"
        yield (
            f"- model FLOPs: {self.flops / 1e9:,.2f} GFLOP for these tokens, "
            f"{self.flops / self.tgt_tokens / 1e6:,.2f} MFLOP per target token. {FORMULA}"
        )
        yield (
            f"- matmul peak: {self.peak_flops_per_s / 1e9:,.1f} GFLOP/s, {self.machine['matmul']}, the median of what "
            "was fastest in each round"
        )
        yield (
            f"- padding: {100 * self.padding_share:.1f} % of the positions of these batches, "
            f"{100 * self.epoch_padding_share:.1f} % of an epoch's"
        )
        yield "- data wait: share of the step time in which the next batch of the run's own loader was waited for"
        yield f"- peak memory: {self.memory_kind}: weights, gradients, optimizer state, activations"
        yield (
            "- resident memory of a run: the most of a process that prepares the data, trains for "
            f"{self.config['warmup'] + self.config['steps']:,} steps, validates and saves; Python and torch count"
        )
        for system in self.systems[1:]:
            differences = "".join(f"; {difference}" for difference in system.differences)
            yield (
                f"- {system.name}: {system.version}, a plain PyTorch loop on the same batches: same dimensions, "
                f"dropout, label smoothing, AdamW, clipping, precision; cross-entropy over all logits{differences}"
            )
        yield from (f"- {name} left out: {reason}" for name, reason in self.left_out.items())
