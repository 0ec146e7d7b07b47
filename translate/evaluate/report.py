"""What an evaluation found, as plain data: report.json holds it, report_html and report_markdown show it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from translate.evaluate.scores import Score, Statistics, interval, score_statistics

EXAMPLES = 20  # best and as many worst sentences shown
BUCKETS = (5, 10, 15, 20, 25, 30, 40, 60)  # longest sentence of each length bucket, in words


@dataclass(frozen=True)
class Speed:
    """How fast one test set was decoded: wall time of everything from strings to strings, model loading left out."""

    seconds: float
    sentences_per_s: float
    target_tokens_per_s: float
    device: str
    threads: int
    precision: str
    search: str


@dataclass(frozen=True)
class AttentionMap:
    """Cross-attention of one sentence, mean over heads; `weights` is [layers][target pieces][source pieces]."""

    src_pieces: list[str]
    tgt_pieces: list[str]
    weights: list[list[list[float]]]


@dataclass(frozen=True)
class Output:
    """One translated test set before it is scored; `src` is None where only output and references were given."""

    name: str
    src: list[str] | None
    ref: list[str]
    hyp: list[str]
    baseline: list[str] | None = None
    speed: Speed | None = None
    attention: list[AttentionMap] = field(default_factory=list)
    no_attention: str | None = None

    def __post_init__(self) -> None:
        for what, lines in (("source lines", self.src), ("hypotheses", self.hyp), ("baseline lines", self.baseline)):
            if lines is not None and len(lines) != len(self.ref):
                raise ValueError(f"{self.name}: {len(lines)} {what} do not fit {len(self.ref)} references")
        if not self.ref:
            raise ValueError(f"{self.name}: there is nothing to score: 0 sentences")


@dataclass(frozen=True)
class Bucket:
    """BLEU of the sentences of `shortest` to `longest` words, scored as a separate test set."""

    shortest: int
    longest: int
    sentences: int
    bleu: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Example:
    """One sentence with its own scores, 0 to 100; `line` counts from 1."""

    line: int
    src: str | None
    ref: str
    hyp: str
    bleu: float
    chrf: float


@dataclass(frozen=True)
class TestSet:
    """Everything about one test set.

    Attributes:
        scores: By protocol: BLEU, chrF2, TER.
        bucket_side: "source" or "reference", the side whose words `buckets` counts.
        length_ratio: Words of all hypotheses / words of all references, as BLEU counts them.
        length_ratios: The same of each sentence.
        sentence_bleu, sentence_chrf: Each sentence by itself, 0 to 100.
        best, worst: Up to `EXAMPLES` sentences each, by sentence chrF2, the best and the worst first.
        detail_protocol: The protocol behind everything here but `scores`.
        no_attention: Why the model gave no `attention`, if it was asked.
    """

    __test__ = False  # not a test class, whatever pytest thinks of its name

    name: str
    sentences: int
    scores: dict[str, list[Score]]
    detail_protocol: str
    bucket_side: str
    buckets: list[Bucket]
    length_ratio: float
    length_ratios: list[float]
    sentence_bleu: list[float]
    sentence_chrf: list[float]
    best: list[Example]
    worst: list[Example]
    speed: Speed | None
    attention: list[AttentionMap]
    no_attention: str | None = None


@dataclass(frozen=True)
class Report:
    """One evaluation.

    Attributes:
        system: What was scored: the path of a model or of a file of hypotheses.
        baseline: What it was compared with, or None.
        src_lang, tgt_lang: Language codes; `src_lang` is None where no source was given.
        date: UTC, ISO 8601.
        curves: By column of the run's metrics.csv: [step, value] pairs; empty without a run.
        settings: The resolved settings: of this evaluation and, where known, of the training run.
        versions: Of the software and the name of the CPU.
    """

    system: str
    baseline: str | None
    src_lang: str | None
    tgt_lang: str
    date: str
    test_sets: list[TestSet]
    curves: dict[str, list[tuple[float, float]]]
    settings: dict[str, Any]
    versions: dict[str, str]

    def to_json(self) -> str:
        """Return the report as JSON text, floats in full precision."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Report":
        """Read the report that `to_json` wrote."""
        data = json.loads(text)
        data["test_sets"] = [_test_set_from(entry) for entry in data["test_sets"]]
        data["curves"] = {name: [(s, v) for s, v in points] for name, points in data["curves"].items()}
        return cls(**data)

    @classmethod
    def load(cls, path: str | Path) -> "Report":
        """Read a report.json."""
        return cls.from_json(Path(path).read_text(encoding="utf-8"))


