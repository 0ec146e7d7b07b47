"""Settings of the benchmarks."""

from __future__ import annotations

from dataclasses import dataclass, field

from translate.common.resources import SHIPPED
from translate.config.decode import DecodeConfig
from translate.config.fields import check_settings, setting
from translate.config.train import TrainConfig


@dataclass
class BenchmarkTrainConfig(TrainConfig):
    """Settings of a measurement of training."""

    rounds: int = setting(
        5, "Measurements of each speed, in turns; one more comes before them and does not count.", at_least=1
    )
    steps: int = setting(20, "Optimizer steps of a measurement.", at_least=1)
    warmup: int = setting(1, "Optimizer steps before a measurement, which do not count.", at_least=1)
    peers: bool = setting(
        False,
        "Whether to measure other implementations too, on the same batches: nn.Transformer, and Hugging Face's "
        "MarianMTModel if transformers is installed.",
    )
    profile: bool = setting(False, "Whether to show the costliest operators, from one more measurement.")
    output: str | None = setting(None, "Folder for benchmark.json and benchmark.md; null = none.")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("resume", "init_from", "run_dir"):
            if getattr(self, name) is not None:
                raise ValueError(f"{name} ({getattr(self, name)}) does nothing in a benchmark; leave it out")
        for name, value in (("optim.r_drop", self.optim.r_drop), ("model.layer_drop", self.model.layer_drop)):
            if value:
                raise ValueError(f"{name} ({value}) changes how much a step computes; a benchmark needs {name}=0")
        if self.optim.weight_bits:
            raise ValueError(
                f"optim.weight_bits ({self.optim.weight_bits}) rounds weights at each step; a benchmark measures "
                "without"
            )
        if self.optim.teachers:
            raise ValueError("optim.teachers change how much a step computes; a benchmark measures without them")
        if self.peers and self.optim.algorithm != "adamw":
            raise ValueError(f"optim.algorithm={self.optim.algorithm}: peers train with adamw; set it, or peers=false")
        if self.stages:
            raise ValueError(f"stages ({', '.join(self.stages)}): a benchmark measures one training; leave them out")
        for name in ("devices", "num_nodes"):
            if getattr(self.trainer, name) > 1:
                raise ValueError(
                    f"trainer.{name} ({getattr(self.trainer, name)}) must be 1: a benchmark measures one device"
                )


@dataclass
class BenchmarkGpuConfig:
    """Settings of the acceptance on a GPU."""

    output: str = setting("gpu", "Folder for gpu.md, gpu.json, the runs and the logs.")
    data_root: str | None = setting(
        None, "Folder of Multi30k, whose multi30k_tiny is then trained to the end; null = the embedded corpus instead."
    )
    step_minutes: float = setting(10.0, "A step that takes longer is ended and reported.", above=0)

    def __post_init__(self) -> None:
        check_settings("", self)


@dataclass
class BenchmarkDecodeConfig:
    """Settings of a measurement of decoding."""

    model: str | None = setting(None, "Run directory or model directory; null = runs/latest.")
    against: str | None = setting(
        None, "Another run or model directory to measure beside it, such as a student's teacher; null = none."
    )
    src: str | None = setting(None, "Other sentences instead of a split: a text file with one per line (.gz too).")
    ref: str | None = setting(None, "References of src, line by line.")
    data_root: str | None = setting(None, "Look for the run's data in this folder instead of its data.root.")
    split: str = setting("valid", "What to translate: valid, or a test set of the run, such as test_2016_flickr.")
    sentences: int | None = setting(None, "Translate this many sentences from the start; null = all.", at_least=1)
    precisions: list[str] = setting(
        ["32", "bf16", "int8"],
        "Precisions of our engine, a row for each model; one that is not possible here is left out, with the reason.",
    )
    peers: bool = setting(
        True,
        "Whether to measure CTranslate2 and Hugging Face's generate too, on the same weights, where they are "
        "installed and can hold them: pip install ctranslate2 transformers.",
    )
    device: str = setting(
        "cpu",
        "Where to translate; on cuda peers compute in 16 bits, as precisions should.",
        choices=("cpu", "cuda"),
    )
    rounds: int = setting(5, "Measurements of each row, in turns, after one that does not count.", at_least=1)
    latency_sentences: int = setting(
        100, "Number of sentences, evenly spaced, that are also translated one at a time in each round.", at_least=1
    )
    sizes: list[int] = setting(
        [],
        "Measure how cost grows: translate.infer on files of this many times the sentences, each made of two "
        "sentences joined at random, so that no two lines are equal, such as [1,10,100]; [] = not.",
    )
    command_lines: int = setting(
        0,
        "Run translate.infer as a command, too, from its start to its exit, in int8 and as exported to CTranslate2: on "
        "the first sentence and on a file of so many lines, such as 10000; 0 = not.",
        at_least=0,
    )
    output: str | None = setting(None, "Folder for decode.json and decode.md; null = none.")
    decode: DecodeConfig = field(default_factory=DecodeConfig)

    def __post_init__(self) -> None:
        check_settings("", self)
        for size in self.sizes:
            if size < 1:
                raise ValueError(f"sizes ({size}) must be at least 1")
        if not self.precisions:
            raise ValueError("precisions must name at least one")
        if (self.src is None) != (self.ref is None):
            raise ValueError("src=FILE and ref=FILE belong together: sentences and their references")
        if self.src and (self.data_root or self.split != "valid"):
            raise ValueError("data_root and split are of the run's own data; with src=FILE ref=FILE leave them out")
        measured = ("beam_size", "length_penalty", "max_output_len", "max_output_ratio", "shortlist", "shortlist_check")
        for name, value in vars(self.decode).items():
            if name not in measured and value != getattr(DecodeConfig, name):
                raise ValueError(f"decode.{name} ({value}) must be {getattr(DecodeConfig, name)} in this benchmark")


@dataclass
class BenchmarkServeConfig:
    """Settings of a measurement of the server."""

    model: str = setting(SHIPPED, "Run directory or model directory.")
    src: str | None = setting(None, "Text file with a sentence per line; null = the embedded validation sentences.")
    source: str = setting("en", "Language of the sentences.")
    target: str = setting("fr", "Language to translate them into.")
    sentences: int = setting(1000, "Translate this many different sentences from the start.", at_least=1)
    latency_sentences: int = setting(
        100, "Number of sentences, evenly spaced, that a single client sends one after the other.", at_least=1
    )
    clients: int = setting(64, "Clients that send sentences at the same time.", at_least=1)
    rounds: int = setting(5, "Measurements of each server, in turns, after one that does not count.", at_least=1)
    peers: bool = setting(True, "Whether to measure CTranslate2 behind a plain route too, where it is installed.")
    overload_minutes: float = setting(
        0.0, "Then offer twice what the clients got, for so long; needs 10,000 different sentences.", at_least=0
    )
    output: str | None = setting(None, "Folder for serve.json and serve.md; null = none.")

    def __post_init__(self) -> None:
        check_settings("", self)
