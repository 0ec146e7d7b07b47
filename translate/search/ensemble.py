"""Several models that search and score as one: the mean of their probabilities."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from translate.search.step_model import StepState


class EnsembleState:
    """The states of all members, which decode the same hypotheses."""

    def __init__(self, states: Sequence[StepState]) -> None:
        self.states = states

    def repeat(self, beam_size: int) -> None:
        """Repeat the rows, as `StepState.repeat`."""
        for state in self.states:
            state.repeat(beam_size)

    def reorder(self, row_indices: Tensor) -> None:
        """Reorder the rows, as `StepState.reorder`."""
        for state in self.states:
            state.reorder(row_indices)

    def keep(self, sentence_indices: Tensor) -> None:
        """Keep some sentences, as `StepState.keep`."""
        for state in self.states:
            state.keep(sentence_indices)


class Ensemble(nn.Module):
    """A `StepModel` and `TeacherForced` of several models with the same vocabulary, which may differ in all else.

    The probability of a token is the mean of what the members give it. What one of them calls memory or hidden state is
    for the ensemble the members' side by side, [B, …, sum of the widths].

    Args:
        models: At least one; each a `StepModel` and `TeacherForced`.
        widths: Of the memory and the hidden states of each, M.
    """

    def __init__(self, models: Sequence[nn.Module], widths: Sequence[int]) -> None:
        super().__init__()
        self.models, self.widths = nn.ModuleList(models), list(widths)

    def encode(self, src_ids: Tensor, src_mask: Tensor) -> Tensor:
        """Compute the memories of all members, [B, S, sum of M]."""
        return torch.cat([model.encode(src_ids, src_mask) for model in self._members()], dim=-1)

    def start(self, memory: Tensor, src_mask: Tensor) -> EnsembleState:
        """Return the states before the first token."""
        memories = zip(self._members(), self._split(memory), strict=True)
        return EnsembleState([model.start(own, src_mask) for model, own in memories])

    def step(self, last_ids: Tensor, state: EnsembleState) -> Tensor:
        """Log-probabilities [B * N, V] of the next token."""
        states = zip(self._members(), state.states, strict=True)
        return _log_mean([model.step(last_ids, own) for model, own in states])

    def decode(self, tgt_in_ids: Tensor, tgt_mask: Tensor, memory: Tensor, src_mask: Tensor) -> Tensor:
        """Compute the hidden states of whole targets, [B, T, sum of M]."""
        memories = zip(self._members(), self._split(memory), strict=True)
        return torch.cat([model.decode(tgt_in_ids, tgt_mask, own, src_mask) for model, own in memories], dim=-1)

    def project(self, hidden: Tensor) -> Tensor:
        """Project hidden states [..., sum of M] to log-probabilities [..., V]."""
        return _log_mean([model.project(own) for model, own in zip(self._members(), self._split(hidden), strict=True)])

    def cross_attention(self, src_ids: Tensor, tgt_in_ids: Tensor, src_mask: Tensor, tgt_mask: Tensor) -> list[Tensor]:
        """Compute the weights of all members' heads [B, sum of H, T, S], one tensor per decoder layer.

        Raises:
            ValueError: If the members have not equally many layers.
        """
        members = [model.cross_attention(src_ids, tgt_in_ids, src_mask, tgt_mask) for model in self._members()]
        depths = [len(layers) for layers in members]
        if len(set(depths)) > 1:
            raise ValueError(f"attention of an ensemble needs models of one depth, not {depths} layers; name one model")
        return [torch.cat(layer, dim=1) for layer in zip(*members, strict=True)]

    def _members(self) -> list[Any]:
        return list(self.models)

    def _split(self, joined: Tensor) -> tuple[Tensor, ...]:
        return torch.split(joined, self.widths, dim=-1)


def _log_mean(logits: list[Tensor]) -> Tensor:
    """Compute the logarithm of the mean of probabilities, float32; the logits are [..., V] each."""
    log_probs = torch.stack([own.log_softmax(-1, dtype=torch.float32) for own in logits])
    return log_probs.logsumexp(0) - math.log(len(logits))