def _test_set_from(data: dict[str, Any]) -> TestSet:
    data["scores"] = {protocol: [Score(**s) for s in scores] for protocol, scores in data["scores"].items()}
    data["buckets"] = [Bucket(**bucket) for bucket in data["buckets"]]
    data["best"], data["worst"] = ([Example(**e) for e in data[side]] for side in ("best", "worst"))
    data["speed"] = Speed(**data["speed"]) if data["speed"] else None
    data["attention"] = [AttentionMap(**entry) for entry in data["attention"]]
    return TestSet(**data)


def build_test_set(
    output: Output, *, tgt_lang: str, protocols: Sequence[str], bootstrap: int = 1000, seed: int = 12345
) -> TestSet:
    """Score one output in every way that the report shows.

    Args:
        output: Raw text of all sides.
        tgt_lang: Language code of references and output.
        protocols: Which of "cased" and "literature"; lengths and sentences are judged by the first.
        bootstrap: Resamples for intervals and p-values, 0 for none.
        seed: Of the resampling.

    Raises:
        ValueError: If `bootstrap` or a protocol is unusable.
    """
    scores, tables = {}, []
    for protocol in protocols:
        tables.append(Statistics(output.hyp, output.ref, protocol=protocol, tgt_lang=tgt_lang))
        base = None
        if output.baseline is not None:
            base = Statistics(output.baseline, output.ref, protocol=protocol, tgt_lang=tgt_lang)
        scores[protocol] = score_statistics(tables[-1], base, bootstrap=bootstrap, seed=seed)
    table = tables[0]
    bleu, chrf = table.sentence_values("BLEU"), table.sentence_values("chrF2")
    hyp_words, ref_words = table.lengths().T
    best, worst = _examples(output, bleu, chrf)
    return TestSet(
        name=output.name,
        sentences=len(output.ref),
        scores=scores,
        detail_protocol=protocols[0],
        bucket_side="source" if output.src is not None else "reference",
        buckets=_buckets(table, output.src if output.src is not None else output.ref, bootstrap, seed),
        length_ratio=float(hyp_words.sum() / max(ref_words.sum(), 1)),
        length_ratios=[float(ratio) for ratio in np.round(hyp_words / np.maximum(ref_words, 1), 4)],
        sentence_bleu=[round(value, 2) for value in bleu],
        sentence_chrf=[round(value, 2) for value in chrf],
        best=best,
        worst=worst,
        speed=output.speed,
        attention=output.attention,
        no_attention=output.no_attention,
    )


def _buckets(table: Statistics, lines: Sequence[str], bootstrap: int, seed: int) -> list[Bucket]:
    """Score BLEU by length of `lines` in words (split at spaces); empty buckets are left out."""
    members: dict[tuple[int, int], list[int]] = {}
    for row, line in enumerate(lines):
        words = len(line.split())
        longest = next((bound for bound in BUCKETS if words <= bound), 10**6)
        shortest = max((bound + 1 for bound in BUCKETS if bound < words), default=0)
        members.setdefault((shortest, longest), []).append(row)
    buckets = []
    for (shortest, longest), rows in sorted(members.items()):
        low, high = interval(table.resampled("BLEU", bootstrap, seed, rows)) if bootstrap else (None, None)
        buckets.append(Bucket(shortest, longest, len(rows), table.value("BLEU", rows), low, high))
    return buckets


def _examples(output: Output, bleu: Sequence[float], chrf: Sequence[float]) -> tuple[list[Example], list[Example]]:
    """Choose the best and the worst sentences by chrF2; of equal ones the longer is the better and the worse."""

    def example(row: int) -> Example:
        src = None if output.src is None else output.src[row]
        return Example(row + 1, src, output.ref[row], output.hyp[row], round(bleu[row], 1), round(chrf[row], 1))

    rows = range(len(output.ref))
    shown = min(EXAMPLES, (len(output.ref) + 1) // 2)
    best = sorted(rows, key=lambda row: (-chrf[row], -len(output.ref[row])))[:shown]
    worst = sorted(set(rows) - set(best), key=lambda row: (chrf[row], -len(output.ref[row])))[:shown]
    return [example(row) for row in best], [example(row) for row in worst]


def flatten(settings: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Return nested settings as (dotted name, value) pairs, named as on the command line.

    >>> flatten({"seed": 1, "model": {"d_model": 256, "bias": True}})
    [('seed', '1'), ('model.d_model', '256'), ('model.bias', 'true')]
    """
    pairs = []
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            pairs += flatten(value, f"{prefix}{name}.")
        else:
            pairs.append((prefix + name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)))
    return pairs
