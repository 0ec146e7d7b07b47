"""The layers of the Transformer: feed-forward, an encoder layer and a decoder layer, built from `ModelConfig`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import torch.nn.functional as F
from torch import Tensor, nn

from translate.model.attention import Attention
from translate.model.cache import KVCache, MemoryCache
from translate.model.dropout import apply_dropout

if TYPE_CHECKING:
    from translate.config.model import ModelConfig


_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "swish": F.silu,
    "swiglu": F.silu,
}


class FeedForward(nn.Module):
    """Two linear maps with an activation between them; SwiGLU gates the activation by a third.

    Args:
        d_model: Width M of inputs and outputs.
        d_ff: Inner width.
        activation: "relu", "gelu", "swish" or "swiglu".
        bias: Whether the linear maps have one.
        dropout: Share of inner activations zeroed in training.

    Raises:
        ValueError: If the activation is unknown.

    Source: Vaswani et al. 2017 (arXiv:1706.03762), section 3.3; SwiGLU: Shazeer 2020 (arXiv:2002.05202).
    """

    def __init__(self, d_model: int, d_ff: int, *, activation: str, bias: bool, dropout: float) -> None:
        super().__init__()
        if activation not in _ACTIVATIONS:
            raise ValueError(f"activation ({activation}) must be one of {', '.join(_ACTIVATIONS)}")
        self.activation, self.dropout = activation, dropout
        self.inner = nn.Linear(d_model, 2 * d_ff if activation == "swiglu" else d_ff, bias=bias)
        self.outer = nn.Linear(d_ff, d_model, bias=bias)
        for linear in (self.inner, self.outer):
            nn.init.xavier_uniform_(linear.weight)
            if linear.bias is not None:
                nn.init.zeros_(linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Map each position of x [B, T, M] by itself."""
        inner = self.inner(x)  # [B, T, d_ff], or twice as wide for SwiGLU
        activate = _ACTIVATIONS[self.activation]
        if self.activation == "swiglu":
            gate, value = inner.chunk(2, dim=-1)
            inner = activate(gate) * value  # [B, T, d_ff]
        else:
            inner = activate(inner)
        return self.outer(apply_dropout(inner, self.dropout, self.training))  # type: ignore[no-any-return]


def make_norm(config: ModelConfig) -> nn.Module:
    """Make a norm over the last dimension: "layernorm", or "rmsnorm" (Zhang and Sennrich 2019, arXiv:1910.07467)."""
    if config.norm == "layernorm":
        return nn.LayerNorm(config.d_model, eps=config.norm_epsilon)
    return nn.RMSNorm(config.d_model, eps=config.norm_epsilon)


def make_attention(config: ModelConfig, kind: str, *, cross: bool = False) -> Attention:
    """Make an attention of a kind that `model.attention` may name; cross-attention takes no rotary positions."""
    return Attention(
        config.d_model,
        config.num_heads,
        num_kv_heads=None if kind == "mla" else config.kv_heads(kind),
        head_dim=config.head_dim,
        kv_latent_dim=(config.kv_latent_dim or config.d_model // 2) if kind == "mla" else None,
        talking_heads=kind == "talking_heads",
        bias=config.bias,
        dropout=config.attention_dropout,
        rotary=config.positions == "rotary" and not cross,
    )


def make_feed_forward(config: ModelConfig) -> FeedForward:
    """Make a feed-forward layer."""
    return FeedForward(
        config.d_model, config.d_ff, activation=config.activation, bias=config.bias, dropout=config.activation_dropout
    )


class _Layer(nn.Module):
    """The residual connection that encoder and decoder layers have around each sub-layer."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm_first, self.dropout = config.norm_first, config.dropout

    def residual(self, x: Tensor, norm: nn.Module, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Add a sub-layer's output to its input x [B, T, M], with the norm before the sub-layer or after the sum."""
        out = apply_dropout(sublayer(norm(x) if self.norm_first else x), self.dropout, self.training)
        return x + out if self.norm_first else norm(x + out)


class EncoderLayer(_Layer):
    """Self-attention, then feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        encoder_attention, _, _ = config.attention_kinds
        super().__init__(config)
        self.self_attention = make_attention(config, encoder_attention)
        self.feed_forward = make_feed_forward(config)
        self.self_norm, self.ff_norm = (make_norm(config) for _ in range(2))

    def forward(self, x: Tensor, attn_mask: Tensor | None) -> Tensor:
        """Map x [B, S, M]; `attn_mask` as in `Attention`."""
        x = self.residual(x, self.self_norm, lambda y: self.self_attention(y, attn_mask=attn_mask))
        return self.residual(x, self.ff_norm, self.feed_forward)


class DecoderLayer(_Layer):
    """Self-attention over the target so far, cross-attention to the source, then feed-forward.

    Args:
        config: Settings of the network.
        cross: Whether the layer has cross-attention; those of a decoder-only language model have none.
    """

    def __init__(self, config: ModelConfig, *, cross: bool = True) -> None:
        _, decoder_attention, cross_attention = config.attention_kinds
        super().__init__(config)
        self.self_attention = make_attention(config, decoder_attention)
        self.cross_attention = make_attention(config, cross_attention, cross=True) if cross else None
        self.feed_forward = make_feed_forward(config)
        self.self_norm, self.ff_norm = (make_norm(config) for _ in range(2))
        self.cross_norm = make_norm(config) if cross else None

    def forward(
        self,
        x: Tensor,
        attn_mask: Tensor | None,
        memory: Tensor | MemoryCache | None = None,
        memory_mask: Tensor | None = None,
        *,
        cache: KVCache | None = None,
    ) -> Tensor:
        """Map whole targets, or with a `cache` their newest tokens.

        Args:
            x: [B, T, M]; with a `cache` and N hypotheses of each sentence [B * N, 1, M].
            attn_mask: Which tokens of the target each may attend to; as in `Attention`.
            memory: The encoder's output [B, S, M], or what `Attention.project_memory` made of it.
            memory_mask: Which source tokens may be attended to, [B, 1, 1, S] bool.
            cache: Keys and values of the target so far; the new ones are appended.

        Raises:
            ValueError: If there is a memory without cross-attention, or cross-attention without a memory.
        """
        if (memory is None) != (self.cross_attention is None):
            raise ValueError("a decoder layer takes a memory exactly if it has cross-attention")
        x = self.residual(x, self.self_norm, lambda y: self.self_attention(y, attn_mask=attn_mask, cache=cache))
        if self.cross_attention is not None and self.cross_norm is not None:
            cached = isinstance(memory, MemoryCache)
            source: dict[str, Any] = {"cache" if cached else "memory": memory, "attn_mask": memory_mask}
            x = self.residual(x, self.cross_norm, partial(self.cross_attention, **source))
        return self.residual(x, self.ff_norm, self.feed_forward)
