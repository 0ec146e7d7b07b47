"""Muon: steps of orthogonal direction for the matrices of the layers, AdamW for all other parameters."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from translate.model.attention import Attention
from translate.model.layers import FeedForward
from translate.model.transformer import Transformer


class Muon(torch.optim.AdamW):
    """Muon (Jordan et al. 2024) on the groups that have `rows`, AdamW on the others.

    The step of a matrix is its momentum with all singular values made about 1, times 0.2 sqrt(longer side): its entries
    are then as large as those of AdamW's steps, and one learning rate serves both (Liu et al. 2025, arXiv:2502.16982).

    Args:
        groups: Parameter groups of torch. `rows` gives, for each matrix of a group, the heights of the maps that are
            stacked in it; each map is orthogonalized separately.
        momentum: Decay of the mean of the gradients, with Nesterov's look ahead.
        dtype: Type of the products that bring the singular values near 1; bfloat16 is exact enough.
        settings: Arguments of `torch.optim.AdamW`.
    """

    def __init__(
        self,
        groups: list[dict[str, Any]],
        *,
        momentum: float = 0.95,
        dtype: torch.dtype = torch.float32,
        **settings: Any,
    ) -> None:
        super().__init__(groups, **settings)
        self.momentum, self.dtype = momentum, dtype

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update all parameters once; the gradients of the matrices are overwritten."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            if "rows" in group:
                self._step_matrices(group)
        super().step()
        return loss

    def _step_matrices(self, group: dict[str, Any]) -> None:
        alike: dict[torch.Size, list[tuple[Tensor, Tensor]]] = defaultdict(list)  # maps and directions by shape
        for matrix, heights in zip(group["params"], group["rows"], strict=True):
            if matrix.grad is None:
                continue
            directions = self._look_ahead(matrix).split(heights)  # type: ignore[no-untyped-call]
            matrix.grad = None  # so that AdamW skips it
            matrix.mul_(1 - group["lr"] * group["weight_decay"])
            for weight, direction in zip(matrix.split(heights), directions, strict=True):
                if weight.size(0) > weight.size(1):
                    weight, direction = weight.T, direction.T
                alike[weight.shape].append((weight, direction))
        for (_, length), maps in alike.items():
            steps = orthogonal(torch.stack([direction for _, direction in maps]), self.dtype)
            for (weight, _), step in zip(maps, steps, strict=True):
                weight.sub_(step, alpha=group["lr"] * 0.2 * length**0.5)

    def _look_ahead(self, parameter: Tensor) -> Tensor:
        assert parameter.grad is not None
        state = self.state[parameter]
        if not state:
            state["step"] = torch.zeros(())  # AdamW expects it in every state that it loads
            state["mean"] = torch.zeros_like(parameter)
        state["step"] += 1
        state["mean"].lerp_(parameter.grad, 1 - self.momentum)
        return parameter.grad.lerp(state["mean"], self.momentum)


def orthogonal(x: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Bring the singular values of matrices [N, rows, columns] near 1, into 0.7 to 1.2.

    Five steps of Newton and Schulz with the quintic coefficients of Jordan et al. (2024); fast if there are no
    more rows than columns.

    Source: kellerjordan.github.io/posts/muon
    """
    x = (x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)).to(dtype)
    for _ in range(5):
        gram = x @ x.mT
        factor = torch.baddbmm(gram, gram, gram, beta=-4.7750, alpha=2.0315)
        x = torch.baddbmm(x, factor, x, beta=3.4445)
    return x


def stacked_maps(model: Transformer) -> dict[Tensor, list[int]]:
    """Return the matrices of the layers, each with the heights of the maps that are stacked in it."""
    rows = {m.weight: [m.out_features] for m in model.modules() if isinstance(m, nn.Linear) and m is not model.output}
    for module in model.modules():
        if isinstance(module, Attention):
            rows[module.qkv.weight] = [*module.q_parts, *module.kv_parts]
            if module.kv_up is not None:
                rows[module.kv_up.weight] = [module.kv_up.out_features // 2] * 2
        if isinstance(module, FeedForward):
            gates = module.inner.out_features // module.outer.in_features  # 2 with SwiGLU
            rows[module.inner.weight] = [module.outer.in_features] * gates
    return rows
