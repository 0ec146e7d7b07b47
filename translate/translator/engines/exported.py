"""What every exported model has in common, whichever runtime it was written for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from translate.common.cores import available_cores
from translate.config.decode import DecodeConfig
from translate.data.tokenizer import Tokenizer
from translate.translator.bundle import with_tags
from translate.translator.engines.directory import exported_format, load_settings
from translate.translator.translation import CrossAttention, Request, Translation
from translate.translator.translator import Translator

if TYPE_CHECKING:
    from translate.translator.alignment import Links
    from translate.translator.scoring import Pair, Score

_FOLLOWED = (  # settings of the search; those not named here must be as they are by default
    *("beam_size", "length_penalty", "num_hypotheses", "min_output_len", "max_output_len"),
    *("min_output_ratio", "max_output_ratio", "repetition_guard", "length_guard", "mbr", "batch_tokens"),
    *("temperature", "top_k", "top_p", "seed", "diversity_penalty"),  # which say nothing to one beam
)


class RuntimeTranslator(Translator):
    """A `Translator` over a directory that `translate.export` wrote; torch is not needed.

    A runtime adds `_search`, `device`, `precision` and `describe`.

    Args:
        path: An exported directory.

    Raises:
        ValueError: If it is damaged.
    """

    config: Any
    searcher: str  # whose search it is, for messages

    def __init__(self, path: Path | str) -> None:
        self.config = load_settings(path)
        self.tokenizer = with_tags(Tokenizer.load(path), self.config)

    @property
    def threads(self) -> int:
        """CPU threads that translate: one for each core."""
        return available_cores()

    @property
    def workers(self) -> int:
        """Batches that are searched at once: one, which the runtime divides."""
        return 1

    def cross_attention(self, src: str, tgt: str) -> CrossAttention:
        """Refused: an exported model does not give the weights of each layer and head."""
        raise ValueError("an exported model gives no attention weights; use the model that it was made from")

    def align(self, pairs: Sequence[tuple[str, str]]) -> list[Links]:
        """Refused, as `cross_attention` is."""
        raise ValueError("an exported model gives no alignments; use the model that it was made from")

    def score(
        self,
        pairs: Sequence[Pair],
        *,
        length_penalty: float | None = None,
        batch_tokens: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> list[Score]:
        """Refused: what scores pairs here needs torch."""
        raise ValueError("an exported model does not score pairs; use the model that it was made from")

    def _ready(self) -> AbstractContextManager[None]:
        """For as long as searches run; there is nothing to do."""
        return nullcontext()

    @property
    def _max_positions(self) -> int | None:
        return self.config.num_positions  # type: ignore[no-any-return]

    def _check_positions(self, max_output_len: int) -> None:
        end = self.config.num_positions
        if end is not None and max_output_len > end:
            raise ValueError(f"max_output_len ({max_output_len}) must be at most {end}, the positions exported")

    def _translate(
        self, wanted: list[Request], decode: DecodeConfig, progress: Callable[[int], object] | None
    ) -> list[Translation]:
        """`translate` for clean texts and complete settings."""
        for field in fields(decode):
            value = getattr(decode, field.name)
            if field.name not in _FOLLOWED and value != getattr(DecodeConfig, field.name):
                raise ValueError(
                    f"{field.name} ({value}) is not possible with an exported model, whose search is {self.searcher}; "
                    "leave it out, or use the model that it was made from"
                )
        if decode.mbr != "none" and find_spec("sacrebleu") is None:
            raise ValueError(f"mbr ({decode.mbr}) measures with sacrebleu, which is not here: pip install sacrebleu")
        return super()._translate(wanted, decode, progress)


def open_exported(path: Path | str, *, device: str, precision: str) -> RuntimeTranslator:
    """A directory that `translate.export` wrote, in its runtime; arguments and errors as in `Translator.load`."""
    if precision == "int8":
        raise ValueError(
            "precision=int8 is not for exported models: what they were exported with is in them; leave it out"
        )
    precision = "32" if precision == "auto" else precision
    if exported_format(path) == "onnx":
        from translate.translator.engines.onnx import OnnxTranslator

        return OnnxTranslator(path, device=device, precision=precision)
    from translate.translator.engines.ctranslate2 import ExportedTranslator

    return ExportedTranslator(path, device=device, precision=precision)
