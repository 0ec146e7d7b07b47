"""The engine of a model directory on a CPU, in 8-bit integers and without torch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from translate.native.narrowed import NarrowedTransformer
from translate.native.network import NativeTransformer
from translate.native.shortlist import Shortlist
from translate.search.beam import BeamSearch
from translate.search.hypothesis import check_number
from translate.translator.engines.engine import EncodedPair
from translate.translator.engines.local import (
    ALIGNMENT_LAYER,
    ALIGNMENT_TOKENS,
    LocalEngine,
    SpecialIds,
    padded,
    pair_batches,
)

_Array = NDArray[np.float32]
_Result = TypeVar("_Result")


class NativeEngine(LocalEngine):
    """Run a `NativeTransformer`.

    Args:
        network: The model.
        special_ids: Its tokenizer's.
        shortlist: Proposes the tokens that a search chooses among, where its settings allow it.
    """

    device: ClassVar[str] = "cpu"
    precision: ClassVar[str] = "int8"
    most_tokens: ClassVar[int] = 768  # what a larger batch leaves behind does not stay in a core's cache

    def __init__(self, network: NativeTransformer, special_ids: SpecialIds, shortlist: Shortlist | None = None) -> None:
        super().__init__(network, special_ids, network.num_parameters)
        self.network, self.shortlist = network, shortlist
        self._pool: tuple[tuple[int, int], ThreadPoolExecutor] | None = None  # by its process and number of threads

    @property
    def threads(self) -> int:
        """CPU threads that translate, one for each batch."""
        return self.cores

    def each_batch(self, work: Callable[[list[int]], _Result], batches: Sequence[list[int]]) -> Iterator[_Result]:
        """Yield `work(batch)` for each batch, in their order, by threads that stay for the next search.

        Searches that are asked for at the same time share them.
        """
        if min(self.workers, len(batches)) < 2:
            yield from map(work, batches)
            return
        wanted = os.getpid(), self.workers  # threads do not come along into a forked process
        if self._pool is None or self._pool[0] != wanted:
            self._pool = wanted, ThreadPoolExecutor(self.workers, "translate")
        yield from self._pool[1].map(work, batches)

    def model_for(self, search: Any, src_ids: NDArray[np.int64]) -> NativeTransformer | NarrowedTransformer:
        """Return the network, for the tokens of the shortlist alone if there is one and it saves time."""
        settings = search.settings
        check, is_greedy = settings.shortlist_check, settings.beam_size == 1
        saves_time = isinstance(search, BeamSearch) and settings.shortlist and not (check and is_greedy)
        if self.shortlist is None or not saves_time:
            return self.network
        return NarrowedTransformer(self.network, self.shortlist.tokens_for(src_ids), check=check)

    def score(self, pairs: Sequence[EncodedPair], batch_tokens: int) -> Iterator[tuple[list[int], list[list[float]]]]:
        """Score targets by teacher forcing; arguments and results as in `Engine.score`."""
        batches = pair_batches(pairs, batch_tokens)

        def score_batch(places: list[int]) -> list[list[float]]:
            log_probs, _ = self._read([pairs[place] for place in places], attention=False)
            found = [row[: len(pairs[place][1])].tolist() for place, row in zip(places, log_probs, strict=True)]
            check_number(sum(map(sum, found)))
            return found

        yield from zip(batches, self.each_batch(score_batch, batches), strict=True)

    def align(self, pairs: Sequence[EncodedPair]) -> list[ArrayLike]:
        """Return the mean over the heads of `ALIGNMENT_LAYER` for each pair, [T, S]."""
        weights: dict[int, ArrayLike] = {}
        for places in pair_batches(pairs, ALIGNMENT_TOKENS):
            _, layers = self._read([pairs[place] for place in places], attention=True)
            for place, mean in zip(places, layers[ALIGNMENT_LAYER].mean(axis=2), strict=True):
                src_ids, tgt_ids = pairs[place]
                weights[place] = mean[: len(tgt_ids), : len(src_ids)]
        return [weights[place] for place in range(len(pairs))]

    def cross_attention(self, src_ids: Sequence[int], tgt_ids: Sequence[int]) -> _Array:
        """Return the weights of all layers and heads, [decoder layers, H, T, S]."""
        _, layers = self._read([(src_ids, tgt_ids)], attention=True)
        return layers[:, 0].swapaxes(1, 2)

    def _read(self, pairs: Sequence[EncodedPair], *, attention: bool) -> tuple[_Array, _Array]:
        """Read pairs; return log-probabilities [B, T] and weights of cross-attention as `read_targets` does."""
        special = self.special_ids
        src_ids, src_mask = padded([src for src, _ in pairs], special.pad_id)
        labels, _ = padded([tgt for _, tgt in pairs], special.pad_id)
        bos = np.full((len(labels), 1), special.bos_id)
        tgt_in_ids = np.hstack((bos, labels[:, :-1]))
        return self.network.read_targets(src_ids, src_mask, tgt_in_ids, labels, attention=attention)
