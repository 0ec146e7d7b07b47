"""Put the tags of a source into its translation: around the words they were around."""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from translate.markup.placement import Token, best_run, boundaries

if TYPE_CHECKING:
    from translate.markup.slots import Slot

_NAME = re.compile(r"<(/?)([\w:.-]+)")
_CLOSING, _ALONE, _OPENING = range(3)  # the order of tags between two words

_MAX_DEPTH = 32  # of pairs within pairs; so that no text takes long

Segment = tuple[int, int]


def woven(tokens: Sequence[Token], tags: Sequence[Slot]) -> str:
    """Return the text of the tokens with the tags between them.

    A pair goes around the run of tokens with the largest surplus of those whose source was inside over those whose
    source was not, and stays within the pair around it. A tag by itself, and a pair around nothing, goes where the
    fewest tokens are on its wrong side; so does a pair within 32 others.

    Args:
        tokens: Of the translation.
        tags: In the order of the source.

    >>> tokens = [Token("", "voiture", 6, 1, True), Token(" ", "rouge", 2, 0, True), Token("", ".", 9, 1, False)]
    >>> from translate.markup.slots import Slot
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
    """Return before which token each tag goes, and its group there."""
    pairs = _pairs(tags)
    around = _around(len(tags), pairs)
    segments, alone = _segments(tokens, tags, pairs, around)
    ends = {closing: opening for opening, closing in pairs.items()}
    filled: dict[int | None, int | None] = {None: None}  # the innermost pair around some tokens, from each pair on
    for opening in sorted(pairs):
        first, end = segments[opening]
        filled[opening] = opening if first < end else filled[around[opening]]
    places = []
    for tag in range(len(tags)):
        opening = ends.get(tag, tag)
        first, end = segments.get(opening, (alone.get(tag, 0),) * 2)
        if first < end:
            places.append((end, _CLOSING) if tag in ends else (first, _OPENING))
        else:
            outer = filled[around[tag]]
            sides = {} if outer is None else {segments[outer][1]: _CLOSING, segments[outer][0]: _OPENING}
            places.append((first, sides.get(first, _ALONE)))
    return places


def _pairs(tags: Sequence[Slot]) -> dict[int, int]:
    """Return the closing tag of each opening one that has one; pairs lie within or beside each other."""
    pairs: dict[int, int] = {}
    opened: list[tuple[str, int]] = []
    heights: dict[str, list[int]] = {}  # where in `opened` each name is
    for number, tag in enumerate(tags):
        match = _NAME.match(tag.text)
        if match is None or tag.text.endswith("/>"):
            continue
        slash, name = match.groups()
        if not slash:
            heights.setdefault(name, []).append(len(opened))
            opened.append((name, number))
        elif heights.get(name):
            height = heights[name][-1]
            pairs[opened[height][1]] = number
            for other, _ in opened[height:]:
                heights[other].pop()
            del opened[height:]
    return pairs


def _around(num_tags: int, pairs: dict[int, int]) -> list[int | None]:
    """Return the opening tag of the innermost pair around each tag; for a pair's tags, of the pair around that."""
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


def _segments(
    tokens: Sequence[Token], tags: Sequence[Slot], pairs: dict[int, int], around: list[int | None]
) -> tuple[dict[int | None, Segment], dict[int, int]]:
    """Return the first token of each pair and the one after its last, by opening tag, and where the other tags go."""
    inner: dict[int | None, list[int]] = {}  # tags directly within each pair, and within none
    closing = set(pairs.values())
    for tag, outer in enumerate(around):
        if tag not in closing:
            inner.setdefault(outer, []).append(tag)
    order = sorted((token.place, number) for number, token in enumerate(tokens) if token.place is not None)
    known = list(accumulate((token.place is not None for token in tokens), initial=0))
    owners: list[int | None] = [None] * len(tokens)  # the innermost pair that each token is in so far
    segments: dict[int | None, Segment] = {None: (0, len(tokens))}
    depths: dict[int | None, int] = {None: 0}
    alone: dict[int, int] = {}
    for outer in [None, *sorted(pairs)]:
        walls: list[int] = []
        empty: list[int] = []
        for opening in filter(pairs.__contains__, inner.get(outer, ())):
            depths[opening] = depths[outer] + 1
            first, end = (bisect_left(order, (tags[tag].start,)) for tag in (opening, pairs[opening]))
            inside = order[first:end] if depths[opening] <= _MAX_DEPTH else ()
            numbers = sorted(number for _, number in inside if owners[number] == outer)
            start, stop = segments[opening] = best_run(numbers, known, walls)
            if start == stop:
                empty.append(opening)
            else:
                insort(walls, start)
                owners[start:stop] = [opening] * (stop - start)
        places = boundaries(tokens, [tags[opening].start for opening in empty], segments[outer])
        segments.update((opening, (place, place)) for opening, place in zip(empty, places, strict=True))
        singles = [tag for tag in inner.get(outer, ()) if tag not in pairs]
        for last in (False, True):
            same = [tag for tag in singles if (tags[tag].spaces == (True, False)) == last]
            places = boundaries(tokens, [tags[tag].start for tag in same], segments[outer], last=last)
            alone.update(zip(same, places, strict=True))
    return segments, alone


def _run(tags: list[Slot], gap: str, closing: int, ends: tuple[bool, bool]) -> str:
    """Return the tags between two tokens, or at an end of the text, with the source's spaces as far as they fit."""
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
