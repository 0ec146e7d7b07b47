"""The glossary of a model: terms and their translations, which it reads beside them in a source.

A file of it has the two languages in the first line, then a term in each line, with tabs between: "=" or, if it holds
from the first language to the second alone, ">", or "<" the other way; the term in the first language; and in the
second. Regular plurals may stand in brackets, as in "payslip(s)" and "fiche(s) de paie"; such a line means both.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from translate.common.files import write_tsv_gz
from translate.common.resources import glossary_dir
from translate.data.readers import read_lines

FILE = "glossary.tsv.gz"
BEGIN, END = "\x02", "\x03"  # around a translation, each one piece of a tokenizer, a byte; no clean text has them
_DIRECTIONS = {"=": (0, 1), ">": (0,), "<": (1,)}  # the columns that are sources
_PLURAL = re.compile(r"\(([a-z]+)\)")
_WORD = re.compile(r"\w+(?:-\w+)*")
_BEFORE_WORDS = " \u00a0\u202f\"'’“‘«([*-–—•"  # at the beginning of a sentence
_ENDS = ("", ".", "!", "?", ":", ";", "…", "»", "”")  # before it
_LONGEST = 7  # words of a term
_STEM = 4  # letters of a word that may be inflected
_ENDING = 2  # letters by which it may change
_ALONE = 0.2  # share of the terms of training that give way to their translations, as acronyms always do


class Entry(NamedTuple):
    """A line of a glossary: "=", ">" or "<", and the term in its two languages."""

    direction: str
    first: str
    second: str


class Glossary:
    """Finds the terms of a text, the longest where several begin, and writes their translations beside them.

    A term with capitals ("Polish") is found as it is written, one without in any case but that of names: a single word
    with a capital within a sentence may be one ("Mr Baker").

    Args:
        languages: Codes of the two.
        entries: Its lines; of several with the same source the first counts.
    """

    def __init__(self, languages: tuple[str, str], entries: Sequence[Entry]) -> None:
        self.languages, self.entries = languages, entries
        self._terms = cache(self._terms_into)  # not before they are needed: there are many

    @property
    def fingerprint(self) -> str:
        """Hash of languages and entries; equal fingerprints annotate equally."""
        return hashlib.blake2b(repr((self.languages, self.entries)).encode(), digest_size=16).hexdigest()

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Stream what is translated in both directions, each form by itself."""
        for direction, first, second in self.entries:
            if direction == "=":
                yield from zip(_forms(first), _forms(second), strict=True)

    def annotate(self, text: str, tgt_lang: str) -> str:
        """Return a clean text with the translation of each term behind it, before that BEGIN and behind it END.

        What has an acronym for its translation gives way to that.

        >>> glossary = Glossary(("en", "fr"), [Entry("=", "payslip(s)", "fiche(s) de paie"), Entry("=", "GDP", "PIB")])
        >>> glossary.annotate("Two payslips, please, and the GDP.", "fr")
        'Two payslips\\x02 fiches de paie\\x03, please, and the\\x02 PIB\\x03.'
        """
        terms = self._terms(tgt_lang)
        uses = [
            (start if translation.isupper() and text[start:end] in terms else end, end, translation)
            for start, end, translation in self._find(text, tgt_lang)
        ]
        return _annotated(text, uses)

    def find(self, text: str, tgt_lang: str) -> str | None:
        """Return the translation of a term that is all of a clean text, as it stands in the glossary; None if none is.

        >>> Glossary(("en", "fr"), [Entry("=", "payslip(s)", "fiche(s) de paie")]).find("Payslips", "fr")
        'fiches de paie'
        """
        terms = self._terms(tgt_lang)
        return terms.get(_plain(text)) or terms.get(_plain(text).lower())

    def annotate_used(self, text: str, tgt_lang: str, target: str, random: Random) -> str:
        """Return a clean source of training, annotated with translations that its target has, perhaps inflected.

        A fifth of these terms, drawn at random, give way to their translations, so that a model learns to copy them.

        >>> glossary = Glossary(("en", "fr"), [Entry("=", "payslip(s)", "fiche(s) de paie"), Entry(">", "cap", "képi")])
        >>> glossary.annotate_used("A cap and payslips", "fr", "Un chapeau et ma fiche de paie", Random(1))
        'A cap and\\x02 fiches de paie\\x03'
        """
        words = _words(target)
        used = [use for use in self._find(text, tgt_lang) if _has(words, _words(use[2]))]
        starts = [start if random.random() < _ALONE else end for start, end, _ in used]
        return _annotated(text, [(start, *use[1:]) for start, use in zip(starts, used, strict=True)])

    def _find(self, text: str, tgt_lang: str) -> Iterator[tuple[int, int, str]]:
        """Yield where each term of a text begins and ends, and its translation."""
        terms, words = self._terms(tgt_lang), list(_WORD.finditer(text))
        first = 0
        while first < len(words):
            for last in range(min(first + _LONGEST, len(words)) - 1, first - 1, -1):
                start, end = words[first].start(), words[last].end()
                term = _plain(text[start:end])
                translation = terms.get(term)
                if translation is None and not (first == last and _may_be_name(text, start, end)):
                    translation = terms.get(term.lower())
                if translation is not None:
                    yield start, end, translation
                    first = last
                    break
            first += 1

    def _terms_into(self, tgt_lang: str) -> dict[str, str]:
        """Return the translations of terms into a language, none into others."""
        if tgt_lang not in self.languages:
            return {}
        column = 1 - self.languages.index(tgt_lang)
        terms: dict[str, str] = {}
        for direction, *sides in self.entries:
            if column in _DIRECTIONS[direction]:
                for src, tgt in zip(_forms(sides[column]), _forms(sides[1 - column]), strict=True):
                    terms.setdefault(_plain(src), tgt)
        return terms

    def save(self, directory: Path) -> None:
        """Write `glossary.tsv.gz` into a directory that is being made; the same entries give the same bytes."""
        write_tsv_gz(directory / FILE, (self.languages, *self.entries))

    @classmethod
    def load(cls, directory: Path) -> Glossary | None:
        """Read `glossary.tsv.gz` of a directory; None if it has none.

        Raises:
            ValueError: As `read`.
        """
        path = directory / FILE
        return cls.read(path) if path.is_file() else None

    @classmethod
    def read(cls, path: Path) -> Glossary:
        """Read a file.

        Raises:
            ValueError: If there is none, or a line is no entry; the message names file and line.
        """
        rows = [tuple(line.split("\t")) for line in read_lines(path)]
        if not rows or len(rows[0]) != 2:
            raise ValueError(f"{path}, line 1: must be the two languages, with a tab between them")
        for number, row in enumerate(rows[1:], 2):
            if len(row) != 3 or row[0] not in _DIRECTIONS or not all(row):
                raise ValueError(
                    f"{path}, line {number}: must be = or > or <, a term and its translation, tabs between"
                )
            if ("(" in row[1]) != ("(" in row[2]):
                raise ValueError(f"{path}, line {number}: the plural must be in brackets on both sides or on neither")
        return cls(rows[0], [Entry(*row) for row in rows[1:]])

    @classmethod
    def open(cls, path: str | None, languages: tuple[str, str]) -> Glossary:
        """Read that of a corpus, None for the embedded one; `data.glossary`.

        Raises:
            ValueError: As `read`, and if it is of other languages.
        """
        file = glossary_dir() / "terms.tsv" if path is None else Path(path)
        glossary = cls.read(file)
        if {*glossary.languages} != {*languages}:
            raise ValueError(
                f"data.glossary ({file}) is of {' and '.join(glossary.languages)}, the corpus of "
                f"{' and '.join(languages)}"
            )
        return glossary


