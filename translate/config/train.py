"""Settings of one training run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from translate.config.checks import check_at_least
from translate.config.data import DataConfig
from translate.config.decode import DecodeConfig
from translate.config.model import DROPOUTS, ModelConfig
from translate.config.optim import OptimConfig
from translate.config.tokenizer import TokenizerConfig
from translate.config.trainer import TrainerConfig


@dataclass
class TrainConfig:
    """One training run; keys are explained in conf/train.yaml."""

    name: str = "default"
    seed: int = 1
    resume: str | None = None
    init_from: str | None = None
    run_dir: str | None = None
    runs_dir: str = "runs"
    evaluate: bool = True
    stages: dict[str, Any] = field(default_factory=dict)
    model: ModelConfig = field(default_factory=ModelConfig)
    data: DataConfig = field(default_factory=DataConfig)
    tokenizer: TokenizerConfig = field(default_factory=TokenizerConfig)
    optim: OptimConfig = field(default_factory=OptimConfig)
    trainer: TrainerConfig = field(default_factory=TrainerConfig)
    decode: DecodeConfig = field(default_factory=DecodeConfig)

    def __post_init__(self) -> None:
        check_at_least("seed", self.seed, 0)
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
        if self.optim.schedule in ("cosine", "linear") and not (self.trainer.max_epochs or self.trainer.max_steps):
            raise ValueError(
                f"optim.schedule={self.optim.schedule} needs to know the end: "
                "set trainer.max_epochs or trainer.max_steps"
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
        if self.model.layer_drop and self.trainer.strategy == "fsdp":
            raise ValueError(
                f"model.layer_drop ({self.model.layer_drop}) skips other layers in each process, which wait for each "
                "other's part of every layer with trainer.strategy=fsdp; set trainer.strategy=ddp"
            )
