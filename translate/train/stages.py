"""The stages of a run, trainings, translations, averages and trimmings: what each is to do, found out before the first.

The setting `stages` is explained in docs/guides/stages.md; translate/train/staged.py does what is planned here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from translate.config.files import unknown_setting
from translate.config.model import ModelConfig
from translate.config.train import TrainConfig
from translate.search.mbr import METRICS

PLAN = Path("stages.yaml")  # within a run directory: the settings of a run with stages, which resume= goes on with
PAIRS = Path("pairs.tsv")  # within the directory of a translation
_OF_THE_RUN = ("name", "resume", "run_dir", "runs_dir", "evaluate", "stages")  # settings that no stage has of its own
_OWN = {  # keys of a stage that are no settings, by its work
    "translate": ("translate", "into", "closest"),
    "average": ("average",),
    "trim": ("trim", "least"),
}
_OF_TRANSLATIONS = ("data.", "decode.")  # the settings that a translation takes
_TAKEN = ("model", "checkpoints", "tensorboard", "evaluation")  # names in a run directory


@dataclass(frozen=True)
class Stage:
    """One stage of a run.

    Attributes:
        name: Its key in `stages`.
        directory: Where it works, in the run's directory.
        config: Its settings, complete; an average and a trimming have those of the first member, and themselves alone
            in `stages`.
        origin: Where its weights come from: the stage, or the model of another run, at which `init_from` ends.
        work: "train", "translate", "average" or "trim".
        members: The stages whose models translate together, are averaged, or the one that is trimmed; a training has
            none.
        into: The language that they are asked for; None = that of their settings.
        closest: The measure by which one of their hypotheses is taken, the one most like the other side of the training
            pair; None = all are.
        least: Uses in the training text with which a target piece outlives a trimming.
    """

    name: str
    directory: Path
    config: TrainConfig
    origin: str
    work: str = "train"
    members: tuple[Stage, ...] = ()
    into: str | None = None
    closest: str | None = None
    least: int = 1

    @property
    def output(self) -> Path:
        """What "{name}" stands for: the pairs of a translation, the directory of any other stage."""
        return self.directory / PAIRS if self.work == "translate" else self.directory

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
    if last.work == "translate":
        raise ValueError(f"stages.{last.name}: the last stage must leave a model, which becomes that of the run")
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
    work = next((one for one in _OWN if one in entry), "train")
    own = _OWN.get(work, ())
    config = _with_settings(base, _changes({key: entry[key] for key in entry if key not in own}, work, earlier))
    if config.trainer.processes > 1:
        raise ValueError(f"stages train on one device, not {config.trainer.processes}; train such runs one by one")
    if work == "train":
        _check_repetition(config, earlier)
        return Stage(name, run_dir / name, config, _origin(name, config, earlier))
    if work == "trim":
        (member,) = _members(work, [entry[work]], earlier)
        config = replace(member.config, seed=base.seed, stages={name: entry})
        _check_trimming(config, least := entry.get("least", 1))
        return Stage(name, run_dir / name, config, name, work, (member,), least=least)
    members = _members(work, entry[work], earlier)
    if work == "average":
        _check_average(members)
        config = replace(members[0].config, seed=base.seed, stages={name: entry})
        return Stage(name, run_dir / name, config, members[0].origin, work, members)
    into, closest = (None if entry.get(key) is None else str(entry[key]) for key in ("into", "closest"))
    stage = Stage(name, run_dir / name, config, name, work, members, into, closest)
    _check_translation(stage)
    return stage


def _origin(name: str, config: TrainConfig, earlier: Mapping[str, Stage]) -> str:
    """The stage where the weights of a training begin, or what its `init_from` names outside of the run."""
    if config.init_from is None:
        return name
    start = Path(config.init_from)
    inside = (one.origin for one in earlier.values() if start in (one.directory, one.directory / "model"))
    return next(inside, str(start))


def _check_repetition(config: TrainConfig, earlier: Mapping[str, Stage]) -> None:
    for stage in earlier.values():
        if stage.work == "train" and stage.config == config:
            raise ValueError(
                f"it would repeat {stage.name}, with the same settings and seed ({config.seed}); change one"
            )


def _members(work: str, names: object, earlier: Mapping[str, Stage]) -> tuple[Stage, ...]:
    if not (isinstance(names, list) and names):
        raise ValueError(f"{work} ({names}) must be a list of one stage or more, like [{next(iter(earlier), 'NAME')}]")
    members = tuple(_earlier(str(name), f"{work} ({name})", earlier) for name in names)
    for member in members:
        if member.work == "translate":
            raise ValueError(f"{work} ({member.name}) is a translation, which leaves no model")
    return members


def _earlier(name: str, where: str, earlier: Mapping[str, Stage]) -> Stage:
    if name not in earlier:
        there = f"there are {', '.join(earlier)}" if earlier else "this one is the first"
        raise ValueError(f"{where}: no earlier stage is called {name}; {there}")
    return earlier[name]


def _changes(entry: Mapping[Any, Any], work: str, earlier: Mapping[str, Stage]) -> dict[str, Any]:
    """Settings of a stage by dotted name, with the stages that they speak of filled in."""
    changes: dict[str, Any] = {}
    for key, value in _flat(entry):
        if key.partition(".")[0] in _OF_THE_RUN:
            raise ValueError(f"{key} belongs to the whole run; set it outside of stages")
        if work == "translate" and not key.startswith(_OF_TRANSLATIONS):
            raise ValueError(f"{key} does nothing in a translation, which takes settings of data and decode")
        if work in ("average", "trim"):
            raise ValueError(f"{key} does nothing where models are made into another; leave it out")
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


def _check_average(members: tuple[Stage, ...]) -> None:
    """Whether the mean of their weights can mean anything."""
    first = members[0]
    for member in members[1:]:
        if member.origin != first.origin:
            raise ValueError(
                f"average: the weights of {first.name} come from {first.origin} and those of {member.name} from "
                f"{member.origin}; only networks trained on from the same weights have a mean, see init_from"
            )
        if (member.languages, member.config.data.tgt_langs) != (first.languages, first.config.data.tgt_langs):
            raise ValueError(f"average: {first.name} and {member.name} have other languages or tags")
        for depth in ("num_encoder_layers", "num_decoder_layers"):
            numbers = [getattr(one.config.model, depth) for one in (first, member)]
            if len(set(numbers)) > 1 and getattr(ModelConfig, depth) not in numbers:  # which init_from may change
                raise ValueError(
                    f"average: model.{depth} is {numbers[0]} in {first.name} and {numbers[1]} in {member.name}; only "
                    "networks of one shape have a mean"
                )


def _vocabulary(stage: Stage) -> tuple[object, ...]:
    """What the tokens of its model depend on."""
    data, cut = stage.config.data, stage.least if stage.work == "trim" else None
    return stage.config.tokenizer, data.extra, data.max_pairs, data.tgt_langs, cut


def _check_trimming(config: TrainConfig, least: object) -> None:
    if not isinstance(least, int) or isinstance(least, bool) or least < 1:
        raise ValueError(f"least ({least}) must be a whole number from 1: how often training targets use a piece")
    if config.data.both_directions or config.data.tgt_langs:
        raise ValueError("trim: a model of both directions needs the pieces of both languages")


def _check_translation(stage: Stage) -> None:
    """Whether the models can read the training pairs, and the search is one."""
    first = stage.members[0]
    for member in stage.members:
        if _vocabulary(member) != _vocabulary(first):
            raise ValueError(
                f"translate: {first.name} and {member.name} have other settings of the tokenizer, data.extra, "
                "data.max_pairs, tags or trim; models that translate together need the same vocabulary"
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
    decode = stage.config.decode.changed(asdict(stage.config.decode))  # type: ignore[arg-type]
    if stage.closest not in (None, *METRICS):
        raise ValueError(f"closest ({stage.closest}) must be one of {', '.join(METRICS)}")
    if stage.closest and (decode.num_hypotheses < 2 or decode.mbr != "none"):
        raise ValueError(
            f"closest ({stage.closest}) takes one of several hypotheses: set decode.num_hypotheses to 2 or more "
            "and leave decode.mbr out"
        )
