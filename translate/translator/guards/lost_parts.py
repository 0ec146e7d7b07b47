"""Parts of a text that its translation must hold as they are, or nearly so: which of them it has lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from translate.data.tokenizer import Tokenizer
from translate.translator.guards.acronyms import find_acronyms, lacks_article
from translate.translator.guards.addresses import ADDRESS
from translate.translator.guards.forms import Ranges
from translate.translator.guards.symbols import has_letters, unknown_parts
from translate.translator.guards.times import LASTING, TIME, has_time

_NUMBER = re.compile(r"(?<!\w)\d(?:[.,'/-]?\d){3,}")  # of four or more digits
_DECIMAL = re.compile(r"(?<![\w.,])\d+[.,]\d{1,2}(?!\d|[.,]\d)")
_FORMULA = re.compile(r"(?<![\w.,])\d[\d.,]*(?:\s?[-+×÷*/=<>≤≥±x]\s?\d[\d.,]*)+")
_DURATION = re.compile(r"(?<![\w.,:])\d{1,3}(?::[0-5]\d){2}(?![\w:])")  # 3:12:45
_GROUPED = re.compile(  # three digits each, as French writes thousands
    r"(?<![\w.,])(?<!\d[ \u00a0\u202f])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:,\d+)?(?!\w|[ \u00a0\u202f.,]?\d)"
)
_MIXED_CASE = re.compile(  # OpenAI, WhatsApp, iPhone; no address, and nothing of code
    r"(?<![\w.@/#_$-])(?:(?:[a-z]{1,2}|[A-Z][a-z]+)[A-Z][A-Za-z]*[a-z]|[A-Z][a-z]+[A-Z]{2,})(?![\w@/(_=-]|\.\w)"
)
_BEFORE_BRAND = "use uses using run runs on for in under with from utilise utiliser utilisez sous avec pour sur en"
_BRANDS = (  # that a model takes for other words; "Windows" may be such at the start and in titles
    "Docker|Mercedes|Reddit|Starbucks",
    f"(?:{'|'.join(f'(?<= {word} )' for word in _BEFORE_BRAND.split())})(?:Windows|Java)",
    r"\A(?:Apple|Windows)(?= (?:announce[sd]|has|is|was|will|sells?|sold|launche[sd]|released?|says|said|makes)\b)",
    r"\A(?:Apple|Windows)(?= (?:a|annonce|est|lance|vend)\b)",
)
_BRAND = re.compile(rf"(?<![\w-])(?:{'|'.join(_BRANDS)})(?![\w'’-])")
_RATIO = re.compile(r"(?<![\w.,:/])\d{1,3}:\d(?![\w:]|[.,]\d)")  # 3:1, which is no time
_REFERENCE = re.compile(r"(?<!\w)#\d+")
_DIGITS = r"\d+(?:[.,\s]\d{3}){0,5}(?:[.,]\d+)?"
_CODES_OF_CURRENCIES = "USD|EUR|GBP|CHF|CAD|AUD|JPY|CNY"
_AMOUNT = re.compile(
    rf"(?:[€£$]|\b(?:{_CODES_OF_CURRENCIES}))\s?{_DIGITS}"
    rf"|(?<![\w.,]){_DIGITS}\s?(?:[€£$](?!\s?\d)|(?:{_CODES_OF_CURRENCIES})\b)"
)
_TEMPERATURE = re.compile(rf"(?<![\w.,]){_DIGITS}\s?°[CF]?(?!\w)")
_QUANTITY = re.compile(rf"(?<![\w.,]){_DIGITS}\s?(?:%|[cdkm]?[glL]|[ckm]?m[²³]?)(?!\w)")
_POSTCODE = re.compile(r"(?<!\w)[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}(?!\w)")  # SW1A 1AA
_CODE = re.compile(  # C++, F-16, AF1234, 221B
    r"(?<!\w)(?:[^\W\d_]\w*\+{1,2}(?!\w)|[^\W\d_]\w*(?:\+\w+)+|(?:[A-Z]{1,8}-\d{1,4}|[A-Z]{1,4}\d{2,5}|\d{2,4}[A-Z])(?!\w))"
)
_SERIAL = re.compile(  # of an invoice, a coupon or a device: INV-2024-0117, SN7734K2, SUMMER25; no time, unit or amount
    rf"(?<![\w.-])(?=[\w.-]*\d)(?=[\w.-]*[A-Z])(?!\d+[A-Z]{{1,2}}(?![\w-])|\d\d?[:H]\d\d|(?:{_CODES_OF_CURRENCIES})\d)"
    r"(?=[A-Z\d]{4}|[A-Z\d]+-)[A-Z\d]+(?:[-.][A-Za-z\d]+)*(?![\w-])"
)
_FUNCTION = re.compile(r"(?<!\w)(?:[a-z]\([a-z]\)|[A-Za-z][²³])(?!\w)")  # f(x), x²
_PLACEHOLDER = re.compile(r"(?<![\w%])%(?:\(\w+\))?(?:\d+\$)?[sdif](?!\w)")  # of programs: %s, %(name)s
_FRACTION = re.compile(r"(?:(?<!\d)\d++\s?)?[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]")
_GROUPS = re.compile(  # of digits: a telephone number, or with full stops a date or a version
    r"(?<![\w.,])(?:\+?\(?\d{1,4}\)?(?:[ -]\(?\d{1,4}\)?){2,}|(?:\+\d{1,3}[ .])?\d{1,4}(?:\.\d{1,4}){2,})(?!\w|[.,:]\d)"
)
_UNITS = {  # as words, by their signs
    "%": "per ?cent|pour ?cent",
    "g": r"gram(?:me)?s?",
    "l": r"lit(?:er|re)s?",
    "L": r"lit(?:er|re)s?",
    "m": r"m[eè]t(?:er|re)s?",
}
_PREFIXES = {"": "", "c": "centi", "d": "d[eé]ci", "k": "kilo", "m": "milli"}
_CURRENCIES = {"€": "€|euros?", "$": r"\$|dollars?", "£": "£|livres?|pounds?"}
_CURRENCIES |= {"EUR": f"EUR|{_CURRENCIES['€']}", "USD": f"USD|{_CURRENCIES['$']}", "GBP": f"GBP|{_CURRENCIES['£']}"}
_AND = re.compile(r"(?<=\s)&(?=\s)")
_THOUSAND = 3  # digits between two of its separators
_SEPARATOR = r"[\s.,'’]"  # between the digits of a number, as languages write it
_READ_AS_WORD = 4  # letters of an acronym that may be written as a word
_LONGEST = 10_000  # characters of a text that is looked through


class LostPart(NamedTuple):
    """A part of a text.

    Attributes:
        start: Where it begins.
        text: It itself.
        kind: Number (whatever holds digits), time (of day), fraction, word (an address, too), that of an acronym, or
            and.
        translation: What a translation has for an acronym; "" for others.
    """

    start: int
    text: str
    kind: str
    translation: str = ""


def lost_parts(
    text: str, output: str, tokenizer: Tokenizer, kept: Ranges = (), langs: tuple[str, str] = ("", "")
) -> list[LostPart]:
    """Return what of a clean text its translation has lost, in order; nothing overlaps, and of very long texts nothing.

    Args:
        text: Source.
        output: Its translation.
        tokenizer: Tells which characters are unknown.
        kept: Where the text holds what comes through anyway, or as a term.
        langs: Languages of the two; acronyms are those of English and French.
    """
    if len(text) > _LONGEST:
        return []
    unknown = _joined(text, unknown_parts(text, tokenizer, kept))
    words = [
        LostPart(start, text[start:end], "word") for start, end in unknown if not _FRACTION.fullmatch(text[start:end])
    ]
    lost = [word for word in words if has_letters(word.text) and output.count(word.text) < text.count(word.text)]
    for start, end in kept:
        output = output.replace(text[start:end], "", 1)
    taken = [*kept, *((word.start, word.start + len(word.text)) for word in words if has_letters(word.text))]
    inside = {place for start, end in taken for place in range(start, end)}
    for pattern, kind, is_kept in _KINDS:
        for match in pattern.finditer(text):
            one = LostPart(match.start(), match[0] if kind == "time" else match[0].rstrip(".,"), kind)
            places = range(one.start, one.start + len(one.text))
            if inside.isdisjoint(places):
                inside.update(places)
                if not is_kept(output, one.text):
                    lost.append(one)
    lost += [one for one in _lost_acronyms(text, output, langs) if one.start not in inside]
    return sorted(lost)


def _lost_acronyms(text: str, output: str, langs: tuple[str, str]) -> Iterator[LostPart]:
    if {*langs} == {"en", "fr"}:
        for one in find_acronyms(text, langs[0]):
            any_case = len(one.translation) >= _READ_AS_WORD or one.text.islower()  # le sida, l'Otan
            case = re.IGNORECASE if any_case else re.NOFLAG
            has = re.search(rf"(?<![\w-]){re.escape(one.translation)}s?(?![\w-])", output, case)
            if not has or lacks_article(output, one, langs[1]):
                yield LostPart(*one)


def _joined(text: str, ranges: Ranges) -> list[tuple[int, int]]:
    """Return ranges, those as one that only a space is between: a title in another script."""
    joined: list[tuple[int, int]] = []
    for start, end in ranges:
        if joined and text[joined[-1][1] : start] == " ":
            start = joined.pop()[0]
        joined.append((start, end))
    return joined


def _has_text(text: str, part: str) -> bool:
    return part in text


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def _has_formula(text: str, formula: str) -> bool:
    spaced = r"\s*".join(map(re.escape, re.sub(r"\s", "", formula)))
    return re.search(rf"(?<!\d){spaced}(?!\d)", text) is not None


def _has_amount(text: str, amount: str) -> bool:
    """Return whether a text has the number of an amount in digits, beside its symbol or before its currency's name."""
    symbol = re.sub(r"[\d\s.,]", "", amount)
    number, currency = _number(re.sub(r"[^\d.,]", "", amount)), f"(?i:{_CURRENCIES.get(symbol, symbol)})"
    return re.search(rf"{re.escape(symbol)}\s?{number}|{number}\s?{currency}(?!\w)", text) is not None


