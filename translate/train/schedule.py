"""Learning-rate schedules: a share of the peak rate for each optimizer step."""

import math


def lr_share(step: int, *, schedule: str, warmup_steps: int, total_steps: int | None, min_lr_ratio: float) -> float:
    """The learning rate of a step, as a share of its peak.

    Args:
        step: Optimizer steps done before this one, from 0.
        schedule: "inverse_sqrt", "cosine", "linear" or "constant", after a linear warm-up.
        warmup_steps: Steps until the peak.
        total_steps: Step at which cosine and linear reach their end; later steps stay there.
        min_lr_ratio: That end, 0 to 1.

    Returns:
        Between 0 and 1.

    Raises:
        ValueError: If the schedule is unknown, or needs `total_steps` and has none.

    >>> [round(lr_share(s, schedule="linear", warmup_steps=2, total_steps=6, min_lr_ratio=0.0), 2) for s in range(7)]
    [0.5, 1.0, 1.0, 0.75, 0.5, 0.25, 0.0]
    """
    if step < warmup_steps:
        return (step + 1) / warmup_steps
    if schedule == "constant":
        return 1.0
    if schedule == "inverse_sqrt":
        return math.sqrt(max(warmup_steps, 1) / (step + 1))
    if schedule not in ("cosine", "linear"):
        raise ValueError(f"schedule ({schedule}) must be one of inverse_sqrt, cosine, linear, constant")
    if total_steps is None:
        raise ValueError(f"schedule {schedule} needs the number of steps; set trainer.max_epochs or trainer.max_steps")
    done = min(1.0, (step - warmup_steps) / max(1, total_steps - warmup_steps))
    share = (1 + math.cos(math.pi * done)) / 2 if schedule == "cosine" else 1 - done
    return min_lr_ratio + (1 - min_lr_ratio) * share
