"""Everything that a GPU should do, measured by the commands that users have, and one report of it.

Each step is a command in a process of its own, whose output is kept; what fails or takes too long is reported, and the
next one follows. Without a GPU the same steps run at a tiny size, so that they themselves are tested.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import monotonic

import torch
from safetensors.torch import load_file

from translate.common.files import write_text
from translate.common.tables import aligned_table
from translate.common.timer import Timer
from translate.config.benchmark import BenchmarkGpuConfig
from translate.evaluate.test_sets import read_curves, versions
from translate.train.console import say

_TESTS = Path(__file__).resolve().parents[2] / "tests"
_MODELS = ("small", "base", "big")
_BATCHES = (4096, 16384, 65536)  # tokens
_TINY = ("model=tiny", "model.d_model=16", "model.d_ff=16", "model.num_encoder_layers=1", "model.num_decoder_layers=1")


@dataclass
class Step:
    """One part of the acceptance.

    Attributes:
        name: Of its output in the folder of the report.
        subject: What it shows, in a heading.
        commands: Arguments of Python, one after the other.
        read: Gives the figures from what the commands have written.
        seconds: How long it took; 0 before.
        figures: What was found, by its label.
        error: Why there is nothing.
    """

    name: str
    subject: str
    commands: list[list[str]]
    read: Callable[[], dict[str, str]]
    seconds: float = 0.0
    figures: dict[str, str] = field(default_factory=dict)
    error: str = ""


def accept_gpu(config: BenchmarkGpuConfig, *, command: str) -> str:
    """Do every step, and write gpu.md and gpu.json.

    Args:
        config: Where to write, and what to train on.
        command: What to write down as the command.

    Returns:
        The report.
    """
    gpu, output = torch.cuda.is_available(), Path(config.output)
    steps = list(plan_steps(config, gpu=gpu))
    for number, step in enumerate(steps, 1):
        say(f"step {number} of {len(steps)}: {step.subject}")
        _do(step, output / "logs" / f"{step.name}.log", 60 * config.step_minutes)
        say(f"  {step.error or ', '.join(f'{name} {value}' for name, value in step.figures.items())}")
    report = "\n".join(_report(steps, command, gpu=gpu)) + "\n"
    rows = [{name: value for name, value in vars(step).items() if name != "read"} for step in steps]
    found = {"gpu": gpu, "config": asdict(config), "command": command, "versions": versions(), "steps": rows}
    write_text(output / "gpu.json", json.dumps(found, indent=1) + "\n")
    write_text(output / "gpu.md", report)
    return report


def plan_steps(config: BenchmarkGpuConfig, *, gpu: bool) -> Iterator[Step]:
    """Yield the steps, for a GPU or at a tiny size for a CPU."""
    output = Path(config.output)
    place = ["trainer=gpu" if gpu else "trainer=cpu", "trainer.precision=bf16-mixed" if gpu else "trainer.precision=32"]
    place += [] if gpu else ["trainer.workers=1", "trainer.compile=false"]
    data = ["data=multi30k", f"data.root={config.data_root}"] if config.data_root else ["data=everyday"]
    tests = output / "tests.xml"
    yield Step(
        "tests",
        "tests marked gpu",
        [["-m", "pytest", str(_TESTS), "-m", "gpu", "-q", "-n", "0", f"--junitxml={tests}"]],
        lambda: read_tests(tests),
    )
    yield from _training_steps(output, [*place, *data], gpu=gpu)
    yield from _run_steps(output, place, data, full=config.data_root is not None, gpu=gpu)


def _training_steps(output: Path, settings: Sequence[str], *, gpu: bool) -> Iterator[Step]:
    """Yield the measurements of speed and memory."""
    speed = ["-m", "translate.benchmark", "train", *settings, *_few(gpu, "rounds=3", "steps=20")]
    for model in _MODELS if gpu else ("tiny",):
        for compiled in ("true", "false") if gpu else ("false",):
            name = f"train_{model}_{'compiled' if compiled == 'true' else 'plain'}"
            kind = [f"model={model}"] if gpu else list(_TINY)
            size = ["data.batch_tokens=25000", f"trainer.compile={compiled}"] if gpu else ["data.batch_tokens=500"]
            subject = f"training speed, model={model}{', compiled' if compiled == 'true' else ''}"
            yield Step(name, subject, [[*speed, *kind, *size, f"output={output / name}"]], _speed_of(output / name))
    for tokens in _BATCHES if gpu else (300,):
        name = f"memory_{tokens}"
        kind = ["model=base"] if gpu else list(_TINY)
        once = ["-m", "translate.benchmark", "train", *settings, "rounds=1", "steps=2", *kind]
        command = [*once, f"data.batch_tokens={tokens}", f"output={output / name}"]
        yield Step(name, f"memory, batches of {tokens:,} target tokens", [command], _speed_of(output / name))


def _run_steps(output: Path, place: Sequence[str], data: Sequence[str], *, full: bool, gpu: bool) -> Iterator[Step]:
    """Yield a training to the end, decoding with its model, repetition, and the way from CPU to GPU and back."""
    train = ["-m", "translate.train", f"runs_dir={output / 'runs'}"]
    experiment = ["experiment=multi30k_tiny" if full else "experiment=everyday", *data[1:]]
    whole = output / "whole"
    tiny = [*_TINY, "trainer.max_steps=4", "trainer.valid_bleu_sentences=4", "tokenizer.vocab_size=600"]
    brief = "decode.max_output_len=20"
    yield Step(
        "whole",
        f"{experiment[0].partition('=')[2]} to the end",
        [[*train, *experiment, *place, *([] if gpu else [*tiny, "decode.beam_size=1", brief]), f"run_dir={whole}"]],
        lambda: read_scores(whole),
    )
    decode = ["-m", "translate.benchmark", "decode", f"model={whole}", f"output={output / 'decode'}"]
    decode += (
        ["device=cuda", "precisions=[bf16,16]"]
        if gpu
        else ["precisions=[32]", "peers=false", "sentences=20", "latency_sentences=2", brief]
    )
    subject = "decoding beside Hugging Face and CTranslate2"
    yield Step("decode", subject, [[*decode, *_few(gpu, "rounds=3")]], lambda: read_decoding(output / "decode"))
    short = [*train, *data, *(["model=small"] if gpu else tiny[:5]), "evaluate=false", "trainer.valid_bleu_sentences=4"]
    again = [output / "repeat_1", output / "repeat_2"]
    steps = "trainer.max_steps=100" if gpu else "trainer.max_steps=4"
    yield Step(
        "repeat",
        "the same training twice",
        [[*short, *place, steps, f"run_dir={run}"] for run in again],
        lambda: {"same weights, bit for bit": "yes" if same_weights(*again) else "no"},
    )
    moved, there = output / "moved", "gpu" if gpu else "cpu"
    resume = ["-m", "translate.train", f"resume={moved}"]
    yield Step(
        "moved",
        f"a run begun on the CPU, resumed on the {there.upper()}, and on the CPU again",
        [
            [*short, "trainer=cpu", "trainer.precision=32", "trainer.max_steps=4", f"run_dir={moved}"],
            [*resume, f"trainer.accelerator={there}", "trainer.max_steps=8"],
            [*resume, "trainer.accelerator=cpu", "trainer.max_steps=12"],
        ],
        lambda: read_steps(moved),
    )


def _few(gpu: bool, *settings: str) -> list[str]:
    """Return settings that say how often to measure: as they are on a GPU, else once."""
    return [setting if gpu else f"{setting.partition('=')[0]}=1" for setting in settings]


def _do(step: Step, log: Path, seconds: float) -> None:
    """Run the commands of a step and read what they found."""
    log.parent.mkdir(parents=True, exist_ok=True)
    end = monotonic() + seconds
    with Timer() as timer, log.open("wb") as file:
        try:
            for command in step.commands:
                file.write(f"$ python {shlex.join(command)}\n".encode())
                file.flush()
                limit = max(1.0, end - monotonic())
                run = [sys.executable, *command]
                subprocess.run(run, stdout=file, stderr=subprocess.STDOUT, check=True, timeout=limit)
            step.figures = step.read()
        except subprocess.TimeoutExpired:
            step.error = f"not done after {seconds / 60:.0f} minutes, see {log}"
        except subprocess.CalledProcessError as error:
            step.error = f"exit status {error.returncode}, see {log}: {_last_line(log)}"
        except (OSError, KeyError, ValueError) as error:
            step.error = f"left no figures: {error}"
    step.seconds = timer.seconds


def read_tests(path: Path) -> dict[str, str]:
    """Return how many tests passed and how many were skipped, from pytest's report."""
    from xml.etree import ElementTree

    (suite,) = ElementTree.parse(path).getroot().iter("testsuite")
    total, skipped = int(suite.attrib["tests"]), int(suite.attrib["skipped"])
    return {"passed": str(total - skipped), "skipped": str(skipped)}


