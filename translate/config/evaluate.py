"""Settings of one evaluation."""

from __future__ import annotations

from dataclasses import dataclass, field

from translate.config.checks import check_at_least, check_choice
from translate.config.decode import PRECISIONS, DecodeConfig


@dataclass
class EvaluateConfig:
    """One evaluation; keys are explained in conf/evaluate.yaml."""

    model: str | None = None
    src: str | None = None
    ref: str | None = None
    hyp: str | None = None
    name: str | None = None
    tgt_lang: str | None = None
    baseline: str | None = None
    output: str | None = None
    data_root: str | None = None
    protocol: str = "both"
    bootstrap: int = 1000
    seed: int = 12345
    device: str = "auto"
    precision: str = "32"
    decode: DecodeConfig = field(default_factory=DecodeConfig)

    def __post_init__(self) -> None:
        check_choice("protocol", self.protocol, ("cased", "literature", "both"))
        check_choice("device", self.device, ("auto", "cpu", "cuda"))
        check_choice("precision", self.precision, PRECISIONS)
        check_at_least("bootstrap", self.bootstrap, 0)
