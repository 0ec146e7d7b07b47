"""What all searches share: settings, special tokens, the rules of their outputs, and how a hypothesis is made."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from translate.config.decode import DecodeConfig
from translate.search.arrays import Array, namespace
from translate.search.hypothesis import Hypothesis, check_number, normalized_score
from translate.search.rules import OutputRules, output_rules


@dataclass(frozen=True, kw_only=True)
class Search:
    """Base of all searches.

    Args:
        settings: Complete; a guard that is on acts on every sentence (`guarded_search` turns them on where needed).
        bos_id: First decoder input.
        eos_id: Ends a hypothesis.
        forbidden_ids: Never generated (PAD, BOS); they keep their share of the probability.

    Raises:
        ValueError: If EOS is forbidden.
    """

    settings: DecodeConfig
    bos_id: int
    eos_id: int
    forbidden_ids: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.eos_id in self.forbidden_ids:
            raise ValueError(f"forbidden_ids {self.forbidden_ids} must not contain eos_id ({self.eos_id})")

    def rules(self, src_ids: Array, src_mask: Array, prefixes: Sequence[Sequence[int]]) -> list[OutputRules]:
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
        sources = [ids[:length] for ids, length in zip(src_ids.tolist(), src_mask.sum(1).tolist(), strict=True)]
        return [output_rules(source, prefix, self.settings) for source, prefix in zip(sources, prefixes, strict=True)]

    def ban_(self, log_probs: Array, rows: Sequence[tuple[OutputRules, Sequence[int]]]) -> Array:
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
        score = normalized_score(log_prob, len(token_ids), self.settings.length_penalty)
        return Hypothesis(tuple(token_ids), log_prob, score, tuple(token_log_probs))


def _columns(pairs: list[tuple[int, int]], like: Array) -> tuple[Array, Array]:
    found = namespace(like).asarray(pairs, device=like.device)
    return found[:, 0], found[:, 1]
