"""The command `translate.benchmark`, as a user meets it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from commands import run_command
from omegaconf import OmegaConf

from translate.common.resources import conf_dir
from translate.config.benchmark import BenchmarkTrainConfig
from translate.config.trainer import TrainerConfig

ROOT = Path(__file__).resolve().parents[2]


def run_benchmark(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_command("translate.benchmark", *arguments, cwd=ROOT)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "error: the first word must say what to measure (train, decode, serve, gpu), and it is missing; see"),
        (["rounds=1"], "error: the first word must say what to measure (train, decode, serve, gpu), not rounds=1; see"),
    ],
)
def test_the_first_word_says_what_to_measure(arguments: list[str], message: str) -> None:
    done = run_benchmark(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1


def test_help_teaches_by_examples_and_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom translate.benchmark.__main__ import main\nsys.argv[1:] = ['--help']\nmain()\n"
        "heavy = {'torch', 'lightning', 'numpy', 'matplotlib'} & set(sys.modules)\nassert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "python -m translate.benchmark train peers=true output=DIR" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 120


@pytest.mark.slow
def test_decode_takes_a_model_and_says_so_when_it_is_not_there() -> None:
    done = run_benchmark("decode", "model=no/where")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: no model in no/where: there is no such directory")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_the_help_of_train_shows_groups_and_settings() -> None:
    text = run_benchmark("train", "--help").stdout
    assert "model: base, big, small, tiny" in text
    assert "rounds: 5" in text
    assert "python -m translate.benchmark train data=multi30k" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("round=3", "unknown setting round; did you mean rounds"),
        ("steps=0", "steps (0) must be at least 1"),
        ("resume=runs/latest", "resume (runs/latest) does nothing in a benchmark; leave it out"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(argument: str, message: str) -> None:
    done = run_benchmark("train", argument)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {message}")
    assert done.stderr.count("\n") == 1


def test_what_a_benchmark_cannot_do_is_refused() -> None:
    with pytest.raises(ValueError, match=r"run_dir \(here\) does nothing in a benchmark"):
        BenchmarkTrainConfig(run_dir="here")
    with pytest.raises(ValueError, match=r"trainer.devices \(2\) must be 1"):
        BenchmarkTrainConfig(trainer=TrainerConfig(devices=2))
    with pytest.raises(ValueError, match=r"warmup \(0\) must be at least 1"):
        BenchmarkTrainConfig(warmup=0)


def test_settings_are_composed_as_for_training() -> None:
    ours, train = (OmegaConf.load(conf_dir() / f"{name}.yaml") for name in ("benchmark_train", "train"))
    assert ours.defaults[1:] == train.defaults[1:]


@pytest.mark.slow
def test_the_table_goes_to_stdout_and_the_command_into_the_files(config, tmp_path) -> None:
    data, output = config.data, tmp_path / "a b"
    arguments = [
        *("data=files", f"data.root={data.root}", f"data.cache_dir={data.cache_dir}"),
        *("data.train=[train.en,train.fr]", "data.valid=[valid.en,valid.fr]"),
        *("data.test=[valid.en,valid.fr]", "data.batch_tokens=520", "data.max_len=64"),
        *("tokenizer.vocab_size=500", "model.d_model=16", "model.d_ff=32", "model.num_heads=2"),
        *("trainer.accelerator=cpu", "trainer.threads=1", "steps=1", "rounds=1", f"output={output}"),
    ]
    done = run_benchmark("train", *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (output / "benchmark.md").read_text(encoding="utf-8")
    assert "Warning" not in done.stderr
    stored = json.loads((output / "benchmark.json").read_text(encoding="utf-8"))
    assert stored["command"].startswith("python -m translate.benchmark train data=files ")
    assert f"'output={output}'" in stored["command"]
    assert stored["machine"]["threads"] == "1"
