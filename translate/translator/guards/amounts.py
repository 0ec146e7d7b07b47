"""Amounts and sizes that people abbreviate, such as "3,5 M€" and "16 GB", as models of English and French know them."""

from __future__ import annotations

import re
from decimal import Decimal

_SPACE = "[ \u00a0\u202f]?"
_MILLIONS = {  # "3,5 M€", "$3.5bn", "€2 million"
    "fr": re.compile(
        rf"(?<![\w.,])(?P<number>\d+(?:,\d+)?){_SPACE}(?P<scale>M|Mds?|Mrds?){_SPACE}(?P<currency>[€$£])(?!\w)"
    ),
    "en": re.compile(
        rf"(?<![\w.,])(?P<currency>[€$£])(?P<number>\d+(?:\.\d+)?)(?:(?P<scale>[mMbB])n?|{_SPACE}(?P<word>[mMbB])illion)(?![\w/])"
    ),
}
_THOUSANDS = {  # "45 k€", "$45k"
    "fr": re.compile(rf"(?<![\w.,])(\d+(?:,\d+)?){_SPACE}[kK]{_SPACE}([€$£])(?!\w)"),
    "en": re.compile(r"([€$£])(\d+(?:\.\d+)?)[kK]\b"),
}
_BYTES = {  # "16 Go", "16GB"
    "fr": re.compile(rf"(?<![\w.])(\d+(?:,\d+)?){_SPACE}([kKMGT])o\b"),
    "en": re.compile(rf"(?<![\w,])(\d+(?:\.\d+)?){_SPACE}([kKMG])B\b"),  # "To" would be read as "to"
}
_POUNDS = re.compile(rf"(?<![\w.,])(\d[\d,.]*){_SPACE}lbs?\b(?:\.(?= [a-z]))?")
_CURRENCIES = {"en": {"€": "euro", "$": "dollar", "£": "pound"}, "fr": {"€": "euro", "$": "dollar", "£": "livre"}}
_BYTE = {"en": "o", "fr": "B"}  # of the other language


def plain_amounts(text: str, src_lang: str) -> str:
    """Return a text with millions of a currency in words, thousands in digits, bytes as the other language has them.

    >>> plain_amounts("Un budget de 3,5 M€, dont 45 k€ pour 16 Go.", "fr")
    "Un budget de 3,5 millions d'euros, dont 45 000 € pour 16 GB."
    >>> plain_amounts("A $3.5M budget: €2bn, $1.5k and 16GB, weighs 5 lbs.", "en")
    'A 3.5 million dollars budget: 2 billion euros, $1,500 and 16 Go, weighs 5 pounds.'
    """
    if not any(map(str.isdigit, text)):
        return text
    words = _french_amount if src_lang == "fr" else _english_amount
    text = _MILLIONS[src_lang].sub(words, text)
    text = _THOUSANDS[src_lang].sub(lambda match: _thousands(match[1], match[2]), text)
    byte = _BYTE[src_lang]
    text = _BYTES[src_lang].sub(lambda match: f"{match[1]} {match[2].upper()}{byte}", text)
    return _POUNDS.sub(r"\1 pounds", text) if src_lang == "en" else text


def _french_amount(match: re.Match[str]) -> str:
    number, currency = match["number"], _CURRENCIES["fr"][match["currency"]]
    scale = "million" if match["scale"] == "M" else "milliard"
    plural = "" if float(number.replace(",", ".")) < 2 else "s"
    return f"{number} {scale}{plural} " + ("d'" if currency == "euro" else "de ") + f"{currency}s"


def _english_amount(match: re.Match[str]) -> str:
    scale = "million" if (match["scale"] or match["word"]) in "mM" else "billion"
    return f"{match['number']} {scale} {_CURRENCIES['en'][match['currency']]}s"


def _thousands(first: str, second: str) -> str:
    """Return "45 000 €" of "45" and "€", or "$45,000" of "$" and "45"."""
    number, in_front = (second, first) if first in "€$£" else (first, "")
    whole = f"{int(Decimal(number.replace(',', '.')) * 1000):,}"
    return in_front + whole if in_front else f"{whole.replace(',', ' ')} {second}"
