"""Train a model: `python -m translate.train`.

The Lightning module, losses, optimizers, callbacks, data-parallel processes, stages.
Read `module.py` and `run.py` first.
"""

from pathlib import Path

LAST_CHECKPOINT = Path("checkpoints/last.ckpt")  # within a run directory; what resume= goes on from
