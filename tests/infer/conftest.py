"""A small model, and `translate.infer` with it."""

import pytest
import torch
from infer_command import InferCommand

from translate.config.decode import DecodeConfig
from translate.config.model import ModelConfig
from translate.data.tokenizer import Tokenizer
from translate.model.transformer import build_model
from translate.translator.bundle import BundleConfig, save_bundle
from translate.translator.translator import Translator


@pytest.fixture(scope="module")
def model_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    tokenizer = Tokenizer.train(["a cat sat by the sea"] * 9, ["un chat assis à la mer"] * 9, vocab_size=295)
    size = tokenizer.src_vocab_size
    network = ModelConfig(
        d_model=16, d_ff=32, num_heads=2, num_encoder_layers=1, num_decoder_layers=1, tie_output=False
    )
    decode = DecodeConfig(beam_size=3, max_output_len=8)
    config = BundleConfig("en", "fr", size, size, "0.1.0", max_src_len=40, model=network, decode=decode)
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("run") / "model"
    save_bundle(path, build_model(network, size, size), tokenizer, config)
    return str(path)


@pytest.fixture
def translator(model_path: str) -> Translator:
    return Translator.load(model_path, device="cpu")


@pytest.fixture
def infer(model_path: str, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> InferCommand:
    return InferCommand(model_path, monkeypatch, capfdbinary)
