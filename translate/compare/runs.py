"""Finished runs as they lie on disk, and rows of them: runs that differ in nothing but the seed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from translate.config.files import load_config
from translate.config.train import TrainConfig
from translate.data.corpus import open_corpus
from translate.data.datamodule import TranslationDataModule
from translate.data.tokenizer import Tokenizer
from translate.evaluate.report import flatten
from translate.evaluate.test_sets import read_curves
from translate.translator.bundle import load_bundle_config
from translate.translator.translator import Translator

_NO_RESULT = {  # settings that change no figure; the corpus is compared by what is in it, not by where it lies
    *("name", "seed", "resume", "run_dir", "runs_dir", "evaluate", "decode.batch_tokens"),
    *(f"data.{name}" for name in ("root", "cache_dir", "train", "valid", "test", "streaming")),
    *(
        f"trainer.{name}"
        for name in (
            *("accelerator", "threads", "checkpoint_every", "keep_best"),
            *("csv", "tensorboard", "loggers", "log_every"),
        )
    ),
}
_ALL_NAMED = 3  # settings that may differ and still be told in every row


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes:
        path: Its directory, as it was named.
        config: Its settings, with the corpus where it lies now.
        valid_losses: (step, nats per token) of each validation while it trained; none if it kept no metrics.csv.
    """

    path: Path
    config: TrainConfig
    valid_losses: list[tuple[float, float]]

    @property
    def settings(self) -> dict[str, str]:
        """What its figures depend on, apart from the seed, by dotted name."""
        own = rf"(?:[^\s'\"\[\],]*/)?{re.escape(self.path.resolve().name)}/"  # its directory, wherever that is
        settings = {
            name: re.sub(own, "", value) for name, value in flatten(asdict(self.config)) if not _changes_nothing(name)
        }
        if self.config.init_from:  # its tokenizer is that run's, kept in a place of this run's own
            settings["tokenizer.path"] = "null"
        return settings | {"model.attention": self.config.model.shared_attention}

    def load(self, device: str) -> Translator:
        """Open the run's model, float32."""
        return Translator.load(self.path / "model", device=device, precision="32")


@dataclass(frozen=True)
class Row:
    """Runs with the same settings.

    Attributes:
        label: What to call it: the differences, as the command line takes them.
        differences: Settings that tell this row from the others, by dotted name; none if it is the only one. Where more
            than three settings differ in more than two rows, what tells it from the first row.
        runs: One for each seed, in their order.
    """

    label: str
    differences: dict[str, str]
    runs: list[Run]


def open_run(path: Path, data_root: str | None = None) -> Run:
    """Read a run directory; `data_root` says where its corpus lies now.

    Raises:
        ValueError: If it is not a run directory, or the run is not finished; the message says what to do.
    """
    if not path.is_dir():
        raise ValueError(f"{path}: there is no such directory; give a run directory, runs/<name>/<date_time>")
    if (path / "model.safetensors").is_file():
        raise ValueError(f"{path} is a model directory; give the run directory that it lies in")
    config = load_config(path / "config.yaml", TrainConfig, {"data.root": data_root} if data_root else None)
    if not (path / "model" / "model.safetensors").is_file():
        raise ValueError(f"{path} has no model/ yet: finish the run (translate.train resume={path}) or leave it out")
    curves = read_curves(path / "metrics.csv")
    last = max((step for points in curves.values() for step, _ in points), default=0)
    saved = _steps_of_model(path / "model")
    if saved is not None and last > saved:
        raise ValueError(
            f"{path} has trained on to step {last:,.0f} since its model/ was written at step {saved:,}: finish the run "
            f"(translate.train resume={path}) or leave it out"
        )
    return Run(path, config, curves.get("valid_loss", []))


def make_rows(runs: Sequence[Run]) -> list[Row]:
    """Group runs with equal settings, in the order in which they first appear.

    Raises:
        ValueError: If two runs are the same one, or have the same settings and the same seed.
    """
    groups = _equal_settings(runs)
    settings = [group[0].settings for group in groups]
    names = dict.fromkeys(name for each in settings for name in each)
    differing = [name for name in names if len({each.get(name) for each in settings}) > 1]
    differences = [{name: each.get(name, "null") for name in differing} for each in settings]
    if len(groups) > 2 and len(differing) > _ALL_NAMED:
        first = differences[0]
        differences = [{name: each[name] for name in differing if each[name] != first[name]} for each in differences]
        labels = ["first", *map(_label, differences[1:])]
    else:
        labels = [
            _label({name: value for name, value in each.items() if value != "null"} or each) for each in differences
        ]
    return [Row(*row) for row in zip(labels, differences, groups, strict=True)]


def _equal_settings(runs: Sequence[Run]) -> list[list[Run]]:
    """Return the runs with equal settings together, each group by seed."""
    groups: dict[tuple[tuple[str, str], ...], dict[int, Run]] = {}
    for run in runs:
        seed, by_seed = run.config.seed, groups.setdefault(tuple(run.settings.items()), {})
        if seed in by_seed:
            raise ValueError(
                f"{by_seed[seed].path} and {run.path} have the same settings and seed {seed}: give one of them"
            )
        by_seed[seed] = run
    return [[by_seed[seed] for seed in sorted(by_seed)] for by_seed in groups.values()]


def _label(settings: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in settings.items()) or "same settings"


def open_data(runs: Sequence[Run]) -> dict[Path, TranslationDataModule]:
    """Prepare the data of each run, by its path, with the tokenizer of its model.

    Runs with equal data settings and tokenizers share one data module, with the batches of the first of them.

    Raises:
        ValueError: If two runs have another corpus or other validation pairs, so that no figure of one may stand beside
            the other's; or if the corpus cannot be read.
    """
    modules: dict[str, TranslationDataModule] = {}
    found: dict[Path, TranslationDataModule] = {}
    contents: dict[str, str] = {}
    for run in runs:
        config = run.config
        tokenizer = replace(config.tokenizer, path=str(run.path / "model"))
        key = repr((config.data, config.tokenizer, Tokenizer.load(run.path / "model").fingerprint))
        if key not in modules:
            modules[key] = TranslationDataModule(config.data, tokenizer, seed=runs[0].config.seed)
            modules[key].prepare()
            contents[key] = open_corpus(replace(config.data.own, max_pairs=None)).fingerprint  # less of it is a setting
        found[run.path] = modules[key]
        first = next(iter(modules))
        for what, same in (
            ("corpora", contents[key] == contents[first]),
            ("validation pairs", modules[key].valid_pairs == modules[first].valid_pairs),
        ):
            if not same:
                raise ValueError(
                    f"{runs[0].path} and {run.path} have different {what}, so their figures cannot stand side by side; "
                    "compare runs on the same data"
                )
    return found


def _changes_nothing(name: str) -> bool:
    return name in _NO_RESULT or name.startswith("trainer.loggers.")


def _steps_of_model(directory: Path) -> int | None:
    """Return the optimizer steps behind the weights, from the model card."""
    steps = load_bundle_config(directory).card.get("steps")
    return steps if isinstance(steps, int) else None
