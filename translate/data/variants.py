"""A training pair in other forms: as people type, without accents, as it is printed, with other names and numbers."""

from __future__ import annotations

import re
import unicodedata
from random import Random

from translate.data.sources import Pair

_SHORT = 3  # words
_END = re.compile(r"[\s\u00a0\u202f]*[.!?…]+$")


def typed(pair: Pair, random: Random) -> list[Pair]:
    """Return a pair as somebody in a hurry types it; nothing if its sides do not end in the same kind of mark.

    One form is drawn, but a pair of up to three words comes in all of them: people type "hello" in every way.

    >>> typed(Pair("Where is your brother?", "Où est ton frère ?"), Random(1))
    [Pair(src='where is your brother', tgt='où est ton frère')]
    >>> [form.src for form in typed(Pair("Hello!", "Bonjour !"), Random(1))]
    ['hello', 'Hello', 'hello!', 'HELLO!', 'Hello.']
    """
    ends = [match[0].strip() if (match := _END.search(side)) else "" for side in pair]
    if not ends[0] or ends[0] != ends[1]:
        return []
    bare = Pair(*(_END.sub("", side) for side in pair))
    if not (bare.src and bare.tgt):
        return []
    forms = [
        Pair(bare.src.lower(), bare.tgt.lower()),
        bare,
        Pair(pair.src.lower(), pair.tgt.lower()),
        Pair(pair.src.upper(), pair.tgt.upper()),
    ]
    if len(pair.src.split()) > _SHORT:
        return random.choices(forms, (4, 3, 2, 1))
    if ends[0] == "!":
        forms.append(Pair(bare.src + ".", bare.tgt + "."))
    return forms


def lower(pair: Pair) -> Pair:
    """Return a pair in lower case, without the marks at its ends."""
    return Pair(*(_END.sub("", side).lower() for side in pair))


_ACCENTS = re.compile(r"[\u0300-\u036f]")
_LIGATURES = str.maketrans({"œ": "oe", "Œ": "OE", "æ": "ae", "Æ": "AE"})


def without_accents(text: str) -> str:
    """Return a text as on a keyboard without accents, cedillas and ligatures.

    >>> without_accents("Ma sœur était à Besançon.")
    'Ma soeur etait a Besancon.'
    """
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", text.translate(_LIGATURES)))
    return unicodedata.normalize("NFC", bare)


_APOSTROPHE = re.compile(r"(?<=\w)'")
_QUOTED = re.compile(r'"([^"]+)"|«\s*([^«»]+?)\s*»|“([^“”]+)”')
_BEFORE_MARKS = ((re.compile(r"\s(?=[?!;])"), "\u202f"), (re.compile(r"\s(?=:)"), "\u00a0"))


def typeset(pair: Pair, langs: tuple[str, str]) -> Pair | None:
    """Return a pair with the marks that print has; None unless that changes both sides, so that each shows the style.

    Apostrophes and quotation marks are curved; French has guillemets, and no-break spaces where it has spaces.

    >>> typeset(Pair('"I\\'m here."', '"J\\'y suis."'), ("en", "fr"))
    Pair(src='“I’m here.”', tgt='«\\xa0J’y suis.\\xa0»')
    """
    sides = [_printed(side, lang) for side, lang in zip(pair, langs, strict=True)]
    return None if sides[0] == pair.src or sides[1] == pair.tgt else Pair(*sides)


def _printed(text: str, lang: str) -> str:
    text = _APOSTROPHE.sub("’", text)
    opening, closing = ("«\u00a0", "\u00a0»") if lang == "fr" else ("“", "”")
    text = _QUOTED.sub(lambda match: f"{opening}{match[match.lastindex or 0]}{closing}", text)
    if lang == "fr":
        for place, space in _BEFORE_MARKS:
            text = place.sub(space, text)
    return text


_NAME = re.compile(r"\b[B-DF-GJ-NP-TV-Z][^\W\d_A-Z]{2,}\b")  # no vowel or h: before one French drops letters of others
_NUMBER = re.compile(r"(?<![\w.,])\d{2,}(?![.,]?\d|\w)")
_CONSONANTS, _VOWELS = "bcdfgjklmnprstvwxyz", "aeiouaeioy"


def renamed(pair: Pair, random: Random) -> Pair | None:
    """Return a pair in which each name and number that stands on both sides is another one; None if there is none.

    The names are made up, so that a model learns to copy what it has never seen.

    >>> renamed(Pair("Tom is 21.", "Tom a 21 ans."), Random(3))
    Pair(src='Lywybb is 49.', tgt='Lywybb a 49 ans.')
    >>> renamed(Pair("May 21st", "Le 21 mai"), Random(3))
    """
    shared = [word for kind in (_NAME, _NUMBER) for word in kind.findall(pair.src) if word in kind.findall(pair.tgt)]
    if not shared:
        return None
    others = {word: _number(len(word), random) if word.isdigit() else _name(random) for word in dict.fromkeys(shared)}
    words = re.compile(rf"\b({'|'.join(others)})\b")
    return Pair(*(words.sub(lambda match: others[match[1]], side) for side in pair))


def _name(random: Random) -> str:
    name: str = random.choice(_CONSONANTS).upper() + random.choice(["", "", "h", "r"])
    for _ in range(random.randint(1, 3)):
        name += random.choice(_VOWELS) + random.choice(_CONSONANTS) * random.choice((1, 1, 1, 2))
    return name + random.choice(_VOWELS) * random.randint(0, 1)


def _number(digits: int, random: Random) -> str:
    return "".join([random.choice("123456789"), *random.choices("0123456789", k=digits - 1)])
