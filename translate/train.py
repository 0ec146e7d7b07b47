"""`python -m translate.train`: from sentence pairs to a model directory, its scores and a report."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from translate.config import TrainConfig, load_config, save_config
from translate.hydra_door import hydra_main

RUN_DIR_VARIABLE = "TRANSLATE_RUN_DIR"  # tells the other processes of a data-parallel run where the first one writes


def main() -> None:
    """The door."""
    hydra_main("train", TrainConfig, train)


def train(config: TrainConfig) -> Path:
    """Train, save the model directory, score the test sets, write the report.

    Returns:
        The run directory.

    Raises:
        ValueError: For anything in the settings or the data that cannot work.
    """
    config, run_dir = resume_run(config) if config.resume else new_run(config)
    from translate.data.datamodule import TranslationDataModule
    from translate.training.callbacks import Interrupted
    from translate.training.progress import say
    from translate.training.run import finish, fit

    first = not int(os.environ.get("LOCAL_RANK", "0"))
    data = TranslationDataModule(config.data, config.tokenizer, seed=config.seed)
    data.prepare()
    if first:
        run_dir.mkdir(parents=True, exist_ok=True)
        save_config(replace(config, resume=None, run_dir=None), run_dir / "config.yaml")
        (run_dir / "cleaning.json").write_text(json.dumps(data.cleaning.to_dict(), indent=2) + "\n", encoding="utf-8")
        say(data.cleaning.table(), f"run directory {run_dir}")
    os.environ[RUN_DIR_VARIABLE] = str(run_dir)
    try:
        fitted = fit(config, run_dir, data)
    except Interrupted:
        say(f"stopped; go on with\n  python -m translate.train resume={shlex.quote(str(run_dir))}")
        raise SystemExit(130) from None
    finally:
        del os.environ[RUN_DIR_VARIABLE]
    if first:
        finish(config, run_dir, data, fitted)
    return run_dir


def new_run(config: TrainConfig) -> tuple[TrainConfig, Path]:
    """A fresh run directory, runs/<name>/<date_time> unless `run_dir` names one."""
    if RUN_DIR_VARIABLE in os.environ:
        return config, Path(os.environ[RUN_DIR_VARIABLE])
    stamp = Path(config.runs_dir) / config.name / datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
    run_dir = Path(config.run_dir) if config.run_dir else stamp
    if config.run_dir and (run_dir / "config.yaml").exists():
        raise ValueError(f"run_dir ({run_dir}) already holds a run; choose another, or resume={run_dir} to go on with it")
    while not config.run_dir and run_dir.exists():  # two runs in one second, as in a sweep
        run_dir = run_dir.with_name(run_dir.name + "+")
    return config, run_dir


def resume_run(config: TrainConfig) -> tuple[TrainConfig, Path]:
    """The settings of an earlier run, with those of this command line on top, and its directory."""
    from hydra.core.hydra_config import HydraConfig

    run_dir = Path(str(config.resume)).resolve()
    if not (run_dir / "checkpoints" / "last.ckpt").is_file():
        raise ValueError(f"resume ({config.resume}) holds no checkpoints/last.ckpt; give the directory of a run")
    overrides = [line for line in HydraConfig.get().overrides.task if not line.startswith("resume=")]
    groups = [line for line in overrides if HydraConfig.get().runtime.choices.get(line.split("=")[0].lstrip("+~"))]
    if groups:
        raise ValueError(f"resume keeps the run's own {groups[0].split('=')[0]}; change single settings instead of groups")
    resumed = load_config(run_dir / "config.yaml", TrainConfig, overrides)
    return replace(resumed, resume=config.resume), run_dir


if __name__ == "__main__":
    main()
