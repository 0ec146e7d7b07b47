"""The five kinds of stages: Training, Existing, Translation, Average and Trimming; each parses and checks itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from translate.common.command import importing
from translate.config.decode import METRICS
from translate.config.model import ModelConfig
from translate.config.train import TrainConfig
from translate.data.tokenizer import Tokenizer
from translate.translator.bundle import find_model, load_bundle_config

Earlier = Mapping[str, "Stage"]  # the stages before one, by name
Entry = Mapping[Any, Any]  # of a stage in the settings


@dataclass(frozen=True)
class Stage(ABC):
    """One stage of a run.

    Attributes:
        name: Its key in `stages`.
        directory: Where it works, in the run's directory.
        config: Its complete settings; those of an average or a trimming are the settings of its first member, with
            its own entry in `stages`.
        origin: Where its weights come from: the stage, or the model of another run, at which `init_from` ends.
    """

    name: str
    directory: Path
    config: TrainConfig
    origin: str

    KEYS: ClassVar[tuple[str, ...]] = ()  # of an entry, that are no settings; the first tells the kind
    TAKES: ClassVar[tuple[str, ...]] = ()  # how the names of settings begin that a stage of this kind may change
    PLACE: ClassVar[str] = "where models are made into another; leave it out"  # where other settings do nothing

    @classmethod
    @abstractmethod
    def parse(cls, name: str, directory: Path, config: TrainConfig, entry: Entry, earlier: Earlier) -> Self:
        """Return the stage that an entry describes.

        Args:
            name: As in the attributes.
            directory: As in the attributes.
            config: Settings of the run, with those of the entry on top.
            entry: Value of `name` in `stages`.
            earlier: The stages before this one.

        Raises:
            ValueError: If the stage cannot work.
        """

    @property
    def output(self) -> Path:
        """Return what "{name}" stands for in the settings of later stages."""
        return self.directory

    @property
    def record(self) -> Path:
        """Return the file that a stage writes last, when all that it leaves is there."""
        return self.directory / "finished"

    @property
    def languages(self) -> tuple[str, str]:
        """Return the source and the target language of the training pairs."""
        return self.config.data.src_lang, self.config.data.tgt_lang


class Training(Stage):
    """Trains a network, from random weights or from those that `init_from` names."""

    TAKES = ("",)

    @classmethod
    def parse(cls, name: str, directory: Path, config: TrainConfig, entry: Entry, earlier: Earlier) -> Self:
        """See `Stage.parse`."""
        for stage in earlier.values():
            if isinstance(stage, Training) and stage.config == config:
                raise ValueError(
                    f"it would repeat {stage.name}, with the same settings and seed ({config.seed}); change one"
                )
        for path in config.optim.teachers:
            if _maker(path, earlier) is None:
                load_bundle_config(find_model(path))  # refuses what is no model; all else needs the tokenizer
        if config.init_from is None:
            return cls(name, directory, config, name)
        if maker := _maker(config.init_from, earlier):
            return cls(name, directory, config, maker.origin)
        with importing():
            from translate.train.weights.warm_start import inherit_settings

        inherit_settings(config)  # refuses what does not fit
        return cls(name, directory, config, str(find_model(config.init_from)))


class Existing(Stage):
    """A model that is there already; its own directory is that of the stage."""

    KEYS = ("load",)
    PLACE = "where a model is taken as it is; leave it out"

    @classmethod
    def parse(cls, name: str, directory: Path, config: TrainConfig, entry: Entry, earlier: Earlier) -> Self:
        """See `Stage.parse`."""
        model = find_model(str(entry["load"]))
        bundle = load_bundle_config(model)
        data = replace(
            config.data,
            src_lang=bundle.src_lang,
            tgt_lang=bundle.tgt_lang,
            language_tags=bool(bundle.tgt_langs),
            both_directions=bundle.src_lang in bundle.tgt_langs,
        )
        pieces = replace(config.tokenizer, path=str(model), joint=Tokenizer.load(model).joint)
        config = replace(config, model=bundle.model, data=data, tokenizer=pieces, decode=bundle.decode)
        return cls(name, model, config, str(model))

    @property
    def record(self) -> Path:
        """Return a file of the model, which is finished."""
        return self.directory / "config.yaml"


@dataclass(frozen=True)
class Average(Stage):
    """Averages the weights of models.

    Attributes:
        members: The stages whose models are averaged.
    """

    members: tuple[Stage, ...]

    KEYS = ("average",)

    @classmethod
    def parse(cls, name: str, directory: Path, config: TrainConfig, entry: Entry, earlier: Earlier) -> Self:
        """See `Stage.parse`."""
        first, *others = members = _find_members("average", entry["average"], earlier)
        for member in others:
            if member.origin != first.origin:
                raise ValueError(
                    f"average: the weights of {first.name} come from {first.origin} and those of {member.name} from "
                    f"{member.origin}; only networks trained on from the same weights have a mean, see init_from"
                )
            if (member.languages, member.config.data.tgt_langs) != (first.languages, first.config.data.tgt_langs):
                raise ValueError(f"average: {first.name} and {member.name} have other languages or tags")
            for depth in ("num_encoder_layers", "num_decoder_layers"):
                default = getattr(ModelConfig, depth)  # with init_from it stands for any number
                numbers = [getattr(one.config.model, depth) for one in (first, member)]
                unknown = [
                    one.config.init_from and n == default for one, n in zip((first, member), numbers, strict=True)
                ]
                if numbers[0] != numbers[1] and not any(unknown):
                    raise ValueError(
                        f"average: model.{depth} is {numbers[0]} in {first.name} and {numbers[1]} in {member.name}; "
                        "only networks of one shape have a mean"
                    )
        return cls(name, directory, _derived(first, config, name, entry), first.origin, members)


@dataclass(frozen=True)
class Trimming(Stage):
    """Removes the rare pieces of a model.

    Attributes:
        member: The stage whose model is trimmed.
        least: Uses in the training text with which a piece stays.
        sources: Whether rare source pieces go, too.
    """

    member: Stage
    least: int
    sources: bool

    KEYS = ("trim", "least", "sources")

    @classmethod
    def parse(cls, name: str, directory: Path, config: TrainConfig, entry: Entry, earlier: Earlier) -> Self:
        """See `Stage.parse`."""
        (member,) = _find_members("trim", [entry["trim"]], earlier)
        least, sources, data = entry.get("least", 1), entry.get("sources", False), member.config.data
        if not isinstance(least, int) or isinstance(least, bool) or least < 1:
            raise ValueError(f"least ({least}) must be a whole number from 1: how often the training text uses a piece")
        if data.both_directions or data.tgt_langs:
            raise ValueError("trim: a model of both directions needs the pieces of both languages")
        if not isinstance(sources, bool):
            raise ValueError(f"sources ({sources}) must be true or false: whether rare source pieces go, too")
        return cls(name, directory, _derived(member, config, name, entry), name, member, least, sources)


@dataclass(frozen=True)
class Translation(Stage):
    """Translates a side of the training pairs.

    Attributes:
        members: The stages whose models translate together.
        into: The target language; None = that of their settings.
        closest: The measure by which the hypothesis is chosen that is most like the other side of the training pair;
            None = all hypotheses are taken.
        workers: Processes that translate; None = this one.
        ray: Address of a Ray cluster that does it, "" for the one that this machine belongs to; None = this machine.
    """

    members: tuple[Stage, ...]
    into: str | None
    closest: str | None
    workers: int | None
    ray: str | None

    KEYS = ("translate", "into", "closest", "workers", "ray")
    TAKES = ("data.", "decode.")
    PLACE = "in a translation, which takes settings of data and decode"

    @classmethod
    def parse(cls, name: str, directory: Path, config: TrainConfig, entry: Entry, earlier: Earlier) -> Self:
        """See `Stage.parse`."""
        members = _find_members("translate", entry["translate"], earlier)
        into, closest, ray = (None if entry.get(key) is None else str(entry[key]) for key in ("into", "closest", "ray"))
        workers = entry.get("workers")
        if workers is not None and (not isinstance(workers, int) or isinstance(workers, bool) or workers < 1):
            raise ValueError(f"workers ({workers}) must be a whole number from 1: processes that translate")
        stage = cls(name, directory, config, name, members, into, closest, workers, ray)
        stage._check_languages()
        stage._check_search()
        return stage

    @property
    def output(self) -> Path:
        """Return the file of the pairs."""
        return self.directory / "pairs.tsv"

    @property
    def record(self) -> Path:
        """Return the file that says how the pairs were made."""
        return self.directory / "translation.json"

    @property
    def direction(self) -> tuple[str, str]:
        """Return the languages that the members read and write."""
        read, written = self.members[0].languages
        return (written if self.into == read else read), self.into or written

    @property
    def side(self) -> str:
        """Return the side of the training pairs that the members can read, "src" or "tgt"."""
        return "src" if self.direction[0] == self.languages[0] else "tgt"

    def _check_languages(self) -> None:
        """Raise ValueError if the models cannot translate together, or cannot read the training pairs."""
        first = self.members[0]
        directions = [" to ".join(member.languages) for member in self.members]
        for member, direction in zip(self.members, directions, strict=True):
            if _vocabulary(member) != _vocabulary(first):
                raise ValueError(
                    f"translate: {first.name} and {member.name} have other settings of the tokenizer, data.extra, "
                    "data.max_pairs, tags or trim; models that translate together need the same vocabulary"
                )
            if direction != directions[0]:
                raise ValueError(
                    f"translate: {first.name} translates {directions[0]} and {member.name} {direction}; models that "
                    "translate together need the same languages"
                )
        if self.into not in (None, first.languages[1], *first.config.data.tgt_langs):
            raise ValueError(
                f"into ({self.into}): {first.name} translates {directions[0]} only; data.both_directions with "
                "data.language_tags would let it do more"
            )
        if set(first.languages) != set(self.languages):
            raise ValueError(
                f"translate: {first.name} translates {directions[0]}, and the training pairs are "
                f"{' and '.join(self.languages)}; set data.src_lang and data.tgt_lang"
            )

    def _check_search(self) -> None:
        decode = self.config.decode.changed(asdict(self.config.decode))
        if self.closest not in (None, *METRICS):
            raise ValueError(f"closest ({self.closest}) must be one of {', '.join(METRICS)}")
        if self.closest and (decode.num_hypotheses < 2 or decode.mbr != "none"):
            raise ValueError(
                f"closest ({self.closest}) takes one of several hypotheses: set decode.num_hypotheses to 2 or more "
                "and leave decode.mbr out"
            )


def find_stage(name: str, where: str, earlier: Earlier) -> Stage:
    """Return the earlier stage that `where` in the settings calls by its name.

    Raises:
        ValueError: If there is none.
    """
    if name not in earlier:
        there = f"there are {', '.join(earlier)}" if earlier else "this one is the first"
        raise ValueError(f"{where}: no earlier stage is called {name}; {there}")
    return earlier[name]


def _maker(path: str, earlier: Earlier) -> Stage | None:
    """Return the earlier stage that will have left the model in `path` when it is needed; None if it lies elsewhere."""
    return next((one for one in earlier.values() if Path(path) in (one.directory, one.directory / "model")), None)


def _find_members(key: str, names: object, earlier: Earlier) -> tuple[Stage, ...]:
    """Return the stages in the list of a key, all of which leave a model."""
    if not (isinstance(names, list) and names):
        raise ValueError(f"{key} ({names}) must be a list of one stage or more, like [{next(iter(earlier), 'NAME')}]")
    members = tuple(find_stage(str(name), f"{key} ({name})", earlier) for name in names)
    for member in members:
        if isinstance(member, Translation):
            raise ValueError(f"{key} ({member.name}) is a translation, which leaves no model")
    return members


def _derived(member: Stage, config: TrainConfig, name: str, entry: Entry) -> TrainConfig:
    """Return the settings of a model made of others: those of a member, with the run's seed and the entry itself."""
    return replace(member.config, seed=config.seed, stages={name: entry})


def _vocabulary(stage: Stage) -> tuple[object, ...]:
    """Return everything in the settings of a stage that the ids of its model's tokens depend on."""
    data, trimmed = stage.config.data, (stage.least, stage.sources) if isinstance(stage, Trimming) else None
    return stage.config.tokenizer, data.extra, data.max_pairs, data.tgt_langs, trimmed
