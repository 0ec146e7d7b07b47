"""Settings of a conversion."""

from __future__ import annotations

from dataclasses import dataclass

from translate.config.export import MODEL_QUANTIZATIONS
from translate.config.fields import check_settings, setting


@dataclass
class ConvertConfig:
    """Settings of a conversion."""

    source: str | None = setting(
        None,
        "What to convert, also written from=…: a directory of Hugging Face's MarianMTModel (config.json, weights, "
        "source.spm, target.spm, vocab.json), one of Marian (decoder.yml, its .npz and vocabularies), or the name of a "
        "model on Hugging Face's hub, such as Helsinki-NLP/opus-mt-en-fr, which is downloaded.",
    )
    output: str | None = setting(None, "Model directory to write; null = the last part of the source's name.")
    src_lang: str | None = setting(None, "Source language code; null = as the source says.")
    tgt_lang: str | None = setting(None, "Target language code; null = as the source says.")
    sinusoids: str = setting(
        "halves",
        "Table of positions for Marian's own files: halves, as Hugging Face and CTranslate2 convert them; marian, as "
        "Marian computes it.",
        choices=("halves", "marian"),
    )
    norm_eps: float = setting(
        1e-5, "Added to the variance in norms, for Marian's own files: 1e-5 as Hugging Face, 1e-6 as Marian.", above=0
    )
    quantization: str = setting(
        "float32",
        "Type of the stored weights; int8 for a quarter of the size, int6 for a sixth, int4 for a tenth.",
        choices=MODEL_QUANTIZATIONS,
    )
    overwrite: bool = setting(False, "Replace a model directory that is there.")

    def __post_init__(self) -> None:
        check_settings("", self)
        if self.source is None:
            raise ValueError("say what to convert: from=PATH")
