"""Numbers and amounts that came out as their source writes them, written as the language of the translation does."""

from __future__ import annotations

import re
from collections.abc import Sequence

from translate.translator.guards.amounts import with_bytes
from translate.translator.guards.forms import Kept, Ranges, nothing, overlaps
from translate.translator.guards.marks import change_outside
from translate.translator.guards.times import HOUR, changed_times
from translate.translator.translation import Translation

_UNITS = (  # behind an English number with decimals; without one it may be a version, a time or a chapter
    "percent|per cent|thousand|(?:m|b|tr)illions?|[kcm]?m|[km]?g|[cm]?l|"
    "(?:kilo|centi|milli)?(?:met(?:er|re)|gram(?:me)?|lit(?:er|re))s?|miles?|mi|feet|foot|ft|inch(?:es)?|yards?|acres?|hectares?|"
    "pounds?|ounces?|tons?|tonnes?|seconds?|minutes?|hours?|days?|weeks?|months?|years?|degrees?|points?|times|euros?|"
    "dollars?|cents?|volts?|watts?|[kKMGT]?[BVW]|[kMG]?Hz|mph|km/h"
)
_SPACE = "[ \u00a0\u202f]"
_THOUSANDS = rf"\d{{1,3}}(?:{_SPACE}\d{{3}})+"
_NUMBERS = {  # of a source, whose mark cannot be another one
    "en": re.compile(
        r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\w|[.,]\d)|(?<=[€£$])\d+\.\d+(?!\w|[.,]\d)"
        rf"|(?<![\w.,])\d+\.\d+(?=\s?[%°€£$]|[ -](?:{_UNITS})\b)"
    ),
    "fr": re.compile(rf"(?<![\w.,])(?<!\d{_SPACE})(?:{_THOUSANDS}(?:,\d+)?|\d+,\d+)(?![\w.]|{_SPACE}\d|,\d)"),
}
_WRITTEN = re.compile(  # how such numbers may stand in the translation, with the marks of either language
    rf"(?<![\w.,])\d+(?:(?:{_SPACE}|[.,])\d{{3}})*(?:[.,]\d+)?(?!\w|[.,]\d)"
)
_UNGROUPED = re.compile(  # of a source: a year, a postcode before its town; no amount
    r"(?<![\w.,€£$-])(?:[12]\d{3}|(?:\A|(?<=, ))\d{5}(?= [A-ZÀ-Þ]))"
    rf"(?![\w%]|[.,:-]?\d|{_SPACE}(?:\d|[%€£$]|(?:{_UNITS})\b))"
)
_LONG = re.compile(rf"(?<![\w.,€£$-])\d{{5,9}}(?![\w%]|[.,:-]?\d|{_SPACE}\d)")
_MARKS = {"en": (",", "."), "fr": (" ", ",")}  # between thousands, before decimals
_BYTES = re.compile(rf"\d{_SPACE}?[kKMGT][Bo]\b")
_AMOUNTS = {  # of the other language, and as this one writes them
    "en": (re.compile(rf"(?<![\w.,€£$/–-])(\d[\d.,]*){_SPACE}?([€£$])(?!\w)"), r"\2\1"),
    "fr": (
        re.compile(rf"(?<![\w€£$])([€£$])(\d+(?:{_SPACE}\d{{3}})*(?:,\d+)?)(?!\w|[\w,.–-]*\d|\s?(?:m|b|tr)illi)"),
        r"\2 \1",
    ),
}


def numbers_of_the_language(
    texts: Sequence[str], found: Sequence[Translation], src_lang: str, kept: Kept = nothing
) -> list[Translation]:
    """Return translations whose numbers are written as their language does: "1,250.5 km" becomes "1 250,5 km".

    Changed is what stands in the translation as in the source, or half so, between English and French alone. English
    numbers with decimals count only beside a unit or a currency: "Python 3.11" keeps its mark. In texts with amounts,
    currency symbols go where the language has them, "$5" to "5 $". French has octets, "5 Go".

    Args:
        texts: Clean sources.
        found: Their translations.
        src_lang: Language of the sources.
        kept: Where a text holds what comes through as it is, or as a term.
    """
    return [_rewritten(text, one, src_lang, kept) for text, one in zip(texts, found, strict=True)]


def _rewritten(text: str, found: Translation, src_lang: str, kept: Kept) -> Translation:
    if {src_lang, found.tgt_lang} != set(_NUMBERS) or not any(map(str.isdigit, text)):
        return found
    ranges = kept(text)
    numbers = _numbers(text, src_lang, found.tgt_lang, ranges)
    amounts = not ranges and re.search("[€£$]", text) is not None
    bytes_ = not ranges and _BYTES.search(text) is not None
    if not numbers and not amounts and not bytes_ and not HOUR.search(text):
        return found

    through = [text[start:end] for start, end in ranges]

    def rewrite(output: str) -> str:
        output = change_outside(_WRITTEN, lambda match: numbers.get(_plain(match[0]), match[0]), output, through)
        if times := changed_times(text, output, found.tgt_lang):
            pattern = re.compile(rf"(?<!\d)(?:{'|'.join(map(re.escape, times))})(?!\d)")
            output = change_outside(pattern, lambda match: times[match[0]], output, through)
        output = with_bytes(output, found.tgt_lang) if bytes_ else output
        pattern, order = _AMOUNTS[found.tgt_lang]
        return pattern.sub(order, output) if amounts else output

    hypotheses = tuple(one._replace(text=rewrite(one.text)) for one in found.hypotheses)
    return found._replace(text=rewrite(found.text), hypotheses=hypotheses)


def _numbers(text: str, src_lang: str, tgt_lang: str, kept: Ranges) -> dict[str, str]:
    """Return the numbers of a source that the other language writes in another way, and how.

    They are in plain form, with and without marks between thousands. Years and postcodes have none in either,
    and longer numbers without them get those of the other language where they get any.
    """
    thousands, decimal = _MARKS[src_lang]
    into = {thousands: _MARKS[tgt_lang][0], decimal: _MARKS[tgt_lang][1], "\u00a0": ",", "\u202f": ","}
    numbers: dict[str, str] = {}
    for pattern, mark in ((_LONG, _MARKS[tgt_lang][0]), (_UNGROUPED, "")):
        for match in pattern.finditer(text):
            if not overlaps(match.start(), match.end(), kept):
                grouped = f"{int(match[0]):,}"
                numbers[_plain(grouped)] = grouped.replace(",", mark)
    for match in _NUMBERS[src_lang].finditer(text):
        if not overlaps(match.start(), match.end(), kept):
            written = "".join(into.get(character, character) for character in match[0])
            ungrouped = re.sub(_SPACE if src_lang == "fr" else ",", "", match[0])
            numbers |= {_plain(match[0]): written, _plain(ungrouped): written}
    return numbers


def _plain(number: str) -> str:
    """Return a number with a full stop for each of its marks: the model may have changed one of them alone."""
    return re.sub(rf"{_SPACE}|,", ".", number)
