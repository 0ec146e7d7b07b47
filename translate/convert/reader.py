"""Read the model of another program and write it as a model directory."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from translate import __version__
from translate.common.errors import first_line
from translate.config.convert import ConvertConfig
from translate.convert.huggingface import fill, network_of, read_weights, search_of
from translate.convert.marian import read_marian
from translate.convert.tokenizer import is_language_tag, make_tokenizer
from translate.data.tokenizer import Tokenizer
from translate.model.transformer import build_model
from translate.translator.bundle import BundleConfig, save_bundle
from translate.translator.engines.directory import check_output

_FILES = ("*.json", "*.spm", "*.safetensors", "pytorch_model.bin")  # of a model on the hub
_SPM = ("source.spm", "target.spm")


def convert(config: ConvertConfig) -> Path:
    """Write the model that the settings name as a model directory, and return that.

    Raises:
        ValueError: If it cannot be read, or our network cannot be it; the message says why.
    """
    assert config.source is not None
    output = Path(config.output or Path(config.source).name)
    if not config.output and output.is_dir() and output.resolve() == Path(config.source).resolve():
        raise ValueError(f"{output} is the model itself: name where the converted one goes with output=DIR")
    check_output(output, Path(config.source), overwrite=config.overwrite)
    source = _find(config.source)
    if (source / "config.json").is_file():
        for name in ("sinusoids", "norm_eps"):
            if getattr(config, name) != getattr(ConvertConfig, name):
                raise ValueError(f"{name} is for Marian's own files, and {source} is Hugging Face's; leave it out")
        described = _read_json(source / "config.json") | _read_json(source / "generation_config.json", needed=False)
        weights, network = read_weights(source), network_of(described)
        vocabularies = _hub_vocabularies(source)
    else:
        described, weights, vocabularies = read_marian(source)
        network = replace(network_of(described), sinusoids=config.sinusoids, norm_eps=config.norm_eps)
    tokenizer = _tokenizer(source, vocabularies, described)
    model = build_model(network, tokenizer.src_vocab_size, tokenizer.tgt_vocab_size, pad_id=tokenizer.pad_id)
    fill(model, weights)
    src_lang, tgt_lang, tgt_langs = _languages(config, source, vocabularies[0])
    bundle = BundleConfig(
        src_lang,
        tgt_lang,
        tokenizer.src_vocab_size,
        tokenizer.tgt_vocab_size,
        __version__,
        max_src_len=search_of(described).max_output_len,
        tgt_langs=tgt_langs,
        model=network,
        decode=search_of(described),
        card={"converted from": config.source},
    )
    save_bundle(output, model.eval(), tokenizer, bundle, quantization=config.quantization)
    print(f"converted: {output}")
    print(f'next: python -m translate.infer --model {output} "Hello."')
    return output


def _find(source: str) -> Path:
    """Return the directory of a model, after a download if it has the form of a name on the hub."""
    path = Path(source)
    if path.is_dir():
        return path
    if source.count("/") != 1 or path.exists() or source.startswith((".", "/")):
        raise ValueError(f"there is no directory {source}, and it is no name on the hub (such as OWNER/MODEL)")
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(source, allow_patterns=list(_FILES)))
    except Exception as error:  # the hub's many: no network, no such model, no permission
        raise ValueError(f"{source} is no directory and cannot be fetched: {first_line(error)}") from error


def _tokenizer(
    source: Path, vocabularies: tuple[dict[str, int], dict[str, int]], described: dict[str, Any]
) -> Tokenizer:
    """Make the tokenizer, whose special ids must be those of the network."""
    missing = [name for name in _SPM if not (source / name).is_file()]
    if missing:
        raise ValueError(f"{source} lacks {' and '.join(missing)}, the tokenizer's models")
    src, tgt = ((source / name).read_bytes() for name in _SPM)
    tokenizer = make_tokenizer((src, tgt), vocabularies)
    for name, own in (("eos_token_id", tokenizer.eos_id), ("decoder_start_token_id", tokenizer.bos_id)):
        if described.get(name, own) != own:
            raise ValueError(f"{source}: {name} is {described[name]} in config.json and {own} in the vocabulary")
    return tokenizer


def _hub_vocabularies(source: Path) -> tuple[dict[str, int], dict[str, int]]:
    first = _read_json(source / "vocab.json")
    second = source / "target_vocab.json"
    return first, _read_json(second) if second.is_file() else first


def _languages(config: ConvertConfig, source: Path, vocabulary: dict[str, int]) -> tuple[str, str, list[str]]:
    """Return source and target language, and those that the vocabulary has a tag for."""
    said = _read_json(source / "tokenizer_config.json", needed=False)
    src_lang, tgt_lang = config.src_lang or said.get("source_lang"), config.tgt_lang or said.get("target_lang")
    tags = sorted(piece[2:-2] for piece in vocabulary if is_language_tag(piece))
    if not src_lang or not tgt_lang:
        raise ValueError(f"{source} does not say its languages: set src_lang and tgt_lang")
    if tags and tgt_lang not in tags:
        raise ValueError(f"set tgt_lang to one of the model's languages: {', '.join(tags)}")
    return src_lang, tgt_lang, tags


def _read_json(path: Path, *, needed: bool = True) -> dict[str, Any]:
    if not path.is_file():
        if needed:
            raise ValueError(f"{path} is missing")
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path} is no JSON object")
    return found
