"""Write the translation memory of the general model: short set phrases, texts of interfaces, signs and
single words of the topics, without those that a validation or test set or the list of judged sentences holds.

python docs/results/general_memory.py DIR OUTPUT    # DIR as data.root of conf/data/general.yaml
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from translate.common.resources import topics_dir
from translate.data.readers import read_lines
from translate.translator.memory import Memory

FILES = ("set_phrases.tsv", "interfaces.tsv", "signs.tsv", "single_words.tsv")  # the first translation counts
INTO_ENGLISH = "french_expressions.tsv"  # whose English has other French than this
LONGEST = 12  # words of both sides together: longer ones are seldom met as they stand
ABBREVIATION = re.compile(r"\b(?:[A-Z]\.|Mrs?\b|Mme\b)")  # whose full stop is no end
SETS = ("tatoeba/valid", "tatoeba/test", "tests/flores_dev", "tests/newstest2013")
JUDGED = Path(__file__).with_name("general_sentences.csv")


def main(root: Path, output: Path) -> None:
    """Write `memory.tsv.gz` into a folder."""
    tested = set(map(plain, tests(root)))
    pairs: dict[tuple[str, ...], None] = {}
    for name in (*FILES, INTO_ENGLISH):
        for line in list(read_lines(topics_dir() / name))[1:]:
            english, french = line.split("\t")
            sides = {plain(english), plain(french)}
            if sides & tested:
                tested |= sides  # no second choice for the other side, either
            elif len(line.split()) <= LONGEST and min(map(len, sides)) > 2 and not ABBREVIATION.search(line):
                pairs[(english, french, *(["en"] if name == INTO_ENGLISH else []))] = None
    Memory(("en", "fr"), list(pairs)).save(output)
    print(f"{output}: {len(pairs):,} pairs")


def tests(root: Path) -> Iterator[str]:
    """Yield the sentences, of both languages, that a figure is made of."""
    for name in SETS:
        for lang in ("en", "fr"):
            yield from read_lines(root / f"{name}.{lang}.gz")
    with JUDGED.open(encoding="utf-8", newline="") as file:
        yield from (row["source"] for row in csv.DictReader(file))


def plain(text: str) -> str:
    """Return the words of a text in lower case."""
    return re.sub(r"\W+", " ", text).strip().lower()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
