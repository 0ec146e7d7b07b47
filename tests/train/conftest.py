"""Tiny runs of the real `train` on a tiny corpus."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from translate.config.data import DataConfig
from translate.config.decode import DecodeConfig
from translate.config.model import ModelConfig
from translate.config.optim import OptimConfig
from translate.config.tokenizer import TokenizerConfig
from translate.config.train import TrainConfig
from translate.config.trainer import TrainerConfig

SPLITS = {"train": 300, "valid": 12, "test": 5}

MakeConfig = Callable[..., TrainConfig]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a few lines for each split, always the same, and the cache of what is made from them."""
    folder, random = tmp_path_factory.mktemp("corpus"), Random(0)
    words = ["".join(random.choices("aeioubdklmnrst", k=random.randint(2, 7))) for _ in range(80)]
    for split, count in SPLITS.items():
        lines = [random.choices(words, k=random.randint(3, 12)) for _ in range(count)]
        (folder / f"{split}.en").write_text("".join(" ".join(line) + "\n" for line in lines), encoding="utf-8")
        (folder / f"{split}.fr").write_text("".join(" ".join(line[::-1]) + "\n" for line in lines), encoding="utf-8")
    return folder


@pytest.fixture
def make_config(corpus: Path, tmp_path: Path) -> MakeConfig:
    """Settings of a run of a second, 7 batches an epoch, every step logged; keywords are trainer settings."""

    def make(
        *, optim: dict[str, Any] | None = None, changes: dict[str, Any] | None = None, **trainer: Any
    ) -> TrainConfig:
        settings = {
            "max_epochs": 2,
            "accelerator": "cpu",
            "valid_bleu_sentences": 0,
            "monitor": "loss",
            "log_every": 1,
            "tensorboard": False,
        }
        config = TrainConfig(
            name="tiny",
            runs_dir=str(tmp_path / "runs"),
            evaluate=False,
            model=ModelConfig(d_model=16, d_ff=32, num_heads=2, num_encoder_layers=1, num_decoder_layers=1),
            data=DataConfig(
                source="files",
                **{split: [str(corpus / f"{split}.{lang}") for lang in ("en", "fr")] for split in SPLITS},
                batch_tokens=520,
                max_len=64,
                cache_dir=str(corpus / "cache"),
            ),
            tokenizer=TokenizerConfig(vocab_size=500),
            optim=OptimConfig(**{"lr": 1e-2, "warmup_steps": 4, "weight_decay": 0.1} | (optim or {})),
            trainer=TrainerConfig(**settings | trainer),
            decode=DecodeConfig(beam_size=1, max_output_len=20),
        )
        return replace(config, **changes or {})

    return make
