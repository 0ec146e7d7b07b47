"""A tiny corpus and the settings of a benchmark of it."""

from random import Random

import pytest

from translate.config.benchmark import BenchmarkTrainConfig
from translate.config.data import DataConfig
from translate.config.model import ModelConfig
from translate.config.optim import OptimConfig
from translate.config.tokenizer import TokenizerConfig
from translate.config.trainer import TrainerConfig
from translate.data.datamodule import TranslationDataModule
from translate.model.transformer import Transformer, build_model


@pytest.fixture(scope="session")
def config(tmp_path_factory: pytest.TempPathFactory) -> BenchmarkTrainConfig:
    """Settings of a measurement of a moment; 7 batches an epoch."""
    folder, random = tmp_path_factory.mktemp("corpus"), Random(0)
    words = ["".join(random.choices("aeioubdklmnrst", k=random.randint(2, 7))) for _ in range(80)]
    for split, count in (("train", 300), ("valid", 12)):
        lines = [random.choices(words, k=random.randint(3, 12)) for _ in range(count)]
        for lang, step in (("en", 1), ("fr", -1)):
            text = "".join(" ".join(line[::step]) + "\n" for line in lines)
            (folder / f"{split}.{lang}").write_text(text, encoding="utf-8")
    return BenchmarkTrainConfig(
        rounds=1,
        steps=3,
        model=ModelConfig(d_model=16, d_ff=32, num_heads=2, num_encoder_layers=1, num_decoder_layers=1),
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
        optim=OptimConfig(warmup_steps=4, weight_decay=0.1),
        trainer=TrainerConfig(accelerator="cpu", threads=1),
    )


@pytest.fixture(scope="session")
def data(config: BenchmarkTrainConfig) -> TranslationDataModule:
    """Its data, prepared."""
    module = TranslationDataModule(config.data, config.tokenizer, seed=config.seed)
    module.prepare()
    return module


@pytest.fixture
def model(config: BenchmarkTrainConfig, data: TranslationDataModule) -> Transformer:
    """Its network."""
    return build_model(config.model, data.tokenizer.src_vocab_size, data.tokenizer.tgt_vocab_size)
