"""The engine of several models that translate as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from translate.search.ensemble import Ensemble, log_mean
from translate.search.hypothesis import Hypothesis
from translate.translator.engines.engine import EncodedPair
from translate.translator.engines.local import LocalEngine


class EnsembleEngine(LocalEngine):
    """Run several models as one, whose probability of a token is the mean of theirs.

    Args:
        members: Engines of models with the same vocabulary.
        widths: d_model of each.

    Raises:
        ValueError: If some run in 8-bit integers without torch and others in torch.
    """

    def __init__(self, members: Sequence[LocalEngine], widths: Sequence[int]) -> None:
        self._members, first = members, members[0]
        if len({type(member) for member in members}) > 1:
            found = ", ".join(member.precision for member in members)
            raise ValueError(f"the models of an ensemble need one precision, not {found}: give precision=32")
        size = sum(member.num_parameters for member in members)
        super().__init__(Ensemble([member.step_model for member in members], widths), first.special_ids, size)

    @property
    def device(self) -> Any:
        """Device of the first member."""
        return self._members[0].device

    @property
    def precision(self) -> str:
        """Type of the weights of the first member."""
        return self._members[0].precision

    @property
    def threads(self) -> int:
        """CPU threads that translate."""
        return self._members[0].threads

    @property
    def workers(self) -> int:
        """Batches that are translated side by side."""
        return self._members[0].workers

    def each_batch(self, work: Any, batches: Sequence[list[int]]) -> Iterator[Any]:
        """Yield `work(batch)` for each batch as the members do."""
        return self._members[0].each_batch(work, batches)

    def running(self) -> AbstractContextManager[object]:
        """Prepare all members for a search."""
        with ExitStack() as stack:
            for member in self._members:
                stack.enter_context(member.running())
            return stack.pop_all()

    def run_search(self, search: Any, model: Any, *batch: Any) -> list[list[Hypothesis]]:
        """Search one batch as the members do."""
        return self._members[0].run_search(search, model, *batch)

    def score(self, pairs: Sequence[EncodedPair], batch_tokens: int) -> Iterator[tuple[list[int], list[list[float]]]]:
        """Score targets by teacher forcing; arguments and results as in `Engine.score`."""
        for batches in zip(*(member.score(pairs, batch_tokens) for member in self._members), strict=True):
            places = batches[0][0]
            each = zip(*(found for _, found in batches), strict=True)
            yield places, [log_mean([np.array(one) for one in own]).tolist() for own in each]

    def align(self, pairs: Sequence[EncodedPair]) -> list[ArrayLike]:
        """Return the mean of the members' weights for each pair, [T, S]."""
        each = zip(*(member.align(pairs) for member in self._members), strict=True)
        return [np.mean([np.asarray(weights) for weights in own], axis=0) for own in each]

    def cross_attention(self, src_ids: Sequence[int], tgt_ids: Sequence[int]) -> Any:
        """Return the weights of all layers and of the heads of all members, [decoder layers, sum of H, T, S].

        Raises:
            ValueError: If the members have not equally many layers.
        """
        found = [member.cross_attention(src_ids, tgt_ids) for member in self._members]
        depths = [len(weights) for weights in found]
        if len(set(depths)) > 1:
            raise ValueError(f"attention of an ensemble needs models of one depth, not {depths} layers; name one model")
        return np.concatenate(found, axis=1)