def _speed_of(folder: Path) -> Callable[[], dict[str, str]]:
    def read() -> dict[str, str]:
        found = json.loads((folder / "benchmark.json").read_text(encoding="utf-8"))
        ours = found["systems"][0]
        return {
            "target tokens/s": f"{ours['tokens_per_s']:,.0f}",
            "share of the peak": f"{100 * ours['mfu']:.1f} %",
            "peak memory, MiB": f"{ours['peak_bytes'] / 2**20:,.0f}",
        }

    return read


def read_scores(run: Path) -> dict[str, str]:
    """Return the cased BLEU of each test set of a finished run."""
    found = json.loads((run / "report.json").read_text(encoding="utf-8"))
    return {f"BLEU, {one['name']}": f"{one['scores']['cased'][0]['value']:.2f}" for one in found["test_sets"]}


def read_decoding(folder: Path) -> dict[str, str]:
    """Return sentences per second and the latency of one of each engine, and why others were left out."""
    found = json.loads((folder / "decode.json").read_text(encoding="utf-8"))
    figures = {}
    for engine in found["engines"]:
        for width in engine["widths"]:
            search = "greedy" if width["beam_size"] == 1 else f"beam {width['beam_size']}"
            speed, latency = found["sentences"] / median(width["seconds"]), median(width["p50_ms"])
            figures[f"{engine['name']}, {search}"] = f"{speed:,.0f} sentences/s, {latency:.1f} ms for one"
    return figures | {f"{name}, left out": reason for name, reason in found["left_out"].items()}


