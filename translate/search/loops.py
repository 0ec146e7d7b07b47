"""Outputs that go round in circles, as models do that lost the thread: "a dog and a dog and a dog and …"."""

from collections.abc import Sequence

LONGEST_LOOP = 8  # tokens of what is looked for as a loop


def loop_repeats(token_ids: Sequence[int]) -> int:
    """Return how often in a row the most repeated n-gram of up to `LONGEST_LOOP` tokens stands; 1 = no repeats.

    >>> loop_repeats([7, 5, 5, 5, 8]), loop_repeats([5, 6, 5, 6, 5]), loop_repeats([5, 6, 7, 5])
    (3, 2, 1)
    """
    most = 1
    for period in range(1, min(LONGEST_LOOP, len(token_ids) // 2) + 1):
        run = 0
        for before, token in zip(token_ids, token_ids[period:], strict=False):
            run = run + 1 if token == before else 0
            most = max(most, run // period + 1)
    return most


def loop_continuations(token_ids: Sequence[int], max_repeats: int) -> set[int]:
    """Return the tokens that would let an n-gram stand more than `max_repeats` >= 1 times in a row at the end.

    >>> loop_continuations([9, 5, 6, 5, 6, 5], 2), loop_continuations([9, 5, 6, 5, 6], 2)
    ({6}, set())
    """
    found = set()
    for period in range(1, LONGEST_LOOP + 1):
        run = period * max_repeats - 1  # tokens that must equal those one period before
        if len(token_ids) >= run + period and token_ids[len(token_ids) - run :] == token_ids[-run - period : -period]:
            found.add(token_ids[-period])
    return found
