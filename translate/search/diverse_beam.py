"""Diverse beam search: groups of hypotheses that keep clear of each other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest

import torch
from torch import Tensor

from translate.search.base import Search
from translate.search.beam import BeamSearch, Sentence
from translate.search.candidates import Candidates, largest
from translate.search.hypothesis import Hypothesis
from translate.search.step_model import StateT, StepModel


@dataclass(frozen=True, kw_only=True)
class DiverseBeam(Search):
    """Beam search in groups that take turns in each step: a token costs more, the more of the groups before chose it.

    The cost (Hamming diversity), `diversity_penalty` nats for each unfinished hypothesis of an earlier group that took
    the token in the same step, decides what a group follows and nothing else: log-probabilities and scores are those of
    the model. The hypotheses of a sentence are the best of each group, then the second best of each, and so on, without
    repetitions, up to `num_hypotheses`; then they are ordered by score. The first group is an ordinary beam search of
    `beam_size` / `beam_groups` hypotheses.

    Source: Vijayakumar et al. 2016 (arXiv:1610.02424).
    """

    @cached_property
    def group(self) -> BeamSearch:
        """The search of one group."""
        size = self.settings.beam_size // self.settings.beam_groups
        settings = replace(self.settings, beam_size=size, beam_groups=1, num_hypotheses=size)
        return BeamSearch(settings=settings, bos_id=self.bos_id, eos_id=self.eos_id, forbidden_ids=self.forbidden_ids)

    @torch.inference_mode()
    def search(
        self,
        model: StepModel[StateT],
        src_ids: Tensor,
        src_mask: Tensor,
        prefixes: Sequence[Sequence[int]] = (),
    ) -> list[list[Hypothesis]]:
        """Search the outputs of a batch of sources, as `BeamSearch.search` does.

        To the model each group is a sentence, so that a group that is done leaves.
        """
        count = self.settings.beam_groups
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
        sentences = torch.tensor(
            [group.number // self.settings.beam_groups for group in groups], device=logits.device
        )  # [B]
        taken = sums.new_zeros(int(sentences.max()) + 1, vocab)  # how often each sentence took a token in this step
        width = 2 * self.group.settings.beam_size
        found = Candidates(sums.new_empty(len(groups), width), *sentences.new_empty(2, len(groups), width))
        for turn in range(self.settings.beam_groups):
            own = [place for place, group in enumerate(groups) if group.number % self.settings.beam_groups == turn]
            places = torch.tensor(own, dtype=torch.long, device=logits.device)
            penalties = self.settings.diversity_penalty * taken[sentences[places], None]
            values, indices = largest((sums[places] - penalties).flatten(1), width)
            token_ids = indices % vocab
            goes_on = (token_ids != self.eos_id) & (values != -math.inf)
            goes_on &= goes_on.cumsum(1) <= self.group.settings.beam_size
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
        wanted = list(different.values())[: self.settings.num_hypotheses]
        return sorted(wanted, key=lambda one: -one.score)
