"""Cut a text that is too long for the model at the ends of sentences, clauses or words."""

import re
from collections.abc import Callable
from itertools import accumulate

_CUTS = tuple(re.compile(pattern) for pattern in (r"(?<=[.!?…])[\"'»”’)]*\s+", r"(?<=[;:,–—])\s+", r"\s+"))


def split_text(text: str, fits: Callable[[str], bool]) -> list[str]:
    """Cut `text` into segments that fit; joined by spaces they give the text again, unless a word had to be cut.

    A text that does not fit is halved, and each half is treated alike: at the end of a sentence, else of a clause,
    else of a word, whichever lies nearest the middle within the middle half of the text; else in the middle.

    Args:
        text: Any text.
        fits: Whether a segment is short enough; a single character always passes.

    >>> split_text("One two. Three four. Five.", lambda segment: len(segment) <= 12)
    ['One two.', 'Three four.', 'Five.']
    """
    if len(text) < 2 or fits(text):
        return [text]
    cut = _cut(text)
    halves = (text[:cut].strip(), text[cut:].strip())
    return [segment for half in halves if half for segment in split_text(half, fits)]


def _cut(text: str) -> int:
    middle = len(text) // 2
    for pattern in _CUTS:
        ends = [match.end() for match in pattern.finditer(text, len(text) // 4, len(text) - len(text) // 4)]
        if ends:
            return min(ends, key=lambda end: abs(end - middle))
    return middle


def split_paragraph(text: str, fits: Callable[[str], bool]) -> list[str]:
    """Cut a text of several sentences where they end, into halves until each fits or is one sentence.

    >>> split_paragraph("Mr. Smith left. Why? He was tired.", lambda segment: len(segment) <= 20)
    ['Mr. Smith left.', 'Why? He was tired.']
    """
    if fits(text):
        return [text]
    sentences = split_sentences(text)
    ends = list(accumulate(len(sentence) + len(space) for sentence, space in sentences))
    if len(ends) == 1:
        return [text]
    cut = min(ends[:-1], key=lambda end: abs(end - len(text) / 2))
    return [segment for half in (text[:cut].strip(), text[cut:]) for segment in split_paragraph(half, fits)]


# Each repetition begins once and never gives back, so that no line takes long.
_ENDS = re.compile(r"(?<![.!?…])[.!?…]++(?:[\"'»”’)\]]|\s?»)*+(\s++)(?=[\"'«“‘(\[¿¡-]*\s?[^\W_a-zà-öø-ÿ])")
_LONGEST = 12  # characters, more than any abbreviation has
_ABBREVIATION = re.compile(
    r"(?<![\w.])(?:[^\W\d_]|(?-i:[A-Z](?:\.[A-Z])+)|"
    r"mrs?|ms|drs?|prof|st|mt|no|vs|etc|e\.g|i\.e|cf|[js]r|inc|ltd|co|fig|vol|pp?|ch|mm|mmes?|mlles?|"
    r"mgr|me|av|env|ex|al|art|bd|éd|nº|rev|gen|sgt|capt|lt|col|a\.m|p\.m|gov|sen|rep|approx|dept|ph\.d|boul|bât|bldg)\Z",
    re.IGNORECASE,
)
_BEFORE_DIGITS = re.compile(  # days, months, and what numbers follow
    r"(?:\A|[,;:(/–-] ?)(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun|lun|mar|mer|jeu|ven|sam|dim)\Z|"
    r"(?<!\w)(?:jan|feb|mar|apr|aug|sept?|oct|nov|dec|est|incl|janv|févr?|avr|juil|déc|tél|tel|sect|ext|app?t)\Z",
    re.IGNORECASE,
)


def split_sentences(line: str) -> list[tuple[str, str]]:
    """Cut a line at the ends of its sentences; joined, sentences and the spaces behind them are the line.

    A full stop after an abbreviation or initials ends no sentence, nor does one before a small letter.

    >>> split_sentences("Mr. Smith left.  Why? J. K. knows, e.g. Tom.")
    [('Mr. Smith left.', '  '), ('Why?', ' '), ('J. K. knows, e.g. Tom.', '')]
    """
    sentences, start = [], 0
    for match in _ENDS.finditer(line):
        if match[0].rstrip() == ".":
            before = line[max(start, match.start() - _LONGEST) : match.start()]
            if _ABBREVIATION.search(before) or (line[match.end()].isdigit() and _BEFORE_DIGITS.search(before)):
                continue
            if line.startswith("J.-C.", match.end()):  # av., ap. and apr. J.-C.
                continue
        sentences.append((line[start : match.start(1)], match[1]))
        start = match.end()
    return [*sentences, (line[start:], "")]
