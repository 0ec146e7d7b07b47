"""Dates, ordinals and centuries: how a model reads them best, and how the other language writes them."""

from __future__ import annotations

import re

MONTHS = "January February March April May June July August September October November December"
_SHORT_MONTHS = "Jan Feb Mar Apr Jun Jul Aug Sept Sep Oct Nov Dec"
_FULL_MONTHS = {month[:3]: month for month in MONTHS.split()}
MONTH_BEGINNINGS = "|".join(_FULL_MONTHS)
_MONTH = rf"({'|'.join(MONTHS.split())}|(?:{'|'.join(_SHORT_MONTHS.split())})\b\.?)(?!\w)"
_BEHIND_DAYS = (
    "at|and|or|to|from|in|for|the|we|I|he|she|it|they|is|was|will|by|until|with|on|as|when|if|because|who|which|there|you|"
    "after|before|since|this|that|has|had|are|were|but|during|where|our|my|your"
)
_MONTH_DAY = re.compile(  # "In March 14 people came" is none
    rf"\b{_MONTH} (\d{{1,2}})(?:(?:st|nd|rd|th)\b|(?!\w)(?=[.;:!?),]|\Z| \d{{4}}\b| (?:{_BEHIND_DAYS})\b))"
    r"(?:,?(?= \d{4}\b))?"
)
_MONTH_DAYS = re.compile(  # July 14 to 28, July 14 - August 2
    rf"\b{_MONTH} (?P<start>\d{{1,2}})(?:st|nd|rd|th)?(?:\s?[-–]\s?| to | through | until )(?:{_MONTH} )?"
    rf"(?P<end>\d{{1,2}})(?:st|nd|rd|th)?(?![\w:])(?![.,/]\d)(?=[.;:!?),]|\Z| (?:{_BEHIND_DAYS})\b)"
)
_DAY_OF_MONTH = re.compile(rf"\b(?:[Tt]he )?(\d{{1,2}})(?:st|nd|rd|th) (?:of )?{_MONTH}")
_DAY_OF_SHORT_MONTH = re.compile(  # 3 Dec, but the full stop of a sentence stays
    rf"(?<![\w.,:/-])(\d{{1,2}}) ({'|'.join(_SHORT_MONTHS.split())})\b(?:\.(?=[\s,;:!?)]))?(?=[\s.,;:!?)]|\Z)"
)
_ORDINAL = {
    "en": re.compile(r"(?<![\w.,(-])(\d{1,2})(?:st|nd|rd|th)(?!\w)"),
    "fr": re.compile(r"(?<![\w.,(-])(\d{1,2})(?:e|è|ème|ième)(?!\w)"),
}
_ENGLISH_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth "
    "twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first"
)
_FRENCH_ORDINALS = (
    "premier deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième onzième douzième "
    "treizième quatorzième quinzième seizième dix-septième dix-huitième dix-neuvième vingtième vingt-et-unième "
    "vingt-deuxième vingt-troisième vingt-quatrième vingt-cinquième vingt-sixième vingt-septième vingt-huitième "
    "vingt-neuvième trentième trente-et-unième"
)
_ORDINALS = {"en": _ENGLISH_ORDINALS.split(), "fr": _FRENCH_ORDINALS.split()}  # as far as days of a month go
_ROMANS = "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX XXI"
_ROMAN = _ROMANS.split()  # of centuries
_ROMAN_NUMBER = "|".join(sorted(_ROMAN, key=len, reverse=True))
_ROMAN_ORDINAL = rf"(?!vie\b)(?:{_ROMAN_NUMBER})(?:er?|è|ème|ᵉ)"
_ROMAN_CENTURY = re.compile(  # also the first two of "du Ve, du VIe et du VIIe siècle"
    rf"(?i:\b({_ROMAN_ORDINAL})(?=(?:(?:,| et| ou|-)?(?: au| du| le)?[ -]?{_ROMAN_ORDINAL}){{0,3}} siècles?\b))"
)
_ROMAN_ENDING = re.compile("(?:er?|è|ème|ᵉ)\\Z", re.IGNORECASE)
_WRITTEN_ORDINAL = {  # in words, digits or Roman
    "en": rf"(?<![\w-])((?i:{'|'.join(reversed(_ORDINALS['en']))})|\d{{1,2}}(?:st|nd|rd|th))(?!\w)",
    "fr": rf"(?<![\w-])((?i:{'|'.join(reversed(_ORDINALS['fr']))}|{_ROMAN_ORDINAL})|\d{{1,2}}(?:er?|è|ème))(?!\w)",
}
_ANY_ORDINAL = {lang: re.compile(pattern) for lang, pattern in _WRITTEN_ORDINAL.items()}
_CENTURY = {
    "en": re.compile(_WRITTEN_ORDINAL["en"] + r"(?=[ -]centur(?:y|ies)\b)"),
    "fr": re.compile(_WRITTEN_ORDINAL["fr"] + r"(?= siècles?\b)"),
}
_CENTURY_WORD = {"en": "centur", "fr": "siècle"}
_BEFORE_FROM = re.compile(r"(?:[,:;(]\s+|\b(?:[Oo]pen|[Cc]losed|available|runs|works?|working|is|are)\s+)\Z")
_FRENCH_MONTHS = {"janv": "janvier", "févr": "février", "avr": "avril", "juil": "juillet", "sept": "septembre"}
_FRENCH_MONTHS |= {"oct": "octobre", "nov": "novembre", "déc": "décembre"}
_FRENCH_DAY = re.compile(
    rf"\b(\d{{1,2}}|1er) ({'|'.join(_FRENCH_MONTHS)})\b(?:\.|(?<!sept)|(?= \d{{4}}))(?=[\s,;:!?)]|\Z)"
)
_FRENCH_FIRST = re.compile(
    r"\b(?:(1er)(?= [^\W\d_])(?! (?i:janv|f[ée]v|mars|avr|mai|juin|juil|ao[ûu]t|sept|oct|nov|d[ée]c))"
    r"|(1(?:re|ère))|(2nd)|(2nde))(?!\w)"
)
_NAME = re.compile(r"[A-ZÀ-Þ]\w{3,} \Z")
_FIRST_WORDS = ("premier", "première", "second", "seconde")


