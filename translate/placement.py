"""Where in a translation its source's spans and terms belong, by word alignment."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from translate.alignment import Links
    from translate.protect import Slot

_TOKEN = re.compile(r"\w+(?:[^\w\s]+\w+)*|[^\w\s]+")
_WORD = re.compile("[^ ]+")


class Token(NamedTuple):
    """A word of a translation, signs beside one, or what was put in.

    Attributes:
        gap: What stands before it: spaces, or nothing.
        text: The token.
        place: Where in the source that stands which it translates; None = unknown.
        src_word: Number of the source word that its word is linked to, if any.
        is_word: Whether it holds more than signs.
    """

    gap: str
    text: str
    place: int | None
    src_word: int | None
    is_word: bool


def filled(source: str, slots: Sequence[Slot], target: str, links: Links) -> list[Token]:
    """The tokens of a translation, with each slot in the place of its stand-in, once.

    That is where the stand-in was copied, if it was. Else it is the run of words that are linked to the stand-in's
    words, the one with the largest surplus of them over others. Without any, the slot goes between the words that were
    before it and those that were behind it, so that the fewest are on the wrong side.

    Args:
        source: What the model read.
        slots: Of spans and terms, in order.
        target: What the model wrote.
        links: Of its words with those of `source`.
    """
    words = [match.span() for match in _WORD.finditer(source)]
    covered = [_covered(words, slot) for slot in slots]
    first = {word: own[0] for own in covered for word in own}  # the words of a slot count as one
    with_letters = [re.search(r"\w", word) is not None for word in _WORD.findall(target)]
    src_words = _spread({tgt: first.get(src, src) for src, tgt in links if with_letters[tgt]}, set(first))
    tokens = list(_tokens(source, words, _names(source, slots), target, src_words))
    owners: list[int | None] = [None] * len(tokens)  # which slot takes the place of a token
    _take_copies(source, slots, covered, tokens, owners)
    for number, own in enumerate(covered):
        if number not in owners:
            weights = [
                None if owner is not None or not token.is_word else 1 if token.src_word in own else -1
                for token, owner in zip(tokens, owners, strict=True)
            ]
            start, end = best_run(weights)
            owners[start:end] = [number] * (end - start)
    tokens = _replaced(tokens, owners, slots)
    for number, slot in enumerate(slots):
        if number not in owners:
            tokens = _inserted(tokens, slot)
    return tokens


def best_run(weights: Sequence[int | None]) -> tuple[int, int]:
    """The run with the largest sum, the longest and then the first of equals; both its ends are above 0.

    Args:
        weights: None is never part of a run.

    Returns:
        Its first place and the one after its last; (0, 0) if no weight is above 0.

    >>> best_run([0, 1, -1, 0, 1, 0, None, 1])
    (1, 5)
    """
    best, found = (0, 0), (0, 0)
    total = start = 0
    for place, weight in enumerate(weights):
        if weight is None or total < 0 or (total == 0 and start == place):
            total, start = 0, place
        if weight is None or (start == place and weight <= 0):
            total, start = 0, place + 1
            continue
        total += weight
        if weight > 0 and (total, place + 1 - start) > best:
            best, found = (total, place + 1 - start), (start, place + 1)
    return found


def boundary(tokens: Sequence[Token], place: int, window: tuple[int, int], *, last: bool = False) -> int:
    """Before which token of a window a place of the source is, with the fewest tokens on the wrong side.

    Args:
        tokens: All.
        place: In the source.
        window: First token and the one after the last.
        last: Whether to take the last of equally good answers.
    """
    first, end = window
    wrong = sum(token.place is not None and token.place < place for token in tokens[first:end])
    found, fewest = first, wrong
    for number in range(first, end):
        own = tokens[number].place
        wrong += 0 if own is None else 1 if own >= place else -1
        if wrong < fewest or (last and wrong == fewest):
            found, fewest = number + 1, wrong
    return found


def _spread(src_words: dict[int, int], kept: set[int]) -> dict[int, int]:
    """Source word of each target word, where an article has been given back its own.

    Attention often looks at the noun while it writes the article. So the first of the target words that share a source
    word goes to the first source word that has none, is not `kept`, and lies between that of the word before and the
    shared one.

    >>> _spread({0: 0, 1: 3, 2: 3, 3: 2}, set())  # "in a red hat", "dans un chapeau rouge"
    {0: 0, 1: 1, 2: 3, 3: 2}
    """
    spread = dict(src_words)
    for tgt, src in src_words.items():
        if any(later > tgt and other == src for later, other in spread.items()):
            free = set(range(spread.get(tgt - 1, -1) + 1, src)) - set(spread.values()) - kept
            spread[tgt] = min(free, default=src)
    return spread


def _names(source: str, slots: Sequence[Slot]) -> list[str]:
    """Stand-ins, the longest first."""
    return sorted({source[slot.start : slot.end] for slot in slots}, key=lambda name: (-len(name), name))


def _tokens(
    source: str, words: list[tuple[int, int]], names: list[str], target: str, src_words: dict[int, int]
) -> Iterator[Token]:
    """Tokens of a translation; a stand-in in it is one by itself.

    A word translates the word that it is linked to, a sign the like one in the source, if both have as many of them.
    """
    ranges = list(_token_ranges(names, target))
    tgt_starts = [match.start() for match in _WORD.finditer(target)]
    signs = _places_of_signs(source, [match.span() for match in _TOKEN.finditer(source)])
    equal = {sign for sign, found in _places_of_signs(target, ranges).items() if len(found) == len(signs.get(sign, ()))}
    end = 0
    for start, stop in ranges:
        text = target[start:stop]
        src_word = src_words.get(bisect_right(tgt_starts, stop - 1) - 1)
        is_word = re.search(r"\w", text) is not None
        if is_word:
            core = None if src_word is None else re.search(r"\w|$", source[slice(*words[src_word])])
            place = None if core is None or src_word is None else words[src_word][0] + core.start()
        else:
            place = signs[text].pop(0) if text in equal else None
        yield Token(target[end:start], text, place, src_word, is_word)
        end = stop


def _places_of_signs(text: str, ranges: Sequence[tuple[int, int]]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for start, stop in ranges:
        if not re.search(r"\w", text[start:stop]):
            places.setdefault(text[start:stop], []).append(start)
    return places


def _token_ranges(names: list[str], target: str) -> Iterator[tuple[int, int]]:
    end = 0
    copies = re.finditer(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)", target) if names else ()
    for copy in copies:
        yield from (match.span() for match in _TOKEN.finditer(target, end, copy.start()))
        yield copy.span()
        end = copy.end()
    yield from (match.span() for match in _TOKEN.finditer(target, end))


def _covered(words: list[tuple[int, int]], slot: Slot) -> range:
    """Numbers of the source words that a stand-in is part of."""
    first = bisect_right(words, slot.start, key=lambda word: word[1])
    return range(first, bisect_left(words, slot.end, key=lambda word: word[0]))


def _take_copies(
    source: str, slots: Sequence[Slot], covered: list[range], tokens: list[Token], owners: list[int | None]
) -> None:
    """Give each slot a copy of its stand-in, and drop surplus ones.

    If all are linked to different slots, those decide; else they are taken in order.
    """
    for name in _names(source, slots):
        same = [number for number, slot in enumerate(slots) if source[slot.start : slot.end] == name]
        copies = [place for place, token in enumerate(tokens) if token.text == name]
        linked = {
            number: place for number in same for place in reversed(copies) if tokens[place].src_word in covered[number]
        }
        if len(set(linked.values())) < len(same):
            linked = dict(zip(same, copies, strict=False))
        for number, place in linked.items():
            owners[place] = number
        if slots[same[0]].kind == "span":
            for place in set(copies) - set(linked.values()):
                owners[place] = -1


def _replaced(tokens: list[Token], owners: list[int | None], slots: Sequence[Slot]) -> list[Token]:
    result = []
    for place, (token, owner) in enumerate(zip(tokens, owners, strict=True)):
        if owner is None:
            result.append(token)
        elif owner >= 0 and (not place or owners[place - 1] != owner):
            result.append(Token(token.gap, slots[owner].text, slots[owner].start, token.src_word, True))
    return result


def _inserted(tokens: list[Token], slot: Slot) -> list[Token]:
    place = boundary(tokens, slot.start, (0, len(tokens)))
    before, behind = tokens[:place], tokens[place:]
    if behind and not behind[0].gap and (behind[0].is_word or not before):
        behind[0] = behind[0]._replace(gap=" ")
    return [*before, Token(" " if before else "", slot.text, slot.start, None, True), *behind]
