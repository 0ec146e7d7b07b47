"""What an epoch holds: the source's own pairs so many times, extra ones once, and perhaps all of it turned around."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from translate.data.sampler import Indices, Lengths


@dataclass(frozen=True)
class EpochPairs:
    """Numbers the pairs of an epoch without storing any of them twice.

    Attributes:
        total: Stored training pairs, extra ones last.
        own: How many of them are the source's own.
        copies: How often an epoch holds those.
        both_directions: Whether each pair comes a second time with its sides exchanged (BiT, Ding et al. 2021,
            arXiv:2109.07780).

    >>> EpochPairs(3, 2, copies=2, both_directions=False).locate(np.arange(5))[0].tolist()
    [0, 1, 0, 1, 2]
    """

    total: int
    own: int
    copies: int = 1
    both_directions: bool = False

    def lengths(self, src: Lengths, tgt: Lengths) -> tuple[Lengths, Lengths]:
        """Return the source and target lengths, in tokens, of each pair of an epoch, [total]."""
        if self.copies > 1:
            src, tgt = (np.concatenate([*[side[: self.own]] * (self.copies - 1), side]) for side in (src, tgt))
        return (np.concatenate([src, tgt]), np.concatenate([tgt, src])) if self.both_directions else (src, tgt)

    def locate(self, numbers: Indices) -> tuple[Indices, npt.NDArray[np.bool_]]:
        """Return the stored pair of each number, and whether its sides are exchanged."""
        repeated = self.own * (self.copies - 1)
        turned, place = np.divmod(numbers, repeated + self.total)
        return np.where(place < repeated, place % max(1, self.own), place - repeated), turned.astype(bool)
