"""What all searches have in common: their limits, and the hypotheses that come out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from translate.search.hypothesis import Hypothesis, normalized_score
from translate.search.rules import OutputRules, output_rules
from translate.search.scoring import check_number


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """Settings of every search.

    Args:
        bos_id: First decoder input.
        eos_id: Ends a hypothesis.
        forbidden_ids: Never generated (PAD, BOS); they keep their share of the probability.
        length_penalty: Exponent of `normalized_score`, >= 0, by which hypotheses are ordered.
        num_hypotheses: How many to return per sentence, >= 1; fewer only if fewer are possible.
        min_output_len: Tokens before which there is no end, EOS counted, >= 1.
        max_output_len: Most tokens of a hypothesis, EOS counted, >= `min_output_len`; what has not ended by then is
            returned as it is.
        min_output_ratio: Fewest tokens of a hypothesis per source token; 0 = off.
        max_output_ratio: Most tokens of a hypothesis per source token, beyond the first 10; 0 = off.
        repetition_guard: Whether to let no n-gram stand in a row more than twice, or more often than one in the source.
        length_guard: Whether hypotheses must end, and before they are far longer than the source (`far_longer`).

    Raises:
        ValueError: If a setting is out of its range.
    """

    bos_id: int
    eos_id: int
    forbidden_ids: tuple[int, ...]
    length_penalty: float
    num_hypotheses: int
    min_output_len: int
    max_output_len: int
    min_output_ratio: float
    max_output_ratio: float
    repetition_guard: bool = False
    length_guard: bool = False

    def __post_init__(self) -> None:
        if self.num_hypotheses < 1:
            raise ValueError(f"num_hypotheses ({self.num_hypotheses}) must be at least 1")
        if not 1 <= self.min_output_len <= self.max_output_len:
            raise ValueError(
                f"min_output_len ({self.min_output_len}) must lie in 1 to max_output_len ({self.max_output_len})"
            )
        for name in ("length_penalty", "min_output_ratio", "max_output_ratio"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} ({getattr(self, name)}) must be at least 0")
        if self.eos_id in self.forbidden_ids:
            raise ValueError(f"forbidden_ids {self.forbidden_ids} must not contain eos_id ({self.eos_id})")

    def rules(self, src_ids: Tensor, src_mask: Tensor, prefixes: Sequence[Sequence[int]]) -> list[OutputRules]:
        """Return the rules of each sentence's outputs.

        Args:
            src_ids: [B, S], padded at the end.
            src_mask: [B, S] bool, True = real token.
            prefixes: What the outputs of each sentence begin with; none at all = nothing.

        Raises:
            ValueError: If a prefix leaves no room for anything else.
        """
        if not len(prefixes):
            prefixes = [()] * len(src_ids)
        sources = [ids[:length] for ids, length in zip(src_ids.tolist(), src_mask.sum(dim=1).tolist(), strict=True)]
        return [output_rules(source, prefix, self) for source, prefix in zip(sources, prefixes, strict=True)]

    def ban_(self, log_probs: Tensor, rows: Sequence[tuple[OutputRules, Sequence[int]]]) -> Tensor:
        """Set the log-probabilities of what must not come next to -inf, in place.

        Args:
            log_probs: [R, V].
            rows: For each its rules and its tokens so far, BOS not among them; none at all = no rules.
        """
        log_probs[:, list(self.forbidden_ids)] = -math.inf
        only: list[tuple[int, int]] = []
        never: list[tuple[int, int]] = []
        for row, (rules, token_ids) in enumerate(rows):
            forced = rules.forced(len(token_ids) + 1, self.eos_id)
            if forced is None:
                never += ((row, token) for token in rules.banned(token_ids, self.eos_id))
            else:
                only.append((row, forced))
        if only:
            kept = log_probs[_columns(only, log_probs)]
            log_probs[_columns(only, log_probs)[0]] = -math.inf
            log_probs[_columns(only, log_probs)] = kept
        if never:
            log_probs[_columns(never, log_probs)] = -math.inf
        return log_probs

    def hypothesis(self, token_ids: Sequence[int], token_log_probs: Sequence[float]) -> Hypothesis:
        """Make the finished hypothesis.

        Raises:
            ValueError: If the log-probabilities are not numbers (NaN).
        """
        log_prob = sum(token_log_probs)
        check_number(log_prob)
        score = normalized_score(log_prob, len(token_ids), self.length_penalty)
        return Hypothesis(tuple(token_ids), log_prob, score, tuple(token_log_probs))


def _columns(pairs: list[tuple[int, int]], like: Tensor) -> tuple[Tensor, Tensor]:
    found = torch.tensor(pairs, device=like.device)
    return found[:, 0], found[:, 1]
