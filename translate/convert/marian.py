"""Marian's own files, `decoder.yml` with an `.npz` of weights and vocabularies, in the terms of `huggingface.py`."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import yaml
from torch import Tensor

from translate.common.errors import first_line
from translate.convert.huggingface import check_numbers
from translate.convert.tokenizer import PAD


class MarianFiles(NamedTuple):
    """What a directory of Marian holds.

    Attributes:
        config: As a `config.json` of Hugging Face would have it.
        weights: By the names of Hugging Face.
        vocabularies: Ids of the pieces of source and target.
    """

    config: dict[str, Any]
    weights: dict[str, Tensor]
    vocabularies: tuple[dict[str, int], dict[str, int]]


def read_marian(directory: Path) -> MarianFiles:
    """Read a directory with `decoder.yml`.

    Raises:
        ValueError: If a file is missing or damaged, or the network has a form that ours does not.
    """
    decoder = _read_yaml(directory / "decoder.yml")
    try:
        names = decoder["vocabs"]
        model, vocabularies = directory / decoder["models"][0], (directory / names[0], directory / names[-1])
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError(f"{directory / 'decoder.yml'} names no models or vocabs") from error
    arrays = _read_arrays(model)
    if "special:model.yml" not in arrays:
        raise ValueError(f"{model} lacks special:model.yml, the settings of its network")
    described = bytes(arrays.pop("special:model.yml").astype(np.uint8)[:-1]).decode(errors="replace")
    settings = _mapping(described, model)
    _check(settings, model)
    check_numbers(settings, ("dim-emb", "enc-depth", "dec-depth", "transformer-dim-ffn", "transformer-heads"))
    read = {path: _read_yaml(path) for path in dict.fromkeys(vocabularies)}  # most models name one file twice
    source, target = (read[path] for path in vocabularies)
    # Marian has no padding; it gets the last row, of zeros
    source, target = ({**one, PAD: len(one)} if PAD not in one else one for one in (source, target))
    shared = "Wemb" in arrays
    config = {
        "model_type": "marian",
        "d_model": settings["dim-emb"],
        "encoder_layers": settings["enc-depth"],
        "decoder_layers": settings["dec-depth"],
        "encoder_ffn_dim": settings["transformer-dim-ffn"],
        "decoder_ffn_dim": settings["transformer-dim-ffn"],
        "encoder_attention_heads": settings["transformer-heads"],
        "decoder_attention_heads": settings["transformer-heads"],
        "activation_function": settings.get("transformer-ffn-activation"),
        "scale_embedding": True,
        "share_encoder_decoder_embeddings": shared,
        "num_beams": decoder.get("beam-size", 4),
        "length_penalty": decoder.get("normalize", 1.0),
        "max_length": 512,
    }
    return MarianFiles(config, dict(_renamed(arrays, config)), (source, target))


def _read_yaml(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ValueError(f"{path} is missing")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    return _mapping(text, path)


def _mapping(text: str, path: Path) -> dict[str, Any]:
    try:
        found = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # in C: a vocabulary has 60,000 lines
    except yaml.YAMLError as error:
        raise ValueError(f"{path} cannot be read: {first_line(error)}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path} is no mapping")
    return {str(key): value for key, value in found.items()}


def _read_arrays(path: Path) -> dict[str, Any]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"{path} cannot be read: {first_line(error)}") from error


def _check(settings: Mapping[str, Any], path: Path) -> None:
    """Raise ValueError where the network is not that of `MarianMTModel`."""
    wanted = {
        "type": ("transformer",),
        "transformer-preprocess": ("",),
        "transformer-postprocess": ("dan", "da n"),
        "transformer-decoder-autoreg": ("self-attention", None),
        "transformer-train-position-embeddings": (False, None),
        "transformer-no-projection": (False, None),
        "transformer-depth-scaling": (False, True, None),  # of the first weights alone
    }
    for key, values in wanted.items():
        found = settings.get(key) if key != "transformer-preprocess" else settings.get(key) or ""
        if found not in values:
            raise ValueError(f"{path}: {key} is {found!r}; it must be {values[0]!r} to be converted")


def _renamed(arrays: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[tuple[str, Tensor]]:
    """Yield all weights by the names of Hugging Face, and a row of zeros for the padding that it adds."""
    tables = {"encoder": "Wemb", "decoder": "Wemb"}
    if not config["share_encoder_decoder_embeddings"]:
        tables = {side: f"{side}_Wemb" for side in tables}
    for side, name in tables.items():
        yield f"model.{side}.embed_tokens.weight", _longer(_tensor(arrays, name))
    yield "lm_head.weight", _longer(_tensor(arrays, tables["decoder"]))
    if config["share_encoder_decoder_embeddings"]:
        yield "model.shared.weight", _longer(_tensor(arrays, "Wemb"))
    bias = _tensor(arrays, "decoder_ff_logit_out_b").flatten()
    yield "final_logits_bias", torch.cat((bias, bias.new_zeros(1)))
    for side, attentions in (("encoder", {"self": "self_attn"}), ("decoder", _ATTENTIONS)):
        for place in range(config[f"{side}_layers"]):
            theirs, ours = f"{side}_l{place + 1}", f"model.{side}.layers.{place}"
            for short, name in attentions.items():
                for letter, part in zip("qkvo", ("q_proj", "k_proj", "v_proj", "out_proj"), strict=True):
                    yield f"{ours}.{name}.{part}.weight", _tensor(arrays, f"{theirs}_{short}_W{letter}").T
                    yield f"{ours}.{name}.{part}.bias", _tensor(arrays, f"{theirs}_{short}_b{letter}").flatten()
                yield from _norm(arrays, f"{theirs}_{short}_Wo_ln", f"{ours}.{name}_layer_norm")
            for number in (1, 2):
                yield f"{ours}.fc{number}.weight", _tensor(arrays, f"{theirs}_ffn_W{number}").T
                yield f"{ours}.fc{number}.bias", _tensor(arrays, f"{theirs}_ffn_b{number}").flatten()
            yield from _norm(arrays, f"{theirs}_ffn_ffn_ln", f"{ours}.final_layer_norm")


_ATTENTIONS = {"self": "self_attn", "context": "encoder_attn"}


def _norm(arrays: Mapping[str, Any], theirs: str, ours: str) -> Iterator[tuple[str, Tensor]]:
    yield f"{ours}.weight", _tensor(arrays, f"{theirs}_scale").flatten()
    yield f"{ours}.bias", _tensor(arrays, f"{theirs}_bias").flatten()


def _tensor(arrays: Mapping[str, Any], name: str) -> Tensor:
    if name not in arrays:
        raise ValueError(f"the weights lack {name}")
    return torch.from_numpy(np.array(arrays[name], np.float32))


def _longer(table: Tensor) -> Tensor:
    return torch.cat((table, table.new_zeros(1, table.size(1))))
