"""The Lightning module, the loss, the schedules and the callbacks of a training run."""

from pathlib import Path

LAST_CHECKPOINT = Path("checkpoints/last.ckpt")  # within a run directory; what resume= goes on from
