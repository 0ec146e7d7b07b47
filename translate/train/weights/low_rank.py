"""LoRA: fine-tune a large model by a small change of low rank to each matrix of attention and feed-forward.

The matrices themselves stay as they are and need neither gradients nor a state of the optimizer. Added up at the end,
the model has the size and the speed that it had. `peft` is not used: it replaces whole linear layers, while
cross-attention here takes rows of a stacked matrix.

Source: Hu et al. 2021 (arXiv:2106.09685).
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from translate.model.attention import Attention
from translate.model.layers import FeedForward

_WEIGHT = ".parametrizations.weight."  # in the names of what `add_low_rank` makes of a weight


class LowRank(nn.Module):
    """Adds scale * up @ down to a matrix, which nothing changes at first, as `up` is zero.

    Args:
        matrix: [O, I].
        rank: Rows R of `down` [R, I] and columns of `up` [O, R].
        scale: Factor of their product.
    """

    def __init__(self, matrix: Tensor, rank: int, scale: float) -> None:
        super().__init__()
        self.down = nn.Parameter(matrix.new_empty(rank, matrix.size(1)))
        self.up = nn.Parameter(matrix.new_zeros(matrix.size(0), rank))
        self.scale: Tensor
        self.register_buffer("scale", torch.tensor(scale))
        nn.init.kaiming_uniform_(self.down, a=5**0.5)

    def forward(self, matrix: Tensor) -> Tensor:
        """Return the changed matrix [O, I]."""
        return matrix + _product(self.up, self.down, self.scale)


def add_low_rank(model: nn.Module, rank: int, alpha: float) -> None:
    """Freeze a model, and let the matrices of its attention and feed-forward learn changes of a rank.

    Args:
        model: The network, changed in place.
        rank: Largest rank of a change; that of a smaller matrix is at most its shorter side.
        alpha: alpha / rank is the factor of each change.
    """
    model.requires_grad_(False)
    for module in model.modules():
        if isinstance(module, (Attention, FeedForward)):
            for linear in module.children():
                if isinstance(linear, nn.Linear):
                    low_rank = LowRank(linear.weight, min(rank, *linear.weight.shape), alpha / rank)
                    parametrize.register_parametrization(linear, "weight", low_rank)


def merge_low_rank(model: nn.Module) -> None:
    """Add the changes to the matrices for good; a model without any stays as it is."""
    for module in model.modules():
        if parametrize.is_parametrized(module, "weight"):
            parametrize.remove_parametrizations(module, "weight")


def merged_weights(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights of a network by their usual names, with the changes added to the matrices."""
    merged: dict[str, Tensor] = {}
    for name, tensor in weights.items():
        linear, changed, part = name.partition(_WEIGHT)
        if not changed:
            merged[name] = tensor
        elif part == "original":
            up, down, scale = (weights[f"{linear}{_WEIGHT}0.{one}"] for one in ("up", "down", "scale"))
            merged[f"{linear}.weight"] = tensor + _product(up, down, scale)
    return merged


def _product(up: Tensor, down: Tensor, scale: Tensor) -> Tensor:
    return (up * scale) @ down
