"""Diverse beam search: groups of hypotheses that keep clear of each other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import torch
from torch import Tensor

from translate.search.beam import BeamSearch, Sentence
from translate.search.candidates import Candidates, largest
from translate.search.hypothesis import Hypothesis
from translate.search.step_model import StateT, StepModel


@dataclass(frozen=True, kw_only=True)
class DiverseBeam:
    """Beam search in groups that take turns in each step: a token costs more, the more of the groups before chose it.

    The cost (Hamming diversity) decides what a group follows, and nothing else: log-probabilities and scores are the
    model's own. It is counted among unfinished hypotheses, at the same place of the output. The hypotheses of a
    sentence are the best of each group, then the second best of each, and so on, without those that are there already;
    then they are ordered by score. The first group is a beam search of its own.

    Args:
        group: The search of one group.
        beam_groups: G >= 2; each follows `group.beam_size` hypotheses.
        diversity_penalty: > 0, in nats for each hypothesis before that chose the token.
        num_hypotheses: How many to return per sentence, fewer only if the groups find fewer different ones.

    Raises:
        ValueError: If a setting is out of its range.

    Source: Vijayakumar et al. 2016 (arXiv:1610.02424).
    """

    group: BeamSearch
    beam_groups: int
    diversity_penalty: float
    num_hypotheses: int

    def __post_init__(self) -> None:
        if self.beam_groups < 2:
            raise ValueError(f"beam_groups ({self.beam_groups}) must be at least 2")
        if self.diversity_penalty <= 0:
            raise ValueError(f"diversity_penalty ({self.diversity_penalty}) must be above 0")

    @torch.inference_mode()
    def search(
        self,
        model: StepModel[StateT],
        src_ids: Tensor,
        src_mask: Tensor,
        prefixes: Sequence[Sequence[int]] = (),
    ) -> list[list[Hypothesis]]:
        """Search the outputs of a batch of sources, as `BeamSearch.search` does.

        To the model each group is a sentence of its own, so that one that is done leaves.
        """
        count = self.beam_groups
        rules = [own for own in self.group.rules(src_ids, src_mask, prefixes) for _ in range(count)]
        memory = model.encode(src_ids, src_mask).repeat_interleave(count, dim=0)
        state = model.start(memory, src_mask.repeat_interleave(count, dim=0))

        def propose(last_ids: Tensor, log_probs: Tensor, sentences: Sequence[Sentence]) -> Candidates:
            return self._candidates(model.step(last_ids, state), log_probs, sentences)

        found = self.group.run(state, rules, propose, src_ids.device)
        return [self._merged(found[start : start + count]) for start in range(0, len(found), count)]

    def _candidates(self, logits: Tensor, log_probs: Tensor, groups: Sequence[Sentence]) -> Candidates:
        """Return the candidates of each group, [B, 2N], after penalties for the tokens of the groups before it."""
        sums, vocab = self.group.continuations(logits, log_probs, groups), logits.size(1)  # [B, R / B, V]
        sentences = torch.tensor([group.number // self.beam_groups for group in groups], device=logits.device)  # [B]
        taken = sums.new_zeros(int(sentences.max()) + 1, vocab)  # how often each sentence took a token in this step
        width = 2 * self.group.beam_size
        found = Candidates(sums.new_empty(len(groups), width), *sentences.new_empty(2, len(groups), width))
        for turn in range(self.beam_groups):
            own = [place for place, group in enumerate(groups) if group.number % self.beam_groups == turn]
            places = torch.tensor(own, dtype=torch.long, device=logits.device)
            penalties = self.diversity_penalty * taken[sentences[places], None]
            values, indices = largest((sums[places] - penalties).flatten(1), width)
            token_ids = indices % vocab
            goes_on = (token_ids != self.group.eos_id) & (values != -math.inf)
            goes_on &= goes_on.cumsum(1) <= self.group.beam_size
            taken.index_put_(
                (sentences[places, None].expand_as(token_ids), token_ids), goes_on.float(), accumulate=True
            )
            chosen = sums[places].flatten(1).gather(1, indices)
            found.log_probs[places] = chosen.masked_fill(values == -math.inf, -math.inf)
            found.beams[places], found.token_ids[places] = indices // vocab, token_ids
        return found

    def _merged(self, groups: Sequence[list[Hypothesis]]) -> list[Hypothesis]:
        """Merge the groups: the best of each, the second of each …, as many as wanted, best score first."""
        ranks = zip_longest(*groups)
        different = {one.token_ids: one for rank in ranks for one in rank if one is not None}
        wanted = list(different.values())[: self.num_hypotheses]
        return sorted(wanted, key=lambda one: -one.score)
