"""Stochastic beam search: outputs drawn at random, no two of a sentence alike."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from translate.search.arrays import Array, gather, largest, log_softmax, namespace, quiet, top_k
from translate.search.draw import generator_of
from translate.search.hypothesis import Hypothesis
from translate.search.random_outputs import Outputs, RandomSearch
from translate.search.rules import OutputRules
from translate.search.step_model import StateT, StepModel


@dataclass
class Beams(Outputs):
    """The sentences still searched, each with its W outputs so far: one at the start, then N; the largest key first."""

    drawn: Array  # [B, W] float64: log-probabilities by what is drawn from
    keys: Array  # [B, W] float64: these with Gumbel noise; -inf marks an unused row


@dataclass(frozen=True, kw_only=True)
class StochasticBeam(RandomSearch):
    """Sampling without replacement over a `StepModel`: a beam search by keys instead of log-probabilities.

    The keys of the outputs are independent Gumbel variables around their log-probabilities; the N largest are a sample
    without replacement. They are found without looking at all outputs, since the key of a beginning is the largest key
    of its continuations: each step draws keys for the next tokens under the condition that their maximum is the key of
    the beginning. Each sentence has random numbers of its own (`generator_of`).

    Source: Kool et al. 2019 (arXiv:1903.06059).
    """

    @quiet
    def search(
        self,
        model: StepModel[StateT],
        src_ids: Array,
        src_mask: Array,
        prefixes: Sequence[Sequence[int]] = (),
    ) -> list[list[Hypothesis]]:
        """Draw different outputs for a batch of sources; see `Sampling.search`."""
        rules = self.rules(src_ids, src_mask, prefixes)
        generators = [
            generator_of(self.settings.seed, ids[mask].tolist()) for ids, mask in zip(src_ids, src_mask, strict=True)
        ]
        xp, size = namespace(src_ids), self.settings.num_hypotheses
        zeros = xp.zeros((len(src_ids), 1), dtype=xp.float64, device=src_ids.device)
        beams = Beams.start(rules, drawn=zeros, keys=zeros)
        state = model.start(model.encode(src_ids, src_mask), src_mask)
        last_ids = xp.full_like(beams.sentences, self.bos_id)
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
            if beams.token_ids.shape[2] == 1:
                state.repeat(size)
            else:
                first_rows = xp.arange(len(kept), device=kept.device)[:, None] * size
                state.reorder(xp.reshape(first_rows + origins[kept], (-1,)))
            last_ids = xp.reshape(beams.token_ids[:, :, -1], (-1,))

    def _extend(
        self, beams: Beams, logits: Array, generators: list[np.random.Generator], rules: Sequence[OutputRules]
    ) -> Array:
        """Append a token to the N outputs with the largest keys; return which row each continues, [B, N]."""
        xp, size, going = namespace(logits), self.settings.num_hypotheses, ~beams.ended  # [B, W]; G of them are true
        log_probs = log_softmax(logits[xp.reshape(going, (-1,))])  # [G, V]
        drawing = xp.astype(self.drawing(log_probs, beams, rules), xp.float64)
        noise = _gumbel(log_probs, xp.sum(xp.astype(going, xp.int64), axis=1).tolist(), generators)
        best, chosen = top_k(beams.drawn[going][:, None] + drawing + noise, min(size, drawing.shape[1]))
        keys = _spread(_conditioned(best, beams.keys[going]), going, -math.inf)  # [B, W, n]: no others can be chosen
        keys[:, :, 0] = xp.where(going, keys[:, :, 0], beams.keys)  # one that has ended goes on as it is
        beams.keys, places = largest(xp.reshape(keys, (len(keys), -1)), size)
        origins = places // keys.shape[2]

        def chosen_of(values: Array, filling: float) -> Array:
            return gather(xp.reshape(_spread(values, going, filling), (len(going), -1)), places)

        beams.drawn = gather(beams.drawn, origins) + chosen_of(gather(drawing, chosen), 0.0)
        past = xp.broadcast_to(origins[:, :, None], (*origins.shape, beams.token_ids.shape[2]))
        beams.token_ids = xp.take_along_axis(beams.token_ids, past, axis=1)
        beams.token_log_probs = xp.take_along_axis(beams.token_log_probs, past, axis=1)
        added = chosen_of(xp.astype(gather(log_probs, chosen), xp.float64), 0.0)
        beams.add(chosen_of(chosen, self.eos_id), added, self.eos_id)
        beams.ended |= beams.keys == -math.inf
        return origins


def _spread(values: Array, going: Array, filling: float) -> Array:
    """Write rows [G, n] to their places [B, W, n], where `going` is true; `filling` elsewhere."""
    shape = (*going.shape, values.shape[1])
    whole = namespace(values).full(shape, filling, dtype=values.dtype, device=values.device)
    whole[going] = values
    return whole


def _gumbel(like: Array, counts: list[int], generators: list[np.random.Generator]) -> Array:
    """Draw standard Gumbel noise [G, V] float64: for each sentence `counts` rows from its generator."""
    parts = zip(counts, generators, strict=True)
    numbers = np.concatenate([generator.random((count, like.shape[1])) for count, generator in parts])
    return namespace(like).asarray(-np.log(-np.log(numbers.clip(min=1e-300))), device=like.device)


def _conditioned(keys: Array, largest: Array) -> Array:
    """Draw Gumbel keys [G, n], the largest first, moved so that the first of each row is `largest` [G].

    Source: Kool et al. 2019, appendix B.3, in the form that does not overflow.
    """
    xp = namespace(keys)
    distance = keys - keys[:, :1]  # <= 0
    near = xp.clip(distance, min=-0.7)
    log1mexp = xp.where(distance > -0.7, xp.log(-xp.expm1(near)), xp.log1p(-xp.exp(xp.clip(distance, max=-0.7))))
    v = largest[:, None] - keys + log1mexp
    moved = largest[:, None] - xp.clip(v, min=0) - xp.log1p(xp.exp(-xp.abs(v)))
    return xp.where(keys == -math.inf, -math.inf, moved)
