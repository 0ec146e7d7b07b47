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
        rf"(?<![\w.,])(?P<currency>[€$£])(?P<number>\d+(?:\.\d+)?)(?:{_SPACE}(?=[mMbB]illion))?"
        r"(?P<scale>[mMbB])(?:n|illion)?(?![\w/])"
    ),
}
_THOUSANDS = {  # "45 k€", "$45k"
    "fr": re.compile(rf"(?<![\w.,])(?P<number>\d+(?:,\d+)?){_SPACE}[kK]{_SPACE}(?P<currency>[€$£])(?!\w)"),
    "en": re.compile(r"(?P<currency>[€$£])(?P<number>\d+(?:\.\d+)?)[kK]\b"),
}
_BYTES = {  # "16 Go", "16GB"
    "fr": re.compile(rf"(?<![\w.])(\d+(?:,\d+)?){_SPACE}([kKMGT])o\b"),
    "en": re.compile(rf"(?<![\w,])(\d+(?:\.\d+)?){_SPACE}([kKMG])B\b"),  # "To" would be read as "to"
}
_POUNDS = re.compile(rf"(?<![\w.,])(\d[\d,.]*){_SPACE}lbs?\b(?:\.(?= [a-z]))?")
_CURRENCIES = {
    "en": {"€": "euros", "$": "dollars", "£": "pounds"},
    "fr": {"€": "d'euros", "$": "de dollars", "£": "de livres"},
}
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
    millions, thousands = _WRITTEN[src_lang]
    text = _THOUSANDS[src_lang].sub(thousands, _MILLIONS[src_lang].sub(millions, text))
    text = _BYTES[src_lang].sub(lambda match: f"{match[1]} {match[2].upper()}{_BYTE[src_lang]}", text)
    return _POUNDS.sub(r"\1 pounds", text) if src_lang == "en" else text


def _french_millions(match: re.Match[str]) -> str:
    scale = "million" if match["scale"] == "M" else "milliard"
    plural = "" if _value(match) < 2 else "s"
    return f"{match['number']} {scale}{plural} {_CURRENCIES['fr'][match['currency']]}"


def _english_millions(match: re.Match[str]) -> str:
    scale = "million" if match["scale"] in "mM" else "billion"
    return f"{match['number']} {scale} {_CURRENCIES['en'][match['currency']]}"


def _french_thousands(match: re.Match[str]) -> str:
    return f"{int(_value(match) * 1000):,} {match['currency']}".replace(",", " ")


def _english_thousands(match: re.Match[str]) -> str:
    return f"{match['currency']}{int(_value(match) * 1000):,}"


def _value(match: re.Match[str]) -> Decimal:
    return Decimal(match["number"].replace(",", "."))


_WRITTEN = {"en": (_english_millions, _english_thousands), "fr": (_french_millions, _french_thousands)}
