"""Stochastic beam search: outputs drawn at random, no two of a sentence alike."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from translate.search.candidates import largest
from translate.search.draw import generator_of
from translate.search.hypothesis import Hypothesis
from translate.search.random_outputs import Outputs, RandomSearch
from translate.search.rules import OutputRules
from translate.search.step_model import StateT, StepModel


@dataclass
class Beams(Outputs):
    """The sentences still searched, each with its W outputs so far: one at the start, then N; the largest key first."""

    drawn: Tensor  # [B, W] float64: log-probabilities by what is drawn from
    keys: Tensor  # [B, W] float64: these with Gumbel noise; -inf marks an unused row


@dataclass(frozen=True, kw_only=True)
class StochasticBeam(RandomSearch):
    """Sampling without replacement over a `StepModel`: a beam search by keys instead of log-probabilities.

    The keys of the outputs are independent Gumbel variables around their log-probabilities; the N largest are a sample
    without replacement. They are found without looking at all outputs, since the key of a beginning is the largest key
    of its continuations: each step draws keys for the next tokens under the condition that their maximum is the key of
    the beginning. Each sentence has random numbers of its own (`generator_of`).

    Source: Kool et al. 2019 (arXiv:1903.06059).
    """

    @torch.inference_mode()
    def search(
        self,
        model: StepModel[StateT],
        src_ids: Tensor,
        src_mask: Tensor,
        prefixes: Sequence[Sequence[int]] = (),
    ) -> list[list[Hypothesis]]:
        """Draw different outputs for a batch of sources; see `Sampling.search`."""
        rules = self.rules(src_ids, src_mask, prefixes)
        generators = [
            generator_of(self.settings.seed, ids[mask].tolist()) for ids, mask in zip(src_ids, src_mask, strict=True)
        ]
        zeros = torch.zeros(len(src_ids), 1, dtype=torch.float64, device=src_ids.device)
        beams = Beams.start(rules, drawn=zeros, keys=zeros)
        state = model.start(model.encode(src_ids, src_mask), src_mask)
        last_ids = torch.full_like(beams.sentences, self.bos_id)
        found: list[list[Hypothesis]] = [[] for _ in src_ids]
        while True:
            own = [generators[sentence] for sentence in beams.sentences.tolist()]
            origins = self._extend(beams, model.step(last_ids, state), own, rules)  # [B, N]
            kept = self.collect(beams, found, beams.keys != -math.inf)
            if not len(kept):
                return [sorted(hypotheses, key=lambda one: -one.score) for hypotheses in found]
            if len(kept) < len(beams.sentences):
                state.keep(kept)
                beams.keep(kept)
            if beams.token_ids.size(2) == 1:
                state.repeat(self.settings.num_hypotheses)
            else:
                first_rows = torch.arange(len(kept), device=kept.device)[:, None] * self.settings.num_hypotheses
                state.reorder((first_rows + origins[kept]).flatten())
            last_ids = beams.token_ids[:, :, -1].flatten()

    def _extend(
        self, beams: Beams, logits: Tensor, generators: list[torch.Generator], rules: Sequence[OutputRules]
    ) -> Tensor:
        """Append a token to the N outputs with the largest keys; return which row each continues, [B, N]."""
        going = ~beams.ended  # [B, W]; G of them are true
        log_probs = logits[going.flatten()].log_softmax(-1, dtype=torch.float32)  # [G, V]
        drawing = self.drawing(log_probs, beams, rules).double()
        noisy = beams.drawn[going][:, None] + drawing + _gumbel(log_probs, going.sum(1).tolist(), generators)
        most = min(self.settings.num_hypotheses, noisy.size(1))
        best, chosen = noisy.topk(most, dim=1)  # [G, n]: no others can be among the N
        keys = _spread(_conditioned(best, beams.keys[going]), going, -math.inf)  # [B, W, n]
        keys[:, :, 0] = torch.where(going, keys[:, :, 0], beams.keys)  # one that has ended goes on as it is
        beams.keys, places = largest(keys.flatten(1), self.settings.num_hypotheses)
        origins = places // keys.size(2)

        def chosen_of(values: Tensor, filling: float) -> Tensor:
            return _spread(values, going, filling).flatten(1).gather(1, places)

        beams.drawn = beams.drawn.gather(1, origins) + chosen_of(drawing.gather(1, chosen), 0.0)
        past = origins[:, :, None].expand(-1, -1, beams.token_ids.size(2))
        beams.token_ids = beams.token_ids.gather(1, past)
        beams.token_log_probs = beams.token_log_probs.gather(1, past)
        added = chosen_of(log_probs.gather(1, chosen).double(), 0.0)
        beams.add(chosen_of(chosen, self.eos_id), added, self.eos_id)
        beams.ended |= beams.keys == -math.inf
        return origins


def _spread(values: Tensor, going: Tensor, filling: float) -> Tensor:
    """Write rows [G, n] to their places [B, W, n], where `going` is true; `filling` elsewhere."""
    whole = values.new_full((*going.shape, values.size(1)), filling)
    whole[going] = values
    return whole


def _gumbel(like: Tensor, counts: list[int], generators: list[torch.Generator]) -> Tensor:
    """Draw standard Gumbel noise [G, V] float64: for each sentence `counts` rows from its generator."""
    size, parts = like.size(1), zip(counts, generators, strict=True)
    numbers = torch.cat([torch.rand(count, size, generator=own, dtype=torch.float64) for count, own in parts])
    return -(-numbers.clamp(min=1e-300).log()).log().to(like.device)


def _conditioned(keys: Tensor, largest: Tensor) -> Tensor:
    """Draw Gumbel keys [G, n], the largest first, moved so that the first of each row is `largest` [G].

    Source: Kool et al. 2019, appendix B.3, in the form that does not overflow.
    """
    distance = keys - keys[:, :1]  # <= 0
    log1mexp = torch.where(distance > -0.7, (-distance.expm1()).log(), (-distance.exp()).log1p())
    v = largest[:, None] - keys + log1mexp
    moved = largest[:, None] - v.clamp(min=0) - (-v.abs()).exp().log1p()
    return moved.masked_fill(keys == -math.inf, -math.inf)
