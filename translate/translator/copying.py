"""Translate again what was lost, such as long numbers and addresses, and what was copied as if a name.

In place of what was lost the model reads a stand-in that it copies well, which is then replaced by what it stands for;
in place of "&" it reads "and". At symbols such as emoji texts are cut, and each part is translated by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from translate.config.decode import DecodeConfig
from translate.data.tokenizer import Tokenizer
from translate.translator.translation import Translation, join_segments

_NUMBER = re.compile(r"(?<!\w)\d(?:[.,'/-]?\d){3,}")  # of four or more digits
_WORD = re.compile(r"[^\s\"“”«»()\[\]]+")
_ADDRESS = re.compile(  # of a mailbox, a page or a file; a name or a subject as in messages; R&D
    r"(?<![\w@#])(?:[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?i:https?://|www\.)[^\s\"“”«»()\[\]]*[\w/]"
    r"|(?=[\d.-]*[^\W\d])[\w-]{2,}(?:\.[a-z\d-]{2,})+|[@#][^\W\d]\w+|\w+&\w+)"
)
_FORMULA = re.compile(r"(?<![\w.,])\d[\d.,]*(?:\s?[-+×÷*/=<>≤≥±]\s?\d[\d.,]*)+")
_AMOUNT = re.compile(r"[€£$]\s?\d+(?:[.,\s]\d{3})*(?:[.,]\d+)?|(?<![\w.,])\d+(?:[.,\s]\d{3})*(?:[.,]\d+)?\s?[€£$]")
_CURRENCY = re.compile("[€£$]|euro|dollar|pound|livre", re.IGNORECASE)
_AND = re.compile(r"(?<=\s)&(?=\s)")
_AND_WORDS = {"en": "and", "fr": "et"}  # by the language of the source
_LONE_WORD = re.compile(r"(?![a-zß-öø-ÿœ])[^\W\d_][a-zß-öø-ÿœ]+[.!?]?")  # with a capital
_LETTER = re.compile(r"[^\W_]")
_MARKS = " \u00a0\u202f.,;:!?…)»”"  # behind a symbol
_SEPARATOR = r"[\s.,'’]"  # between the digits of a number, as languages write it
_STAND_INS = {
    "number": ("2000", "3000", "1990", "5000", "1000", "1995", "4000", "2003"),
    "word": ("Tom", "Boston", "Mary", "Paris", "John", "London", "Bill", "Jim"),
}
_ATTEMPTS = 2


class _Lost(NamedTuple):
    start: int
    text: str
    kind: str  # number, word (an address, too), or and


class _Masked(NamedTuple):
    """A text with stand-ins, and what each of them stands for."""

    text: str
    originals: dict[str, str]

    def fill(self, output: str) -> str | None:
        """Put back what was replaced; None unless each stand-in is in the output once."""
        for stand_in, original in self.originals.items():
            around = re.split(rf"(?<![\w.,]){stand_in}(?!\w|[.,]\d)", output)
            if len(around) != 2:
                return None
            output = original.join(around)
        return output


def unknown_words(text: str, tokenizer: Tokenizer) -> list[tuple[int, int]]:
    """Return where the words are that hold characters that the tokenizer lacks: start and end.

    The marks of a sentence behind such a word are no part of it.
    """
    if text.isascii():
        return []
    found = []
    for match in _WORD.finditer(text):
        word = match[0].rstrip(".,;:!?…")
        if not word.isascii() and tokenizer.lacks(word):
            found.append((match.start(), match.start() + len(word)))
    return found


def copy_lost(
    texts: Sequence[str],
    found: Sequence[Translation],
    tokenizer: Tokenizer,
    translate: Callable[[list[str]], Iterable[Translation]],
    src_lang: str,
) -> list[Translation]:
    """Return translations, those anew whose best one has lost a long number, an unknown word, an address or "&".

    A new one counts only if it holds every stand-in once; scores and token ids are of the text with stand-ins.

    Args:
        texts: Clean sources.
        found: Their translations.
        tokenizer: Tells which characters are unknown.
        translate: Translates texts with stand-ins.
        src_lang: Language of the sources.
    """
    and_word = _AND_WORDS.get(src_lang, "&")
    results = list(found)
    lost = {
        place: own
        for place, (text, one) in enumerate(zip(texts, found, strict=True))
        if (own := _lost(text, one.text, tokenizer))
    }
    for attempt in range(_ATTEMPTS):
        masked = {place: _mask(texts[place], own, attempt, and_word) for place, own in lost.items()}
        masked = {place: one for place, one in masked.items() if one.text != texts[place]}
        again = translate([one.text for one in masked.values()]) if masked else ()
        for (place, one), new in zip(masked.items(), again, strict=True):
            filled = [text for other in new.hypotheses if (text := one.fill(other.text)) is not None]
            if len(filled) == len(new.hypotheses):
                results[place] = new.with_texts(filled)
                del lost[place]
    return results


def translate_around(
    texts: Sequence[str],
    found: Sequence[Translation],
    tokenizer: Tokenizer,
    translate: Callable[[list[str]], Iterable[Translation]],
    decode: DecodeConfig,
) -> list[Translation]:
    """Return translations, those in parts whose best one has lost a symbol of its source that the tokenizer lacks.

    Such a text is cut at all its unknown symbols, such as emoji; they then stand between the translations of the parts.

    Args:
        texts: Clean sources.
        found: Their translations.
        tokenizer: Tells which characters are unknown.
        translate: Translates texts without such symbols.
        decode: Of the search.
    """
    results = list(found)
    cut = {
        place: parts
        for place, (text, one) in enumerate(zip(texts, found, strict=True))
        if (parts := _parts_around(text, one.text, tokenizer))
    }
    again = iter(translate([part for parts in cut.values() for part in parts[::2] if part]) if cut else ())
    for place, parts in cut.items():
        segments = {number: next(again) for number in range(0, len(parts), 2) if parts[number]}
        if not segments:  # symbols alone
            results[place] = found[place].with_texts([texts[place]] * len(found[place].hypotheses))
            continue
        own = [[(one, one.text) for one in translation.hypotheses] for translation in segments.values()]
        joined = join_segments([parts[number] for number in segments], own, decode)
        filled = []
        for one in joined.hypotheses:
            outputs = dict(zip(segments, (text for _, text in one.parts), strict=True))
            filled.append("".join(outputs.get(number, part) for number, part in enumerate(parts)))
        results[place] = joined.with_texts(filled)._replace(tgt_lang=found[place].tgt_lang)
    return results


def _parts_around(text: str, output: str, tokenizer: Tokenizer) -> list[str]:
    """Return the parts of a text to translate, some empty, and between them what stays; none if nothing is lost."""
    places = [place for place in unknown_words(text, tokenizer) if not _LETTER.search(text[slice(*place)])]
    if all(output.count(text[slice(*place)]) >= text.count(text[slice(*place)]) for place in places):
        return []
    parts, start = [], 0
    for begin, end in places:
        before = text[start:begin]
        parts += [before.rstrip(), before[len(before.rstrip()) :] + text[begin:end]]
        start = len(text) - len(text[end:].lstrip(_MARKS))
        parts[-1] += text[end:start]
    return [*parts, text[start:]]


def translate_copied(
    texts: Sequence[str], found: Sequence[Translation], translate: Callable[[list[str]], Iterable[Translation]]
) -> list[Translation]:
    """Return translations, those anew in which a word that is the whole text came out as it is, such as "Hello".

    A capital makes a word look like a name, so it is translated in lower case; if it is no name then, the new
    translation gets the capital.

    Args:
        texts: Clean sources.
        found: Their translations.
        translate: Translates texts.
    """
    results = list(found)
    places = [place for place, text in enumerate(texts) if _LONE_WORD.fullmatch(text) and found[place].text == text]
    again = translate([texts[place].lower() for place in places]) if places else ()
    for place, one in zip(places, again, strict=True):
        if one.text.lower() != texts[place].lower():
            results[place] = one.with_texts([other.text[:1].upper() + other.text[1:] for other in one.hypotheses])
    return results


def _lost(text: str, output: str, tokenizer: Tokenizer) -> list[_Lost]:
    """Return what of a text its translation has lost, in order; nothing that overlaps."""
    words = [_Lost(start, text[start:end], "word") for start, end in unknown_words(text, tokenizer)]
    lost = [word for word in words if _LETTER.search(word.text) and output.count(word.text) < text.count(word.text)]
    inside = {place for word in words for place in range(word.start, word.start + len(word.text))}
    for pattern, kind, is_kept in _KINDS:
        for match in pattern.finditer(text):
            one = _Lost(match.start(), match[0].rstrip(".,"), kind)
            places = range(one.start, one.start + len(one.text))
            if inside.isdisjoint(places):
                inside.update(places)
                if not is_kept(output, one.text):
                    lost.append(one)
    return sorted(lost)


def _has_text(text: str, part: str) -> bool:
    return part in text


def _has_formula(text: str, formula: str) -> bool:
    return re.sub(r"\s", "", formula) in re.sub(r"\s", "", text)


def _has_amount(text: str, amount: str) -> bool:
    """Return whether a text names a currency and the number of an amount, in digits."""
    return _CURRENCY.search(text) is not None and _has_number(text, re.sub(r"[€£$\s]", "", amount))


def _has_number(text: str, number: str) -> bool:
    """Return whether a number is in a text, with or without marks between its thousands."""
    groups = re.split("[.,']", number)
    if len(groups) == 1 and number.isdigit():
        first = len(number) % 3 or 3
        groups = [number[:first], *(number[place : place + 3] for place in range(first, len(number), 3))]
    forms = ("".join(groups), _SEPARATOR.join(groups))
    return re.search(rf"(?<!\d)(?:{'|'.join(forms)})(?!\d)", text) is not None


_KINDS: tuple[tuple[re.Pattern[str], str, Callable[[str, str], bool]], ...] = (
    (_ADDRESS, "word", _has_text),
    (_FORMULA, "number", _has_formula),
    (_AMOUNT, "number", _has_amount),
    (_NUMBER, "number", _has_number),
    (_AND, "and", _has_text),
)


def _mask(text: str, lost: list[_Lost], attempt: int, and_word: str) -> _Masked:
    """Replace what is lost."""
    originals: dict[str, str] = {}
    in_case = str.upper if text.isupper() else str
    for one in reversed(lost):
        stand_in = in_case(and_word)
        if one.kind != "and":
            names = map(in_case, _STAND_INS[one.kind])
            free = [name for name in names if name not in originals and name not in text]
            if not free:
                continue
            stand_in = free[attempt % len(free)]
            originals[stand_in] = one.text
        text = text[: one.start] + stand_in + text[one.start + len(one.text) :]
    return _Masked(text, originals)
