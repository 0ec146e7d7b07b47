"""What a whole search in C reads, writes and leaves behind."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from translate.kernels.pointers import Array, pointer
from translate.kernels.structures import Search


class Searched(NamedTuple):
    """What a search in C did for a sentence, N hypotheses in each of its steps.

    Attributes:
        token_ids: Newest tokens, N of each step.
        beams: Which hypothesis of the step before each continues.
        log_probs: Log-probability of each with all before it.
        endings: Finished hypotheses in the order found: tokens, EOS counted; which hypothesis of the step before EOS
            each continues; log-probability.
    """

    token_ids: list[int]
    beams: list[int]
    log_probs: list[float]
    endings: list[tuple[int, int, float]]


class _SearchArrays:
    """The arrays that a search in C reads and writes, named as the fields of `Search`."""

    def __init__(self, limits: Sequence[int], beam_size: int, bos_id: int, states_width: int) -> None:
        if min(limits) < 1:
            raise ValueError(f"limits {list(limits)} must be at least 1")
        if beam_size < 1:
            raise ValueError(f"beam_size ({beam_size}) must be at least 1")
        sentences, room = len(limits), max(limits)
        rows, steps, endings = (sentences, beam_size), (sentences, room, beam_size), (sentences, 2 * beam_size)
        self.numbers, self.limits = np.arange(sentences), np.array(limits)
        self.ids, self.sums = np.full(rows, bos_id), np.zeros(rows, np.float32)
        self.lengths, self.num_endings = np.zeros(sentences, np.int64), np.zeros(sentences, np.int64)
        self.token_ids, self.beams = np.empty(steps, np.int64), np.empty(steps, np.int64)
        self.log_probs = np.empty(steps, np.float32)
        self.states = np.empty((*steps, states_width), np.float32)
        self.end_lengths, self.end_beams = np.empty(endings, np.int64), np.empty(endings, np.int64)
        self.end_log_probs = np.empty(endings, np.float32)

    def addresses(self) -> dict[str, int]:
        """Return the address of each array, by its field."""
        wanted = {name: array for name, array in vars(self).items() if array.size}
        return {name: pointer(name, array, array.dtype, *array.shape) for name, array in wanted.items()}

    def results(self) -> list[Searched]:
        """Return what was done for each sentence."""
        sentences, size = self.ids.shape
        steps: list[Array] = [self.token_ids, self.beams, self.log_probs]
        endings: list[Array] = [self.end_lengths, self.end_beams, self.end_log_probs]
        token_ids, beams, log_probs = (x[:, : self.lengths.max()].reshape(sentences, -1).tolist() for x in steps)
        ends = [list(zip(*own, strict=True)) for own in zip(*(x.tolist() for x in endings), strict=True)]
        found = []
        for number, (length, count) in enumerate(zip(self.lengths.tolist(), self.num_endings.tolist(), strict=True)):
            own = slice(length * size)
            columns = token_ids[number][own], beams[number][own], log_probs[number][own]
            found.append(Searched(*columns, ends[number][:count]))
        return found


class SearchState:
    """A search between two calls of C: `beam_search` in `search.c` returns when the caches are full.

    Args:
        memories: Keys and values of the sources in each layer, [B, 2, G, S, D]; C overwrites them.
        src_mask: [B, S] bool, True = real token.
        limits: Most tokens of each output, EOS counted.
        banned: Outputs of the map to logits that may not come.
        bos_id: Comes before the first token.
        eos_id: Ends an output, as its last token.
        beam_size: Hypotheses of a sentence that go on.
        wanted: Finished hypotheses of a sentence that suffice.
        length_penalty: As of `normalized_score`.
        states_width: Of the decoder's outputs, M, if they are to be kept; 0 = they are not.

    Attributes:
        rows: How many sentences are not done; C moves them to the front of all arrays.
        tokens: How many tokens of each hypothesis the caches have room for.
        capacity: Entries of a sentence in the caches.
        entries: How many of them are filled.
        caches: For each layer [rows, 2, G, capacity, D].
        struct: What C is given.

    Raises:
        ValueError: If a limit or `beam_size` is below 1, or there are not as many limits as sentences.
    """

    def __init__(
        self,
        memories: Sequence[Array],
        src_mask: Array,
        limits: Sequence[int],
        banned: ctypes.Array[ctypes.c_int64],
        *,
        bos_id: int,
        eos_id: int,
        beam_size: int,
        wanted: int,
        length_penalty: float,
        states_width: int = 0,
    ) -> None:
        if len(limits) != len(src_mask):
            raise ValueError(f"limits ({len(limits)}) must be as many as sentences ({len(src_mask)})")
        self.memories, self.src_mask = memories, np.array(src_mask, order="C")
        self.rows, self.tokens, self.capacity, self.entries = len(src_mask), 0, 0, 0
        self.caches = list[Array]()
        self._arrays, self._banned = _SearchArrays(limits, beam_size, bos_id, states_width), banned
        self._descent = np.empty((self.rows, beam_size, 0), bool)
        self.struct = Search(
            **self._arrays.addresses(),
            banned=ctypes.addressof(banned),
            num_banned=len(banned),
            room=max(limits),
            eos=eos_id,
            beam_size=beam_size,
            wanted=wanted,
            length_penalty=length_penalty,
        )

    def grow(self, expected: int) -> None:
        """Make room for `expected` tokens, which few outputs exceed, and each later time for twice as many."""
        beam_size: int = self.struct.beam_size
        self.tokens = min(self.struct.room, max(2 * self.tokens, expected))
        self.entries, self.capacity = self.capacity, 1 + beam_size * (self.tokens - 1)
        sizes = [(self.rows, *memory.shape[1:3], self.capacity, memory.shape[-1]) for memory in self.memories]
        grown = [np.empty(size, np.float32) for size in sizes]
        for old, new in zip(self.caches, grown, strict=False):
            new[..., : self.entries, :] = old[: self.rows]
        self.caches = grown
        if beam_size > 1:
            descent = np.zeros((self.rows, beam_size, self.capacity), bool)
            descent[..., : self.entries] = self._descent[: self.rows]
            self._descent = descent
            self.struct.descent = pointer("descent", descent, np.bool_, *descent.shape)

    @property
    def states(self) -> Array:
        """From which each step chose, [B, most steps, N, M]."""
        return self._arrays.states

    def results(self) -> list[Searched]:
        """Return what was done for each sentence."""
        return self._arrays.results()


def expected_length(src_len: int) -> int:
    """Return an output length, in tokens, that few outputs of sources of that length exceed."""
    return 8 + src_len * 5 // 4
