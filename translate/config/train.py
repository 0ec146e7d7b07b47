"""Settings of one training run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from translate.config.data import DataConfig
from translate.config.decode import DecodeConfig
from translate.config.fields import check_settings, setting
from translate.config.model import DROPOUTS, ModelConfig
from translate.config.optim import OptimConfig
from translate.config.tokenizer import TokenizerConfig
from translate.config.trainer import TrainerConfig


@dataclass
class TrainConfig:
    """Settings of one training run."""

    name: str = setting(
        "default", "First folder of the run directory, runs/<name>/<date_time>; by default the data source."
    )
    seed: int = setting(
        1,
        "Seed of weights, dropout and data order; same seed, same machine layout: same run.",
        at_least=0,
        at_most=4_000_000_000,
    )
    resume: str | None = setting(
        None, "Run directory to continue: with its settings, plus those given on this command line."
    )
    init_from: str | None = setting(
        None,
        "Run or model directory to start from, for fine-tuning: its weights, with a new optimizer and schedule. "
        "Its tokenizer is used, and settings of the network that are left out are its own, dropouts excepted. "
        "Fewer layers (set both numbers, and not to 3 and 3, which stand for its own) are taken from it evenly, the "
        "first and the last among them; more layers (any number but 3) begin as copies that change nothing; with fewer "
        "key and value heads each is the mean of those that it replaces; other differences are refused. The direction "
        "may differ with tokenizer.joint and model.share_embeddings. "
        "null = random weights.",
    )
    run_dir: str | None = setting(None, "Write the run here instead of <runs_dir>/<name>/<date_time>.")
    runs_dir: str = setting("runs", "Folder of all runs.")
    evaluate: bool = setting(True, "Whether to score the test sets and write the report at the end.")
    stages: dict[str, Any] = setting(
        {},
        "Several trainings, translations, averages or trimmings one after another, instead of one training; "
        "explained, with an example, in docs/guides/stages.md.",
    )
    model: ModelConfig = field(default_factory=ModelConfig)
    data: DataConfig = field(default_factory=DataConfig)
    tokenizer: TokenizerConfig = field(default_factory=TokenizerConfig)
    optim: OptimConfig = field(default_factory=OptimConfig)
    trainer: TrainerConfig = field(default_factory=TrainerConfig)
    decode: DecodeConfig = field(default_factory=DecodeConfig)

    def __post_init__(self) -> None:
        check_settings("", self)
        if not self.tokenizer.joint and self.model.share_embeddings:
            raise ValueError(
                "tokenizer.joint=false gives two vocabularies, which cannot share one embedding; "
                "set model.share_embeddings=false"
            )
        if self.data.both_directions and not self.tokenizer.joint:
            raise ValueError(
                "data.both_directions=true needs one vocabulary for both languages; set tokenizer.joint=true"
            )
        if self.model.positions == "learned" and self.data.max_len > self.model.max_positions:
            raise ValueError(
                f"data.max_len ({self.data.max_len}) must be at most model.max_positions ({self.model.max_positions}) "
                "with model.positions=learned"
            )
        if self.model.positions == "learned" and self.decode.max_output_len > self.model.max_positions:
            raise ValueError(
                f"decode.max_output_len ({self.decode.max_output_len}) must be at most model.max_positions "
                f"({self.model.max_positions}) with model.positions=learned"
            )
        if self.optim.r_drop and not any(getattr(self.model, name) for name in DROPOUTS):
            raise ValueError(
                f"optim.r_drop ({self.optim.r_drop}) compares two passes with different dropout masks, and there are "
                f"none; set one of {', '.join(f'model.{name}' for name in DROPOUTS)} above 0"
            )
        if self.optim.algorithm == "muon" and self.trainer.strategy == "fsdp":
            raise ValueError(
                "optim.algorithm=muon needs whole matrices, not parts as with trainer.strategy=fsdp; use ddp"
            )
        if self.optim.lora_rank and not self.init_from:
            raise ValueError(
                f"optim.lora_rank ({self.optim.lora_rank}) changes a trained model a little; name it with init_from"
            )
        if self.optim.lora_rank and self.trainer.strategy == "fsdp":
            raise ValueError(
                f"optim.lora_rank ({self.optim.lora_rank}) adds to whole matrices, and each process has parts of them "
                "with trainer.strategy=fsdp; set trainer.strategy=ddp"
            )
        if self.optim.weight_bits and self.trainer.strategy == "fsdp":
            raise ValueError(
                f"optim.weight_bits ({self.optim.weight_bits}) rounds rows of whole matrices, and each process has "
                "parts of them with trainer.strategy=fsdp; set trainer.strategy=ddp"
            )
        if self.optim.weight_bits and self.trainer.ema_decay:
            raise ValueError(
                f"optim.weight_bits ({self.optim.weight_bits}) validates rounded weights and trainer.ema_decay "
                f"({self.trainer.ema_decay}) averaged ones; leave one of them out"
            )
        if self.model.layer_drop and self.trainer.strategy == "fsdp":
            raise ValueError(
                f"model.layer_drop ({self.model.layer_drop}) skips other layers in each process, which wait for each "
                "other's part of every layer with trainer.strategy=fsdp; set trainer.strategy=ddp"
            )
