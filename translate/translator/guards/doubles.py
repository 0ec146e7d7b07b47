"""Words that a translation says twice in a row, as small models do where they are not sure: "a sawmill sawmill"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from translate.translator.guards.forms import Kept, nothing
from translate.translator.translation import Translation

_WORD = r"\w[\w'’-]*"
_TWICE = re.compile(rf"(?<![\w'’-])({_WORD}(?: {_WORD}){{0,3}}) \1(?![\w'’-])", re.IGNORECASE)
_IN_SOURCE = re.compile(rf"(?<![\w'’-])({_WORD}(?: {_WORD}){{0,3}}),? \1(?![\w'’-])", re.IGNORECASE)
_LONG_WORD = re.compile(r"[^\W\d_]{4}")
_RIGHT = re.compile(  # nous nous levons, une rose rose, that that is, little by little by, de plus en plus en
    "(?:elles?|faire|had|have|know|nous|oranges?|roses?|that|vous|will|will be)"
    r"|\S+ (?:à|after|and|après|by|de|en|for|in|on|par|pour|sur|to)",
    re.IGNORECASE,
)


def say_once(texts: Sequence[str], found: Sequence[Translation], kept: Kept = nothing) -> list[Translation]:
    """Return translations without words that are said twice in a row, up to four; not where a source does so, too.

    Args:
        texts: Clean sources.
        found: Their translations.
        kept: Where a text holds what comes through anyway, or as a term; such a text is left as it is.
    """
    return [
        one
        if not one.hypotheses or _IN_SOURCE.search(text) or kept(text)
        else one.with_texts([without_doubles(other.text) for other in one.hypotheses])
        for text, one in zip(texts, found, strict=True)
    ]


def without_doubles(text: str) -> str:
    """Return a text with what it says twice in a row said once.

    >>> without_doubles("In a word in a word, a sawmill sawmill burns, and vous vous levez, bye bye.")
    'In a word, a sawmill burns, and vous vous levez, bye bye.'
    """
    return _TWICE.sub(lambda match: match[1] if _is_double(match[1]) else match[0], text)


def _is_double(words: str) -> bool:
    return _LONG_WORD.search(words) is not None and not _RIGHT.fullmatch(words)
