"""Terms whose translation the user has chosen: a file of them, and where a text uses them."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from translate.data.cleaning import clean_text

_WORD = re.compile(r"\w+|[^\w\s]")


class Use(NamedTuple):
    """A term in a text.

    Attributes:
        start: Of its first character.
        end: After its last one.
        target: Its translation, as the user wrote it.
    """

    start: int
    end: int
    target: str


class Terminology:
    """Finds terms as whole words, the longest where several begin.

    A term without capitals is found in any case ("hard hat" in "Hard Hat"); one with capitals only as it is written
    ("IT", not "it"). Its translation is never changed.

    Args:
        terms: Source to target. Sources are compared as the model reads them (`clean_text`).

    Raises:
        ValueError: If a side is empty or a target cannot stand on one line.
    """

    def __init__(self, terms: Mapping[str, str]) -> None:
        self._by_word: dict[str, list[tuple[str, str]]] = {}
        for src, tgt in terms.items():
            _check(src, tgt)
            term = clean_text(src)
            self._by_word.setdefault(_first_word(term), []).append((term, tgt))
        for found in self._by_word.values():
            found.sort(key=lambda term: (-len(term[0]), term[0].islower()))  # as it is written, before in any case

    def __bool__(self) -> bool:
        """Whether there is any term."""
        return bool(self._by_word)

    def find(self, text: str) -> Iterator[Use]:
        """Find the terms in a clean text, in order; they do not overlap.

        >>> list(Terminology({"hat": "chapeau", "hard hat": "casque"}).find("Hard hat, hats, hat"))
        [Use(start=0, end=8, target='casque'), Use(start=16, end=19, target='chapeau')]
        """
        end = 0
        for word in _WORD.finditer(text) if self._by_word else ():
            start = word.start()
            if start < end:
                continue
            for term, target in self._by_word.get(word[0].lower(), ()):
                if _is_at(term, text, start):
                    end = start + len(term)
                    yield Use(start, end, target)
                    break


def read_terms(path: Path | str) -> dict[str, str]:
    """Read the terms of a UTF-8 file: source, tab, target on each line; empty lines are skipped.

    Raises:
        ValueError: If there is no such file, or at the first line that is no term or gives a term another target; the
            message names file and line.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"terms ({path}) cannot be read: {error.strerror}") from error
    terms: dict[str, str] = {}
    for number, line in enumerate(data.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        try:
            text = line.decode().removesuffix("\r")
            if text.strip():
                src, tgt = _sides(text)
                if terms.setdefault(src, tgt) != tgt:
                    raise ValueError(f"{src!r} is {terms[src]!r} further up and {tgt!r} here; keep one of them")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}, line {number}: invalid UTF-8; convert the file to UTF-8") from error
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from error
    return terms


def _sides(line: str) -> tuple[str, str]:
    """Split a line into source and target."""
    src, *rest = (side.strip(" ") for side in line.split("\t"))
    if len(rest) != 1:
        raise ValueError(f"{len(rest)} tabs; a term is source, one tab, target")
    _check(src, rest[0])
    return clean_text(src), rest[0]


def _check(src: str, tgt: str) -> None:
    """Raise ValueError unless both sides of a term can be used."""
    for name, side in (("source", src), ("target", tgt)):
        if not clean_text(side):
            raise ValueError(f"the {name} of the term {src!r} – {tgt!r} is empty")
    if not _WORD.search(clean_text(src)):
        raise ValueError(f"the term {src!r} has no word in it")
    if "\t" in tgt or len(tgt.splitlines()) > 1 or re.search("[\ud800-\udfff]", tgt):
        raise ValueError(f"the target of the term {src!r}, {tgt!r}, does not fit on one line: no tabs and line breaks")


def _first_word(term: str) -> str:
    return _WORD.findall(term)[0].lower()  # type: ignore[no-any-return]


def _is_at(term: str, text: str, start: int) -> bool:
    """Return whether the whole word or words at `start` are this term."""
    end = start + len(term)
    found = text[start:end]
    if found != term and (term != term.lower() or found.lower() != term):
        return False
    return re.fullmatch(r"\w\w", text[end - 1 : end + 1]) is None  # a word may go on behind the term
