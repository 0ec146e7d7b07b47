"""Start or resume a run: from sentence pairs to a model directory, its scores and a report."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from translate.common.command import importing
from translate.config.files import load_config
from translate.config.train import TrainConfig
from translate.train import LAST_CHECKPOINT
from translate.train.stages.plan import PLAN, plan_stages, stage_settings

FIXED = (  # what a checkpoint depends on, or holds itself
    *("model.", "tokenizer.", "data.", "seed", "init_from", "run_dir", "stages"),
    *("trainer.devices", "trainer.num_nodes", "trainer.strategy", "trainer.ema_decay"),
    *("trainer.monitor", "trainer.keep_best", "trainer.average"),  # average_count, too
    *("optim.algorithm", "optim.lr", "optim.beta1", "optim.beta2", "optim.eps", "optim.weight_decay", "optim.lora_"),
    "optim.weight_bits",
)
FIXED_IN_STAGES = (*FIXED, "decode.")  # and what pairs are translated with
MOVABLE = ("data.root", "data.cache_dir", "data.extra")


def train(config: TrainConfig) -> Path:
    """Train, save the model directory, score the test sets, write the report; with stages, one after another.

    Returns:
        The run directory; in a data-parallel run that of the first process, which alone writes to it.

    Raises:
        ValueError: For anything in the settings or the data that cannot work.
    """
    config, run_dir = resume_run(config) if config.resume else new_run(config)
    if config.stages:
        plan_stages(config, run_dir)  # refuses what cannot work before anything large is loaded
    with importing():
        from translate.train.parallel.distributed import launch_environment
        from translate.train.run import begin, conclude, finish, fit, prepare
        from translate.train.stages.work import train_stages

    rank = launch_environment(config.trainer).global_rank()
    first = rank == 0
    taken = any((run_dir / name).exists() for name in ("config.yaml", PLAN))
    if first and config.run_dir and not config.resume and taken:
        raise ValueError(f"run_dir ({run_dir}) holds a run already; choose another, or go on with resume={run_dir}")
    if run_dir.exists() and not run_dir.is_dir():
        raise ValueError(f"run_dir ({run_dir}) is a file; give a directory that is new or empty")
    exist_ok = bool(config.resume or config.run_dir)
    if config.stages:
        run_dir = make_directory(run_dir, exist_ok=exist_ok)
        with _stopping(run_dir, rank):
            train_stages(config, run_dir)
        return run_dir
    config, data = prepare(config, run_dir)
    if first:
        run_dir = make_directory(run_dir, exist_ok=exist_ok)
        config = begin(config, run_dir, data)
    with _stopping(run_dir, rank):
        fitted = fit(config, run_dir, data)
        if first:
            finish(config, run_dir, data, fitted)
            conclude(config, run_dir, data.valid_pairs[0].src)
    return run_dir


@contextmanager
def _stopping(run_dir: Path, rank: int) -> Iterator[None]:
    """Treat SIGTERM as Ctrl-C; after either, or when another process is lost, exit with the command that resumes.

    Lightning, torchrun or srun, which started the processes of a run, end those that remain.

    Args:
        run_dir: What can be resumed, if it got that far.
        rank: Rank of this process in the run. The first two report a lost process, since either may be it.
    """
    from translate.train.callbacks.checkpoints import Interrupted
    from translate.train.console import say
    from translate.train.parallel.distributed import explain_lost_process, resume_command

    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except (Interrupted, KeyboardInterrupt):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # from a launcher, before this process has spoken
        if rank == 0 and any((run_dir / name).exists() for name in (LAST_CHECKPOINT, PLAN)):
            say(f"stopped; go on with\n  {resume_command(run_dir)}")
        raise SystemExit(130) from None
    except RuntimeError as error:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # likewise
        message = explain_lost_process(error, run_dir)
        if message is None:
            raise
        if rank < 2:
            say(message)
        raise SystemExit(1) from None
    finally:
        signal.signal(signal.SIGTERM, previous)


def new_run(config: TrainConfig) -> tuple[TrainConfig, Path]:
    """Return the settings of a fresh run and its directory, runs/<name>/<date_time> unless `run_dir` names one."""
    if config.trainer.processes > 1 and _in_sweep():
        raise ValueError(f"a sweep trains on one device, not {config.trainer.processes}; start such runs one by one")
    stamp = Path(config.runs_dir) / config.name / datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
    return config, Path(config.run_dir) if config.run_dir else stamp


def _in_sweep() -> bool:
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    return HydraConfig.initialized() and HydraConfig.get().mode == RunMode.MULTIRUN


def make_directory(run_dir: Path, *, exist_ok: bool) -> Path:
    """Make the directory of a run, with "+" added to its name if it is taken: two runs may start in one second."""
    while True:
        try:
            run_dir.mkdir(parents=True, exist_ok=exist_ok)
            return run_dir
        except FileExistsError:
            run_dir = run_dir.with_name(run_dir.name + "+")


def resume_run(config: TrainConfig) -> tuple[TrainConfig, Path]:
    """Return the settings of an earlier run, with those of this command line on top, and its directory.

    Called from Python, where there is no command line, the settings are those of `config`.
    """
    from hydra.core.hydra_config import HydraConfig
    from hydra.core.override_parser.overrides_parser import OverridesParser

    run_dir = Path(str(config.resume)).resolve()
    staged = (run_dir / PLAN).is_file()
    if not (staged or (run_dir / LAST_CHECKPOINT).is_file()):
        raise ValueError(f"resume ({config.resume}) holds no {LAST_CHECKPOINT}; give the directory of a run")
    if not HydraConfig.initialized():
        if staged != bool(config.stages):
            raise ValueError(f"resume ({config.resume}) {'has' if staged else 'has no'} stages; give its own settings")
        return config, run_dir
    changes: dict[str, Any] = {}
    for override in OverridesParser.create().parse_overrides(list(HydraConfig.get().overrides.task)):
        key = override.key_or_group
        if key in HydraConfig.get().runtime.choices:
            raise ValueError(f"resume keeps the run's own {key}; change single settings instead of groups")
        if key.startswith(FIXED_IN_STAGES if staged else FIXED) and key not in MOVABLE:
            raise ValueError(f"resume keeps the run's own {key}; start a new run to change it")
        if key != "resume":
            changes[key] = override.value()
    resumed = load_config(run_dir / (PLAN if staged else "config.yaml"), TrainConfig, changes)
    for name, key in stage_settings(resumed.stages):
        if key in changes:
            raise ValueError(
                f"stages.{name} sets {key} itself, so that {key}={changes[key]} would change nothing there"
            )
    return replace(resumed, resume=config.resume), run_dir
