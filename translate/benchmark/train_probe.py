"""Measure the memory of a whole run: a short training in a separate process, with validation and checkpoints.

python -m translate.benchmark.train_probe CONFIG.yaml RESULT.json
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from translate.common.memory import high_water
from translate.config.benchmark import BenchmarkTrainConfig
from translate.config.files import load_config, save_config
from translate.config.train import TrainConfig


def run_bytes(config: BenchmarkTrainConfig) -> int:
    """Return the most resident bytes of the process of a run of `warmup` + `steps` optimizer steps and a validation.

    Args:
        config: With the layout filled in.

    Raises:
        ValueError: If the run fails; its last line says why.
    """
    with TemporaryDirectory(prefix="benchmark-") as name:
        folder = Path(name)
        settings, result = folder / "settings.yaml", folder / "result.json"
        save_config(short_run(config, folder), settings)
        module = "translate.benchmark.train_probe"
        command = [sys.executable, "-m", module, str(settings), str(result)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
            raise ValueError(f"a short run in a separate process failed: {reason}")
        return int(json.loads(result.read_text(encoding="utf-8")))


def short_run(config: BenchmarkTrainConfig, folder: Path) -> TrainConfig:
    """Return the settings of that run, whose files go to `folder`."""
    run = TrainConfig(**{field.name: getattr(config, field.name) for field in fields(TrainConfig)})
    steps = config.warmup + config.steps
    trainer = replace(config.trainer, max_epochs=None, max_steps=steps, max_time=None, tensorboard=False, loggers={})
    return replace(run, trainer=trainer, runs_dir=str(folder), run_dir=str(folder / "run"), evaluate=False)


def main() -> None:
    """Train as the command line says."""
    config_path, result_path = map(Path, sys.argv[1:])
    from translate.train.start import train

    train(load_config(config_path, TrainConfig))
    result_path.write_text(json.dumps(high_water()), encoding="utf-8")


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C reaches whoever waits for us too
    main()
