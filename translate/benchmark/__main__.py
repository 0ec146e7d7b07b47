"""The benchmark command: `python -m translate.benchmark train|decode|serve|gpu [group=choice …] [key=value …]`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from typing import Any

from translate.common.command import run_command
from translate.config.benchmark import (
    BenchmarkDecodeConfig,
    BenchmarkGpuConfig,
    BenchmarkServeConfig,
    BenchmarkTrainConfig,
)
from translate.translator.bundle import find_model

_HELP = """\
usage: python -m translate.benchmark train|decode|serve|gpu [group=choice …] [key=value …]

Measure on this machine, in one command, what a run would get, and what the machine could give.

  train   how fast the settings train: target tokens/s, seconds per epoch, model FLOPs, their share of the machine's
          matmul peak, padding, data wait, peak memory, the parts of a step; settings as for translate.train
  decode  how fast a model translates: sentences/s, latency of one sentence, memory and BLEU in each precision, beside
          CTranslate2 and Hugging Face's generate on the same weights
  serve   what translate.serve adds to a sentence, and what many clients get, beside the engine by itself
  gpu     all that a GPU should do, in twenty minutes: tests, speeds of training and decoding, memory, a whole run,
          repetition, the way from CPU to GPU and back; without one the same at a tiny size

examples:
  python -m translate.benchmark train                                      the embedded corpus, a few minutes
  python -m translate.benchmark train data=multi30k data.root=DIR          another corpus
  python -m translate.benchmark train experiment=multi30k_tiny             a run whose result the README quotes
  python -m translate.benchmark train peers=true output=DIR                other implementations too; files to DIR/
  python -m translate.benchmark train profile=true trainer.threads=1       the costliest operators, on one CPU thread
  python -m translate.benchmark train steps=3 rounds=1                     a quick look
  python -m translate.benchmark train --help                               every setting
  python -m translate.benchmark decode model=RUN                           its validation split, 15 minutes and more
  python -m translate.benchmark decode model=RUN sentences=100 rounds=1    a quick look
  python -m translate.benchmark decode --help                              every setting
  python -m translate.benchmark serve src=FILE                             the general model, 64 clients
  python -m translate.benchmark gpu output=DIR data_root=DIR               a report, DIR/gpu.md

The tables go to stdout, progress to stderr."""


def benchmark_train() -> None:
    """Run `train`; Hydra reads the rest of the command line."""

    def measure(config: BenchmarkTrainConfig, command: str) -> str:
        from translate.benchmark.training import benchmark_training

        return benchmark_training(config, command=command).to_markdown()

    _run("train", BenchmarkTrainConfig, measure, "benchmark", groups=True)


def benchmark_decode() -> None:
    """Run `decode`; Hydra reads the rest of the command line."""

    def measure(config: BenchmarkDecodeConfig, command: str) -> str:
        find_model(config.model)  # before torch is loaded
        from translate.benchmark.decoding import benchmark_decoding

        return benchmark_decoding(config, command=command).to_markdown()

    _run("decode", BenchmarkDecodeConfig, measure, "decode", groups=False)


def benchmark_serve() -> None:
    """Run `serve`; Hydra reads the rest of the command line."""

    def measure(config: BenchmarkServeConfig, command: str) -> str:
        find_model(config.model)  # before torch is loaded
        from translate.benchmark.serving import benchmark_serving

        return benchmark_serving(config, command=command).to_markdown()

    _run("serve", BenchmarkServeConfig, measure, "serve", groups=False)


def benchmark_gpu() -> None:
    """Run `gpu`; Hydra reads the rest of the command line."""

    def measure(config: BenchmarkGpuConfig, command: str) -> str:
        from translate.benchmark.acceptance import accept_gpu

        return accept_gpu(config, command=command)

    _run("gpu", BenchmarkGpuConfig, measure, "gpu", groups=False)


def _run(word: str, schema: type, measure: Callable[[Any, str], str], file: str, *, groups: bool) -> None:
    """Measure with the settings of the command line; print the tables, and say into which files they went."""
    from translate.config.compose import hydra_main  # needs the extra train

    command = shlex.join(["python", "-m", "translate.benchmark", word, *sys.argv[1:]])

    def task(config: Any) -> None:
        print(measure(config, command), end="")
        if config.output:
            print(f"written: {config.output}/{file}.md (and {file}.json)", file=sys.stderr)

    hydra_main(f"benchmark_{word}", schema, task, groups=groups)


COMMANDS: dict[str, Callable[[], None]] = {
    "train": benchmark_train,
    "decode": benchmark_decode,
    "serve": benchmark_serve,
    "gpu": benchmark_gpu,
}


def main() -> None:
    """Run the measurement that the first word names.

    Raises:
        ValueError: If it is missing or unknown, or for whatever is wrong with the rest.
    """
    word = sys.argv[1] if sys.argv[1:] else None
    if word in ("-h", "--help"):
        print(_HELP)
        return
    if word not in COMMANDS:
        given = f"not {word}" if word else "and it is missing"
        raise ValueError(
            f"the first word must say what to measure ({', '.join(COMMANDS)}), {given}; "
            "see python -m translate.benchmark --help"
        )
    del sys.argv[1]
    COMMANDS[word]()


if __name__ == "__main__":
    run_command(main)
