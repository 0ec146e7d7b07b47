"""English measures: a model that knows metric ones better reads those instead, and its translation is put right."""

from __future__ import annotations

import re
from functools import partial
from typing import NamedTuple


class Measure(NamedTuple):
    """A measure of English text.

    Attributes:
        english: How English writes it behind a number, and before a noun with a hyphen.
        stand_in: What the model reads instead behind a number.
        written: How the translation may write that.
        french: The measure in French, with {} where several have an s.
    """

    english: str
    stand_in: str
    written: str
    french: str


_CENTIMETRES = "cm|centimètres?"
_KILOMETRES_AN_HOUR = "km/h|kilomètres? (?:à l'|par )heure"
_MEASURES = (
    Measure("-inch", "-centimetre", _CENTIMETRES, "pouce{}"),
    Measure(" ?inch(?:es)?|-inches", " centimetres", _CENTIMETRES, "pouce{}"),
    Measure(" ?mph| miles per hour| miles an hour", " km/h", _KILOMETRES_AN_HOUR, "mile{} à l'heure"),
    Measure(" ?oz| ounces?|-ounce", " g", "g|grammes?", "once{}"),
    Measure("-mile", " km", "km|kilomètres?", "mile{}"),
    Measure("-(?:pound|lb)", " kg", "kg|kilos?|kilogrammes?", "livre{}"),
)
_NUMBER = r"(?<![\w.,/])(?!1\b[^.,/])(\d+(?:[.,/]\d+)*)"
_BEFORE_MARK = re.compile(r"(?<![\w.,/])(?:1?\d{1,2})(?:[./]\d+)?\Z")  # of inches
_FEET = re.compile(  # 5 ft 10 in
    r"(?<=\d) ?ft\b\.?(?: (\d{1,2}) ?in\b\.?(?=[,;:)]| (?:tall|high|long|wide|deep)\b|\.?\Z))?"
)
_FEET_AND_INCHES = re.compile(r"(?<![\w.,'])(?<!° )([3-8])['’′]\s?(1[01]|\d)(?:[\"”″]|'')(?!\w)")  # 6'2"
_MILES = re.compile(r"(?<=\d) ?mi\b(?=[.,;:)]|\Z| (?:from|to|away|north|south|east|west|off|of|long|per|an)\b)")
_ENGLISH = {one: re.compile(rf"{_NUMBER}(?:{one.english})\b(?!-)") for one in _MEASURES}
_WRITTEN = {one: re.compile(rf"(\d+(?:[.,/]\d+)*)[ \u00a0\u202f]?(?:{one.written})(?!\w)") for one in _MEASURES}


def plain_measures(text: str) -> tuple[str, tuple[Measure, ...]]:
    """Return English text with other measures, and which it had.

    >>> plain_measures('A 55-inch TV, 27" wide, at 65 mph.')[0]
    'A 55-centimetre TV, 27 centimetres wide, at 65 km/h.'
    """
    if not any(map(str.isdigit, text)):
        return text, ()
    text = _with_inches(_FEET_AND_INCHES.sub(r"\1 feet \2 inches", text))
    text = _MILES.sub(" miles", _FEET.sub(_in_feet, text))
    used = tuple(one for one in _MEASURES if _ENGLISH[one].search(text) and not _WRITTEN[one].search(text))
    for one in used:
        text = _ENGLISH[one].sub(rf"\1{one.stand_in}", text)
    return text, used


def french_measures(output: str, used: tuple[Measure, ...]) -> str:
    """Return the French translation of a text with the measures that it had before `plain_measures`.

    >>> french_measures("Une télé de 55 cm et 15.6 centimètres.", plain_measures("55 inches")[1])
    'Une télé de 55 pouces et 15,6 pouces.'
    """
    for one in used:
        output = _WRITTEN[one].sub(partial(_french, one), output)
    return output


def _in_feet(short: re.Match[str]) -> str:
    return f" feet {short[1]} inches" if short[1] else " feet"


def _french(measure: Measure, match: re.Match[str]) -> str:
    number = match[1].replace(".", ",") if re.fullmatch(r"\d+\.\d+", match[1]) else match[1]
    plural = "" if re.match(r"[01](?!\d)", number) else "s"
    return f"{number} {measure.french.format(plural)}"


def _with_inches(text: str) -> str:
    """Return a text with the word for marks of inches, which close no quotation."""
    opened, done = False, ""
    first, *parts = text.split('"')
    for part in parts:
        inches = not opened and _BEFORE_MARK.search(first) and not part[:1].isalnum()
        opened = opened if inches else not opened
        done, first = done + first + (" inches" if inches else '"'), part
    return done + first
