"""Our Transformer as Hugging Face's `MarianMTModel`, with the files that `MarianTokenizer` reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from translate.common.files import atomic_write, write_text
from translate.convert.huggingface import ACTIVATIONS, names_and_tensors
from translate.convert.tokenizer import marian_tag
from translate.data.tokenizer import language_tag

if TYPE_CHECKING:
    from translate.config.model import ModelConfig
    from translate.data.tokenizer import Tokenizer
    from translate.model.transformer import Transformer
    from translate.translator.bundle import BundleConfig


def check_marian(network: ModelConfig) -> None:
    """Refuse what `MarianMTModel` cannot hold.

    Raises:
        ValueError: With all that stands against it.
    """
    expected: dict[str, Callable[[Any], bool]] = {
        "norm_first": lambda value: not value,
        "norm": lambda value: value == "layernorm",
        "norm_eps": lambda value: value in (None, 1e-5),
        "activation": lambda value: value in ACTIVATIONS.values(),
        "positions": lambda value: value == "sinusoidal",
        "sinusoids": lambda value: value != "marian",
        "bias": bool,
        "head_dim": lambda value: value in (None, network.d_model // network.num_heads),
    }
    values = {name: getattr(network, name) for name in expected}
    unfit = [f"model.{name}={value}" for name, value in values.items() if not expected[name](value)]
    kinds = zip(("encoder", "decoder", "cross"), network.attention_kinds, strict=True)
    unfit += [f"model.{place}_attention={kind}" for place, kind in kinds if kind != "mha"]
    if unfit:
        raise ValueError(f"format=marian-hf cannot hold {', '.join(unfit)}: MarianMTModel has no such setting")


def export_marian(
    directory: Path, model: Transformer, tokenizer: Tokenizer, config: BundleConfig, positions: int, license: str | None
) -> None:
    """Write a directory that `MarianMTModel.from_pretrained` and `AutoTokenizer` open.

    Args:
        directory: Where to write; it is there.
        model: The network, float32.
        tokenizer: Its tokenizer.
        config: Its settings, which `check_marian` has nothing against.
        positions: How many tokens a sentence may have.
        license: For the model card.
    """
    from safetensors.torch import save_file

    network = config.model
    described = _network(network, tokenizer, positions)
    search: dict[str, Any] = {
        "num_beams": config.decode.beam_size,
        "max_length": config.decode.max_output_len,
        "length_penalty": config.decode.length_penalty,
        "bad_words_ids": [[token] for token in tokenizer.forbidden_ids],
    }
    special = {name: described[name] for name in described if name.endswith("_token_id")}
    tokens: dict[str, Any] = {
        "source_lang": config.src_lang,
        "target_lang": config.tgt_lang,
        "tokenizer_class": "MarianTokenizer",
        "separate_vocabs": not tokenizer.joint,
        "model_max_length": positions,
    }
    _write_json(directory / "config.json", described)
    _write_json(directory / "generation_config.json", search | special)
    _write_json(directory / "tokenizer_config.json", tokens)
    _write_json(directory / "vocab.json", _vocabulary(tokenizer.pieces_src(range(tokenizer.src_vocab_size))))
    if tokens["separate_vocabs"]:
        _write_json(directory / "target_vocab.json", _vocabulary(tokenizer.pieces_tgt(range(tokenizer.tgt_vocab_size))))
    for name, contents in zip(("source.spm", "target.spm"), tokenizer.models, strict=True):
        with atomic_write(directory / name) as file:
            file.write(contents)
    save_file(_weights(model, network), directory / "model.safetensors", metadata={"format": "pt"})
    write_text(directory / "README.md", _card(config, license))


def _network(network: ModelConfig, tokenizer: Tokenizer, positions: int) -> dict[str, Any]:
    theirs = {ours: name for name, ours in reversed(ACTIVATIONS.items())}
    sides = {"layers": (network.num_encoder_layers, network.num_decoder_layers)}
    sides |= {"ffn_dim": (network.d_ff,) * 2, "attention_heads": (network.num_heads,) * 2}
    both = {f"{side}_{name}": sizes[place] for name, sizes in sides.items() for place, side in enumerate(_SIDES)}
    return {
        "model_type": "marian",
        "architectures": ["MarianMTModel"],
        "vocab_size": tokenizer.src_vocab_size,
        "decoder_vocab_size": tokenizer.tgt_vocab_size,
        "d_model": network.d_model,
        **both,
        "activation_function": theirs[network.activation],
        "scale_embedding": network.scale_embeddings,
        "share_encoder_decoder_embeddings": network.share_embeddings,
        "tie_word_embeddings": network.tie_output,
        "max_position_embeddings": positions,
        "dropout": network.dropout,
        "attention_dropout": network.attention_dropout,
        "activation_dropout": network.activation_dropout,
        "pad_token_id": tokenizer.pad_id,
        "bos_token_id": tokenizer.bos_id,
        "eos_token_id": tokenizer.eos_id,
        "decoder_start_token_id": tokenizer.bos_id,
        "forced_eos_token_id": None,
        "is_encoder_decoder": True,
    }


_SIDES = ("encoder", "decoder")


def _weights(model: Transformer, network: ModelConfig) -> dict[str, Tensor]:
    """Return all weights by their names, a tied one once."""
    if network.sinusoids == "interleaved":
        model = _sines_first(model, network.d_model)
    found: dict[str, Tensor] = {}
    once = {"lm_head.weight"} if network.tie_output else set()
    if network.tie_output and network.share_embeddings:
        once |= {f"model.{side}.embed_tokens.weight" for side in _SIDES}
    for name, tensor in names_and_tensors(model):
        if name not in once:
            found[name] = tensor.detach().float().contiguous().clone()
    output = model.output
    bias = torch.zeros(output.out_features) if output.bias is None else output.bias.detach().clone()
    found["final_logits_bias"] = bias[None]
    return found


def _sines_first(model: Transformer, width: int) -> Transformer:
    """Return an equal network whose columns are in another order: those of the sines, then those of the cosines."""
    from copy import deepcopy

    order = torch.cat((torch.arange(0, width, 2), torch.arange(1, width, 2)))
    result, done = deepcopy(model), set[int]()
    with torch.no_grad():
        for name, module in result.named_modules():
            if isinstance(module, nn.LayerNorm):
                module.weight.copy_(module.weight[order])
                module.bias.copy_(module.bias[order])
            elif isinstance(module, (nn.Linear, nn.Embedding)) and id(module.weight) not in done:
                done.add(id(module.weight))
                into = name.endswith((".out", ".outer"))  # what a sub-layer adds to the columns
                module.weight.copy_(module.weight[order] if into else module.weight[:, order])
                if into and isinstance(module, nn.Linear):
                    module.bias.copy_(module.bias[order])
    return result


def _vocabulary(pieces: list[str]) -> dict[str, int]:
    return {marian_tag(piece): token for token, piece in enumerate(pieces)}


def _write_json(path: Path, values: object) -> None:
    write_text(path, json.dumps(values, ensure_ascii=False, indent=2) + "\n")


def _card(config: BundleConfig, license: str | None) -> str:
    languages = sorted({config.src_lang, config.tgt_lang, *config.tgt_langs})
    metadata = ["language:", *(f"- {language}" for language in languages)]
    metadata += [f"license: {license}"] if license else []
    metadata += ["library_name: transformers", "pipeline_tag: translation", "metrics:", "- bleu", "- chrf"]
    rows = "\n".join(f"- {label}: {value}" for label, value in config.card.items())
    lines = "\n".join(metadata)
    tag, tags = "", ""
    if config.tgt_langs:
        named = [f"`{marian_tag(language_tag(language))}`" for language in config.tgt_langs]
        tag = marian_tag(language_tag(config.tgt_lang))
        tags = (
            f"\nA source begins with the language to translate into, without a space behind it: {' or '.join(named)}.\n"
        )
    return f"""---
{lines}
---
# Translation, {config.src_lang} to {config.tgt_lang}

    from transformers import AutoTokenizer, MarianMTModel
    tokenizer, model = AutoTokenizer.from_pretrained("DIR"), MarianMTModel.from_pretrained("DIR")
    found = model.generate(**tokenizer(["{tag}Hello."], return_tensors="pt"))
    print(tokenizer.batch_decode(found, skip_special_tokens=True, clean_up_tokenization_spaces=False))

{rows}
{tags}"""
