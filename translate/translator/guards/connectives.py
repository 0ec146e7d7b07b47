"""Connectives that training text hardly has, such as "etc." and "Néanmoins,": read as others, and some put back."""

from __future__ import annotations

import re
from functools import partial

_ET_CETERA = re.compile(  # what ends a sentence stands for its full stop, too
    r"(?<=[\w)»\"]),? (?:etc|&c)(?![\w'’/-])(\.{0,3}|…)(\Z|(?=\s+(?-i:[A-ZÀ-Þ])))?", re.IGNORECASE
)
_OTHER_THINGS = {"en": "and other things", "fr": "et d'autres choses"}
_AND_THE_REST = {
    "en": re.compile(r",? and other things\b(\.{3}|…|\.)?", re.IGNORECASE),
    "fr": re.compile(r",? et (?:d['’]|les |des )autres choses\b(\.{3}|…|\.)?", re.IGNORECASE),
}
_THAT_IS = {
    "en": re.compile(r"\bi\.e\.,?(?=\s)|(?<=, )that is(?: to say)?,(?=\s)|(?<=, )that is to say(?=\s)"),
    "fr": re.compile(r"\b(?:c['’]est[-\u2011 ]à[-\u2011 ]dire|c\.-à-d\.)(?=\s)"),
}
_WHICH_MEANS = {"en": "which means", "fr": "ce qui veut dire"}
_MEANS = {"fr": re.compile(r"\bce qui (?:veut dire|signifie)\b")}  # English has "which means" as often as "that is"
_BEGIN = r"(?:\A|(?<=[.!?;:] ))"  # of a sentence
_OTHERS = {  # in lower case; with a capital where they have one
    "en": {
        rf"{_BEGIN}moreover,": "in addition,",
        rf"{_BEGIN}instead,": "instead of that,",
        rf"{_BEGIN}whereas(?= )": "although",
        rf"{_BEGIN}overall,": "on the whole,",
        rf"{_BEGIN}thus,": "so,",
        rf"{_BEGIN}as to(?= )|{_BEGIN}with (?:regards?|respect) to(?= )": "as for",
        rf"{_BEGIN}(?:that said|that being said|having said that),": "however,",
        rf"{_BEGIN}(?:all in all|by and large),": "on the whole,",
        rf"{_BEGIN}in the event that(?= )": "if",
        rf"{_BEGIN}to be on the safe side,": "as a precaution,",
        r"\bon the assumption that(?= )": "assuming that",
        r"\bfrom beginning to end\b": "from start to finish",
        r"\bbehind closed doors\b": "in private",
        r"\b(?:every )?once in a while\b": "from time to time",
        r"\bowing to(?= )": "due to",
        rf"{_BEGIN}prior to(?= )": "before",
        r"\bsubsequent to(?= )": "after",
        r"\balbeit(?= )": "although",
        r"\binsofar as possible\b": "as far as possible",
        r"\bnot to mention(?= )": "without mentioning",
        r"\ba fortnight ago\b": "two weeks ago",
        r"\bregarding(?= (?:the|your|my|our|his|her|their|this|that|these|those|an?)\b)": "concerning",
        r"\bat most(?= (?:\d|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|an?|one)\b)": "no more than",
    },
    "fr": {
        rf"{_BEGIN}(?:néanmoins|toutefois),": "cependant,",
        rf"{_BEGIN}de plus,": "en plus,",
        rf"{_BEGIN}pendant ce temps(?:-là)?,": "entre-temps,",
        rf"{_BEGIN}en gros,": "en résumé,",
        rf"{_BEGIN}de même,": "de la même façon,",
        rf"{_BEGIN}par ailleurs,": "en outre,",
        rf"{_BEGIN}entretemps,": "entre-temps,",
        r"\bà mon insu\b": "sans que je le sache",
        r"\bcoûte que coûte\b": "à tout prix",
        r"\btant bien que mal\b": "avec difficulté",
        r"\bau sein d(?:e |['’])(?=l['’]|la |cette |notre |votre |ce |un|son |sa |leur )": "dans ",
        r"\bau sein du(?= )": "dans le",
        r"\bau sein des(?= )": "dans les",
        r"(?:\bà l['’]égard|(?<!en )\bvis-à-vis) de(?= (?:ses|nos|vos|mes|leurs|la|son|sa|leur)\b)": "envers",
        rf"{_BEGIN}à défaut,": "sinon,",
        rf"{_BEGIN}par rapport(?= (?:à|aux?)\b)": "comparé",
        rf"{_BEGIN}(?:cela|ceci) dit,": "ceci étant dit,",
        rf"{_BEGIN}qui plus est,": "en plus,",
        rf"{_BEGIN}en règle générale,": "d'une manière générale,",
        rf"{_BEGIN}d['’]une part,": "d'un côté,",
        rf"{_BEGIN}en ce qui concerne(?= )": "concernant",
        rf"{_BEGIN}(?:pour ce qui est|s['’]agissant) du(?= )": "concernant le",
        rf"{_BEGIN}(?:pour ce qui est|s['’]agissant) des(?= )": "concernant les",
        rf"{_BEGIN}(?:pour ce qui est|s['’]agissant) de(?= (?:la|votre|notre|ma|sa|cette|ce)\b| l['’])": "concernant",
        r"\bà l['’]instar du(?= )": "comme le",
        r"\bà l['’]instar des(?= )": "comme les",
        r"\bà l['’]instar de(?= )": "comme",
        r"\bpréalablement au(?= )": "avant le",
        r"\bpréalablement à(?= )": "avant",
        r"\bau vu(?= (?:des?|du)\b| d['’])": "compte tenu",
        r"\bdans le but d(?=e |['’])": "afin d",
        r"\ble cas échéant\b": "si nécessaire",
        r"\bdans la mesure où (?=(?:ils?|elles?|on|une?)\b)": "puisqu'",
        r"\bdans la mesure où(?= )": "puisque",
        r"\bil n['’]empêche qu(?:e |['’])": "malgré tout, ",
        rf"{_BEGIN}or,? (?=(?:il|elle|on|nous|vous|ils|elles|je|tu|les?|la|ces?|cet|cette)\b|[jlc]['’])": "mais ",
        r"(?<!pour )\bautant que(?= je sache\b)": "pour autant que",
        r"\bquoique(?=[ ,])": "bien que",
        r"\bquoiqu(?=['’](?:ils?|elles?|on)\b)": "bien qu",
        r"\bhormis(?= )": "à part",
        r"(?<=\w )concernant(?= (?:votre|notre|mon|ma|cette|cet|ce|la|un|une)\b| l['’])": "au sujet de",
    },
}
_CLOSING = (  # of a French letter, in its many forms
    r"\A(?:(?:je vous prie|nous vous prions) (?:de bien vouloir |d['’]|de )|veuillez )"
    r"(?:agréer|recevoir|croire|accepter)\b[^.;:?!]*\b(?:salutations|sentiments|considération|hommages)\b[^.;:?!]*\.?\Z"
)
_OTHERS["fr"][_CLOSING] = "veuillez agréer, Monsieur, mes salutations distinguées."  # which the memory has
_SYNONYMS = {
    lang: [(re.compile(pattern, re.IGNORECASE), words) for pattern, words in own.items()]
    for lang, own in _OTHERS.items()
}


