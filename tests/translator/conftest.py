"""A small random model that translates both ways, by language codes, and the model of the package."""

import pytest
import torch

from translate.config.decode import DecodeConfig
from translate.config.model import ModelConfig
from translate.data.tokenizer import Tokenizer
from translate.model.transformer import build_model
from translate.translator.bundle import BundleConfig
from translate.translator.engines.torch import TorchEngine
from translate.translator.translator import Translator

Parts = tuple[torch.nn.Module, Tokenizer, BundleConfig]


@pytest.fixture(scope="module")
def parts() -> Parts:
    src = ["a cat sat by the sea", "two dogs run", "the cat and the dogs sat"] * 5
    tgt = ["un chat assis à la mer", "deux chiens courent", "le chat et les chiens assis"] * 5
    tokenizer = Tokenizer.train(src, tgt, vocab_size=310, languages=["en", "fr"])
    network = ModelConfig(
        d_model=16, d_ff=32, num_heads=2, num_encoder_layers=1, num_decoder_layers=1, tie_output=False
    )
    torch.manual_seed(4)
    model = build_model(network, tokenizer.src_vocab_size, tokenizer.tgt_vocab_size).eval()
    with torch.no_grad():
        model.output.weight.mul_(6)  # sharpened, so that outputs differ between sources
    decode = DecodeConfig(beam_size=2, max_output_len=9, repetition_guard=False, length_guard=False)
    return (
        model,
        tokenizer,
        BundleConfig("en", "fr", 310, 310, "0", tgt_langs=["fr", "en"], model=network, decode=decode),
    )


@pytest.fixture
def both_ways(parts: Parts) -> Translator:
    model, tokenizer, config = parts
    return Translator(TorchEngine(model, tokenizer), tokenizer, config)


@pytest.fixture(scope="session")
def general() -> Translator:
    """The model of the package."""
    return Translator.load()
