"""What decoding remembers: keys and values per layer, and a decoder's state. Passed in, never kept on modules."""

from dataclasses import dataclass

import torch
from torch import Tensor


class KVCache:
    """What one self-attention layer remembers of the tokens decoded so far: keys and values, or latents.

    One buffer [rows, …, C, W] holds all of it, so that following the beams is one gather: [rows, 2, G, C, D] for keys
    and values, [rows, 1, C, L] for latents. Its capacity C doubles when it is full, so appending copies each entry a
    constant number of times on average.
    """

    def __init__(self) -> None:
        self._buffer: Tensor | None = None
        self.length = 0

    def append(self, kv: Tensor) -> Tensor:
        """Add the T newest tokens, [rows, 2, G, T, D] or [rows, 1, T, L].

        Returns:
            All tokens so far, of the same form with `length` in place of T, as a view of the buffer.
        """
        end = self.length + kv.size(-2)
        if self._buffer is None or end > self._buffer.size(-2):
            self._grow(end, kv)
        assert self._buffer is not None
        self._buffer[..., self.length : end, :] = kv
        self.length = end
        return self._buffer[..., :end, :]

    def select(self, rows: Tensor) -> None:
        """Keep the given rows, in the given order; a row may be named more than once."""
        if self._buffer is None:
            return
        self._buffer = self._buffer.index_select(0, rows)

    @property
    def num_elements(self) -> int:
        """Numbers held for the tokens so far: 2 * G * D, or L, per row and token."""
        return 0 if self._buffer is None else self._buffer[..., : self.length, :].numel()

    @property
    def bytes_per_token(self) -> int:
        """Memory that one more token of one row takes; 0 while the cache is empty."""
        return 0 if self._buffer is None else _bytes_per_token(self._buffer)

    def _grow(self, length: int, like: Tensor) -> None:
        capacity = max(16, length, 2 * self.length)
        buffer = like.new_empty(*like.shape[:-2], capacity, like.size(-1))
        if self._buffer is not None:
            buffer[..., : self.length, :] = self._buffer[..., : self.length, :]
        self._buffer = buffer


@dataclass
class MemoryCache:
    """What one cross-attention layer needs of the source; computed once per sentence.

    Keys and values [B, 2, G, S, D], or latents [B, 1, S, L]. All hypotheses of a sentence share them: they stay [B, …]
    while the decoder runs B * N rows.
    """

    kv: Tensor

    def select(self, sentences: Tensor) -> None:
        """Keep the given sentences, in the given order."""
        self.kv = self.kv.index_select(0, sentences)

    @property
    def num_elements(self) -> int:
        """Numbers held: 2 * G * D, or L, per sentence and source position."""
        return self.kv.numel()

    @property
    def bytes_per_token(self) -> int:
        """Memory that one source token of one sentence takes."""
        return _bytes_per_token(self.kv)


def _bytes_per_token(kv: Tensor) -> int:
    return kv.shape[1:-2].numel() * kv.size(-1) * kv.element_size()


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

    @property
    def bytes_per_token(self) -> int:
        """Memory that one more target token of one hypothesis takes in all layers; 0 before the first step."""
        return sum(cache.bytes_per_token for cache in self.self_caches)

    @property
    def bytes_per_src_token(self) -> int:
        """Memory that one source token of one sentence takes in all layers."""
        return sum(cache.bytes_per_token for cache in self.memory_caches)

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
