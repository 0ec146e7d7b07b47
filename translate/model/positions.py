"""Where a token stands: added to the embedding (sinusoidal, learned) or turned into queries and keys (rotary)."""

import math

import torch
from torch import Tensor, nn


class SinusoidalPositions(nn.Module):
    """Fixed sines and cosines of geometrically growing wavelength; any length.

    Args:
        d_model: Width M.
        layout: As for `sinusoids`.

    Source: Vaswani et al. 2017 (arXiv:1706.03762), section 3.5.
    """

    table: Tensor

    def __init__(self, d_model: int, layout: str = "interleaved") -> None:
        super().__init__()
        if d_model % 2:
            raise ValueError(f"sinusoidal positions need an even d_model, not {d_model}")
        self.d_model, self.layout = d_model, layout
        table = torch.empty(256, d_model) if _shapes_alone() else sinusoids(256, d_model, layout)
        self.register_buffer("table", table, persistent=False)

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        """Add positions offset, offset + 1, … to x [B, T, M]."""
        end = offset + x.size(1)
        table = self.table  # which another thread may replace
        if end > table.size(0):
            with torch.inference_mode(False):  # the longer table may serve training later
                self.table = table = sinusoids(max(end, 2 * table.size(0)), self.d_model, self.layout).to(table)
        return x + table[offset:end].to(x.dtype)


class LearnedPositions(nn.Module):
    """One trained vector per position, up to `max_positions`."""

    def __init__(self, d_model: int, max_positions: int) -> None:
        super().__init__()
        self.max_positions = max_positions
        self.weight = nn.Parameter(torch.empty(max_positions, d_model))
        nn.init.normal_(self.weight, std=d_model**-0.5)

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        """Add positions offset, offset + 1, … to x [B, T, M].

        Raises:
            ValueError: If the last position lies beyond `max_positions`.
        """
        end = offset + x.size(1)
        if end > self.max_positions:
            raise ValueError(f"position {end} lies beyond max_positions ({self.max_positions}); use shorter sentences")
        return x + self.weight[offset:end]


class RotaryPositions(nn.Module):
    """Rotates pairs of head channels by an angle that grows with the position, so scores see only distances.

    Source: Su et al. 2021 (arXiv:2104.09864), section 3.4.2, in the form that pairs channel i with i + D/2.
    """

    table: Tensor

    def __init__(self, head_dim: int) -> None:
        super().__init__()
        if head_dim % 2:
            raise ValueError(f"rotary positions need an even head_dim, not {head_dim}")
        self.head_dim = head_dim
        table = torch.empty(2, 256, head_dim) if _shapes_alone() else self._angles(256)
        self.register_buffer("table", table, persistent=False)

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        """Rotate x [B, H, T, D], whose first position is `offset`."""
        end = offset + x.size(2)
        table = self.table  # which another thread may replace
        if end > table.size(1):
            with torch.inference_mode(False):  # the longer table may serve training later
                self.table = table = self._angles(max(end, 2 * table.size(1))).to(table)
        cos, sin = table[:, offset:end].to(x.dtype)  # each [T, D]
        left, right = x.chunk(2, dim=-1)
        return x * cos + torch.cat((-right, left), dim=-1) * sin  # type: ignore[no-any-return]

    def _angles(self, length: int) -> Tensor:
        frequency = 10000.0 ** (-torch.arange(0, self.head_dim, 2) / self.head_dim)
        angles = torch.outer(torch.arange(length).float(), frequency).repeat(1, 2)
        return torch.stack((angles.cos(), angles.sin()))  # [2, length, D]


def sinusoids(length: int, d_model: int, layout: str = "interleaved") -> Tensor:
    """Compute the sinusoidal table, [length, M] float32.

    Args:
        length: Number of positions.
        d_model: Width M.
        layout: "interleaved": sines in the even columns, cosines in the odd ones; "halves": sines, then cosines;
            "marian": the same with wavelengths that end at 10,000 times the first, not just below it.

    >>> sinusoids(2, 4)[0], sinusoids(2, 4, "halves")[0]
    (tensor([0., 1., 0., 1.]), tensor([0., 0., 1., 1.]))
    """
    position = torch.arange(length, dtype=torch.float32)[:, None]
    last = d_model - 2 if layout == "marian" else d_model
    frequency = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / max(1, last)))
    if layout != "interleaved":
        return torch.cat((torch.sin(position * frequency), torch.cos(position * frequency)), dim=1)
    table = torch.empty(length, d_model)
    table[:, 0::2] = torch.sin(position * frequency)
    table[:, 1::2] = torch.cos(position * frequency)
    return table


def _shapes_alone() -> bool:
    """Return whether modules are built on the meta device, where computing makes torch load decompositions."""
    return torch.get_default_device().type == "meta"
