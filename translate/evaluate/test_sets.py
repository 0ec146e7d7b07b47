"""From a translator and test sets to a report on disk; the end of training and the command line both come here."""

import logging
import math
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from translate.common.cores import available_cores
from translate.common.files import read_rows, write_text
from translate.common.timer import Timer
from translate.config.decode import DecodeConfig
from translate.config.plain_yaml import read_plain_yaml
from translate.data.corpus import Pair
from translate.evaluate.report import AttentionMap, Output, Report, Speed, build_test_set
from translate.evaluate.report_html import to_html
from translate.evaluate.report_markdown import to_markdown

if TYPE_CHECKING:
    from translate.translator.translator import Translator

logger = logging.getLogger(__name__)

ATTENTION_WORDS = (8, 11, 14)  # source lengths of the sentences whose attention is drawn
_PACKAGES = ("torch", "lightning", "sentencepiece", "sacrebleu", "sacremoses")
CURVES = ("train_loss", "valid_loss", "valid_bleu")


@dataclass(frozen=True)
class Baseline:
    """Another system's output for the same test sets, by test-set name."""

    label: str
    hypotheses: Mapping[str, Sequence[str]]


def evaluate_test_sets(
    translator: "Translator",
    test_sets: Mapping[str, Sequence[Pair]],
    *,
    decode: DecodeConfig,
    protocols: Sequence[str] = ("cased", "literature"),
    bootstrap: int = 1000,
    seed: int = 12345,
    run_dir: Path | None = None,
    output: Path,
    system: str | None = None,
    baseline: Baseline | None = None,
) -> Report:
    """Translate and score test sets, and write the report.

    Args:
        translator: The model.
        test_sets: Raw pairs by name; the name becomes part of a file name.
        decode: The search.
        protocols: "cased", "literature" or both; the first one also judges lengths and single sentences.
        bootstrap: Resamples for intervals and p-values; 0 for none.
        seed: Of the resampling.
        run_dir: The training run: its config.yaml and metrics.csv go into the report.
        output: Folder for report.json, report.md, report.html and hyp.<name>.txt, one hypothesis a line.
        system: What the report calls the model; the run directory unless given.
        baseline: Output to compare with.

    Raises:
        ValueError: If there is no test set, one is empty, or the baseline does not fit.
    """
    if not test_sets:
        raise ValueError("there is no test set to score; give data.test files, or src=FILE ref=FILE")
    outputs = []
    for name, pairs in test_sets.items():
        hyp, speed = translate_timed(translator, [pair.src for pair in pairs], decode)
        attention, no_attention = attention_maps(translator, [pair.src for pair in pairs], hyp)
        outputs.append(
            Output(
                name=name,
                src=[pair.src for pair in pairs],
                ref=[pair.tgt for pair in pairs],
                hyp=hyp,
                baseline=None if baseline is None else list(baseline.hypotheses[name]),
                speed=speed,
                attention=attention,
                no_attention=no_attention,
            )
        )
    return report_outputs(
        outputs,
        src_lang=translator.config.src_lang,
        tgt_lang=translator.config.tgt_lang,
        system=system or str(run_dir or "model"),
        baseline=baseline.label if baseline else None,
        protocols=protocols,
        bootstrap=bootstrap,
        seed=seed,
        run_dir=run_dir,
        settings={"decode": asdict(decode), "translator": translator.describe()},
        output=output,
    )


def report_outputs(
    outputs: Sequence[Output],
    *,
    src_lang: str | None,
    tgt_lang: str,
    system: str,
    baseline: str | None,
    protocols: Sequence[str],
    bootstrap: int,
    seed: int,
    run_dir: Path | None,
    settings: Mapping[str, Any],
    output: Path,
) -> Report:
    """Score what is already translated and write the report; arguments as in `evaluate_test_sets`."""
    scoring = {"protocols": list(protocols), "bootstrap": bootstrap, "seed": seed}
    report = Report(
        system=system,
        baseline=baseline,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        test_sets=[
            build_test_set(entry, tgt_lang=tgt_lang, protocols=protocols, bootstrap=bootstrap, seed=seed)
            for entry in outputs
        ],
        curves=read_curves(run_dir / "metrics.csv") if run_dir else {},
        settings={"evaluate": scoring | dict(settings)} | ({"train": _run_settings(run_dir)} if run_dir else {}),
        versions=versions(),
    )
    for entry in outputs:
        write_text(output / f"hyp.{entry.name}.txt", "".join(line + "\n" for line in entry.hyp))
    write_text(output / "report.json", report.to_json())
    write_text(output / "report.md", to_markdown(report))
    write_text(output / "report.html", to_html(report))
    return report


