"""Hugging Face's `MarianMTModel`: its settings and the names of its weights, to read such a model and to write one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn

from translate.common.errors import first_line
from translate.config.decode import DecodeConfig
from translate.config.model import ModelConfig
from translate.model.layers import DecoderLayer, EncoderLayer

if TYPE_CHECKING:
    from translate.model.attention import Attention
    from translate.model.transformer import Transformer

ACTIVATIONS = {"swish": "swish", "silu": "swish", "relu": "relu", "gelu": "gelu"}  # theirs to ours


def network_of(config: Mapping[str, Any]) -> ModelConfig:
    """Return the settings of the network that a `config.json` describes.

    Raises:
        ValueError: If it is no Marian model, or of a form that our network does not have; the message names the key.
    """
    if config.get("model_type") != "marian":
        raise ValueError(f"model_type is {config.get('model_type')!r}: only 'marian' can be converted")
    check_numbers(config, _SIZES)
    for size in ("ffn_dim", "attention_heads"):
        if config[f"encoder_{size}"] != config[f"decoder_{size}"]:
            raise ValueError(f"encoder_{size} and decoder_{size} differ: our networks have the same on both sides")
    activation = config.get("activation_function")
    if not isinstance(activation, str) or activation not in ACTIVATIONS:
        raise ValueError(f"activation_function is {activation!r}: it must be one of {', '.join(ACTIVATIONS)}")
    return ModelConfig(
        d_model=config["d_model"],
        d_ff=config["encoder_ffn_dim"],
        num_heads=config["encoder_attention_heads"],
        num_encoder_layers=config["encoder_layers"],
        num_decoder_layers=config["decoder_layers"],
        norm_first=False,
        activation=ACTIVATIONS[activation],
        sinusoids="halves",
        scale_embeddings=bool(config.get("scale_embedding", False)),
        share_embeddings=bool(config.get("share_encoder_decoder_embeddings", True)),
        tie_output=bool(config.get("tie_word_embeddings", True)),
        output_bias=True,
        dropout=_number(config, "dropout", 0.1),
        embedding_dropout=_number(config, "dropout", 0.1),
        attention_dropout=_number(config, "attention_dropout", 0.0),
        activation_dropout=_number(config, "activation_dropout", 0.0),
    )


_SIZES = ("d_model", *(f"{side}_{size}" for side in ("encoder", "decoder") for size in ("layers", "ffn_dim")))
_SIZES += ("encoder_attention_heads", "decoder_attention_heads")


def check_numbers(settings: Mapping[str, Any], names: Iterable[str]) -> None:
    """Check the sizes in the settings of a network.

    Raises:
        ValueError: If one is missing, or no whole number above 0.
    """
    for name in names:
        value = settings.get(name)
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"the settings of the network say {name}: {value!r}; it must be a whole number above 0")


def _number(config: Mapping[str, Any], name: str, default: float) -> Any:
    value = config.get(name)
    if value is not None and not isinstance(value, int | float):
        raise ValueError(f"the settings say {name}: {value!r}; it must be a number")
    return default if value is None else value


def search_of(config: Mapping[str, Any]) -> DecodeConfig:
    """Return the search settings that a `config.json`, or a `generation_config.json` behind it, asks for.

    Raises:
        ValueError: If one is no number, or out of range.
    """
    return DecodeConfig(
        beam_size=_number(config, "num_beams", 0) or 4,
        max_output_len=_number(config, "max_length", 0) or 512,
        length_penalty=float(_number(config, "length_penalty", 0)) or 1.0,
    )


def read_weights(path: Path) -> dict[str, Tensor]:
    """Read `model.safetensors` or `pytorch_model.bin`, of which weights alone are read.

    Raises:
        ValueError: If neither is there, or the file is damaged.
    """
    from safetensors.torch import load_file

    safe, old = path / "model.safetensors", path / "pytorch_model.bin"
    file = safe if safe.is_file() else old
    if not file.is_file():
        raise ValueError(f"no weights in {path}: neither {safe.name} nor {old.name}")
    try:
        found = load_file(file) if file == safe else torch.load(file, map_location="cpu", weights_only=True)
        return {name: tensor.float() for name, tensor in found.items()}
    except Exception as error:  # whatever a reader says of a damaged file
        raise ValueError(f"{file} holds no weights: {first_line(error)}") from error


@torch.no_grad()
def fill(model: Transformer, weights: Mapping[str, Tensor]) -> None:
    """Copy their weights into our network.

    Raises:
        ValueError: If one is missing, of another shape, or left over.
    """
    left = {name for name in weights if "embed_positions" not in name}
    for name, parameter in names_and_tensors(model):
        found = weights.get(name)
        if found is None and name in ("lm_head.weight", *_TABLES):  # stored once
            found = weights.get("model.shared.weight")
        if found is None:
            raise ValueError(f"the weights lack {name}")
        found = found.reshape(parameter.shape) if name == "final_logits_bias" else found
        if found.shape != parameter.shape:
            raise ValueError(f"size mismatch for {name}: {list(found.shape)}, not {list(parameter.shape)}")
        parameter.copy_(found)
        left.discard(name)
    left -= {"model.shared.weight", "lm_head.weight", *_TABLES}
    if left:
        raise ValueError(f"unexpected weights: {', '.join(sorted(left)[:5])}")


_TABLES = ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight")


def names_and_tensors(model: Transformer) -> Iterator[tuple[str, Tensor]]:
    """Yield our parameters, or the rows of them, by the names of Hugging Face's `MarianMTModel` and `M2M100`."""
    tables = {"encoder": model.src_embedding.tokens.weight, "decoder": model.tgt_embedding.tokens.weight}
    yield "lm_head.weight", model.output.weight
    if model.output.bias is not None:
        yield "final_logits_bias", model.output.bias
    if model.src_embedding is model.tgt_embedding:
        yield "model.shared.weight", tables["encoder"]
    for side, layers in (("encoder", model.encoder_layers), ("decoder", model.decoder_layers)):
        yield f"model.{side}.embed_tokens.weight", tables[side]
        for place, layer in enumerate(cast("Iterable[EncoderLayer | DecoderLayer]", layers)):
            for name, tensor in _layer(layer):
                yield f"model.{side}.layers.{place}.{name}", tensor
        yield from _named(f"model.{side}.layer_norm", model.get_submodule(f"{side}_norm"))


def _layer(layer: EncoderLayer | DecoderLayer) -> Iterator[tuple[str, Tensor]]:
    yield from _attention("self_attn", layer.self_attention)
    yield from _named("self_attn_layer_norm", layer.self_norm)
    if isinstance(layer, DecoderLayer):
        yield from _attention("encoder_attn", cast("Attention", layer.cross_attention))
        yield from _named("encoder_attn_layer_norm", cast("nn.Module", layer.cross_norm))
    yield from _named("fc1", layer.feed_forward.inner)
    yield from _named("fc2", layer.feed_forward.outer)
    yield from _named("final_layer_norm", layer.ff_norm)


def _attention(name: str, attention: Attention) -> Iterator[tuple[str, Tensor]]:
    for kind, tensor in attention.qkv.named_parameters():
        parts = torch.split(tensor, attention.q_parts + attention.kv_parts)
        for part, rows in zip(("q", "k", "v"), parts, strict=True):
            yield f"{name}.{part}_proj.{kind}", rows
    yield from _named(f"{name}.out_proj", attention.out)


def _named(name: str, module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    for kind, tensor in module.named_parameters():
        yield f"{name}.{kind}", tensor
