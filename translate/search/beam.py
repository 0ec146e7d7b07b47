"""Beam search, batched: the model's step is of tensors, over all sentences; what becomes of its candidates is decided
sentence by sentence. Sentences that are done leave at once.

Letters of the shapes:
    B   sentences still searched
    N   `beam_size`, unfinished outputs of each sentence; the first step has one of each, the empty one
    R   rows of the model: B in the first step, then B * N, those of one sentence together: row = sentence * N + beam
    V   vocabulary
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from translate.search.arrays import Array, compact, largest, log_softmax, namespace, quiet
from translate.search.base import Search
from translate.search.candidates import Candidates, best_candidates
from translate.search.greedy import greedy
from translate.search.hypothesis import Hypothesis, normalized_score
from translate.search.rules import OutputRules
from translate.search.step_model import BestStepModel, SearchModel, StateT, StepModel


class Ending(NamedTuple):
    """An output that has ended, or was cut at the limit."""

    length: int  # tokens, EOS counted
    beam: int  # which output of the step before its last token it continues
    token_id: int  # its last token
    log_prob: float
    score: float


@dataclass
class Sentence:
    """The search of one sentence.

    Three lists hold its steps one after the other, N entries each; entry `(length - 1) * N + beam` is of the token that
    made an output `length` tokens long. They are flat since many small lists keep Python's garbage collector busy.

    Attributes:
        number: Of the sentence in the input.
        rules: What its outputs must obey.
        beam_size: N, unfinished outputs after each step.
        log_probs: Log-probabilities of the outputs so far; -inf marks an impossible one.
        beams: Which output of the step before each continues.
        token_ids: Newest tokens.
        endings: Its finished outputs, in the order found.
    """

    number: int
    rules: OutputRules
    beam_size: int
    log_probs: list[float] = field(default_factory=list)
    beams: list[int] = field(default_factory=list)
    token_ids: list[int] = field(default_factory=list)
    endings: list[Ending] = field(default_factory=list)

    @property
    def length(self) -> int:
        """Tokens of each unfinished output."""
        return len(self.token_ids) // self.beam_size

    def path(self, length: int, beam: int) -> tuple[list[int], list[float]]:
        """Return the tokens of an output after `length` steps, and its summed log-probability after each."""
        if self.beam_size == 1:
            return self.token_ids[:length], self.log_probs[:length]
        token_ids, log_probs = [], []
        for start in range((length - 1) * self.beam_size, -1, -self.beam_size):
            token_ids.append(self.token_ids[start + beam])
            log_probs.append(self.log_probs[start + beam])
            beam = self.beams[start + beam]
        return token_ids[::-1], log_probs[::-1]


# Given the newest tokens [R], the log-probabilities of the outputs so far [B, R / B], and their sentences.
Propose = Callable[[Array, Array, Sequence[Sentence]], Candidates]


@dataclass(frozen=True, kw_only=True)
class BeamSearch(Search):
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

    Source: Graves 2012 (arXiv:1211.3711), section 4; length penalty as in `normalized_score`.
    """

    @quiet
    def search(
        self,
        model: StepModel[StateT],
        src_ids: Array,
        src_mask: Array,
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

        memory = model.encode(src_ids, src_mask)  # [B, S, M]
        if isinstance(model, SearchModel) and not last_restricted:
            return self._whole_search(model, memory, src_mask, rules)
        if self.settings.beam_size == 1 and not last_restricted:
            limits = [own.longest for own in rules]
            found = greedy(model, memory, src_mask, limits, self.forbidden_ids, self.bos_id, self.eos_id)
            return [[self._hypothesis(*one)] if one[0] else [] for one in found]
        state = model.start(memory, src_mask)
        best_step, xp = model.best_step if isinstance(model, BestStepModel) else None, namespace(src_ids)

        def best(last_ids: Array, log_probs: Array, banned: Sequence[int], count: int) -> Candidates:
            if best_step:
                return Candidates(*best_step(last_ids, state, log_probs, banned, count))
            return best_candidates(model.step(last_ids, state), log_probs, banned, count)

        def propose(last_ids: Array, log_probs: Array, sentences: Sequence[Sentence]) -> Candidates:
            length, count = sentences[0].length + 1, 2 * self.settings.beam_size
            if length > last_restricted:
                return best(last_ids, log_probs, self.forbidden_ids, count)
            if not any(sentence.rules.forced(length, self.eos_id) is not None for sentence in sentences):
                never = [self._never(sentence, log_probs.shape[1]) for sentence in sentences]
                found = best(last_ids, log_probs, self.forbidden_ids, count + max(map(len, never)))
                return _without(found, never, count)
            continuations = self.continuations(model.step(last_ids, state), log_probs, sentences)  # [B, R / B, V]
            values, indices = largest(xp.reshape(continuations, (len(sentences), -1)), count)
            return Candidates(values, indices // continuations.shape[2], indices % continuations.shape[2])

        return self.run(state, rules, propose, src_ids)

    def _whole_search(
        self, model: SearchModel[StateT], memory: Array, src_mask: Array, rules: Sequence[OutputRules]
    ) -> list[list[Hypothesis]]:
        """Leave the search to the model."""
        found = model.beam_search(
            memory,
            src_mask,
            [own.longest for own in rules],
            beam_size=self.settings.beam_size,
            wanted=self.settings.num_hypotheses,
            length_penalty=self.settings.length_penalty,
            banned=self.forbidden_ids,
            bos_id=self.bos_id,
            eos_id=self.eos_id,
        )
        hypotheses = []
        for number, (own, (token_ids, beams, log_probs, endings)) in enumerate(zip(rules, found, strict=True)):
            sentence = Sentence(number, own, self.settings.beam_size, log_probs, beams, token_ids)
            sentence.endings += [self._end(length, beam, self.eos_id, log_prob) for length, beam, log_prob in endings]
            hypotheses.append(self._best_hypotheses(sentence))
        return hypotheses

    def run(self, state: StateT, rules: Sequence[OutputRules], propose: Propose, like: Array) -> list[list[Hypothesis]]:
        """Search from a state on.

        Args:
            state: State before the first token, a row for each sentence.
            rules: Rules of each sentence.
            propose: Takes a step of the model and returns the best continuations of each sentence, [B, 2N].
            like: An array of the model's kind and device.
        """
        size, xp, device = self.settings.beam_size, namespace(like), like.device
        hypotheses: list[list[Hypothesis]] = [[] for _ in rules]
        sentences = [Sentence(number, own, size) for number, own in enumerate(rules)]
        last_ids = xp.full((len(rules),), self.bos_id, dtype=xp.int64, device=device)  # [R]
        log_probs = xp.zeros((len(rules), 1), dtype=xp.float32, device=device)  # [B, R / B]
        while True:
            candidates = propose(last_ids, log_probs, sentences)  # [B, 2N]
            goes_on = []
            for sentence, *own in zip(sentences, *(column.tolist() for column in candidates), strict=True):
                self._extend(sentence, *own)
                goes_on.append(not self._is_done(sentence))
                if not goes_on[-1]:
                    hypotheses[sentence.number] = self._best_hypotheses(sentence)
            kept = compact(goes_on)
            if not kept:
                return hypotheses
            if len(kept) < len(sentences):
                state.keep(xp.asarray(kept, device=device))
                sentences = [sentences[place] for place in kept]

            if sentences[0].length == 1:
                state.repeat(size)  # R from B to B * N
            elif size > 1:
                first_rows = range(0, len(sentences) * size, size)
                own_rows = zip(first_rows, sentences, strict=True)
                rows = [first + beam for first, sentence in own_rows for beam in sentence.beams[-size:]]
                state.reorder(xp.asarray(rows, device=device))
            newest = [token_id for sentence in sentences for token_id in sentence.token_ids[-size:]]
            sums = [log_prob for sentence in sentences for log_prob in sentence.log_probs[-size:]]
            last_ids = xp.asarray(newest, device=device)
            log_probs = xp.reshape(xp.asarray(sums, dtype=xp.float32, device=device), (-1, size))

    def _extend(self, sentence: Sentence, log_probs: list[float], beams: list[int], token_ids: list[int]) -> None:
        """Continue the outputs of a sentence by a token, given its 2N candidates, best first.

        Candidates among the best N that end are finished; the best N others go on.
        """
        size = sentence.beam_size
        if self.eos_id in token_ids:
            others = []
            for rank, one in enumerate(zip(beams, token_ids, log_probs, strict=True)):
                if one[1] != self.eos_id or one[2] == -math.inf:
                    others.append(rank)
                elif rank < size:
                    sentence.endings.append(self._end(sentence.length + 1, *one))
            log_probs = [log_probs[rank] for rank in others]
            beams = [beams[rank] for rank in others]
            token_ids = [token_ids[rank] for rank in others]
        sentence.log_probs += log_probs[:size]
        sentence.beams += beams[:size]
        sentence.token_ids += token_ids[:size]

    def _end(self, length: int, beam: int, token_id: int, log_prob: float) -> Ending:
        """Let an output of `length` tokens be finished."""
        return Ending(
            length, beam, token_id, log_prob, normalized_score(log_prob, length, self.settings.length_penalty)
        )

    def _is_done(self, sentence: Sentence) -> bool:
        """Return whether a sentence is done, by the rule in the class's docstring."""
        endings, limit, wanted = sentence.endings, sentence.rules.longest, self.settings.num_hypotheses
        if sentence.length >= limit or len(endings) >= sentence.beam_size:
            return True
        log_probs = sentence.log_probs[-sentence.beam_size :]
        if len(endings) < wanted:
            return log_probs[0] == -math.inf
        scores = sorted((ending.score for ending in endings), reverse=True)
        return normalized_score(max(log_probs), limit, self.settings.length_penalty) <= scores[wanted - 1]

    def _best_hypotheses(self, sentence: Sentence) -> list[Hypothesis]:
        """Return the best hypotheses of a sentence that is done; at its limit unfinished outputs fill the list up."""
        size, wanted, endings = sentence.beam_size, self.settings.num_hypotheses, sentence.endings
        if len(endings) < wanted:
            newest = (column[-size:] for column in (sentence.beams, sentence.token_ids, sentence.log_probs))
            possible = [one for one in zip(*newest, strict=True) if one[2] != -math.inf]
            endings = endings + [self._end(sentence.length, *one) for one in possible[: wanted - len(endings)]]
        hypotheses = []
        for ending in sorted(endings, key=lambda ending: -ending.score)[:wanted]:
            token_ids, sums = sentence.path(ending.length - 1, ending.beam)
            hypotheses.append(self._hypothesis([*token_ids, ending.token_id], [*sums, ending.log_prob]))
        return hypotheses

    def _hypothesis(self, token_ids: list[int], sums: list[float]) -> Hypothesis:
        """Make a hypothesis from its tokens and its summed log-probability after each."""
        return self.hypothesis(token_ids, [later - sooner for sooner, later in pairwise([0.0, *sums])])

    def continuations(self, logits: Array, log_probs: Array, sentences: Sequence[Sentence]) -> Array:
        """Compute the log-probabilities of all continuations, summed, as in `best_candidates`; -inf where banned.

        Args:
            logits: Of the next token, [R, V].
            log_probs: Of the outputs so far, [B, R / B].
            sentences: Whose outputs they are, B.

        Returns:
            [B, R / B, V], float32.
        """
        values = log_softmax(logits) + namespace(logits).reshape(log_probs, (-1, 1))
        outputs = []
        if any(sentence.length < sentence.rules.last_restricted for sentence in sentences):
            for sentence in sentences:
                beams = range(log_probs.shape[1])
                outputs += [(sentence.rules, sentence.path(sentence.length, beam)[0]) for beam in beams]
        return namespace(logits).reshape(self.ban_(values, outputs), (*log_probs.shape, -1))

    def _never(self, sentence: Sentence, beams: int) -> set[tuple[int, int]]:
        """Return the pairs of an output of a sentence, one of its first `beams`, and a token that may not follow it."""
        return {
            (beam, token_id)
            for beam in range(beams)
            for token_id in sentence.rules.banned(sentence.path(sentence.length, beam)[0], self.eos_id)
        }


def _without(found: Candidates, never: Sequence[set[tuple[int, int]]], count: int) -> Candidates:
    """Return the best `count` candidates of each sentence that continue no output by a token that may not follow it."""
    if not any(never):
        return found
    kept: list[list[tuple[float, int, int]]] = []
    for refused, *own in zip(never, *(column.tolist() for column in found), strict=True):
        allowed = [one for one in zip(*own, strict=True) if one[1:] not in refused]
        kept.append([*allowed, *[(-math.inf, 0, 0)] * (count - len(allowed))][:count])
    columns = zip(*(zip(*rows, strict=True) for rows in kept), strict=True)  # each a row for every sentence
    xp = namespace(found.token_ids)
    arrays = [xp.asarray(rows, dtype=like.dtype, device=like.device) for rows, like in zip(columns, found, strict=True)]
    return Candidates(*arrays)