def _has_quantity(text: str, quantity: str) -> bool:
    """Return whether a text has the number of a quantity in digits, before its unit as a sign or a word."""
    digits, sign = re.sub(r"\s", "", quantity), re.sub(r"[\d\s.,]+", "", quantity, count=1)
    number, unit = _number(digits.removesuffix(sign)), re.escape(sign)
    if sign[-1] in _UNITS:
        unit += f"|{_PREFIXES[sign[:-1]]}(?:{_UNITS[sign[-1]]})"
    if sign == "kg":
        unit += "|kilos?"
    return re.search(rf"{number}[\s-]?(?i:{unit})(?!\w)", text) is not None


def _has_number(text: str, number: str) -> bool:
    return re.search(_number(number), text) is not None


def _has_grouped(text: str, number: str) -> bool:
    return _has_number(text, re.sub(r"\s", "", number))


def _has_groups(text: str, groups: str) -> bool:
    return _has_digits(text, groups) and (groups[0] != "+" or "+" in text)


def _has_digits(text: str, groups: str) -> bool:
    """Return whether a text has the same groups of digits, with any marks between them."""
    digits = r"[\s.,'’()/-]++".join(re.findall(r"\d+", groups))
    return re.search(rf"(?<!\d){digits}(?!\d)", text) is not None


