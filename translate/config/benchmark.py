"""Settings of the benchmarks."""

from __future__ import annotations

from dataclasses import dataclass, field

from translate.config.checks import check_at_least
from translate.config.decode import DecodeConfig
from translate.config.train import TrainConfig


@dataclass
class BenchmarkTrainConfig(TrainConfig):
    """A measurement of training; keys are explained in conf/benchmark_train.yaml."""

    rounds: int = 5
    steps: int = 20
    warmup: int = 1
    peers: bool = False
    profile: bool = False
    output: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("rounds", "steps", "warmup"):
            check_at_least(name, getattr(self, name), 1)
        for name in ("resume", "init_from", "run_dir"):
            if getattr(self, name) is not None:
                raise ValueError(f"{name} ({getattr(self, name)}) does nothing in a benchmark; leave it out")
        for name, value in (("optim.r_drop", self.optim.r_drop), ("model.layer_drop", self.model.layer_drop)):
            if value:
                raise ValueError(f"{name} ({value}) changes how much a step computes; a benchmark needs {name}=0")
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
class BenchmarkDecodeConfig:
    """A measurement of decoding; keys are explained in conf/benchmark_decode.yaml."""

    model: str | None = None
    against: str | None = None
    src: str | None = None
    ref: str | None = None
    data_root: str | None = None
    split: str = "valid"
    sentences: int | None = None
    precisions: list[str] = field(default_factory=lambda: ["32", "bf16", "int8", "auto"])
    peers: bool = True
    rounds: int = 5
    latency_sentences: int = 100
    sizes: list[int] = field(default_factory=list)
    output: str | None = None
    decode: DecodeConfig = field(default_factory=DecodeConfig)

    def __post_init__(self) -> None:
        for name in ("sentences", "rounds", "latency_sentences"):
            check_at_least(name, getattr(self, name), 1)
        for size in self.sizes:
            check_at_least("sizes", size, 1)
        if not self.precisions:
            raise ValueError("precisions must name at least one")
        if (self.src is None) != (self.ref is None):
            raise ValueError("src=FILE and ref=FILE belong together: sentences and their references")
        if self.src and (self.data_root or self.split != "valid"):
            raise ValueError("data_root and split are of the run's own data; with src=FILE ref=FILE leave them out")
        measured = ("beam_size", "length_penalty", "max_output_len", "max_output_ratio")
        for name, value in vars(self.decode).items():
            if name not in measured and value != getattr(DecodeConfig, name):
                raise ValueError(f"decode.{name} ({value}) must be {getattr(DecodeConfig, name)} in this benchmark")
