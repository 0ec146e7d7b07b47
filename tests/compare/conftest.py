"""Runs to compare: three that were trained for a moment, and folders that only look like runs."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import torch

from translate.config.data import DataConfig
from translate.config.decode import DecodeConfig
from translate.config.files import save_config
from translate.config.model import ModelConfig
from translate.config.optim import OptimConfig
from translate.config.tokenizer import TokenizerConfig
from translate.config.train import TrainConfig
from translate.config.trainer import TrainerConfig
from translate.train.start import train
from translate.translator.bundle import BundleConfig

MODEL = ModelConfig(d_model=16, d_ff=32, num_heads=2, num_encoder_layers=1, num_decoder_layers=1)


@pytest.fixture(scope="session")
def config(tmp_path_factory: pytest.TempPathFactory) -> TrainConfig:
    """Settings of a run of a second or two on a corpus of reversed sentences."""
    folder, random = tmp_path_factory.mktemp("corpus"), Random(0)
    words = ["".join(random.choices("aeioubdklmnrst", k=random.randint(2, 7))) for _ in range(80)]
    for split, count in (("train", 300), ("valid", 12)):
        lines = [random.choices(words, k=random.randint(3, 12)) for _ in range(count)]
        (folder / f"{split}.en").write_text("".join(" ".join(line) + "\n" for line in lines), encoding="utf-8")
        (folder / f"{split}.fr").write_text("".join(" ".join(line[::-1]) + "\n" for line in lines), encoding="utf-8")
    return TrainConfig(
        name="tiny",
        runs_dir=str(folder / "runs"),
        evaluate=False,
        model=MODEL,
        data=DataConfig(
            source="files",
            root=str(folder),
            train=["train.en", "train.fr"],
            valid=["valid.en", "valid.fr"],
            test=["valid.en", "valid.fr"],
            batch_tokens=520,
            max_len=64,
            cache_dir=str(folder / "cache"),
        ),
        tokenizer=TokenizerConfig(vocab_size=500),
        optim=OptimConfig(lr=1e-2, warmup_steps=4),
        trainer=TrainerConfig(
            max_epochs=2, accelerator="cpu", valid_bleu_sentences=0, monitor="loss", log_every=1, tensorboard=False
        ),
        decode=DecodeConfig(beam_size=2, max_output_len=12),
    )


@pytest.fixture(scope="session")
def trained(config: TrainConfig) -> list[Path]:
    """Multi-head attention with seeds 1 and 2, grouped heads with seed 1."""
    torch.set_num_threads(1)
    grouped = replace(MODEL, attention="gqa")
    return [train(replace(config, model=model, seed=seed)) for model, seed in ((MODEL, 1), (MODEL, 2), (grouped, 1))]


@pytest.fixture
def fake(tmp_path: Path) -> Callable[..., Path]:
    """Makes what is read of a run before its model is: settings, metrics, and a model directory without weights."""

    def make(name: str, config: TrainConfig, *, model_steps: int | None = 14, last_step: int = 14) -> Path:
        run = tmp_path / name
        run.mkdir()
        save_config(config, run / "config.yaml")
        (run / "metrics.csv").write_text(f"step,train_loss,valid_loss\n7,,2.5\n{last_step},,2.25\n")
        if model_steps is not None:
            (run / "model").mkdir()
            (run / "model" / "model.safetensors").touch()
            save_config(BundleConfig("en", "fr", 500, 500, "0", card={"steps": model_steps}), run / "model/config.yaml")
        return run

    return make
