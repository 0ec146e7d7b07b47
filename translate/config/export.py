"""Settings of one export."""

from __future__ import annotations

from dataclasses import dataclass

from translate.config.fields import check_settings, setting

MODEL_QUANTIZATIONS = ("float32", "int8", "int6", "int4")  # of a model directory
QUANTIZATIONS = ("float32", "float16", "bfloat16", "int16", "int8", "int8_float16", "int8_bfloat16")


@dataclass
class ExportConfig:
    """Settings of one export."""

    model: str | None = setting(None, "Run directory or model directory; null = runs/latest.")
    output: str | None = setting(
        None,
        "Directory to write; null = FORMAT-QUANTIZATION beside the model directory, such as RUN/ctranslate2-int8. The "
        "model of the package needs one.",
    )
    format: str = setting(
        "ctranslate2",
        "ctranslate2: for CTranslate2 (https://opennmt.net/CTranslate2), which translates without torch; it can hold "
        "every model but those with talking heads. onnx: for any runtime of ONNX (https://onnx.ai); it can hold every "
        "model, and translate.infer decodes it greedily. marian-hf: for Hugging Face's MarianMTModel, networks with "
        "norm_first=false and multi-head attention. model: a model directory again, a quarter as large with "
        "quantization=int8, a sixth with int6, a tenth with int4, best after a training with optim.weight_bits=4; it "
        "can be trained on.",
        choices=("ctranslate2", "onnx", "marian-hf", "model"),
    )
    quantization: str = setting(
        "float32",
        "Type of the stored weights: float32 as trained; float16, bfloat16; int16 or int8 with the rest in float32; "
        "int8_float16 or int8_bfloat16 with the rest in 16 bits. The type of the computation is chosen where the "
        "export is opened. float32 alone with format=onnx and marian-hf; float32, int8, int6, int4 with format=model.",
        choices=tuple(dict.fromkeys((*QUANTIZATIONS, *MODEL_QUANTIZATIONS))),
    )
    license: str | None = setting(None, "Licence for the card of format=marian-hf, such as cc-by-4.0.")
    overwrite: bool = setting(False, "Replace an earlier export.")

    def __post_init__(self) -> None:
        check_settings("", self)
        if self.format in ("onnx", "marian-hf") and self.quantization != "float32":
            raise ValueError(
                f"quantization ({self.quantization}) must be float32 with format={self.format}; leave it out"
            )
        if self.license and self.format != "marian-hf":
            raise ValueError(f"license ({self.license}) is for format=marian-hf; leave it out")
        if self.format == "model" and self.quantization not in MODEL_QUANTIZATIONS:
            names = f"{', '.join(MODEL_QUANTIZATIONS[:-1])} or {MODEL_QUANTIZATIONS[-1]}"
            raise ValueError(f"quantization ({self.quantization}) must be {names} with format=model")
        if self.format != "model" and self.quantization not in QUANTIZATIONS:
            raise ValueError(
                f"quantization={self.quantization} is for format=model, not for format={self.format}; use int8"
            )
