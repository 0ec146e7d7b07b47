"""Write a set of sentences in other forms: as people type, in paragraphs of five, as printed, with other names.

python docs/results/general_sets.py DIR/tatoeba/valid OUTPUT
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from random import Random

from translate.data.augment import join
from translate.data.sources import Pair
from translate.data.variants import lower, renamed, typeset
from translate.evaluate.inputs import read_pairs


def forms(pairs: list[Pair]) -> dict[str, Iterable[Pair | None]]:
    """Return each form of the pairs; None stands where a pair has no such form."""
    random = Random(1)
    return {
        "typed": map(lower, pairs),
        "paragraphs": paragraphs(pairs, 5),
        "typeset": (typeset(pair, ("en", "fr")) for pair in pairs),
        "renamed": (renamed(pair, random) for pair in pairs),
        "plain": (pair for pair in pairs if typeset(pair, ("en", "fr"))),  # the pairs of typeset as they stand
        "named": (pair for pair in pairs if renamed(pair, random)),  # those of renamed
    }


def paragraphs(pairs: list[Pair], length: int) -> list[Pair]:
    """Return pairs of so many sentences each."""
    return [join(pairs[start : start + length]) for start in range(0, len(pairs), length)]


def main() -> None:
    """Read both sides of a set and write each of its forms."""
    path, output = sys.argv[1], Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    for name, made in forms(read_pairs(f"{path}.en.gz", f"{path}.fr.gz")).items():
        pairs = [pair for pair in made if pair]
        for lang, texts in zip(("en", "fr"), zip(*pairs, strict=True), strict=True):
            output.joinpath(f"{name}.{lang}").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        print(f"{name}: {len(pairs)} pairs")


if __name__ == "__main__":
    main()
