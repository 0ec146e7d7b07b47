"""The guards that compare a text with its translation, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from translate.config.decode import DecodeConfig
from translate.data.tokenizer import Tokenizer
from translate.translator.guards.copying import copy_lost, translate_copied
from translate.translator.guards.doubles import say_once
from translate.translator.guards.forms import (
    Form,
    Kept,
    plain_form,
    translate_in_other_case,
    translate_titles,
)
from translate.translator.guards.marks import marks_of_the_language
from translate.translator.guards.names import copy_names
from translate.translator.guards.numbers import numbers_of_the_language
from translate.translator.guards.reading import read_numbers
from translate.translator.guards.symbols import translate_around
from translate.translator.translation import Translation

Translate = Callable[[list[str], DecodeConfig], list[Translation]]


def guarded_translations(
    texts: list[str],
    found: list[Translation],
    translate: Translate,
    decode: DecodeConfig,
    *,
    tokenizer: Tokenizer,
    langs: tuple[str, str],
    kept: Kept,
) -> list[Translation]:
    """Return translations, those anew that the guards of the settings find fault with.

    Args:
        texts: Clean sources; those that hold what is kept as they were.
        found: Their translations.
        translate: Translates texts with settings.
        decode: Says which guards there are, `form_guard` and `copy_guard`.
        tokenizer: Tells which characters are unknown.
        langs: Language of the sources, and of the translations.
        kept: Where a text holds what comes through anyway, or as a term; it is no loss there, and no title.
    """
    texts = [text if kept(text) else read_numbers(text, *langs, form_guard=decode.form_guard) for text in texts]
    exact = replace(decode, shortlist=False)  # a lone word has hardly a choice in it
    form = plain_form if decode.form_guard else Form

    def again(texts: list[str]) -> list[Translation]:
        return translate(texts, decode)

    def guard(texts: list[str], found: list[Translation]) -> list[Translation]:
        if decode.form_guard:
            found = translate_titles(texts, found, again, kept)
            found = translate_in_other_case(texts, found, again, kept)
        if decode.copy_guard:
            found = translate_copied(texts, found, lambda some: translate(some, exact), kept, form)
            found = copy_names(texts, found, again, kept, form)
            found = copy_lost(texts, found, tokenizer, again, langs[0], kept)
        return found

    found = guard(texts, found)
    if decode.copy_guard:
        found = translate_around(texts, found, tokenizer, lambda some: guard(some, again(some)), decode, kept)
        found = numbers_of_the_language(texts, found, langs[0], kept)
    return marks_of_the_language(texts, say_once(texts, found, kept), kept) if decode.form_guard else found
