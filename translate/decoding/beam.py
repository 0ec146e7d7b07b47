"""Beam search, batched: each step is a few tensor operations over all sentences; those that are done leave at once."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from translate.decoding.hypothesis import Hypothesis, normalized_score
from translate.decoding.limits import output_limits
from translate.decoding.scoring import check_number
from translate.decoding.step_model import StateT, StepModel


class Candidates(NamedTuple):
    """The 2N best continuations of each sentence, best first."""

    log_probs: Tensor  # [B, 2N] summed over the whole hypothesis; -inf marks an impossible one
    beams: Tensor  # [B, 2N] which of the sentence's N hypotheses it continues
    token_ids: Tensor  # [B, 2N] with which token


@dataclass
class Live:
    """The sentences still searched, each with its unfinished hypotheses, best first: one at the start, then N."""

    sentences: Tensor  # [B] place of each in the input
    token_ids: Tensor  # [B, N, t] BOS first
    log_probs: Tensor  # [B, N] descending; -inf marks an unused row
    finished_scores: Tensor  # [B, N] scores of the best finished hypotheses, descending; -inf where there are fewer
    limits: Tensor  # [B] most tokens of an output, EOS counted

    @classmethod
    def start(cls, limits: Tensor, beam_size: int, bos_id: int) -> "Live":
        """One hypothesis per sentence, BOS alone: N of them would all be the same."""
        num_sentences, device = len(limits), limits.device
        return cls(
            sentences=torch.arange(num_sentences, device=device),
            token_ids=torch.full((num_sentences, 1, 1), bos_id, device=device),
            log_probs=torch.zeros(num_sentences, 1, device=device),
            finished_scores=torch.full((num_sentences, beam_size), -math.inf, device=device),
            limits=limits,
        )


@dataclass(frozen=True, kw_only=True)
class BeamSearch:
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
        bos_id: First decoder input.
        eos_id: Ends a hypothesis.
        forbidden_ids: Never generated (PAD, BOS); they keep their share of the probability.
        beam_size: N >= 1.
        length_penalty: Exponent of `normalized_score`, >= 0.
        num_hypotheses: How many to return per sentence, 1 to N.
        min_output_len: Tokens before which there is no end, EOS counted, >= 1.
        max_output_len: Most tokens of a hypothesis, EOS counted, >= `min_output_len`.
        max_output_ratio: Most tokens of a hypothesis per source token, beyond the first 10; 0 = off.

    Raises:
        ValueError: If a setting is out of its range.

    Source: Graves 2012 (arXiv:1211.3711), section 4; length penalty as in `normalized_score`.
    """

    bos_id: int
    eos_id: int
    forbidden_ids: tuple[int, ...]
    beam_size: int
    length_penalty: float
    num_hypotheses: int
    min_output_len: int
    max_output_len: int
    max_output_ratio: float

    def __post_init__(self) -> None:
        if not 1 <= self.num_hypotheses <= self.beam_size:
            raise ValueError(f"num_hypotheses ({self.num_hypotheses}) must lie in 1 to beam_size ({self.beam_size})")
        if not 1 <= self.min_output_len <= self.max_output_len:
            raise ValueError(
                f"min_output_len ({self.min_output_len}) must lie in 1 to max_output_len ({self.max_output_len})"
            )
        for name in ("length_penalty", "max_output_ratio"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} ({getattr(self, name)}) must be at least 0")
        if self.eos_id in self.forbidden_ids:
            raise ValueError(f"forbidden_ids {self.forbidden_ids} must not contain eos_id ({self.eos_id})")

    @torch.inference_mode()
    def search(self, model: StepModel[StateT], src_ids: Tensor, src_mask: Tensor) -> list[list[Hypothesis]]:
        """Search the outputs of a batch of sources.

        Args:
            model: In eval mode.
            src_ids: [B, S], padded at the end.
            src_mask: [B, S] bool, True = real token.

        Returns:
            For each source its `num_hypotheses` best hypotheses, best first; fewer only if fewer are possible.

        Raises:
            ValueError: If the model's logits are not numbers (NaN).
        """
        hypotheses: list[list[Hypothesis]] = [[] for _ in src_ids]
        limits = output_limits(src_mask, self.min_output_len, self.max_output_len, self.max_output_ratio)
        live = Live.start(limits, self.beam_size, self.bos_id)
        state = model.start(model.encode(src_ids, src_mask), src_mask)
        for length in range(1, self.max_output_len + 1):  # the last sentence leaves by then
            logits = model.step(live.token_ids[:, :, -1].flatten(), state)  # [B * N, V], at first [B, V]
            candidates = self._best_candidates(logits, live.log_probs, length)
            ends = candidates.token_ids == self.eos_id  # [B, 2N]
            self._collect_finished(candidates, ends, live, length, hypotheses)
            beams = self._advance(candidates, ends, live)  # [B, N] which hypothesis each new one continues
            at_limit = live.limits == length
            self._close_unfinished(at_limit, live, hypotheses)
            kept = _compact(~(self._done(live) | at_limit))  # [B'] sentences that go on
            if not len(kept):
                break
            self._leave(kept, live, state)
            if length == 1:
                state.repeat(self.beam_size)
            elif self.beam_size > 1:
                first_rows = torch.arange(len(kept), device=kept.device)[:, None] * self.beam_size
                state.reorder((first_rows + beams[kept]).flatten())
        return [self._best(found) for found in hypotheses]

    def _best_candidates(self, logits: Tensor, log_probs: Tensor, length: int) -> Candidates:
        """The 2N most probable continuations [B, 2N] of hypotheses with `log_probs` [B, N]."""
        banned = self.forbidden_ids if length >= self.min_output_len else (*self.forbidden_ids, self.eos_id)
        width = min(2 * self.beam_size + len(banned), logits.size(1))
        best, token_ids = top_k(logits, width)  # [B * N, width]: no other token can be among the 2N
        likeliest = logits.softmax(dim=1, dtype=torch.float32).gather(1, token_ids[:, :1])  # of all, at least 1 / V
        best = best.float() - best[:, :1] + likeliest.log() + log_probs.view(-1, 1)
        for token_id in banned:
            best.masked_fill_(token_ids == token_id, -math.inf)
        best, places = best.view(len(log_probs), -1).topk(min(2 * self.beam_size, width * log_probs.size(1)), dim=1)
        token_ids = token_ids.view(len(log_probs), -1).gather(1, places)
        missing = 2 * self.beam_size - best.size(1)  # above 0 only with a tiny vocabulary
        if missing:
            best = F.pad(best, (0, missing), value=-math.inf)
            places, token_ids = F.pad(places, (0, missing)), F.pad(token_ids, (0, missing))
        return Candidates(best, places // width, token_ids)

    def _collect_finished(
        self, candidates: Candidates, ends: Tensor, live: Live, length: int, hypotheses: list[list[Hypothesis]]
    ) -> None:
        """Let the candidates among the best N that end leave as hypotheses of `length` tokens."""
        log_probs = candidates.log_probs[:, : self.beam_size]
        finished = ends[:, : self.beam_size] & (log_probs != -math.inf)
        sentences, ranks = finished.nonzero(as_tuple=True)  # best first within a sentence
        if not len(sentences):
            return
        scores = normalized_score(log_probs, length, self.length_penalty)
        seen = torch.cat((live.finished_scores, scores.masked_fill(~finished, -math.inf)), dim=1)
        live.finished_scores = seen.topk(self.beam_size, dim=1).values
        token_ids = live.token_ids[sentences, candidates.beams[sentences, ranks], 1:].tolist()
        found = zip(live.sentences[sentences].tolist(), token_ids, log_probs[finished].tolist(), strict=True)
        for sentence, ids, log_prob in found:
            hypotheses[sentence].append(self._hypothesis([*ids, self.eos_id], log_prob))

    def _advance(self, candidates: Candidates, ends: Tensor, live: Live) -> Tensor:
        """Replace the unfinished hypotheses by the best N candidates that do not end; return their beams [B, N]."""
        order = ends.to(torch.uint8).argsort(dim=1, stable=True)[:, : self.beam_size]  # those that end go last
        live.log_probs = candidates.log_probs.gather(1, order).masked_fill(ends.gather(1, order), -math.inf)
        beams = candidates.beams.gather(1, order)
        past = live.token_ids.gather(1, beams[:, :, None].expand(-1, -1, live.token_ids.size(2)))
        live.token_ids = torch.cat((past, candidates.token_ids.gather(1, order)[:, :, None]), dim=2)
        return beams

    def _done(self, live: Live) -> Tensor:
        """Which sentences are done [B], by the rule in the class's docstring."""
        bound = normalized_score(live.log_probs[:, 0], live.limits, self.length_penalty)
        decided = bound <= live.finished_scores[:, self.num_hypotheses - 1]
        return decided | (live.finished_scores[:, -1] != -math.inf)

    def _leave(self, kept: Tensor, live: Live, state: StateT) -> None:
        """Drop the sentences that are done, so that the next step costs what the others need."""
        if len(kept) < len(live.sentences):
            state.keep(kept)
            live.sentences, live.token_ids = live.sentences[kept], live.token_ids[kept]
            live.log_probs, live.finished_scores = live.log_probs[kept], live.finished_scores[kept]
            live.limits = live.limits[kept]

    def _close_unfinished(self, at_limit: Tensor, live: Live, hypotheses: list[list[Hypothesis]]) -> None:
        """Fill up the lists of sentences at their limit [B] that are too short with unfinished hypotheses."""
        token_ids = live.token_ids[at_limit, :, 1:].tolist()
        rows = zip(live.sentences[at_limit].tolist(), token_ids, live.log_probs[at_limit].tolist(), strict=True)
        for sentence, all_ids, log_probs in rows:
            for ids, log_prob in zip(all_ids, log_probs, strict=True):
                if len(hypotheses[sentence]) < self.num_hypotheses and log_prob != -math.inf:
                    hypotheses[sentence].append(self._hypothesis(ids, log_prob))

    def _hypothesis(self, token_ids: list[int], log_prob: float) -> Hypothesis:
        check_number(log_prob)
        return Hypothesis(tuple(token_ids), log_prob, normalized_score(log_prob, len(token_ids), self.length_penalty))

    def _best(self, found: list[Hypothesis]) -> list[Hypothesis]:
        return sorted(found, key=lambda hypothesis: -hypothesis.score)[: self.num_hypotheses]


def top_k(x: Tensor, k: int, chunk: int = 64) -> tuple[Tensor, Tensor]:
    """`x.topk(k)` over the columns of x [R, V], exactly, at the price of a maximum: values and indices [R, k].

    The k largest lie in the k chunks with the largest maxima, and in the few columns that fill no chunk. Of equal
    values at the border another may be chosen.
    """
    num_chunks = x.size(1) // chunk
    if num_chunks < 2 * k:
        return x.topk(k, dim=1)
    whole = num_chunks * chunk
    chunks = x[:, :whole].view(len(x), num_chunks, chunk)
    first = chunks.amax(dim=2).topk(k, dim=1).indices  # [R, k]
    places = (first[:, :, None] * chunk + torch.arange(chunk, device=x.device)).flatten(1)
    values = chunks.gather(1, first[:, :, None].expand(-1, -1, chunk)).flatten(1)
    if whole < x.size(1):
        rest = torch.arange(whole, x.size(1), device=x.device).expand(len(x), -1)
        places, values = torch.cat((places, rest), dim=1), torch.cat((values, x[:, whole:]), dim=1)
    best, found = values.topk(k, dim=1)
    return best, places.gather(1, found)


def _compact(stays: Tensor) -> Tensor:
    """The places where `stays` [B] is true, in an order that leaves as many as possible where they are.

    >>> _compact(torch.tensor([True, False, True, False, True]))
    tensor([0, 4, 2])
    """
    count = int(stays.sum())
    order = torch.arange(count, device=stays.device)
    order[~stays[:count]] = count + stays[count:].nonzero().squeeze(1)
    return order
