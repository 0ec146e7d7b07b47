"""Find where in a translation the spans and terms of its source belong, by word alignment."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from translate.markup.slots import Slot

if TYPE_CHECKING:
    from translate.translator.alignment import Links

_TOKEN = re.compile(r"\w+(?:[^\w\s]+\w+)*|[^\w\s]+")
_WORD = re.compile("[^ ]+")
_BEFORE_CORE = re.compile(r"\W*(?:(?:[cdjlmnst]|qu)['’](?=\w))?", re.IGNORECASE)  # signs, and what French elides
_PART = re.compile(r"\w+|[^\w\s]")
_NO_WORD_BEFORE, _NO_WORD_AFTER = re.compile(r"(?<!\w)"), re.compile(r"(?!\w)")


class Token(NamedTuple):
    """A word of a translation, the signs beside one, or the text of a slot.

    Attributes:
        gap: What stands before it: spaces, or nothing.
        text: The token.
        src_pos: Offset in the source of what it translates; None = unknown.
        src_word: Number of the source word that its word is linked to, if any.
        is_word: Whether it holds more than signs.
    """

    gap: str
    text: str
    src_pos: int | None
    src_word: int | None
    is_word: bool


def place_slots(source: str, slots: Sequence[Slot], target: str, links: Links) -> list[Token]:
    """Return the tokens of a translation, with each slot once, in the place of its stand-in.

    That is where the stand-in was copied, if it was. Else it is the run of words that are linked to the stand-in's
    words, the one with the largest surplus of them over others. Without any, the slot goes between the words that were
    before it and those that were behind it, so that the fewest are on the wrong side.

    Args:
        source: What the model read.
        slots: Spans and terms, in order.
        target: What the model wrote.
        links: Links between the words of `source` and `target`.
    """
    words = [match.span() for match in _WORD.finditer(source)]
    covered = [_covered_words(words, slot) for slot in slots]
    first = {word: own[0] for own in covered for word in own}  # the words of a slot count as one
    with_letters = [re.search(r"\w", word) is not None for word in _WORD.findall(target)]
    src_words = _link_articles({tgt: first.get(src, src) for src, tgt in links if with_letters[tgt]}, set(first))
    stand_ins = sorted({source[slot.start : slot.end] for slot in slots} - {""}, key=len, reverse=True)
    tokens = list(_read_tokens(source, words, stand_ins, target, src_words))

    runs, surplus = _match_copies(source, slots, covered, tokens)
    runs |= _match_linked_words(covered, tokens, runs, surplus)
    first_tokens = {run.start: slots[number] for number, run in runs.items()}
    replaced = surplus.union(*runs.values())
    filled = []
    for number, token in enumerate(tokens):
        if number in first_tokens:
            slot = first_tokens[number]
            filled.append(Token(token.gap, slot.text, slot.start, token.src_word, True))
        elif number not in replaced:
            filled.append(token)
    return _insert_slots(filled, [slot for number, slot in enumerate(slots) if number not in runs])


def find_run(inside: Sequence[int], known: Sequence[int], walls: Sequence[int]) -> tuple[int, int]:
    """Return the run of tokens with the largest surplus of those inside over the other known ones.

    Of equal runs it is the longest, then the first; it begins and ends with a token that is inside.

    Args:
        inside: Numbers of the tokens that are inside, ascending.
        known: How many of the tokens before each number are known to be inside or not, [tokens + 1].
        walls: Numbers of tokens that no run may hold, ascending; none of them is inside.

    Returns:
        Its first token and the one after its last; (0, 0) if none is inside.

    >>> find_run([1, 4, 7], [0, 0, 1, 2, 2, 3, 3, 4, 5], [6])
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


