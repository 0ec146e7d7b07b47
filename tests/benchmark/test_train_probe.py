"""The memory of a whole run, measured in a process of its own."""

from dataclasses import replace
from pathlib import Path

import pytest

from translate.benchmark.train_probe import run_bytes, short_run
from translate.config.benchmark import BenchmarkTrainConfig
from translate.config.data import DataConfig


def test_the_run_has_the_steps_of_a_measurement_and_keeps_the_other_settings(
    config: BenchmarkTrainConfig, tmp_path: Path
) -> None:
    run = short_run(config, tmp_path)
    assert (run.trainer.max_steps, run.trainer.max_epochs) == (config.warmup + config.steps, None)
    assert run.trainer.valid_bleu_sentences == config.trainer.valid_bleu_sentences
    assert (run.model, run.data, run.optim) == (config.model, config.data, config.optim)
    assert Path(str(run.run_dir)).parent == Path(run.runs_dir) == tmp_path


@pytest.mark.slow
def test_a_run_that_fails_says_why(config: BenchmarkTrainConfig, tmp_path: Path) -> None:
    broken = replace(config, data=DataConfig(source="multi30k", root=str(tmp_path), cache_dir=str(tmp_path / "cache")))
    with pytest.raises(ValueError, match=rf"a short run in a separate process failed: .*{tmp_path}"):
        run_bytes(broken)
