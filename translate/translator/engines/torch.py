"""The engine of a model directory: our search over our Transformer, in torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from translate.data.batch import Batch, Example, collate
from translate.data.tokenizer import Tokenizer
from translate.model.int8 import to_int8
from translate.model.scoring import token_log_probs
from translate.search.guards import Ids
from translate.search.hypothesis import Hypothesis, check_number
from translate.translator.bundle import num_parameters
from translate.translator.engines.engine import EncodedPair
from translate.translator.engines.local import ALIGNMENT_LAYER, ALIGNMENT_TOKENS, LocalEngine, pair_batches
from translate.translator.parallel import side_by_side

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from translate.model.transformer import Transformer

_Result = TypeVar("_Result")

DTYPES = {"32": torch.float32, "bf16": torch.bfloat16, "16": torch.float16}  # by precision


class TorchEngine(LocalEngine):
    """Run a `Transformer`, or anything that can take its steps.

    Args:
        model: In any mode, on any device and of any floating-point type; it is run in eval mode and left as it was.
        tokenizer: The one it was trained with.
    """

    def __init__(self, model: Transformer, tokenizer: Tokenizer) -> None:
        super().__init__(model, tokenizer, num_parameters(model))
        self.model = model

    @property
    def device(self) -> torch.device:
        """Device of the weights."""
        return next(self.model.parameters()).device

    @property
    def precision(self) -> str:
        """Type of the weights: "32", "bf16" or "16"."""
        dtype = next(self.model.parameters()).dtype
        return next(name for name, known in DTYPES.items() if dtype == known)

    @property
    def threads(self) -> int:
        """CPU threads that translate: those of torch, or fewer where there are fewer cores."""
        return min(torch.get_num_threads(), self.cores)

    @property
    def workers(self) -> int:
        """Batches that are translated side by side: on a CPU one for each core."""
        return self.threads if self.device.type == "cpu" else 1

    def running(self) -> AbstractContextManager[object]:
        """Put the model into eval mode, and leave it as it was."""
        return _eval_mode(self.model)

    def each_batch(self, work: Callable[[list[int]], _Result], batches: Sequence[list[int]]) -> Iterator[_Result]:
        """Yield `work(batch)` for each batch, in their order; of several at once each has a share of the threads."""
        before, share = torch.get_num_threads(), max(1, self.threads // max(1, min(self.workers, len(batches))))

        def use_share() -> None:
            torch.get_num_threads()  # at its first use of it a thread takes over another's number
            torch.set_num_threads(share)

        try:
            yield from side_by_side(work, batches, self.workers, use_share)
        finally:
            torch.set_num_threads(before)

    def run_search(
        self,
        search: Any,
        model: Any,
        src_ids: NDArray[np.int64],
        src_mask: NDArray[np.bool_],
        prefixes: Sequence[Ids],
    ) -> list[list[Hypothesis]]:
        """Search one batch on the model's device; arguments as in `LocalEngine.run_search`."""
        batch = (torch.from_numpy(array).to(self.device) for array in (src_ids, src_mask))
        with torch.inference_mode():
            found: list[list[Hypothesis]] = search.search(model, *batch, prefixes)
        return found

    def score(self, pairs: Sequence[EncodedPair], batch_tokens: int) -> Iterator[tuple[list[int], list[list[float]]]]:
        """Score targets by teacher forcing; arguments and results as in `Engine.score`."""
        with _eval_mode(self.model):
            for places in pair_batches(pairs, batch_tokens):
                batch = self._collate([pairs[place] for place in places])
                masks = {"src_mask": batch.src_mask, "tgt_mask": batch.tgt_mask}
                found = token_log_probs(
                    self.model, batch.src_ids, **masks, tgt_in_ids=batch.tgt_in_ids, labels=batch.labels
                )
                check_number(sum(map(sum, found)))
                yield places, found

    def align(self, pairs: Sequence[EncodedPair]) -> list[ArrayLike]:
        """Return the mean over the heads of `ALIGNMENT_LAYER` for each pair, [T, S]."""
        weights: dict[int, ArrayLike] = {}
        with torch.inference_mode(), _eval_mode(self.model):
            for places in pair_batches(pairs, ALIGNMENT_TOKENS):
                batch = self._collate([pairs[place] for place in places])
                layers = self.model.cross_attention(batch.src_ids, batch.tgt_in_ids, batch.src_mask, batch.tgt_mask)
                means = layers[ALIGNMENT_LAYER].float().mean(1).cpu()  # [B, T, S]
                for place, mean in zip(places, means, strict=True):
                    src_ids, tgt_ids = pairs[place]
                    weights[place] = mean[: len(tgt_ids), : len(src_ids)]
        return [weights[place] for place in range(len(pairs))]

    def cross_attention(self, src_ids: Sequence[int], tgt_ids: Sequence[int]) -> NDArray[np.float32]:
        """Return the weights of all layers and heads, [decoder layers, H, T, S]."""
        batch = self._collate([(src_ids, tgt_ids)])
        with torch.inference_mode(), _eval_mode(self.model):
            layers = self.model.cross_attention(batch.src_ids, batch.tgt_in_ids, batch.src_mask, batch.tgt_mask)
            found: NDArray[np.float32] = torch.cat(layers).float().cpu().numpy()
        return found

    def _collate(self, pairs: Sequence[EncodedPair]) -> Batch:
        examples = [Example(*pair) for pair in pairs]
        return collate(examples, pad_id=self.special_ids.pad_id, bos_id=self.special_ids.bos_id).to(self.device)


class Int8Engine(TorchEngine):
    """Run a `Transformer` whose linear maps are rounded to 8-bit integers, where the kernels in C cannot run it.

    Args:
        model: Float32, on the CPU; its linear maps are replaced.
        tokenizer: The one it was trained with.
    """

    precision: ClassVar[str] = "int8"

    def __init__(self, model: Transformer, tokenizer: Tokenizer) -> None:
        super().__init__(model, tokenizer)
        to_int8(model)


@contextmanager
def _eval_mode(model: Transformer) -> Iterator[None]:
    training = model.training
    if training:  # to walk through all its parts takes as long as a step
        model.eval()
    try:
        yield
    finally:
        if training:
            model.train()
