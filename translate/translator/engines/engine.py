"""The one protocol behind a `Translator`: token ids in, hypotheses out.

`torch.py` runs a model directory, `native.py` the same in 8-bit integers and without torch, `ensemble.py` several;
`ctranslate2.py` and `onnx.py` run exported models without torch. To add an engine, write a class of this protocol and
let `opening.py` choose it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Protocol

from translate.config.decode import DecodeConfig
from translate.search.guards import Ids
from translate.search.hypothesis import Hypothesis

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

EncodedPair = tuple[Sequence[int], Sequence[int]]  # source and target ids, EOS last on both sides
Found = Iterator[tuple[list[int], list[list[Hypothesis]]]]


class Engine(Protocol):
    """What runs a model. `score`, `align` and `cross_attention` refuse unless an engine overrides them.

    Attributes:
        name: Name for messages, such as "an exported ONNX model".
        fixed: Search settings that it does not follow, with the one value that each must have.
    """

    name: ClassVar[str]
    fixed: ClassVar[Mapping[str, object]] = {}

    @property
    def device(self) -> Any:
        """Where the model is: a `torch.device`, or "cpu" or "cuda"."""
        ...

    @property
    def precision(self) -> str:
        """Type of the weights and matmuls, such as "32", "int8" or "int8_float32"."""
        ...

    @property
    def threads(self) -> int:
        """CPU threads that translate."""
        ...

    def describe(self) -> str:
        """Describe size or runtime, device, precision and threads in a line."""
        ...

    def search(self, sources: Sequence[Ids], prefixes: Sequence[Ids], decode: DecodeConfig) -> Found:
        """Search for the outputs of all sources, in batches within `decode.batch_tokens`.

        Args:
            sources: Ids of each, EOS last.
            prefixes: Ids that the outputs of each begin with; may be empty.
            decode: Complete settings that `check` accepts; a guard that is on holds every output back.

        Yields:
            Batch by batch, as they get ready: the indices of its sources, and the hypotheses of each, best first.
        """
        ...

    def score(self, pairs: Sequence[EncodedPair], batch_tokens: int) -> Iterator[tuple[list[int], list[list[float]]]]:
        """Score targets by teacher forcing.

        Args:
            pairs: Ids of sources and targets.
            batch_tokens: Limit of sentences * longest side in a batch; one sentence is always allowed.

        Yields:
            Batch by batch: the indices of its pairs, and the natural log-probability of each target token.
        """
        self._refuse("scoring pairs")

    def align(self, pairs: Sequence[EncodedPair]) -> list[ArrayLike]:
        """Return the cross-attention of each pair, [T, S], the mean over the heads of one decoder layer.

        An engine may leave out the EOS of both sides, and all that its positions do not reach.
        """
        self._refuse("alignments")

    def cross_attention(self, src_ids: Sequence[int], tgt_ids: Sequence[int]) -> NDArray[Any]:
        """Return the cross-attention weights of a pair, [decoder layers, H, T, S]."""
        self._refuse("attention weights")

    def check(self, decode: DecodeConfig) -> None:
        """Raise ValueError if the search does not follow a setting."""
        for setting, value in self.fixed.items():
            if getattr(decode, setting) != value:
                self._refuse(f"{setting} ({getattr(decode, setting)})")

    def _refuse(self, what: str) -> NoReturn:
        raise ValueError(f"{what}: not possible with {self.name}; use the model directory that it was exported from")
