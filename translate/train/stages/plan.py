"""Read the stages of a run from its settings, and refuse what cannot work before the first one begins.

The setting `stages` is explained in docs/guides/stages.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from translate.common.errors import first_line
from translate.config.files import unknown_setting
from translate.config.train import TrainConfig
from translate.train.stages.kinds import (
    Average,
    Earlier,
    Entry,
    Existing,
    Stage,
    Training,
    Translation,
    Trimming,
    find_stage,
)

PLAN = Path("stages.yaml")  # within a run directory: the settings of a run with stages, which resume= goes on with
_OF_THE_RUN = ("name", "resume", "run_dir", "runs_dir", "evaluate", "stages")  # settings that no stage may change
_TAKEN = ("model", "checkpoints", "tensorboard", "evaluation")  # names in a run directory
# kinds with keys of their own; a stage without them is a training
_MARKED: tuple[type[Stage], ...] = (
    Existing,
    Translation,
    Average,
    Trimming,
)


def plan_stages(config: TrainConfig, run_dir: Path) -> list[Stage]:
    """Return the stages of a run in their order, each with the settings of the run and its own on top.

    Args:
        config: The run's settings, with stages.
        run_dir: Its directory; nothing is read or written there.

    Raises:
        ValueError: If a stage cannot work, in one line that names it.
    """
    base = replace(config, stages={}, resume=None, run_dir=None, evaluate=False)
    stages: dict[str, Stage] = {}
    for name, entry in config.stages.items():
        try:
            stages[name] = _plan_stage(str(name), entry, base, run_dir, stages)
        except ValueError as error:
            raise ValueError(f"stages.{name}: {' '.join(str(error).split())}") from error
    *before, last = stages.values()
    if "seed" in config.stages[last.name]:
        raise ValueError(f"stages.{last.name}: the seed of the last stage is that of the run; set it outside of stages")
    if isinstance(last, Translation | Existing):
        raise ValueError(f"stages.{last.name}: the last stage must leave a model, which becomes that of the run")
    return [*before, replace(last, config=replace(last.config, evaluate=config.evaluate))]


def stage_settings(stages: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the name of a stage and the dotted name of a setting, for each setting that a stage gives."""
    for name, entry in stages.items():
        for key, _ in _flat(entry):
            yield str(name), key


def _plan_stage(name: str, entry: object, base: TrainConfig, run_dir: Path, earlier: Earlier) -> Stage:
    if not re.fullmatch(r"[A-Za-z]\w*", name) or name in _TAKEN:
        raise ValueError(f"name a stage by letters, digits and _, a letter first, and not {', '.join(_TAKEN)}")
    if not isinstance(entry, dict):
        raise ValueError(f"{entry} is no mapping of settings; write {{}} for a training with those of the run")
    kind = next((kind for kind in _MARKED if kind.KEYS[0] in entry), Training)
    own = {key: value for key, value in entry.items() if key not in kind.KEYS}
    config = _with_settings(base, _changes(own, kind, earlier))
    if config.trainer.processes > 1:
        raise ValueError(f"stages train on one device, not {config.trainer.processes}; train such runs one by one")
    return kind.parse(name, run_dir / name, config, entry, earlier)


def _changes(entry: Entry, kind: type[Stage], earlier: Earlier) -> dict[str, Any]:
    """Return the settings of a stage by dotted name, with the stages that they name filled in."""
    changes: dict[str, Any] = {}
    for key, value in _flat(entry):
        if key.partition(".")[0] in _OF_THE_RUN:
            raise ValueError(f"{key} belongs to the whole run; set it outside of stages")
        if not key.startswith(kind.TAKES):
            raise ValueError(f"{key} does nothing {kind.PLACE}")
        if key in changes:
            raise ValueError(f"{key} is given twice")
        if value == {}:
            raise ValueError(f"{key}={{}} changes nothing, since mappings are merged; leave it out")
        changes[key] = _fill_in(value, key, earlier)
    return changes


def _flat(entry: Entry, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in entry.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _fill_in(value: Any, key: str, earlier: Earlier) -> Any:
    """Replace "{name}" in a value, or in those of a list, by what that stage leaves."""
    if isinstance(value, list):
        return [_fill_in(one, key, earlier) for one in value]
    if not isinstance(value, str):
        return value
    where = f"{key} ({value})"
    return re.sub(r"\{([^{}]*)\}", lambda found: str(find_stage(found[1], where, earlier).output), value)


def _with_settings(base: TrainConfig, changes: Mapping[str, Any]) -> TrainConfig:
    from omegaconf import OmegaConf
    from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException

    merged = OmegaConf.structured(base)
    for key, value in changes.items():
        try:
            OmegaConf.update(merged, key, value)
        except (ConfigKeyError, ConfigAttributeError) as error:
            raise ValueError(unknown_setting(key, TrainConfig)) from error
        except OmegaConfBaseException as error:
            raise ValueError(f"{key}: {first_line(error)}") from error
    return OmegaConf.to_object(merged)  # type: ignore[return-value]
