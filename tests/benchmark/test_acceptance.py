"""The acceptance on a GPU: the same steps run here at a tiny size, and what fails is said."""

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

import pytest
import torch
from commands import run_command

from translate.benchmark import acceptance
from translate.benchmark.acceptance import Step, accept_gpu, plan_steps
from translate.config.benchmark import BenchmarkGpuConfig


def run_here(command: list[str], *, stdout: BinaryIO, **settings: Any) -> None:
    """Do what `subprocess.run` does, with commands of the package forked where torch has been loaded already."""
    module = command[2]
    if not module.startswith("translate."):
        subprocess.run(command, stdout=stdout, **settings)
        return
    done = run_command(*command[2:], timeout=settings["timeout"])
    stdout.write((done.stdout + done.stderr).encode())
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, command)


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="would take twenty minutes on a GPU")
def test_every_step_runs_without_a_gpu_and_the_report_says_so(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_one.py").write_text(
        "import pytest\n@pytest.mark.gpu\n@pytest.mark.skipif(True, reason='no')\ndef test_it(): pass\n"
    )
    monkeypatch.setattr(acceptance, "_TESTS", tmp_path / "tests")
    monkeypatch.setattr(acceptance, "subprocess", SimpleNamespace(**{**vars(subprocess), "run": run_here}))
    report = accept_gpu(BenchmarkGpuConfig(output=str(tmp_path / "out")), command="the command")
    assert "There is no GPU here: the same steps on a CPU, at a tiny size" in report
    found = json.loads((tmp_path / "out/gpu.json").read_text())
    steps = {step["name"]: step for step in found["steps"]}
    assert [step["error"] for step in found["steps"]] == [""] * len(steps)
    assert steps["tests"]["figures"] == {"passed": "0", "skipped": "1"}
    assert steps["repeat"]["figures"] == {"same weights, bit for bit": "yes"}
    assert steps["moved"]["figures"]["steps"] == "12"
    assert steps["whole"]["figures"].keys() == {"BLEU, everyday_test", "BLEU, everyday_unseen"}
    assert steps["train_tiny_plain"]["figures"].keys() == {"target tokens/s", "share of the peak", "peak memory, MiB"}
    assert "translate 32, greedy" in steps["decode"]["figures"]
    assert (tmp_path / "out/gpu.md").read_text() == report
    for step in found["steps"]:
        assert step["subject"] in report
        assert all(value in report for value in step["figures"].values())


def test_on_a_gpu_every_size_is_measured_plain_and_compiled(tmp_path: Path) -> None:
    steps = {step.name: step for step in plan_steps(BenchmarkGpuConfig(str(tmp_path), data_root="DIR"), gpu=True)}
    for name in ("small", "base", "big"):
        for kind in ("plain", "compiled"):
            (command,) = steps[f"train_{name}_{kind}"].commands
            assert {f"model={name}", "trainer=gpu", "trainer.precision=bf16-mixed", "data.root=DIR"} <= set(command)
    assert {f"memory_{tokens}" for tokens in (4096, 16384, 65536)} <= steps.keys()
    assert "experiment=multi30k_tiny" in steps["whole"].commands[0]
    assert {"device=cuda", "precisions=[bf16,16]"} <= set(steps["decode"].commands[0])
    resumed = [command[-2] for command in steps["moved"].commands[1:]]
    assert resumed == ["trainer.accelerator=gpu", "trainer.accelerator=cpu"]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("print('working'); raise SystemExit(3)", r"^exit status 3, see .*log: working$"),
        ("import time; time.sleep(30)", r"^not done after 0 minutes, see .*log$"),
        ("pass", "^left no figures: "),
    ],
)
@pytest.mark.slow
def test_a_step_that_fails_is_reported_and_the_next_one_follows(tmp_path, monkeypatch, code, message) -> None:
    def read() -> dict[str, str]:
        raise ValueError("nothing there")

    def plan(config, *, gpu):
        yield Step("bad", "what fails", [["-c", code]], read)
        yield Step("good", "what works", [["-c", "print(1)"]], lambda: {"found": "it"})

    monkeypatch.setattr(acceptance, "plan_steps", plan)
    report = accept_gpu(BenchmarkGpuConfig(str(tmp_path), step_minutes=0.1), command="x")
    bad, good = json.loads((tmp_path / "gpu.json").read_text())["steps"]
    with pytest.raises(ValueError, match=message):
        raise ValueError(bad["error"])
    assert good["figures"] == {"found": "it"}
    assert bad["error"] in report
