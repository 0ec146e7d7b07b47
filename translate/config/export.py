"""Settings of one export."""

from __future__ import annotations

from dataclasses import dataclass

from translate.config.checks import check_choice

QUANTIZATIONS = ("float32", "float16", "bfloat16", "int16", "int8", "int8_float16", "int8_bfloat16")


@dataclass
class ExportConfig:
    """One export; keys are explained in conf/export.yaml."""

    model: str | None = None
    output: str | None = None
    format: str = "ctranslate2"
    quantization: str = "float32"
    overwrite: bool = False

    def __post_init__(self) -> None:
        check_choice("format", self.format, ("ctranslate2", "onnx"))
        check_choice("quantization", self.quantization, QUANTIZATIONS)
        if self.format == "onnx" and self.quantization != "float32":
            raise ValueError(f"quantization ({self.quantization}) must be float32 with format=onnx; leave it out")
