"""Marian's own files become ours, with the translations of CTranslate2's converter."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from safetensors.torch import load_file

from translate.config.convert import ConvertConfig
from translate.convert.reader import convert
from translate.translator.bundle import load_bundle
from translate.translator.translator import Translator

TEXTS = ["The cat sleeps.", "Where is my brother?", "A man in a blue shirt is standing on a ladder.", "No."]
LETTERS = {"q_proj": "q", "k_proj": "k", "v_proj": "v", "out_proj": "o"}
NETWORK = {
    "type": "transformer",
    "dim-emb": 64,
    "enc-depth": 2,
    "dec-depth": 2,
    "transformer-heads": 4,
    "transformer-dim-ffn": 96,
    "transformer-ffn-activation": "swish",
    "transformer-preprocess": "",
    "transformer-postprocess": "dan",
    "transformer-postprocess-emb": "d",
    "transformer-decoder-autoreg": "self-attention",
    "transformer-train-position-embeddings": False,
    "transformer-no-projection": False,
    "transformer-guided-alignment-layer": "last",
    "transformer-postprocess-top": "",
    "tied-embeddings": False,
    "tied-embeddings-src": False,
    "dim-vocabs": [59513, 59513],
    "tied-embeddings-all": True,
}


def marian_arrays(weights: dict[str, torch.Tensor]) -> Iterator[tuple[str, torch.Tensor]]:
    """Weights of `MarianMTModel` by Marian's names; the row of padding goes."""
    yield "Wemb", weights["model.shared.weight"][:-1]
    yield "decoder_ff_logit_out_b", weights["final_logits_bias"][:, :-1]
    for name, tensor in weights.items():
        if ".layers." not in name:
            continue
        _, side, _, place, *rest = name.split(".")
        prefix, kind = f"{side}_l{int(place) + 1}", rest[-1]
        attention = {"self_attn": "self", "encoder_attn": "context"}.get(rest[0].removesuffix("_layer_norm"))
        value = tensor.T if tensor.dim() == 2 else tensor[None]
        if attention and rest[1] in LETTERS:
            yield f"{prefix}_{attention}_{'W' if kind == 'weight' else 'b'}{LETTERS[rest[1]]}", value
        elif attention:
            yield f"{prefix}_{attention}_Wo_ln_{'scale' if kind == 'weight' else 'bias'}", value
        elif rest[0].startswith("fc"):
            yield f"{prefix}_ffn_{'W' if kind == 'weight' else 'b'}{rest[0][2]}", value
        else:
            yield f"{prefix}_ffn_ffn_ln_{'scale' if kind == 'weight' else 'bias'}", value


def write_marian(directory: Path, theirs: Path, **changes: object) -> Path:
    """Write a model of `MarianMTModel` as Marian would."""
    directory.mkdir()
    arrays = {name: tensor.numpy() for name, tensor in marian_arrays(load_file(theirs / "model.safetensors"))}
    described = yaml.safe_dump(NETWORK | changes).encode() + b"\0"
    np.savez(directory / "model.npz", **arrays, **{"special:model.yml": np.frombuffer(described, np.int8)})
    vocabulary = json.loads((theirs / "vocab.json").read_text(encoding="utf-8"))
    del vocabulary["<pad>"]
    described = yaml.dump(vocabulary, Dumper=yaml.CSafeDumper, allow_unicode=True)
    (directory / "vocab.yml").write_text(described, encoding="utf-8")
    decoder = {"models": ["model.npz"], "vocabs": ["vocab.yml", "vocab.yml"], "beam-size": 4, "normalize": 1}
    (directory / "decoder.yml").write_text(yaml.safe_dump(decoder), encoding="utf-8")
    for name in ("source.spm", "target.spm"):
        shutil.copy(theirs / name, directory)
    return directory


