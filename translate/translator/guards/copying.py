"""Translate again what was lost, such as long numbers and addresses, and what was copied as if a name.

In place of what was lost the model reads a stand-in that it copies well, which is then replaced by what it stands for;
in place of "&" it reads "and".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from translate.data.tokenizer import Tokenizer
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
_NOON = {"en": ("noon", "midnight"), "fr": ("midi", "minuit")}  # stand-ins for times of day, which are translated
_ATTEMPTS = 2


class _Masked(NamedTuple):
    """A text with stand-ins, and what each of them stands for."""

    text: str
    originals: dict[str, str]

    def fill(self, output: str) -> str | None:
        """Put back what was replaced; None unless each stand-in is in the output once, of numbers also as 2,000."""
        if not self.originals:
            return output
        forms = (rf"({one[0]}[\s.,]?{one[1:]})" if one.isdigit() else f"({one})" for one in self.originals)
        pattern = re.compile(rf"(?<![\w.,])(?:{'|'.join(forms)})(?!\w|[.,]\d|\s\d{{3}}(?!\d))")
        found = sorted(match.lastindex or 0 for match in pattern.finditer(output))
        if found != list(range(1, len(self.originals) + 1)):
            return None
        originals = list(self.originals.values())
        return pattern.sub(lambda match: originals[(match.lastindex or 0) - 1], output)


def copy_lost(
    texts: Sequence[str],
    found: Sequence[Translation],
    tokenizer: Tokenizer,
    translate: Callable[[list[str]], Iterable[Translation]],
    src_lang: str,
    kept: Kept = nothing,
) -> list[Translation]:
    """Return translations, those anew whose best one has lost a long number, an unknown word, an address or "&".

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
    and_word = _AND_WORDS.get(src_lang, "&")
    results = list(found)
    lost = {
        place: own
        for place, (text, one) in enumerate(zip(texts, found, strict=True))
        if (own := lost_parts(text, one.text, tokenizer, kept(text)))
    }
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
            if best is not None and (more := _newly_lost(texts[place], best, lost[place], tokenizer, kept)):
                lost[place] = sorted([*lost[place], *more])
            elif best is not None:
                good = [other._replace(text=text) for other, text in filled if text is not None]
                lossy = found[place].hypotheses[: len(filled) - len(good)]
                results[place] = new._replace(text=good[0].text, hypotheses=(*good, *lossy))
                del lost[place]
    return results


def _newly_lost(text: str, output: str, known: list[LostPart], tokenizer: Tokenizer, kept: Kept) -> list[LostPart]:
    """Return what of a text an output has lost beyond the parts that are known to be."""
    return [one for one in lost_parts(text, output, tokenizer, kept(text)) if one not in known]


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
    in_case = str.upper if plain_form(text).capitals else str
    noon = [_NOON[lang] for lang in langs] if set(langs) == set(_NOON) else [(), ()]
    translated = dict(zip(map(in_case, noon[0]), map(in_case, noon[1]), strict=True))
    stand_ins = {**_STAND_INS, "time": noon[0]}
    names = {kind: [name for name in map(in_case, own) if name not in text] for kind, own in stand_ins.items()}
    parts, end = [], len(text)
    for one in reversed(lost):
        stand_in = in_case(and_word)
        if one.kind != "and":
            free = [name for name in names[one.kind] if translated.get(name, name) not in originals]
            if not free:
                continue
            stand_in = free[attempt % len(free)]
            is_time = one.kind == "time"
            originals[translated.get(stand_in, stand_in)] = write_time(one.text, langs[1]) if is_time else one.text
        parts += [text[one.start + len(one.text) : end], stand_in]
        end = one.start
    return _Masked("".join([text[:end], *parts[::-1]]), originals)
