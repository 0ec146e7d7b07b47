"""R-Drop: each sentence passes through the network twice, and the divergence of the predictions is a loss."""

from functools import partial

import torch
from torch import Tensor

from translate.data.batch import Batch
from translate.train.loss.cross_entropy import chunk_size, log_sum_exp_, projected_cross_entropy


def repeat_batch(batch: Batch) -> Batch:
    """Return the batch repeated, 2 B sentences; in `tgt_positions` the two passes of a token are neighbours."""
    both = {name: torch.cat((tensor, tensor)) for name, tensor in vars(batch).items()}
    first = batch.tgt_positions
    return Batch(**both | {"tgt_positions": torch.stack((first, first + batch.labels.numel()), dim=1).flatten()})


def projected_r_drop(
    hidden: Tensor,
    weight: Tensor,
    labels: Tensor,
    alpha: float,
    smoothing: float = 0.0,
    chunk_tokens: int | None = None,
) -> Tensor:
    """Sum (CE(p) + CE(q)) / 2 + alpha * (KL(p || q) + KL(q || p)) / 4 over tokens, without ever holding all logits.

    p and q are the predictions of the two passes, CE the label-smoothed cross-entropy of each. That is half of the
    paper's loss of a sentence, so that alpha means the same and the loss has the size of the ordinary one.

    Args:
        hidden: [2 tokens, M], the two passes of a token as neighbours.
        weight: Output projection [V, M].
        labels: Token ids [2 tokens].
        alpha: Weight of the divergence, at least 0.
        smoothing: As in `smoothed_cross_entropy`.
        chunk_tokens: Target tokens per chunk; None = as `chunk_size`.

    Returns:
        A scalar, in nats; differentiable once, in `hidden` and `weight`.

    Source: Liang et al. 2021 (arXiv:2106.14448), equation 4.
    """
    chunk_tokens = chunk_tokens or chunk_size(hidden, weight, on_cpu=128)
    normalizer = partial(_normalizer_, alpha=alpha)
    return projected_cross_entropy(hidden, weight, labels, smoothing, 2 * chunk_tokens, normalizer) / 2


def _normalizer_(logits: Tensor, alpha: float) -> Tensor:
    """Return log-sum-exp + alpha / 2 * (KL(p || q) + KL(q || p)), as a `Normalizer`; q is the other pass of the token.

    With gaps g = log p - log q, KL(p || q) + KL(q || p) = E_p[g] - E_q[g], and its gradient with respect to p's logits
    is p (g - E_p[g]) + p - q. Neither changes when a constant is added to g, such as that of the softmax.
    """
    share = alpha / 2
    passes = logits.view(-1, 2, logits.size(1))  # [tokens, 2, V]
    gaps = passes - passes.flip(1)  # of p to q and of q to p
    loss = log_sum_exp_(logits)  # from here on `passes` are p and q
    gaps *= passes
    means = gaps.sum(dim=2, keepdim=True)
    others = passes.flip(1)
    passes.mul_(1 + share * (1 - means)).add_(gaps, alpha=share).sub_(others, alpha=share)
    return loss + share * means.sum()