def plain_dates(text: str, src_lang: str) -> str:
    """Return a text with English dates in the order of French ones, and ordinals and centuries as words.

    Args:
        text: English or French.
        src_lang: Its language.

    >>> plain_dates("On July 4th, 1776, the 2nd day; on Oct. 5; May 3 to 5.", "en")
    'On 4 July 1776, the second day; on 5 October; from 3 May to 5 May.'
    >>> plain_dates("In March 14 people came to the 3rd floor on the 2nd of May in the 19th century.", "en")
    'In March 14 people came to the third floor on 2 May in the nineteenth century.'
    >>> plain_dates("Le 1er prix du 5 janv., le 3e jour, aux XVIIe et XVIIIe siècles.", "fr")
    'Le premier prix du 5 janvier, le troisième jour, aux dix-septième et dix-huitième siècles.'
    """
    if src_lang == "fr":
        text = _FRENCH_DAY.sub(lambda match: f"{match[1]} {_FRENCH_MONTHS[match[2]]}", text)
        text = _FRENCH_FIRST.sub(_in_letters, text)
        if "siècle" in text.lower():
            text = _ROMAN_CENTURY.sub(lambda match: _ORDINALS["fr"][_number(match[1], "fr") - 1], text)
    elif src_lang == "en":
        text = _DAY_OF_MONTH.sub(lambda match: f"{match[1]} {_full(match[2])}", text)
        text = _DAY_OF_SHORT_MONTH.sub(lambda match: f"{match[1]} {_full(match[2])}", text)
        text = _MONTH_DAYS.sub(_span_of_days, text)
        text = _MONTH_DAY.sub(lambda match: f"{match[2]} {_full(match[1])}", text)
    words = _ORDINALS[src_lang]

    def word(match: re.Match[str]) -> str:
        number = int(match[1])
        return words[number - 1] if 1 <= number <= len(words) else match[0]

    return _ORDINAL[src_lang].sub(word, text)


def with_centuries(text: str, output: str, lang: str) -> str:
    """Return a translation with the one century of its source, and with centuries as French writes them.

    Args:
        text: A clean source, English or French.
        output: Its translation into the other one.
        lang: Language of the output.

    >>> with_centuries("a 19th-century house", "une maison du dix-huitième siècle", "fr")
    'une maison du XIXe siècle'
    >>> with_centuries("au XIIe siècle", "in the 11th century", "en")
    'in the twelfth century'
    """
    if _CENTURY_WORD[lang] not in output:
        return output
    wanted, found = _only_century(text, "en" if lang == "fr" else "fr"), _only_century(output, lang)
    right = wanted if wanted and found is not None and wanted != found and wanted <= len(_ROMAN) else None

    def written(match: re.Match[str]) -> str:
        number = right or _number(match[1], lang)
        if lang == "fr" and 1 < number <= len(_ROMAN) and (right or not match[1][0].isdigit()):
            return f"{_ROMAN[number - 1]}e"
        return _ORDINALS[lang][number - 1] if right else match[0]

    output = _CENTURY[lang].sub(written, output)
    if right and lang == "en":
        word = _ORDINALS["en"][right - 1]
        output = re.sub(rf"\b([Aa])n? (?={word}\b)", r"\1n " if word.startswith("e") else r"\1 ", output)
    return output


def _only_century(text: str, lang: str) -> int | None:
    """Return the number of the century in a text that has no other ordinal."""
    centuries, ordinals = _CENTURY[lang].findall(text), _ANY_ORDINAL[lang].findall(text)
    return _number(centuries[0], lang) if len(centuries) == len(ordinals) == 1 else None


def _number(ordinal: str, lang: str) -> int:
    if ordinal[0].isdigit():
        return int(ordinal.rstrip("stndrheèm"))
    if ordinal.lower() in _ORDINALS[lang]:
        return _ORDINALS[lang].index(ordinal.lower()) + 1
    return _ROMAN.index(_ROMAN_ENDING.sub("", ordinal).upper()) + 1


def _span_of_days(span: re.Match[str]) -> str:
    """Return days of a month with words between them, each with its month."""
    _, month, first, other, last = span.group(0, 1, "start", 3, "end")
    if not other and int(first) >= int(last):
        return span[0]  # a score
    before = span.string[max(0, span.start() - 20) : span.start()]
    return from_to(before, f"{first} {_full(month)}", f"{last} {_full(other or month)}")


def from_to(before: str, start: str, end: str) -> str:
    """Return a span of days in words, with "from" where nothing before it stands in its place.

    >>> from_to("Open ", "Monday", "Friday"), from_to("the week of ", "3 May", "9 May")
    ('from Monday to Friday', '3 May to 9 May')
    """
    if not before or _BEFORE_FROM.search(before):
        return f"{'from' if before else 'From'} {start} to {end}"
    return f"{start} to {end}"


def _in_letters(first: re.Match[str]) -> str:
    """Return 1er or 2nd in letters, but behind a name (François 1er)."""
    named = _NAME.search(first.string, max(0, first.start() - 40), first.start())
    return first[0] if named else _FIRST_WORDS[(first.lastindex or 1) - 1]


def _full(month: str) -> str:
    return _FULL_MONTHS[month[:3]]
