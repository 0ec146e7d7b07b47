"""The one attention of the project, and its two cores: fused (fast) and explicit (shows its weights)."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from translate.model.cache import KVCache, MemoryCache
from translate.model.positions import RotaryPositions


class Attention(nn.Module):
    """Multi-head attention: self-attention, cached self-attention and cross-attention from one class.

    `num_kv_heads` G below `num_heads` H makes it grouped-query attention (G = 1: multi-query): R = H // G query heads
    read the same keys and values.

        G = H, multi-head     1 < G < H, grouped     G = 1, multi-query
        q  q  q  q            q  q  q  q             q  q  q  q
        |  |  |  |             \\/    \\/               \\  \\/  /
        kv kv kv kv            kv    kv                  kv

    Args:
        d_model: Width M of inputs and outputs.
        num_heads: Query heads H.
        num_kv_heads: Key and value heads G, a divisor of H; None means H.
        head_dim: Width D of a head; None means M // H.
        bias: Whether the four projections have one.
        dropout: Share of attention weights zeroed in training, 0 to 1.
        rotary: Positions turned into self-attention's queries and keys; refused by cross-attention.

    Raises:
        ValueError: If the widths or head counts do not divide, or `dropout` is outside 0 to 1.

    Source: Vaswani et al. 2017 (arXiv:1706.03762), section 3.2; Shazeer 2019 (arXiv:1911.02150); Ainslie et al. 2023
    (arXiv:2305.13245).
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        num_kv_heads: int | None = None,
        head_dim: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
        rotary: RotaryPositions | None = None,
    ) -> None:
        super().__init__()
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        _check(d_model, num_heads, num_kv_heads, head_dim, dropout)
        self.num_heads, self.num_kv_heads, self.dropout = num_heads, num_kv_heads, dropout
        self.head_dim = head_dim or d_model // num_heads
        self.rotary = rotary
        q_dim, kv_dim = num_heads * self.head_dim, num_kv_heads * self.head_dim
        self.qkv_dims = [q_dim, kv_dim, kv_dim]
        self.qkv = nn.Linear(d_model, sum(self.qkv_dims), bias=bias)  # rows: q, then k, then v
        self.out = nn.Linear(q_dim, d_model, bias=bias)
        self.recorded: list[Tensor] | None = None  # a list here makes forward use the explicit core and add its weights
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Xavier-uniform for each projection by its own shape; zero biases."""
        for weight in (*torch.split(self.qkv.weight, self.qkv_dims), self.out.weight):
            nn.init.xavier_uniform_(weight)
        for linear in (self.qkv, self.out):
            if linear.bias is not None:
                nn.init.zeros_(linear.bias)

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        *,
        attn_mask: Tensor | None = None,
        cache: KVCache | MemoryCache | None = None,
    ) -> Tensor:
        """Attend from x to itself, to itself and its cached past, or to a memory.

        Args:
            x: Queries [B, Q, M]. With a `MemoryCache` of B sentences, [B * N, Q, M]: N hypotheses share a sentence.
            memory: Keys and values come from here, [B, K, M]; None means from x or from `cache`.
            attn_mask: Bool, broadcastable to [B, H, Q, K], True = may attend; None means everywhere. A query that may
                attend to nothing gets zeros before the output projection.
            cache: `KVCache` (self-attention; x are the newest tokens, K counts the cached ones too) or `MemoryCache`
                from `project_memory` (cross-attention).

        Returns:
            [B, Q, M], or [B * N, Q, M] as x.

        Raises:
            ValueError: If `memory` and `cache` are both given, if the mask is not bool, or for cross-attention with
                rotary positions.
        """
        if memory is not None and cache is not None:
            raise ValueError("give attention a memory or a cache, not both; project_memory(memory) makes the cache")
        if attn_mask is not None and attn_mask.dtype != torch.bool:
            raise ValueError(f"attn_mask must be bool with True = may attend, not {attn_mask.dtype}")
        if memory is not None:
            cache = self.project_memory(memory)
        if isinstance(cache, MemoryCache):
            q, k, v = self._project_query(x, cache.k.size(0)), cache.k, cache.v
        else:
            q, k, v = self._project_self(x, cache)
        heads = self._attend(q, k, v, attn_mask)  # [B, H, Q, D]
        return self.out(heads.transpose(1, 2).reshape(*x.shape[:2], -1))  # type: ignore[no-any-return]

    def project_memory(self, memory: Tensor) -> MemoryCache:
        """Keys and values of a memory [B, K, M], in one matmul, for any number of later queries."""
        if self.rotary is not None:
            raise ValueError("cross-attention takes no rotary positions: source and target have no common distance")
        q_dim = self.qkv_dims[0]
        bias = None if self.qkv.bias is None else self.qkv.bias[q_dim:]
        k, v = F.linear(memory, self.qkv.weight[q_dim:], bias).chunk(2, dim=-1)
        return MemoryCache(self._split_heads(k), self._split_heads(v))

    def _project_query(self, x: Tensor, num_sentences: int) -> Tensor:
        q_dim = self.qkv_dims[0]
        q = F.linear(x, self.qkv.weight[:q_dim], None if self.qkv.bias is None else self.qkv.bias[:q_dim])
        return self._split_heads(q.view(num_sentences, -1, q_dim))  # the hypotheses of a sentence are more queries

    def _project_self(self, x: Tensor, cache: KVCache | None) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = (self._split_heads(part) for part in torch.split(self.qkv(x), self.qkv_dims, dim=-1))
        if self.rotary is not None:
            offset = cache.length if cache is not None else 0
            q, k = self.rotary(q, offset), self.rotary(k, offset)
        if cache is not None:
            k, v = cache.append(k, v)
        return q, k, v

    def _split_heads(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], -1, self.head_dim).transpose(1, 2)  # [B, Q, H * D] -> [B, H, Q, D]

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None) -> Tensor:
        dropout = self.dropout if self.training else 0.0
        if self.recorded is None and not (q.requires_grad and explicit_is_faster(q)):
            return fused_attention(q, k, v, attn_mask, dropout)
        heads, weights = explicit_attention(q, k, v, attn_mask, dropout)
        if self.recorded is not None:
            self.recorded.append(weights)
        return heads


def fused_attention(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None, dropout: float = 0.0) -> Tensor:
    """softmax(q kᵀ / √D, masked) v in one kernel that never builds the weights.

    Query heads that share a key head are laid out as more queries of it, so K and V are never repeated.

    Args:
        q: [B, H, Q, D].
        k: [B, G, K, D]; query head h reads key head h // R.
        v: [B, G, K, D].
        attn_mask: Bool, broadcastable to [B, H, Q, K], or None.
        dropout: Share of weights zeroed, 0 to 1.

    Returns:
        [B, H, Q, D]; zeros where a query may attend to nothing.
    """
    batch, heads, queries, head_dim = q.shape
    groups = k.size(1)
    if groups == heads:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask, dropout_p=dropout)
    grouped = q.reshape(batch, groups, -1, head_dim)  # [B, G, R * Q, D]
    if attn_mask is not None:
        attn_mask = _group_mask(attn_mask, heads, groups, queries)
    out = F.scaled_dot_product_attention(grouped, k, v, attn_mask=attn_mask, dropout_p=dropout)
    return out.reshape(batch, heads, queries, head_dim)


def explicit_attention(
    q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None, dropout: float = 0.0
) -> tuple[Tensor, Tensor]:
    """The same in plain steps; arguments as in `fused_attention`.

    Returns:
        Heads [B, H, Q, D] and weights [B, H, Q, K]; weights of a row sum to 1, or to 0 where it may attend to nothing.
    """
    batch, heads, queries, head_dim = q.shape
    grouped = q.reshape(batch, k.size(1), -1, head_dim)  # [B, G, R * Q, D]
    scores = (grouped @ k.transpose(-2, -1)).view(batch, heads, queries, -1) / math.sqrt(head_dim)
    if attn_mask is None:
        weights = scores.softmax(dim=-1)
    else:
        blocked = ~attn_mask
        weights = scores.masked_fill(blocked, torch.finfo(scores.dtype).min).softmax(dim=-1)
        weights = weights.masked_fill(blocked, 0.0)  # changes only rows that may attend to nothing
    dropped = F.dropout(weights, dropout) if dropout else weights
    return (dropped.view(batch, k.size(1), -1, k.size(2)) @ v).view(q.shape), weights


def explicit_is_faster(q: Tensor) -> bool:
    """Whether training is faster through the explicit core: in bfloat16 on a CPU, up to some length.

    There the fused kernel's backward runs far below the speed of plain matmuls.
    """
    return q.dtype == torch.bfloat16 and q.device.type == "cpu" and q.size(2) <= 128


def _group_mask(attn_mask: Tensor, heads: int, groups: int, queries: int) -> Tensor:
    """Reshape a mask for [B, H, Q, K] into one for [B, G, R * Q, K], without touching K."""
    attn_mask = attn_mask[(None,) * (4 - attn_mask.dim())]
    if attn_mask.size(1) == 1 and attn_mask.size(2) == 1:
        return attn_mask
    batch, _, _, keys = attn_mask.shape
    per_head = attn_mask.size(1) == heads
    mask = attn_mask.expand(batch, heads if per_head else heads // groups, queries, keys)
    return mask.reshape(batch, groups if per_head else 1, -1, keys)


def _check(d_model: int, num_heads: int, num_kv_heads: int, head_dim: int | None, dropout: float) -> None:
    if num_heads < 1 or num_kv_heads < 1:
        raise ValueError(f"num_heads ({num_heads}) and num_kv_heads ({num_kv_heads}) must be at least 1")
    if head_dim is None and d_model % num_heads:
        raise ValueError(
            f"d_model ({d_model}) must be divisible by num_heads ({num_heads}); set head_dim to choose another width"
        )
    if num_heads % num_kv_heads:
        raise ValueError(f"num_kv_heads ({num_kv_heads}) must divide num_heads ({num_heads})")
    if not 0.0 <= dropout < 1.0:
        raise ValueError(f"dropout ({dropout}) must be at least 0 and below 1")
