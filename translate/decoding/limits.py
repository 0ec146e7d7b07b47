"""How long an output may get."""

import torch
from torch import Tensor


def output_limits(src_mask: Tensor, min_output_len: int, max_output_len: int, max_output_ratio: float) -> Tensor:
    """Most tokens of the output of each source, EOS counted.

    Args:
        src_mask: [B, S] bool, True = real token.
        min_output_len: No limit is below this.
        max_output_len: No limit is above this.
        max_output_ratio: Most tokens per source token, beyond the first 10; 0 = off.

    Returns:
        [B] int64.

    >>> output_limits(torch.ones(1, 4, dtype=torch.bool), 1, 256, 3.0)
    tensor([22])
    """
    limits = torch.full_like(src_mask[:, 0], max_output_len, dtype=torch.long)
    if max_output_ratio:
        limits = limits.minimum((src_mask.sum(1) * max_output_ratio).long() + 10)
    return limits.clamp(min=min_output_len)
