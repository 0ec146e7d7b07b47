"""What training must hold in memory, by arithmetic: the state of the weights, and the numbers that backward needs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from torch import nn

from translate.model.attention import Attention
from translate.model.layers import DecoderLayer, EncoderLayer, FeedForward
from translate.model.transformer import Transformer

FORMULA = (
    "16 bytes per parameter (weight, gradient, two moments of AdamW), 4 bytes per number that backward needs. Of each "
    "position: input and output of every norm, queries, keys, values and weighted sum of every attention, the inner "
    "width of the feed-forward (gelu twice, swiglu four times), the mask of every dropout; of each decoder layer and "
    "sentence of T tokens T² of the causal mask; the loss's gradients. Left out: what lives for a moment"
)


def training_bytes(model: Transformer, sentences: int, src_len: int, tgt_len: int) -> int:
    """Bytes that a training step in float32 holds when its forward is done: see `FORMULA`.

    Args:
        model: One that `formula_holds` for.
        sentences: Of the batch.
        src_len: Source positions of each.
        tgt_len: Target positions of each.
    """
    src, tgt = sentences * src_len, sentences * tgt_len
    width = model.output.in_features
    numbers = (src + tgt) * width * (model.src_embedding.dropout > 0)
    for encoder in cast("Iterable[EncoderLayer]", model.encoder_layers):
        numbers += src * (_attention_query(encoder.self_attention) + _attention_key(encoder.self_attention))
        numbers += src * (_feed_forward(encoder.feed_forward) + _residual(encoder, 2, width))
    for decoder in cast("Iterable[DecoderLayer]", model.decoder_layers):
        cross = cast(Attention, decoder.cross_attention)
        numbers += tgt * (_attention_query(decoder.self_attention) + _attention_key(decoder.self_attention))
        numbers += tgt * _attention_query(cross) + src * _attention_key(cross)
        numbers += tgt * (_feed_forward(decoder.feed_forward) + _residual(decoder, 3, width) + tgt_len)
    if isinstance(model.encoder_norm, nn.Identity):
        numbers += src * width  # the memory
    else:
        numbers += 2 * src * width + tgt * width  # and the inputs of both last norms
    numbers += tgt * width + model.output.weight.numel()  # the loss
    return 16 * sum(p.numel() for p in model.parameters()) + 4 * numbers


def formula_holds(model: Transformer, precision: str) -> bool:
    """Whether `training_bytes` knows it: multi-head attention that keeps no weights, LayerNorm, float32; not rotary."""
    attentions = [module for module in model.modules() if isinstance(module, Attention)]
    return (
        precision == "32"
        and all(attention.num_kv_heads == attention.num_heads and not attention.dropout for attention in attentions)
        and all(part is None for a in attentions for part in (a.kv_up, a.mix_scores, a.rotary))
        and not any(isinstance(module, nn.RMSNorm) for module in model.modules())
    )


def _attention_query(attention: Attention) -> int:
    return 2 * sum(attention.q_parts)  # queries, weighted sum


def _attention_key(attention: Attention) -> int:
    return sum(attention.kv_parts)


def _feed_forward(feed_forward: FeedForward) -> int:
    dropped = feed_forward.dropout > 0
    activation = {"relu": 1, "gelu": 1, "swiglu": 3}[feed_forward.activation]  # swiglu: gate, value, activated gate
    outer = feed_forward.activation != "relu" or dropped  # relu needs its output, which is the outer map's input
    return feed_forward.outer.in_features * (activation + outer + dropped)


def _residual(layer: EncoderLayer | DecoderLayer, sublayers: int, width: int) -> int:
    return sublayers * width * (2 + (layer.dropout > 0))  # norm's input, its output, mask
