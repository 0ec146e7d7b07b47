"""What the engines that run our own search have in common."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from translate.common.cores import available_cores
from translate.config.decode import DecodeConfig
from translate.search.choose import make_search
from translate.search.guards import Ids
from translate.search.hypothesis import Hypothesis
from translate.translator.engines.engine import EncodedPair, Engine, Found
from translate.translator.parallel import by_length, side_by_side

_Result = TypeVar("_Result")

# The last layer agrees best with IBM model 1: two models of 2 layers, 74 and 75 % of the links, the first 57 and 66 %.
ALIGNMENT_LAYER = -1
ALIGNMENT_TOKENS = 2048  # of a batch, small because the weights of all heads are held, and the logits


class SpecialIds(Protocol):
    """What a search needs of a tokenizer."""

    pad_id: int
    bos_id: int
    eos_id: int
    forbidden_ids: tuple[int, ...]


class LocalEngine(Engine):
    """Search batches of like length side by side with a step model of ours.

    Args:
        step_model: What a search takes its steps with.
        special_ids: The tokenizer's.
        num_parameters: Of the model.
    """

    name: ClassVar[str] = "a model directory"
    most_tokens: ClassVar[int] = sys.maxsize  # of a batch, whatever a search allows

    def __init__(self, step_model: Any, special_ids: SpecialIds, num_parameters: int) -> None:
        self.step_model, self.special_ids, self.num_parameters = step_model, special_ids, num_parameters
        self.cores = available_cores()

    @property
    def workers(self) -> int:
        """Batches that are translated side by side."""
        return self.threads

    def describe(self) -> str:
        """Describe size, device, precision and threads in a line."""
        plan = f", {self.threads} threads, up to {self.workers} batches side by side" if self.workers > 1 else ""
        return f"{self.num_parameters} parameters, device {self.device}, precision {self.precision}{plan}"

    def search(self, sources: Sequence[Ids], prefixes: Sequence[Ids], decode: DecodeConfig) -> Found:
        """Search batches of like length side by side; arguments and results as in `Engine.search`."""
        share = math.ceil(len(sources) / self.workers)  # so that no worker is left without a batch
        tokens = min(decode.batch_tokens, self.most_tokens)
        batches = by_length([decode.width * len(ids) for ids in sources], tokens, share)
        special = self.special_ids
        search = make_search(decode, bos_id=special.bos_id, eos_id=special.eos_id, forbidden_ids=special.forbidden_ids)

        def search_batch(places: list[int]) -> list[list[Hypothesis]]:
            src_ids, src_mask = padded([sources[place] for place in places], special.pad_id)
            model = self.model_for(search, src_ids)
            return self.run_search(search, model, src_ids, src_mask, [prefixes[place] for place in places])

        with self.running():
            yield from zip(batches, self.each_batch(search_batch, batches), strict=True)

    def running(self) -> AbstractContextManager[object]:
        """Prepare the model for a search, and leave it as it was."""
        return nullcontext()

    def each_batch(self, work: Callable[[list[int]], _Result], batches: Sequence[list[int]]) -> Iterator[_Result]:
        """Yield `work(batch)` for each batch, in their order, several at once."""
        return side_by_side(work, batches, self.workers)

    def model_for(self, search: Any, src_ids: NDArray[np.int64]) -> Any:
        """Return what a search of sources [B, S] takes its steps with."""
        return self.step_model

    def run_search(
        self,
        search: Any,
        model: Any,
        src_ids: NDArray[np.int64],
        src_mask: NDArray[np.bool_],
        prefixes: Sequence[Ids],
    ) -> list[list[Hypothesis]]:
        """Search one batch with `model`: [B, S] ids, padded at the end, and which are real tokens."""
        found: list[list[Hypothesis]] = search.search(model, src_ids, src_mask, prefixes)
        return found


def padded(rows: Sequence[Sequence[int]], pad_id: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return ids [B, longest], padded at the end, and which of them are real tokens."""
    lengths = np.array([len(row) for row in rows])
    mask = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(mask.shape, pad_id)
    ids[mask] = [token for row in rows for token in row]
    return ids, mask


def pair_batches(pairs: Sequence[EncodedPair], batch_tokens: int) -> list[list[int]]:
    """Cut the indices of pairs into batches by their longer sides."""
    return by_length([max(map(len, pair)) for pair in pairs], batch_tokens)
