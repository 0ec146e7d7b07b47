"""Recognize which of two languages a text is in, by its n-grams of characters; imports neither torch nor numpy.

A model directory that translates both ways holds what it takes in `languages.tsv`: the two languages in the first line,
then n-grams, each with the natural log of how much more frequent it is in the first language.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from translate.common.errors import damage_named

FILE = "languages.tsv"
LONGEST = 4  # characters of an n-gram, the spaces around words counted
_SIZE = 6_000  # n-grams kept
_TEXTS = 50_000  # of each language, from which they are learnt
_SURE = 2.0  # nats; a text whose languages are nearer to each other goes with the texts beside it
_CLEAR = 20.0  # nats, which 997 of 1,000 sentences of Tatoeba reach
_MANY = 20  # clear texts of one language, beside which those of the other are clear, too
_WORD = re.compile(r"[^\W\d_]+['’]?")


@dataclass(frozen=True)
class Recognizer:
    """Tells two languages apart: naive Bayes over n-grams of characters.

    Args:
        languages: Codes of the two.
        weights: Log of the ratio of frequencies, first language to second, for each n-gram.

    Source: n-grams of characters for languages: Cavnar and Trenkle 1994, "N-Gram-Based Text Categorization".
    """

    languages: tuple[str, str]
    weights: Mapping[str, float]

    @classmethod
    def learn(
        cls, languages: tuple[str, str], first: Iterable[str], second: Iterable[str], before: Recognizer | None = None
    ) -> Recognizer:
        """Learn from texts of each language; n-grams that tell most are kept, the rarest left out.

        What `before`, of the same languages, has of other n-grams stays.
        """
        counts = [Counter(gram for text in islice(texts, _TEXTS) for gram in ngrams(text)) for texts in (first, second)]
        totals = [max(1, one.total()) for one in counts]
        weights = {
            gram: math.log((counts[0][gram] + 0.5) / totals[0]) - math.log((counts[1][gram] + 0.5) / totals[1])
            for gram in counts[0].keys() | counts[1].keys()
        }
        telling = {gram: abs(weight) * (counts[0][gram] + counts[1][gram]) for gram, weight in weights.items()}
        kept = sorted(telling, key=lambda gram: (-telling[gram], gram))[:_SIZE]
        known = before.weights_for(languages) if before else {}
        return cls(languages, {**known, **{gram: round(weights[gram], 2) for gram in sorted(kept)}})

    def weights_for(self, languages: tuple[str, str]) -> Mapping[str, float]:
        """Return the weights with the languages in this order, which may be the other one."""
        return self.weights if languages == self.languages else {gram: -one for gram, one in self.weights.items()}

    def recognize(self, texts: Iterable[str]) -> list[str]:
        """Return the language of each text; one that is too short to tell is in the language of all of them together.

        Where all of them together do not tell either, it is the first language. Beside many clear texts of one language
        and none of the other, a text must be clear to be of the other.
        """
        evidence = [self.evidence(text) for text in texts]
        together = sum(evidence)
        clear = [one > 0 for one in evidence if abs(one) >= _CLEAR]
        enough = _CLEAR if len(clear) >= _MANY and len(set(clear)) == 1 else _SURE
        sure = [one if abs(one) >= enough else together or one for one in evidence]
        return [self.languages[0 if one >= 0 else 1] for one in sure]

    def clearly(self, text: str) -> str | None:
        """Return the language of a text by itself, wrong once in 8,000 sentences; None where it is not clear."""
        found = self.evidence(text)
        return self.languages[0 if found > 0 else 1] if abs(found) >= _CLEAR else None

    def evidence(self, text: str) -> float:
        """Return how much speaks for the first language, in nats; below 0 for the second."""
        return sum(self.weights.get(gram, 0.0) for gram in ngrams(text))

    def save(self, directory: Path) -> None:
        """Write `languages.tsv` into a directory that is being made."""
        lines = ["\t".join(self.languages), *(f"{gram}\t{weight:.2f}" for gram, weight in self.weights.items())]
        (directory / FILE).write_text("".join(line + "\n" for line in lines), encoding="utf-8")

    @classmethod
    def load(cls, directory: Path) -> Recognizer | None:
        """Read `languages.tsv` of a directory; None if it has none.

        Raises:
            ValueError: If the file is damaged.
        """
        path = directory / FILE
        if not path.is_file():
            return None
        with damage_named(path):
            head, *lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
            first, second = head.split("\t")
            rows = (line.split("\t") for line in lines)
            return cls((first, second), {gram: float(weight) for gram, weight in rows})


def ngrams(text: str) -> Iterator[str]:
    """Yield the n-grams of a text's words, with "_" for the spaces around a word.

    >>> list(ngrams("Où"))
    ['_', 'o', 'ù', '_', '_o', 'où', 'ù_', '_où', 'où_', '_où_']
    """
    for word in _WORD.findall(text.lower().replace("’", "'")):
        padded = f"_{word}_"
        for size in range(1, LONGEST + 1):
            for start in range(len(padded) - size + 1):
                yield padded[start : start + size]
