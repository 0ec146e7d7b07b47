"""Base of the searches that draw at random: what they draw from, and outputs that grow token by token."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from translate.search.arrays import Array, namespace
from translate.search.base import Search
from translate.search.draw import drawing_log_probs
from translate.search.hypothesis import Hypothesis
from translate.search.rules import OutputRules


@dataclass
class Outputs:
    """The sentences still searched, each with its N outputs so far."""

    sentences: Array  # [B] place of each in the input
    token_ids: Array  # [B, N, t] without BOS; more EOS behind an end
    token_log_probs: Array  # [B, N, t] float64, by the model, not by what was drawn from; 0 behind an end
    ended: Array  # [B, N] bool
    limits: Array  # [B] most tokens of an output, EOS counted

    @classmethod
    def start(cls, rules: Sequence[OutputRules], **more: Array) -> Self:
        """Return the outputs before the first token, one for each sentence.

        Args:
            rules: Of each.
            more: What a subclass adds, [B, …] on the device wanted.
        """
        like = next(iter(more.values()))
        xp, place = namespace(like), {"device": like.device}
        return cls(
            sentences=xp.arange(len(rules), **place),
            token_ids=xp.zeros((len(rules), 1, 0), dtype=xp.int64, **place),
            token_log_probs=xp.zeros((len(rules), 1, 0), dtype=xp.float64, **place),
            ended=xp.zeros((len(rules), 1), dtype=xp.bool, **place),
            limits=xp.asarray([rule.longest for rule in rules], **place),
            **more,
        )

    def keep(self, kept: Array) -> None:
        """Drop all sentences but the given ones."""
        for name, value in vars(self).items():
            setattr(self, name, value[kept])

    def add(self, token_ids: Array, log_probs: Array, eos_id: int) -> None:
        """Append a token to each output, both [B, N]; from one output per sentence there can come N."""
        xp = namespace(token_ids)
        for name, newest in (("token_ids", token_ids), ("token_log_probs", log_probs)):
            past = getattr(self, name)
            past = xp.broadcast_to(past, (*newest.shape, past.shape[2]))
            setattr(self, name, xp.concat((past, newest[:, :, None]), axis=2))
        self.ended = token_ids == eos_id


@dataclass(frozen=True, kw_only=True)
class RandomSearch(Search):
    """Base of the searches that draw at random; see `drawing_log_probs`."""

    def drawing(self, log_probs: Array, outputs: Outputs, rules: Sequence[OutputRules]) -> Array:
        """Return the distributions that the next token of each unfinished output is drawn from.

        Args:
            log_probs: The model's, [R, V], a row for each of them.
            outputs: Those of all sentences.
            rules: Of all sentences of the input.

        Returns:
            Log-probabilities [R, V].
        """
        length, places = outputs.token_ids.shape[2] + 1, outputs.sentences.tolist()
        rows: list[tuple[OutputRules, list[int]]] = []
        if any(length <= rules[place].last_restricted for place in places):
            for place, *own in zip(places, outputs.ended.tolist(), outputs.token_ids.tolist(), strict=True):
                rows += ((rules[place], token_ids) for ended, token_ids in zip(*own, strict=True) if not ended)
        allowed, settings = self.ban_(namespace(log_probs).asarray(log_probs, copy=True), rows), self.settings
        return drawing_log_probs(allowed, temperature=settings.temperature, top_k=settings.top_k, top_p=settings.top_p)

    def collect(self, outputs: Outputs, found: Sequence[list[Hypothesis]], possible: Array | None = None) -> Array:
        """Let the sentences that are done leave with their outputs, all or those `possible` [B, N].

        Returns:
            The places of the others, [B'].
        """
        xp = namespace(outputs.ended)
        done = xp.all(outputs.ended, axis=1) | (outputs.limits == outputs.token_ids.shape[2])
        possible = xp.ones_like(outputs.ended) if possible is None else possible
        columns = outputs.sentences, outputs.token_ids, outputs.token_log_probs, possible
        for sentence, *own in zip(*(column[done].tolist() for column in columns), strict=True):
            for token_ids, log_probs, is_possible in zip(*own, strict=True):
                if is_possible:
                    end = token_ids.index(self.eos_id) + 1 if self.eos_id in token_ids else len(token_ids)
                    found[sentence].append(self.hypothesis(token_ids[:end], log_probs[:end]))
        return xp.nonzero(~done)[0]
