"""Model FLOPs: what the matmuls of real tokens need, whatever the machine computes beside that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import cast

from torch import nn

from translate.data.batch import Batch
from translate.model.attention import Attention
from translate.model.layers import DecoderLayer, EncoderLayer, FeedForward
from translate.model.transformer import Transformer

FORMULA = (
    "2 FLOPs per multiply-add of the matmuls of real tokens, padding left out. Forward: every linear map once per "
    "token that it maps (cross-attention's keys and values per source token, the output projection per target token); "
    "scores and weighted sum once per query head and real (query, key) pair: S² in the encoder, T (T + 1) / 2 in the "
    "causal decoder, T S across; with talking heads both mixings per pair. Backward: twice the forward. Free: "
    "embedding lookups, norms, softmax, activations, dropout, optimizer."
)


@dataclass(frozen=True)
class Work:
    """What batches ask of a model.

    Attributes:
        src_tokens: Real source tokens.
        tgt_tokens: Real target tokens, EOS counted.
        src_pairs: (query, key) pairs of the encoder, S² of each sentence of S real tokens.
        tgt_pairs: Pairs of the causal decoder, T (T + 1) / 2 of each sentence.
        cross_pairs: Pairs across, T S of each sentence.
        positions: Source and target positions, padding counted.
    """

    src_tokens: int = 0
    tgt_tokens: int = 0
    src_pairs: int = 0
    tgt_pairs: int = 0
    cross_pairs: int = 0
    positions: int = 0

    @classmethod
    def of(cls, batches: Iterable[Batch]) -> Work:
        """Sum the work of batches."""
        return sum((cls._of_one(batch) for batch in batches), cls())

    @classmethod
    def _of_one(cls, batch: Batch) -> Work:
        src, tgt = batch.src_mask.sum(dim=1), batch.tgt_mask.sum(dim=1)  # [B] each
        return cls(
            src_tokens=int(src.sum()),
            tgt_tokens=int(tgt.sum()),
            src_pairs=int(src.square().sum()),
            tgt_pairs=int((tgt * (tgt + 1)).sum()) // 2,
            cross_pairs=int((src * tgt).sum()),
            positions=batch.src_mask.numel() + batch.tgt_mask.numel(),
        )

    def __add__(self, other: Work) -> Work:
        return Work(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    @property
    def padding_share(self) -> float:
        """Share of the positions that hold no token."""
        return 1 - (self.src_tokens + self.tgt_tokens) / self.positions


def training_flops(model: Transformer, work: Work) -> int:
    """Count the FLOPs of forward and backward: see `FORMULA`."""
    return 3 * forward_flops(model, work)


def forward_flops(model: Transformer, work: Work) -> int:
    """Count the FLOPs of the forward: see `FORMULA`."""
    src, tgt = work.src_tokens, work.tgt_tokens
    total = tgt * _linear(model.output)
    for encoder in cast("Iterable[EncoderLayer]", model.encoder_layers):
        total += _attention(encoder.self_attention, src, src, work.src_pairs)
        total += src * _feed_forward(encoder.feed_forward)
    for decoder in cast("Iterable[DecoderLayer]", model.decoder_layers):
        total += _attention(decoder.self_attention, tgt, tgt, work.tgt_pairs)
        total += _attention(cast(Attention, decoder.cross_attention), tgt, src, work.cross_pairs)
        total += tgt * _feed_forward(decoder.feed_forward)
    return total


def _attention(attention: Attention, queries: int, keys: int, pairs: int) -> int:
    width, heads, head_dim = attention.qkv.in_features, attention.num_heads, attention.head_dim
    per_query = 2 * width * sum(attention.q_parts) + _linear(attention.out)
    per_key = 2 * width * sum(attention.kv_parts) + (0 if attention.kv_up is None else _linear(attention.kv_up))
    per_pair = 2 * heads * (2 * head_dim + attention.rotary_dim)  # scores, weighted sum
    if attention.mix_scores is not None:
        per_pair += 2 * 2 * heads * heads  # of scores, of weights
    return queries * per_query + keys * per_key + pairs * per_pair


def _feed_forward(feed_forward: FeedForward) -> int:
    return _linear(feed_forward.inner) + _linear(feed_forward.outer)


def _linear(linear: nn.Linear) -> int:
    """Count the FLOPs for one token."""
    return 2 * linear.weight.numel()
