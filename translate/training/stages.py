"""The stages of a run, trainings and translations one after another: what each is to do, found out before the first.

`stages` of the settings is explained in conf/train.yaml; translate/training/staged.py does what is planned here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from translate.config import TrainConfig, unknown_setting

PLAN = Path("stages.yaml")  # within a run directory: the settings of a run with stages, which resume= goes on with
PAIRS = Path("pairs.tsv")  # within the directory of a translation
_OF_THE_RUN = ("name", "resume", "run_dir", "runs_dir", "evaluate", "stages")  # settings that no stage has of its own
_OF_TRANSLATIONS = ("data.", "decode.")  # the settings that a translation takes
_TAKEN = ("model", "checkpoints", "tensorboard", "evaluation")  # names in a run directory


@dataclass(frozen=True)
class Stage:
    """One stage of a run.

    Attributes:
        name: Its key in `stages`.
        directory: Where it works, in the run's directory.
        config: Its settings, complete.
        members: The trainings whose models translate together; none where the stage is a training itself.
        into: The language that they are asked for; None = that of their settings.
    """

    name: str
    directory: Path
    config: TrainConfig
    members: tuple[Stage, ...] = ()
    into: str | None = None

    @property
    def output(self) -> Path:
        """What "{name}" stands for: the directory of a training, the pairs of a translation."""
        return self.directory / PAIRS if self.members else self.directory

    @property
    def languages(self) -> tuple[str, str]:
        """Source and target of its training pairs."""
        return self.config.data.src_lang, self.config.data.tgt_lang

    @property
    def side(self) -> str:
        """The side of the training pairs that the members can read, "src" or "tgt"."""
        read, written = self.members[0].languages
        return "src" if (written if self.into == read else read) == self.languages[0] else "tgt"


def plan_stages(config: TrainConfig, run_dir: Path) -> list[Stage]:
    """The stages of a run in their order, each with the settings of the run and its own on top.

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
            stages[name] = _plan(str(name), entry, base, run_dir, stages)
        except ValueError as error:
            raise ValueError(f"stages.{name}: {' '.join(str(error).split())}") from error
    *before, last = stages.values()
    if "seed" in config.stages[last.name]:
        raise ValueError(f"stages.{last.name}: the seed of the last stage is that of the run; set it outside of stages")
    if last.members:
        raise ValueError(f"stages.{last.name}: the last stage must be a training, whose model becomes that of the run")
    return [*before, replace(last, config=replace(last.config, evaluate=config.evaluate))]


def own_settings(stages: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The settings that each stage has of its own: its name and the setting's dotted one."""
    for name, entry in stages.items():
        for key, _ in _flat(entry):
            yield str(name), key


def _plan(name: str, entry: object, base: TrainConfig, run_dir: Path, earlier: Mapping[str, Stage]) -> Stage:
    """One stage, after those that come before it."""
    if not re.fullmatch(r"[A-Za-z]\w*", name) or name in _TAKEN:
        raise ValueError(f"name a stage by letters, digits and _, a letter first, and not {', '.join(_TAKEN)}")
    if not isinstance(entry, dict):
        raise ValueError(f"{entry} is no mapping of settings; write {{}} for a training with those of the run")
    members = _members(entry["translate"], earlier) if "translate" in entry else ()
    own = ("translate", "into") if members else ("translate",)
    config = _with_settings(base, _changes({key: entry[key] for key in entry if key not in own}, members, earlier))
    if config.trainer.processes > 1:
        raise ValueError(f"stages train on one device, not {config.trainer.processes}; train such runs one by one")
    stage = Stage(name, run_dir / name, config, members, str(entry["into"]) if members and "into" in entry else None)
    if members:
        _check_translation(stage)
    return stage


def _members(names: object, earlier: Mapping[str, Stage]) -> tuple[Stage, ...]:
    if not (isinstance(names, list) and names):
        raise ValueError(
            f"translate ({names}) must be a list of one stage or more, like [{next(iter(earlier), 'NAME')}]"
        )
    members = tuple(_earlier(str(name), f"translate ({name})", earlier) for name in names)
    for member in members:
        if member.members:
            raise ValueError(f"translate ({member.name}) is a translation; only trainings leave a model")
    return members


def _earlier(name: str, where: str, earlier: Mapping[str, Stage]) -> Stage:
    if name not in earlier:
        there = f"there are {', '.join(earlier)}" if earlier else "this one is the first"
        raise ValueError(f"{where}: no earlier stage is called {name}; {there}")
    return earlier[name]


def _changes(entry: Mapping[Any, Any], members: tuple[Stage, ...], earlier: Mapping[str, Stage]) -> dict[str, Any]:
    """Settings of a stage by dotted name, with the stages that they speak of filled in."""
    changes: dict[str, Any] = {}
    for key, value in _flat(entry):
        if key.partition(".")[0] in _OF_THE_RUN:
            raise ValueError(f"{key} belongs to the whole run; set it outside of stages")
        if members and not key.startswith(_OF_TRANSLATIONS):
            raise ValueError(f"{key} does nothing in a translation, which takes settings of data and decode")
        if key in changes:
            raise ValueError(f"{key} is given twice")
        changes[key] = _filled(value, key, earlier)
    return changes


def _flat(entry: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in entry.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _filled(value: Any, key: str, earlier: Mapping[str, Stage]) -> Any:
    """A value with "{name}" replaced by what that stage leaves, in lists too."""
    if isinstance(value, list):
        return [_filled(one, key, earlier) for one in value]
    if not isinstance(value, str):
        return value
    where = f"{key} ({value})"
    return re.sub(r"\{([^{}]*)\}", lambda found: str(_earlier(found[1], where, earlier).output), value)


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
            raise ValueError(f"{key}: {str(error).splitlines()[0]}") from error
    return OmegaConf.to_object(merged)  # type: ignore[return-value]


def _check_translation(stage: Stage) -> None:
    """Whether the models can read the training pairs, and the search is one."""
    first = stage.members[0]
    for member in stage.members:
        vocabulary, others = (
            (one.config.tokenizer, one.config.data.extra, one.config.data.max_pairs, one.config.data.tgt_langs)
            for one in (first, member)
        )
        if vocabulary != others:
            raise ValueError(
                f"translate: {first.name} and {member.name} have other settings of the tokenizer, data.extra, "
                "data.max_pairs or tags; models that translate together need the same vocabulary"
            )
        if member.languages != first.languages:
            raise ValueError(
                f"translate: {first.name} translates {' to '.join(first.languages)} and {member.name} "
                f"{' to '.join(member.languages)}; models that translate together need the same languages"
            )
    if stage.into not in (None, first.languages[1], *first.config.data.tgt_langs):
        raise ValueError(
            f"into ({stage.into}): {first.name} translates {' to '.join(first.languages)} only; data.both_directions "
            "with data.language_tags would let it do more"
        )
    if set(first.languages) != set(stage.languages):
        raise ValueError(
            f"translate: {first.name} translates {' to '.join(first.languages)}, and the training pairs are "
            f"{' and '.join(stage.languages)}; set data.src_lang and data.tgt_lang"
        )
    stage.config.decode.changed(asdict(stage.config.decode))
