"""Which sentence pairs share a batch: equal lengths together, a budget of padded tokens, a new order every epoch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]
Lengths = npt.NDArray[np.integer]


class TokenBudgetBatches:
    """Batches of similar length under a token budget.

    Pairs are dealt to windows (pair i to window i modulo their number, so each window is a fair sample of the corpus).
    In each epoch every window is sorted by the longer side, and pairs that are equal in that by the difference of the
    sides give or take a random token, so that each epoch has other neighbours; then it is cut into batches, and these
    are shuffled. Cuts depend on the longer sides alone, so every epoch has equally many batches. Memory is bounded by
    the window, not by the corpus.
    """

    def __init__(
        self,
        src_lens: Lengths,
        tgt_lens: Lengths,
        batch_tokens: int,
        *,
        seed: int = 0,
        rank: int = 0,
        world_size: int = 1,
        window: int = 2**20,
        shuffle: bool = True,
    ) -> None:
        """Plan the batches.

        Args:
            src_lens: Source tokens of each pair, EOS counted, [pairs].
            tgt_lens: Target tokens of each pair, EOS counted, [pairs].
            batch_tokens: Largest B * max(S, T) of a batch, padding counted, S and T its longest sentences.
            seed: Together with the epoch decides every shuffle.
            rank: Which share of the batches is ours when several processes train.
            world_size: How many processes train; each gets equally many batches.
            window: Largest number of pairs that are sorted together.
            shuffle: False gives batches by length in corpus order, the same each time, for validation.

        Raises:
            ValueError: If a pair is longer than `batch_tokens`, or there are too few pairs for so many processes.
        """
        self.src_lens, self.tgt_lens, self.batch_tokens = src_lens, tgt_lens, batch_tokens
        self.seed, self.rank, self.world_size, self.shuffle = seed, rank, world_size, shuffle
        longest = max(int(src_lens.max(initial=0)), int(tgt_lens.max(initial=0)))
        if longest > batch_tokens:
            raise ValueError(f"a sentence of {longest} tokens fits no batch of {batch_tokens}; raise data.batch_tokens")
        self._num_windows = max(1, -(-len(src_lens) // window))
        if len(src_lens) // self._num_windows < world_size:
            raise ValueError(f"{len(src_lens)} sentence pairs are too few for {world_size} processes")
        self._num_batches = self._num_positions = 0
        for number in range(self._num_windows):
            for batch in self._cut(self._sorted(number, np.random.default_rng((seed, 0, number)))):
                self._num_batches += 1
                self._num_positions += len(batch) * (int(src_lens[batch].max()) + int(tgt_lens[batch].max()))

    def __len__(self) -> int:
        """Count the batches of every epoch, for one rank."""
        return self._num_batches // self.world_size

    def epoch(self, epoch: int) -> Iterator[Indices]:
        """Return the batches of one epoch, each the indices of its pairs; they depend on seed and epoch alone."""
        windows = list(range(self._num_windows))
        if self.shuffle:
            np.random.default_rng((self.seed, epoch)).shuffle(windows)
        for number in windows:
            rng = np.random.default_rng((self.seed, epoch, number))
            batches = self._cut(self._sorted(number, rng))
            positions = rng.permutation(len(batches)) if self.shuffle else np.arange(len(batches))
            for position in positions[self.rank :: self.world_size]:
                yield batches[position]

    def padding_share(self) -> float:
        """Share of the source and target positions of the first epoch's batches that hold no token."""
        tokens = int(self.src_lens.sum(dtype=np.int64)) + int(self.tgt_lens.sum(dtype=np.int64))
        return 1 - tokens / self._num_positions

    def _sorted(self, number: int, rng: np.random.Generator) -> Indices:
        """Sort the pairs of one window so that those of similar length are side by side."""
        indices = np.arange(number, len(self.src_lens), self._num_windows)
        src, tgt = self.src_lens[indices].astype(np.int64), self.tgt_lens[indices].astype(np.int64)
        longer = np.maximum(src, tgt)
        difference = src - tgt + (rng.uniform(-1, 1, len(indices)) if self.shuffle else 0)
        # rising and falling in turn, so that a batch that reaches into the next length meets similar differences there
        return indices[np.lexsort((np.where(longer % 2, difference, -difference), longer))]

    def _cut(self, indices: Indices) -> list[Indices]:
        """Cut sorted indices where the budget is full, then halve the largest until all ranks get equally many."""
        widths = np.maximum(self.src_lens[indices], self.tgt_lens[indices]).astype(np.int64)
        batches, start = [], 0
        while start < len(indices):
            most = widths[start : start + self.batch_tokens // int(widths[start])]  # more cannot fit
            padded = np.maximum.accumulate(most) * np.arange(1, len(most) + 1)
            size = int(np.searchsorted(padded, self.batch_tokens, side="right"))
            batches.append(indices[start : start + size])
            start += size
        while len(batches) % self.world_size:
            largest = max(range(len(batches)), key=lambda i: len(batches[i]))
            batch = batches[largest]
            if len(batch) == 1:
                raise ValueError(
                    f"{len(batches)} batches of one pair cannot be shared among {self.world_size} processes; "
                    "raise data.batch_tokens or train with fewer"
                )
            batches[largest : largest + 1] = [batch[: len(batch) // 2], batch[len(batch) // 2 :]]
        return batches
