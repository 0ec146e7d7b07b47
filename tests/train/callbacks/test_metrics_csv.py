"""metrics.csv is one table over all the resumes of a run."""

import csv
from pathlib import Path

import pytest

from translate.train.callbacks.metrics_csv import COLUMNS, MetricsCsv


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return [{name: value for name, value in row.items() if value} for row in csv.DictReader(file)]


def test_rows_are_sparse_and_written_at_once(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    logger = MetricsCsv(path)
    logger.log_metrics({"train_loss": 2.5, "epoch": 0.0}, 10)
    assert table(path) == [{"step": "10", "train_loss": "2.5", "epoch": "0.0"}]
    logger.log_metrics({"valid_bleu": 12.0, "epoch": 0.0}, 10)
    assert table(path)[1] == {"step": "10", "valid_bleu": "12.0", "epoch": "0.0"}
    assert path.read_text().splitlines()[0].split(",") == list(COLUMNS)


def test_what_has_no_column_is_left_to_other_loggers(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    MetricsCsv(path).log_metrics({"grad_norm": 1.0}, 1)
    assert not path.exists()
    MetricsCsv(path).log_metrics({"grad_norm": 1.0, "lr": 0.1}, 1)
    assert table(path) == [{"step": "1", "lr": "0.1"}]


def test_truncating_drops_the_rows_after_a_step_and_writing_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    logger = MetricsCsv(path)
    logger.truncate(5)
    assert not path.exists()
    for step in (5, 10, 10, 15):
        logger.log_metrics({"train_loss": float(step)}, step)
    MetricsCsv(path).truncate(10)
    MetricsCsv(path).log_metrics({"train_loss": 7.0}, 20)
    assert [row["step"] for row in table(path)] == ["5", "10", "10", "20"]
    assert path.read_text().count("train_loss") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["metrics.csv"]


def test_a_damaged_row_is_dropped_on_resuming(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    MetricsCsv(path).log_metrics({"train_loss": 1.0}, 1)
    with path.open("ab") as file:
        file.write(b"2x,0,3.0\r\n\xff\r\n,0,4.0\r\n")
    MetricsCsv(path).log_metrics({"train_loss": 2.0}, 3)
    MetricsCsv(path).truncate(10)
    assert [(row["step"], row["train_loss"]) for row in table(path)] == [("1", "1.0"), ("3", "2.0")]


def test_a_row_that_a_full_disk_cut_short_is_dropped_on_resuming(tmp_path: Path, small_files) -> None:
    path = tmp_path / "metrics.csv"
    MetricsCsv(path).log_metrics({"train_loss": 1.0}, 1)
    small_files(path.stat().st_size + 3)
    with pytest.raises(OSError, match="File too large") as error:
        MetricsCsv(path).log_metrics({"train_loss": 2.0}, 20_000)
    assert error.value.filename == str(path)
    assert path.read_bytes().endswith(b"\n200")
    MetricsCsv(path).truncate(1_000_000)
    assert table(path) == [{"step": "1", "train_loss": "1.0"}]
