"""Training pairs that are made from others: several in one, and as people type them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

from translate.config.parts import PartConfig
from translate.data.sources import Pair

_BUFFER = 1_000  # pairs that wait to be joined, so that neighbours in a file do not meet
_MOST_JOINED = 5
_END = re.compile(r"[\s\u00a0\u202f]*[.!?…]+$")


@dataclass(frozen=True)
class Augmentation:
    """How many pairs are added; see `PartConfig`.

    Attributes:
        joined: Pairs of several sentences added for each pair, 0 to 1.
        typed: Pairs as people type them added for each pair, 0 to 1.
    """

    joined: float = 0.0
    typed: float = 0.0


def augmentations(parts: Mapping[str, PartConfig]) -> dict[str, Augmentation]:
    """Return what is added to each part of a mixture that asks for it."""
    return {name: Augmentation(part.joined, part.typed) for name, part in parts.items() if part.joined or part.typed}


class Augmenter:
    """Make further pairs of clean training pairs, the same ones in every run.

    Args:
        settings: How many.
        name: Of the part, which decides the random numbers.
    """

    def __init__(self, settings: Augmentation, name: str) -> None:
        self._settings, self._random = settings, Random(f"augmentation of {name}")
        self._waiting: list[Pair] = []

    def more(self, pair: Pair) -> Iterator[tuple[str, Pair]]:
        """Yield the pairs that are added after this one, each with the name of its kind."""
        if self._random.random() < self._settings.typed and (typed := as_typed(pair, self._random)):
            yield "typed", typed
        if not self._settings.joined:
            return
        self._waiting.append(pair)
        if len(self._waiting) > _BUFFER:
            self._waiting[self._random.randrange(_BUFFER)] = self._waiting.pop()
        if len(self._waiting) > _MOST_JOINED and self._random.random() < self._settings.joined:
            yield "joined", join(self._random.sample(self._waiting, self._random.randint(2, _MOST_JOINED)))


def join(pairs: list[Pair]) -> Pair:
    """Put several pairs into one, with a space between them."""
    return Pair(" ".join(pair.src for pair in pairs), " ".join(pair.tgt for pair in pairs))


def as_typed(pair: Pair, random: Random) -> Pair | None:
    """Return a pair as somebody in a hurry types it; None if its sides do not end in the same kind of mark.

    >>> as_typed(Pair("Good morning.", "Bonjour."), Random(1))
    Pair(src='good morning', tgt='bonjour')
    """
    ends = [match[0].strip() if (match := _END.search(side)) else "" for side in pair]
    if not ends[0] or ends[0] != ends[1]:
        return None
    bare = Pair(*(_END.sub("", side) for side in pair))
    if not (bare.src and bare.tgt):
        return None
    kind = random.random()
    if kind < 0.4:
        return Pair(bare.src.lower(), bare.tgt.lower())
    if kind < 0.7:
        return bare
    if kind < 0.9:
        return Pair(pair.src.lower(), pair.tgt.lower())
    return Pair(pair.src.upper(), pair.tgt.upper())