def plain_connectives(text: str, src_lang: str) -> str:
    """Return English or French text with connectives that any text has.

    >>> plain_connectives("Pens, paper, etc. Come on Monday, i.e. tomorrow (or Tuesday, etc.).", "en")
    'Pens, paper and other things. Come on Monday, which means tomorrow (or Tuesday and other things).'
    >>> plain_connectives("Lundi, c'est-à-dire demain, avec stylos, gommes, etc.", "fr")
    "Lundi, ce qui veut dire demain, avec stylos, gommes et d'autres choses."
    >>> plain_connectives("Toutefois, c'est cher. Or il est pauvre, quoique heureux.", "fr")
    "Cependant, c'est cher. Mais il est pauvre, bien que heureux."
    """

    def rest(match: re.Match[str]) -> str:
        mark = "" if match[1] == "." and match[2] is None else match[1]
        return f" {_OTHER_THINGS[src_lang]}{mark}"

    text = _THAT_IS[src_lang].sub(_WHICH_MEANS[src_lang], _ET_CETERA.sub(rest, text))
    for pattern, words in _SYNONYMS[src_lang]:
        text = pattern.sub(partial(_like, words), text)
    return text


def _like(words: str, match: re.Match[str]) -> str:
    """Return words with a capital if a match has one."""
    return words[0].upper() + words[1:] if match[0][0].isupper() else words


def with_connectives(text: str, output: str, lang: str) -> str:
    """Return a translation with "etc." and "c'est-à-dire" in place of what the model wrote for the words that it read.

    Args:
        text: A clean source, English or French.
        output: Its translation into the other one.
        lang: Language of the output.

    >>> with_connectives("Pens, paper, etc.", "Des stylos, du papier et d'autres choses.", "fr")
    'Des stylos, du papier, etc.'
    >>> with_connectives("Monday, i.e. tomorrow", "lundi, ce qui signifie demain", "fr")
    "lundi, c'est-à-dire demain"
    >>> with_connectives("Stylos, etc., et d'autres choses", "Pens and other things", "en")
    'Pens and other things'
    """
    written, own = len(_AND_THE_REST[lang].findall(output)), _AND_THE_REST["en" if lang == "fr" else "fr"]
    if written and written == len(_ET_CETERA.findall(text)) and not own.search(text):
        output = _AND_THE_REST[lang].sub(lambda match: ", ETC." if match[0].isupper() else ", etc.", output)
    if lang in _MEANS and len(_MEANS[lang].findall(output)) == len(_THAT_IS["en"].findall(text)):
        output = _MEANS[lang].sub("c'est-à-dire", output)
    return output