def translate_timed(translator: "Translator", src: Sequence[str], decode: DecodeConfig) -> tuple[list[str], Speed]:
    """Translate `src` in order; return the outputs and how long they took from strings to strings."""
    bar = tqdm(total=len(src), desc="translating", unit="sentence", disable=not sys.stderr.isatty())
    with Timer() as timer, bar:
        translations = translator.translate(list(src), decode, progress=bar.update)
    seconds = max(timer.seconds, 1e-9)
    tokens = sum(len(translation.hypotheses[0].token_ids) for translation in translations if translation.hypotheses)
    speed = Speed(
        seconds=round(seconds, 3),
        sentences_per_s=round(len(src) / seconds, 2),
        target_tokens_per_s=round(tokens / seconds, 1),
        device=str(translator.device),
        threads=translator.threads,
        precision=translator.precision,
        search=f"with beam {decode.beam_size}" if decode.search == "beam" else "by sampling",
    )
    return [translation.text for translation in translations], speed


def attention_maps(
    translator: "Translator", src: Sequence[str], hyp: Sequence[str]
) -> tuple[list[AttentionMap], str | None]:
    """Compute cross-attention from output to source for a few sentences of usual length, or say why it is missing."""
    words = [len(line.split()) for line in src]
    usable = [row for row in range(len(src)) if 0 < words[row] <= 25 and 0 < len(hyp[row].split()) <= 25]
    chosen: list[int] = []
    for length in ATTENTION_WORDS:
        if rest := [row for row in usable if row not in chosen]:
            chosen.append(min(rest, key=lambda row: (abs(words[row] - length), row)))
    maps = []
    for row in chosen:
        try:
            attention = translator.cross_attention(src[row], hyp[row])
        except ValueError as error:  # an exported model gives none
            return [], str(error)
        weights = attention.weights.mean(axis=1).tolist()  # [layers, H, T, S] -> [layers][T][S]
        rounded = [[[round(weight, 4) for weight in line] for line in layer] for layer in weights]
        maps.append(AttentionMap(list(attention.src_pieces), list(attention.tgt_pieces), rounded))
    return maps, None


def read_curves(path: Path) -> dict[str, list[tuple[float, float]]]:
    """Read (step, value) pairs of `CURVES` in a run's sparse metrics.csv; {} where there is no such file.

    What is damaged in it, by a full disk or an editor, is left out with a warning.
    """
    if not path.is_file():
        return {}
    points: dict[str, dict[float, float]] = {name: {} for name in CURVES}
    damaged = 0
    for row in read_rows(path):
        try:
            step, values = float(row.get("step") or ""), {name: float(row.get(name) or "nan") for name in CURVES}
        except ValueError:
            damaged += 1
            continue
        for name, value in values.items():
            if math.isfinite(value):
                points[name][step] = value
    if damaged:
        logger.warning("%s: %d rows are damaged, and left out of the curves", path, damaged)
    return {name: sorted(values.items()) for name, values in points.items() if values}


def _run_settings(run_dir: Path) -> dict[str, Any]:
    path = run_dir / "config.yaml"
    return {str(name): value for name, value in read_plain_yaml(path).items()} if path.is_file() else {}


def versions() -> dict[str, str]:
    """Return the versions of what the figures depend on, and the processor."""
    from translate import __version__

    found = {"translate": __version__, "python": platform.python_version()}
    found |= {package: version(package) for package in _PACKAGES if find_spec(package)}
    return found | {
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": f"{_cpu_name()}, {available_cores()} of {os.cpu_count()} cores",
    }


def _cpu_name() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
