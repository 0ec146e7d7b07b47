"""The engine of a model directory on a CPU, with weights and matmuls in 8-bit integers."""

from __future__ import annotations

from typing import ClassVar

from translate.data.tokenizer import Tokenizer
from translate.model.int8 import to_int8
from translate.model.int8_transformer import Int8Transformer, runs_natively
from translate.model.transformer import Transformer
from translate.translator.engines.torch import TorchEngine


class Int8Engine(TorchEngine):
    """Run a `Transformer` whose linear maps are rounded to 8-bit integers, where possible in the C kernels.

    Args:
        model: Float32, on the CPU; its linear maps are replaced.
        tokenizer: The one it was trained with.
    """

    precision: ClassVar[str] = "int8"

    def __init__(self, model: Transformer, tokenizer: Tokenizer) -> None:
        super().__init__(model, tokenizer)
        to_int8(model)
        if runs_natively(model):
            self.step_model = Int8Transformer(model)
