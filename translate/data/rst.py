"""The words that a reader sees of reStructuredText, whose markup a model would only break."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from translate.data.sources import Pair, Source

_ROLE = re.compile(r":[\w:+.-]+:`([^`]*)`")
_LINK = re.compile(r"`([^`]*)`_{0,2}")
_TARGET = re.compile(r"\s*<[^<>]*>$")
_LITERAL = re.compile(r"``([^`]*)``")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,2})(?=\S)([^*]*[^*\s])\1(?![\w*])")
_SUBSTITUTION = re.compile(r"\|([^|\s]+)\|_{0,2}")
_CODE = re.compile(r"[`|{}<>=\\_]|::|https?:|\w\(|\.\w+\.")
_PROSE = 0.9  # share of letters, spaces and marks of prose, below which a text is code
_MARKS = set("'’,.;:!?()«»“”\"-…")


@dataclass(frozen=True)
class PlainSource:
    """A source of reStructuredText, as plain text; a pair with code becomes two empty sides, which cleaning drops.

    Attributes:
        source: Pairs with markup.
    """

    source: Source

    def pairs(self) -> Iterator[Pair]:
        """Stream the pairs."""
        for pair in self.source.pairs():
            plain = Pair(*map(plain_text, pair))
            yield Pair("", "") if any(map(is_code, plain)) else plain

    def identity(self) -> str:
        """Return a text that changes when the pairs change."""
        return f"plain text of {self.source.identity()}"


def plain_text(text: str) -> str:
    """Return a text without the markup of reStructuredText: roles, links and literals become their words.

    >>> plain_text("See :mod:`the module <os.path>` and *all* of ``open``; `a link <https://x.org>`_.")
    'See the module and all of open; a link.'
    >>> plain_text(":meth:`~Client.get` of :class:`!Client`")
    'Client.get of Client'
    """
    text = _ROLE.sub(lambda found: _TARGET.sub("", found[1]).lstrip("~!"), text)
    text = _LITERAL.sub(r"\1", text)
    text = _LINK.sub(lambda found: _TARGET.sub("", found[1]), text)
    text = _SUBSTITUTION.sub(r"\1", _EMPHASIS.sub(r"\2", text))
    return " ".join(text.split(" ")).strip()


def is_code(text: str) -> bool:
    """Return whether a plain text is code rather than language: it has marks of code, or few letters."""
    prose = sum(character.isalpha() or character.isspace() or character in _MARKS for character in text)
    return bool(_CODE.search(text)) or prose < _PROSE * len(text)
