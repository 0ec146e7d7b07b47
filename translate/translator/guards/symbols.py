"""Symbols and words with characters that the tokenizer lacks; texts that are translated in parts around the symbols."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from translate.config.decode import DecodeConfig
from translate.data.tokenizer import Tokenizer
from translate.translator.guards.forms import Form, Kept, Ranges, nothing, overlaps, plain_form
from translate.translator.translation import Translation, join_segments

_WORD = re.compile(r"[^\s\"“”«»()\[\]]+")
_SYMBOLS = re.compile(r"[^\w\s\x00-\x7f'’“”«»…–—-]+")
_CODE = re.compile(r"[<=>\\`{|}]|\w_\w")  # of plain characters those that tokenizers of prose lack
_RARE = re.compile("[©®™]")  # known and lost all the same
_SIGN = re.compile(r"(?<!\S)(?:[:;]'?-?[()]+|<3|[|>]|[-=]>)(?!\S)")  # the like of plain characters
_LAST_BRACKETS = re.compile(  # of a sentence, around words
    r"(?<=\S)\s(?P<open>\()(?=[^()]*[^\W\d_][a-zß-öø-ÿœ])[^()]+(?P<close>\))(?=[.!?…]+(?:\s|\Z)|\Z)"
)
_DEGREES = re.compile(r"[-+]?[\d.,]*°[CF]?")  # a part of numbers
_LETTER = re.compile(r"[^\W_]")
_WORD_LETTER = re.compile(r"[^\W\d_]")
_LABEL = re.compile(r"[^\W\d_][\w'’-]*+(?: [\w'’-]++){0,2} ?(:)(?= +\S)")  # up to three words
_LIST = 5  # items of a list in which models lose some
_ITEM = 4  # words of an item
_MARKS = " \u00a0\u202f.,;:!?…"  # behind a symbol


def unknown_parts(text: str, tokenizer: Tokenizer, kept: Ranges = ()) -> list[tuple[int, int]]:
    """Return where symbols and words are that hold characters that the tokenizer lacks or barely knows, or ©, ® or ™.

    The marks of a sentence behind such a word are no part of it. Of a word of known letters with unknown symbols, such
    as emoji, these alone are returned, but of one with digits all. Nothing is returned that overlaps `kept`.
    """
    if text.isascii() and not _CODE.search(text):
        return []
    found = []
    for match in _WORD.finditer(text):
        word = match[0].rstrip(".,;:!?…")
        if (word.isascii() and not _CODE.search(word)) or _DEGREES.fullmatch(word):
            continue
        if not (_is_unknown(word, tokenizer) or _RARE.search(word)):
            continue
        symbols = [one.span() for one in _SYMBOLS.finditer(word) if tokenizer.lacks(one[0]) or _RARE.search(one[0])]
        rest = _SYMBOLS.sub("", word)
        whole = not symbols or any(map(str.isdigit, word)) or (bool(rest) and _is_unknown(rest, tokenizer))
        for start, end in [(0, len(word))] if whole else symbols:
            found.append((match.start() + start, match.start() + end))
    return [(start, end) for start, end in found if not overlaps(start, end, kept)]


def _is_unknown(word: str, tokenizer: Tokenizer) -> bool:
    return tokenizer.lacks(word) or tokenizer.barely_knows(word)


def translate_around(
    texts: Sequence[str],
    found: Sequence[Translation],
    tokenizer: Tokenizer,
    translate: Callable[[list[str]], Iterable[Translation]],
    decode: DecodeConfig,
    kept: Kept = nothing,
) -> list[Translation]:
    """Return translations, in parts those whose best one has lost a symbol of its source, and those with brackets.

    Such a text is cut at all its symbols, such as emoji, and around words in brackets that end a sentence; they then
    stand between the translations of the parts, since models read words badly that touch a bracket. A list of short
    items is cut at its commas if one was lost, and behind a label such as "Size: M" if that came out as it is. A text
    without a letter is its own translation.

    Args:
        texts: Clean sources.
        found: Their translations.
        tokenizer: Tells which characters are unknown.
        translate: Translates texts without such symbols.
        decode: Of the search.
        kept: Where a text holds what comes through anyway, or as a term.
    """
    results = list(found)
    cut: dict[int, tuple[Form, list[str]]] = {}
    for place, (text, one) in enumerate(zip(texts, found, strict=True)):
        if text and not _WORD_LETTER.search(text) and not kept(text):
            results[place] = one.with_texts([text] * len(one.hypotheses))
        else:
            form = plain_form(text) if decode.form_guard else Form(text)
            ranges = kept(form.text)
            marks = [] if ranges else [*_colon_of_label(form.text, one.text), *_commas_of_list(form.text, one.text)]
            if marks or _has_lost_symbols(text, one.text, tokenizer, kept(text)) or _brackets(form.text, ranges):
                cut[place] = form, _parts_around(form.text, tokenizer, ranges, marks)
    wanted = [part for _, parts in cut.values() for part in parts[::2] if has_letters(part)]
    again = iter(translate(wanted) if wanted else ())
    for place, (form, parts) in cut.items():
        own = {number: next(again) for number in range(0, len(parts), 2) if has_letters(parts[number])}
        pairs = [[(one, one.text) for one in translation.hypotheses] for translation in own.values()]
        joined = join_segments([parts[number] for number in own], pairs, decode)
        filled = []
        for hypothesis in joined.hypotheses:
            outputs = dict(zip(own, (text for _, text in hypothesis.parts), strict=True))
            output = "".join(outputs.get(number, part) for number, part in enumerate(parts))
            filled.append(form.restore(output, found[place].tgt_lang))
        results[place] = joined.with_texts(filled)._replace(tgt_lang=found[place].tgt_lang)
    return results


def has_letters(text: str) -> bool:
    """Return whether a text has a letter or a digit."""
    return _LETTER.search(text) is not None


def _has_lost_symbols(text: str, output: str, tokenizer: Tokenizer, kept: Ranges) -> bool:
    symbols = {text[start:end] for start, end in _symbols(text, tokenizer, kept)}
    signs = _SIGN.findall(text)  # by themselves, and not as in "sad:("
    return any(output.count(one) < text.count(one) for one in symbols) or bool({*signs} - {*_SIGN.findall(output)})


def _symbols(text: str, tokenizer: Tokenizer, kept: Ranges) -> list[tuple[int, int]]:
    """Return where unknown symbols are, and such as :-) and |, which models know and lose."""
    unknown = [(start, end) for start, end in unknown_parts(text, tokenizer, kept) if not has_letters(text[start:end])]
    known = [match.span() for match in _SIGN.finditer(text) if not overlaps(match.start(), match.end(), kept)]
    return sorted({*unknown, *known})


def _brackets(text: str, kept: Ranges) -> list[tuple[int, int]]:
    """Return where brackets around words at the end of a sentence open and close."""
    found = [match for match in _LAST_BRACKETS.finditer(text) if not overlaps(match.start(), match.end(), kept)]
    return [match.span(name) for match in found for name in ("open", "close")]


def _commas_of_list(text: str, output: str) -> list[tuple[int, int]]:
    """Return where the commas of a list of short items are, if its translation has lost or doubled one."""
    items, found = text.split(", "), [item.strip(" .").lower() for item in output.split(", ")]
    if len(items) < _LIST or any(len(item.split()) > _ITEM for item in items):
        return []
    complete = len(found) >= len(items) and len({*found}) == len(found)
    return [] if complete else [match.span() for match in re.finditer(",(?= )", text)]


def _colon_of_label(text: str, output: str) -> list[tuple[int, int]]:
    """Return where the colon behind a label such as "Size: M" is, if the label, not in capitals, came out as it is."""
    label = _LABEL.match(text)
    if not label or label[0].isupper() or not output.lower().startswith(label[0][:-1].rstrip().lower()):
        return []
    return [label.span(1)]


def _parts_around(text: str, tokenizer: Tokenizer, kept: Ranges, marks: Ranges) -> list[str]:
    """Return the parts of a text to translate, some empty, and between them what stays, the given marks and others."""
    parts, start = [], 0
    for begin, end in sorted([*_symbols(text, tokenizer, kept), *_brackets(text, kept), *marks]):
        before = text[start:begin]
        parts += [before.rstrip(), before[len(before.rstrip()) :] + text[begin:end]]
        start = len(text) - len(text[end:].lstrip(_MARKS))
        parts[-1] += text[end:start]
    return [*parts, text[start:]]
