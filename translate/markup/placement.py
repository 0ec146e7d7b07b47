"""Where in a translation its source's spans and terms belong, by word alignment."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from translate.markup.slots import Slot
    from translate.translator.alignment import Links

_TOKEN = re.compile(r"\w+(?:[^\w\s]+\w+)*|[^\w\s]+")
_WORD = re.compile("[^ ]+")
_SIGNS = re.compile(r"\W*")
_PART = re.compile(r"\w+|[^\w\s]")
_NO_WORD_BEFORE, _NO_WORD_AFTER = re.compile(r"(?<!\w)"), re.compile(r"(?!\w)")


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
    """Return the tokens of a translation, with each slot in the place of its stand-in, once.

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
    _take_runs(covered, tokens, owners)
    placed = set(owners)
    return _inserted(
        _replaced(tokens, owners, slots), [slot for number, slot in enumerate(slots) if number not in placed]
    )


def best_run(inside: Sequence[int], known: Sequence[int], walls: Sequence[int]) -> tuple[int, int]:
    """Return the run of tokens with the largest surplus of those inside over the other known ones.

    Of equal runs it is the longest, then the first; it begins and ends with a token that is inside.

    Args:
        inside: Numbers of the tokens that are inside, ascending.
        known: How many of the tokens before each number are known, inside or not, [tokens + 1].
        walls: Numbers of tokens that no run may hold, ascending; none of them is inside.

    Returns:
        Its first token and the one after its last; (0, 0) if none is inside.

    >>> best_run([1, 4, 7], [0, 0, 1, 2, 2, 3, 3, 4, 5], [6])
    (1, 5)
    """
    best, found = (0, 0), (0, 0)
    total, start, last = 0, 0, -1
    for number in inside:
        total -= known[number] - known[last + 1]
        wall = bisect_left(walls, last + 1)
        if last < 0 or total < 0 or (wall < len(walls) and walls[wall] < number):
            total, start = 0, number
        total, last = total + 1, number
        if (total, number + 1 - start) > best:
            best, found = (total, number + 1 - start), (start, number + 1)
    return found


def boundaries(
    tokens: Sequence[Token], places: Sequence[int], window: tuple[int, int], *, last: bool = False
) -> list[int]:
    """Return before which token of a window each place of the source is, with the fewest tokens on the wrong side.

    A later place never has an earlier boundary, so each half of the places searches only its side of the middle one's.

    Args:
        tokens: All.
        places: In the source, ascending.
        window: First token and the one after the last.
        last: Whether to take the last of equally good answers.
    """
    if not places:
        return []
    middle = len(places) // 2
    found = _boundary(tokens, places[middle], window, last)
    before = boundaries(tokens, places[:middle], (window[0], found), last=last)
    return [*before, found, *boundaries(tokens, places[middle + 1 :], (found, window[1]), last=last)]


def _boundary(tokens: Sequence[Token], place: int, window: tuple[int, int], last: bool) -> int:
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
    """Return the source word of each target word, where each article has its word again.

    Attention often looks at the noun while it writes the article. So the first of the target words that share a source
    word goes to the first source word that has none, is not `kept`, and lies between that of the word before and the
    shared one.

    >>> _spread({0: 0, 1: 3, 2: 3, 3: 2}, set())  # "in a red hat", "dans un chapeau rouge"
    {0: 0, 1: 1, 2: 3, 3: 2}
    """
    last = {src: tgt for tgt, src in sorted(src_words.items())}
    following = list(range(max(src_words.values(), default=-1) + 3))  # the first word from each on that may be free
    for word in (kept | last.keys()) & set(following[:-1]):
        following[word] = word + 1
    spread: dict[int, int] = {}
    for tgt, src in sorted(src_words.items()):
        spread[tgt] = src
        if last[src] > tgt:
            free = _first_free(following, spread.get(tgt - 1, -1) + 1)
            if free < src:
                spread[tgt] = free
                following[free] = free + 1
    return spread


def _first_free(following: list[int], word: int) -> int:
    """Follow the taken words to a free one, halving the way for the next time."""
    while following[word] != word:
        following[word] = following[following[word]]
        word = following[word]
    return word


def _names(source: str, slots: Sequence[Slot]) -> list[str]:
    """Stand-ins, the longest first."""
    return sorted({source[slot.start : slot.end] for slot in slots} - {""}, key=lambda name: (-len(name), name))


