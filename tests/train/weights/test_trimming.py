"""A trimmed model says what it said, as long as it needs none of the pieces that are gone."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from translate.config.model import ModelConfig
from translate.data.tokenizer import Tokenizer
from translate.model.transformer import build_model
from translate.train.weights.trimming import trim_model, used_pieces
from translate.translator.bundle import load_bundle
from translate.translator.engines.torch import TorchEngine
from translate.translator.translator import Translator

EVERYDAY = Path(__file__).resolve().parents[2] / "fixtures" / "everyday_model"
TEXTS = ["Where is the station?", "I would like two tickets.", "Is it far?"]


def test_a_trimmed_model_translates_the_same() -> None:
    model, tokenizer, config = load_bundle(EVERYDAY)
    expected = Translator(TorchEngine(model, tokenizer), tokenizer, config).translate(TEXTS)
    used = {token for one in expected for token in one.hypotheses[0].token_ids}
    small, smaller, network = trim_model(model, tokenizer, config.model, used)
    assert smaller.tgt_vocab_size < tokenizer.tgt_vocab_size == smaller.src_vocab_size
    rows = small.tgt_embedding.tokens.weight
    assert small.output.weight is rows
    assert len(rows) == smaller.tgt_vocab_size
    settings = replace(config, model=network, tgt_vocab_size=smaller.tgt_vocab_size)
    found = Translator(TorchEngine(small, smaller), smaller, settings).translate(TEXTS)
    assert [one.text for one in found] == [one.text for one in expected]
    assert all(one.score >= before.score for one, before in zip(found, expected, strict=True))  # fewer share it


def test_sources_can_be_trimmed_too() -> None:
    model, tokenizer, config = load_bundle(EVERYDAY)
    expected = Translator(TorchEngine(model, tokenizer), tokenizer, config).translate(TEXTS)
    targets = {token for one in expected for token in one.hypotheses[0].token_ids}
    sources = used_pieces(tokenizer.encode_src_batch, TEXTS, 1)
    small, smaller, network = trim_model(model, tokenizer, config.model, targets, sources)
    sizes = {"src_vocab_size": smaller.src_vocab_size, "tgt_vocab_size": smaller.tgt_vocab_size}
    assert len(small.src_embedding.tokens.weight) == smaller.src_vocab_size < tokenizer.src_vocab_size
    found = Translator(TorchEngine(small, smaller), smaller, replace(config, model=network, **sizes)).translate(TEXTS)
    assert [one.text for one in found] == [one.text for one in expected]
    assert max(smaller.encode_src("An unheard-of zeppelin!")) < smaller.src_vocab_size


@pytest.mark.parametrize("tie_output", [True, False])
def test_its_logits_are_those_of_the_pieces_that_stay(tie_output: bool) -> None:
    tokenizer = Tokenizer.load(EVERYDAY)
    size, network = tokenizer.src_vocab_size, ModelConfig(d_model=16, d_ff=16, num_heads=2, tie_output=tie_output)
    model = build_model(network, size, size).eval()
    kept = tokenizer.trimmed({300, size - 1})[2]
    small = trim_model(model, tokenizer, network, {300, size - 1})[0]
    src, mask = torch.tensor([[5, 400, 3]]), torch.ones(1, 3, dtype=torch.bool)
    with torch.inference_mode():
        logits = model(src, torch.tensor([[2, size - 1, 300]]), mask, mask)
        fewer = small(src, torch.tensor([[2, kept.index(size - 1), kept.index(300)]]), mask, mask)
    assert_close(fewer, logits[..., kept])


def test_pieces_count_by_their_uses() -> None:
    tokenizer = Tokenizer.load(EVERYDAY)
    once, twice = tokenizer.encode_tgt("Où est la gare ?"), tokenizer.encode_tgt("la")
    texts = ["Où est la gare ?", "la"]
    assert used_pieces(tokenizer.encode_tgt_batch, iter(texts), 1) == {*once, *twice}
    assert used_pieces(tokenizer.encode_tgt_batch, iter(texts), 2) == set(once) & set(twice)
