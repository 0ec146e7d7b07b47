"""A search among the tokens of a shortlist, and the check that they sufficed.

Where the most probable next token of an output is not among them, its sentence is searched again among all tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, islice
from typing import Any

import numpy as np

from translate.kernels.pointers import Array
from translate.kernels.search_state import Searched
from translate.native.network import NativeTransformer


class NarrowedTransformer:
    """A `NativeTransformer` whose whole searches choose among some tokens; all other steps are its own.

    With the check the best outputs of each sentence are scored by all logits, so that log-probabilities are exact, and
    kept if the most probable token at each of their places is among the chosen ones. Greedily they are then what the
    whole vocabulary gives; with a beam it may have had other hypotheses of less probability.

    Args:
        network: The network.
        tokens: Among which it searches, [K] int64.
        check: Whether what was found is checked.

    Attributes:
        is_chosen: Which tokens those are, [V] bool.
    """

    def __init__(self, network: NativeTransformer, tokens: Array, *, check: bool = True) -> None:
        self.encode, self.start = network.encode, network.start
        self.step, self.best_step = network.step, network.best_step
        self._network, self._output, self._checks = network, network.output_to(tokens), check
        self.is_chosen = np.zeros(self._output.vocab_size, bool)
        self.is_chosen[tokens] = True

    def beam_search(self, memory: Array, src_mask: Array, limits: Sequence[int], **settings: Any) -> list[Searched]:
        """Run a whole beam search, for some sentences twice; see `SearchModel`."""
        found, states = self._network.search_states(
            memory, src_mask, limits, **settings, output=self._output, keep_states=self._checks
        )
        if not self._checks:
            return found
        checked = self._check(found, states, settings)
        if again := [number for number, one in enumerate(checked) if one is None]:
            longest = src_mask[again].any(axis=0).sum()
            few = memory[again, :longest], src_mask[again, :longest], [limits[number] for number in again]
            for number, one in zip(again, self._network.beam_search(*few, **settings), strict=True):
                checked[number] = one
        return [one for one in checked if one is not None]

    def _check(self, found: list[Searched], states: Array, settings: dict[str, Any]) -> list[Searched | None]:
        """Return the best outputs of each sentence with exact log-probabilities; None where it must be searched again.

        That is also where fewer outputs have ended than are wanted.

        Args:
            found: Of each sentence.
            states: From which each step chose, [B, most steps, N, M].
            settings: Of `beam_search`.
        """
        size, wanted, penalty = settings["beam_size"], settings["wanted"], settings["length_penalty"]
        best = [_best_endings(one, wanted, penalty) for one in found]
        paths = [[_path(one, size, *end[:2]) for end in ends] for one, ends in zip(found, best, strict=True)]
        rows, tokens = [], []
        for number, (one, own) in enumerate(zip(found, paths, strict=True)):
            first = number * states.shape[1] * size
            for places in own:
                rows += [first, *(first + size + place for place in places)]
                tokens += [*(one.token_ids[place] for place in places), settings["eos_id"]]
        chosen_from = states.reshape(-1, states.shape[-1])[rows]
        scored, likeliest = self._network.score_tokens(chosen_from, np.array(tokens, np.int64), settings["banned"])
        log_probs, is_chosen = iter(scored.tolist()), iter(self.is_chosen[likeliest].tolist())
        checked: list[Searched | None] = []
        for one, ends, own in zip(found, best, paths, strict=True):
            endings, missed = [], len(ends) < wanted
            for (length, beam, _), places in zip(ends, own, strict=True):
                sums = list(accumulate(islice(log_probs, length)))
                missed |= not all(list(islice(is_chosen, length)))
                for place, log_prob in zip(places, sums[:-1], strict=True):  # the last one is that of EOS
                    one.log_probs[place] = log_prob
                endings.append((length, beam, sums[-1]))
            checked.append(None if missed else one._replace(endings=endings))
        return checked


def _best_endings(one: Searched, wanted: int, length_penalty: float) -> list[tuple[int, int, float]]:
    """Return the finished hypotheses of a sentence of the highest scores, best first."""
    return sorted(one.endings, key=lambda end: -end[2] / end[0] ** length_penalty)[:wanted]


def _path(one: Searched, beam_size: int, length: int, beam: int) -> list[int]:
    """Return where in `token_ids` the tokens of a finished hypothesis stand, EOS left out.

    Args:
        one: Search of the sentence.
        beam_size: N.
        length: Tokens, EOS counted.
        beam: Which hypothesis of the step before EOS it continues.
    """
    places = []
    for start in range((length - 2) * beam_size, -1, -beam_size):
        places.append(start + beam)
        beam = one.beams[start + beam]
    return places[::-1]
