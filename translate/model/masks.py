"""Every mask of the model. All are bool: True = real token, or True = the query may attend to the key."""

import torch
from torch import Tensor


def source_attn_mask(src_mask: Tensor) -> Tensor:
    """Return the mask in which every position may attend to every real source token.

    Args:
        src_mask: [B, S] bool, True = real token.

    Returns:
        [B, 1, 1, S] bool, for encoder self-attention and for cross-attention alike.
    """
    return src_mask[:, None, None, :]


def causal_attn_mask(tgt_mask: Tensor) -> Tensor:
    """Return the mask in which target position t may attend to the real tokens among 0 … t.

    Args:
        tgt_mask: [B, T] bool, True = real token.

    Returns:
        [B, 1, T, T] bool.

    >>> causal_attn_mask(torch.tensor([[True, True, False]]))[0, 0].int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 0]], dtype=torch.int32)
    """
    length = tgt_mask.size(1)
    causal = torch.ones(length, length, dtype=torch.bool, device=tgt_mask.device).tril()
    return causal & tgt_mask[:, None, None, :]