@pytest.fixture(scope="module")
def marian(make_marian: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model as Marian writes it."""
    return write_marian(tmp_path_factory.mktemp("marian") / "model", make_marian("opus-mt-en-fr"))


def config(source: Path, output: Path, **changes: Any) -> ConvertConfig:
    return ConvertConfig(source=str(source), output=str(output), src_lang="en", tgt_lang="fr", **changes)


@pytest.mark.slow
def test_translations_are_those_of_ctranslate2s_own_converter(marian: Path, tmp_path: Path) -> None:
    ctranslate2: Any = pytest.importorskip("ctranslate2")
    ours = convert(config(marian, tmp_path / "ours"))
    ctranslate2.converters.OpusMTConverter(str(marian)).convert(str(tmp_path / "theirs"))
    tokenizer = load_bundle(ours)[1]
    sources = [tokenizer.pieces_src(ids) for ids in tokenizer.encode_src_batch(TEXTS)]
    theirs = ctranslate2.Translator(str(tmp_path / "theirs"), device="cpu")
    expected = theirs.translate_batch(sources, max_decoding_length=20, beam_size=1)
    plain = {"max_output_len": 20, "max_output_ratio": 0.0, "repetition_guard": False, "length_guard": False}
    found = Translator.load(ours, device="cpu", precision="32").translate(TEXTS, beam_size=1, **plain)
    for own, other in zip(found, expected, strict=True):
        pieces = tokenizer.pieces_tgt([token for token in own.hypotheses[0].token_ids if token != tokenizer.eos_id])
        assert pieces == other.hypotheses[0]


@pytest.mark.slow
def test_both_forms_of_a_model_are_the_same(marian: Path, make_marian: Any, tmp_path: Path) -> None:
    one = load_bundle(convert(config(marian, tmp_path / "one")))[0].state_dict()
    other = load_bundle(convert(config(make_marian("opus-mt-en-fr"), tmp_path / "other")))[0].state_dict()
    assert set(one) == set(other)
    for name, tensor in one.items():
        if name != "output.bias":  # of padding, which never comes
            torch.testing.assert_close(tensor, other[name], atol=0, rtol=0)


@pytest.mark.slow
def test_marians_own_numbers_are_settings(marian: Path, tmp_path: Path) -> None:
    convert(config(marian, tmp_path / "own", sinusoids="marian", norm_eps=1e-6))
    network = load_bundle(tmp_path / "own")[2].model
    assert (network.sinusoids, network.norm_eps) == ("marian", 1e-6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"type": "s2s"}, "type is 's2s'"),
        ({"transformer-decoder-autoreg": "rnn"}, "transformer-decoder-autoreg is 'rnn'"),
        ({"transformer-preprocess": "n"}, "transformer-preprocess is 'n'"),
        ({"transformer-train-position-embeddings": True}, "transformer-train-position-embeddings is True"),
        ({"enc-depth": 3}, "the weights lack encoder_l3_self_Wq"),
        ({"dim-emb": None}, "dim-emb: None; it must be a whole number above 0"),
        ({"transformer-ffn-activation": "tanh"}, "activation_function is 'tanh'"),
    ],
)
@pytest.mark.slow
def test_other_networks_are_refused(make_marian: Any, changes: Any, message: str, tmp_path: Path) -> None:
    write_marian(tmp_path / "model", make_marian("opus-mt-en-fr"), **changes)
    with pytest.raises(ValueError, match=message):
        convert(config(tmp_path / "model", tmp_path / "out"))


@pytest.mark.parametrize(
    ("file", "contents", "message"),
    [
        ("decoder.yml", b"models: []", r"decoder\.yml names no models or vocabs"),
        ("decoder.yml", b"models: [a]\nvocabs: []", r"decoder\.yml names no models or vocabs"),
        ("model.npz", b"PK\x03\x04 no", r"model\.npz cannot be read"),
        ("model.npz", b"\x93NUMPY\x01\x00", r"model\.npz cannot be read"),
        ("decoder.yml", b"a: [", r"decoder\.yml cannot be read"),
        ("decoder.yml", b"- 1", r"decoder\.yml is no mapping"),
        ("vocab.yml", b"\xff", r"vocab\.yml cannot be read"),
        ("model.npz", b"PK no", r"model\.npz cannot be read"),
    ],
)
def test_what_is_damaged_is_named(marian: Path, file: str, contents: bytes, message: str, tmp_path: Path) -> None:
    shutil.copytree(marian, tmp_path / "model")
    (tmp_path / "model" / file).write_bytes(contents)
    with pytest.raises(ValueError, match=message):
        convert(config(tmp_path / "model", tmp_path / "out"))
