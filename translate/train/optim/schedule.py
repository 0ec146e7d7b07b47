"""Learning-rate schedules: a share of the peak rate for each optimizer step."""

import math

from translate.config.optim import OptimConfig


def lr_share(step: int, optim: OptimConfig, total_steps: int | None, time_done: float | None = None) -> float:
    """Return the learning rate of a step as a share of its peak, between 0 and 1.

    Args:
        step: Optimizer steps done before this one, from 0.
        optim: Settings, of which `schedule`, `warmup_steps` and `min_lr_ratio` count.
        total_steps: Step at which cosine and linear reach their end; later steps stay there.
        time_done: Share of the training's time that has passed. Cosine and linear end with the time if that is first,
            and since it passes during the warm-up, too, that rises a little less.

    Raises:
        ValueError: If the schedule needs one of the two and has none.

    >>> linear = OptimConfig(schedule="linear", warmup_steps=2)
    >>> [round(lr_share(step, linear, total_steps=6), 2) for step in range(7)]
    [0.5, 1.0, 1.0, 0.75, 0.5, 0.25, 0.0]
    >>> lr_share(3, linear, total_steps=6, time_done=0.75)
    0.25
    """
    schedule, warmup_steps = optim.schedule, optim.warmup_steps
    warm = min(1.0, (step + 1) / max(1, warmup_steps))
    if schedule == "constant" or (schedule == "inverse_sqrt" and step < warmup_steps):
        return warm
    if schedule == "inverse_sqrt":
        return math.sqrt(max(warmup_steps, 1) / (step + 1))
    shares = [] if time_done is None else [time_done]
    if total_steps is not None:
        shares.append((step - warmup_steps) / max(1, total_steps - warmup_steps))
    if not shares:
        raise ValueError(f"schedule {schedule} needs the number of steps or the time of the training")
    done = min(1.0, max(0.0, *shares))
    share = (1 + math.cos(math.pi * done)) / 2 if schedule == "cosine" else 1 - done
    return warm * (optim.min_lr_ratio + (1 - optim.min_lr_ratio) * share)
