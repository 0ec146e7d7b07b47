"""From run directories to a comparison on disk."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from translate.common.files import write_text
from translate.compare.measure import (
    cache_bytes,
    decoding_rate,
    measure_in_turns,
    torch_model,
    training_rate,
    validation_bleu,
    validation_loss,
)
from translate.compare.picture import draw
from translate.compare.report import Comparison, RowResult, RunResult
from translate.compare.runs import Row, Run, make_rows, open_data, open_run
from translate.data.datamodule import TranslationDataModule
from translate.evaluate.scores import interval, p_value
from translate.evaluate.test_sets import versions
from translate.train.console import say
from translate.translator.bundle import num_parameters
from translate.translator.translator import Translator

BOOTSTRAP, SEED = 1000, 12345  # as in an evaluation


def compare(
    paths: Sequence[Path],
    *,
    output: Path,
    command: str,
    rounds: int = 5,
    steps: int = 20,
    sentences: int = 200,
    data_root: str | None = None,
    device: str = "auto",
) -> Comparison:
    """Compare finished runs on their validation split and write compare.md, compare.json and compare.png.

    Args:
        paths: Run directories.
        output: Folder for the three files.
        command: What to write down as the command.
        rounds: Measurements of each speed; 0 leaves speeds out.
        steps: Optimizer steps of one measurement of training.
        sentences: Validation sentences of one measurement of decoding.
        data_root: Where the corpus of all runs lies now, if it has moved.
        device: "cpu", "cuda" or "auto".

    Raises:
        ValueError: If a run is unfinished, does not fit the others, or cannot train on this machine.
    """
    runs = [open_run(path, data_root) for path in paths]
    rows = make_rows(runs)
    say(*(f"{row.label}: {', '.join(str(run.path) for run in row.runs)}" for row in rows))
    data = open_data(runs)
    translators = [row.runs[0].load(device) for row in rows]
    training, decoding = {}, {}
    for row, translator in zip(rows, translators, strict=True) if rounds else ():
        config, module = row.runs[0].config, data[row.runs[0].path]
        training[row.label] = training_rate(translator, config, module, steps=steps)
        decoding[row.label] = decoding_rate(translator, config, module, sentences=sentences)
    output.mkdir(parents=True, exist_ok=True)
    scored = {run.path: score_run(run, data[run.path], device) for run in runs}
    training_rounds = measure_in_turns(training, rounds, _progress("training"))
    decoding_rounds = measure_in_turns(decoding, rounds, _progress("decoding"))
    of_row = {row.label: [scored[run.path] for run in row.runs] for row in rows}
    place = torch.device(translators[0].device)
    device_name = torch.cuda.get_device_name(place) if place.type == "cuda" else str(place)
    comparison = Comparison(
        rows=[
            make_row(row, of_row[row.label], of_row[rows[0].label], translator, training_rounds, decoding_rounds)
            for row, translator in zip(rows, translators, strict=True)
        ],
        sentences=len(data[runs[0].path].valid_pairs),
        signature=scored[runs[0].path].signature,
        same_tokenizer=len({module.tokenizer.fingerprint for module in data.values()}) == 1,
        settings={"rounds": rounds, "steps": steps, "sentences": sentences, "bootstrap": BOOTSTRAP},
        machine=versions() | {"device": device_name, "threads": str(torch.get_num_threads())},
        command=command,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    write_text(output / "compare.json", comparison.to_json())
    write_text(output / "compare.md", comparison.to_markdown())
    draw(comparison, output / "compare.png")
    return comparison


@dataclass(frozen=True)
class Scored:
    """The figures of a run, and what the interval of its row is made of.

    Attributes:
        result: The figures.
        resampled: BLEU of the resampled validation splits, the same ones for every run, [bootstrap].
        signature: sacreBLEU's.
    """

    result: RunResult
    resampled: NDArray[Any]
    signature: str


def score_run(run: Run, data: TranslationDataModule, device: str) -> Scored:
    """Compute loss and BLEU of the weights in the run's model directory."""
    translator = run.load(device)
    loss = validation_loss(translator, run.config, data)
    statistics = validation_bleu(translator, run.config, data)
    resampled = statistics.resampled("BLEU", BOOTSTRAP, SEED)
    low, high = interval(resampled)
    epoch = data.steps_per_epoch(run.config.trainer.accumulate, run.config.trainer.processes)
    result = RunResult(
        run=str(run.path),
        seed=run.config.seed,
        weights=str(translator.config.card.get("weights", "unknown")),
        valid_loss=loss,
        bleu=statistics.value("BLEU"),
        bleu_low=low,
        bleu_high=high,
        curve=[(round(step / epoch, 4), value) for step, value in run.valid_losses],
    )
    say(f"{run.path}: validation loss {loss:.4f} nats per token, BLEU {result.bleu:.2f} [{low:.2f}, {high:.2f}]")
    return Scored(result, resampled, statistics.signature("BLEU", BOOTSTRAP, SEED))


def make_row(
    row: Row,
    scored: Sequence[Scored],
    first: Sequence[Scored],
    translator: Translator,
    training_rounds: Mapping[str, list[float]],
    decoding_rounds: Mapping[str, list[float]],
) -> RowResult:
    """Compute the figures of a row: means over its runs, also beside the first row's, and its speeds, if measured."""
    own, source = cache_bytes(translator)
    losses, bleus = [one.result.valid_loss for one in scored], [one.result.bleu for one in scored]
    resampled, baseline = (np.mean([one.resampled for one in own_row], axis=0) for own_row in (scored, first))
    low, high = interval(resampled)
    difference = abs(mean(bleus) - mean(one.result.bleu for one in first))
    difference_low, difference_high = (None, None) if scored is first else interval(resampled - baseline)
    training, decoding = training_rounds.get(row.label, []), decoding_rounds.get(row.label, [])
    return RowResult(
        label=row.label,
        differences=row.differences,
        parameters=num_parameters(torch_model(translator)),
        bytes_per_token=own,
        bytes_per_src_token=source,
        precision=row.runs[0].config.trainer.precision,
        training_tokens_per_s=median(training) if training else None,
        training_rounds=training,
        decoding_tokens_per_s=median(decoding) if decoding else None,
        decoding_rounds=decoding,
        valid_loss=mean(losses),
        valid_loss_std=stdev(losses) if len(losses) > 1 else None,
        bleu=mean(bleus),
        bleu_std=stdev(bleus) if len(bleus) > 1 else None,
        bleu_low=low,
        bleu_high=high,
        p_value=None if scored is first else p_value(resampled, baseline, difference),
        difference_low=difference_low,
        difference_high=difference_high,
        runs=[one.result for one in scored],
    )


def _progress(what: str) -> Callable[[int, str, float], None]:
    def show(number: int, label: str, rate: float) -> None:
        turn = f"round {number}" if number else "warm-up"
        say(f"{what}, {turn}: {rate:,.0f} target tokens/s  {label}")

    return show
