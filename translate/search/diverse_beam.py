"""Diverse beam search: groups of hypotheses that keep clear of each other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest

from translate.search.arrays import Array, gather, largest, namespace, quiet
from translate.search.base import Search
from translate.search.beam import BeamSearch, Sentence
from translate.search.candidates import Candidates
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

    @quiet
    def search(
        self,
        model: StepModel[StateT],
        src_ids: Array,
        src_mask: Array,
        prefixes: Sequence[Sequence[int]] = (),
    ) -> list[list[Hypothesis]]:
        """Search the outputs of a batch of sources, as `BeamSearch.search` does.

        To the model each group is a sentence, so that a group that is done leaves.
        """
        count = self.settings.beam_groups
        rules = [own for own in self.group.rules(src_ids, src_mask, prefixes) for _ in range(count)]
        xp, memory = namespace(src_ids), model.encode(src_ids, src_mask)
        state = model.start(xp.repeat(memory, count, axis=0), xp.repeat(src_mask, count, axis=0))

        def propose(last_ids: Array, log_probs: Array, sentences: Sequence[Sentence]) -> Candidates:
            return self._candidates(model.step(last_ids, state), log_probs, sentences)

        found = self.group.run(state, rules, propose, src_ids)
        return [self._merged(found[start : start + count]) for start in range(0, len(found), count)]

    def _candidates(self, logits: Array, log_probs: Array, groups: Sequence[Sentence]) -> Candidates:
        """Return the candidates of each group, [B, 2N], after penalties for the tokens of the groups before it."""
        sums, vocab = self.group.continuations(logits, log_probs, groups), logits.shape[1]  # [B, R / B, V]
        xp, device, groups_each = namespace(logits), logits.device, self.settings.beam_groups
        size, rows = self.group.settings.beam_size, [group.number // groups_each for group in groups]
        sentences = xp.asarray(rows, device=device)  # [B]
        taken = xp.zeros((max(rows) + 1, vocab), dtype=sums.dtype, device=device)  # how often, by sentence and token
        columns = (
            xp.empty((len(groups), 2 * size), dtype=dtype, device=device) for dtype in (sums.dtype, *[xp.int64] * 2)
        )
        found = Candidates(*columns)
        for turn in range(groups_each):
            own = [place for place, group in enumerate(groups) if group.number % groups_each == turn]
            if not own:
                continue
            places = xp.asarray(own, device=device)
            each = xp.reshape(sums[places], (len(own), -1))
            penalties = self.settings.diversity_penalty * taken[sentences[places], None]
            values, indices = largest(xp.reshape(sums[places] - penalties, (len(own), -1)), 2 * size)
            token_ids = indices % vocab
            goes_on = (token_ids != self.eos_id) & (values != -math.inf)
            goes_on &= xp.cumulative_sum(xp.astype(goes_on, xp.int64), axis=1) <= size
            for column in range(2 * size):  # one hypothesis of each sentence at a time: a token may come more than once
                taken[sentences[places], token_ids[:, column]] += xp.astype(goes_on[:, column], taken.dtype)
            found.log_probs[places] = xp.where(values == -math.inf, -math.inf, gather(each, indices))
            found.beams[places], found.token_ids[places] = indices // vocab, token_ids
        return found

    def _merged(self, groups: Sequence[list[Hypothesis]]) -> list[Hypothesis]:
        """Merge the groups: the best of each, the second of each …, as many as wanted, best score first."""
        ranks = zip_longest(*groups)
        different = {one.token_ids: one for rank in ranks for one in rank if one is not None}
        wanted = list(different.values())[: self.settings.num_hypotheses]
        return sorted(wanted, key=lambda one: -one.score)
