"""Which tags of a text belong together."""

from collections.abc import Iterable


def pair_tags(tags: Iterable[tuple[str, str]]) -> dict[int, int]:
    """Return the number of the closing tag for each opening one that has one; pairs lie inside or beside each other.

    Args:
        tags: Kind and name of each; kinds other than "open" and "close" are passed over.

    >>> pair_tags([("open", "b"), ("open", "i"), ("text", ""), ("close", "b"), ("close", "i")])
    {0: 3}
    """
    pairs: dict[int, int] = {}
    opened: list[tuple[str, int]] = []
    heights: dict[str, list[int]] = {}  # where in `opened` each name is
    for number, (kind, name) in enumerate(tags):
        if kind == "open":
            heights.setdefault(name, []).append(len(opened))
            opened.append((name, number))
        elif kind == "close" and heights.get(name):
            height = heights[name][-1]
            pairs[opened[height][1]] = number
            for other, _ in opened[height:]:
                heights[other].pop()
            del opened[height:]
    return pairs
