"""What decoding remembers: keys and values per layer, and a decoder's state. Passed in, never kept on modules."""

from dataclasses import dataclass

import torch
from torch import Tensor


class KVCache:
    """Keys and values of the tokens decoded so far, for one self-attention layer.

    One buffer [rows, 2, G, C, D] holds both, so that following the beams is one gather. Its capacity C doubles when
    it is full, so appending copies each entry a constant number of times on average.
    """

    def __init__(self) -> None:
        self._buffer: Tensor | None = None
        self.length = 0

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add k and v [rows, G, T, D] of the T newest tokens.

        Returns:
            Keys and values of all tokens so far, each [rows, G, length, D], as views of the buffer.
        """
        end = self.length + k.size(2)
        if self._buffer is None or end > self._buffer.size(3):
            self._grow(end, k)
        assert self._buffer is not None
        self._buffer[:, 0, :, self.length : end] = k
        self._buffer[:, 1, :, self.length : end] = v
        self.length = end
        return self._buffer[:, 0, :, :end], self._buffer[:, 1, :, :end]

    def select(self, rows: Tensor) -> None:
        """Keep the given rows, in the given order; a row may be named more than once."""
        if self._buffer is None:
            return
        self._buffer = self._buffer.index_select(0, rows)

    @property
    def num_elements(self) -> int:
        """Numbers held for the tokens so far: 2 * G * D per row and token."""
        return 0 if self._buffer is None else self._buffer[:, :, :, : self.length].numel()

    def _grow(self, length: int, like: Tensor) -> None:
        rows, groups, _, head_dim = like.shape
        capacity = max(16, length, 2 * self.length)
        buffer = like.new_empty(rows, 2, groups, capacity, head_dim)
        if self._buffer is not None:
            buffer[:, :, :, : self.length] = self._buffer[:, :, :, : self.length]
        self._buffer = buffer


@dataclass
class MemoryCache:
    """Keys and values of the source, each [B, G, S, D], for one cross-attention layer; computed once per sentence.

    All hypotheses of a sentence share them: they stay [B, …] while the decoder runs B * N rows.
    """

    k: Tensor
    v: Tensor

    def select(self, sentences: Tensor) -> None:
        """Keep the given sentences, in the given order."""
        self.k, self.v = self.k.index_select(0, sentences), self.v.index_select(0, sentences)

    @property
    def num_elements(self) -> int:
        """Numbers held: 2 * G * D per sentence and source position."""
        return self.k.numel() + self.v.numel()


class DecoderState:
    """Everything `Transformer.step` needs besides the last token: the caches of all layers.

    Rows are sentence-major: row = sentence * beam_size + beam.
    """

    def __init__(self, memory_caches: list[MemoryCache], memory_mask: Tensor) -> None:
        self.memory_caches = memory_caches
        self.memory_mask = memory_mask  # [B, 1, 1, S]
        self.self_caches = [KVCache() for _ in memory_caches]
        self.beam_size = 1

    @property
    def length(self) -> int:
        """Tokens decoded so far, BOS included."""
        return self.self_caches[0].length

    @property
    def num_sentences(self) -> int:
        """Sentences still held, B."""
        return self.memory_mask.size(0)

    @property
    def num_elements(self) -> int:
        """Numbers held by all caches."""
        own = sum(cache.num_elements for cache in self.self_caches)
        return own + sum(cache.num_elements for cache in self.memory_caches)

    def repeat(self, beam_size: int) -> None:
        """Give every sentence `beam_size` rows, copies of its one row so far.

        Raises:
            ValueError: If the state already holds several rows per sentence, or `beam_size` is below 1.
        """
        if self.beam_size != 1 or beam_size < 1:
            raise ValueError(f"repeat({beam_size}) needs a state with one row per sentence, not {self.beam_size}")
        if beam_size > 1:
            rows = torch.arange(self.num_sentences, device=self.memory_mask.device).repeat_interleave(beam_size)
            self._select_rows(rows)
        self.beam_size = beam_size

    def reorder(self, row_indices: Tensor) -> None:
        """Let row i go on from row `row_indices[i]` [B * N], which must belong to the same sentence."""
        self._select_rows(row_indices)

    def keep(self, sentence_indices: Tensor) -> None:
        """Drop all sentences but the given ones [B'], which take the places 0 … B' - 1."""
        beams = torch.arange(self.beam_size, device=sentence_indices.device)
        self._select_rows((sentence_indices[:, None] * self.beam_size + beams).flatten())
        for cache in self.memory_caches:
            cache.select(sentence_indices)
        self.memory_mask = self.memory_mask.index_select(0, sentence_indices)

    def _select_rows(self, rows: Tensor) -> None:
        for cache in self.self_caches:
            cache.select(rows)
