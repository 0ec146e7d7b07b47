"""A Lightning logger that appends to one metrics.csv, also across resumed runs."""

import csv
from pathlib import Path
from typing import Any

from lightning.pytorch.loggers.logger import Logger
from lightning.pytorch.utilities import rank_zero_only

COLUMNS = ("step", "epoch", "train_loss", "tokens_per_s", "lr", "valid_loss", "valid_perplexity", "valid_bleu")


class MetricsCsv(Logger):
    """Rows of `COLUMNS`, sparse, each written at once.

    Lightning's own CSVLogger deletes the file of a run that is resumed; this one drops only the rows after the step
    from which it goes on.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    @property
    def name(self) -> str:
        """The kind of logger."""
        return "csv"

    @property
    def version(self) -> str:
        """There is one file per run."""
        return ""

    @rank_zero_only
    def log_hyperparams(self, *args: Any, **kwargs: Any) -> None:
        """Settings are in the run's config.yaml."""

    @rank_zero_only
    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        """Append one row; metrics without a column are left to the other loggers."""
        row = {"step": step} | {name: value for name, value in metrics.items() if name in COLUMNS}
        if len(row) > 1:
            self._write(self.path, [row], append=self.path.exists())

    @rank_zero_only
    def truncate(self, step: int) -> None:
        """Drop rows after `step`, from which a resumed run goes on."""
        if self.path.exists():
            with self.path.open(newline="") as file:
                rows = [row for row in csv.DictReader(file) if int(row["step"]) <= step]
            whole = self.path.with_name(f".{self.path.name}.tmp")
            self._write(whole, rows, append=False)
            whole.replace(self.path)

    @staticmethod
    def _write(path: Path, rows: list[Any], *, append: bool) -> None:
        with path.open("a" if append else "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            if not append:
                writer.writeheader()
            writer.writerows(rows)
