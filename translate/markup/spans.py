"""Where a text holds what must not be translated: code, tags, addresses, placeholders, quantities."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_UNITS = (
    *("nm", "[µμ]m", "mm", "cm", "dm", "m", "km", "mi", "ft", "yd", "ha"),
    *("[µμ]g", "mg", "g", "kg", "t", "lbs?", "oz", "[µμ]l", "m[lL]", "cl", "dl", "l", "L", "hl"),
    *("ns", "[µμ]s", "ms", "min", "h", "[kMG]?Hz", "rpm", "fps", "mph", "kph"),
    *("[mk]?V", "mA", "m?Ah", "[mkMG]?W", "[kMG]?Wh", "[kM]?[Ω\u2126]", "dB", "k?cal", "[kM]?J", "k?N"),
    *("[hkM]?Pa", "m?bar", "psi", "ppm", "px", "pt", "dpi"),
    *("[kMG]?bit", "[kKMGTP]B", "[KMGT]iB", "[kMG]?bps", "EUR", "USD", "GBP", "CHF", "JPY"),
)
_CURRENCY = "[$€£¥₹₩₽]"
_BLANK = "[ \u00a0\u2009\u202f]"
_END = r"(?!\w|['’]\w)"
# What repeats is possessive and bounded, so that no text takes long.
_DIGITS = rf"(?>\d{{1,3}}(?:{_BLANK}\d{{3}}){{1,6}}(?!\d)(?:[.,]\d+)?|\d+(?:[.,'’]\d+){{0,8}}|\.\d+)"
_NUMBER = rf"(?<!\w)(?<!\d[.,])[-+−±]?(?>{_DIGITS}(?:[-–/x×]{_DIGITS}){{0,3}})"
_UNIT = rf"(?:{'|'.join(_UNITS)})(?:[²³]|\^-?\d)?"
_PER = rf"(?:[/·](?:{_UNIT}|s[²³]?))*"
_ATTRIBUTE = r"""[ ]++[\w:@.-]++(?:[ ]*+=[ ]*+(?:"[^"]*+"|'[^']*+'|[^\s"'<>=`]++))?+"""
_SPAN = re.compile(
    "|".join(
        (
            rf"(?P<code>`[^`]++`|<(?P<element>code|kbd|samp|tt|var)(?:{_ATTRIBUTE})*+[ ]*+>[^<>]++</(?P=element)>)",
            rf"(?P<tag></?(?:\d++|[A-Za-z][\w:.-]*+(?:{_ATTRIBUTE})*+[ ]*+)/?>|<!--(?:(?!-->|<!--).)*-->)",
            r"(?P<url>(?<![\w+.-])(?:[A-Za-z][A-Za-z0-9+.-]*+://|www\.)[^\s<>\"“”«»]++)",
            r"(?P<email>(?<![\w.+%-])(?:mailto:)?[\w.+%-]++@[\w-]+(?:\.[\w-]+)*\.\w[\w-]*\w)",
            r"(?P<placeholder>[$#%]?(?:\{\{[^{}]*+\}\}|\{[^{}]*+\}))",
            rf"(?P<money>(?<!\w)[-+−]?(?:[A-Z]{{1,3}})?{_CURRENCY}{_BLANK}?{_DIGITS}(?:[-–]{_CURRENCY}?{_DIGITS})?"
            rf"(?:[kKMB]n?)?{_PER}{_END})",
            rf"(?P<quantity>{_NUMBER}(?:{_BLANK}?(?:[%‰℃℉](?!\w)|°{_BLANK}?[CFK]\b|°|(?:{_CURRENCY}|{_UNIT}){_PER}{_END})"
            rf"|{_BLANK}[sK]{_END}))",
        )
    )
)
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")  # what no line can hold
_BRACKETS = {")": "(", "]": "[", "}": "{"}


class Span(NamedTuple):
    """Part of a text that stays as it is.

    Attributes:
        start: Of its first character.
        end: After its last one.
        is_tag: Whether it marks other words up instead of standing for one.
    """

    start: int
    end: int
    is_tag: bool


def find_spans(text: str) -> Iterator[Span]:
    """Find the spans of `text`, in order; they do not overlap.

    They are: `code` between backticks or in `<code>`, `<kbd>`, `<samp>`, `<tt>` and `<var>`; `<tags>`, `</tags>` and
    comments; URLs with a scheme or `www.`, without the punctuation that follows them;
    e-mail addresses; `{placeholders}`, `{{…}}`, `${…}`, `%{…}`, `#{…}`; numbers with the sign of a unit or a currency,
    not with its name ("5 kg", "$5", but not "5 dollars"). A span has no tabs, line breaks or other control characters.

    >>> text = "Pay <b>$5</b> for 3.5 kg (see https://x.org/a_(b))."
    >>> [text[span.start : span.end] for span in find_spans(text)]
    ['<b>', '$5', '</b>', '3.5 kg', 'https://x.org/a_(b)']
    """
    start = 0
    while match := _SPAN.search(text, start):
        start = _end_of_url(text, match) if match.lastgroup == "url" else match.end()
        if not _CONTROLS.search(text, match.start(), start):
            yield Span(match.start(), start, match.lastgroup == "tag")


def _end_of_url(text: str, match: re.Match[str]) -> int:
    """Return where a URL ends before the punctuation of its sentence; brackets belong to it in pairs."""
    start, end = match.span()
    unpaired = {end_: text.count(end_, start, end) - text.count(begin, start, end) for end_, begin in _BRACKETS.items()}
    while end > start:
        last = text[end - 1]
        if unpaired.get(last, 0) > 0:
            unpaired[last] -= 1
        elif last not in ".,;:!?…'’*_|`":
            break
        end -= 1
    return end
