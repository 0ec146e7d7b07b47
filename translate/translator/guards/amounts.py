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
_TIGHT_BYTES = re.compile(r"(?<![\w.,])(\d+(?:[.,]\d+)?)([kKMGT][Bo])\b")  # "16GB"
_OTHER_BYTES = {  # behind numbers of a translation, as the language of its source writes them
    "fr": re.compile(rf"(?<=\d)({_SPACE})([kKMGT])B\b"),
    "en": re.compile(rf"(?<=\d)({_SPACE})([kKMGT])o\b"),
}
_POUNDS = re.compile(rf"(?<![\w.,])(\d[\d,.]*){_SPACE}lbs?\b(?:\.(?= [a-z]))?")
_PER = {  # behind a price and a slash
    "en": {
        "kg": "a kilo",
        "lb": "a pound",
        "person": "per person",
        "pers": "per person",
        "night": "per night",
        "hour": "an hour",
        "hr": "an hour",
        "h": "an hour",
        "day": "a day",
        "week": "a week",
        "wk": "a week",
        "month": "a month",
        "mo": "a month",
        "year": "a year",
        "yr": "a year",
    },
    "fr": {
        "kg": "le kilo",
        "litre": "le litre",
        "l": "le litre",
        "m²": "par mètre carré",
        "m2": "par mètre carré",
        "personne": "par personne",
        "pers": "par personne",
        "nuit": "par nuit",
        "heure": "par heure",
        "h": "par heure",
        "jour": "par jour",
        "j": "par jour",
        "semaine": "par semaine",
        "sem": "par semaine",
        "mois": "par mois",
        "an": "par an",
    },
}
_PRICE = rf"(?P<price>[€$£]\d[\d.,]*|(?<![\w.,])\d[\d.,]*+{_SPACE}[€$£])"
_PRICE_PER_UNIT = {
    lang: re.compile(rf"{_PRICE}{_SPACE}/{_SPACE}(?P<unit>{'|'.join(units)})(?![\w/])(?:(?<=pers)\.)?")
    for lang, units in _PER.items()
}
_NUMBER_SIGN = re.compile(r"(?<![\w#*&/])#(?=[1-9]\d{0,4}(?![\w#*-]))")  # #12
_NO_NUMBER_SIGN = re.compile(  # beside which a sign is that of a colour, a subject or of programmers
    r"#[A-Za-z]|\b(?:colou?rs?|css|issues?|prs?|pull|fix\w*|closes?|commits?|bugs?|tickets?)\b", re.IGNORECASE
)
_RATING = re.compile(r"(?<![\w.,/])(\d\.\d)/(5|10|20)(?![\w/]|\.\d)")  # 4.5/5
_HEIGHT = re.compile(r"(?<![\w.,])([12])\s?m\s?(\d\d)(?!\w)")  # 1m65; it may also be minutes
_OF_HEIGHT = re.compile(
    r"\b(?:mesur\w+|taille|fait|hauteur|haut|haute|grand|grande|large|long|longue|pèse|kg|cm)\b", re.IGNORECASE
)
_TAXES = {"TTC": "toutes taxes comprises", "HT": "hors taxes"}
_WITH_TAXES = re.compile(
    rf"(?:(?<=[€$£])|(?<=\b[Pp]rix)|(?<=\b[Tt]arif)|(?<=\b[Mm]ontant))({_SPACE})({'|'.join(_TAXES)})\b"
)
_CURRENCIES = {
    "en": {"€": "euros", "$": "dollars", "£": "pounds"},
    "fr": {"€": "d'euros", "$": "de dollars", "£": "de livres"},
}
_BYTE = {"en": "B", "fr": "o"}


def plain_amounts(text: str, src_lang: str) -> str:
    """Return a text with millions of a currency in words, thousands in digits, bytes behind a space, no "/kg" and "#".

    >>> plain_amounts("Un budget de 3,5 M€, dont 45 k€ pour 16Go.", "fr")
    "Un budget de 3,5 millions d'euros, dont 45 000 € pour 16 Go."
    >>> plain_amounts("A $3.5M budget: €2bn, $1.5k and 16GB, weighs 5 lbs.", "en")
    'A 3.5 million dollars budget: 2 billion euros, $1,500 and 16 GB, weighs 5 pounds.'
    >>> plain_amounts("Room #5, $80/night", "en"), plain_amounts("15 €/kg", "fr")
    ('Room number 5, $80 per night', '15 € le kilo')
    """
    if not any(map(str.isdigit, text)):
        return text
    millions, thousands = _WRITTEN[src_lang]
    text = _THOUSANDS[src_lang].sub(thousands, _MILLIONS[src_lang].sub(millions, text))
    text = _PRICE_PER_UNIT[src_lang].sub(lambda match: f"{match['price']} {_PER[src_lang][match['unit']]}", text)
    text = _TIGHT_BYTES.sub(r"\1 \2", text)
    if src_lang == "en":
        text = _POUNDS.sub(r"\1 pounds", text)
        text = _RATING.sub(r"\1 out of \2", text)
        if "#" in text and not _NO_NUMBER_SIGN.search(text):
            text = _NUMBER_SIGN.sub(lambda match: "number " if match.start() else "Number ", text)
        return text
    text = _WITH_TAXES.sub(lambda match: f"{match[1]}{_TAXES[match[2]]}", text)
    return _HEIGHT.sub(r"\1,\2 m", text) if _OF_HEIGHT.search(text) else text


def with_bytes(output: str, lang: str) -> str:
    """Return an English or French translation with bytes as its language writes them.

    >>> with_bytes("un fichier de 16 GB", "fr"), with_bytes("a file of 500 Mo", "en")
    ('un fichier de 16 Go', 'a file of 500 MB')
    """
    return _OTHER_BYTES[lang].sub(rf"\1\2{_BYTE[lang]}", output)


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
