"""What a run keeps of the model that it starts from, in its own directory, so that it can be resumed without it."""

from dataclasses import replace
from pathlib import Path

from translate.config.files import load_config
from translate.config.train import TrainConfig
from translate.data.tokenizer import Tokenizer
from translate.translator.beside import NOTHING, Beside
from translate.translator.bundle import find_model

_DIRECTORY = "start"  # within that of the run


def keep_start(config: TrainConfig, run_dir: Path, tokenizer: Tokenizer) -> TrainConfig:
    """Copy tokenizer and what the start has beside its network, and return the settings with that tokenizer."""
    tokenizer.save(run_dir / _DIRECTORY)
    Beside.load(find_model(config.init_from)).save(run_dir / _DIRECTORY)
    return _with_kept_tokenizer(config, run_dir)


def kept_settings(config: TrainConfig, run_dir: Path) -> TrainConfig:
    """Return the settings of such a run that is resumed, with what it has taken from its start."""
    before = load_config(run_dir / "config.yaml", TrainConfig)
    data = replace(config.data, language_tags=before.data.language_tags)
    return _with_kept_tokenizer(replace(config, model=before.model, tokenizer=before.tokenizer, data=data), run_dir)


def kept_beside(config: TrainConfig) -> Beside:
    """Return what a run keeps that its start had beside the network, by settings that name its tokenizer."""
    return Beside.load(Path(str(config.tokenizer.path))) if config.init_from else NOTHING


def _with_kept_tokenizer(config: TrainConfig, run_dir: Path) -> TrainConfig:
    """Return the settings with the tokenizer in the run's directory, which may have been moved."""
    return replace(config, tokenizer=replace(config.tokenizer, path=str(run_dir / _DIRECTORY)))
