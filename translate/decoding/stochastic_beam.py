"""Stochastic beam search: outputs drawn at random, no two of a sentence alike."""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from translate.decoding.draw import check_drawing, drawing_log_probs, generator_of
from translate.decoding.hypothesis import Hypothesis, normalized_score
from translate.decoding.limits import output_limits
from translate.decoding.scoring import check_number
from translate.decoding.step_model import StateT, StepModel


@dataclass
class Beams:
    """The sentences still searched, each with its W outputs so far: one at the start, then N; the largest key first."""

    sentences: Tensor  # [B] place of each in the input
    token_ids: Tensor  # [B, W, t] without BOS; more EOS behind an end
    lengths: Tensor  # [B, W] tokens up to the end
    log_probs: Tensor  # [B, W] float64, by the model
    drawn: Tensor  # [B, W] float64, by what is drawn from
    keys: Tensor  # [B, W] float64: log-probabilities with Gumbel noise; -inf marks an unused row
    ended: Tensor  # [B, W] bool
    limits: Tensor  # [B] most tokens of an output, EOS counted

    def keep(self, kept: Tensor) -> None:
        """Drop all sentences but the given ones."""
        for name, value in vars(self).items():
            setattr(self, name, value[kept])


@dataclass(frozen=True, kw_only=True)
class StochasticBeam:
    """Sampling without replacement over a `StepModel`: a beam search by keys instead of log-probabilities.

    The keys of the outputs are independent Gumbel variables around their log-probabilities; the N largest are a sample
    without replacement. They are found without looking at all outputs, since the key of a beginning is the largest key
    of its continuations: each step draws keys for the next tokens under the condition that their maximum is the key of
    the beginning. Each sentence has random numbers of its own (`generator_of`).

    Args:
        bos_id: First decoder input.
        eos_id: Ends an output.
        forbidden_ids: Never drawn.
        temperature: See `drawing_log_probs`, as for `top_k` and `top_p`.
        top_k: 0 = off.
        top_p: 1 = off.
        seed: Another one gives other outputs.
        length_penalty: Exponent of `normalized_score`, by which outputs are ordered.
        num_hypotheses: N >= 1; fewer are returned where fewer are possible.
        min_output_len: Tokens before which there is no end, EOS counted, >= 1.
        max_output_len: Most tokens of an output, EOS counted; one that has not ended by then is returned as it is.
        max_output_ratio: Most tokens of an output per source token, beyond the first 10; 0 = off.

    Raises:
        ValueError: If a setting is out of its range.

    Source: Kool et al. 2019 (arXiv:1903.06059).
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
        """Draw different outputs for a batch of sources.

        Args:
            model: In eval mode.
            src_ids: [B, S], padded at the end.
            src_mask: [B, S] bool, True = real token.

        Returns:
            `num_hypotheses` for each sentence, best score first; log-probabilities are the model's own.
        """
        generators = [generator_of(self.seed, ids[mask].tolist()) for ids, mask in zip(src_ids, src_mask, strict=True)]
        beams = self._start(src_mask)
        state = model.start(model.encode(src_ids, src_mask), src_mask)
        last_ids = torch.full_like(beams.sentences, self.bos_id)
        found: list[list[Hypothesis]] = [[] for _ in src_ids]
        for length in range(1, int(beams.limits.max()) + 1):
            own = [generators[sentence] for sentence in beams.sentences.tolist()]
            origins = self._extend(beams, model.step(last_ids, state), own, length)  # [B, N]
            done = beams.ended.all(1) | (beams.limits == length)
            self._collect(done, beams, found)
            kept = (~done).nonzero().squeeze(1)
            if not len(kept):
                break
            if len(kept) < len(done):
                state.keep(kept)
                beams.keep(kept)
            if length == 1:
                state.repeat(self.num_hypotheses)
            else:
                first_rows = torch.arange(len(kept), device=kept.device)[:, None] * self.num_hypotheses
                state.reorder((first_rows + origins[kept]).flatten())
            last_ids = beams.token_ids[:, :, -1].flatten()
        return [sorted(outputs, key=lambda output: -output.score) for outputs in found]

    def _start(self, src_mask: Tensor) -> Beams:
        limits = output_limits(src_mask, self.min_output_len, self.max_output_len, self.max_output_ratio)
        zeros = torch.zeros(len(limits), 1, dtype=torch.float64, device=limits.device)
        return Beams(
            sentences=torch.arange(len(limits), device=limits.device),
            token_ids=limits.new_empty(len(limits), 1, 0),
            lengths=torch.zeros_like(limits)[:, None],
            log_probs=zeros,
            drawn=zeros,
            keys=zeros,
            ended=torch.zeros_like(zeros, dtype=torch.bool),
            limits=limits,
        )

    def _extend(self, beams: Beams, logits: Tensor, generators: list[torch.Generator], length: int) -> Tensor:
        """One more token for the N outputs with the largest keys; returns which row each continues, [B, N]."""
        going = ~beams.ended  # [B, W]; G of them are true
        counts = going.sum(1).tolist()
        log_probs = logits[going.flatten()].log_softmax(-1, dtype=torch.float32)  # [G, V]
        drawing = self._drawing_log_probs(log_probs, length).double()
        noisy = beams.drawn[going][:, None] + drawing + _gumbel(log_probs, counts, generators)
        best, chosen = noisy.topk(
            min(self.num_hypotheses, noisy.size(1)), dim=1
        )  # [G, n]: no others can be among the N
        keys = _spread(_conditioned(best, beams.keys[going]), going, -math.inf)  # [B, W, n]
        keys[:, :, 0] = torch.where(going, keys[:, :, 0], beams.keys)  # one that has ended goes on as it is
        added = log_probs.gather(1, chosen).double(), drawing.gather(1, chosen)
        beams.keys, places = _largest(keys.flatten(1), self.num_hypotheses)
        origins = places // keys.size(2)

        def chosen_of(values: Tensor, filling: float) -> Tensor:
            return _spread(values, going, filling).flatten(1).gather(1, places)

        token_ids = chosen_of(chosen, self.eos_id)
        beams.log_probs = beams.log_probs.gather(1, origins) + chosen_of(added[0], 0.0)
        beams.drawn = beams.drawn.gather(1, origins) + chosen_of(added[1], 0.0)
        beams.lengths = beams.lengths.gather(1, origins) + going.gather(1, origins)
        past = beams.token_ids.gather(1, origins[:, :, None].expand(-1, -1, length - 1))
        beams.token_ids = torch.cat((past, token_ids[:, :, None]), dim=2)
        beams.ended = (token_ids == self.eos_id) | (beams.keys == -math.inf)
        return origins

    def _drawing_log_probs(self, log_probs: Tensor, length: int) -> Tensor:
        """What the next token is drawn from, [G, V]."""
        allowed = log_probs.clone()
        allowed[:, list(self.forbidden_ids)] = -math.inf
        if length < self.min_output_len:
            allowed[:, self.eos_id] = -math.inf
        return drawing_log_probs(allowed, temperature=self.temperature, top_k=self.top_k, top_p=self.top_p)

    def _collect(self, done: Tensor, beams: Beams, found: list[list[Hypothesis]]) -> None:
        """Let the sentences that are done [B] leave with their outputs."""
        columns = beams.sentences, beams.token_ids, beams.lengths, beams.log_probs, beams.keys
        for sentence, *outputs in zip(*(column[done].tolist() for column in columns), strict=True):
            for token_ids, length, log_prob, key in zip(*outputs, strict=True):
                check_number(log_prob)
                if key != -math.inf:
                    score = normalized_score(log_prob, length, self.length_penalty)
                    found[sentence].append(Hypothesis(tuple(token_ids[:length]), log_prob, score))


def _spread(values: Tensor, going: Tensor, filling: float) -> Tensor:
    """Rows [G, n] to their places [B, W, n], where `going` is true; `filling` elsewhere."""
    whole = values.new_full((*going.shape, values.size(1)), filling)
    whole[going] = values
    return whole


def _largest(keys: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The largest keys [B, count] and their places; -inf where there are fewer, which takes a tiny vocabulary."""
    found, places = F.pad(keys, (0, max(0, count - keys.size(1))), value=-math.inf).topk(count, dim=1)
    return found, places.clamp(max=keys.size(1) - 1)


def _gumbel(like: Tensor, counts: list[int], generators: list[torch.Generator]) -> Tensor:
    """Standard Gumbel noise [G, V] float64: for each sentence `counts` rows from its own generator."""
    size, parts = like.size(1), zip(counts, generators, strict=True)
    numbers = torch.cat([torch.rand(count, size, generator=own, dtype=torch.float64) for count, own in parts])
    return -(-numbers.clamp(min=1e-300).log()).log().to(like.device)


def _conditioned(keys: Tensor, largest: Tensor) -> Tensor:
    """Independent Gumbel keys [G, n], the largest first, moved so that the first of each row is `largest` [G].

    Source: Kool et al. 2019, appendix B.3, in the form that does not overflow.
    """
    distance = keys - keys[:, :1]  # <= 0
    log1mexp = torch.where(distance > -0.7, (-distance.expm1()).log(), (-distance.exp()).log1p())
    v = largest[:, None] - keys + log1mexp
    moved = largest[:, None] - v.clamp(min=0) - (-v.abs()).exp().log1p()
    return moved.masked_fill(keys == -math.inf, -math.inf)
