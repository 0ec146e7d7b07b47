"""Start a run from another's weights: take over its settings and its tokenizer, and load the weights."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import torch
from torch import Tensor

from translate.config.decode import DecodeConfig
from translate.config.fields import as_override
from translate.config.model import ModelConfig
from translate.config.tokenizer import TokenizerConfig
from translate.config.train import TrainConfig
from translate.data.tokenizer import Tokenizer
from translate.model.attention import Attention
from translate.model.layers import make_attention
from translate.model.transformer import Transformer
from translate.translator.bundle import find_model, load_bundle, load_bundle_config, open_bundle

_DEPTHS = {"num_encoder_layers": "encoder_layers", "num_decoder_layers": "decoder_layers"}  # a setting: its module
_ATTENTION = ("attention", "encoder_attention", "decoder_attention", "cross_attention", "num_kv_heads")
_LAST_MAPS = ("out", "outer")  # of an attention and of a feed-forward layer


def inherit_settings(config: TrainConfig) -> TrainConfig:
    """Return the settings of a fresh run, with the network and the tokenizer of the model that `init_from` names.

    Settings of the network at their default are taken from that model, and so are language codes. Dropouts are those of
    `config`, and so are an attention with fewer key and value heads, fewer layers than that model's unless both numbers
    are the default, and more layers than that model's and than the default.

    Raises:
        ValueError: If there is no such model, a setting or the tokenizer of `config` contradicts it, or the model
            translates in the other direction and does not share its vocabulary and embeddings.
    """
    directory = find_model(config.init_from)
    tokenizer, start = open_bundle(directory)
    _check_tokenizer(config, tokenizer)
    turned = (start.src_lang, start.tgt_lang) == (config.data.tgt_lang, config.data.src_lang)
    if turned and not (tokenizer.joint and start.model.share_embeddings):
        raise ValueError(
            f"init_from ({config.init_from}) translates {start.src_lang} to {start.tgt_lang} with other embeddings for "
            "each side; the other direction needs a model with tokenizer.joint and model.share_embeddings"
        )
    model = _network(config.model, start.model, str(config.init_from))
    data = replace(config.data, language_tags=config.data.language_tags or bool(start.tgt_langs))
    pieces = replace(config.tokenizer, path=str(directory), joint=tokenizer.joint)
    return replace(config, model=model, data=data, tokenizer=pieces)


def other_settings(config: TrainConfig) -> list[str]:
    """Return how the model that `init_from` names translates where this run differs, as overrides.

    >>> print(*other_settings(TrainConfig(init_from="en-fr")), sep="\\n")
    data.both_directions=true
    decode.copy_guard=true
    decode.form_guard=true
    decode.formality=consistent
    decode.paragraph_len=8
    """
    start = load_bundle_config(find_model(config.init_from))
    directions = start.src_lang in start.tgt_langs and not config.data.both_directions
    differing = [
        f"decode.{field.name}={as_override(theirs)}"
        for field in fields(DecodeConfig)
        if (theirs := getattr(start.decode, field.name)) != getattr(config.decode, field.name)
        and field.name != "batch_tokens"  # which changes no translation
    ]
    return ["data.both_directions=true"] * directions + differing


def load_start(model: Transformer, path: str) -> None:
    """Load the weights of the model that `init_from=path` names into `model`.

    If it has more layers, some of them are taken; if it has fewer, new ones stand between them that change nothing yet.
    Several key and value heads that are one in `model` are averaged.
    """
    start, _, _ = load_bundle(find_model(path))
    weights = start.state_dict()
    for stack in _DEPTHS.values():
        there, here = len(getattr(start, stack)), len(getattr(model, stack))
        weights = (_some_layers if here <= there else _more_layers)(weights, stack, there, here)
    model.load_state_dict(_mean_heads(weights, model))


def _some_layers(weights: Mapping[str, Tensor], stack: str, there: int, here: int) -> dict[str, Tensor]:
    """Keep `here` of the `there` layers of a stack, evenly spaced, the first and the last among them.

    Source: Shleifer and Rush 2020 (arXiv:2010.13002), "shrink and fine-tune".
    """
    chosen = _outside(weights, stack)
    for new, old in enumerate(_evenly(here, there)):
        chosen |= _layer(weights, f"{stack}.{old}.", f"{stack}.{new}.")
    return chosen


def _more_layers(weights: Mapping[str, Tensor], stack: str, there: int, here: int) -> dict[str, Tensor]:
    """Spread the `there` layers of a stack evenly over `here`, each new one a copy of the one before it.

    The last maps of a new layer are zero, so that with the norm before its sub-layers it adds nothing at first.
    Source: LLaMA Pro (Wu et al. 2024, arXiv:2401.02415), section 3.1.
    """
    chosen, places = _outside(weights, stack), _evenly(there, here)
    for new in range(here):
        old = bisect_right(places, new) - 1
        layer = _layer(weights, f"{stack}.{old}.", f"{stack}.{new}.")
        if places[old] != new:
            for name in layer:
                if name.rsplit(".", 2)[-2] in _LAST_MAPS:
                    layer[name] = torch.zeros_like(layer[name])
        chosen |= layer
    return chosen


def _evenly(few: int, many: int) -> list[int]:
    """Return `few` of the numbers below `many`, evenly spaced, the first and the last among them; of one, the first."""
    return [round(i * (many - 1) / max(1, few - 1)) for i in range(few)]


def _outside(weights: Mapping[str, Tensor], stack: str) -> dict[str, Tensor]:
    return {name: tensor for name, tensor in weights.items() if not name.startswith(f"{stack}.")}


def _layer(weights: Mapping[str, Tensor], old: str, new: str) -> dict[str, Tensor]:
    """Return the weights whose names begin with `old`, with `new` instead."""
    return {new + name.removeprefix(old): tensor for name, tensor in weights.items() if name.startswith(old)}


def _mean_heads(weights: Mapping[str, Tensor], model: Transformer) -> dict[str, Tensor]:
    """Reduce the key and value heads to as many as the model has, each the mean of those that it replaces.

    Source: Ainslie et al. 2023 (arXiv:2305.13245), section 2.1.
    """
    changed = dict(weights)
    for name, attention in model.named_modules():
        if isinstance(attention, Attention) and attention.kv_latent_dim is None:
            for key in (f"{name}.qkv.weight", f"{name}.qkv.bias"):
                if key in weights:
                    queries, rest = weights[key].tensor_split(attention.q_parts)
                    heads = rest.view(2, attention.num_kv_heads, -1, attention.head_dim, *rest.shape[1:])
                    changed[key] = torch.cat([queries, heads.mean(dim=2).flatten(0, 2)])
    return changed


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
    """Return the network of `start` with the dropouts, the numbers of layers or fewer heads of `here`."""
    attention = {part: getattr(here, part) for part in _ATTENTION}
    own: dict[str, Any] = attention if any(attention.values()) and _merges_heads(start, attention) else {}
    sized = any(getattr(here, depth) != getattr(ModelConfig, depth) for depth in _DEPTHS)
    for field in fields(ModelConfig):
        if field.name in own:
            continue
        mine, theirs = getattr(here, field.name), getattr(start, field.name)
        regularizes = "drop" in field.name  # no weight has its shape from it, and no translation depends on it
        grows = field.name in _DEPTHS and mine > theirs and mine != field.default  # the default may not have been given
        shrinks = field.name in _DEPTHS and sized and mine < theirs
        if grows and not start.norm_first:
            raise ValueError(
                f"model.{field.name} ({mine}) is {theirs} in init_from ({name}), whose norms stand after its "
                "sub-layers (model.norm_first=false); only a network with norms before them can be given more layers"
            )
        if regularizes or grows or shrinks:
            own[field.name] = mine
        elif mine not in (field.default, theirs):
            raise ValueError(
                f"model.{field.name} ({as_override(mine)}) is {as_override(theirs)} in init_from ({name}), whose "
                "weights are made for that; leave it out"
            )
    return replace(start, **own)


def _merges_heads(start: ModelConfig, attention: dict[str, Any]) -> bool:
    """Return whether these settings differ from `start` only in that groups of key and value heads become one."""
    theirs = _attentions(start)
    if any(one.kv_latent_dim is not None or one.mix_scores is not None for one in theirs):
        return False
    pairs = zip(theirs, _attentions(replace(start, **attention)), strict=True)
    return all(
        new.kv_latent_dim is None and new.mix_scores is None and old.num_kv_heads % new.num_kv_heads == 0
        for old, new in pairs
    )


def _attentions(config: ModelConfig) -> list[Attention]:
    """Return the attention of each place in a layer, without weights."""
    encoder, decoder, cross = config.attention_kinds
    with torch.device("meta"):
        own = [make_attention(config, kind) for kind in (encoder, decoder)]
        return [*own, make_attention(config, cross, cross=True)]
