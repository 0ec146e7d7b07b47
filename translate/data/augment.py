"""Training pairs that are added to those of a part of a mixture: several in one, and the same in other forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from translate.config.data import DataConfig
from translate.data.sources import Pair
from translate.data.variants import renamed, typed, typeset

ADDED = {
    "joined": "several pairs in one",
    "typed": "as people type",
    "typeset": "with the marks of print",
    "renamed": "other names and numbers",
}
RECIPE = 3  # another number makes pairs anew that were added by earlier versions and cached
_BUFFER = 1_000  # pairs that wait to be joined, so that neighbours in a file do not meet
_MOST_JOINED = 5


@dataclass(frozen=True)
class Augmentation:
    """How many pairs of each kind are added for each pair, 0 to 1; see `PartConfig`."""

    joined: float = 0.0
    typed: float = 0.0
    typeset: float = 0.0
    renamed: float = 0.0
    langs: tuple[str, str] = ("en", "fr")


def augmentations(config: DataConfig) -> dict[str, Augmentation]:
    """Return what is added to each part of a mixture that asks for it."""
    shares = {name: {kind: getattr(part, kind) for kind in ADDED} for name, part in config.parts.items()}
    langs = (config.src_lang, config.tgt_lang)
    return {name: Augmentation(**kinds, langs=langs) for name, kinds in shares.items() if any(kinds.values())}


class Augmenter:
    """Make further pairs of clean training pairs, the same ones in every run.

    Args:
        settings: How many.
        name: Of the part, which decides the random numbers.
    """

    def __init__(self, settings: Augmentation, name: str) -> None:
        self._random = {kind: Random(f"{kind} pairs of {name}") for kind in ADDED}
        self._waiting: list[Pair] = []
        self._share_renamed = settings.renamed
        kinds: dict[str, tuple[float, Callable[[Pair], list[Pair]]]] = {
            "typed": (settings.typed, self._typed),
            "typeset": (settings.typeset, lambda pair: _if_any(typeset(pair, settings.langs))),
            "renamed": (settings.renamed, lambda pair: _if_any(renamed(pair, self._random["renamed"]))),
            "joined": (settings.joined, self._joined),
        }
        self._kinds = {kind: (share, make) for kind, (share, make) in kinds.items() if share}

    def more(self, pair: Pair) -> Iterator[tuple[str, Pair]]:
        """Yield the pairs that are added after this one, each with the name of its kind."""
        if "joined" in self._kinds:
            self._wait(pair)
        for kind, (share, make) in self._kinds.items():
            if self._random[kind].random() < share:
                yield from ((kind, added) for added in make(pair))

    def _wait(self, pair: Pair) -> None:
        self._waiting.append(pair)
        if len(self._waiting) > _BUFFER:
            self._waiting[self._random["joined"].randrange(_BUFFER)] = self._waiting.pop()

    def _typed(self, pair: Pair) -> list[Pair]:
        """Type a pair, the share `renamed` of them with other names: people type names in lower case too."""
        random = self._random["typed"]
        other = renamed(pair, random) if random.random() < self._share_renamed else None
        return typed(other or pair, random)

    def _joined(self, _: Pair) -> list[Pair]:
        random = self._random["joined"]
        if len(self._waiting) <= _MOST_JOINED:
            return []
        return [join(random.sample(self._waiting, random.randint(2, _MOST_JOINED)))]


def _if_any(pair: Pair | None) -> list[Pair]:
    return [pair] if pair else []


def join(pairs: list[Pair]) -> Pair:
    """Put several pairs into one, with a space between them."""
    return Pair(" ".join(pair.src for pair in pairs), " ".join(pair.tgt for pair in pairs))
