"""Small random models, exported, beside what our own code says of them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from translate.config.decode import DecodeConfig
from translate.config.model import ModelConfig
from translate.data.tokenizer import Tokenizer
from translate.export.writer import save_exported
from translate.model.transformer import build_model
from translate.translator.bundle import BundleConfig
from translate.translator.engines.torch import TorchEngine
from translate.translator.translator import Translator

Pair = tuple[Translator, Translator]
NETWORK = ModelConfig(d_model=16, d_ff=24, num_heads=4, num_encoder_layers=1, num_decoder_layers=1, tie_output=False)


@pytest.fixture(scope="session")
def joint_tokenizer() -> Tokenizer:
    return _tokenizer(joint=True)


def _tokenizer(*, joint: bool) -> Tokenizer:
    src = ["a cat sat by the sea", "two dogs run", "the cat and the dogs sat"] * 5
    tgt = ["un chat assis à la mer", "deux chiens courent", "le chat et les chiens assis"] * 5
    return Tokenizer.train(src, tgt, vocab_size=300 if joint else 285, joint=joint)


@pytest.fixture
def exported(tmp_path: Path, joint_tokenizer: Tokenizer) -> Callable[..., Pair]:
    """Makes a random model of `NETWORK` with changes, and its export: both opened."""

    def make(*, joint: bool = True, **changes: object) -> Pair:
        tokenizer = joint_tokenizer if joint else _tokenizer(joint=False)
        network = replace(NETWORK, **changes)  # type: ignore[arg-type]
        config = BundleConfig(
            "en",
            "fr",
            tokenizer.src_vocab_size,
            tokenizer.tgt_vocab_size,
            "0.1.0",
            model=network,
            decode=DecodeConfig(beam_size=4, max_output_len=8, repetition_guard=False),  # random weights go in circles
        )
        torch.manual_seed(3)
        model = build_model(network, config.src_vocab_size, config.tgt_vocab_size).eval()
        _disturb(model)
        save_exported(tmp_path / "exported", model, tokenizer, config, "float32")
        return Translator(TorchEngine(model, tokenizer), tokenizer, config), Translator.load(
            tmp_path / "exported", device="cpu"
        )

    return make


def _disturb(model: torch.nn.Module) -> None:
    """Move every weight, so that none is what it starts as: a bias or a gain that was forgotten shows."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.add_(torch.randn_like(parameter) * (0.3 if parameter.dim() == 1 else 0.05))
            if name == "output.weight":
                parameter.mul_(5)  # sharpened, so that outputs differ between sources
