"""`python -m translate.train`: from sentence pairs to a model directory, its scores and a report."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from translate.config import TrainConfig, load_config, save_config
from translate.doors import importing, run_door
from translate.hydra_door import hydra_main
from translate.training import LAST_CHECKPOINT

FIXED = (  # what a checkpoint depends on, or holds itself
    *("model.", "tokenizer.", "data.", "seed", "run_dir"),
    *("trainer.devices", "trainer.num_nodes", "trainer.strategy", "trainer.ema_decay"),
    *("optim.lr", "optim.beta1", "optim.beta2", "optim.eps", "optim.weight_decay"),
)
MOVABLE = ("data.root", "data.cache_dir")


def main() -> None:
    """The door."""
    hydra_main("train", TrainConfig, train)


def train(config: TrainConfig) -> Path:
    """Train, save the model directory, score the test sets, write the report.

    Returns:
        The run directory; in a data-parallel run that of the first process, which alone writes to it.

    Raises:
        ValueError: For anything in the settings or the data that cannot work.
    """
    config, run_dir = resume_run(config) if config.resume else new_run(config)
    with importing():
        from translate.data.datamodule import TranslationDataModule
        from translate.training.callbacks import Interrupted
        from translate.training.distributed import launch_environment, resume_line
        from translate.training.layout import with_layout
        from translate.training.progress import say
        from translate.training.run import finish, fit

    first = launch_environment(config.trainer).global_rank() == 0
    if first and config.run_dir and not config.resume and (run_dir / "config.yaml").exists():
        raise ValueError(f"run_dir ({run_dir}) holds a run already; choose another, or go on with resume={run_dir}")
    data = TranslationDataModule(config.data, config.tokenizer, seed=config.seed)
    data.prepare()
    config = with_layout(config, data)
    if first:
        run_dir = make_directory(run_dir, exist_ok=bool(config.resume or config.run_dir))
        save_config(replace(config, resume=None, run_dir=None), run_dir / "config.yaml")
        (run_dir / "cleaning.json").write_text(json.dumps(data.cleaning.to_dict(), indent=2) + "\n", encoding="utf-8")
        say(data.cleaning.table(), f"run directory {run_dir}")
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)  # before and after training, like Ctrl-C
    try:
        fitted = fit(config, run_dir, data)
        if first:
            finish(config, run_dir, data, fitted)
    except (Interrupted, KeyboardInterrupt):
        if first and (run_dir / LAST_CHECKPOINT).exists():
            say(f"stopped; go on with\n  {resume_line(run_dir)}")
        raise SystemExit(130) from None
    finally:
        signal.signal(signal.SIGTERM, previous)
    return run_dir


def new_run(config: TrainConfig) -> tuple[TrainConfig, Path]:
    """Where a fresh run goes: runs/<name>/<date_time> unless `run_dir` names a directory."""
    if config.trainer.processes > 1 and _in_sweep():
        raise ValueError(f"a sweep trains on one device, not {config.trainer.processes}; start such runs one by one")
    stamp = Path(config.runs_dir) / config.name / datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
    return config, Path(config.run_dir) if config.run_dir else stamp


def _in_sweep() -> bool:
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    return HydraConfig.initialized() and HydraConfig.get().mode == RunMode.MULTIRUN


def make_directory(run_dir: Path, *, exist_ok: bool) -> Path:
    """Make the directory of a run, or one with another name where that is taken: two runs may start in one second."""
    while True:
        try:
            run_dir.mkdir(parents=True, exist_ok=exist_ok)
            return run_dir
        except FileExistsError:
            run_dir = run_dir.with_name(run_dir.name + "+")


def resume_run(config: TrainConfig) -> tuple[TrainConfig, Path]:
    """The settings of an earlier run, with those of this command line on top, and its directory.

    Called from Python, where there is no command line, the settings are those of `config`.
    """
    from hydra.core.hydra_config import HydraConfig
    from hydra.core.override_parser.overrides_parser import OverridesParser

    run_dir = Path(str(config.resume)).resolve()
    if not (run_dir / LAST_CHECKPOINT).is_file():
        raise ValueError(f"resume ({config.resume}) holds no {LAST_CHECKPOINT}; give the directory of a run")
    if not HydraConfig.initialized():
        return config, run_dir
    changes: dict[str, Any] = {}
    for override in OverridesParser.create().parse_overrides(list(HydraConfig.get().overrides.task)):
        key = override.key_or_group
        if key in HydraConfig.get().runtime.choices:
            raise ValueError(f"resume keeps the run's own {key}; change single settings instead of groups")
        if key.startswith(FIXED) and key not in MOVABLE:
            raise ValueError(f"resume keeps the run's own {key}; start a new run to change it")
        if key != "resume":
            changes[key] = override.value()
    resumed = load_config(run_dir / "config.yaml", TrainConfig, changes)
    return replace(resumed, resume=config.resume), run_dir


if __name__ == "__main__":
    run_door(main)
