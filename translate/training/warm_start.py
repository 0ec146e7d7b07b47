"""A run that starts from another's weights: the settings it takes over, the tokenizer it keeps, the weights."""

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path

from torch import Tensor

from translate.bundle import find_model, load_bundle, load_bundle_config
from translate.config import ModelConfig, TokenizerConfig, TrainConfig, load_config
from translate.data.tokenizer import Tokenizer
from translate.model.transformer import Transformer

_DEPTHS = {"num_encoder_layers": "encoder_layers", "num_decoder_layers": "decoder_layers"}  # a setting: its module
_TOKENIZER = "tokenizer"  # within the run directory, so that resuming does not need the other run any more


def adopt(config: TrainConfig) -> TrainConfig:
    """The settings of a fresh run, with the network and the tokenizer of the model that `config.init_from` names.

    A setting of the network that is at its default here is taken from there; dropouts are those of `config`, and so are
    numbers of layers below that model's, unless both are at their default.

    Raises:
        ValueError: If there is no such model, a setting or a tokenizer of `config` is another one, or the model
            translates the other way and its two sides are not alike.
    """
    directory = find_model(config.init_from)
    start, tokenizer = load_bundle_config(directory), Tokenizer.load(directory)
    _check_tokenizer(config, tokenizer)
    turned = (start.src_lang, start.tgt_lang) == (config.data.tgt_lang, config.data.src_lang)
    if turned and not (tokenizer.joint and start.model.share_embeddings):
        raise ValueError(
            f"init_from ({config.init_from}) translates {start.src_lang} to {start.tgt_lang} with other embeddings for "
            "each side; the other direction needs a model with tokenizer.joint and model.share_embeddings"
        )
    model = _network(config.model, start.model, str(config.init_from))
    return replace(config, model=model, tokenizer=replace(config.tokenizer, path=str(directory), joint=tokenizer.joint))


def adopted_before(config: TrainConfig, run_dir: Path) -> TrainConfig:
    """The settings of such a run that is resumed: network and tokenizer are those that it began with."""
    before = load_config(run_dir / "config.yaml", TrainConfig)
    return _with_kept_tokenizer(replace(config, model=before.model, tokenizer=before.tokenizer), run_dir)


def keep_tokenizer(config: TrainConfig, run_dir: Path, tokenizer: Tokenizer) -> TrainConfig:
    """Copy the tokenizer into the run's directory; returns the settings that name it there."""
    tokenizer.save(run_dir / _TOKENIZER)
    return _with_kept_tokenizer(config, run_dir)


def _with_kept_tokenizer(config: TrainConfig, run_dir: Path) -> TrainConfig:
    """The same settings, with the tokenizer that is kept in the directory, wherever that is now."""
    return replace(config, tokenizer=replace(config.tokenizer, path=str(run_dir / _TOKENIZER)))


def load_start(model: Transformer, path: str) -> None:
    """Give `model` the weights of the model that `init_from=path` names, of some of its layers if it has more."""
    start, _, _ = load_bundle(find_model(path))
    weights = start.state_dict()
    for stack in _DEPTHS.values():
        weights = _some_layers(weights, stack, len(getattr(start, stack)), len(getattr(model, stack)))
    model.load_state_dict(weights)


def _some_layers(weights: Mapping[str, Tensor], stack: str, there: int, here: int) -> dict[str, Tensor]:
    """The weights with `here` of the `there` layers of a stack, evenly spaced, the first and the last among them.

    Source: Shleifer and Rush 2020 (arXiv:2010.13002), "shrink and fine-tune".
    """
    kept = [round(i * (there - 1) / max(1, here - 1)) for i in range(here)]
    chosen = {name: tensor for name, tensor in weights.items() if not name.startswith(f"{stack}.")}
    for new, old in enumerate(kept):
        prefix = f"{stack}.{old}."
        chosen |= {f"{stack}.{new}.{n.removeprefix(prefix)}": t for n, t in weights.items() if n.startswith(prefix)}
    return chosen


def _check_tokenizer(config: TrainConfig, tokenizer: Tokenizer) -> None:
    mine, name = config.tokenizer, config.init_from
    if mine.path is not None and Tokenizer.load(mine.path).fingerprint != tokenizer.fingerprint:
        raise ValueError(f"tokenizer.path ({mine.path}) is not the tokenizer of init_from ({name}); leave it out")
    if tokenizer.joint and not mine.joint:
        raise ValueError(f"tokenizer.joint (false) is true in init_from ({name}); leave it out")
    sizes = {tokenizer.src_vocab_size, tokenizer.tgt_vocab_size}
    if mine.vocab_size not in (TokenizerConfig.vocab_size, *sizes):
        raise ValueError(
            f"tokenizer.vocab_size ({mine.vocab_size}) is {max(sizes)} in init_from ({name}); leave it out"
        )


def _network(here: ModelConfig, start: ModelConfig, name: str) -> ModelConfig:
    """The network of `start` with the dropouts and fewer layers of `here`; else that has defaults or the same."""
    own = {}
    sized = any(getattr(here, depth) != getattr(ModelConfig, depth) for depth in _DEPTHS)
    for field in fields(ModelConfig):
        mine, theirs = getattr(here, field.name), getattr(start, field.name)
        regularizes = "drop" in field.name  # no weight has its shape from it, and no translation depends on it
        shrinks = field.name in _DEPTHS and sized and mine < theirs
        if regularizes or shrinks:
            own[field.name] = mine
        elif mine not in (field.default, theirs):
            raise ValueError(
                f"model.{field.name} ({_word(mine)}) is {_word(theirs)} in init_from ({name}), whose weights "
                "are made for that; leave it out"
            )
    return replace(start, **own)


def _word(value: object) -> str:
    """A value as the command line takes it."""
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
