"""Sweeps with Hydra's launchers, which start a process for each job."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from commands import run_command

from translate.common.resources import conf_dir

ROOT = conf_dir().parent
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT)}
TINY = (
    *("data.max_pairs=300", "data.batch_tokens=2000", "data.cache_dir=cache", "tokenizer.vocab_size=400", "name=tiny"),
    *("model.d_model=16", "model.d_ff=32", "model.num_heads=2", "model.num_encoder_layers=1"),
    *("model.num_decoder_layers=1", "trainer.max_steps=1", "trainer.accelerator=cpu", "trainer.monitor=loss"),
    *("trainer.valid_bleu_sentences=0", "trainer.tensorboard=false", "evaluate=false"),
)


def train(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return run_command("translate.train", *arguments, cwd=cwd, env=ENVIRONMENT)


def need(launcher: str) -> None:
    reason = f"hydra-{launcher}-launcher is not installed (the extra called sweep)"
    pytest.importorskip(f"hydra_plugins.hydra_{launcher}_launcher", reason=reason)


@pytest.mark.parametrize("launcher", ["joblib", "submitit_slurm"])
@pytest.mark.slow
def test_a_launcher_that_is_not_installed_is_named_with_its_extra(launcher: str) -> None:
    command = (
        "from translate.common.command import run_command\nfrom translate.train.__main__ import main\nrun_command(main)"
    )
    code = f"import sys\nsys.modules['hydra_plugins'] = None\n{command}"
    command = [sys.executable, "-c", code, "-m", f"hydra/launcher={launcher}", "seed=1,2"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 2
    assert done.stderr == f"error: hydra/launcher={launcher} needs an extra: pip install -e '.[sweep]'\n"


def test_a_launcher_that_nobody_has_is_an_unknown_choice() -> None:
    done = train("-m", "hydra/launcher=jobblib", "seed=1,2")
    assert done.returncode == 2
    assert re.fullmatch(r"error: there is no hydra/launcher/jobblib; [^\n]*\bbasic\b[^\n]*\n", done.stderr)


def test_several_values_without_a_sweep_are_explained() -> None:
    done = train("optim.lr=1,2")
    assert done.returncode == 2
    assert re.fullmatch(r"error: optim\.lr=1,2 holds several values: -m sweeps [^\n]+\n", done.stderr)


def test_an_empty_mapping_which_hydra_would_merge_is_refused() -> None:
    done = train("experiment=multi30k_student", "data.root=x", "stages={}")
    assert done.returncode == 2
    assert done.stderr == "error: stages={} changes nothing, since mappings are merged; ~stages leaves them out\n"


def test_the_slurm_launcher_composes() -> None:
    need("submitit")
    done = train("hydra/launcher=submitit_slurm", "--cfg", "hydra", "-p", "hydra.launcher")
    assert done.returncode == 0, done.stderr
    assert "SlurmLauncher" in done.stdout


@pytest.mark.slow
def test_jobs_run_side_by_side_and_one_that_fails_stops_no_other(tmp_path: Path) -> None:
    need("joblib")
    sweep = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2", "optim.lr=-1,1e-3", "seed=1,2")
    done = train("-m", *sweep, *TINY, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.endswith("error: optim.lr (-1.0) must be above 0\n")
    assert "Traceback" not in done.stderr
    finished = sorted(path.parents[1] for path in tmp_path.glob("runs/tiny/*/model/model.safetensors"))
    seeds = [re.search(r"^seed: (\d)$", (run / "config.yaml").read_text(), re.MULTILINE) for run in finished]
    assert {seed[1] for seed in seeds if seed} == {"1", "2"}
    assert len(finished) == 2
    assert (tmp_path / "runs/latest").resolve() in finished
