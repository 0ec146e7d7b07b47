"""Train a model: `python -m translate.train`.

`start.py` begins or resumes a run, `run.py` does its steps, `setup.py` makes Lightning's objects for it, `module.py` is
what Lightning trains, `beside.py` makes what a model has beside its network; read `module.py` and `run.py` first. The
folders are `loss/`, `optim/` (optimizers, schedules), `callbacks/` (progress, validation, checkpoints), `parallel/`
(processes, threads), `weights/` (averaging, warm start, trimming) and `stages/` (several trainings in one run).

It may import `common`, `config`, `data`, `model`, `native`, `search`, `translator`, `infer` and `evaluate`.
"""

from pathlib import Path

LAST_CHECKPOINT = Path("checkpoints/last.ckpt")  # within a run directory; what resume= goes on from
