"""Runs and boundaries of slots: the fast answers equal those of trying everything."""

import random
from itertools import accumulate

from translate.markup.placement import Token, find_boundaries, find_run


def token(src_pos: int | None) -> Token:
    return Token(" ", "x", src_pos, None, True)


def test_the_best_run_is_that_of_trying_all() -> None:
    for seed in range(300):
        draw = random.Random(seed)
        kinds = draw.choices("+-0|", (4, 3, 1, 1), k=draw.randint(0, 12))
        inside, walls = ([place for place, kind in enumerate(kinds) if kind == mark] for mark in "+|")
        found = find_run(inside, list(accumulate((kind in "+-" for kind in kinds), initial=0)), walls)
        runs = [
            (kinds[start:end].count("+") - kinds[start:end].count("-"), end - start, -start)
            for start in inside
            for end in (place + 1 for place in inside)
            if start < end and "|" not in kinds[start:end]
        ]
        if runs:
            _, length, start = max(runs)
            assert found == (-start, length - start), kinds
        else:
            assert found == (0, 0)


def test_boundaries_are_those_of_trying_all() -> None:
    for seed in range(300):
        draw = random.Random(seed)
        tokens = [token(draw.choice([None, *range(8)])) for _ in range(draw.randint(0, 9))]
        start, end = sorted(draw.choices(range(len(tokens) + 1), k=2))
        places = sorted(draw.choices(range(10), k=draw.randint(0, 6)))
        for last in (False, True):
            found = find_boundaries(tokens, places, (start, end), last=last)
            for place, number in zip(places, found, strict=True):
                wrong = {
                    cut: sum(one.src_pos is not None and one.src_pos >= place for one in tokens[start:cut])
                    + sum(one.src_pos is not None and one.src_pos < place for one in tokens[cut:end])
                    for cut in range(start, end + 1)
                }
                fewest = [cut for cut, count in wrong.items() if count == min(wrong.values())]
                assert number == fewest[-1 if last else 0]
