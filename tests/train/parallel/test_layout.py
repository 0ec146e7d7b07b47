"""Which layout a CPU trains in: measured where it is left open, remembered, the settings' own otherwise."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from translate.common.memory import KEPT_SHAPES
from translate.config.train import TrainConfig
from translate.config.trainer import TrainerConfig
from translate.data.datamodule import TranslationDataModule
from translate.train.parallel import layout
from translate.train.parallel.layout import with_layout

MakeConfig = Callable[..., TrainConfig]


def prepared(config: TrainConfig) -> TranslationDataModule:
    data = TranslationDataModule(config.data, config.tokenizer, seed=config.seed)
    data.prepare()
    return data


def open_layout(make_config: MakeConfig, tmp_path: Path, **trainer: object) -> TrainConfig:
    config = make_config(workers=None, precision="32", threads=2, **trainer)
    return replace(config, data=replace(config.data, cache_dir=str(tmp_path)))


def test_the_fastest_is_taken_said_and_remembered(
    make_config: MakeConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = open_layout(make_config, tmp_path)
    data = prepared(config)
    random = torch.get_rng_state()
    measured: list[int | None] = []

    def seconds(module: object, batch: object, precision: str) -> float:
        workers = getattr(module, "workers", None)
        measured.append(workers and workers.parts)
        return 1.0 if workers else 0.5

    monkeypatch.setattr(layout, "_seconds", seconds)
    assert with_layout(config, data).trainer.workers == 1
    assert set(measured) == {None, 2}
    assert "1 worker × 2 threads in 32 is fastest here" in capsys.readouterr().err
    assert torch.equal(torch.get_rng_state(), random)
    monkeypatch.setattr(layout, "_seconds", None)  # a second start measures nothing
    assert with_layout(config, data).trainer.workers == 1


@pytest.mark.slow
def test_layouts_are_measured_by_real_steps(make_config: MakeConfig, tmp_path: Path) -> None:
    config = open_layout(make_config, tmp_path)
    assert with_layout(config, prepared(config)).trainer.workers in (1, 2)


def test_what_the_settings_say_is_kept(make_config: MakeConfig, tmp_path: Path) -> None:
    config = make_config(workers=3, precision="32", threads=2)
    filled = with_layout(config, prepared(config)).trainer
    assert (filled.workers, filled.precision) == (3, "32")
    assert torch.get_num_threads() == 2


def test_training_keeps_kernels_for_few_shapes(make_config: MakeConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LRU_CACHE_CAPACITY", "")
    monkeypatch.delenv("LRU_CACHE_CAPACITY")
    config = make_config(workers=1, precision="32", threads=1)
    with_layout(config, prepared(config))
    assert os.environ["LRU_CACHE_CAPACITY"] == str(KEPT_SHAPES)


def test_parts_of_a_batch_are_not_cut_too_small(make_config: MakeConfig, tmp_path: Path) -> None:
    config = open_layout(make_config, tmp_path)
    config = replace(config, data=replace(config.data, batch_tokens=300))
    assert with_layout(config, prepared(config)).trainer.workers == 1


def test_workers_share_a_cpu_only(monkeypatch: pytest.MonkeyPatch, make_config: MakeConfig) -> None:
    config = make_config(workers=2, accelerator="auto")
    data = prepared(config)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(ValueError, match=r"trainer\.workers \(2\) share a CPU"):
        with_layout(config, data)
    with pytest.raises(ValueError, match=r"trainer\.workers \(0\) must be at least 1"):
        TrainerConfig(workers=0)


@pytest.mark.parametrize(("devices", "threads"), [(1, 4), (2, 2)])
def test_training_takes_the_cores_of_its_container_and_processes_share_them(
    make_config: MakeConfig, monkeypatch: pytest.MonkeyPatch, devices: int, threads: int
) -> None:
    monkeypatch.setattr("translate.common.cores.available_cores", lambda *, processes: 4 // processes)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    torch.set_num_threads(7)
    config = make_config(workers=1, precision="32", threads=None, devices=devices)
    with_layout(config, prepared(config))
    assert torch.get_num_threads() == threads
