"""Settings of the trainer: how long, where and how often."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from translate.config.fields import check_settings, setting

LOGGERS = {  # settings of each; a run names its loggers by these words and never by a class
    "wandb": ("project", "name", "entity", "group", "save_dir", "offline"),
    "mlflow": ("experiment_name", "run_name", "tracking_uri"),
}


@dataclass
class TrainerConfig:
    """Settings of the trainer: how long, where and how often."""

    max_epochs: int | None = setting(20, "Passes over the training pairs; null = no limit.", at_least=1)
    max_steps: int | None = setting(None, "Optimizer steps; null = no limit.", at_least=1)
    max_time: str | None = setting(
        None,
        "Time of training, validation included, as days:hours:minutes:seconds, such as 00:00:45:00; null = no limit.",
    )
    accelerator: str = setting(
        "auto",
        "auto = a CUDA device where there is one, else the CPU; gpu = CUDA. Apple's GPU (MPS) is not used.",
        choices=("auto", "cpu", "gpu"),
    )
    devices: int = setting(1, "Devices of each node; more than one train data-parallel.", at_least=1)
    num_nodes: int = setting(
        1, "Machines that train together; torchrun or srun starts the processes on each.", at_least=1
    )
    strategy: str = setting(
        "auto",
        "ddp: each process has the whole network; fsdp: weights, gradients and optimizer state are spread over the "
        "processes; auto = ddp where there are several.",
        choices=("auto", "ddp", "fsdp"),
    )
    threads: int | None = setting(
        None,
        "CPU threads of this process; null = torch's choice, at most the cores of this process and the CPU quota of "
        "its container.",
        at_least=1,
    )
    workers: int | None = setting(
        1,
        "Parts of each batch that are trained on at the same time on a CPU, each by its share of the threads; null = "
        "as many as are fastest here, measured at the start and remembered. A seed repeats its results bit for bit "
        "only with the same number.",
        at_least=1,
    )
    precision: str = setting(
        "32",
        "Type of the computation; 16-mixed needs a GPU. auto = 16 bits where the processor computes in them, else 32; "
        "the run's config.yaml says which.",
        choices=("auto", "32", "bf16-mixed", "16-mixed"),
    )
    compile: bool = setting(
        False, "Compile the layers with torch.compile; the first steps take a minute longer. Does not pay on a CPU."
    )
    accumulate: int = setting(
        1, "Batches per optimizer step; the gradient is that of the mean over all their tokens.", at_least=1
    )
    validate_every: int | None = setting(
        None, "Optimizer steps between validations; null = once per epoch.", at_least=1
    )
    valid_bleu_sentences: int = setting(
        500,
        "Validation sentences that are translated for BLEU; 0 = none. Where several processes train, the first "
        "translates and the others wait, at most 10 minutes.",
        at_least=0,
    )
    monitor: str = setting(
        "bleu", 'What "best" means on the validation split: bleu (higher) or loss (lower).', choices=("bleu", "loss")
    )
    patience: int | None = setting(
        None, "Stop after this many validations without a better one; null = never.", at_least=1
    )
    checkpoint_every: int = setting(
        500, "Optimizer steps between checkpoints to resume from; each validation also writes one.", at_least=1
    )
    keep_best: int = setting(1, "Number of the best checkpoints to keep.", at_least=1)
    average: str = setting(
        "none",
        "Final weights: none = the best checkpoint; last = the mean of the weights at the last average_count "
        "validations; best = the mean of the best average_count.",
        choices=("none", "last", "best"),
    )
    average_count: int = setting(5, "Number of checkpoints to average.", at_least=1)
    ema_decay: float = setting(
        0.0,
        "Decay of an exponential moving average of the weights, which validation and checkpoints use, such as 0.999; "
        "0 = off.",
        at_least=0,
        below=1,
    )
    shortlist: bool = setting(
        False,
        "At the end, learn from the training text which tokens translations of a source may need: in int8 beam search "
        "looks at those first and takes up to a fifth less time. Up to 1 MB in the model directory.",
    )
    csv: bool = setting(True, "Write metrics.csv, from which the report draws its curves.")
    tensorboard: bool = setting(True, "Write TensorBoard event files.")
    loggers: dict[str, Any] = setting(
        {}, "wandb and mlflow with their settings; logger=wandb and logger=mlflow fill it."
    )
    log_every: int = setting(10, "Optimizer steps between logged training losses.", at_least=1)

    def __post_init__(self) -> None:
        check_settings("trainer", self)
        if self.max_epochs is None and self.max_steps is None and self.max_time is None:
            raise ValueError(
                "set one of trainer.max_epochs, trainer.max_steps, trainer.max_time, or training never ends"
            )
        if self.strategy == "fsdp":
            self._check_fsdp()
        self._check_loggers()
        if self.monitor == "bleu" and not self.valid_bleu_sentences:
            raise ValueError("trainer.monitor=bleu needs trainer.valid_bleu_sentences above 0; or choose monitor=loss")
        if self.max_time is not None and not re.fullmatch(r"\d+:\d\d:\d\d:\d\d", self.max_time):
            raise ValueError(
                f"trainer.max_time ({self.max_time}) must read days:hours:minutes:seconds, like 00:00:45:00"
            )

    @property
    def processes(self) -> int:
        """Number of processes that train together."""
        return self.devices * self.num_nodes

    def _check_loggers(self) -> None:
        for name, settings in self.loggers.items():
            if name not in LOGGERS:
                raise ValueError(f"a name in trainer.loggers ({name}) must be one of {', '.join(LOGGERS)}")
            if not isinstance(settings, dict):
                raise ValueError(f"trainer.loggers.{name} ({settings}) must be a mapping; choose it with logger={name}")
            if "_target_" in settings:
                raise ValueError(
                    f"trainer.loggers.{name}._target_ ({settings['_target_']}) names a class, but a logger is chosen "
                    f"by its name, {name}, alone; leave _target_ out"
                )
            for key, value in settings.items():
                if key not in LOGGERS[name]:
                    known = ", ".join(LOGGERS[name])
                    raise ValueError(f"a setting of trainer.loggers.{name} ({key}) must be one of {known}")
                if not isinstance(value, str | bool | None):
                    raise ValueError(f"trainer.loggers.{name}.{key} ({value}) must be text, true, false or null")

    def _check_fsdp(self) -> None:
        if self.ema_decay:
            raise ValueError(
                f"trainer.ema_decay ({self.ema_decay}) averages whole networks, and trainer.strategy=fsdp splits them; "
                "set trainer.strategy=ddp, or trainer.average=last"
            )
        if self.precision == "16-mixed":
            raise ValueError("trainer.precision=16-mixed is not for trainer.strategy=fsdp; use bf16-mixed or 32")
        if self.workers is not None and self.workers > 1:
            raise ValueError(
                f"trainer.workers ({self.workers}) share a network, and trainer.strategy=fsdp splits it; set workers=1"
            )
        if self.compile:
            raise ValueError("trainer.compile=true is not for trainer.strategy=fsdp; set trainer.strategy=ddp")