def find_boundaries(
    tokens: Sequence[Token], positions: Sequence[int], window: tuple[int, int], *, last: bool = False
) -> list[int]:
    """Return before which token of a window each source position is, with the fewest tokens on the wrong side.

    A later position never has an earlier boundary, so each half of the positions searches only its side of the boundary
    of the middle one.

    Args:
        tokens: Tokens of the whole translation.
        positions: Offsets in the source, ascending.
        window: First token and the one after the last.
        last: Whether to take the last of equally good answers.
    """
    if not positions:
        return []
    middle = len(positions) // 2
    (first, end), position = window, positions[middle]
    wrong = sum(token.src_pos is not None and token.src_pos < position for token in tokens[first:end])
    found, fewest = first, wrong
    for number in range(first, end):
        src_pos = tokens[number].src_pos
        wrong += 0 if src_pos is None else 1 if src_pos >= position else -1
        if wrong < fewest or (last and wrong == fewest):
            found, fewest = number + 1, wrong
    before = find_boundaries(tokens, positions[:middle], (first, found), last=last)
    return [*before, found, *find_boundaries(tokens, positions[middle + 1 :], (found, end), last=last)]


def _link_articles(src_words: dict[int, int], kept: set[int]) -> dict[int, int]:
    """Return the source word of each target word, with articles linked to the source words that they translate.

    Attention often looks at the noun while it writes the article. So the first of the target words that share a source
    word goes to the first source word that has none, is not `kept`, and lies between that of the word before and the
    shared one.

    >>> _link_articles({0: 0, 1: 3, 2: 3, 3: 2}, set())  # "in a red hat", "dans un chapeau rouge"
    {0: 0, 1: 1, 2: 3, 3: 2}
    """
    last = {src: tgt for tgt, src in sorted(src_words.items())}
    following = list(range(max(src_words.values(), default=-1) + 3))  # the first word from each on that may be free
    for word in (kept | last.keys()) & set(following[:-1]):
        following[word] = word + 1
    linked: dict[int, int] = {}
    for tgt, src in sorted(src_words.items()):
        linked[tgt] = src
        if last[src] > tgt:
            free = _find_free(following, linked.get(tgt - 1, -1) + 1)
            if free < src:
                linked[tgt] = free
                following[free] = free + 1
    return linked


def _find_free(following: list[int], word: int) -> int:
    """Follow the words that are taken to one that is not, halving the way for the next time."""
    while following[word] != word:
        following[word] = following[following[word]]
        word = following[word]
    return word


def _read_tokens(
    source: str, words: list[tuple[int, int]], stand_ins: list[str], target: str, src_words: dict[int, int]
) -> Iterator[Token]:
    """Yield the tokens of a translation; a stand-in in it is one token.

    A word translates the word that it is linked to, a sign the like one in the source, if both have as many of them.
    """
    ranges: list[tuple[int, int]] = []
    end = 0
    for start, stop in _find_stand_ins(stand_ins, target):
        ranges += (match.span() for match in _TOKEN.finditer(target, end, start))
        ranges.append((start, stop))
        end = stop
    ranges += (match.span() for match in _TOKEN.finditer(target, end))
    tgt_starts = [match.start() for match in _WORD.finditer(target)]
    cores = [_BEFORE_CORE.match(source, start, end).end() for start, end in words]  # type: ignore[union-attr]
    src_signs = _starts_of_signs(source, [match.span() for match in _TOKEN.finditer(source)])
    tgt_signs = _starts_of_signs(target, ranges)
    equal = {sign: iter(src_signs[sign]) for sign in tgt_signs if len(tgt_signs[sign]) == len(src_signs.get(sign, ()))}
    end = 0
    for start, stop in ranges:
        text = target[start:stop]
        src_word = src_words.get(bisect_right(tgt_starts, stop - 1) - 1)
        is_word = re.search(r"\w", text) is not None
        if is_word:
            src_pos = None if src_word is None else cores[src_word]
        else:
            src_pos = next(equal[text]) if text in equal else None
        yield Token(target[end:start], text, src_pos, src_word, is_word)
        end = stop


