"""Translate again what was lost, such as long numbers and addresses, and what was copied as if a name.

In place of what was lost the model reads a stand-in that it copies or translates well, which is then replaced by what
it stands for; in place of "&" it reads "and".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import NamedTuple

from translate.data.tokenizer import Tokenizer
from translate.translator.guards.acronyms import STAND_INS as ACRONYM_STAND_INS
from translate.translator.guards.acronyms import with_articles
from translate.translator.guards.forms import Form, Kept, nothing, plain_form
from translate.translator.guards.lost_parts import LostPart, lost_parts
from translate.translator.guards.times import write_time
from translate.translator.translation import Translation

_AND_WORDS = {"en": "and", "fr": "et"}  # by the language of the source
_LONE_WORD = re.compile(r"(?![a-zß-öø-ÿœ])[^\W\d_][a-zß-öø-ÿœ]+[.!?]?")  # with a capital
_STAND_INS = {
    "number": ("2000", "3000", "1990", "5000", "1000", "1995", "4000", "2003"),
    "fraction": ("2000", "Tom", "3000", "Boston", "1990", "Mary"),
    "word": ("Tom", "Boston", "Mary", "Paris", "John", "London", "Bill", "Jim"),
}
_NOON = (("noon", "midi"), ("midnight", "minuit"))  # stand-ins for times of day, in English and French
_ATTEMPTS = 2


class _Masked(NamedTuple):
    """A text with stand-ins.

    Attributes:
        text: It itself.
        originals: What stands in a translation in place of the translated stand-ins.
        acronyms: Those of these that are acronyms.
        tgt_lang: Language of the translation.
    """

    text: str
    originals: dict[str, str]
    acronyms: list[LostPart]
    tgt_lang: str

    def fill(self, output: str) -> str | None:
        """Put back what was replaced; None unless each stand-in is in the output once, of numbers also as 2,000."""
        if not self.originals:
            return output
        forms = (rf"({one[0]}[\s.,]?{one[1:]})" if one.isdigit() else f"((?i:{one}))" for one in self.originals)
        pattern = re.compile(rf"(?<![\w.,])(?:{'|'.join(forms)})(?!\w|[.,]\d|\s\d{{3}}(?!\d))")
        found = sorted(match.lastindex or 0 for match in pattern.finditer(output))
        if found != list(range(1, len(self.originals) + 1)):
            return None
        originals = list(self.originals.values())
        output = pattern.sub(lambda match: originals[(match.lastindex or 0) - 1], output)
        for one in self.acronyms:
            output = with_articles(output, one.translation, one.kind, self.tgt_lang)
        return output


def copy_lost(
    texts: Sequence[str],
    found: Sequence[Translation],
    tokenizer: Tokenizer,
    translate: Callable[[list[str]], Iterable[Translation]],
    src_lang: str,
    kept: Kept = nothing,
) -> list[Translation]:
    """Return translations, those anew whose best one has lost a long number, an acronym, an unknown word or "&".

    A new one counts only if its best hypothesis holds every stand-in once and has lost nothing else, and of the others
    those that do; behind them come hypotheses of the lossy one, so that there are as many. What else was lost gets a
    stand-in in the next attempt. Scores and token ids are of the text with stand-ins.

    Args:
        texts: Clean sources.
        found: Their translations.
        tokenizer: Tells which characters are unknown.
        translate: Translates texts with stand-ins.
        src_lang: Language of the sources.
        kept: Where a text holds what comes through anyway, or as a term.
    """

    def lost_of(place: int, output: str) -> list[LostPart]:
        text, langs = texts[place], (src_lang, found[place].tgt_lang)
        return lost_parts(text, output, tokenizer, kept(text), langs)

    and_word = _AND_WORDS.get(src_lang, "&")
    results = list(found)
    lost = {place: own for place, one in enumerate(found) if (own := lost_of(place, one.text))}
    for attempt in range(_ATTEMPTS):
        masked = {
            place: _mask(texts[place], own, attempt, and_word, (src_lang, found[place].tgt_lang))
            for place, own in lost.items()
        }
        masked = {place: one for place, one in masked.items() if one.text != texts[place]}
        again = translate([one.text for one in masked.values()]) if masked else ()
        for (place, one), new in zip(masked.items(), again, strict=True):
            filled = [(other, one.fill(other.text)) for other in new.hypotheses]
            best = filled[0][1]
            if best is not None and (more := [part for part in lost_of(place, best) if part not in lost[place]]):
                lost[place] = sorted([*lost[place], *more])
            elif best is not None:
                good = [other._replace(text=text) for other, text in filled if text is not None]
                lossy = found[place].hypotheses[: len(filled) - len(good)]
                results[place] = new._replace(text=good[0].text, hypotheses=(*good, *lossy))
                del lost[place]
    return results


def translate_copied(
    texts: Sequence[str],
    found: Sequence[Translation],
    translate: Callable[[list[str]], Iterable[Translation]],
    kept: Kept = nothing,
    form: Callable[[str], Form] = Form,
) -> list[Translation]:
    """Return translations, those anew in which a word that is the whole text came out as it is, such as "Hello".

    A capital makes a word look like a name, so it is translated in lower case; if it is no name then, the new
    translation gets the capital.

    Args:
        texts: Clean sources.
        found: Their translations.
        translate: Translates texts.
        kept: Where a text holds what comes through anyway, or as a term.
        form: Takes off the marks around a text that the model does not read, and keeps them.
    """
    results = list(found)
    forms = {
        place: own
        for place, (text, one) in enumerate(zip(texts, found, strict=True))
        if _LONE_WORD.fullmatch((own := form(text)).text)
        and one.text == own.restore(own.text, one.tgt_lang)
        and not kept(text)
    }
    again = translate([own.text.lower() for own in forms.values()]) if forms else ()
    for (place, own), one in zip(forms.items(), again, strict=True):
        if one.text.lower() != own.text.lower():
            results[place] = own.restore_all(one)
    return results


def _mask(text: str, lost: list[LostPart], attempt: int, and_word: str, langs: tuple[str, str]) -> _Masked:
    """Replace what is lost in a text of the first language, to be translated into the second."""
    originals: dict[str, str] = {}
    in_case = str.upper if plain_form(text).capitals else str.lower if text.islower() else str
    stand_ins = _stand_ins(langs)
    parts, end = [], len(text)
    for one in reversed(lost):
        stand_in = in_case(and_word)
        if one.kind != "and":
            names = [(in_case(own), in_case(other)) for own, other in stand_ins.get(one.kind, ())]
            free = [(own, other) for own, other in names if own not in text and other not in originals]
            if not free:
                continue
            stand_in, output = free[attempt % len(free)]
            if not text.islower() and not text[: one.start].strip():
                stand_in = stand_in[0].upper() + stand_in[1:]
            originals[output] = write_time(one.text, langs[1]) if one.kind == "time" else one.translation or one.text
        parts += [text[one.start + len(one.text) : end], stand_in]
        end = one.start
    acronyms = [one for one in lost if one.translation]
    return _Masked("".join([text[:end], *parts[::-1]]), originals, acronyms, langs[1])


@cache
def _stand_ins(langs: tuple[str, str]) -> dict[str, Sequence[tuple[str, str]]]:
    """Return what stands for each kind of lost parts, in the first language, and its translation into the second."""
    stand_ins: dict[str, Sequence[tuple[str, str]]] = {
        kind: [(name, name) for name in names] for kind, names in _STAND_INS.items()
    }
    if langs in (("en", "fr"), ("fr", "en")):
        for kind, pairs in {"time": _NOON, **ACRONYM_STAND_INS}.items():
            stand_ins[kind] = pairs if langs[0] == "en" else [(french, english) for english, french in pairs]
    return stand_ins
