"""The arithmetic of the table, and what the files hold."""

import json
from dataclasses import replace

import pytest
import torch

from translate.benchmark.flops import FORMULA
from translate.benchmark.operators import Operator
from translate.benchmark.report import SystemResult, TrainBenchmark
from translate.benchmark.timing import PARTS
from translate.benchmark.training import benchmark_training
from translate.config.trainer import TrainerConfig


def found(**changes) -> TrainBenchmark:
    values = {
        "systems": [
            SystemResult("translate", "1", 2_350_000, [90.0, 110.0, 100.0], 3 * 2**20, []),
            SystemResult("a peer", "package 2", 2_349_000, [50.0, 40.0, 60.0], 2**20, ["no tail"]),
        ],
        "left_out": {"another": "pip install another"},
        "peak_rounds": [4e9, 5e9, 1e9],
        "src_tokens": 80,
        "tgt_tokens": 200,
        "flops": 2_000_000_000,
        "padding_share": 0.25,
        "epoch_tokens": 5000,
        "epoch_padding_share": 0.125,
        "parts": dict.fromkeys(PARTS, 0.0) | {"forward": 3.0, "backward": 6.0, "data": 1.0},
        "memory_kind": "a kind",
        "run_bytes": 700 * 2**20,
        "operators": [Operator("aten::mm", 2.5, 1.25, 0.5)],
        "config": {"rounds": 3, "steps": 2, "warmup": 1, "seed": 1},
        "machine": {"torch": "2.x", "matmul": "float32", "threads": "1"},
        "command": "the command",
        "date": "today",
    }
    return TrainBenchmark(**values | changes)


def test_mfu_is_flops_per_second_over_the_measured_peak() -> None:
    ours, peer = found().systems
    assert ours.tokens_per_s == 100
    assert found().flops_per_s(ours) == 100 * 1e7  # 10 MFLOP a token
    assert found().mfu(ours) == 1e9 / 4e9
    assert found().mfu(peer) == 0.5e9 / 4e9
    assert found().seconds_per_epoch(peer) == 100


def test_parts_are_shares_of_the_whole() -> None:
    shares = found().shares
    assert (shares["forward"], shares["data"], shares["copy"]) == (0.3, 0.1, 0.0)


def test_the_table_shows_every_figure() -> None:
    text = found().to_markdown()
    rows = {cells[1].strip(): [cell.strip() for cell in cells[2:-1]] for cells in map(split, text.splitlines())}
    assert rows["target tokens/s"] == ["100", "50"]
    assert rows["slowest to fastest round"] == ["90–110", "40–60"]
    assert rows["relative to ours"] == ["1.00", "0.50"]
    assert rows["seconds per epoch"] == ["50.0", "100.0"]
    assert rows["share of matmul peak (MFU)"] == ["25.0 %", "12.5 %"]
    assert rows["padding share"] == ["25.0 %", "25.0 %"]
    assert rows["data-wait share"] == ["10.0 %", ""]
    assert rows["peak memory, MiB"] == ["3", "1"]
    assert rows["resident memory of a run, MiB"] == ["700", ""]
    assert rows["forward"][:2] == ["500.00", "30.0 %"]  # 3 s in 3 rounds of 2 steps
    assert rows["`aten::mm`"] == ["2.5", "1.25", "50.0 %"]
    for fact in (FORMULA, "the command", "today", "torch: 2.x", "threads: 1", "no tail", "pip install another"):
        assert fact in text


def split(line: str) -> list[str]:
    return line.split("|") if line.startswith("|") else ["", line]


def test_without_peers_and_operators_there_are_no_rows_for_them() -> None:
    text = found(systems=found().systems[:1], operators=[], left_out={}).to_markdown()
    for word in ("relative to ours", "operator ", "left out:", "a peer"):
        assert word not in text


@pytest.mark.gpu
@pytest.mark.slow
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("precision", ["32", "bf16-mixed", "16-mixed"])
def test_a_benchmark_runs_on_a_gpu(config, precision: str) -> None:
    settings = replace(config, peers=True, profile=True, trainer=TrainerConfig(accelerator="gpu", precision=precision))
    result = benchmark_training(settings, command="")
    assert result.memory_kind == "torch.cuda.max_memory_allocated"
    assert all(system.peak_bytes > 0 for system in result.systems)
    assert 0 < result.mfu(result.systems[0]) < 1
    assert sum(result.shares.values()) == pytest.approx(1)
    assert sum(op.share for op in result.operators) <= 1


@pytest.mark.slow
def test_a_benchmark_measures_and_writes_everything(config, tmp_path) -> None:
    settings = replace(config, rounds=2, peers=True, profile=True, output=str(tmp_path / "out"))
    result = benchmark_training(settings, command="the command")
    stored = json.loads((tmp_path / "out/benchmark.json").read_text(encoding="utf-8"))
    assert stored == json.loads(result.to_json())
    assert (tmp_path / "out/benchmark.md").read_text(encoding="utf-8") == result.to_markdown()
    ours, torchs = stored["systems"][:2]
    assert (ours["name"], torchs["name"]) == ("translate", "nn.Transformer")
    assert ours["parameters"] == torchs["parameters"]
    assert ours["mfu"] == pytest.approx(ours["model_flops_per_s"] / stored["peak_flops_per_s"])
    assert ours["tokens_per_s"] == pytest.approx(sum(ours["rounds"]) / 2)
    assert len(stored["peak_rounds"]) == len(ours["rounds"]) == len(torchs["rounds"]) == 2
    assert 0 < ours["mfu"] < 1
    assert stored["data_wait_share"] == pytest.approx(stored["parts"]["data"] / sum(stored["parts"].values()))
    assert set(stored["parts"]) == set(PARTS)
    assert stored["flops_formula"] == FORMULA
    assert stored["operators"]
    assert stored["run_bytes"] > max(ours["peak_bytes"], 100 * 2**20)  # Python and torch count too
    assert {"cpu", "torch", "threads", "precision", "device"} <= set(stored["machine"])
    assert stored["config"]["model"]["d_model"] == 16
