"""What a network remembers of the hypotheses it is decoding; the same as `translate.model.cache`, of numpy arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from translate.kernels.pointers import Array


class NativeState:
    """Everything a step needs besides the last token: the caches of all layers.

    Rows are sentence-major: row = sentence * N + hypothesis. The hypotheses of a sentence share its part of a buffer:
    each step adds an entry for each, and a mask says from which entries each descends.

    Args:
        memories: Keys and values of the source in each layer, [B, 2, G, S, D].
        src_mask: [B, S] bool, True = real token.
        expected: An output length, in tokens, that few outputs exceed.
    """

    def __init__(self, memories: Sequence[Array], src_mask: Array, expected: int) -> None:
        self.memories, self.src_mask, self._expected = list(memories), src_mask, expected
        self.caches: list[Array] = []  # for each layer [B, 2, G, C, D]
        self.length = 0  # tokens decoded so far, BOS included
        self.entries = 0  # of a sentence
        self.beam_size = 1
        self._descent: Array | None = None  # [B, N, entries]; None = all

    def advance(self) -> Array | None:
        """Make room for one more token of every hypothesis, which the caller writes behind `entries`.

        Returns:
            Who may look at which entry, the new ones counted, [B, 1, N, entries + N] bool; None = all at all.
        """
        if not self.caches or self.entries + self.beam_size > self.caches[0].shape[-2]:
            self._grow()
        if self._descent is None:
            return None
        own = np.eye(self.beam_size, dtype=bool)
        own = np.broadcast_to(own, (len(self.src_mask), *own.shape))
        self._descent = np.concatenate((self._descent, own), axis=2)
        return self._descent[:, None]

    def added(self) -> None:
        """Note that the newest tokens have their entries."""
        self.length += 1
        self.entries += self.beam_size

    def repeat(self, beam_size: int) -> None:
        """Give every sentence `beam_size` rows, which share what was decoded so far.

        Raises:
            ValueError: If the state already holds several rows per sentence, or `beam_size` is below 1.
        """
        if self.beam_size != 1 or beam_size < 1:
            raise ValueError(f"repeat({beam_size}) needs a state with one row per sentence, not {self.beam_size}")
        self.beam_size = beam_size
        if beam_size > 1:
            self._descent = np.ones((len(self.src_mask), beam_size, self.entries), dtype=bool)

    def reorder(self, row_indices: Array) -> None:
        """Let row i go on from row `row_indices[i]` [B * N], which must belong to the same sentence."""
        if self._descent is not None:
            rows = self._descent.reshape(-1, self._descent.shape[2])
            self._descent = rows[row_indices].reshape(self._descent.shape)

    def keep(self, sentence_indices: Array) -> None:
        """Drop all sentences but the given ones [B'], which take the places 0 … B' - 1.

        Those that keep their place cost nothing.
        """
        count, places = len(sentence_indices), np.arange(len(sentence_indices))
        to, sources = (column[sentence_indices != places] for column in (places, sentence_indices))
        for cache in self.caches:
            cache[to, :, :, : self.entries] = cache[sources, :, :, : self.entries]
        for memory in self.memories:
            memory[to] = memory[sources]
        self.caches = [cache[:count] for cache in self.caches]
        self.memories = [memory[:count] for memory in self.memories]
        self.src_mask = self.src_mask[sentence_indices]
        if self._descent is not None:
            self._descent = self._descent[sentence_indices]

    def _grow(self) -> None:
        capacity = max(self._expected * self.beam_size, self.entries + self.beam_size, 2 * self.entries)
        grown = []
        for layer, memory in enumerate(self.memories):
            rows, two, groups, _, width = memory.shape
            buffer = np.empty((rows, two, groups, capacity, width), np.float32)
            if self.caches:
                buffer[..., : self.entries, :] = self.caches[layer][..., : self.entries, :]
            grown.append(buffer)
        self.caches = grown
