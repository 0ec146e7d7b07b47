"""What training leaves out at random: numbers (at a fraction of torch's cost on a CPU), words, layers."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_of_thread = threading.local()


def apply_dropout(x: Tensor, share: float, training: bool) -> Tensor:
    """Zero a share of x in training and scale the rest, so that the expected value stays.

    On a CPU the mask is drawn as 16 random bits per element, four elements from one draw of the generator, where
    `F.dropout` draws for each element: the share is met to 1/65,536, in a third of the time, backward included.

    Args:
        x: Any shape.
        share: At least 0 and below 1.
        training: False returns x.

    Source: Srivastava et al. 2014, "Dropout: A Simple Way to Prevent Neural Networks from Overfitting".
    """
    if not training or share == 0.0:
        return x
    if x.device.type != "cpu":
        return F.dropout(x, share)
    return x * _mask(x, share)


def drop_words(x: Tensor, share: float, training: bool) -> Tensor:
    """Zero a share of the vectors of x [..., M] in training; the others stay as they are.

    Source: Gal and Ghahramani 2016 (arXiv:1512.05287); for translation, of source and target: Sennrich and Zhang 2019
    (arXiv:1905.11901).
    """
    if not training or share == 0.0:
        return x
    kept = torch.empty(*x.shape[:-1], 1, dtype=x.dtype, device=x.device)
    return x * kept.bernoulli_(1 - share, generator=_generator())


def run_layers(layers: Iterable[nn.Module], x: Tensor, *args: Tensor | None, drop: float, training: bool) -> Tensor:
    """Take x through `layer(x, *args)` of each layer in turn; in training each is skipped with probability `drop`.

    A skipped layer costs nothing; its parameters and `args` get a gradient of zero from it. So optimizer, workers and
    data-parallel processes find a gradient of every parameter in each step.

    Args:
        layers: They keep the shape of x.
        x: Any shape.
        args: Given to every layer.
        drop: 0 to 1.
        training: False runs all layers.

    Source: Fan et al. 2020 (arXiv:1909.11556), section 3.
    """
    for layer in layers:
        if training and drop and float(torch.rand((), generator=_generator())) < drop:
            x = _Skip.apply(x, *args, *layer.parameters())  # type: ignore[no-untyped-call]
        else:
            x = layer(x, *args)
    return x


class _Skip(torch.autograd.Function):
    """Its first argument, unchanged; the others have no part in it."""

    @staticmethod
    def forward(ctx, x, *others):  # type: ignore[no-untyped-def]
        ctx.save_for_backward(*others)
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):  # type: ignore[no-untyped-def]
        wanted = zip(ctx.saved_tensors, ctx.needs_input_grad[1:], strict=True)
        return grad_output, *(torch.zeros_like(other) if needed else None for other, needed in wanted)


@contextmanager
def masks_from(generator: torch.Generator) -> Iterator[None]:
    """Draw the masks of this thread, within the block and on the CPU, from `generator` instead of the global one.

    Threads that shared a generator would get other masks in each run.
    """
    _of_thread.generator = generator
    try:
        yield
    finally:
        _of_thread.generator = None


def _generator() -> torch.Generator | None:
    """Return this thread's generator, if it has one; None is torch's global one."""
    return getattr(_of_thread, "generator", None)


def _mask(x: Tensor, share: float) -> Tensor:
    """Draw 0 for a share of the elements, 1 / (1 - share) for the others; like x in shape and dtype."""
    words = torch.empty((x.numel() + 3) // 4, dtype=torch.int64)
    words.random_(-(2**63), None, generator=_generator())
    bits = words.view(torch.int16)[: x.numel()].view(x.shape)  # -32,768 to 32,767
    last_zeroed = min(max(round(share * 65536), 1), 65535) - 32769
    kept = bits.clamp_(last_zeroed, last_zeroed + 1).sub_(last_zeroed)  # 0 or 1, cheaper than a comparison
    return kept.to(x.dtype).mul_(1 / (1 - share))
