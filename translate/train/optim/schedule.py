"""Learning-rate schedules: a share of the peak rate for each optimizer step."""

import math

from translate.config.optim import OptimConfig


def lr_share(step: int, optim: OptimConfig, total_steps: int | None) -> float:
    """Return the learning rate of a step as a share of its peak, between 0 and 1.

    Args:
        step: Optimizer steps done before this one, from 0.
        optim: Settings, of which `schedule`, `warmup_steps` and `min_lr_ratio` count.
        total_steps: Step at which cosine and linear reach their end; later steps stay there.

    Raises:
        ValueError: If the schedule needs `total_steps` and has none.

    >>> linear = OptimConfig(schedule="linear", warmup_steps=2)
    >>> [round(lr_share(step, linear, total_steps=6), 2) for step in range(7)]
    [0.5, 1.0, 1.0, 0.75, 0.5, 0.25, 0.0]
    """
    schedule, warmup_steps = optim.schedule, optim.warmup_steps
    if step < warmup_steps:
        return (step + 1) / warmup_steps
    if schedule == "constant":
        return 1.0
    if schedule == "inverse_sqrt":
        return math.sqrt(max(warmup_steps, 1) / (step + 1))
    if total_steps is None:
        raise ValueError(f"schedule {schedule} needs the number of steps; set trainer.max_epochs or trainer.max_steps")
    done = min(1.0, (step - warmup_steps) / max(1, total_steps - warmup_steps))
    share = (1 + math.cos(math.pi * done)) / 2 if schedule == "cosine" else 1 - done
    return optim.min_lr_ratio + (1 - optim.min_lr_ratio) * share
