"""Label-smoothed cross-entropy, summed over tokens, with and without the output projection fused in."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

Normalizer = Callable[[Tensor], Tensor]  # as `projected_cross_entropy` describes it
_GPU_TOKENS, _GPU_LOGITS = 4096, 2**26  # of a chunk at most: small products would leave a GPU idle


def smoothed_cross_entropy(logits: Tensor, labels: Tensor, smoothing: float = 0.0) -> Tensor:
    """Return the sum over tokens of the cross-entropy against a smoothed target distribution.

    Args:
        logits: [tokens, V].
        labels: Token ids [tokens], none of them padding.
        smoothing: Share of the target probability spread evenly over all V tokens, 0 to 1.

    Returns:
        A scalar, in nats: (1 - smoothing) * nll(label) + smoothing * mean over V of nll.

    Source: Szegedy et al. 2016 (arXiv:1512.00567), section 7.

    >>> float(smoothed_cross_entropy(torch.zeros(2, 4), torch.tensor([0, 3]), 0.1) / 2)  # log 4
    1.3862943649291992
    """
    return F.cross_entropy(logits.float(), labels, reduction="sum", label_smoothing=smoothing)


def projected_cross_entropy(
    hidden: Tensor,
    weight: Tensor,
    labels: Tensor,
    smoothing: float = 0.0,
    chunk_tokens: int | None = None,
    normalizer: Normalizer | None = None,
) -> Tensor:
    """Return `smoothed_cross_entropy(hidden @ weight.T, labels, smoothing)` without ever holding all logits.

    Tokens go through in chunks; each chunk's gradient is computed while its logits are still there, on a CPU in its
    cache, so backward costs nothing but a scaling. Matrix products are in the dtype of autocast, if on; the softmax,
    all sums and the gradients are float32.

    Args:
        hidden: [tokens, M].
        weight: Output projection [V, M].
        labels: Token ids [tokens].
        smoothing: As in `smoothed_cross_entropy`.
        chunk_tokens: Tokens per chunk; None = as `chunk_size`.
        normalizer: The loss before the logits of the target distribution are subtracted; called with the float32
            logits [tokens, V] of a chunk, it returns a sum over tokens and writes its gradient over the logits.
            None is `log_sum_exp_`, which makes the loss a cross-entropy.

    Returns:
        A scalar, in nats; differentiable once, in `hidden` and `weight`.
    """
    dtype, chunk_tokens = product_dtype(hidden), chunk_tokens or chunk_size(hidden, weight, on_cpu=512)
    needs_grad = torch.is_grad_enabled()  # inside an autograd function it is always off
    with torch.autocast(hidden.device.type, enabled=False):  # only the products of `dtype` are to be rounded to it
        loss: Tensor = _ProjectedCrossEntropy.apply(  # type: ignore[no-untyped-call]
            hidden, weight, labels, smoothing, chunk_tokens, dtype, needs_grad, normalizer or log_sum_exp_
        )
    return loss


def chunk_size(hidden: Tensor, weight: Tensor, on_cpu: int) -> int:
    """Return how many tokens of `hidden` to take at a time: on a CPU as many as its cache holds the logits of.

    In float16 no more than that on a GPU either, since sums over many tokens leave its range.
    """
    if hidden.device.type == "cpu" or product_dtype(hidden) == torch.float16:
        return on_cpu
    return max(on_cpu, min(_GPU_TOKENS, _GPU_LOGITS // weight.size(0)))


def product_dtype(operand: Tensor) -> torch.dtype:
    """Return the dtype of matrix products with `operand`: that of autocast on its device, if on, else its own."""
    device = operand.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else operand.dtype


class _ProjectedCrossEntropy(torch.autograd.Function):
    """Computes gradients along with the loss: with respect to the logits they are softmax - target, known at once.

    The smoothed part of the target is the same for all tokens and all of the vocabulary. What it adds to the loss and
    to both gradients is therefore a product of sums, and needs no pass over logits.
    """

    @staticmethod
    def forward(ctx, hidden, weight, labels, smoothing, chunk_tokens, dtype, needs_grad, normalizer):  # type: ignore[no-untyped-def]
        hidden, weight = hidden.to(dtype), weight.to(dtype)
        loss = hidden.new_zeros((), dtype=torch.float32)
        grad_hidden = torch.empty_like(hidden, dtype=torch.float32) if needs_grad else None
        grad_weight = torch.zeros_like(weight, dtype=torch.float32) if needs_grad else None
        rounded = hidden.new_empty(min(chunk_tokens, hidden.size(0)), weight.size(0))  # new memory would cost a tenth
        wide = rounded if dtype == torch.float32 else torch.empty_like(rounded, dtype=torch.float32)
        for start in range(0, hidden.size(0), chunk_tokens):
            part = slice(start, start + chunk_tokens)
            chunk, rows = hidden[part], labels[part, None]
            products = torch.mm(chunk, weight.T, out=rounded[: chunk.size(0)])
            logits = products if dtype == torch.float32 else wide[: chunk.size(0)].copy_(products)
            label_logits = logits.gather(1, rows).sum()
            loss += normalizer(logits) - (1 - smoothing) * label_logits
            if grad_hidden is not None and grad_weight is not None:
                logits.scatter_add_(1, rows, logits.new_full((), smoothing - 1).expand_as(rows))
                _add_gradients_(logits, products, chunk, weight, grad_hidden[part], grad_weight)
        if smoothing:
            share = smoothing / weight.size(0)
            hidden_sum, weight_sum = hidden.sum(0, dtype=torch.float32), weight.sum(0, dtype=torch.float32)
            loss -= share * (hidden_sum @ weight_sum)
            if grad_hidden is not None and grad_weight is not None:
                grad_hidden -= share * weight_sum
                grad_weight -= share * hidden_sum
        if needs_grad:
            ctx.save_for_backward(grad_hidden, grad_weight)
        return loss

    @staticmethod
    def backward(ctx, grad_output):  # type: ignore[no-untyped-def]
        grad_hidden, grad_weight = ctx.saved_tensors  # autograd rounds them, if need be, to the inputs' dtypes
        return grad_hidden * grad_output, grad_weight * grad_output, None, None, None, None, None, None


def _add_gradients_(
    grad: Tensor, space: Tensor, chunk: Tensor, weight: Tensor, grad_hidden: Tensor, grad_weight: Tensor
) -> None:
    """Add the gradients of a chunk, computed by products in the dtype of `weight`.

    Args:
        grad: Gradient with respect to the logits [tokens, V], float32; used up.
        space: As large, in the dtype of `weight`; overwritten. In float32 it may be `grad` itself.
        chunk: Hidden states [tokens, M].
        weight: [V, M].
        grad_hidden: Set to `grad @ weight` [tokens, M], float32.
        grad_weight: Gains `grad.T @ chunk` [V, M], float32.
    """
    if weight.dtype == torch.float32:
        torch.mm(grad, weight, out=grad_hidden)
        grad_weight.addmm_(grad.T, chunk)
    elif weight.dtype == torch.float16:
        _add_float16_gradients_(grad, chunk, weight, grad_hidden, grad_weight)
    else:
        space.copy_(grad)
        grad_hidden.copy_(space @ weight)
        grad_weight += space.T @ chunk


def _add_float16_gradients_(
    grad: Tensor, chunk: Tensor, weight: Tensor, grad_hidden: Tensor, grad_weight: Tensor
) -> None:
    """Do the work of `_add_gradients_` in float16, which has no numbers below 3e-8 and above 65,504 but 0 and infinity.

    The factor of a gradient scaler comes too late for that, when these gradients are already known. So operands are
    scaled until nothing, not even a sum, can exceed 2^15, and the products are scaled back in float32.
    """
    tiny = 2.0**-40  # factors of its size are finite, and so are their products and the inverses of these
    largest = torch.linalg.vector_norm(grad, 1, dim=1).amax()  # sum of a row; no element exceeds it
    largest_weight, largest_state = (torch.linalg.vector_norm(x, torch.inf).float() for x in (weight, chunk))
    scale = 2.0**15 / (largest * largest_weight.clamp(min=1.0)).clamp(min=tiny)
    shrink = 1.0 / (largest_state * chunk.size(0)).clamp(min=tiny)
    scaled = grad.mul_(scale).half()
    grad_hidden.copy_(scaled @ weight).div_(scale)
    grad_weight += (scaled.T @ chunk.float().mul_(shrink).half()).float().div_(scale * shrink)


def log_sum_exp_(logits: Tensor) -> Tensor:
    """Return the summed log-sum-exp of float32 logits [tokens, V], and write its gradient, softmax, over them."""
    top = logits.amax(dim=1)
    torch.softmax(logits, dim=1, out=logits)
    return (top - logits.amax(dim=1).log()).sum()  # of the likeliest token, whose share is at least 1 / V
