"""Sampling: outputs drawn at random from the model's distribution, independently of each other."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from translate.decoding.draw import check_drawing, drawing_log_probs, generator_of
from translate.decoding.hypothesis import Hypothesis, normalized_score
from translate.decoding.limits import output_limits
from translate.decoding.scoring import check_number
from translate.decoding.step_model import StateT, StepModel


@dataclass
class Drawn:
    """The sentences still sampled, each with its N samples."""

    sentences: Tensor  # [B] place of each in the input
    token_ids: Tensor  # [B, N, t] without BOS; more EOS behind an end
    lengths: Tensor  # [B, N] tokens up to the end
    log_probs: Tensor  # [B, N] float64, by the model, not by what was drawn from
    ended: Tensor  # [B, N] bool
    limits: Tensor  # [B] most tokens of an output, EOS counted
    numbers: Tensor  # [B, N, longest limit] in [0, 1): one for each token of each sample

    def keep(self, kept: Tensor) -> None:
        """Drop all sentences but the given ones."""
        for name, value in vars(self).items():
            setattr(self, name, value[kept])


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Ancestral sampling over a `StepModel`: token after token is drawn, `num_hypotheses` times per sentence.

    Samples may be equal. Each sentence has random numbers of its own (`generator_of`), one for each token that each
    sample may have, so that samples depend neither on the batch nor on how many are drawn. A token is the one at which
    the cumulative probability, in the order of the ids, passes the random number.

    Args:
        bos_id: First decoder input.
        eos_id: Ends a sample.
        forbidden_ids: Never drawn.
        temperature: See `drawing_log_probs`, as for `top_k` and `top_p`.
        top_k: 0 = off.
        top_p: 1 = off.
        seed: Another one gives other samples.
        length_penalty: Exponent of `normalized_score`, by which samples are ordered.
        num_hypotheses: N >= 1.
        min_output_len: Tokens before which there is no end, EOS counted, >= 1.
        max_output_len: Most tokens of a sample, EOS counted; one that has not ended by then is returned as it is.
        max_output_ratio: Most tokens of a sample per source token, beyond the first 10; 0 = off.

    Raises:
        ValueError: If a setting is out of its range.
    """

    bos_id: int
    eos_id: int
    forbidden_ids: tuple[int, ...]
    temperature: float
    top_k: int
    top_p: float
    seed: int
    length_penalty: float
    num_hypotheses: int
    min_output_len: int
    max_output_len: int
    max_output_ratio: float

    def __post_init__(self) -> None:
        check_drawing(temperature=self.temperature, top_k=self.top_k, top_p=self.top_p, seed=self.seed)

    @torch.inference_mode()
    def search(self, model: StepModel[StateT], src_ids: Tensor, src_mask: Tensor) -> list[list[Hypothesis]]:
        """Draw samples for a batch of sources.

        Args:
            model: In eval mode.
            src_ids: [B, S], padded at the end.
            src_mask: [B, S] bool, True = real token.

        Returns:
            `num_hypotheses` for each sentence, best score first; log-probabilities are the model's own.
        """
        drawn = self._start(src_ids, src_mask)
        state = model.start(model.encode(src_ids, src_mask), src_mask)
        last_ids = torch.full_like(drawn.sentences, self.bos_id)  # one row per sentence: all samples start alike
        found: list[list[Hypothesis]] = [[] for _ in src_ids]
        for length in range(1, int(drawn.limits.max()) + 1):
            last_ids = self._draw(model.step(last_ids, state), drawn, length).flatten()
            done = drawn.ended.all(1) | (drawn.limits == length)
            self._collect(done, drawn, found)
            kept = (~done).nonzero().squeeze(1)
            if not len(kept):
                break
            if len(kept) < len(done):
                state.keep(kept)
                drawn.keep(kept)
                last_ids = last_ids.view(len(done), -1)[kept].flatten()
            if length == 1:
                state.repeat(self.num_hypotheses)
        return [sorted(samples, key=lambda sample: -sample.score) for samples in found]

    def _start(self, src_ids: Tensor, src_mask: Tensor) -> Drawn:
        limits = output_limits(src_mask, self.min_output_len, self.max_output_len, self.max_output_ratio)
        shape = self.num_hypotheses, int(limits.max())
        numbers = torch.zeros(len(limits), *shape, dtype=torch.float64)
        for row, (ids, mask, limit) in enumerate(zip(src_ids, src_mask, limits.tolist(), strict=True)):
            generator = generator_of(self.seed, ids[mask].tolist())
            numbers[row, :, :limit] = torch.rand(shape[0], limit, generator=generator, dtype=torch.float64)
        return Drawn(
            sentences=torch.arange(len(limits), device=limits.device),
            token_ids=limits.new_empty(len(limits), shape[0], 0),
            lengths=limits.new_zeros(len(limits), shape[0]),
            log_probs=torch.zeros(len(limits), shape[0], dtype=torch.float64, device=limits.device),
            ended=torch.zeros(len(limits), shape[0], dtype=torch.bool, device=limits.device),
            limits=limits,
            numbers=numbers.to(limits.device),
        )

    def _draw(self, logits: Tensor, drawn: Drawn, length: int) -> Tensor:
        """One more token for each sample, [B, N], which `drawn` takes in; EOS again for those that have ended."""
        going, points = ~drawn.ended, drawn.numbers[:, :, length - 1]
        if length > 1:  # one row per sample, and not one per sentence
            logits, points = logits[going.flatten()], points[going][:, None]
        chosen, log_probs = self._choose(logits, points, length)
        token_ids = torch.full_like(drawn.lengths, self.eos_id)
        token_ids[going] = chosen.flatten()
        drawn.log_probs[going] += log_probs.flatten().double()
        drawn.lengths += going
        drawn.token_ids = torch.cat((drawn.token_ids, token_ids[:, :, None]), dim=2)
        drawn.ended = token_ids == self.eos_id
        return token_ids

    def _choose(self, logits: Tensor, points: Tensor, length: int) -> tuple[Tensor, Tensor]:
        """The tokens at `points` [R, n] of each row's distribution, and the model's log-probabilities of them."""
        log_probs = logits.log_softmax(-1, dtype=torch.float32)  # [R, V]
        allowed = log_probs.clone()
        allowed[:, list(self.forbidden_ids)] = -math.inf
        if length < self.min_output_len:
            allowed[:, self.eos_id] = -math.inf
        chances = drawing_log_probs(allowed, temperature=self.temperature, top_k=self.top_k, top_p=self.top_p).exp()
        reached = chances.cumsum(1, dtype=torch.float64)
        token_ids = torch.searchsorted(reached, points * reached[:, -1:], right=True)
        token_ids = token_ids.clamp(max=reached.size(1) - 1)  # it lies beyond if all is NaN
        return token_ids, log_probs.gather(1, token_ids)

    def _collect(self, done: Tensor, drawn: Drawn, found: list[list[Hypothesis]]) -> None:
        """Let the sentences that are done [B] leave with their samples."""
        columns = drawn.sentences, drawn.token_ids, drawn.lengths, drawn.log_probs
        for sentence, *samples in zip(*(column[done].tolist() for column in columns), strict=True):
            for token_ids, length, log_prob in zip(*samples, strict=True):
                check_number(log_prob)
                score = normalized_score(log_prob, length, self.length_penalty)
                found[sentence].append(Hypothesis(tuple(token_ids[:length]), log_prob, score))
