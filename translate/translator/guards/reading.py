"""What a model reads of a text: no forms, marks, abbreviations and measures that it has read little of."""

from __future__ import annotations

from translate.translator.guards.abbreviations import plain_abbreviations
from translate.translator.guards.acronyms import plain_acronyms
from translate.translator.guards.amounts import plain_amounts
from translate.translator.guards.connectives import plain_connectives
from translate.translator.guards.contractions import plain_contractions
from translate.translator.guards.dates import plain_dates
from translate.translator.guards.forms import Form, plain_characters, plain_form, plain_label, plain_marks
from translate.translator.guards.labels import split_label, translate_label
from translate.translator.guards.measures import plain_measures
from translate.translator.guards.misspellings import plain_spelling
from translate.translator.guards.times import plain_times
from translate.translator.truecasing import Truecaser

_LANGUAGES = {"en", "fr"}  # between which more is known
_PLAIN = (
    plain_spelling,
    plain_contractions,
    plain_connectives,
    plain_abbreviations,
    plain_acronyms,
    plain_amounts,
    plain_dates,
    plain_times,
    plain_marks,
)


def read_form(text: str, src_lang: str, tgt_lang: str, *, form_guard: bool, truecaser: Truecaser | None = None) -> Form:
    """Return what the model reads of a clean text, and what its translation gets back."""
    text = plain_characters(text)
    if not form_guard:
        return Form(text)
    form = plain_label(plain_form(text))
    if {src_lang, tgt_lang} == _LANGUAGES:
        form = _plain_words(form, src_lang, tgt_lang)
    if truecaser is None:
        return form
    cased = truecaser.restore(form.text, src_lang)
    return form._replace(text=cased, lower_case=cased != form.text)


def _plain_words(form: Form, src_lang: str, tgt_lang: str) -> Form:
    """Return a form of English or French text without labels, abbreviations and the like, and with usual spelling."""
    label, text = split_label(form.text, tgt_lang)
    form = form._replace(head=form.head + label, text=text)
    text, measures = plain_measures(form.text) if src_lang == "en" else (form.text, ())
    for plain in _PLAIN:
        text = plain(text, src_lang)
    return form._replace(text=text, measures=measures)


def read_numbers(text: str, src_lang: str, tgt_lang: str, *, form_guard: bool) -> str:
    """Return a clean text with the numbers that its translation should have, for comparing the two."""
    text = plain_characters(text)
    return plain_amounts(text, src_lang) if form_guard and {src_lang, tgt_lang} == _LANGUAGES else text


def known_label(text: str, src_lang: str, tgt_lang: str) -> str | None:
    """Return the translation of a text that is a label with a number, as between English and French; else None."""
    return translate_label(text, tgt_lang) if {src_lang, tgt_lang} == _LANGUAGES else None