def _find_stand_ins(stand_ins: list[str], target: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of stand-ins in a translation, as whole words, the longest where several begin."""
    wanted = set(stand_ins)
    lengths: dict[str, list[int]] = {}  # of those that begin with a word or sign, the longest first
    for stand_in in stand_ins:
        same_start = lengths.setdefault(_PART.findall(stand_in)[0], [])
        if len(stand_in) not in same_start:
            same_start.append(len(stand_in))
    end = 0
    for part in _PART.finditer(target):
        start = part.start()
        for length in lengths.get(part[0], ()) if start >= end and _NO_WORD_BEFORE.match(target, start) else ():
            if target[start : start + length] in wanted and _NO_WORD_AFTER.match(target, start + length):
                end = start + length
                yield start, end
                break


def _starts_of_signs(text: str, ranges: Sequence[tuple[int, int]]) -> dict[str, list[int]]:
    """Return where each token without a letter or digit begins, in order."""
    starts: dict[str, list[int]] = {}
    for start, stop in ranges:
        if not re.search(r"\w", text[start:stop]):
            starts.setdefault(text[start:stop], []).append(start)
    return starts


def _covered_words(words: list[tuple[int, int]], slot: Slot) -> range:
    """Return the numbers of the source words that a stand-in is part of."""
    first = bisect_right(words, slot.start, key=lambda word: word[1])
    return range(first, bisect_left(words, slot.end, key=lambda word: word[0]))


def _match_copies(
    source: str, slots: Sequence[Slot], covered: list[range], tokens: list[Token]
) -> tuple[dict[int, range], set[int]]:
    """Find a copy of its stand-in for each slot.

    If all copies of a stand-in are linked to different slots, the links decide; else they are taken in order.

    Returns:
        The token of each slot that has a copy, and the copies of spans that are left over.
    """
    slots_of: dict[str, list[int]] = {}
    for number, slot in enumerate(slots):
        slots_of.setdefault(source[slot.start : slot.end], []).append(number)
    copies_of: dict[str, list[int]] = {stand_in: [] for stand_in in slots_of}
    for number, token in enumerate(tokens):
        if token.text in copies_of:
            copies_of[token.text].append(number)
    runs: dict[int, range] = {}
    surplus: set[int] = set()
    for stand_in, same in slots_of.items():
        copies = copies_of[stand_in]
        first_copy = {tokens[copy].src_word: copy for copy in reversed(copies)}
        chosen = {}
        for number in same:
            if linked := [first_copy[word] for word in covered[number] if word in first_copy]:
                chosen[number] = min(linked)
        if len(set(chosen.values())) < len(same):
            chosen = dict(zip(same, copies, strict=False))
        runs.update((number, range(copy, copy + 1)) for number, copy in chosen.items())
        if slots[same[0]].kind == "span":
            surplus |= set(copies) - set(chosen.values())
    return runs, surplus


def _match_linked_words(
    covered: list[range], tokens: list[Token], copies: dict[int, range], surplus: set[int]
) -> dict[int, range]:
    """Find for each slot without a copy the best run of words that are linked to the words of its stand-in."""
    taken = surplus.union(*copies.values())
    walls: list[int] = []
    linked: dict[int | None, list[int]] = {}  # the tokens of each source word
    for number, token in enumerate(tokens):
        if token.is_word and number not in taken:
            linked.setdefault(token.src_word, []).append(number)
        else:
            walls.append(number)
    runs: dict[int, range] = {}
    for slot, words in enumerate(covered):
        if slot not in copies:
            inside = sorted(number for word in words for number in linked.get(word, ()) if number not in taken)
            if inside:
                runs[slot] = range(*find_run(inside, range(len(tokens) + 1), walls))
                taken.update(runs[slot])
                for number in runs[slot]:
                    insort(walls, number)
    return runs


def _insert_slots(tokens: list[Token], slots: Sequence[Slot]) -> list[Token]:
    """Return the tokens with slots between them that take the place of none."""
    inserted: dict[int, list[Slot]] = {}  # before each token
    boundaries = find_boundaries(tokens, [slot.start for slot in slots], (0, len(tokens)))
    for slot, number in zip(slots, boundaries, strict=True):
        inserted.setdefault(number, []).append(slot)
    result: list[Token] = []
    for number in range(len(tokens) + 1):
        for slot in inserted.get(number, ()):
            result.append(Token(" " if result else "", slot.text, slot.start, None, True))
        if number < len(tokens):
            token = tokens[number]
            needs_gap = number in inserted and not token.gap and (token.is_word or number == 0)
            result.append(token._replace(gap=" ") if needs_gap else token)
    return result
