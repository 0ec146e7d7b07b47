"""Forms of text that models have read little of: with marks of a list or around it, in capitals, as titles.

A model reads such a text without its form, and its translation gets that back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import unescape
from typing import NamedTuple

from translate.data.cleaning import clean_text
from translate.translator.guards.addresses import ADDRESS
from translate.translator.guards.measures import Measure, french_measures
from translate.translator.translation import Translation

Ranges = Sequence[tuple[int, int]]  # of characters, start and end
Kept = Callable[[str], Ranges]  # where a text holds what comes through anyway, or as a term
_CLOSING = {'"': '"', "“": "”", "«": "»", "(": ")", "[": "]", "*": "*", "_": "_"}
_OPENING = {closing: opening for opening, closing in _CLOSING.items()}
_QUOTES = {  # that open and close, and what they become, by the language that the translation is in
    "fr": (r'["“]\s*', "«\u00a0", r'\s*["”]', "\u00a0»"),
    "en": (r"«\s*", '"', r"\s*»", '"'),
}
_PLAIN = str.maketrans(
    {chr(0x2080 + digit): str(digit) for digit in range(10)}  # of formulas of substances
    | {"\u2010": "-", "\u2011": "-", "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
)
_LIST_MARK = re.compile(  # also of a heading, a line of a dialogue or of an older letter
    r"(?:[-*+•·‣▪◦–—→✓>]|[-=]>|#{1,6}|\[[ xX]\]|\(?\d{1,3}[.)]|\(?[a-z]\))\s+(?=\S)"
)
_ACCENT = re.compile(r"(?<=[^\W\d_])[\u00b4\u2032\u02bc](?=[^\W\d_])")  # for an apostrophe
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]{2,31}\d{0,2});")
_MANY_SPACES = re.compile(" {2,}")
_DOTTED_TIME = re.compile(r"(?<=\d)\.(?=[0-5]\d\s?[AaPp]\.?[Mm]\b)")  # 6.30 p.m.
_FRACTIONS = {"1/2": "½", "1/3": "⅓", "2/3": "⅔", "1/4": "¼", "3/4": "¾"}
_MIXED = re.compile(  # 1 1/2 cups
    rf"(?<![\w.,/])(\d{{1,3}}) ({'|'.join(_FRACTIONS)})(?= (?:cups?|teaspoons?|tablespoons?|tsp|tbsp|pounds?|lbs?"
    r"|ounces?|oz|inch(?:es)?|feet|miles?|hours?|days?|weeks?|months?|years?|pints?|quarts?|litres?|liters?|kg|tasses?"
    r"|heures?|livres?|cuillères?)\b)"
)
_SHORT_DASH = re.compile(r"(?<=\w)–(?=\w)")  # of a range or a score
_LONG_DASH = re.compile(r"(?<=\w)—(?=\w)")  # between clauses
_TIGHT = re.compile(  # marks within a word, behind which a space was forgotten
    r"(?<=[^\W\d_]{2})(?:,(?=[^\W\d_]{2})|[.!?](?=[A-ZÀ-Þ][a-zß-ÿœ]*+(?:[^\w.]|\Z)))"
)
_QUOTED = re.compile(r'(?<!\w)["“]\s*([^"“”«»]*[^\s"“”«»])\s*["”](?!\w)')
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,2}|__?)(?=[^\W_])([^*_]*[^\W_][.,:;!?]?)\1(?![\w*])")
_OPENING_BRACKET = re.compile(r"(?<!\S)\((?=[^\W\d_])")
_AND_OR = {"en": re.compile(r"(?<![\w/])and/(or)(?![\w/])"), "fr": re.compile(r"(?<![\w/])et/(ou)(?![\w/])")}
_EITHER = {  # file(s), marié(e)
    "en": re.compile(r"(?<=[^\W\d_]{2})\((s|es)\)(?![^\W_]{2})"),
    "fr": re.compile(r"(?<=[^\W\d_]{2})\((s|es|e|ne|le|se)\)(?![^\W_]{2})"),
}
_SINGLE_QUOTED = re.compile(r"(?<![\w(])['‘](?=[^\W\d_])([^'‘’\"]*[^\s'‘’])['’](?!\w)")
_NO_SINGLE_QUOTES = re.compile(r"[=;_{}<>\\\"“«]")  # of code, or that hold a quotation themselves
_NO_PROSE = re.compile(r"[/@_\\#=]")
_MARKS = 8  # around a text; more are none
_CAPITALS = 5  # letters of a text that is no abbreviation
_WORDS = re.compile(r"[^\W\d_]+")
_LABEL = re.compile(r"[A-ZÀ-Þ]{4,20}(?= ?:\s| - )(?=.*[a-zß-öø-ÿ])")  # WARNING: hot
_LABEL_END = re.compile(r"\s?:| - ")
_BEFORE_NAMES = re.compile(r"\b(?:Mrs?|Ms|Dr|Prof|St|M|Mme|Mlle)\b")
_LINE = 12  # words of a line of a list, or a headline
_SHORT = 3  # words of a text whose first one may be known in the other case alone
_TITLE = 3  # words with a capital that a title has
_SMALL = 3  # letters of words that have none in a title


def nothing(_: str) -> Ranges:
    """Return that a text holds nothing that is kept."""
    return ()


def overlaps(start: int, end: int, kept: Ranges) -> bool:
    """Return whether a part of a text, from `start` to before `end`, overlaps what is kept."""
    return any(start < last and first < end for first, last in kept)


class Form(NamedTuple):
    """What the model reads of a text, and what its translation gets back."""

    text: str
    head: str = ""
    tail: str = ""
    capitals: bool = False
    measures: tuple[Measure, ...] = ()
    label: bool = False  # the part before the first mark is in capitals
    lower_case: bool = False  # it was in lower case, its names too
    capital: bool = False  # it began with one, which the model does not read

    def restore(self, output: str, tgt_lang: str) -> str:
        """Return a translation in the form of the text, with the quotation marks of its language."""
        head, tail, output = self.head, self.tail, french_measures(output, self.measures)
        if tgt_lang in _QUOTES:
            opening, new_opening, closing, new_closing = _QUOTES[tgt_lang]
            head, tail = re.sub(opening, new_opening, head), re.sub(closing, new_closing, tail)
        if self.label and (end := _LABEL_END.search(output)):
            output = output[: end.start()].upper() + output[end.start() :]
        if self.lower_case:
            output = output.lower()
        if self.capital:
            output = output[:1].upper() + output[1:]
        return head + (output.upper() if self.capitals else output) + tail

    def restore_all(self, translation: Translation) -> Translation:
        """Return a translation of the text with its first letter in another case in the case and form of the text."""
        outputs = [self._in_case(other.text) for other in translation.hypotheses]
        if _is_typed(self.text):
            outputs = [output.rstrip(" .!?\u202f\u00a0").lower() for output in outputs]
        return translation.with_texts([self.restore(output, translation.tgt_lang) for output in outputs])

    def _in_case(self, output: str) -> str:
        """Return a translation with the case of the text's first letter, but an abbreviation in capitals as it is."""
        if self.text[:1].isupper():
            return output[:1].upper() + output[1:]
        return output if output[1:2].isupper() else output[:1].lower() + output[1:]


