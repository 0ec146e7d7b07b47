"""Cut a text that is too long for the model at the ends of sentences, clauses or words."""

import re
from collections.abc import Callable

_CUTS = tuple(re.compile(pattern) for pattern in (r"(?<=[.!?…])[\"'»”’)]*\s+", r"(?<=[;:,–—])\s+", r"\s+"))


def split_text(text: str, fits: Callable[[str], bool]) -> list[str]:
    """Cut `text` into pieces that fit; joined by spaces they give the text again, unless a word had to be cut.

    A text that does not fit is halved, and each half is treated alike: at the end of a sentence, else of a clause,
    else of a word, whichever lies nearest the middle within the middle half of the text; else in the middle.

    Args:
        text: Any text.
        fits: Whether a piece is short enough; a single character always passes.

    >>> split_text("One two. Three four. Five.", lambda piece: len(piece) <= 12)
    ['One two.', 'Three four.', 'Five.']
    """
    if len(text) < 2 or fits(text):
        return [text]
    cut = _cut(text)
    halves = (text[:cut].strip(), text[cut:].strip())
    return [piece for half in halves if half for piece in split_text(half, fits)]


def _cut(text: str) -> int:
    middle = len(text) // 2
    for pattern in _CUTS:
        ends = [match.end() for match in pattern.finditer(text, len(text) // 4, len(text) - len(text) // 4)]
        if ends:
            return min(ends, key=lambda end: abs(end - middle))
    return middle
