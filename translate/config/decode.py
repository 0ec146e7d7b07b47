"""Settings of the search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from translate.config.checks import check_at_least, check_choice

PRECISIONS = ("32", "bf16", "16", "int8", "auto")  # that a trained model can be opened in


@dataclass
class DecodeConfig:
    """The search; keys are explained in conf/decode/beam.yaml."""

    search: str = "beam"
    beam_size: int = 5
    beam_groups: int = 1
    diversity_penalty: float = 0.5
    length_penalty: float = 1.0
    num_hypotheses: int = 1
    min_output_len: int = 1
    max_output_len: int = 256
    min_output_ratio: float = 0.0
    max_output_ratio: float = 3.0
    repetition_guard: bool = True
    length_guard: bool = True
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 1
    mbr: str = "none"
    batch_tokens: int = 2048

    def __post_init__(self) -> None:
        check_choice("decode.search", self.search, ("beam", "sample", "sample_distinct"))
        check_choice("decode.mbr", self.mbr, ("none", "chrf", "bleu"))
        for name in ("beam_size", "beam_groups", "num_hypotheses", "min_output_len", "max_output_len", "batch_tokens"):
            check_at_least(f"decode.{name}", getattr(self, name), 1)
        for name in ("length_penalty", "min_output_ratio", "max_output_ratio"):
            check_at_least(f"decode.{name}", getattr(self, name), 0)
        if self.temperature <= 0:
            raise ValueError(f"decode.temperature ({self.temperature}) must be above 0")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"decode.top_p ({self.top_p}) must be above 0 and at most 1, which is off")
        for name in ("top_k", "seed"):
            check_at_least(f"decode.{name}", getattr(self, name), 0)
        if self.search == "beam" and self.num_hypotheses > self.beam_size:
            raise ValueError(
                f"decode.num_hypotheses ({self.num_hypotheses}) must be at most decode.beam_size ({self.beam_size})"
            )
        if self.search == "beam" and self.beam_size % self.beam_groups:
            raise ValueError(f"decode.beam_groups ({self.beam_groups}) must divide decode.beam_size ({self.beam_size})")
        if self.diversity_penalty <= 0:
            raise ValueError(f"decode.diversity_penalty ({self.diversity_penalty}) must be above 0")
        for shortest, longest in (("min_output_len", "max_output_len"), ("min_output_ratio", "max_output_ratio")):
            low, high = getattr(self, shortest), getattr(self, longest)
            if low > high and not (longest == "max_output_ratio" and high == 0):  # 0 is off
                raise ValueError(f"decode.{shortest} ({low}) must be at most decode.{longest} ({high})")

    @property
    def width(self) -> int:
        """Hypotheses that are followed at once per sentence."""
        return self.beam_size if self.search == "beam" else self.num_hypotheses

    def changed(self, given: Mapping[str, Any]) -> DecodeConfig:
        """These settings with those of `given` that are not None.

        `beam_size` alone chooses search=beam, and a beam keeps no more hypotheses than it holds, and no groups that do
        not divide it.

        Raises:
            ValueError: If a setting is out of its range, or is given where it would do nothing.
        """
        changes = {name: value for name, value in given.items() if value is not None}
        if "beam_size" in changes:
            changes.setdefault("search", "beam")
        if changes.get("search", self.search) == "beam":
            beam_size = changes.get("beam_size", self.beam_size)
            changes.setdefault("num_hypotheses", min(self.num_hypotheses, beam_size))
            changes.setdefault("beam_groups", 1 if beam_size % self.beam_groups else self.beam_groups)
            for name in ("temperature", "top_k", "top_p", "seed"):
                if name in changes and changes[name] != getattr(DecodeConfig, name):
                    raise ValueError(f"{name} ({changes[name]}) does nothing with search=beam; choose search=sample")
        elif changes.get("beam_groups", 1) > 1:
            raise ValueError(f"beam_groups ({changes['beam_groups']}) does nothing without search=beam")
        result = replace(self, **changes)
        penalty = changes.get("diversity_penalty", DecodeConfig.diversity_penalty)
        if result.beam_groups == 1 and penalty != DecodeConfig.diversity_penalty:
            raise ValueError(f"diversity_penalty ({penalty}) does nothing with beam_groups=1; ask for more of them")
        if changes.get("mbr", "none") != "none" and result.num_hypotheses == 1:
            raise ValueError(f"mbr ({result.mbr}) chooses among num_hypotheses, which is 1; ask for more of them")
        return result