def plain_form(text: str) -> Form:
    """Take off the mark of a list and what encloses a clean text, or opens or closes it alone, and lower capitals.

    >>> plain_form("« NO WAY! »")[:4]
    ('no way!', '« ', ' »', True)
    >>> plain_form("2) Close it.")[:4]
    ('Close it.', '2) ', '', False)
    >>> plain_form("(Tom) is here. [NATO]").text
    '(Tom) is here. [NATO]'
    """
    head = tail = ""
    for _ in range(_MARKS):
        begin, text, end = _peel(text)
        if not begin + end:
            break
        head, tail = head + begin, end + tail
    capitals = text.isupper() and sum(map(str.isalpha, text)) >= _CAPITALS
    return Form(text.lower() if capitals else text, head, tail, capitals)


def plain_label(form: Form) -> Form:
    """Return what the model reads of a text that begins with a word in capitals and a mark.

    >>> plain_label(Form("WARNING: hot")).text, plain_label(Form("NASA: HOT")).text
    ('Warning: hot', 'NASA: HOT')
    """
    label = _LABEL.match(form.text)
    return form._replace(text=label[0].capitalize() + form.text[label.end() :], label=True) if label else form


def plain_characters(text: str) -> str:
    """Return a text with single spaces, also where one was forgotten, and the marks of keyboards, in times a colon.

    Entities of HTML become the characters that they stand for.

    >>> plain_characters("J\u00b4ai  vu l\u2019o\ufb03ce du rendez\u2011vous.")
    "J'ai vu l’office du rendez-vous."
    >>> plain_characters("1914–1918.It was cold,very cold—see www.example.com,Tom.")
    '1914-1918.It was cold, very cold - see www.example.com,Tom.'
    >>> plain_characters("6.30 p.m. &amp; it&#39;s late: 1 1/2 cups of H₂O")
    "6:30 p.m. & it's late: 1½ cups of H2O"
    """
    if "&" in text:
        text = clean_text(_ENTITY.sub(lambda match: unescape(match[0]), text))
    text = _LONG_DASH.sub(" - ", _SHORT_DASH.sub("-", text.translate(_PLAIN)))
    text = _MIXED.sub(lambda match: match[1] + _FRACTIONS[match[2]], text)
    text = _DOTTED_TIME.sub(":", _ACCENT.sub("'", _MANY_SPACES.sub(" ", text)))
    return " ".join(map(_spaced_word, text.split(" "))) if _TIGHT.search(text) else text


