"""Several models that search as one: the mean of their probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from translate.search.arrays import Array, log_softmax, namespace
from translate.search.step_model import StepModel, StepState


class EnsembleState:
    """The states of all members, which decode the same hypotheses."""

    def __init__(self, states: Sequence[StepState]) -> None:
        self.states = states

    def repeat(self, beam_size: int) -> None:
        """Repeat the rows, as `StepState.repeat`."""
        for state in self.states:
            state.repeat(beam_size)

    def reorder(self, row_indices: Array) -> None:
        """Reorder the rows, as `StepState.reorder`."""
        for state in self.states:
            state.reorder(row_indices)

    def keep(self, sentence_indices: Array) -> None:
        """Keep some sentences, as `StepState.keep`."""
        for state in self.states:
            state.keep(sentence_indices)


class Ensemble:
    """A `StepModel` of several models with the same vocabulary, which may differ in all else.

    The probability of a token is the mean of what the members give it. The ensemble's memory is the members' side by
    side, [B, S, sum of the widths].

    Args:
        models: At least one.
        widths: Of the memory of each, M.
    """

    def __init__(self, models: Sequence[StepModel[Any]], widths: Sequence[int]) -> None:
        self._models = models
        self._parts = [slice(*ends) for ends in pairwise(accumulate(widths, initial=0))]

    def encode(self, src_ids: Array, src_mask: Array) -> Array:
        """Compute the memories of all members, [B, S, sum of M]."""
        return namespace(src_ids).concat([model.encode(src_ids, src_mask) for model in self._models], axis=-1)

    def start(self, memory: Array, src_mask: Array) -> EnsembleState:
        """Return the states before the first token."""
        memories = zip(self._models, self._parts, strict=True)
        return EnsembleState([model.start(memory[..., part], src_mask) for model, part in memories])

    def step(self, last_ids: Array, state: EnsembleState) -> Array:
        """Log-probabilities [B * N, V] of the next token."""
        states = zip(self._models, state.states, strict=True)
        return log_mean([log_softmax(model.step(last_ids, own)) for model, own in states])


def log_mean(log_probs: Sequence[Array]) -> Array:
    """Return the logarithm of the mean of probabilities, given their logarithms."""
    xp = namespace(log_probs[0])
    every = xp.stack(log_probs)
    most = xp.max(every, axis=0)
    return most + xp.log(xp.sum(xp.exp(every - most), axis=0)) - math.log(len(log_probs))
