"""Settings of one evaluation."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, make_dataclass
from typing import TYPE_CHECKING

from translate.config.decode import PRECISIONS, DecodeConfig
from translate.config.fields import check_settings, setting

if TYPE_CHECKING:

    class DecodeOverrides(DecodeConfig):
        """The settings of `DecodeConfig`, each of which may be None: what the model says."""

else:
    DecodeOverrides = make_dataclass(
        "DecodeOverrides",
        [
            (one.name, type(one.default) | None, field(default=None, metadata=one.metadata))
            for one in fields(DecodeConfig)
        ],
    )


@dataclass
class EvaluateConfig:
    """Settings of one evaluation."""

    model: str | None = setting(
        None,
        "Run directory, model directory or exported one; null = runs/latest. Without src and ref the test sets of "
        "that run are scored, for an export those of the run that it lies in. An export gives no cross-attention "
        "maps.",
    )
    src: str | None = setting(None, "Sentences to translate: a text file with one per line (.gz too).")
    ref: str | None = setting(None, "References: line i belongs to line i of src, or of hyp.")
    hyp: str | None = setting(
        None, "Existing output to score instead of a model's; needs ref. With src the report also shows the sources."
    )
    name: str | None = setting(
        None, "With ref: name of the test set, by default the file name. Without: which test set of the run to score."
    )
    tgt_lang: str | None = setting(
        None, "Language to translate into, of a model that knows both directions; null = that of its training."
    )
    baseline: str | None = setting(
        None,
        "What to compare with: a run, model or exported directory, which translates with its own settings and those of "
        "decode, or a file of output lines; gives the difference with its paired-bootstrap interval and p-value.",
    )
    output: str | None = setting(
        None,
        "Folder for report.json, report.md, report.html and hyp.<name>.txt; null = RUN/evaluation, with ref "
        "RUN/evaluation/NAME (without a run evaluation/NAME), for an export RUN/evaluation/EXPORT; tgt_lang appends "
        "into-LANG.",
    )
    data_root: str | None = setting(None, "Look for the run's test sets in this folder instead of its data.root.")
    protocol: str = setting(
        "both",
        "cased: 13a tokenization of raw text; literature: lower-cased, Moses-normalized and -tokenized; both.",
        choices=("cased", "literature", "both"),
    )
    bootstrap: int = setting(1000, "Resamples behind 95 % intervals and p-values; 0 = neither.", at_least=0)
    seed: int = setting(12345, "Seed of the resampling; 12345 is sacreBLEU's.", at_least=0)
    device: str = setting(
        "auto", "Where to translate; auto = a CUDA device if there is one.", choices=("auto", "cpu", "cuda")
    )
    precision: str = setting(
        "32",
        "Type of weights and matmuls; auto = 16 on a GPU, int8 on a CPU with the C kernels, else 32.",
        choices=PRECISIONS,
    )
    decode: DecodeOverrides = field(default_factory=DecodeOverrides)  # null = the model's own settings

    def __post_init__(self) -> None:
        check_settings("", self)
