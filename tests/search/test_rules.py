"""Rules of single outputs: what closes a loop, by brute force, and limits of length by hand."""

import random
from dataclasses import replace

import pytest

from translate.config.decode import DecodeConfig
from translate.search.loops import LONGEST_LOOP, loop_continuations, loop_repeats
from translate.search.rules import OutputRules, output_rules


def repeats_at_the_end(token_ids: list[int]) -> int:
    """How often in a row the last n-gram stands, by comparing n-grams."""
    most = 1
    for period in range(1, LONGEST_LOOP + 1):
        last, count = token_ids[-period:], 1
        while token_ids[-period * (count + 1) : -period * count] == last and len(last) == period:
            count += 1
        most = max(most, count)
    return most


@pytest.mark.parametrize("max_repeats", [1, 2, 3])
def test_a_token_is_banned_exactly_if_it_closes_one_loop_too_many(max_repeats: int) -> None:
    draw = random.Random(max_repeats)
    banned = 0
    for _ in range(400):
        token_ids = draw.choices([5, 6, 7], k=draw.randrange(30)) + [5, 6] * draw.randrange(4)
        expected = {token for token in (5, 6, 7) if repeats_at_the_end([*token_ids, token]) > max_repeats}
        assert loop_continuations(token_ids, max_repeats) == expected
        banned += len(expected)
        ends = (token_ids[:end] for end in range(1, len(token_ids) + 1))
        assert loop_repeats(token_ids) == max(map(repeats_at_the_end, ends), default=1)
    assert banned > 20


SETTINGS = DecodeConfig(
    max_output_len=50, max_output_ratio=0.0, min_output_ratio=0.0, repetition_guard=False, length_guard=False
)


def rules(src_len: int, prefix_len: int = 0, **changes: float) -> OutputRules:
    return output_rules(list(range(src_len)), [1] * prefix_len, replace(SETTINGS, **changes))  # type: ignore[arg-type]


def test_limits_go_with_the_source() -> None:
    def limits(*lengths: int, **changes: float) -> tuple[int, int]:
        found = rules(*lengths, **changes)
        return found.shortest, found.longest

    assert limits(4) == (1, 50)
    assert limits(4, max_output_ratio=1.5) == (1, 16)
    assert limits(4, 3, max_output_ratio=1.5) == (1, 19)  # a prefix comes on top
    assert limits(40, max_output_ratio=1.5) == (1, 50)
    assert limits(5, min_output_ratio=0.5, min_output_len=2) == (2, 50)
    assert limits(9, min_output_ratio=0.5, min_output_len=2) == (4, 50)
    assert limits(90, min_output_ratio=0.9) == (50, 50)
    assert limits(4, max_output_ratio=9.0, length_guard=True) == (1, 18)
    assert limits(4, max_output_len=12, length_guard=True) == (1, 12)


def test_a_guard_allows_what_the_source_has() -> None:
    guarded = replace(SETTINGS, repetition_guard=True)
    assert output_rules([5, 6, 7], [], guarded).max_repeats == 2
    assert output_rules([5, 9, 9, 9, 9, 9, 6], [], guarded).max_repeats == 5
    assert output_rules([5, 6, 7], [8, 8, 8], guarded).max_repeats == 3
    assert rules(4).max_repeats == 0


def test_a_prefix_without_room_is_refused() -> None:
    assert rules(4, 49).prefix_ids == [1] * 49
    with pytest.raises(ValueError, match=r"a prefix of 50 tokens leaves no room in max_output_len \(50\)"):
        rules(4, 50)


def test_a_longer_loop_than_the_longest_is_none() -> None:
    longest = list(range(LONGEST_LOOP))
    assert loop_repeats(longest * 3) == 3
    assert loop_repeats([*longest, 99] * 3) == 1
    assert loop_continuations((longest * 3)[:-1], 2) == {longest[-1]}
    assert loop_continuations(([*longest, 99] * 3)[:-1], 2) == set()


@pytest.mark.parametrize("prefix", [(), (5, 6)])
@pytest.mark.parametrize("shortest", [1, 2, 5])
def test_the_last_restricted_token_is_the_last_with_a_rule(prefix: tuple[int, ...], shortest: int) -> None:
    rule = OutputRules(shortest, 9, prefix)
    restricted = [n for n in range(1, 9) if rule.forced(n, 3) is not None or rule.banned([8] * (n - 1), 3)]
    assert rule.last_restricted == max(restricted, default=0)


def test_the_length_guard_counts_a_prefix() -> None:
    assert rules(3, 4, max_output_ratio=0.0, length_guard=True).longest == 2 * 3 + 10 + 4
