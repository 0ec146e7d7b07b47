"""Linear maps in 8-bit integers, for translating faster on a CPU."""

from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from translate import kernels


class Int8Linear(nn.Module):
    """`linear`, with weights and inputs rounded to 8-bit integers; sums and everything around them stay float32.

    Each row of the weight and each input vector has a scale, from its largest entry.
    Integers are summed exactly, so that a vector's result does not depend on what is computed beside it.

    Args:
        linear: Float32, on the CPU; its weight is rounded to the nearest.

    Raises:
        ValueError: If the weight is not float32 on the CPU.

    Source: per-row weights and per-token inputs as in LLM.int8() (Dettmers et al. 2022, arXiv:2208.07339), section 2.1.
    """

    weight: Tensor  # [out, in] int8
    scale: Tensor  # [out]
    bias: Tensor | None  # [out]

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        weight = linear.weight.detach()
        if weight.dtype != torch.float32 or not weight.is_cpu:
            raise ValueError(f"int8 is made from float32 weights on the CPU, not {weight.dtype} on {weight.device}")
        largest, most = weight.abs().amax(dim=1).clamp_min(1e-30), _largest_weight()
        self.register_buffer("weight", (weight * (most / largest)[:, None]).round().to(torch.int8))
        self.register_buffer("scale", largest / (most * 127))
        self.register_buffer("bias", None if linear.bias is None else linear.bias.detach())

    def forward(self, x: Tensor, rows: slice = slice(None)) -> Tensor:
        """Map x [..., in] to [..., out], or to the given rows of it."""
        rounded, largest = _round_rows(x.float().reshape(-1, x.size(-1)))
        sums = torch._int_mm(rounded, self.weight[rows].t())
        out = _widen_rows(sums, largest, self.scale[rows], None if self.bias is None else self.bias[rows])
        return out.view(*x.shape[:-1], -1)


def _round_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """Round the rows of x [R, C], as `kernels.round_rows` does where there are kernels."""
    if kernels.library() is not None:
        rounded, largest = map(torch.from_numpy, kernels.round_rows(x.numpy()))
        return rounded, largest
    largest = x.abs().amax(dim=1, keepdim=True).clamp_min_(1e-30)
    return (x * (127 / largest)).round_().to(torch.int8), largest


def _widen_rows(sums: Tensor, row_scale: Tensor, col_scale: Tensor, bias: Tensor | None) -> Tensor:
    """Scale integers [R, C], as `kernels.widen_rows` does where there are kernels."""
    if kernels.library() is not None:
        added = None if bias is None else bias.numpy()
        return torch.from_numpy(kernels.widen_rows(sums.numpy(), row_scale.numpy(), col_scale.numpy(), added))
    out = sums.to(torch.float32).mul_(row_scale)
    return out.mul_(col_scale) if bias is None else torch.addcmul(bias, out, col_scale)


@cache
def _largest_weight() -> int:
    """Return the integer for a row's largest weight: 127, but 63 where sums of two products overflow 16 bits.

    That is so on x86 processors without instructions for dot products of bytes.
    """
    ones = torch.full((16, 64), 127, dtype=torch.int8)
    exact = bool((torch._int_mm(ones, ones.t()) == 64 * 127**2).all())
    return 127 if exact else 63


def linear_rows(linear: nn.Module, x: Tensor, rows: slice) -> Tensor:
    """Apply the given rows of `linear`, an `nn.Linear` or an `Int8Linear`, to x [..., in]."""
    if isinstance(linear, Int8Linear):
        return linear(x, rows)  # type: ignore[no-any-return]
    assert isinstance(linear, nn.Linear)
    return F.linear(x, linear.weight[rows], None if linear.bias is None else linear.bias[rows])


def to_int8(model: nn.Module) -> None:
    """Replace the linear maps of a model by `Int8Linear`, but for a latent's up-projection, whose weight is read.

    Embeddings and norms stay float32. The model can then be used, but neither trained nor saved.
    """
    for name, child in model.named_children():
        if not isinstance(child, nn.Linear):
            to_int8(child)
        elif name != "kv_up":
            setattr(model, name, Int8Linear(child))