def _spaced_word(word: str) -> str:
    """Return a word with a space behind a comma or the end of a sentence in it, unless it is an address."""
    return word if _NO_PROSE.search(word) or ADDRESS.search(word) else _TIGHT.sub(r"\g<0> ", word)


def plain_marks(text: str, src_lang: str) -> str:
    """Return a text without *emphasis*, _so_ too, with marks that do not touch the words, around sentences plain ones.

    A model that has read little in quotation marks and brackets does not know the first word behind one: it has no
    space before it. "And/or" is read as "or", and put back by `marks.py`; of "file(s)" and "marié(e)" one form is left.

    >>> plain_marks('The “best” film, *really*: «\u00a0non\u00a0». “We know,” he said.', "en")
    'The « best » film, really: « non ». "We know," he said.'
    >>> plain_marks("A bus (the old one) and/or a taxi at 80 km/h.", "en")
    'A bus ( the old one) or a taxi at 80 km/h.'
    >>> plain_marks("Marié(e)s ? Nom(s) ?", "fr")
    'Mariés ? Noms ?'
    >>> plain_marks("Don't click 'Save', the boys' rock 'n' roll.", "en")
    "Don't click « Save », the boys' rock 'n' roll."
    """
    text = _EITHER[src_lang].sub(lambda match: "s" if match[1].endswith("s") else "", text)
    text = _AND_OR[src_lang].sub(r"\1", _OPENING_BRACKET.sub("( ", text))
    if src_lang == "en" and not _NO_SINGLE_QUOTES.search(text):
        text = _SINGLE_QUOTED.sub(lambda match: f'"{match[1]}"' if len(match[1]) > 1 else match[0], text)

    def spaced(match: re.Match[str]) -> str:
        return f"« {match[1]} »" if match[1][-1].isalnum() else f'"{match[1]}"'

    text = _QUOTED.sub(spaced, _EMPHASIS.sub(r"\2", text))
    return re.sub(r"(?<!\s)\s*»", " »", re.sub(r"«\s*", "« ", text))


def translate_titles(
    texts: Sequence[str],
    found: Sequence[Translation],
    translate: Callable[[list[str]], Iterable[Translation]],
    kept: Kept = nothing,
) -> list[Translation]:
    """Return translations, those of Texts Like This One from lower case if they have a better score then.

    Args:
        texts: Clean sources.
        found: Their translations.
        translate: Translates texts.
        kept: Where a text holds what comes through anyway, or as a term; such a text is left as it is.
    """
    titles = {place: _lower_title(text) for place, text in enumerate(texts) if _is_title(text) and not kept(text)}
    again = translate(list(titles.values())) if titles else ()
    named = (_with_names(texts[place], found[place].text, one) for place, one in zip(titles, again, strict=True))
    return _better(found, dict(zip(titles, named, strict=True)))


def _with_names(text: str, output: str, translation: Translation) -> Translation:
    """Return a translation of a title in lower case with the capitals of the names that `output` has, too."""
    names = {word.lower(): word for word in {*_WORDS.findall(text)} & {*_WORDS.findall(output)}}
    texts = [_WORDS.sub(lambda match: names.get(match[0], match[0]), one.text) for one in translation.hypotheses]
    return translation.with_texts(texts) if texts else translation