def _tokens(
    source: str, words: list[tuple[int, int]], names: list[str], target: str, src_words: dict[int, int]
) -> Iterator[Token]:
    """Split a translation into tokens; a stand-in in it is one token.

    A word translates the word that it is linked to, a sign the like one in the source, if both have as many of them.
    """
    ranges = list(_token_ranges(names, target))
    tgt_starts = [match.start() for match in _WORD.finditer(target)]
    cores = [start + len(_SIGNS.match(source, start, end)[0]) for start, end in words]  # type: ignore[index]
    signs = _places_of_signs(source, [match.span() for match in _TOKEN.finditer(source)])
    tgt_signs = _places_of_signs(target, ranges)
    equal = {sign: iter(signs[sign]) for sign, found in tgt_signs.items() if len(found) == len(signs.get(sign, ()))}
    end = 0
    for start, stop in ranges:
        text = target[start:stop]
        src_word = src_words.get(bisect_right(tgt_starts, stop - 1) - 1)
        is_word = re.search(r"\w", text) is not None
        if is_word:
            place = None if src_word is None else cores[src_word]
        else:
            place = next(equal[text]) if text in equal else None
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
    for start, stop in _copies(names, target):
        yield from (match.span() for match in _TOKEN.finditer(target, end, start))
        yield start, stop
        end = stop
    yield from (match.span() for match in _TOKEN.finditer(target, end))


def _copies(names: list[str], target: str) -> Iterator[tuple[int, int]]:
    """Yield where stand-ins are in a translation as whole words, the longest where several begin."""
    wanted = set(names)
    lengths: dict[str, list[int]] = {}  # of those that begin with a word or sign, the longest first
    for name in names:
        own = lengths.setdefault(_PART.findall(name)[0], [])
        if len(name) not in own:
            own.append(len(name))
    end = 0
    for part in _PART.finditer(target):
        start = part.start()
        for length in lengths.get(part[0], ()) if start >= end and _NO_WORD_BEFORE.match(target, start) else ():
            if target[start : start + length] in wanted and _NO_WORD_AFTER.match(target, start + length):
                end = start + length
                yield start, end
                break


def _covered(words: list[tuple[int, int]], slot: Slot) -> range:
    """Return the numbers of the source words that a stand-in is part of."""
    first = bisect_right(words, slot.start, key=lambda word: word[1])
    return range(first, bisect_left(words, slot.end, key=lambda word: word[0]))


def _take_copies(
    source: str, slots: Sequence[Slot], covered: list[range], tokens: list[Token], owners: list[int | None]
) -> None:
    """Give each slot a copy of its stand-in, and drop surplus ones.

    If all are linked to different slots, those decide; else they are taken in order.
    """
    slots_of: dict[str, list[int]] = {}
    for number, slot in enumerate(slots):
        slots_of.setdefault(source[slot.start : slot.end], []).append(number)
    copies_of: dict[str, list[int]] = {name: [] for name in slots_of}
    for place, token in enumerate(tokens):
        if token.text in copies_of:
            copies_of[token.text].append(place)
    for name, same in slots_of.items():
        copies = copies_of[name]
        first_copy = {tokens[place].src_word: place for place in reversed(copies)}
        linked = {}
        for number in same:
            if own := [first_copy[word] for word in covered[number] if word in first_copy]:
                linked[number] = min(own)
        if len(set(linked.values())) < len(same):
            linked = dict(zip(same, copies, strict=False))
        if slots[same[0]].kind == "span":
            for place in copies:
                owners[place] = -1
        for number, place in linked.items():
            owners[place] = number


def _take_runs(covered: list[range], tokens: list[Token], owners: list[int | None]) -> None:
    """Give each slot without a token the best run of the words that are linked to its stand-in's."""
    taken = set(owners)
    walls: list[int] = []
    linked: dict[int | None, list[int]] = {}  # the tokens of each source word
    for place, token in enumerate(tokens):
        if token.is_word and owners[place] is None:
            linked.setdefault(token.src_word, []).append(place)
        else:
            walls.append(place)
    for number, own in enumerate(covered):
        if number not in taken:
            inside = sorted(place for word in own for place in linked.get(word, ()) if owners[place] is None)
            start, end = best_run(inside, range(len(tokens) + 1), walls)
            owners[start:end] = [number] * (end - start)
            for place in range(start, end):
                insort(walls, place)


def _replaced(tokens: list[Token], owners: list[int | None], slots: Sequence[Slot]) -> list[Token]:
    result = []
    for place, (token, owner) in enumerate(zip(tokens, owners, strict=True)):
        if owner is None:
            result.append(token)
        elif owner >= 0 and (not place or owners[place - 1] != owner):
            result.append(Token(token.gap, slots[owner].text, slots[owner].start, token.src_word, True))
    return result


def _inserted(tokens: list[Token], slots: Sequence[Slot]) -> list[Token]:
    """Return the tokens with slots that nothing stands for between them."""
    new: dict[int, list[Slot]] = {}
    for slot, place in zip(slots, boundaries(tokens, [slot.start for slot in slots], (0, len(tokens))), strict=True):
        new.setdefault(place, []).append(slot)
    result: list[Token] = []
    for number in range(len(tokens) + 1):
        for slot in new.get(number, ()):
            result.append(Token(" " if result else "", slot.text, slot.start, None, True))
        if number < len(tokens):
            token = tokens[number]
            glued = number in new and not token.gap and (token.is_word or number == 0)
            result.append(token._replace(gap=" ") if glued else token)
    return result
