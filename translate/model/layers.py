"""Feed-forward and the two layers of the Transformer, with the norm before or after each sub-layer."""

from collections.abc import Callable
from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor, nn

from translate.model.attention import Attention
from translate.model.cache import KVCache, MemoryCache
from translate.model.dropout import apply_dropout
from translate.model.positions import RotaryPositions

ATTENTION_KINDS = ("mha", "gqa", "mqa", "mla", "talking_heads")


@dataclass(frozen=True)
class LayerSpec:
    """Settings of every layer of a stack; fields as in `translate.config.model.ModelConfig`.

    `num_kv_heads` counts for attention of kind "gqa" alone and is H // 2 unless set; `kv_latent_dim` for "mla" alone,
    M // 2 unless set, with a rotary key of half a head's width where positions are rotary.
    """

    d_model: int
    d_ff: int
    num_heads: int
    num_kv_heads: int | None
    head_dim: int | None
    kv_latent_dim: int | None
    encoder_attention: str
    decoder_attention: str
    cross_attention: str
    norm_first: bool
    norm: str
    activation: str
    rotary: bool
    bias: bool
    dropout: float
    attention_dropout: float
    activation_dropout: float
    layer_drop: float

    def self_attention(self, kind: str) -> Attention:
        """Make a self-attention of one of `ATTENTION_KINDS`."""
        head_dim = self.head_dim or self.d_model // self.num_heads
        if not self.rotary:
            return self._attention(kind, None)
        return self._attention(kind, RotaryPositions(head_dim // 2 if kind == "mla" else head_dim))

    def make_cross_attention(self) -> Attention:
        """Make a cross-attention, which knows no positions."""
        return self._attention(self.cross_attention, None)

    def _attention(self, kind: str, rotary: RotaryPositions | None) -> Attention:
        if kind not in ATTENTION_KINDS:
            raise ValueError(f"attention ({kind}) must be one of {', '.join(ATTENTION_KINDS)}")
        grouped = self.num_kv_heads or max(1, self.num_heads // 2)
        return Attention(
            self.d_model,
            self.num_heads,
            num_kv_heads={"gqa": grouped, "mqa": 1}.get(kind),
            head_dim=self.head_dim,
            kv_latent_dim=(self.kv_latent_dim or self.d_model // 2) if kind == "mla" else None,
            talking_heads=kind == "talking_heads",
            bias=self.bias,
            dropout=self.attention_dropout,
            rotary=rotary,
        )

    def feed_forward(self) -> "FeedForward":
        """Make a feed-forward layer of this shape."""
        return FeedForward(
            self.d_model, self.d_ff, activation=self.activation, bias=self.bias, dropout=self.activation_dropout
        )

    def make_norm(self) -> nn.Module:
        """Make a norm over M of the chosen kind."""
        return make_norm(self.norm, self.d_model)


class FeedForward(nn.Module):
    """Two linear maps with an activation between them; SwiGLU gates the activation by a third.

    Args:
        d_model: Width M of inputs and outputs.
        d_ff: Inner width.
        activation: "relu", "gelu" or "swiglu".
        bias: Whether the linear maps have one.
        dropout: Share of inner activations zeroed in training.

    Source: Vaswani et al. 2017, section 3.3; SwiGLU: Shazeer 2020 (arXiv:2002.05202).
    """

    def __init__(self, d_model: int, d_ff: int, *, activation: str, bias: bool, dropout: float) -> None:
        super().__init__()
        if activation not in ("relu", "gelu", "swiglu"):
            raise ValueError(f"activation ({activation}) must be one of relu, gelu, swiglu")
        self.activation = activation
        self.dropout = dropout
        self.inner = nn.Linear(d_model, 2 * d_ff if activation == "swiglu" else d_ff, bias=bias)
        self.outer = nn.Linear(d_ff, d_model, bias=bias)
        for linear in (self.inner, self.outer):
            nn.init.xavier_uniform_(linear.weight)
            if linear.bias is not None:
                nn.init.zeros_(linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Map each position of x [B, T, M] by itself."""
        inner = self.inner(x)
        if self.activation == "swiglu":
            gate, value = inner.chunk(2, dim=-1)
            inner = F.silu(gate) * value
        else:
            inner = F.relu(inner) if self.activation == "relu" else F.gelu(inner)
        return self.outer(apply_dropout(inner, self.dropout, self.training))  # type: ignore[no-any-return]


class _Residual(nn.Module):
    """Shared by both layers: x plus the sub-layer's output, the norm before (pre) or after (post) it."""

    def __init__(self, spec: LayerSpec) -> None:
        super().__init__()
        self.norm_first = spec.norm_first
        self.dropout = spec.dropout

    def residual(self, x: Tensor, norm: nn.Module, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Apply a sub-layer with its residual connection and norm to x [B, T, M]."""
        out = apply_dropout(sublayer(norm(x) if self.norm_first else x), self.dropout, self.training)
        return x + out if self.norm_first else norm(x + out)


class EncoderLayer(_Residual):
    """Self-attention, then feed-forward."""

    def __init__(self, spec: LayerSpec) -> None:
        super().__init__(spec)
        self.self_attention = spec.self_attention(spec.encoder_attention)
        self.feed_forward = spec.feed_forward()
        self.self_norm, self.ff_norm = spec.make_norm(), spec.make_norm()

    def forward(self, x: Tensor, attn_mask: Tensor | None) -> Tensor:
        """Map x [B, S, M]; `attn_mask` as in `Attention`."""
        x = self.residual(x, self.self_norm, lambda y: self.self_attention(y, attn_mask=attn_mask))
        return self.residual(x, self.ff_norm, self.feed_forward)


class DecoderLayer(_Residual):
    """Self-attention over the target so far, cross-attention to the source, then feed-forward.

    Args:
        spec: Settings of the layer.
        cross: Whether it has cross-attention; without it, it is the layer of a decoder-only language model.
    """

    def __init__(self, spec: LayerSpec, *, cross: bool = True) -> None:
        super().__init__(spec)
        self.self_attention = spec.self_attention(spec.decoder_attention)
        self.cross_attention = spec.make_cross_attention() if cross else None
        self.feed_forward = spec.feed_forward()
        self.self_norm, self.ff_norm = spec.make_norm(), spec.make_norm()
        self.cross_norm = spec.make_norm() if cross else None

    def forward(
        self,
        x: Tensor,
        attn_mask: Tensor | None,
        memory: Tensor | MemoryCache | None = None,
        memory_mask: Tensor | None = None,
        *,
        cache: KVCache | None = None,
    ) -> Tensor:
        """Map x [B, T, M], or the newest tokens [B * N, T, M] with a `cache` and a `MemoryCache`.

        Raises:
            ValueError: If there is a memory without cross-attention, or cross-attention without a memory.
        """
        x = self.residual(x, self.self_norm, lambda y: self.self_attention(y, attn_mask=attn_mask, cache=cache))
        if (memory is None) != (self.cross_attention is None):
            raise ValueError("a decoder layer takes a memory exactly if it has cross-attention")
        if self.cross_attention is not None and self.cross_norm is not None:
            x = self.residual(x, self.cross_norm, lambda y: self._cross(y, memory, memory_mask))
        return self.residual(x, self.ff_norm, self.feed_forward)

    def _cross(self, x: Tensor, memory: Tensor | MemoryCache | None, memory_mask: Tensor | None) -> Tensor:
        assert self.cross_attention is not None
        if isinstance(memory, MemoryCache):
            return self.cross_attention(x, attn_mask=memory_mask, cache=memory)  # type: ignore[no-any-return]
        return self.cross_attention(x, memory, attn_mask=memory_mask)  # type: ignore[no-any-return]


def make_norm(kind: str, d_model: int) -> nn.Module:
    """Make a LayerNorm, or an RMSNorm (Zhang and Sennrich 2019, arXiv:1910.07467), over the last dimension."""
    if kind == "layernorm":
        return nn.LayerNorm(d_model)
    if kind == "rmsnorm":
        return nn.RMSNorm(d_model, eps=1e-6)
    raise ValueError(f"norm ({kind}) must be one of layernorm, rmsnorm")