def _number(number: str) -> str:
    """Return a pattern of a number with or without marks between its thousands, with one before its decimals."""
    *groups, last = re.split("[.,']", number)
    decimals = ""
    if groups and len(last) != _THOUSAND:
        decimals = rf"(?:[.,:]|\s?h\s?){last}"  # 8.30 may be 8 h 30
    else:
        groups.append(last)
    if len(groups) == 1 and groups[0].isdigit():
        whole = groups[0]
        first = len(whole) % _THOUSAND or _THOUSAND
        groups = [whole[:first], *(whole[place : place + _THOUSAND] for place in range(first, len(whole), _THOUSAND))]
    forms = ("".join(groups), _SEPARATOR.join(groups))
    return rf"(?<!\d)(?:{'|'.join(forms)}){decimals}(?!\d)"


_KINDS: tuple[tuple[re.Pattern[str], str, Callable[[str, str], bool]], ...] = (
    (ADDRESS, "word", _has_text),
    (_PLACEHOLDER, "word", _has_text),
    (_POSTCODE, "word", _has_text),
    (_FUNCTION, "word", _has_text),
    (_SERIAL, "word", _has_word),
    (_MIXED_CASE, "word", _has_word),
    (_BRAND, "word", _has_word),
    (LASTING, "number", lambda *_: True),  # no time of day; what it holds may come out in words
    (TIME, "time", has_time),
    (_DURATION, "number", _has_text),
    (_RATIO, "number", _has_formula),
    (_REFERENCE, "number", _has_text),
    (_CODE, "word", _has_text),
    (_GROUPS, "number", _has_groups),
    (_FORMULA, "number", _has_formula),
    (_AMOUNT, "number", _has_amount),
    (_TEMPERATURE, "number", _has_formula),
    (_FRACTION, "fraction", _has_formula),
    (_QUANTITY, "number", _has_quantity),
    (_GROUPED, "number", _has_grouped),
    (_NUMBER, "number", _has_number),
    (_DECIMAL, "number", _has_number),
    (_AND, "and", _has_text),
)
