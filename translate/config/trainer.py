"""Settings of the trainer: how long, where and how often."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from translate.config.checks import check_at_least, check_choice, check_share

LOGGERS = {  # settings of each; a run names its loggers by these words and never by a class
    "wandb": ("project", "name", "entity", "group", "save_dir", "offline"),
    "mlflow": ("experiment_name", "run_name", "tracking_uri"),
}


@dataclass
class TrainerConfig:
    """How long, where and how often; keys are explained in conf/trainer/default.yaml."""

    max_epochs: int | None = 20
    max_steps: int | None = None
    max_time: str | None = None
    accelerator: str = "auto"
    devices: int = 1
    num_nodes: int = 1
    strategy: str = "auto"
    threads: int | None = None
    workers: int | None = 1
    precision: str = "32"
    compile: bool = False
    accumulate: int = 1
    validate_every: int | None = None
    valid_bleu_sentences: int = 500
    monitor: str = "bleu"
    patience: int | None = None
    checkpoint_every: int = 500
    keep_best: int = 1
    average: str = "none"
    average_count: int = 5
    ema_decay: float = 0.0
    csv: bool = True
    tensorboard: bool = True
    loggers: dict[str, Any] = field(default_factory=dict)
    log_every: int = 10

    def __post_init__(self) -> None:
        if self.max_epochs is None and self.max_steps is None and self.max_time is None:
            raise ValueError(
                "set one of trainer.max_epochs, trainer.max_steps, trainer.max_time, or training never ends"
            )
        for name in (
            "max_epochs",
            "max_steps",
            "devices",
            "num_nodes",
            "threads",
            "workers",
            "accumulate",
            "validate_every",
            "patience",
        ):
            check_at_least(f"trainer.{name}", getattr(self, name), 1)
        for name in ("checkpoint_every", "keep_best", "average_count", "log_every"):
            check_at_least(f"trainer.{name}", getattr(self, name), 1)
        check_at_least("trainer.valid_bleu_sentences", self.valid_bleu_sentences, 0)
        check_choice("trainer.accelerator", self.accelerator, ("auto", "cpu", "gpu"))
        check_choice("trainer.precision", self.precision, ("auto", "32", "bf16-mixed", "16-mixed"))
        check_choice("trainer.strategy", self.strategy, ("auto", "ddp", "fsdp"))
        if self.strategy == "fsdp":
            self._check_fsdp()
        check_choice("trainer.monitor", self.monitor, ("bleu", "loss"))
        check_choice("trainer.average", self.average, ("none", "last", "best"))
        check_share("trainer.ema_decay", self.ema_decay)
        self._check_loggers()
        if self.monitor == "bleu" and not self.valid_bleu_sentences:
            raise ValueError("trainer.monitor=bleu needs trainer.valid_bleu_sentences above 0; or choose monitor=loss")
        if self.max_time is not None and not re.fullmatch(r"\d+:\d\d:\d\d:\d\d", self.max_time):
            raise ValueError(
                f"trainer.max_time ({self.max_time}) must read days:hours:minutes:seconds, like 00:00:45:00"
            )

    @property
    def processes(self) -> int:
        """How many train together."""
        return self.devices * self.num_nodes

    def _check_loggers(self) -> None:
        for name, settings in self.loggers.items():
            check_choice("a name in trainer.loggers", name, list(LOGGERS))
            if not isinstance(settings, dict):
                raise ValueError(f"trainer.loggers.{name} ({settings}) must be a mapping; choose it with logger={name}")
            if "_target_" in settings:
                raise ValueError(
                    f"trainer.loggers.{name}._target_ ({settings['_target_']}) names a class, but a logger is chosen "
                    f"by its name, {name}, alone; leave _target_ out"
                )
            for key, value in settings.items():
                check_choice(f"a setting of trainer.loggers.{name}", key, LOGGERS[name])
                if not isinstance(value, str | bool | None):
                    raise ValueError(f"trainer.loggers.{name}.{key} ({value}) must be text, true, false or null")

    def _check_fsdp(self) -> None:
        if self.ema_decay:
            raise ValueError(
                f"trainer.ema_decay ({self.ema_decay}) averages whole networks, which trainer.strategy=fsdp has not; "
                "set trainer.strategy=ddp, or trainer.average=last"
            )
        if self.precision == "16-mixed":
            raise ValueError("trainer.precision=16-mixed is not for trainer.strategy=fsdp; use bf16-mixed or 32")
        if self.workers is not None and self.workers > 1:
            raise ValueError(
                f"trainer.workers ({self.workers}) share a network, which trainer.strategy=fsdp spreads; set workers=1"
            )
        if self.compile:
            raise ValueError("trainer.compile=true is not for trainer.strategy=fsdp; set trainer.strategy=ddp")
