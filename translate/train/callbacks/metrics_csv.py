"""Log metrics to one metrics.csv, also across resumed runs."""

import csv
from io import StringIO
from pathlib import Path
from typing import Any

from lightning.pytorch.loggers.logger import Logger
from lightning.pytorch.utilities import rank_zero_only

from translate.common.files import explained, read_rows, write_text

COLUMNS = ("step", "epoch", "train_loss", "tokens_per_s", "lr", "valid_loss", "valid_perplexity", "valid_bleu")


class MetricsCsv(Logger):
    """Appends rows of `COLUMNS`, in which most values are empty, and writes each at once.

    Lightning's own CSVLogger deletes the file of a run that is resumed; this one drops only the rows after the step
    from which it goes on.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    @property
    def name(self) -> str:
        """Return the kind of logger."""
        return "csv"

    @property
    def version(self) -> str:
        """Return no version: there is one file per run."""
        return ""

    @rank_zero_only
    def log_hyperparams(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: the settings are in the run's config.yaml."""

    @rank_zero_only
    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        """Append one row; metrics without a column are left to the other loggers."""
        row = {"step": step} | {name: value for name, value in metrics.items() if name in COLUMNS}
        if len(row) > 1:
            with explained(self.path), self.path.open("a", encoding="utf-8", newline="") as file:
                file.write(_row(row) if file.tell() else _header() + _row(row))

    @rank_zero_only
    def truncate(self, step: int) -> None:
        """Drop rows after `step`, from which a resumed run goes on, and those without a step, which are damaged."""
        if self.path.exists():
            rows = [
                row for row in read_rows(self.path) if (at := row.get("step") or "").isdecimal() and int(at) <= step
            ]
            write_text(self.path, _header() + "".join(map(_row, rows)))


def _header() -> str:
    return _row({name: name for name in COLUMNS})


def _row(values: dict[str, Any]) -> str:
    """Return one line of the file."""
    line = StringIO(newline="")
    csv.DictWriter(line, COLUMNS).writerow(values)
    return line.getvalue()
