"""Models of Hugging Face's `MarianMTModel` with real settings and tokenizers, and random weights."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

OPUS = Path(__file__).resolve().parents[3] / "shared" / "opus-mt"
NAMES = ("opus-mt-en-fr", "opus-mt-tc-big-fr-en")
SMALL = {"d_model": 64}
for _side in ("encoder", "decoder"):
    SMALL |= {f"{_side}_layers": 2, f"{_side}_ffn_dim": 96, f"{_side}_attention_heads": 4}
Make = Callable[..., Path]


@pytest.fixture(scope="session")
def make_marian(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Writes a model directory of Hugging Face: real settings, but `changes` (a small network), and random weights."""
    transformers: Any = pytest.importorskip("transformers")
    made: dict[str, Path] = {}

    def make(name: str, changes: Mapping[str, Any] = SMALL) -> Path:
        if not (OPUS / name).is_dir():
            pytest.skip(f"{OPUS / name} is missing: the settings and the tokenizer of a real model")
        key = f"{name} {changes}"
        if key not in made:
            directory = tmp_path_factory.mktemp("marian")
            config = transformers.MarianConfig.from_pretrained(OPUS / name)
            for field, value in changes.items():
                setattr(config, field, value)
            torch.manual_seed(1)
            model = transformers.MarianMTModel(config).eval()
            with torch.no_grad():
                for parameter in model.parameters():  # so that outputs differ
                    parameter.mul_(3 if parameter.dim() > 1 else 1)
                model.final_logits_bias.copy_(torch.randn_like(model.final_logits_bias))
            model.save_pretrained(directory)
            for file in ("source.spm", "target.spm", "vocab.json", "tokenizer_config.json"):
                shutil.copy(OPUS / name / file, directory)
            made[key] = directory
        return made[key]

    return make


@pytest.fixture(scope="session", params=NAMES)
def small_marian(request: pytest.FixtureRequest, make_marian: Make) -> Path:
    """A small network with the settings and the vocabulary of a real one."""
    return make_marian(request.param)
