"""Settings of the optimizer, its schedule and the loss."""

from __future__ import annotations

from dataclasses import dataclass, field

from translate.config.checks import check_at_least, check_choice, check_share


@dataclass
class OptimConfig:
    """The optimizer, its schedule and the loss; keys are explained in conf/optim/inverse_sqrt.yaml."""

    algorithm: str = "adamw"
    lr: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.98
    eps: float = 1e-9
    weight_decay: float = 0.0
    schedule: str = "inverse_sqrt"
    warmup_steps: int = 1000
    min_lr_ratio: float = 0.0
    label_smoothing: float = 0.1
    r_drop: float = 0.0
    teachers: list[str] = field(default_factory=list)
    teacher_share: float = 0.5
    clip_norm: float = 1.0

    def __post_init__(self) -> None:
        check_choice("optim.algorithm", self.algorithm, ("adamw", "muon"))
        if self.lr <= 0:
            raise ValueError(f"optim.lr ({self.lr}) must be above 0")
        for name in ("beta1", "beta2", "min_lr_ratio", "label_smoothing"):
            check_share(f"optim.{name}", getattr(self, name))
        check_choice("optim.schedule", self.schedule, ("inverse_sqrt", "cosine", "linear", "constant"))
        check_at_least("optim.eps", self.eps, 0)
        check_at_least("optim.weight_decay", self.weight_decay, 0)
        check_at_least("optim.warmup_steps", self.warmup_steps, 0)
        check_at_least("optim.r_drop", self.r_drop, 0)
        if not 0 < self.teacher_share < 1:
            raise ValueError(f"optim.teacher_share ({self.teacher_share}) must be above 0 and below 1")
        if self.teachers and self.r_drop:
            raise ValueError(f"optim.r_drop ({self.r_drop}) and optim.teachers are two losses; choose one of them")
        if not self.teachers and self.teacher_share != OptimConfig.teacher_share:
            raise ValueError(f"optim.teacher_share ({self.teacher_share}) does nothing without optim.teachers")
        check_at_least("optim.clip_norm", self.clip_norm, 0)
