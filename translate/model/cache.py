"""What decoding remembers: keys and values per layer, and a decoder's state. Passed in, never kept on modules."""

from dataclasses import dataclass

import torch
from torch import Tensor

from translate.kernels.search_state import expected_length


class Selection:
    """Which sentences stay, in which order, and which of them change places on the way.

    Args:
        sentences: [B']; they shall stand at 0 … B' - 1.
    """

    def __init__(self, sentences: Tensor) -> None:
        self.count = len(sentences)
        self._places = (sentences != torch.arange(self.count, device=sentences.device)).nonzero().squeeze(1)
        self._sources = sentences[self._places]

    def move(self, held: Tensor) -> None:
        """Put the rows of the selected sentences into their places; those that are there already cost nothing."""
        if len(self._places):
            held[self._places] = held[self._sources]


class KVCache:
    """What one self-attention layer remembers of the tokens decoded so far: keys and values, or latents.

    One buffer [B, …, C, W] holds all of it: [B, 2, G, C, D] for keys and values, [B, 1, C, L] for latents. Its capacity
    C is enough for as many positions as are expected; when it is full it doubles, so appending copies each entry a
    constant number of times on average.

    The hypotheses of a sentence share its part of the buffer: each step adds one entry per hypothesis, and following
    the beams moves none of them, since a mask says from which entries each hypothesis descends (`DecoderState`).
    """

    def __init__(self, expected: int = 16) -> None:
        """Make an empty cache with room for `expected` positions."""
        self._buffer: Tensor | None = None
        self._expected = expected
        self.length = 0  # positions
        self.entries = 0  # of a sentence: of each position one, or one for each hypothesis
        self.hypotheses = 1

    def append(self, kv: Tensor) -> Tensor:
        """Add the T newest tokens, [B * N, 2, G, T, D] or [B * N, 1, T, L]; T is 1 where N is above 1.

        Returns:
            All entries so far, of the same form with B in place of B * N and `entries` in place of T, as a view of the
            buffer.
        """
        if self.hypotheses > 1:  # they become entries of the same sentence
            kv = kv.squeeze(-2).view(-1, self.hypotheses, *kv.shape[1:-2], kv.size(-1)).movedim(1, -2)
        start, buffer = self.reserve(kv, kv.size(-2))
        buffer[..., start : self.entries, :] = kv
        return buffer[..., : self.entries, :]

    def reserve(self, like: Tensor, entries: int) -> tuple[int, Tensor]:
        """Make room for as many more entries, one for each hypothesis if there are several, which the caller writes.

        Args:
            like: Tells the sizes but for the number of entries, [B, …, any, W].
            entries: How many.

        Returns:
            Where they start, and the whole buffer [B, …, C, W].
        """
        start, self.entries = self.entries, self.entries + entries
        self.length += 1 if self.hypotheses > 1 else entries
        if self._buffer is None or self.entries > self._buffer.size(-2):
            self._grow(start, like)
        assert self._buffer is not None
        return start, self._buffer

    def select(self, selection: Selection) -> None:
        """Keep the selected sentences; one may be named more than once if they do not get more."""
        if self._buffer is not None:
            selection.move(self._buffer[..., : self.entries, :])
            self._buffer = self._buffer[: selection.count]

    @property
    def num_elements(self) -> int:
        """Numbers held for the tokens so far: 2 * G * D, or L, per entry."""
        return 0 if self._buffer is None else self._buffer[..., : self.entries, :].numel()

    @property
    def bytes_per_token(self) -> int:
        """Memory that one more token of one hypothesis takes; 0 while the cache is empty."""
        return 0 if self._buffer is None else _bytes_per_token(self._buffer)

    def _grow(self, filled: int, like: Tensor) -> None:
        capacity = max(self._expected * self.hypotheses, self.entries, 2 * filled)
        buffer = like.new_empty(*like.shape[:-2], capacity, like.size(-1))
        if self._buffer is not None:
            buffer[..., :filled, :] = self._buffer[..., :filled, :]
        self._buffer = buffer


@dataclass
class MemoryCache:
    """What one cross-attention layer needs of the source; computed once per sentence.

    Keys and values [B, 2, G, S, D], or latents [B, 1, S, L]. All hypotheses of a sentence share them: they stay [B, …]
    while the decoder runs B * N rows.
    """

    kv: Tensor

    def select(self, selection: Selection) -> None:
        """Keep the selected sentences; one may be named more than once if they do not get more."""
        selection.move(self.kv)
        self.kv = self.kv[: selection.count]

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
        self.self_caches = [KVCache(expected_length(memory_mask.size(-1))) for _ in memory_caches]
        self.beam_size = 1
        self._descent: Tensor | None = None  # [B, N, entries]: from which entries a hypothesis descends; None = all

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
        """Memory that one more token of one hypothesis takes in all layers; 0 before the first step."""
        return sum(cache.bytes_per_token for cache in self.self_caches)

    @property
    def bytes_per_src_token(self) -> int:
        """Memory that one source token of one sentence takes in all layers."""
        return sum(cache.bytes_per_token for cache in self.memory_caches)

    def advance(self) -> Tensor | None:
        """Make room for one more token of every hypothesis.

        Returns:
            Who may look at which entry in that step, the new ones counted: each hypothesis at those that it descends
            from and at its own, [B, 1, N, entries] bool; None with one hypothesis, which descends from all.
        """
        if self._descent is None:
            return None
        own = torch.eye(self.beam_size, dtype=torch.bool, device=self._descent.device)
        self._descent = torch.cat((self._descent, own.expand(self.num_sentences, -1, -1)), dim=2)
        return self._descent[:, None]

    def repeat(self, beam_size: int) -> None:
        """Give every sentence `beam_size` rows, which share what was decoded so far.

        Raises:
            ValueError: If the state already holds several rows per sentence, or `beam_size` is below 1.
        """
        if self.beam_size != 1 or beam_size < 1:
            raise ValueError(f"repeat({beam_size}) needs a state with one row per sentence, not {self.beam_size}")
        self.beam_size = beam_size
        if beam_size > 1:
            self._descent = self.memory_mask.new_ones(self.num_sentences, beam_size, self.self_caches[0].entries)
            for cache in self.self_caches:
                cache.hypotheses = beam_size

    def reorder(self, row_indices: Tensor) -> None:
        """Let row i go on from row `row_indices[i]` [B * N], which must belong to the same sentence."""
        if self._descent is not None:
            self._descent = self._descent.flatten(0, 1).index_select(0, row_indices).view_as(self._descent)

    def keep(self, sentence_indices: Tensor) -> None:
        """Drop all sentences but the given ones [B'], which take the places 0 … B' - 1.

        Those that keep their place cost nothing.
        """
        selection = Selection(sentence_indices)
        for cache in self.self_caches:
            cache.select(selection)
        for memory_cache in self.memory_caches:
            memory_cache.select(selection)
        self.memory_mask = self.memory_mask.index_select(0, sentence_indices)
        if self._descent is not None:
            self._descent = self._descent.index_select(0, sentence_indices)
