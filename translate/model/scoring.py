"""Log-probabilities of given targets by teacher forcing: all positions of a target at once."""

from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

_POSITIONS = 2048  # projected at once: bounds the logits, [positions, V], the largest tensor here


class TeacherForced(Protocol):
    """A model that reads whole targets; `translate.model.transformer.Transformer` is one."""

    def encode(self, src_ids: Tensor, src_mask: Tensor) -> Tensor:
        """Compute the memory of the sources: [B, S] ids and bool mask (True = real token) to [B, S, M]."""
        ...

    def decode(self, tgt_in_ids: Tensor, tgt_mask: Tensor, memory: Tensor, src_mask: Tensor) -> Tensor:
        """Compute hidden states [B, T, M] of whole targets [B, T], BOS first."""
        ...

    def project(self, hidden: Tensor) -> Tensor:
        """Project hidden states [..., M] to logits [..., V]."""
        ...


@torch.inference_mode()
def token_log_probs(
    model: TeacherForced, src_ids: Tensor, src_mask: Tensor, tgt_in_ids: Tensor, tgt_mask: Tensor, labels: Tensor
) -> list[list[float]]:
    """Compute the natural log-probability of each token of given targets, by a float32 log-softmax.

    Args:
        model: In eval mode.
        src_ids: [B, S], padded at the end.
        src_mask: [B, S] bool, True = real token.
        tgt_in_ids: [B, T], BOS first, padded at the end.
        tgt_mask: [B, T] bool, True = real token.
        labels: What each position must predict, [B, T]; read where `tgt_mask` is True.

    Returns:
        One list per target, one number per real token of it.
    """
    hidden = model.decode(tgt_in_ids, tgt_mask, model.encode(src_ids, src_mask), src_mask)[tgt_mask]  # [tokens, M]
    parts = zip(torch.split(hidden, _POSITIONS), torch.split(labels[tgt_mask], _POSITIONS), strict=True)
    found = torch.cat([-F.cross_entropy(model.project(some).float(), ids, reduction="none") for some, ids in parts])
    return [row.tolist() for row in torch.split(found, tgt_mask.sum(1).tolist())]
