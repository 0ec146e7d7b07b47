"""What single outputs must obey, beyond what holds for all: limits of length, a beginning, no loops. Without torch."""

from collections.abc import Sequence
from dataclasses import dataclass

from translate.config.decode import DecodeConfig
from translate.search.loops import loop_continuations, loop_repeats


@dataclass(frozen=True)
class OutputRules:
    """The rules of one sentence's outputs.

    Args:
        shortest: Tokens before which there is no end, EOS counted.
        longest: Most tokens, EOS counted.
        prefix_ids: What they begin with; shorter than `longest`.
        must_end: Whether the last token that `longest` allows must be EOS; else they are cut there.
        max_repeats: How often an n-gram may stand in a row (`loop_continuations`); 0 = any number of times.
    """

    shortest: int
    longest: int
    prefix_ids: Sequence[int] = ()
    must_end: bool = False
    max_repeats: int = 0

    @property
    def last_restricted(self) -> int:
        """Number of the last token, counted from 1, of which they say anything but that it is the last."""
        if self.must_end or self.max_repeats:
            return self.longest
        return max(len(self.prefix_ids), self.shortest - 1)

    def forced(self, length: int, eos_id: int) -> int | None:
        """Return the only token that number `length` may be; None = more than one."""
        if length <= len(self.prefix_ids):
            return self.prefix_ids[length - 1]
        return eos_id if self.must_end and length >= self.longest else None

    def banned(self, token_ids: Sequence[int], eos_id: int) -> set[int]:
        """Return the tokens that may not follow `token_ids`, BOS not among them."""
        found = loop_continuations(token_ids, self.max_repeats) if self.max_repeats else set()
        return found | {eos_id} if len(token_ids) + 1 < self.shortest else found


def output_rules(src_ids: Sequence[int], prefix_ids: Sequence[int], settings: DecodeConfig) -> OutputRules:
    """Return the rules of the outputs of one source.

    The tokens of a prefix come on top of what the ratios allow.

    Args:
        src_ids: EOS last.
        prefix_ids: What the outputs begin with; may be empty.
        settings: Of the search.

    Raises:
        ValueError: If a prefix leaves no room for anything else.
    """
    if len(prefix_ids) >= settings.max_output_len:
        raise ValueError(
            f"a prefix of {len(prefix_ids)} tokens leaves no room in max_output_len ({settings.max_output_len}): "
            "shorten it, or allow longer outputs"
        )
    longest = settings.max_output_len
    if settings.max_output_ratio:
        longest = min(longest, int(len(src_ids) * settings.max_output_ratio) + 10 + len(prefix_ids))
    longest = max(longest, settings.min_output_len)
    shortest = min(longest, max(settings.min_output_len, int(len(src_ids) * settings.min_output_ratio)))
    if settings.length_guard:
        longest = max(shortest, min(longest, far_longer(src_ids, prefix_ids)))
    max_repeats = max(2, usual_repeats(src_ids, prefix_ids)) if settings.repetition_guard else 0
    return OutputRules(shortest, longest, prefix_ids, settings.length_guard, max_repeats)


def far_longer(src_ids: Sequence[int], prefix_ids: Sequence[int]) -> int:
    """Return a length that no translation needs: an output that reached it without an end will not end by itself."""
    return 2 * len(src_ids) + 10 + len(prefix_ids)


def usual_repeats(src_ids: Sequence[int], prefix_ids: Sequence[int]) -> int:
    """Return how often in a row n-grams stand in the source or the prefix (`loop_repeats`)."""
    return max(loop_repeats(src_ids), loop_repeats(prefix_ids))
