"""Put the tags of a source into its translation: around the words that translate what they were around.

The tags are read as a tree of elements: pairs of tags with what is between them, and tags that stand alone. Then each
element gets the tokens of the translation that belong into it, outer elements before inner ones.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import accumulate

from translate.markup.placement import Token, find_boundaries, find_run
from translate.markup.slots import Slot
from translate.translator.tag_pairs import pair_tags

_NAME = re.compile(r"<(/?)([\w:.-]+)")
_MAX_DEPTH = 32  # of pairs that get tokens, so that the time does not grow with the depth


class Side(IntEnum):
    """Which of the two tokens around it a tag stays with; the values are the order of the tags between two tokens."""

    LEFT = 0  # it closes a pair that ends here, or stands inside such a pair
    BETWEEN = 1
    RIGHT = 2  # it opens a pair that begins here, or stands inside such a pair


@dataclass(eq=False)
class Element:
    """A pair of tags with the elements between them, a tag that stands alone, or, as the root, the whole text.

    Attributes:
        tags: The two tags of a pair, or the one that stands alone; none for the root.
        depth: Number of elements around it.
        children: Elements directly inside, in the order of the source.
        outer: Innermost pair around it that has tokens; None = there is none.
        start: Number of its first token.
        end: Number of the token after its last one; `start` if it has none.
    """

    tags: tuple[Slot, ...] = ()
    depth: int = 0
    children: list[Element] = field(default_factory=list)
    outer: Element | None = None
    start: int = 0
    end: int = 0

    @property
    def is_pair(self) -> bool:
        """Whether it is a pair of tags."""
        return len(self.tags) == 2

    @property
    def stays_right(self) -> bool:
        """Whether it is a tag alone that the source writes next to the word behind it."""
        return len(self.tags) == 1 and self.tags[0].spaces == (True, False)

    def position(self, tag: Slot) -> tuple[int, Side]:
        """Return before which token one of its tags goes, and on which side of the gap there."""
        if self.start < self.end:
            return (self.end, Side.LEFT) if tag is self.tags[-1] else (self.start, Side.RIGHT)
        if self.outer and self.start == self.outer.start:
            return self.start, Side.RIGHT
        if self.outer and self.start == self.outer.end:
            return self.start, Side.LEFT
        return self.start, Side.BETWEEN


def place_tags(tokens: Sequence[Token], tags: Sequence[Slot]) -> str:
    """Return the text of a translation with the tags of its source between the tokens.

    A pair goes around the run of tokens with the largest surplus of those whose source was inside over those whose
    source was not, and stays within the pair around it. A tag alone, and a pair around nothing, goes where the fewest
    tokens are on its wrong side; so does a pair within 32 others.

    Args:
        tokens: Tokens of the translation.
        tags: Tags in the order of the source.

    >>> tokens = [Token("", "voiture", 6, 1, True), Token(" ", "rouge", 2, 0, True), Token("", ".", 9, 1, False)]
    >>> place_tags(tokens, [Slot("tag", "<b>", 2, 2, (True, False)), Slot("tag", "</b>", 5, 5, (False, True))])
    'voiture <b>rouge</b>.'
    """
    root, elements = _read_tree(tags)
    _place_elements(root, tokens)
    between: defaultdict[int, list[tuple[Side, Slot]]] = defaultdict(list)  # tags before each token
    for tag, element in zip(tags, elements, strict=True):
        number, side = element.position(tag)
        between[number].append((side, tag))
    parts = []
    for number in range(len(tokens) + 1):
        gap, word = tokens[number][:2] if number < len(tokens) else ("", "")
        if number in between:
            gap = _join_tags(between[number], gap, at_start=number == 0, at_end=number == len(tokens))
        parts += [gap, word]
    return "".join(parts)


def _read_tree(tags: Sequence[Slot]) -> tuple[Element, list[Element]]:
    """Return the root of the tree and the element of each tag; the two tags of a pair share one."""
    closing_of = pair_tags(_kind_and_name(tag.text) for tag in tags)
    closings = set(closing_of.values())
    root = Element()
    opened, elements = [root], []
    for number, tag in enumerate(tags):
        if number in closings:
            elements.append(opened.pop())
            continue
        pair = (tag, tags[closing_of[number]]) if number in closing_of else (tag,)
        element = Element(pair, depth=len(opened))
        opened[-1].children.append(element)
        elements.append(element)
        if element.is_pair:
            opened.append(element)
    return root, elements


def _kind_and_name(tag: str) -> tuple[str, str]:
    match = _NAME.match(tag)
    if match is None or tag.endswith("/>"):
        return "alone", ""
    slash, name = match.groups()
    return "close" if slash else "open", name


def _place_elements(root: Element, tokens: Sequence[Token]) -> None:
    """Set `start`, `end` and `outer` of all elements."""
    by_source = sorted((token.src_pos, number) for number, token in enumerate(tokens) if token.src_pos is not None)
    known = list(accumulate((token.src_pos is not None for token in tokens), initial=0))
    root.end = len(tokens)
    owners = [root] * len(tokens)  # the innermost element that each token is in so far
    queue = [root]
    for parent in queue:  # grows while it is read
        pairs = [child for child in parent.children if child.is_pair]
        queue += pairs
        walls: list[int] = []
        for pair in pairs if parent.depth < _MAX_DEPTH else ():
            first, end = (bisect_left(by_source, (tag.start,)) for tag in pair.tags)
            inside = sorted(number for _, number in by_source[first:end] if owners[number] is parent)
            pair.start, pair.end = find_run(inside, known, walls)
            if inside:
                insort(walls, pair.start)
                owners[pair.start : pair.end] = [pair] * (pair.end - pair.start)
        empty = [child for child in parent.children if child.start == child.end]
        for last in (False, True):
            group = [child for child in empty if child.stays_right == last]
            positions = [child.tags[0].start for child in group]
            boundaries = find_boundaries(tokens, positions, (parent.start, parent.end), last=last)
            for child, number in zip(group, boundaries, strict=True):
                child.start = child.end = number
        outer = parent if parent.is_pair and parent.start < parent.end else parent.outer
        for child in parent.children:
            child.outer = outer


def _join_tags(tags: list[tuple[Side, Slot]], gap: str, *, at_start: bool, at_end: bool) -> str:
    """Return the tags between two tokens, or at an end of the text, with the spaces of the source as far as they fit.

    Args:
        tags: Tags, each with its side, in the order of the source.
        gap: What stands between the two tokens without tags.
        at_start: Whether no token comes before them.
        at_end: Whether no token comes after them.
    """
    ordered = [tag for _, tag in sorted(tags, key=lambda found: found[0])]
    spaces = [ordered[0].spaces[0] and not at_start, *(tag.spaces[1] for tag in ordered)]  # before, between, after
    spaces[-1] = spaces[-1] and not at_end
    if not at_start and not at_end:
        if not gap:
            return "".join(tag.text for tag in ordered)
        if not any(spaces) and not any(tag.apart for tag in ordered):
            spaces[sum(side == Side.LEFT for side, _ in tags)] = True
    texts = ["", *(tag.text for tag in ordered)]
    return "".join(text + (gap or " ") * space for text, space in zip(texts, spaces, strict=True))
