"""From examples to padded tensors: the one place where targets are shifted by one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

IGNORE_INDEX = -100  # torch's default in cross_entropy, so a forgotten `ignore_index=` is harmless


class Example(NamedTuple):
    """Token ids of one sentence pair, EOS last on both sides, BOS on neither."""

    src_ids: Sequence[int]
    tgt_ids: Sequence[int]


class Padded(NamedTuple):
    """One side of several sentence pairs.

    Attributes:
        ids: Token ids, EOS last, [B, longest] or wider; whatever stands behind the tokens of a row has no meaning.
        lengths: Tokens of each row, EOS counted, [B].
    """

    ids: npt.NDArray[np.integer]
    lengths: npt.NDArray[np.integer]

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Padded:
        """Pad at least one row of at least one id."""
        lengths = np.array([len(row) for row in rows])
        mask = np.arange(lengths.max()) < lengths[:, None]  # [B, longest]
        ids = np.zeros(mask.shape, dtype=np.int64)
        ids[mask] = np.concatenate([np.asarray(row, dtype=np.int64) for row in rows])
        return cls(ids, lengths)

    def replaced(self, places: Sequence[int], rows: Sequence[Sequence[int]]) -> Padded:
        """Return these rows with others at some places."""
        if not rows:
            return self
        new = Padded.of(rows)
        width = max(self.ids.shape[1], new.ids.shape[1])
        ids, lengths = widened(self.ids, width), self.lengths.copy()
        ids[places], lengths[places] = widened(new.ids, width), new.lengths
        return Padded(ids, lengths)


def widened(ids: npt.NDArray[np.integer], width: int) -> npt.NDArray[np.integer]:
    """Return a copy of ids [B, W] with as many columns as `width`, at least W."""
    wide = np.zeros((len(ids), width), dtype=ids.dtype)
    wide[:, : ids.shape[1]] = ids
    return wide


@dataclass(frozen=True, eq=False)
class Batch:
    """Padded sentence pairs; B sentences, S source and T target positions.

    Attributes:
        src_ids: Source ids, EOS last, then padding, [B, S] int64.
        src_mask: True at real source tokens, [B, S] bool.
        tgt_in_ids: Decoder input: BOS, then the target without its EOS, then padding, [B, T] int64.
        tgt_mask: True at real decoder inputs, [B, T] bool.
        labels: What each decoder position must predict: the target, EOS last, IGNORE_INDEX at padding, [B, T] int64.
        tgt_positions: Where the real tokens of a target stand among its batch's B * T positions, [tokens] int64; known
            in advance, so that nobody has to wait for a GPU to tell how many they are.
    """

    src_ids: Tensor
    src_mask: Tensor
    tgt_in_ids: Tensor
    tgt_mask: Tensor
    labels: Tensor
    tgt_positions: Tensor

    @property
    def num_tokens(self) -> int:
        """Real target tokens, EOS counted, BOS not."""
        return self.tgt_positions.numel()

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Batch:
        """Return the same batch on `device`."""
        return Batch(**{name: tensor.to(device, non_blocking=non_blocking) for name, tensor in self._tensors()})

    def pin_memory(self) -> Batch:
        """Return the same batch in page-locked memory, from which copies to a GPU need not wait."""
        return Batch(**{name: tensor.pin_memory() for name, tensor in self._tensors()})

    def _tensors(self) -> list[tuple[str, Tensor]]:
        return [(field.name, getattr(self, field.name)) for field in fields(self)]


def collate(examples: Sequence[Example], *, pad_id: int, bos_id: int) -> Batch:
    """Pad examples to one batch and shift the targets by one step.

    Args:
        examples: At least one example; each side at least one id.
        pad_id: Id at positions without a token.
        bos_id: First decoder input of every sentence.

    Returns:
        The batch, on the CPU; S and T are the longest source and target.

    >>> batch = collate([Example([7, 3], [8, 9, 3]), Example([3], [5, 3])], pad_id=0, bos_id=2)
    >>> batch.tgt_in_ids.tolist(), batch.labels.tolist()
    ([[2, 8, 9], [2, 5, 0]], [[8, 9, 3], [5, 3, -100]])
    """
    return collate_padded(
        Padded.of([example.src_ids for example in examples]),
        Padded.of([example.tgt_ids for example in examples]),
        pad_id=pad_id,
        bos_id=bos_id,
    )


def collate_padded(src: Padded, tgt: Padded, *, pad_id: int, bos_id: int) -> Batch:
    """Do what `collate` does with sides that are padded already."""
    src_ids, src_mask = _masked(src, pad_id)
    labels, tgt_mask = _masked(tgt, IGNORE_INDEX)
    tgt_in_ids = np.full_like(labels, pad_id)
    tgt_in_ids[:, 0] = bos_id
    np.copyto(tgt_in_ids[:, 1:], labels[:, :-1], where=tgt_mask[:, 1:])
    arrays = src_ids, src_mask, tgt_in_ids, tgt_mask, labels, np.flatnonzero(tgt_mask)
    return Batch(*map(torch.from_numpy, arrays))


def _masked(side: Padded, value: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return the ids of a side, as wide as its longest row and with `value` behind the tokens, and where tokens are."""
    mask = np.arange(side.lengths.max()) < side.lengths[:, None]  # [B, longest]
    return np.where(mask, side.ids[:, : mask.shape[1]], np.int64(value)), mask
