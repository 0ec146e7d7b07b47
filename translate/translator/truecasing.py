"""Words that have a capital wherever they stand, such as Tom and London. Who types "where is tom" leaves them out.

A model directory holds them in `capitals.tsv`: a language and a word in each line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from translate.common.errors import damage_named
from translate.translator.guards.addresses import ADDRESS

FILE = "capitals.tsv"
_TEXTS = 1_000_000  # of each language, from which they are learnt
_LEAST = 3  # times that a word stands with its capitals within a sentence
_OTHERWISE = 1  # times that it may stand there without; "il se marie" is no Marie
_SHORTEST = 3  # letters of a word, but for "I"; "100 ms" is no Ms
_TITLE = 0.6  # of the words of a text; with more capitals it is a title, which tells as little as one in lower case
_WORD = re.compile(r"[^\W\d_]+")
_START = re.compile(r"[.?!…:«\"“(\[–—-]\s*\Z")  # before the first word of a sentence
_BEFORE = 4  # characters before a word that tell
_TYPED = re.compile(  # a word that is no part of code; or a whole address, to be left alone
    rf"{ADDRESS.pattern}|(?<![\w.@/#{{<%$&=+-])[^\W\d_]+(?![\w@/}}>=+]|\.\w)"
)


@dataclass(frozen=True)
class Truecaser:
    """Gives a text in lower case its capitals within sentences.

    Args:
        words: As they are written, by what they are in lower case, of each language.

    Source: Lita et al. 2003, "tRuEcasIng"; Koehn et al. 2007, "Moses", whose truecaser counts in the same way.
    """

    words: Mapping[str, Mapping[str, str]]

    @classmethod
    def learn(cls, texts: Mapping[str, Iterable[str]], before: Truecaser | None = None) -> Truecaser:
        """Learn from ordinary texts of each language, by its code.

        Words that `before` knows stay, unless these texts have them in lower case.
        """
        known = before.words if before else {}
        return cls(
            {lang: dict(_always_capital(islice(own, _TEXTS), known.get(lang, {}))) for lang, own in texts.items()}
        )

    def restore(self, text: str, lang: str) -> str:
        """Return a text with its capitals within sentences, if it has none at all.

        >>> Truecaser({"en": {"tom": "Tom"}}).restore("where is tom's dog", "en")
        "where is Tom's dog"
        """
        words = self.words.get(lang)
        if not words or not text.islower():
            return text
        return _TYPED.sub(lambda match: words.get(match[0], match[0]), text)

    def save(self, directory: Path) -> None:
        """Write `capitals.tsv` into a directory that is being made."""
        lines = (f"{lang}\t{word}\n" for lang, words in self.words.items() for word in words.values())
        (directory / FILE).write_text("".join(lines), encoding="utf-8")

    @classmethod
    def load(cls, directory: Path) -> Truecaser | None:
        """Read `capitals.tsv` of a directory; None if it has none.

        Raises:
            ValueError: If the file is damaged.
        """
        path = directory / FILE
        if not path.is_file():
            return None
        words: dict[str, dict[str, str]] = {}
        with damage_named(path):
            for line in path.read_text(encoding="utf-8").splitlines():
                lang, word = line.split("\t")
                words.setdefault(lang, {})[word.lower()] = word
        return cls(words)


def _always_capital(texts: Iterable[str], known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the words that are hardly ever in lower case within sentences, each after its lower case, in order."""
    capital, small = Counter[str](), Counter[str]()
    for text in texts:
        matches = list(_WORD.finditer(text))
        if text.islower() or sum(match[0][0].isupper() for match in matches) > _TITLE * len(matches):
            continue
        for match in matches:
            start = match.start()
            if match[0].islower():
                small[match[0]] += 1
            elif start and match[0][0].isupper() and not _START.search(text, max(0, start - _BEFORE), start):
                capital[match[0]] += 1
    forms: dict[str, str] = {}
    for word, count in capital.items():
        key = word.lower()
        if capital[forms.get(key, "")] < count:
            forms[key] = word
    learnt = {key: form for key, form in forms.items() if _is_usable(form) and capital[form] >= _LEAST}
    for key, form in sorted({**known, **learnt}.items()):
        if small[key] <= _OTHERWISE:
            yield key, form


def _is_usable(word: str) -> bool:
    """Return whether a word is neither short nor an acronym, which guards look for as it stands in a text."""
    return word == "I" or (len(word) >= _SHORTEST and not word.isupper())
