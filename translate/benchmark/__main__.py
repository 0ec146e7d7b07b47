"""The benchmarking door: `python -m translate.benchmark train|growth|decode [group=choice …] [key=value …]`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable

from translate.common.command import run_door
from translate.common.resources import conf_dir
from translate.config.benchmark import BenchmarkDecodeConfig, BenchmarkGrowthConfig, BenchmarkTrainConfig
from translate.config.compose import hydra_main
from translate.config.files import load_config
from translate.config.model import ModelConfig
from translate.translator.bundle import find_model

_HELP = """\
usage: python -m translate.benchmark train|growth|decode [group=choice …] [key=value …]

Measure on this machine, in one command, what a run would get, and what the machine could give.

  train   how fast the settings train: target tokens/s, seconds per epoch, model FLOPs, their share of the machine's
          matmul peak, padding, data wait, peak memory, the parts of a step; settings as for translate.train
  growth  how its cost grows: time and memory with 1, 10 and 100 times the corpus, with the size of the model and with
          the length of the sentences, the last two against the formula
  decode  how fast a model translates: sentences/s, latency of one sentence, memory and BLEU in each precision, beside
          CTranslate2 and Hugging Face's generate on the same weights

examples:
  python -m translate.benchmark train                                      the embedded corpus, a few minutes
  python -m translate.benchmark train data=multi30k data.root=DIR          another corpus
  python -m translate.benchmark train experiment=multi30k_tiny             a run whose result the README quotes
  python -m translate.benchmark train peers=true output=DIR                other implementations too; files to DIR/
  python -m translate.benchmark train profile=true trainer.threads=1       the costliest operators, on one CPU thread
  python -m translate.benchmark train steps=3 rounds=1                     a quick look
  python -m translate.benchmark train --help                               every setting
  python -m translate.benchmark growth data=multi30k data.root=DIR         10 minutes, 1 GB of disk while it runs
  python -m translate.benchmark growth copies=[1,2] rounds=1               a quick look
  python -m translate.benchmark growth --help                              every setting
  python -m translate.benchmark decode model=RUN                           its validation split, 15 minutes and more
  python -m translate.benchmark decode model=RUN sentences=100 rounds=1    a quick look
  python -m translate.benchmark decode --help                              every setting

The tables go to stdout, progress to stderr."""


def benchmark_train() -> None:
    """`train`: the rest of the command line is Hydra's."""
    command = shlex.join(["python", "-m", "translate.benchmark", "train", *sys.argv[1:]])

    def task(config: BenchmarkTrainConfig) -> None:
        from translate.benchmark.training import benchmark_training

        print(benchmark_training(config, command=command).to_markdown(), end="")
        if config.output:
            print(f"written: {config.output}/benchmark.md (and benchmark.json)", file=sys.stderr)

    hydra_main("benchmark_train", BenchmarkTrainConfig, task)


def benchmark_growth() -> None:
    """`growth`: the rest of the command line is Hydra's."""
    command = shlex.join(["python", "-m", "translate.benchmark", "growth", *sys.argv[1:]])

    def task(config: BenchmarkGrowthConfig) -> None:
        models = {name: _model(name) for name in config.models}
        from translate.benchmark import growth

        print(growth.benchmark_growth(config, models, command=command).to_markdown(), end="")
        if config.output:
            print(f"written: {config.output}/growth.md (and growth.json)", file=sys.stderr)

    hydra_main("benchmark_growth", BenchmarkGrowthConfig, task)


def benchmark_decode() -> None:
    """`decode`: the rest of the command line is Hydra's."""
    command = shlex.join(["python", "-m", "translate.benchmark", "decode", *sys.argv[1:]])

    def task(config: BenchmarkDecodeConfig) -> None:
        find_model(config.model)  # before torch is loaded
        from translate.benchmark.decoding import benchmark_decoding

        print(benchmark_decoding(config, command=command).to_markdown(), end="")
        if config.output:
            print(f"written: {config.output}/decode.md (and decode.json)", file=sys.stderr)

    hydra_main("benchmark_decode", BenchmarkDecodeConfig, task, groups=False)


def _model(name: str) -> ModelConfig:
    """A file of conf/model."""
    folder = conf_dir() / "model"
    if not (folder / f"{name}.yaml").is_file():
        raise ValueError(f"models ({name}) must be among {', '.join(sorted(file.stem for file in folder.iterdir()))}")
    return load_config(folder / f"{name}.yaml", ModelConfig)


COMMANDS: dict[str, Callable[[], None]] = {
    "train": benchmark_train,
    "growth": benchmark_growth,
    "decode": benchmark_decode,
}


def main() -> None:
    """The door: the first word says what to measure.

    Raises:
        ValueError: If it is missing or unknown, or for whatever is wrong with the rest.
    """
    word = sys.argv[1] if sys.argv[1:] else None
    if word in ("-h", "--help"):
        print(_HELP)
        return
    if word not in COMMANDS:
        given = f"not {word}" if word else "and there is none"
        raise ValueError(
            f"the first word must say what to measure ({', '.join(COMMANDS)}), {given}; "
            "see python -m translate.benchmark --help"
        )
    del sys.argv[1]
    COMMANDS[word]()


if __name__ == "__main__":
    run_door(main)
