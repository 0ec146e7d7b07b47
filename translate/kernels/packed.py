"""Weights in 8-bit integers, laid out as `layers.c` reads them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from translate.kernels import call, loaded
from translate.kernels.pointers import Array, pointer, token_array
from translate.kernels.structures import Linear, Output

_PANEL = 64  # outputs that are computed together
_SAMPLED = 256  # tokens, about, that stand for those that cannot come


class Int8Weights(NamedTuple):
    """A linear map in 8-bit integers.

    Attributes:
        weight: [out, in] int8.
        scale: [out], of the rows of the weight, for inputs that are scaled to ±127 by their largest entry.
        bias: [out], or None.
    """

    weight: Array
    scale: Array
    bias: Array | None


class Rounded(NamedTuple):
    """A matrix in 8-bit integers.

    Attributes:
        weight: [out, in] int8.
        scale: [out], by which its rows are multiplied.
    """

    weight: Array
    scale: Array


class NormWeights(NamedTuple):
    """A norm over the width: layer norm, or by the root mean square if there is no bias."""

    weight: Array
    bias: Array | None
    epsilon: float


class Packed:
    """Holds the memory that structures of C point to."""

    def __init__(self) -> None:
        self._held: list[Array] = []

    def hold(self, name: str, x: Array, dtype: npt.DTypeLike, *shape: int) -> int:
        """Return the address of an array, or of a contiguous copy, and keep it alive as long as this object."""
        self._held.append(np.ascontiguousarray(x))
        return pointer(name, self._held[-1], dtype, *shape)

    def linear(self, name: str, linear: Int8Weights, outputs: int, inputs: int, chosen: Array | None = None) -> Linear:
        """Pack a linear map, or so many of its outputs, which `chosen` [outputs] int64 names."""
        filled, weight = outputs + -outputs % _PANEL, np.ascontiguousarray(linear.weight)
        panels = np.zeros((filled // _PANEL, inputs // 4, _PANEL, 4), np.int8)
        start = np.zeros(filled, np.int32)
        loaded().pack(
            pointer(name, weight, np.int8, outputs if chosen is None else len(weight), inputs),
            None if chosen is None else pointer("chosen", chosen, np.int64, outputs),
            *(outputs, inputs),
            *(pointer("panels", panels, np.int8, *panels.shape), pointer("start", start, np.int32, *start.shape)),
        )
        scale, bias = np.zeros(filled, np.float32), np.zeros(filled, np.float32)
        which = slice(None) if chosen is None else chosen
        scale[:outputs] = linear.scale[which]
        if linear.bias is not None:
            bias[:outputs] = linear.bias[which]
        return Linear(
            self.hold(f"{name} panels", panels, np.int8, *panels.shape),
            self.hold(f"{name} scale", scale, np.float32, filled),
            self.hold(f"{name} bias", bias, np.float32, filled),
            self.hold(f"{name} start", start, np.int32, filled),
            *(inputs, outputs),
        )


class PackedLinear(Packed):
    """A linear map as `layers.c` reads it.

    Args:
        linear: Its weights.

    Raises:
        ValueError: If the number of inputs is no multiple of 16.
    """

    def __init__(self, linear: Int8Weights) -> None:
        super().__init__()
        self._outputs, self._inputs = linear.weight.shape
        if self._inputs % 16:
            raise ValueError(f"the kernels cannot map {self._inputs} inputs: 16 does not divide them")
        self._linear = self.linear("weight", linear, self._outputs, self._inputs)

    def __call__(self, x: Array) -> Array:
        """Map x [..., in] to [..., out]."""
        x = np.ascontiguousarray(x)
        rows, out = x.size // self._inputs, np.empty((*x.shape[:-1], self._outputs), np.float32)
        call(
            "project",
            ctypes.byref(self._linear),
            pointer("x", x, np.float32, *x.shape[:-1], self._inputs),
            rows,
            pointer("out", out, np.float32, *out.shape),
        )
        return out


class PackedOutput(Packed):
    """The map to logits as `layers.c` reads it, to all tokens or to some.

    With some of them a sample of the others, evenly spread over the vocabulary, tells how much probability those have
    together, so that what is left for the chosen ones is about what it would be among all.

    Args:
        weights: Of the map, [V, M].
        tokens: Those that may come, int64 [K]; None = all.

    Raises:
        ValueError: If there is no such token, or none is given.
    """

    def __init__(self, weights: Int8Weights, tokens: Array | None = None) -> None:
        super().__init__()
        self.vocab_size, inputs = weights.weight.shape
        self._tokens: Array | None = None
        if tokens is None:
            self.struct = Output(self.linear("output", weights, self.vocab_size, inputs), vocab_size=self.vocab_size)
            return
        if not tokens.size:
            raise ValueError("a search needs tokens to choose among, and there are none")
        token_array("tokens", [int(tokens.min()), int(tokens.max())], self.vocab_size)
        is_chosen = np.zeros(self.vocab_size, bool)
        is_chosen[tokens] = True
        self._tokens, others = np.flatnonzero(is_chosen), np.flatnonzero(~is_chosen)
        sample = others[:: max(1, len(others) // _SAMPLED)]
        rows = np.concatenate((self._tokens, sample))
        self.struct = Output(
            self.linear("output", weights, len(rows), inputs, rows),
            self.hold("tokens", self._tokens, np.int64, len(self._tokens)),
            *(self.vocab_size, len(sample), len(others) / max(1, len(sample))),
        )

    def places(self, tokens: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
        """Return which outputs stand for tokens; those that may not come at all are left out."""
        checked = token_array("banned", tokens, self.vocab_size)
        if self._tokens is None:
            return checked
        places = [int(np.searchsorted(self._tokens, token)) for token in tokens]
        last = len(self._tokens) - 1
        found = [place for place, token in zip(places, tokens, strict=True) if self._tokens[min(place, last)] == token]
        return token_array("banned", found, last + 1)
