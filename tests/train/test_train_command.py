"""The command as processes: signals, kill -9, and what a command line may change on resuming."""

import csv
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from commands import Command

from translate.config.files import load_config, save_config
from translate.config.train import TrainConfig
from translate.train.weights.checkpoint_io import SafeCheckpointIO

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT)}


def start(*overrides: str, cwd: Path) -> Command:
    return Command("translate.train", *overrides, cwd=cwd, env=ENVIRONMENT)


def run(*overrides: str, cwd: Path, status: int = 0) -> tuple[str, str]:
    process = start(*overrides, cwd=cwd)
    out, err = process.communicate(timeout=100)
    assert process.returncode == status, err
    return out, err


def settings(config: TrainConfig) -> list[str]:
    """The command line of a config that `make_config` made."""
    data, model, trainer = config.data, config.model, config.trainer
    return [
        "data=files",
        *(f"data.{split}=[{','.join(getattr(data, split))}]" for split in ("train", "valid", "test")),
        *(f"data.{name}={getattr(data, name)}" for name in ("batch_tokens", "max_len", "cache_dir")),
        *(f"model.{name}={getattr(model, name)}" for name in ("d_model", "d_ff", "num_heads")),
        "model.num_encoder_layers=1",
        "model.num_decoder_layers=1",
        f"tokenizer.vocab_size={config.tokenizer.vocab_size}",
        "name=tiny",
        "evaluate=false",
        *(
            f"trainer.{name}={getattr(trainer, name)}"
            for name in ("accelerator", "monitor", "log_every", "tensorboard")
        ),
        "trainer.valid_bleu_sentences=0",
    ]


def wait_for_step(run_dir: Path, step: int, process: Command) -> None:
    for _ in range(3000):
        assert process.returncode is None, process.communicate(timeout=1)[1]
        if any(done >= step for done in losses(run_dir)):
            return
        time.sleep(0.02)
    raise AssertionError(f"step {step} did not come within a minute")


def losses(run_dir: Path) -> dict[int, float]:
    path = run_dir / "metrics.csv"
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {int(row["step"]): float(row["train_loss"]) for row in csv.DictReader(file) if row.get("train_loss")}


def test_a_signal_saves_and_prints_the_line_that_resumes_and_that_line_works(make_config, tmp_path) -> None:
    first = [*settings(make_config()), "run_dir=the run", "trainer.max_epochs=null", "trainer.max_steps=100000"]
    run_dir, stopped = tmp_path / "the run", 0
    for command, number in ((first, signal.SIGINT), (["resume=the run"], signal.SIGTERM)):
        process = start(*command, cwd=tmp_path)
        wait_for_step(run_dir, stopped + 2, process)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "Traceback" not in err
        assert re.search(r"python -m translate\.train resume='.*the run'\n", err)
        checkpoint = SafeCheckpointIO().load_checkpoint(run_dir / "checkpoints/last.ckpt")
        assert checkpoint["global_step"] > stopped
        stopped = checkpoint["global_step"]
    run("resume=the run", f"trainer.max_steps={stopped + 4}", cwd=tmp_path)
    assert list(losses(run_dir)) == list(range(1, stopped + 5))
    assert (run_dir / "model/model.safetensors").exists()
    assert load_config(run_dir / "config.yaml", TrainConfig).trainer.max_steps == stopped + 4


def test_kill_9_at_any_moment_leaves_a_checkpoint_that_loads_and_a_run_that_resumes(make_config, tmp_path) -> None:
    first = [*settings(make_config()), "run_dir=run", "trainer.max_epochs=2000", "trainer.checkpoint_every=1"]
    run_dir, steps = tmp_path / "run", 0
    for command, delay in ((first, 0.137), (["resume=run"], 0.411)):
        process = start(*command, cwd=tmp_path)
        wait_for_step(run_dir, steps + 2, process)
        time.sleep(delay)
        process.kill()
        process.communicate(timeout=60)
        checkpoint = torch.load(run_dir / "checkpoints/last.ckpt", weights_only=True)
        assert checkpoint["global_step"] > steps
        steps = checkpoint["global_step"]
        for path in (run_dir / "checkpoints").glob("*.ckpt"):
            SafeCheckpointIO().load_checkpoint(path)
    run("resume=run", "trainer.max_epochs=null", f"trainer.max_steps={steps + 2}", cwd=tmp_path)
    assert list(losses(run_dir)) == list(range(1, steps + 3))


def test_resuming_keeps_what_the_checkpoint_depends_on(make_config, tmp_path) -> None:
    run_dir = tmp_path / "run"
    (run_dir / "checkpoints").mkdir(parents=True)
    (run_dir / "checkpoints/last.ckpt").touch()
    save_config(make_config(), run_dir / "config.yaml")
    before = (run_dir / "config.yaml").read_bytes()
    optim = ("optim.algorithm=muon", "optim.weight_bits=6")
    for override in ("model=big", "model.d_model=512", "init_from=run", *optim, "trainer.monitor=bleu"):
        _, err = run("resume=run", override, cwd=tmp_path, status=2)
        assert re.fullmatch(rf"error: resume keeps the run's own {override.split('=')[0]}; [^\n]+\n", err)
    assert (run_dir / "config.yaml").read_bytes() == before


def test_a_sweep_trains_each_of_its_runs_in_its_own_directory(make_config, tmp_path) -> None:
    run("-m", *settings(make_config()), "trainer.max_epochs=1", "seed=1,2", cwd=tmp_path)
    runs = sorted((tmp_path / "runs/tiny").iterdir())
    assert [load_config(path / "config.yaml", TrainConfig).seed for path in runs] == [1, 2]
    assert [len(losses(path)) for path in runs] == [7, 7]
    assert losses(runs[0]) != losses(runs[1])
    assert (tmp_path / "runs/latest").resolve() == runs[1]


def test_a_checkpoint_that_does_not_fit_is_one_line_and_the_earlier_one_resumes(make_config, tmp_path) -> None:
    command = [*settings(make_config()), "run_dir=the run", "trainer.max_epochs=null", "trainer.max_steps=6"]
    run(*command, "trainer.checkpoint_every=2", cwd=tmp_path)
    last = tmp_path / "the run" / "checkpoints" / "last.ckpt"
    before = last.read_bytes()
    limit = ["bash", "-c", f'ulimit -f {len(before) // 1024 // 2}; exec "$@"', "-"]  # KiB
    command = [*limit, sys.executable, "-m", "translate.train", "resume=the run", "trainer.max_steps=8"]
    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, text=True, capture_output=True, timeout=100)
    assert done.returncode == 2, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert re.fullmatch(r"error: .*/checkpoints/.*\.ckpt: File too large; raise the limit .*", line)
    assert "Traceback" not in done.stderr
    assert last.read_bytes() == before
    assert not list(last.parent.glob(".*"))
    run("resume=the run", "trainer.max_steps=8", cwd=tmp_path)
    assert max(losses(tmp_path / "the run")) == 8