def _annotated(text: str, uses: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with translations in place of its parts between a start and an end each."""
    parts, done = [], 0
    for start, end, translation in uses:
        parts += [text[done:start].rstrip(), BEGIN, " ", translation, END]
        done = end
    return "".join([*parts, text[done:]])


def _forms(term: str) -> list[str]:
    """Return the singular and the plural of a term, if that is in brackets, else the term."""
    return [_PLURAL.sub("", term), _PLURAL.sub(r"\1", term)] if "(" in term else [term]


def _plain(text: str) -> str:
    return text.replace("’", "'")


def _may_be_name(text: str, start: int, end: int) -> bool:
    """Return whether a word has a capital that is none of a beginning, nor of a text in capitals."""
    before = text[:start].rstrip(_BEFORE_WORDS)
    return text[start].isupper() and not text[start:end].isupper() and before[-1:] not in _ENDS


def _words(text: str) -> list[str]:
    return [_plain(word[0]).casefold() for word in _WORD.finditer(text)]


def _has(words: Sequence[str], term: Sequence[str]) -> bool:
    """Return whether words follow each other among others, perhaps with other endings."""
    starts = range(len(words) - len(term) + 1)
    return any(all(map(_alike, term, words[start : start + len(term)])) for start in starts)


def _alike(word: str, other: str) -> bool:
    """Return whether two words differ in their endings at most."""
    if len(word) < _STEM or abs(len(word) - len(other)) > _ENDING:
        return word == other
    stem = max(_STEM, len(word) - _ENDING)
    return word[:stem] == other[:stem]
