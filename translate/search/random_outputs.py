"""Base of the searches that draw at random: what they draw from, and outputs that grow token by token."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from translate.search.base import Search
from translate.search.draw import drawing_log_probs
from translate.search.hypothesis import Hypothesis
from translate.search.rules import OutputRules


@dataclass
class Outputs:
    """The sentences still searched, each with its N outputs so far."""

    sentences: Tensor  # [B] place of each in the input
    token_ids: Tensor  # [B, N, t] without BOS; more EOS behind an end
    token_log_probs: Tensor  # [B, N, t] float64, by the model, not by what was drawn from; 0 behind an end
    ended: Tensor  # [B, N] bool
    limits: Tensor  # [B] most tokens of an output, EOS counted

    @classmethod
    def start(cls, rules: Sequence[OutputRules], **more: Tensor) -> Self:
        """Return the outputs before the first token, one for each sentence.

        Args:
            rules: Of each.
            more: What a subclass adds, [B, …] on the device wanted.
        """
        device = next(iter(more.values())).device
        empty = torch.zeros(len(rules), 1, 0, dtype=torch.long, device=device)
        return cls(
            sentences=torch.arange(len(rules), device=device),
            token_ids=empty,
            token_log_probs=empty.double(),
            ended=torch.zeros(len(rules), 1, dtype=torch.bool, device=device),
            limits=torch.tensor([rule.longest for rule in rules], device=device),
            **more,
        )

    def keep(self, kept: Tensor) -> None:
        """Drop all sentences but the given ones."""
        for name, value in vars(self).items():
            setattr(self, name, value[kept])

    def add(self, token_ids: Tensor, log_probs: Tensor, eos_id: int) -> None:
        """Append a token to each output, both [B, N]; from one output per sentence there can come N."""
        past = self.token_ids.expand(-1, token_ids.size(1), -1), self.token_log_probs.expand(-1, token_ids.size(1), -1)
        self.token_ids = torch.cat((past[0], token_ids[:, :, None]), dim=2)
        self.token_log_probs = torch.cat((past[1], log_probs[:, :, None]), dim=2)
        self.ended = token_ids == eos_id


@dataclass(frozen=True, kw_only=True)
class RandomSearch(Search):
    """Base of the searches that draw at random; see `drawing_log_probs`."""

    def drawing(self, log_probs: Tensor, outputs: Outputs, rules: Sequence[OutputRules]) -> Tensor:
        """Return the distributions that the next token of each unfinished output is drawn from.

        Args:
            log_probs: The model's, [R, V], a row for each of them.
            outputs: Those of all sentences.
            rules: Of all sentences of the input.

        Returns:
            Log-probabilities [R, V].
        """
        length, places = outputs.token_ids.size(2) + 1, outputs.sentences.tolist()
        rows: list[tuple[OutputRules, list[int]]] = []
        if any(length <= rules[place].last_restricted for place in places):
            for place, *own in zip(places, outputs.ended.tolist(), outputs.token_ids.tolist(), strict=True):
                rows += ((rules[place], token_ids) for ended, token_ids in zip(*own, strict=True) if not ended)
        allowed, settings = self.ban_(log_probs.clone(), rows), self.settings
        return drawing_log_probs(allowed, temperature=settings.temperature, top_k=settings.top_k, top_p=settings.top_p)

    def collect(self, outputs: Outputs, found: Sequence[list[Hypothesis]], possible: Tensor | None = None) -> Tensor:
        """Let the sentences that are done leave with their outputs, all or those `possible` [B, N].

        Returns:
            The places of the others, [B'].
        """
        done = outputs.ended.all(1) | (outputs.limits == outputs.token_ids.size(2))
        possible = torch.ones_like(outputs.ended) if possible is None else possible
        columns = outputs.sentences, outputs.token_ids, outputs.token_log_probs, possible
        for sentence, *own in zip(*(column[done].tolist() for column in columns), strict=True):
            for token_ids, log_probs, is_possible in zip(*own, strict=True):
                if is_possible:
                    end = token_ids.index(self.eos_id) + 1 if self.eos_id in token_ids else len(token_ids)
                    found[sentence].append(self.hypothesis(token_ids[:end], log_probs[:end]))
        return (~done).nonzero().squeeze(1)
