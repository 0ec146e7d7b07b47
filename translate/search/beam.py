"""Beam search, batched: the model's step is of tensors, over all sentences; what becomes of its candidates is decided
sentence by sentence. Sentences that are done leave at once.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import NamedTuple, cast

import torch
from torch import Tensor

from translate.search.candidates import Candidates, best_candidates, compact, largest
from translate.search.greedy import greedy
from translate.search.hypothesis import Hypothesis, normalized_score
from translate.search.rules import OutputRules
from translate.search.settings import SearchSettings
from translate.search.step_model import BestStepModel, GreedyModel, StateT, StepModel


class Step(NamedTuple):
    """One more token of the unfinished hypotheses of all sentences, N each; rows are sentence-major."""

    parents: list[int]  # which row of the step before each continues
    token_ids: list[int]
    log_probs: list[float]  # summed over the whole hypothesis; -inf marks an unused row


class Finished(NamedTuple):
    """A hypothesis that has ended, or was cut at the limit."""

    length: int  # tokens, EOS counted
    parent: int  # which row of the step before its last token it continues
    token_id: int  # its last
    log_prob: float
    score: float


@dataclass
class Searched:
    """A sentence, and its hypotheses that are finished."""

    place: int
    rules: OutputRules
    finished: list[Finished] = field(default_factory=list)


@dataclass
class Live:
    """The sentences still searched, and how all came to their hypotheses."""

    sentences: list[Searched]
    steps: list[Step] = field(default_factory=list)

    def path(self, length: int, row: int) -> tuple[list[int], list[float]]:
        """Return the tokens of a row after `length` steps, and its summed log-probability after each."""
        token_ids, log_probs = [], []
        for step in reversed(self.steps[:length]):
            token_ids.append(step.token_ids[row])
            log_probs.append(step.log_probs[row])
            row = step.parents[row]
        return token_ids[::-1], log_probs[::-1]

    def outputs(self) -> list[tuple[OutputRules, list[int]]]:
        """Return the rules of each row and its tokens so far, without BOS."""
        length, rows = len(self.steps), len(self.steps[-1].parents) if self.steps else len(self.sentences)
        width = rows // len(self.sentences)
        return [(self.sentences[row // width].rules, self.path(length, row)[0]) for row in range(rows)]


class Table(NamedTuple):
    """Candidates as lists, those of one sentence after those of another."""

    log_probs: list[float]
    beams: list[int]
    token_ids: list[int]
    width: int  # 2N
    num_beams: int  # hypotheses of each sentence that they continue: one at the start, then N

    @classmethod
    def of(cls, found: Candidates, num_beams: int) -> "Table":
        """Convert candidates [B, 2N] to lists."""
        log_probs, beams, token_ids = (column.flatten().tolist() for column in found)
        return cls(log_probs, beams, token_ids, found.token_ids.size(1), num_beams)

    def parent(self, place: int) -> int:
        """Return the row that a candidate continues."""
        return place // self.width * self.num_beams + self.beams[place]

    def step(self, places: list[int]) -> Step:
        """Return the candidates that live on."""
        token_ids, log_probs = self.token_ids, self.log_probs
        return Step(
            [self.parent(place) for place in places],
            [token_ids[place] for place in places],
            [log_probs[place] for place in places],
        )


Propose = Callable[[Tensor, Tensor, Live], Candidates]  # given the newest tokens [B * N] and the sums so far [B, N]


@dataclass(frozen=True, kw_only=True)
class BeamSearch(SearchSettings):
    """Beam search over a `StepModel`; with `beam_size` 1 it is greedy search.

    In each step every sentence has N = `beam_size` unfinished hypotheses. Of their continuations the best 2N are
    candidates. Candidates among the best N that end in EOS are finished; the best N others live on. A sentence is done

    - when it holds N finished hypotheses, or
    - when no unfinished hypothesis can still enter its best `num_hypotheses`: log-probabilities only fall and no output
      is longer than the sentence's limit, so the final score of an unfinished hypothesis is at most
      log_prob / limit ** length_penalty; the sentence is done if that bound of the best one is not above the score of
      its finished hypothesis number `num_hypotheses`.

    The limit of a sentence is `max_output_len`, or `max_output_ratio` times its source tokens plus 10 if that is less.
    At that length the unfinished hypotheses of a sentence that has fewer than `num_hypotheses` finished
    ones fill its list up, best first, as they are, without EOS. Hypotheses of equal score stand in the order found.

    Args:
        beam_size: N >= `num_hypotheses`.

    Raises:
        ValueError: If a setting is out of its range.

    Source: Graves 2012 (arXiv:1211.3711), section 4; length penalty as in `normalized_score`.
    """

    beam_size: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.num_hypotheses > self.beam_size:
            raise ValueError(f"num_hypotheses ({self.num_hypotheses}) must lie in 1 to beam_size ({self.beam_size})")

    @torch.inference_mode()
    def search(
        self,
        model: StepModel[StateT],
        src_ids: Tensor,
        src_mask: Tensor,
        prefixes: Sequence[Sequence[int]] = (),
    ) -> list[list[Hypothesis]]:
        """Search the outputs of a batch of sources.

        Args:
            model: In eval mode.
            src_ids: [B, S], padded at the end.
            src_mask: [B, S] bool, True = real token.
            prefixes: Tokens that the outputs of each source begin with; none at all = nothing.

        Returns:
            For each source its `num_hypotheses` best hypotheses, best first; fewer only if fewer are possible.

        Raises:
            ValueError: If the model's logits are not numbers (NaN), or a prefix leaves no room for anything else.
        """
        rules = self.rules(src_ids, src_mask, prefixes)
        last_restricted = max(own.last_restricted for own in rules)

        memory = model.encode(src_ids, src_mask)
        if self.beam_size == 1 and not last_restricted:
            run = model.greedy if isinstance(model, GreedyModel) else partial(greedy, model)
            limits = [own.longest for own in rules]
            found = run(memory, src_mask, limits, self._banned(1), self.bos_id, self.eos_id)
            return [[self._from_sums(*one)] if one[0] else [] for one in found]
        state = model.start(memory, src_mask)
        finds_best = isinstance(model, BestStepModel)

        def propose(last_ids: Tensor, log_probs: Tensor, live: Live) -> Candidates:
            length, count = len(live.steps) + 1, 2 * self.beam_size
            free, banned = length > last_restricted, self._banned(length)
            if free and finds_best:
                return Candidates(
                    *cast(BestStepModel[StateT], model).best_step(last_ids, state, log_probs, banned, count)
                )
            logits = model.step(last_ids, state)
            if free:
                return best_candidates(logits, log_probs, banned, count)
            values, places = largest(self.continuations(logits, log_probs, live).flatten(1), count)
            return Candidates(values, places // logits.size(1), places % logits.size(1))

        return self.run(state, rules, propose, src_ids.device)

    def run(
        self,
        state: StateT,
        rules: Sequence[OutputRules],
        propose: Propose,
        device: torch.device,
    ) -> list[list[Hypothesis]]:
        """Search from a state on.

        Args:
            state: Before the first token, a row for each sentence.
            rules: Of each.
            propose: Takes a step of the model and gives its candidates, [B, 2N].
            device: Of the model.
        """
        live = Live([Searched(place, own) for place, own in enumerate(rules)])
        hypotheses: list[list[Hypothesis]] = [[] for _ in rules]
        last_ids = torch.full((len(rules),), self.bos_id, device=device)
        log_probs = torch.zeros(len(rules), 1, device=device)
        while True:
            table = Table.of(propose(last_ids, log_probs, live), log_probs.size(1))
            chosen, stays, length = [], [], len(live.steps) + 1
            for row, sentence in enumerate(live.sentences):
                unfinished = self._take(sentence, row, table, length)
                done = self._done(sentence, unfinished, table, length)
                if done:
                    hypotheses[sentence.place] = self._hypotheses(sentence, unfinished, table, live)
                chosen.append(unfinished)
                stays.append(not done)
            kept = compact(stays)
            if not kept:
                return hypotheses
            if len(kept) < len(stays):
                state.keep(torch.tensor(kept, device=device))
                live.sentences = [live.sentences[row] for row in kept]
            places = [place for row in kept for place in chosen[row]]
            live.steps.append(table.step(places))
            last_ids = torch.tensor(live.steps[-1].token_ids, device=device)
            log_probs = torch.tensor(live.steps[-1].log_probs, dtype=torch.float32, device=device).view(len(kept), -1)
            if len(live.steps) == 1:
                state.repeat(self.beam_size)
            elif self.beam_size > 1:
                rows = [row - row % self.beam_size + table.beams[place] for row, place in enumerate(places)]
                state.reorder(torch.tensor(rows, device=device))

    def _take(self, sentence: Searched, row: int, table: Table, length: int) -> Sequence[int]:
        """Let the candidates of a sentence that end be finished; the places of the best N others."""
        start = row * table.width
        if self.eos_id not in table.token_ids[start : start + table.width]:
            return range(start, start + self.beam_size)
        others = []
        for rank, place in enumerate(range(start, start + table.width)):
            if table.token_ids[place] != self.eos_id or table.log_probs[place] == -math.inf:
                others.append(place)
            elif rank < self.beam_size:
                sentence.finished.append(self._finished(place, table, length))
        return others[: self.beam_size]

    def _finished(self, place: int, table: Table, length: int) -> Finished:
        log_prob = table.log_probs[place]
        score = normalized_score(log_prob, length, self.length_penalty)
        return Finished(length, table.parent(place), table.token_ids[place], log_prob, score)

    def _done(self, sentence: Searched, unfinished: Sequence[int], table: Table, length: int) -> bool:
        """Return whether a sentence is done, by the rule in the class's docstring."""
        finished, limit = sentence.finished, sentence.rules.longest
        if length >= limit or len(finished) >= self.beam_size:
            return True
        if len(finished) < self.num_hypotheses:
            return table.log_probs[unfinished[0]] == -math.inf
        scores = sorted((one.score for one in finished), reverse=True)
        best = max(table.log_probs[place] for place in unfinished)
        return normalized_score(best, limit, self.length_penalty) <= scores[self.num_hypotheses - 1]

    def _hypotheses(self, sentence: Searched, unfinished: Sequence[int], table: Table, live: Live) -> list[Hypothesis]:
        """Return the best hypotheses of a sentence that is done; at its limit unfinished ones fill the list up."""
        length, missing = len(live.steps) + 1, max(0, self.num_hypotheses - len(sentence.finished))
        possible = [place for place in unfinished if table.log_probs[place] != -math.inf]
        found = sentence.finished + [self._finished(place, table, length) for place in possible[:missing]]
        return [self._hypothesis(one, live) for one in sorted(found, key=lambda one: -one.score)[: self.num_hypotheses]]

    def _hypothesis(self, one: Finished, live: Live) -> Hypothesis:
        token_ids, sums = live.path(one.length - 1, one.parent)
        return self._from_sums([*token_ids, one.token_id], [*sums, one.log_prob])

    def _from_sums(self, token_ids: list[int], sums: list[float]) -> Hypothesis:
        return self.hypothesis(token_ids, [later - sooner for sooner, later in pairwise([0.0, *sums])])

    def continuations(self, logits: Tensor, log_probs: Tensor, live: Live) -> Tensor:
        """Log-probabilities of all continuations [B, N, V], summed, as in `best_candidates`; -inf where banned."""
        values, likeliest = logits.float(), logits.softmax(dim=1, dtype=torch.float32).amax(1, keepdim=True)
        values = values - values.amax(1, keepdim=True) + likeliest.log() + log_probs.view(-1, 1)
        restricted = any(len(live.steps) < one.rules.last_restricted for one in live.sentences)
        return self.ban_(values, live.outputs() if restricted else []).view(*log_probs.shape, -1)

    def _banned(self, length: int) -> tuple[int, ...]:
        """Return the tokens that number `length` of no output may be."""
        return self.forbidden_ids if length >= self.min_output_len else (*self.forbidden_ids, self.eos_id)
