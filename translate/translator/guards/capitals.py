"""Capitals that English has wherever they stand, and that of a sentence's first letter."""

from __future__ import annotations

import re

from translate.translator.guards.abbreviations import ENGLISH_DAYS
from translate.translator.guards.dates import MONTHS

_PEOPLES = (
    "African Algerian American Arab Argentinian Asian Australian Austrian Belgian Brazilian British Bulgarian Canadian "
    "Catholic Chilean Chinese Christian Colombian Cuban Czech Danish Dutch Egyptian English European Finnish French "
    "German Greek Hungarian Indian Iranian Iraqi Irish Israeli Italian Japanese Jewish Korean Latin Lebanese Mexican "
    "Moroccan Muslim Norwegian Palestinian Portuguese Romanian Russian Scottish Serbian Spanish Swedish Swiss Syrian "
    "Tunisian Turkish Ukrainian Vietnamese Welsh"
)
_ALSO_OTHERS = {"march", "may"}  # words in small letters
_WITH_CAPITAL = {word.lower() for word in [*ENGLISH_DAYS, *MONTHS.split(), *_PEOPLES.split()]} - _ALSO_OTHERS
_IN_SMALL_LETTERS = re.compile(rf"(?<![\w'’./@#-])(?:{'|'.join(sorted(_WITH_CAPITAL))})(?=s?\b(?![/@]|\.\w))")
_DAY_AND_MONTH = re.compile(r"(?<=\d )(?:may|march)(?= \d{4}\b|[.,;:!?)]|\Z)")  # behind a day
_PRONOUN = re.compile(r"(?<![\w'’./@#-])i(?=['’](?:m|ll|ve|d)\b|[\s,;!?]|\Z)")
_LETTER_I = re.compile(r"(?<![\w'’])i(?!\w)")
_FIRST_WORD = re.compile(r"[^\W\d_]+")


def with_capitals(text: str, output: str, lang: str) -> str:
    """Return a translation with the capitals that its language has, but in small letters if its source is.

    Args:
        text: A clean source.
        output: Its translation.
        lang: Language of the output.

    >>> with_capitals("Désolé, je rêvassais vendredi.", "Sorry, i was daydreaming on friday.", "en")
    'Sorry, I was daydreaming on Friday.'
    >>> with_capitals("Deux !", "two ukrainian people!", "en"), with_capitals("à lundi", "until monday", "en")
    ('Two Ukrainian people!', 'until monday')
    """
    if text == text.lower():
        return output
    if lang == "en":
        for words in (_IN_SMALL_LETTERS, _DAY_AND_MONTH):
            output = words.sub(lambda match: match[0].capitalize(), output)
        output = output if _LETTER_I.search(text) else _PRONOUN.sub("I", output)
    first = _FIRST_WORD.match(output)
    if first and text[0].isupper() and first[0].islower() and first[0] not in text:
        return output[0].upper() + output[1:]
    return output
