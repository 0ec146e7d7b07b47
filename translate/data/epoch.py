"""What an epoch holds: the pairs of each stream as often as its share asks for, and perhaps all of it turned around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from translate.data.sampler import Indices, Lengths


@dataclass(frozen=True)
class EpochPairs:
    """Numbers the pairs of an epoch without storing any of them twice.

    Attributes:
        sizes: Stored training pairs of each stream, which stand one after the other.
        copies: How often an epoch holds each stream, at least once; with a fraction some of its pairs, evenly spaced,
            come once more than others.
        both_directions: Whether each pair comes a second time with its sides exchanged (BiT, Ding et al. 2021,
            arXiv:2109.07780).

    >>> EpochPairs([2, 1], [2, 1]).locate(np.arange(5))[0].tolist()
    [0, 1, 0, 1, 2]
    >>> EpochPairs([4], [1.5]).locate(np.arange(6))[0].tolist()
    [0, 1, 2, 3, 0, 2]
    """

    sizes: Sequence[int]
    copies: Sequence[float]
    both_directions: bool = False

    @cached_property
    def _rows(self) -> Indices:
        """The stored pair of each number of an epoch, before it is turned around."""
        starts = np.cumsum([0, *self.sizes])[:-1]
        return np.concatenate([_repeat(*one) for one in zip(starts, self.sizes, self.copies, strict=True)])

    def lengths(self, src: Lengths, tgt: Lengths) -> tuple[Lengths, Lengths]:
        """Return the source and target lengths, in tokens, of each pair of an epoch, given those of stored pairs."""
        src, tgt = src[self._rows], tgt[self._rows]
        return (np.concatenate([src, tgt]), np.concatenate([tgt, src])) if self.both_directions else (src, tgt)

    def locate(self, numbers: Indices) -> tuple[Indices, npt.NDArray[np.bool_]]:
        """Return the stored pair of each number, and whether its sides are exchanged."""
        turned, place = np.divmod(numbers, len(self._rows))
        return self._rows[place], turned.astype(bool)


def _repeat(start: int, size: int, copies: float) -> Indices:
    """Return the numbers of a stream's pairs, each so often."""
    rows = np.arange(start, start + size)
    rest = np.arange(round((copies % 1) * size)) * size // max(1, round((copies % 1) * size))
    return np.concatenate([np.tile(rows, int(copies)), start + rest])


def mixture_copies(sizes: Mapping[str, int], weights: Mapping[str, float], temperature: float) -> list[float]:
    """Return how often an epoch holds the pairs of each part of a mixture, the least of them once.

    Args:
        sizes: Pairs of each part, at least 1.
        weights: How often its pairs should come, relative to other parts.
        temperature: The share of a part goes with (size * weight) ** (1 / temperature).

    Source: temperature as for languages in Arivazhagan et al. 2019 (arXiv:1907.05019), section 4.

    >>> mixture_copies({"large": 1000, "small": 10}, {"large": 1.0, "small": 1.0}, 2.0)
    [1.0, 10.0]
    """
    often = [(size * weights[name]) ** (1 / temperature) / size for name, size in sizes.items()]
    least = min(often)
    return [round(one / least, 6) for one in often]
