"""Marks and spaces of a translation, written as its language does."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain
from operator import methodcaller

from translate.translator.guards.capitals import with_capitals
from translate.translator.guards.connectives import with_connectives
from translate.translator.guards.dates import with_centuries
from translate.translator.guards.forms import Kept, Ranges, nothing, overlaps
from translate.translator.translation import Translation

_SPACE = "[ \u00a0\u202f]"
_IN_QUOTES = re.compile(rf'(?<!\w)"{_SPACE}*([^"]*[^"\s]){_SPACE}*"(?!\w)')
_TIGHT_SLASH = (re.compile(rf"(?<=\w){_SPACE}/{_SPACE}(?=\w)"), "/")
_ENTITY = re.compile(r"&#?\w{1,10};")  # of HTML
_IN_BRACKETS = (re.compile(rf"\({_SPACE}+(?=\w)"), "(")
_QUOTED = re.compile(  # within a source, by whatever marks
    r"""“\s*([^“”]+?)\s*”|«\s*([^«»]+?)\s*»|(?<!\w)"\s*([^"]*[^"\s])\s*"(?!\w)|(?<!\w)['‘](?=\w)([^'‘’"]*[^\s'‘’])['’](?!\w)"""
)
_QUOTATION_MARK = {  # one that opens, or one that closes
    "fr": re.compile("(«)|(»)"),
    "en": re.compile(r'(?<![^\s(\[])(")(?=\S)|(?<=[^\s(\[])(")(?!\w)'),
}
_QUOTATION_MARKS = {"fr": ("«\u00a0", "\u00a0»"), "en": ('"', '"')}
_FRENCH_MONTHS = "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre"
_VOWEL = "(?=[aeiouâàéèêëîïôœ])(?![a-z]\\b|oui|onz|ouat|uhlan|ulul)"  # that a French word before it elides for
_OR = {"en": re.compile(r"\b(and/)?or\b", re.IGNORECASE), "fr": re.compile(r"\b(et/)?ou\b", re.IGNORECASE)}
_AND_OR = {"en": "and/or", "fr": "et/ou"}
_RULES = {  # by the language of the translation
    "fr": (
        _IN_BRACKETS,
        (re.compile(rf"\b((?:[cdjlmnst]|qu)['’]){_SPACE}+(?=\w)", re.IGNORECASE), r"\1"),
        (
            re.compile(
                rf"(?<![\w'’-])([djlmnst]|(?:jusq|lorsq|puisq|q)u)e {_VOWEL}(?!(?<=\ble )une?\b)", re.IGNORECASE
            ),
            r"\1'",
        ),
        (re.compile(rf"(?<![\w'’-])(l)a {_VOWEL}(?!une\b)", re.IGNORECASE), r"\1'"),
        (re.compile(r"(?<![\w'’-])(s)i (?=ils?\b)", re.IGNORECASE), r"\1'"),
        (re.compile(r'«([^«»"]*)"(?!\w)|(?<![\w=])"([^«»"]*)»'), r"«\1\2»"),
        (re.compile(r'(?<![\w=])"(?=\S)([^«»"]*[^«»"\s])"(?!\w)'), r"«\1»"),
        (re.compile(rf"«{_SPACE}*"), "«\u00a0"),
        (re.compile(rf"(?<!{_SPACE}){_SPACE}*»"), "\u00a0»"),
        (re.compile(rf"(?<=\d){_SPACE}?%(?!\w)"), "\u00a0%"),
        (re.compile(rf"(?<=\ble )1(?= (?:{_FRENCH_MONTHS})\b)", re.IGNORECASE), "1er"),
        (re.compile(rf"(?<![\d.,:])1({_SPACE})heures\b"), r"1\1heure"),
        (re.compile(rf"(?<=\d){_SPACE}:(?=\d\d(?!\d))"), ":"),
        (re.compile(rf"(?<=\d){_SPACE}h(?!\w)"), "\u00a0h"),
        (re.compile(rf"(?<=\d\u00a0h){_SPACE}(?=\d\d(?!\d))"), "\u00a0"),
        (re.compile(rf"(?<=[!?]){_SPACE}+(?=[!?])"), ""),
        (re.compile(rf"(?<=[^\s.!?;:…]){_SPACE}*([!?;]+|:)(?=\s|\Z)"), "\u00a0\\1"),
    ),
    "en": (
        _IN_BRACKETS,
        (re.compile(rf"(?<=\d){_SPACE}%(?!\w)"), "%"),
        (re.compile(rf"(?<=\S){_SPACE}+([!?]+|[;:,.])(?=\s|\Z)"), r"\1"),
        (re.compile(r"(?<=\d )([ap])\.m(?![\w.])"), r"\1.m."),
        (_IN_QUOTES, r'"\1"'),
        *((re.compile(rf"\b(\d*(?<!1){digit})th\b"), rf"\1{end}") for digit, end in ((1, "st"), (2, "nd"), (3, "rd"))),
    ),
}


def marks_of_the_language(
    texts: Sequence[str], found: Sequence[Translation], kept: Kept = nothing
) -> list[Translation]:
    """Return translations with the spaces that their language has beside its marks.

    French has « » for quotation marks, a no-break space within them, and before a percent sign, colon, semicolon,
    question and exclamation mark, beside the h of a time, no space behind an apostrophe, one in place of a vowel
    ("l'adulte"), and "le 1er mai"; English has
    no space before a mark and within " ", and 1st, 2nd and 3rd. Neither has one behind an opening bracket, nor beside
    slashes that have none in the source. Other languages are left as they are.

    Args:
        texts: Clean sources.
        found: Their translations.
        kept: Where a text holds what comes through as it is, or as a term.
    """
    return [
        _with_marks(text, one, [text[start:end] for start, end in kept(text)])
        for text, one in zip(texts, found, strict=True)
    ]


def _with_marks(text: str, found: Translation, kept: Sequence[str]) -> Translation:
    rules = _RULES.get(found.tgt_lang, ())
    if rules and "/" in text and " / " not in text:
        rules = (*rules, _TIGHT_SLASH)
    if not rules or not found.hypotheses:
        return found
    outputs = [one.text for one in found.hypotheses]
    kept = [*kept, *chain.from_iterable(map(_ENTITY.findall, outputs))]
    for pattern, replacement in rules:
        change = methodcaller("expand", replacement)
        outputs = [change_outside(pattern, change, output, kept) for output in outputs]
    outputs = [with_and_or(text, output, found.tgt_lang) for output in outputs]
    outputs = [with_connectives(text, output, found.tgt_lang) for output in outputs]
    if not kept:
        outputs = [
            with_capitals(text, with_centuries(text, output, found.tgt_lang), found.tgt_lang) for output in outputs
        ]
    if any(re.search('["«»“”]', part) for part in kept):
        return found.with_texts(outputs)
    spans = [len(next(filter(None, match.groups())).split()) for match in _QUOTED.finditer(text)]
    return found.with_texts([with_lost_mark(output, spans, found.tgt_lang) for output in outputs])


def with_and_or(text: str, output: str, lang: str) -> str:
    """Return a translation with "and/or" where the source has it, which the model read as "or", if each "or" is there.

    Args:
        text: A clean source, English or French.
        output: Its translation into the other one.
        lang: Language of the output.

    >>> with_and_or("Tea or coffee, milk and/or sugar", "Thé ou café, lait ou sucre", "fr")
    'Thé ou café, lait et/ou sucre'
    >>> with_and_or("TEA AND/OR COFFEE", "THÉ OU CAFÉ", "fr")
    'THÉ ET/OU CAFÉ'
    >>> with_and_or("Lait et/ou sucre", "Milk, sugar", "en")
    'Milk, sugar'
    """
    words = list(_OR["en" if lang == "fr" else "fr"].finditer(text))
    if not any(word[1] for word in words) or len(words) != len(_OR[lang].findall(output)):
        return output
    rest = iter(words)

    def put_back(match: re.Match[str]) -> str:
        if not next(rest)[1]:
            return match[0]
        both = _AND_OR[lang]
        return both.upper() if match[0].isupper() else both.capitalize() if match[0].istitle() else both

    return _OR[lang].sub(put_back, output)


def with_lost_mark(output: str, spans: Sequence[int], lang: str) -> str:
    """Return a translation with the one quotation mark that it has lost, as far from its other one as in the source.

    Args:
        output: English or French.
        spans: Words within each pair of quotation marks of the source.
        lang: Language of the output.

    >>> with_lost_mark('Write "yes" or no".', [1, 1], "en"), with_lost_mark('He said "no, and left.', [1], "en")
    ('Write "yes" or "no".', 'He said "no", and left.')
    """
    marks = [(match.start(), match.end(), match[1] is not None) for match in _QUOTATION_MARK[lang].finditer(output)]
    if len(marks) != 2 * len(spans) - 1:
        return output
    opening, closing = _QUOTATION_MARKS[lang]
    wrong = next((place for place, (_, _, opens) in enumerate(marks) if opens != (place % 2 == 0)), len(marks))
    words = spans[wrong // 2]
    if wrong % 2:  # nothing closes what the mark before opens
        ends = [match.end() for match in re.finditer(r"[^\s\u00a0«»\"]*[^\W_]", output[marks[wrong - 1][1] :])]
        if not ends:
            return output
        place = marks[wrong - 1][1] + ends[min(words, len(ends)) - 1]
        return output[:place] + closing + output[place:]
    starts = [match.start() for match in re.finditer(r"[^\s\u00a0«»\"]+", output[: marks[wrong][0]])]
    if not starts:
        return output
    place = starts[-min(words, len(starts))]
    return output[:place] + opening + output[place:]


def change_outside(
    pattern: re.Pattern[str], change: Callable[[re.Match[str]], str], output: str, kept: Sequence[str]
) -> str:
    """Return an output with its matches changed, but for those that overlap a part that was kept."""
    ranges: Ranges = [match.span() for part in {*kept} for match in re.finditer(re.escape(part), output)]
    return pattern.sub(
        lambda match: match[0] if overlaps(match.start(), match.end(), ranges) else change(match), output
    )