def same_weights(first: Path, second: Path) -> bool:
    """Return whether two runs have the same weights, bit for bit."""
    one, other = (load_file(run / "model/model.safetensors") for run in (first, second))
    return one.keys() == other.keys() and all(torch.equal(tensor, other[name]) for name, tensor in one.items())


def read_steps(run: Path) -> dict[str, str]:
    """Return the steps and the losses of the validations of a run."""
    losses = read_curves(run / "metrics.csv")["valid_loss"]
    return {"steps": f"{losses[-1][0]:.0f}", "validation losses": ", ".join(f"{loss:.3f}" for _, loss in losses)}


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _report(steps: Sequence[Step], command: str, *, gpu: bool) -> Iterator[str]:
    yield "# Acceptance on a GPU"
    yield ""
    if not gpu:
        yield "There is no GPU here: the same steps on a CPU, at a tiny size, whose figures show only that they run."
        yield ""
    facts = {"command": f"`{command}`", "date": datetime.now(UTC).isoformat(timespec="seconds"), **versions()}
    facts["device"] = torch.cuda.get_device_name() if gpu else "CPU"
    facts["minutes in all"] = f"{sum(step.seconds for step in steps) / 60:.1f}"
    yield from (f"- {name}: {value}" for name, value in facts.items())
    yield ""
    rows = [
        [step.subject, name, value]
        for step in steps
        for name, value in (step.figures or {"failed": step.error}).items()
    ]
    yield from aligned_table(["step", "", "found"], rows)
