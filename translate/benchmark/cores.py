"""Which core computes each kind of attention in training: ours, or which of torch's kernels."""

from collections.abc import Iterator
from typing import cast

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend

from translate.model.attention import Attention, explicit_is_faster
from translate.model.layers import DecoderLayer, EncoderLayer
from translate.model.masks import causal_attn_mask, source_attn_mask
from translate.model.transformer import Transformer


def attention_cores(model: Transformer, device: torch.device, dtype: torch.dtype, length: int = 32) -> dict[str, str]:
    """Return the core that training takes for each mask case of the model.

    Args:
        model: Its first layers are looked at.
        device: Where it trains.
        dtype: Of its matmuls.
        length: Of both sides, in tokens.

    >>> from translate.config.model import ModelConfig
    >>> from translate.model.transformer import build_model
    >>> attention_cores(build_model(ModelConfig(), 10, 10), torch.device("cpu"), torch.float32)["cross-attention"]
    'SDPA flash_attention'
    """
    mask = torch.ones(2, length, dtype=torch.bool, device=device)
    mask[1, length // 2 :] = False
    return {
        name: _core(attention, attn_mask, device, dtype, length) for name, attention, attn_mask in _cases(model, mask)
    }


def _cases(model: Transformer, mask: Tensor) -> Iterator[tuple[str, Attention, Tensor]]:
    encoder, decoder = cast(EncoderLayer, model.encoder_layers[0]), cast(DecoderLayer, model.decoder_layers[0])
    yield "encoder self-attention (padding mask)", encoder.self_attention, source_attn_mask(mask)
    yield "decoder self-attention (causal and padding mask)", decoder.self_attention, causal_attn_mask(mask)
    yield "cross-attention", cast(Attention, decoder.cross_attention), source_attn_mask(mask)


def _core(attention: Attention, attn_mask: Tensor, device: torch.device, dtype: torch.dtype, length: int) -> str:
    width = attention.head_dim + attention.rotary_dim
    q, k = (
        torch.zeros(2, heads, length, width, device=device, dtype=dtype, requires_grad=True)
        for heads in (attention.num_heads, attention.num_kv_heads)
    )
    v = k[..., : attention.head_dim]
    if attention.mix_scores is not None or explicit_is_faster(q, attention.dropout):
        return "ours, explicit"
    choice = torch._fused_sdp_choice(
        q, k, v, attn_mask=attn_mask, dropout_p=attention.dropout, enable_gqa=k.size(1) < q.size(1)
    )
    return f"SDPA {SDPBackend(choice).name.lower()}"
