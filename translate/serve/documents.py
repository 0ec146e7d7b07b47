"""Texts and HTML pages cut into what is translated and what stays, and put together again."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from itertools import count
from typing import NamedTuple

from translate.translator.segments import split_sentences
from translate.translator.tag_pairs import pair_tags

_WORD = re.compile(r"[^\W\d_]")  # a text without a letter stays as it is
_GAP = re.compile(r"(?<!\s)\s++")
_LINE_END = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")

# names of elements
_INLINE = re.compile(
    "a|abbr|acronym|b|bdi|bdo|big|cite|del|dfn|em|font|i|img|ins|label|mark|q|s|small|span|strike|strong|sub|sup|time|u|var|wbr"
)
_VOID = re.compile("area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr")
_KEPT = re.compile("code|kbd|math|object|pre|samp|script|style|svg|textarea|tt")  # with all that is in them
_TOKEN = re.compile(
    # possessive, and never beyond a "<", so that no page takes long
    r"<!--.*?(?:-->|\Z)|<[!?][^<>]*+>"
    r"|<(?P<slash>/?)(?P<name>[A-Za-z][\w:.-]*+)(?P<attributes>(?:\"[^\"<]*+\"|'[^'<]*+'|[^\"'<>])*+)>",
    re.DOTALL,
)
_NOT_TRANSLATED = re.compile(r"\btranslate\s*=\s*[\"']?no\b|\bclass\s*=\s*[\"'][^\"']*\bnotranslate\b", re.IGNORECASE)
_ESCAPED = re.compile(r"(&lt;[^&<>]*&gt;|&(?:lt|gt);|&amp;(?=#?\w+;)#?\w+;)", re.IGNORECASE)
_STAND_IN = re.compile(r"</?\d+/?>|\{\{\d+\}\}")


class Part(NamedTuple):
    """A piece of a text.

    Attributes:
        text: What is translated, or stays.
        translated: Whether it is translated.
        protect: Whether what it holds of tags and placeholders stays.
        restore: Makes of a translation what stands in the text.
    """

    text: str
    translated: bool = True
    protect: bool = False
    restore: Callable[[str], str] = str


def text_parts(text: str) -> list[Part]:
    """Cut a plain text into sentences and what is between them: line ends and spaces come back as they were.

    >>> [part.text for part in text_parts("One. Two!\\n\\n  Three")]
    ['One.', ' ', 'Two!', '\\n\\n  ', 'Three']
    """
    parts: list[Part] = []
    start = 0
    for gap in _GAP.finditer(text):
        if gap.start() == 0 or gap.end() == len(text) or _LINE_END.search(gap[0]):
            parts += [*_line_parts(text[start : gap.start()]), Part(gap[0], translated=False)]
            start = gap.end()
    return [part for part in [*parts, *_line_parts(text[start:])] if part.text]


def _line_parts(line: str) -> Iterator[Part]:
    for sentence, gap in split_sentences(line):
        yield Part(sentence, translated=bool(_WORD.search(sentence)))
        yield Part(gap, translated=False)


def html_parts(page: str) -> list[Part]:
    """Cut a page into runs of text with the inline tags in them, and what stays byte for byte.

    Tags, comments, elements that hold no prose (such as `script` and `code`) and those with `translate="no"` stay.
    Inline tags follow the words that they are around. A text in between is unescaped for the model, and escaped again.
    """
    parts: list[Part] = []
    run: list[_Token] = []
    for token in _tokens(page):
        if token.kind == "block":
            parts += [*_run_parts(run), Part(token.text, translated=False)]
            run = []
        else:
            run.append(token)
    return [part for part in [*parts, *_run_parts(run)] if part.text]


class _Token(NamedTuple):
    """A piece of a page: "text", or what stays: "block", "open", "close" and "alone" tags within a line, "word"."""

    kind: str
    text: str
    name: str = ""


def _tokens(page: str) -> Iterator[_Token]:
    """Read a page; an element whose content stays is one token."""
    start = 0
    while start < len(page):
        match = _TOKEN.search(page, start)
        if match is None:
            yield _Token("text", page[start:])
            return
        if match.start() > start:
            yield _Token("text", page[start : match.start()])
        start = match.end()
        name = (match["name"] or "").lower()
        if not name:
            yield _Token("alone" if match[0].startswith("<!--") else "block", match[0])
            continue
        kept = _KEPT.fullmatch(name)
        inline, closing = kept or _INLINE.fullmatch(name), bool(match["slash"])
        empty = _VOID.fullmatch(name) or match["attributes"].endswith("/")
        if not closing and not empty and (kept or _NOT_TRANSLATED.search(match["attributes"])):
            end = _end_of_element(page, match.end(), name)
            block = not inline or name in ("pre", "script", "style", "textarea")
            yield _Token("block" if block else "word", page[match.start() : end])
            start = end
        elif not inline:
            yield _Token("block", match[0])
        else:
            yield _Token("alone" if empty else "close" if closing else "open", match[0], name)


def _end_of_element(page: str, start: int, name: str) -> int:
    """Return where the element ends whose opening tag ends at `start`; that of the page if it is never closed."""
    depth = 1
    tag = re.compile(rf"<(/?){re.escape(name)}(?=[\s/>])[^>]*+(?:>|\Z)", re.IGNORECASE)
    for match in tag.finditer(page, start):
        depth += -1 if match[1] else 1
        if not depth:
            return match.end()
    return len(page)


def _run_parts(run: list[_Token]) -> list[Part]:
    """Return the parts of a line of text and inline tags; the spaces around it stay."""
    if not any(token.kind == "text" and _WORD.search(html.unescape(token.text)) for token in run):
        return [Part("".join(token.text for token in run), translated=False)]
    texts, originals = _with_stand_ins(run)
    text = "".join(texts)
    inner = text.strip()
    start = text.index(inner)

    def restore(translation: str) -> str:
        pieces, end = [], 0
        for match in _STAND_IN.finditer(translation):
            pieces += [html.escape(translation[end : match.start()], quote=False)]
            pieces.append(originals.get(match[0], html.escape(match[0], quote=False)))
            end = match.end()
        return "".join([*pieces, html.escape(translation[end:], quote=False)])

    around = text[:start], text[start + len(inner) :]
    middle = Part(inner, protect=bool(originals), restore=restore)
    return [Part(around[0], translated=False), middle, Part(around[1], translated=False)]


def _with_stand_ins(run: list[_Token]) -> tuple[list[str], dict[str, str]]:
    """Return the texts of a run with <1>, </1>, <2/> and {{3}} for what stays, and what these stand for."""
    texts: list[str] = []
    originals: dict[str, str] = {}
    opened: list[int] = []
    numbers = count(1)  # of the stand-ins in braces
    closing_of = pair_tags((token.kind, token.name) for token in run)
    closings = set(closing_of.values())
    for number, token in enumerate(run):
        if token.kind == "text":
            texts.append(_unescaped(token.text, numbers, originals))
            continue
        if token.kind == "word":
            stand_in = f"{{{{{next(numbers)}}}}}"
        elif token.kind == "open" and number in closing_of:
            opened.append(number)
            stand_in = f"<{number}>"
        elif token.kind == "close" and number in closings:
            stand_in = f"</{opened.pop()}>"
        else:
            stand_in = f"<{number}/>"
        originals[stand_in] = token.text
        texts.append(stand_in)
    return texts, originals


def _unescaped(text: str, numbers: Iterator[int], originals: dict[str, str]) -> str:
    """Return a text of a page without its escapes; those of markup get stand-ins, as do texts like stand-ins."""

    def keep(original: str) -> str:
        stand_in = f"{{{{{next(numbers)}}}}}"
        originals[stand_in] = original
        return stand_in

    def unescape(piece: str) -> str:
        return _STAND_IN.sub(lambda match: keep(html.escape(match[0], quote=False)), html.unescape(piece))

    pieces = _ESCAPED.split(text)
    return "".join(keep(piece) if place % 2 else unescape(piece) for place, piece in enumerate(pieces))