def translate_in_other_case(
    texts: Sequence[str],
    found: Sequence[Translation],
    translate: Callable[[list[str]], Iterable[Translation]],
    kept: Kept = nothing,
) -> list[Translation]:
    """Return translations, those with the other case of the text's first letter if they have a better score then.

    Tried with short texts such as "Bread" or "see you", and with lines without a mark at their end, of lists and
    headlines ("Milk, eggs and bread", "Strike at the port") or as people type: "where is the station".

    Args:
        texts: Clean sources.
        found: Their translations.
        translate: Translates texts.
        kept: Where a text holds what comes through anyway, or as a term; such a text is left as it is.
    """
    plain = {place: plain_label(plain_form(text)) for place, text in enumerate(texts) if not kept(text)}
    forms = {
        place: own
        for place, own in plain.items()
        if not own.capitals and own.text[:1].isalpha() and (_is_short(own.text) or _is_line(own.text))
    }
    again = translate([own.text[:1].swapcase() + own.text[1:] for own in forms.values()]) if forms else ()
    restored = (own.restore_all(one) for own, one in zip(forms.values(), again, strict=True))
    return _better(found, dict(zip(forms, restored, strict=True)))


def _better(found: Sequence[Translation], others: Mapping[int, Translation]) -> list[Translation]:
    """Return translations, at the places of others those if they have a better score."""
    return [max(one, others.get(place, one), key=lambda either: either.score) for place, one in enumerate(found)]


def _is_short(text: str) -> bool:
    """Return whether a text has few words and no capital behind its first letter."""
    return not any(map(str.isupper, text[1:])) and len(_WORDS.findall(text)) <= _SHORT


def _is_line(text: str) -> bool:
    """Return whether a text has no mark at its end, and either no capitals or few words, the first not all capitals."""
    few = not text[1:2].isupper() and _SHORT < len(_WORDS.findall(text)) <= _LINE
    return _is_typed(text) or (few and text[-1].isalnum())


def _is_typed(text: str) -> bool:
    """Return whether a text is in lower case and without a mark at its end."""
    return text.islower() and text[-1].isalnum()


def _peel(text: str) -> tuple[str, str, str]:
    """Return the outermost mark at the start, the text within, and that at the end, spaces with them."""
    mark = _LIST_MARK.match(text)
    if mark and _WORDS.search(text, mark.end()):
        return mark[0], text[mark.end() :], ""
    opening = re.match(r'"+|\*+|_+|[“«(\[]', text)
    if opening:
        first = opening[0]
        last = first if first[0] in '"*_' else _CLOSING[first]
        closed = len(text) > len(first) + len(last) and text.endswith(last)
        inside = text[len(first) : -len(last) if closed else None]
        begin, end = first, last if closed else ""
    elif text[-1:] in _OPENING and not re.search(r"\d\"+\Z|[:;]'?-?\)+\Z", text):  # of inches, :-)
        end = text[len(text.rstrip(text[-1])) :] if text[-1] in '"*_' else text[-1]
        begin, inside = "", text[: -len(end)]
    else:
        return "", text, ""
    marks = {*begin, *end, _CLOSING.get(begin[:1], ""), _OPENING.get(end[:1], "")} - {""}
    if not marks.isdisjoint(inside) or not _WORDS.search(inside):
        return "", text, ""
    start, stop = len(inside) - len(inside.lstrip()), len(inside.rstrip())
    return begin + inside[:start], inside.strip(), inside[stop:] + end


def _lower_title(text: str) -> str:
    """Return a title in lower case but for its first letter, behind the marks before it."""
    first = len(plain_form(text).head) + 1
    return text[:first] + _lower(text[first:])


def _lower(text: str) -> str:
    """Return a text in lower case, but for abbreviations such as NASA."""
    return _WORDS.sub(lambda match: match[0] if match[0].isupper() and len(match[0]) > 1 else match[0].lower(), text)


def _is_title(text: str) -> bool:
    """Return whether a text has capitals as a title has: some, and words without one only if they are short.

    Mr. and the like are before names, whose capitals tell nothing.
    """
    if _BEFORE_NAMES.search(text):
        return False
    words = _WORDS.findall(text)
    with_capital = [word for word in words if word[0].isupper() and len(word) > 1 and not word[1:].isupper()]
    others = [word for word in words if word.islower()]
    return len(with_capital) >= _TITLE and all(len(word) <= _SMALL for word in others)
