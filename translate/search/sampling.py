"""Sampling: outputs drawn at random from the model's distribution, independently of each other."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from translate.search.arrays import Array, gather, log_softmax, namespace, quiet
from translate.search.draw import generator_of
from translate.search.hypothesis import Hypothesis
from translate.search.random_outputs import Outputs, RandomSearch
from translate.search.rules import OutputRules
from translate.search.step_model import StateT, StepModel


@dataclass
class Samples(Outputs):
    """The sentences still sampled, each with its N samples: one at the start, which all have in common, then N."""

    numbers: Array  # [B, N, longest limit] in [0, 1): one for each token of each sample


@dataclass(frozen=True, kw_only=True)
class Sampling(RandomSearch):
    """Ancestral sampling over a `StepModel`: token after token is drawn, `num_hypotheses` times per sentence.

    Samples may be equal. Each sentence has random numbers of its own (`generator_of`), one for each token that each
    sample may have, so that samples depend neither on the batch nor on how many are drawn. A token is the one at which
    the cumulative probability, in the order of the ids, passes the random number.
    """

    @quiet
    def search(
        self,
        model: StepModel[StateT],
        src_ids: Array,
        src_mask: Array,
        prefixes: Sequence[Sequence[int]] = (),
    ) -> list[list[Hypothesis]]:
        """Draw samples for a batch of sources.

        Args:
            model: In eval mode.
            src_ids: [B, S], padded at the end.
            src_mask: [B, S] bool, True = real token.
            prefixes: Tokens that the samples of each source begin with; none at all = nothing.

        Returns:
            `num_hypotheses` for each sentence, best score first; log-probabilities are the model's own.

        Raises:
            ValueError: If the model's logits are not numbers (NaN), or a prefix leaves no room for anything else.
        """
        rules = self.rules(src_ids, src_mask, prefixes)
        samples = Samples.start(rules, numbers=self._numbers(src_ids, src_mask, rules))
        state = model.start(model.encode(src_ids, src_mask), src_mask)
        xp = namespace(src_ids)
        last_ids = xp.full_like(samples.sentences, self.bos_id)  # one row per sentence: all samples start alike
        found: list[list[Hypothesis]] = [[] for _ in src_ids]
        while True:
            self._draw(model.step(last_ids, state), samples, rules)
            kept = self.collect(samples, found)
            if not len(kept):
                return [sorted(hypotheses, key=lambda one: -one.score) for hypotheses in found]
            if len(kept) < len(samples.sentences):
                state.keep(kept)
                samples.keep(kept)
            if samples.token_ids.shape[2] == 1:
                state.repeat(self.settings.num_hypotheses)
            last_ids = xp.reshape(samples.token_ids[:, :, -1], (-1,))

    def _numbers(self, src_ids: Array, src_mask: Array, rules: Sequence[OutputRules]) -> Array:
        """Draw the random numbers of all sentences, [B, N, longest limit]."""
        samples = self.settings.num_hypotheses
        numbers = np.zeros((len(rules), samples, max(rule.longest for rule in rules)))
        for row, (ids, mask, rule) in enumerate(zip(src_ids, src_mask, rules, strict=True)):
            generator = generator_of(self.settings.seed, ids[mask].tolist())
            numbers[row, :, : rule.longest] = generator.random((samples, rule.longest))
        return namespace(src_ids).asarray(numbers, device=src_ids.device)

    def _draw(self, logits: Array, samples: Samples, rules: Sequence[OutputRules]) -> None:
        """Draw a token for each sample; EOS again for those that have ended."""
        xp, length = namespace(logits), samples.token_ids.shape[2]
        going, points = ~samples.ended, samples.numbers[:, :, length]
        if length:  # one row per sample, and not one per sentence
            logits, points = logits[xp.reshape(going, (-1,))], points[going][:, None]
        log_probs = log_softmax(logits)  # [R, V]
        chosen = _at(self.drawing(log_probs, samples, rules), points)  # [R, n]
        everyone = xp.broadcast_to(going, (len(going), self.settings.num_hypotheses))
        token_ids = xp.full_like(everyone, self.eos_id, dtype=xp.int64)
        added = xp.zeros_like(everyone, dtype=xp.float64)
        token_ids[everyone] = xp.reshape(chosen, (-1,))
        added[everyone] = xp.astype(xp.reshape(gather(log_probs, chosen), (-1,)), xp.float64)
        samples.add(token_ids, added, self.eos_id)


def _at(drawing: Array, points: Array) -> Array:
    """Return the tokens at `points` [R, n], each in [0, 1), of distributions [R, V], given as log-probabilities."""
    xp = namespace(drawing)
    reached = xp.cumulative_sum(xp.astype(xp.exp(drawing), xp.float64), axis=1)
    passed = [xp.sum(reached <= points[:, n : n + 1] * reached[:, -1:], axis=1) for n in range(points.shape[1])]
    return xp.clip(xp.stack(passed, axis=1), max=reached.shape[1] - 1)  # it lies beyond if all is NaN
