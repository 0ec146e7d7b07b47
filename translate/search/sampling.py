"""Sampling: outputs drawn at random from the model's distribution, independently of each other."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from translate.search.draw import generator_of
from translate.search.hypothesis import Hypothesis
from translate.search.random_outputs import Outputs, RandomSearch
from translate.search.rules import OutputRules
from translate.search.step_model import StateT, StepModel


@dataclass
class Samples(Outputs):
    """The sentences still sampled, each with its N samples: one at the start, which all have in common, then N."""

    numbers: Tensor  # [B, N, longest limit] in [0, 1): one for each token of each sample


@dataclass(frozen=True, kw_only=True)
class Sampling(RandomSearch):
    """Ancestral sampling over a `StepModel`: token after token is drawn, `num_hypotheses` times per sentence.

    Samples may be equal. Each sentence has random numbers of its own (`generator_of`), one for each token that each
    sample may have, so that samples depend neither on the batch nor on how many are drawn. A token is the one at which
    the cumulative probability, in the order of the ids, passes the random number.
    """

    @torch.inference_mode()
    def search(
        self,
        model: StepModel[StateT],
        src_ids: Tensor,
        src_mask: Tensor,
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
        last_ids = torch.full_like(samples.sentences, self.bos_id)  # one row per sentence: all samples start alike
        found: list[list[Hypothesis]] = [[] for _ in src_ids]
        while True:
            self._draw(model.step(last_ids, state), samples, rules)
            kept = self.collect(samples, found)
            if not len(kept):
                return [sorted(hypotheses, key=lambda one: -one.score) for hypotheses in found]
            if len(kept) < len(samples.sentences):
                state.keep(kept)
                samples.keep(kept)
            if samples.token_ids.size(2) == 1:
                state.repeat(self.settings.num_hypotheses)
            last_ids = samples.token_ids[:, :, -1].flatten()

    def _numbers(self, src_ids: Tensor, src_mask: Tensor, rules: Sequence[OutputRules]) -> Tensor:
        """Draw the random numbers of all sentences, [B, N, longest limit]."""
        numbers = torch.zeros(
            len(rules), self.settings.num_hypotheses, max(rule.longest for rule in rules), dtype=torch.float64
        )
        for row, (ids, mask, rule) in enumerate(zip(src_ids, src_mask, rules, strict=True)):
            generator, shape = (
                generator_of(self.settings.seed, ids[mask].tolist()),
                (self.settings.num_hypotheses, rule.longest),
            )
            numbers[row, :, : rule.longest] = torch.rand(shape, generator=generator, dtype=torch.float64)
        return numbers.to(src_ids.device)

    def _draw(self, logits: Tensor, samples: Samples, rules: Sequence[OutputRules]) -> None:
        """Draw a token for each sample; EOS again for those that have ended."""
        going, points = ~samples.ended, samples.numbers[:, :, samples.token_ids.size(2)]
        if samples.token_ids.size(2):  # one row per sample, and not one per sentence
            logits, points = logits[going.flatten()], points[going][:, None]
        log_probs = logits.log_softmax(-1, dtype=torch.float32)  # [R, V]
        chosen = _at(self.drawing(log_probs, samples, rules), points)  # [R, n]
        everyone = going.expand(-1, self.settings.num_hypotheses)
        token_ids = torch.full_like(everyone, self.eos_id, dtype=torch.long)
        added = torch.zeros_like(token_ids, dtype=torch.float64)
        token_ids[everyone], added[everyone] = chosen.flatten(), log_probs.gather(1, chosen).flatten().double()
        samples.add(token_ids, added, self.eos_id)


def _at(drawing: Tensor, points: Tensor) -> Tensor:
    """Return the tokens at `points` [R, n], each in [0, 1), of distributions [R, V], given as log-probabilities."""
    reached = drawing.exp().cumsum(1, dtype=torch.float64)
    token_ids = torch.searchsorted(reached, points * reached[:, -1:], right=True)
    return token_ids.clamp(max=reached.size(1) - 1)  # it lies beyond if all is NaN
