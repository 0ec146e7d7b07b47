"""The translation memory of a model: whole texts whose translation is known, so that no search is needed for them.

A model directory holds it as `memory.tsv.gz`: the two languages in the first line, then a pair in each line, and behind
one that holds into one of the languages alone that language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from translate.common.files import write_tsv_gz
from translate.data.readers import read_lines

FILE = "memory.tsv.gz"
_END = re.compile(r"[\s.,:;!…]*\Z")  # what a text may have at its end, or not, without meaning something else
_CAPITAL = re.compile(  # of an English word or an abbreviation, wherever it stands
    r"(?:I|Mrs?|Ms|God|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August|"
    r"September|October|November|December|English|French)\b|\w+[A-Z]"
)


class Memory:
    """Finds the known translation of a text, whatever the case of its first letter and the full stop at its end.

    Args:
        languages: Codes of the two.
        pairs: (text in the first language, text in the second), perhaps with the only language that it is translated
            into; of several with the same source the first counts.
    """

    def __init__(self, languages: tuple[str, str], pairs: Sequence[tuple[str, ...]]) -> None:
        self.languages, self.pairs = languages, pairs
        first, second = languages
        self._known = {
            second: _by_key([(src, tgt) for src, tgt, *only in pairs if only != [first]]),
            first: _by_key([(tgt, src) for src, tgt, *only in pairs if only != [second]]),
        }

    def find(self, text: str, tgt_lang: str) -> str | None:
        """Return the translation of a clean text, with its own case and final mark; None if it is not known.

        Of pairs that differ in case that with the case of the text counts. Text in lower case without a mark may be a
        question. A lone word with a full stop or an exclamation mark may be a command, so it is known only if its pair
        has one, too.

        >>> memory = Memory(("en", "fr"), [("Sign in", "Se connecter"), ("What's new?", "Quoi de neuf ?")])
        >>> [memory.find(text, "fr") for text in ("sign in!", "What’s new?", "what's new", "Sign in here")]
        ['se connecter !', 'Quoi de neuf ?', 'quoi de neuf', None]
        >>> memory = Memory(("en", "fr"), [("perfect", "nickel", "en")])
        >>> memory.find("nickel", "en"), memory.find("perfect", "fr")
        ('perfect', None)
        >>> pairs = [("run", "courir"), ("Sorry.", "Désolé."), ("Turkey", "Turquie"), ("turkey", "dinde")]
        >>> memory = Memory(("en", "fr"), pairs)
        >>> [memory.find(text, "fr") for text in ("Run", "Run!", "Sorry!", "turkey", "Turkey")]
        ['Courir', None, 'Désolé !', 'dinde', 'Turquie']
        """
        known, (words, mark) = self._known.get(tgt_lang, {}), without_mark(text)
        key = own if (own := _plain(text)) in known else own.casefold()
        if key in known and not (may_be_command(words, mark) and known[key][0][-1].isalnum()):
            return as_in(text, *known[key], tgt_lang)
        if f"{key}?" in known and text.islower() and not mark:
            return _with_first_letter(*known[f"{key}?"], text).rstrip(" ?")
        return None

    def agreeing(self, languages: tuple[str, str], pairs: Iterable[tuple[str, str]]) -> Memory:
        """Return this memory without what text in these two languages translates otherwise, each direction by itself.

        >>> memory = Memory(("en", "fr"), [("Sign in", "Se connecter"), ("Help", "Aide")])
        >>> memory.agreeing(("en", "fr"), [("Sign in", "Connexion"), ("Help", "Au secours"), ("help.", "aide")]).pairs
        [('Sign in', 'Se connecter', 'en'), ('Help', 'Aide')]
        """
        known = [(_key(first), _key(second)) for first, second, *_ in self.pairs]
        others: list[dict[str, set[str]]] = [{pair[side]: set() for pair in known} for side in (0, 1)]
        for texts in pairs:
            own = [_key(text) for text in (texts if languages == self.languages else reversed(texts))]
            for side in (0, 1):
                if own[side] in others[side]:
                    others[side][own[side]].add(own[1 - side])
        kept = []
        for pair, keys in zip(self.pairs, known, strict=True):
            into = [
                self.languages[1 - side]
                for side in (0, 1)
                if keys[1 - side] in (others[side][keys[side]] or keys)
                and pair[2:] in ((), (self.languages[1 - side],))
            ]
            if into:
                kept.append(pair if len(into) == 2 else (*pair[:2], *into))
        return Memory(self.languages, kept)

    def save(self, directory: Path) -> None:
        """Write `memory.tsv.gz` into a directory that is being made; the same pairs give the same bytes."""
        write_tsv_gz(directory / FILE, (self.languages, *self.pairs))

    @classmethod
    def load(cls, directory: Path) -> Memory | None:
        """Read `memory.tsv.gz` of a directory; None if it has none.

        Raises:
            ValueError: If the file is damaged; the message names it.
        """
        path = directory / FILE
        if not path.is_file():
            return None
        rows = [tuple(line.split("\t")) for line in read_lines(path)] or [("",)]
        for number, row in enumerate(rows, 1):
            one_way = number > 1 and len(row) == 3 and row[2] in rows[0]
            if not all(row) or (len(row) != 2 and not one_way):
                raise ValueError(
                    f"{path}, line {number}: must be two languages, then pairs, with one tab between them, and perhaps "
                    "one of the languages behind"
                )
        return cls((rows[0][0], rows[0][1]), rows[1:])


def without_mark(text: str) -> tuple[str, str]:
    """Return the words of a text, and the mark at its end, without a space."""
    words = _END.sub("", text)
    return words, text[len(words) :].strip()


def may_be_command(words: str, mark: str) -> bool:
    """Return whether the words of a text are a lone one with a mark of a sentence: "Run!"."""
    return " " not in words and mark.startswith((".", "!"))


def as_in(text: str, source: str, target: str, tgt_lang: str) -> str:
    """Return the translation of a source, written as a text that differs from that in its case and its final mark."""
    return _with_first_letter(source, target, text) + _mark(without_mark(text)[1], tgt_lang)


def _by_key(pairs: Sequence[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    keyed = [(_plain(src), (src, _END.sub("", tgt))) for src, tgt in reversed(pairs)]
    return {src.casefold(): pair for src, pair in keyed} | dict(keyed)


def _key(text: str) -> str:
    """Return what a text has in common with others of one translation."""
    return _plain(text).casefold()


def _plain(text: str) -> str:
    """Return what texts with one translation have in common, but for their case."""
    text = _END.sub("", text).replace("’", "'").replace("\u00a0", " ").replace("\u202f", " ")
    return text.replace(" ?", "?")


def _with_first_letter(source: str, target: str, text: str) -> str:
    """Return a target whose first letter has another case than in its pair, if that of the text has."""
    if text[:1].islower() and source[:1].isupper() and not _CAPITAL.match(target):
        return target[:1].lower() + target[1:]
    return target[:1].upper() + target[1:] if text[:1].isupper() and source[:1].islower() else target


def _mark(mark: str, tgt_lang: str) -> str:
    """Return the final mark of a text as its translation has it."""
    return f" {mark}" if tgt_lang == "fr" and mark[:1] in ("!", ":", ";") else mark
