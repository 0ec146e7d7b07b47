"""Put the tags of a source into its translation: around the words they were around."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from translate.placement import Token, best_run, boundary

if TYPE_CHECKING:
    from translate.protect import Slot

_NAME = re.compile(r"<(/?)([\w:.-]+)")
_CLOSING, _ALONE, _OPENING = range(3)  # the order of tags between two words

Segment = tuple[int, int]


def woven(tokens: Sequence[Token], tags: Sequence[Slot]) -> str:
    """The text of the tokens with the tags between them.

    A pair goes around the run of tokens with the largest surplus of those whose source was inside over those whose
    source was not, and stays within the pair around it. A tag by itself, and a pair around nothing, goes where the
    fewest tokens are on its wrong side.

    Args:
        tokens: Of the translation.
        tags: In the order of the source.

    >>> tokens = [Token("", "voiture", 6, 1, True), Token(" ", "rouge", 2, 0, True), Token("", ".", 9, 1, False)]
    >>> from translate.protect import Slot
    >>> woven(tokens, [Slot("tag", "<b>", 2, 2, (True, False)), Slot("tag", "</b>", 5, 5, (False, True))])
    'voiture <b>rouge</b>.'
    """
    runs: dict[int, list[tuple[int, int]]] = {}
    for tag, (place, group) in enumerate(_places(tokens, tags)):
        runs.setdefault(place, []).append((group, tag))
    text = ""
    for number in range(len(tokens) + 1):
        run = sorted(runs.get(number, ()))
        gap = tokens[number].gap if number < len(tokens) else ""
        if run:
            closing = sum(group == _CLOSING for group, _ in run)
            gap = _run([tags[tag] for _, tag in run], gap, closing, (number > 0, number < len(tokens)))
        text += gap + (tokens[number].text if number < len(tokens) else "")
    return text


def _places(tokens: Sequence[Token], tags: Sequence[Slot]) -> list[tuple[int, int]]:
    """Before which token each tag goes, and its group there."""
    pairs = _pairs(tags)
    around = _around(len(tags), pairs)
    segments: dict[int | None, Segment] = {None: (0, len(tokens))}  # of pairs, by their opening tags
    free: dict[int | None, list[bool]] = {None: [True] * len(tokens)}  # which tokens no pair within a pair has yet
    for opening, closing in sorted(pairs.items()):
        outer = free[around[opening]]
        inside = (tags[opening].start, tags[closing].start)
        first, end = segments[opening] = _segment(tokens, inside, segments[around[opening]], outer)
        free[opening] = [first <= number < end for number in range(len(tokens))]
        outer[first:end] = [False] * (end - first)
    ends = {closing: opening for opening, closing in pairs.items()}
    return [_place(tokens, tag, tags, ends, around, segments) for tag in range(len(tags))]


def _pairs(tags: Sequence[Slot]) -> dict[int, int]:
    """Closing tag of each opening one that has one; pairs lie within or beside each other."""
    pairs, opened = {}, []
    for number, tag in enumerate(tags):
        match = _NAME.match(tag.text)
        if match is None or tag.text.endswith("/>"):
            continue
        slash, name = match.groups()
        if not slash:
            opened.append((name, number))
        elif name in (names := [other for other, _ in opened]):
            last = len(names) - 1 - names[::-1].index(name)
            pairs[opened[last][1]] = number
            del opened[last:]
    return pairs


def _around(num_tags: int, pairs: dict[int, int]) -> list[int | None]:
    """Opening tag of the innermost pair around each tag; for a pair's own tags, of the pair around that."""
    ends = set(pairs.values())
    opened: list[int] = []
    around: list[int | None] = []
    for tag in range(num_tags):
        if tag in ends:
            opened.pop()
        around.append(opened[-1] if opened else None)
        if tag in pairs:
            opened.append(tag)
    return around


def _segment(tokens: Sequence[Token], inside: Segment, window: Segment, free: Sequence[bool]) -> Segment:
    """First token of a pair and the one after its last."""
    first, end = best_run(
        [
            None if not own else 0 if token.place is None else 1 if inside[0] <= token.place < inside[1] else -1
            for token, own in zip(tokens, free, strict=True)
        ]
    )
    if first == end:
        first = end = boundary(tokens, inside[0], window)
    return first, end


def _place(
    tokens: Sequence[Token],
    tag: int,
    tags: Sequence[Slot],
    ends: dict[int, int],
    around: list[int | None],
    segments: dict[int | None, Segment],
) -> tuple[int, int]:
    own = segments.get(ends.get(tag, tag))
    if own is not None and own[0] < own[1]:
        return (own[1], _CLOSING) if tag in ends else (own[0], _OPENING)
    outer = around[tag]
    before, after = tags[tag].spaces
    place = own[0] if own else boundary(tokens, tags[tag].start, segments[outer], last=before and not after)
    while outer is not None and segments[outer][0] == segments[outer][1]:
        outer = around[outer]
    if outer is None:
        return place, _ALONE
    first, end = segments[outer]
    return place, {end: _CLOSING, first: _OPENING}.get(place, _ALONE)


def _run(tags: list[Slot], gap: str, closing: int, ends: tuple[bool, bool]) -> str:
    """Tags between two tokens, or at an end of the text, with the spaces of the source as far as they fit."""
    spaces = [tags[0].spaces[0], *(tag.spaces[1] for tag in tags)]
    spaces = [own and (number > 0 or ends[0]) for number, own in enumerate(spaces)]
    spaces[-1] = spaces[-1] and ends[1]
    if all(ends):
        if not gap:
            spaces = [False] * len(spaces)
        elif not any(spaces) and not any(tag.apart for tag in tags):
            spaces[closing] = True
    texts = ["", *(tag.text for tag in tags)]
    return "".join(text + (gap or " ") * space for text, space in zip(texts, spaces, strict=True))
