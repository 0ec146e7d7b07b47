"""Attention: two cores that compute it (fused is fast, explicit shows its weights) and the one class around them."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from translate import kernels
from translate.model.cache import KVCache, MemoryCache
from translate.model.dropout import apply_dropout
from translate.model.int8 import linear_rows
from translate.model.positions import RotaryPositions

_SHORT_ROW = 16  # scores, from which torch's softmax is vectorized
_FEW_QUERIES = 16  # up to which the kernel in C is faster than torch's


def fused_attention(
    q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None, dropout: float = 0.0, *, scale: float | None = None
) -> Tensor:
    """Compute softmax(q kᵀ * scale, masked) v in one kernel that never builds the weights.

    Keys and values of grouped heads are never repeated: query heads that share a key head become more queries of it.
    Where the mask differs from query to query it would have to be repeated for them, so on a CPU, whose kernel takes
    groups as they are, the kernel does the grouping.

    Args:
        q: [B, H, Q, D].
        k: [B, G, K, D]; query head h reads key head h // R.
        v: [B, G, K, E]; the width E is D, or that of a latent.
        attn_mask: Bool, broadcastable to [B, H, Q, K], or None.
        dropout: Share of weights zeroed, at least 0 and below 1.
        scale: Factor of the scores; None means 1 / √D.

    Returns:
        [B, H, Q, E]; zeros where a query may attend to nothing.
    """
    batch, heads, queries, head_dim = q.shape
    groups = k.size(1)
    if groups == heads:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask, dropout_p=dropout, scale=scale)
    if attn_mask is not None and _per_query(attn_mask):
        if q.device.type == "cpu":
            return F.scaled_dot_product_attention(
                q, k, v, attn_mask=attn_mask, dropout_p=dropout, scale=scale, enable_gqa=True
            )
        attn_mask = _group_mask(attn_mask, heads, groups, queries)
    grouped = q.reshape(batch, groups, -1, head_dim)  # [B, G, R * Q, D]
    out = F.scaled_dot_product_attention(grouped, k, v, attn_mask=attn_mask, dropout_p=dropout, scale=scale)
    return out.reshape(batch, heads, queries, -1)  # [B, G, R * Q, E] -> [B, H, Q, E]


def explicit_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    attn_mask: Tensor | None,
    dropout: float = 0.0,
    *,
    scale: float | None = None,
    mixes: tuple[Tensor, Tensor] | None = None,
) -> tuple[Tensor, Tensor]:
    """Compute softmax(q kᵀ * scale, masked) v in plain steps, with the weights in between.

    The queries are scaled, not the scores: in float16, scores overflow above 65,504. The softmax is in float32 or more.

    Args:
        q: [B, H, Q, D].
        k: [B, G, K, D].
        v: [B, G, K, E].
        attn_mask: Bool, broadcastable to [B, H, Q, K], or None; with `mixes` the same for all heads.
        dropout: Share of weights zeroed, at least 0 and below 1.
        scale: Factor of the scores; None means 1 / √D.
        mixes: Two matrices [H, H] of talking heads: row h says how much of each head's scores, and later of each
            head's weights, head h takes. The mask stands between them.

    Returns:
        Heads [B, H, Q, E] and weights [B, H, Q, K]. The weights of a row sum to 1, or to 0 where it may attend to
        nothing; after talking heads to whatever the mixing gives.
    """
    batch, heads, queries, head_dim = q.shape
    q = q * (head_dim**-0.5 if scale is None else scale)
    grouped = q.reshape(batch, k.size(1), -1, head_dim)  # [B, G, R * Q, D]
    scores = (grouped @ k.transpose(-2, -1)).view(batch, heads, queries, -1)  # [B, H, Q, K]
    if mixes is not None:
        scores = torch.einsum("bhqk,gh->bgqk", scores, mixes[0])
    if attn_mask is None:
        weights = _softmax(scores)
    else:
        blocked = ~attn_mask
        weights = _softmax(scores.masked_fill(blocked, torch.finfo(scores.dtype).min))
        weights = weights.masked_fill(blocked, 0.0)  # changes only rows that may attend to nothing
    if mixes is not None:
        weights = torch.einsum("bhqk,gh->bgqk", weights, mixes[1].to(weights.dtype))
    kept = apply_dropout(weights, dropout, training=True).reshape(batch, k.size(1), -1, k.size(2))  # [B, G, R * Q, K]
    return (kept.to(v.dtype) @ v).view(batch, heads, queries, -1), weights  # [B, H, Q, E], [B, H, Q, K]


def _softmax(scores: Tensor) -> Tensor:
    """Return the softmax over the last dimension, in float32 or more.

    On a CPU torch takes rows of fewer than 16 scores one by one, and in bfloat16 longer ones too: six times the time.
    """
    dtype = torch.promote_types(scores.dtype, torch.float32)
    whole = torch.compiler.is_compiling() or scores.device.type != "cpu"  # an exported graph has rows of any length
    if whole or scores.size(-1) >= _SHORT_ROW:
        return scores.softmax(dim=-1, dtype=dtype)
    scores = scores.to(dtype)
    powers = (scores - scores.detach().amax(dim=-1, keepdim=True)).exp()
    return powers / powers.sum(dim=-1, keepdim=True)


def keep_cudnn_out() -> None:
    """Let torch attend on GPUs by its own kernels, which take any shape.

    Its default on an H100, cuDNN's, plans anew for every shape, and hardly two batches or steps of a search have the
    same: 145 ms for each new one, forward and backward, instead of 0.6 (torch 2.11, a mask of padding, 200 sentences of
    20 to 60 tokens, 5 heads of width 64 in bfloat16).
    """
    torch.backends.cuda.enable_cudnn_sdp(False)


def explicit_is_faster(q: Tensor, dropout: float) -> bool:
    """Return whether training on a CPU is faster through the explicit core.

    It is so with dropout of weights, for which torch's kernel builds the weights as well and draws a slower mask, and
    for short sequences in bfloat16, where the backward pass of that kernel is far slower than plain matrix products.
    """
    return q.device.type == "cpu" and (dropout > 0 or (q.dtype == torch.bfloat16 and q.size(2) <= 128))


def runs_in_c(q: Tensor, v: Tensor, attn_mask: Tensor | None) -> bool:
    """Return whether the kernel can take queries [B, H, Q, D], values [B, G, K, E] and a mask, faster than torch.

    That is for a few queries, without gradients, on a CPU, with one mask for all heads.
    """
    return (
        q.size(2) <= _FEW_QUERIES
        and q.size(3) % kernels.LANES == v.size(3) % kernels.LANES == 0
        and q.dtype == v.dtype == torch.float32
        and q.device.type == v.device.type == "cpu"
        and (attn_mask is None or attn_mask.dim() < 3 or attn_mask.size(-3) == 1)
        and not torch.is_grad_enabled()
        and not torch.compiler.is_compiling()
        and kernels.library() is not None
    )


def _per_query(attn_mask: Tensor) -> bool:
    """Return whether a mask differs between the queries or the heads of a sentence."""
    return any(size > 1 for size in attn_mask.shape[-3:-1])


def _group_mask(attn_mask: Tensor, heads: int, groups: int, queries: int) -> Tensor:
    """Reshape a mask for [B, H, Q, K] into one for [B, G, R * Q, K], without touching K."""
    attn_mask = attn_mask[(None,) * (4 - attn_mask.dim())]
    batch, _, _, keys = attn_mask.shape
    per_head = attn_mask.size(1) == heads
    mask = attn_mask.expand(batch, heads if per_head else heads // groups, queries, keys)
    return mask.reshape(batch, groups if per_head else 1, -1, keys)


class Attention(nn.Module):
    r"""Multi-head attention and its relatives: self-attention, cached self-attention and cross-attention in one class.

    `num_kv_heads` G below `num_heads` H makes it grouped-query attention (G = 1: multi-query): R = H // G query heads
    read the same keys and values.

        G = H, multi-head     1 < G < H, grouped     G = 1, multi-query
        q  q  q  q            q  q  q  q             q  q  q  q
        |  |  |  |             \/    \/               \  \/  /
        kv kv kv kv            kv    kv                  kv

    `kv_latent_dim` L makes it multi-head latent attention: each token is cached as one latent of L numbers, from which
    the keys and values of all heads are computed. Training expands them. With a cache nothing is expanded: the key's
    up-projection moves to the query and the value's behind the weighted sum, so that all heads read the latents
    themselves, as in multi-query attention with one head of width L. The up-projections have no bias: the key's would
    cancel in the softmax, and the value's is part of the output's.

    `talking_heads` lets the heads mix: their scores before the softmax and their weights after it, by a learned [H, H]
    matrix each, which start as the identity.

    Args:
        d_model: Width M of inputs and outputs.
        num_heads: Query heads H.
        num_kv_heads: Key and value heads G, a divisor of H; None means H.
        head_dim: Width D of a head; None means M // H.
        kv_latent_dim: Width L of the latent; None means keys and values are projected directly.
        talking_heads: Whether heads mix; always through the explicit core, which builds the weights.
        bias: Whether the projections of x, of the memory and of the output have one.
        dropout: Share of attention weights zeroed in training, at least 0 and below 1.
        rotary: Whether queries and keys are rotated by their positions, for self-attention alone. A latent is not
            rotated; beside it there is a rotary key of width D // 2, which the heads share.

    Raises:
        ValueError: If the widths or head counts do not divide or exclude each other, or `dropout` is not
            in [0, 1).

    Source: Vaswani et al. 2017 (arXiv:1706.03762), section 3.2; Shazeer 2019 (arXiv:1911.02150); Ainslie et al. 2023
    (arXiv:2305.13245); latent attention and its decoupled rotary key: DeepSeek-V2 (arXiv:2405.04434), section 2.1,
    without its compressed queries; talking heads: Shazeer et al. 2020 (arXiv:2003.02436).
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        num_kv_heads: int | None = None,
        head_dim: int | None = None,
        kv_latent_dim: int | None = None,
        talking_heads: bool = False,
        bias: bool = True,
        dropout: float = 0.0,
        rotary: bool = False,
    ) -> None:
        super().__init__()
        _check_sizes(d_model, num_heads, num_kv_heads, head_dim, kv_latent_dim, dropout)
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads or num_heads
        self.head_dim = head_dim or d_model // num_heads
        self.kv_latent_dim, self.dropout = kv_latent_dim, dropout
        latent = kv_latent_dim is not None
        self.rotary = RotaryPositions(self.head_dim // 2 if latent else self.head_dim) if rotary else None
        self.rotary_dim = self.head_dim // 2 if rotary and latent else 0  # of the key beside a latent
        heads_dim = num_heads * self.head_dim
        kv_parts = [self.num_kv_heads * self.head_dim] * 2 if kv_latent_dim is None else [kv_latent_dim]
        self.q_parts = [heads_dim, num_heads * self.rotary_dim] if self.rotary_dim else [heads_dim]
        self.kv_parts = [*kv_parts, self.rotary_dim] if self.rotary_dim else kv_parts
        self.qkv = nn.Linear(d_model, sum(self.q_parts + self.kv_parts), bias=bias)  # rows: q, then k and v, or latent
        self.kv_up = None if kv_latent_dim is None else nn.Linear(kv_latent_dim, 2 * heads_dim, bias=False)
        self.mix_scores = nn.Parameter(torch.empty(num_heads, num_heads)) if talking_heads else None
        self.mix_weights = nn.Parameter(torch.empty(num_heads, num_heads)) if talking_heads else None
        self.out = nn.Linear(heads_dim, d_model, bias=bias)
        self.recorded: list[Tensor] | None = None  # a list makes forward use the explicit core and append its weights
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize each projection Xavier-uniformly by its shape, biases with zeros and mixes with the identity."""
        projections = [*torch.split(self.qkv.weight, self.q_parts + self.kv_parts), self.out.weight]
        if self.kv_up is not None:
            projections += self.kv_up.weight.chunk(2)
        for weight in projections:
            nn.init.xavier_uniform_(weight)
        for linear in (self.qkv, self.out):
            if linear.bias is not None:
                nn.init.zeros_(linear.bias)
        for mix in (self.mix_scores, self.mix_weights):
            if mix is not None:
                nn.init.eye_(mix)

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
            cache: `KVCache` (self-attention; x are the newest tokens, K counts the cached ones too; with N hypotheses
                of a sentence x is [B * N, 1, M] and the mask [B, 1, N, K] says which entries each may attend to) or
                `MemoryCache` from `project_memory` (cross-attention; if N > 1, the mask is one for all queries,
                [B, 1, 1, K]).

        Returns:
            [B, Q, M], or [B * N, Q, M] as x.

        Raises:
            ValueError: If `memory` and `cache` are both given, if the mask is not bool, for cross-attention with
                rotary positions, for hypotheses that do not divide among the sentences of a `MemoryCache` or have
                different masks, or for talking heads whose mask differs from head to head.
        """
        if memory is not None and cache is not None:
            raise ValueError("give attention a memory or a cache, not both; project_memory(memory) makes the cache")
        self._check_mask(attn_mask)
        if memory is not None:
            kv, q = self._project_kv(memory), self._project_query(x, x.size(0))
        elif isinstance(cache, MemoryCache):
            _check_hypotheses(x, cache, attn_mask)
            q, kv = self._project_query(x, cache.kv.size(0)), cache.kv
        else:
            q, kv = self._project_self(x, cache)
        if self.kv_up is None:
            k, v = kv.unbind(1)  # each [B, G, K, D]
            heads = self._attend(q, k, v, attn_mask, stepping=cache is not None)
        elif cache is None:
            k, v = self._expand_latent(kv)
            heads = self._attend(q, k, v, attn_mask)
        else:
            heads = self._attend_latent(q, kv, attn_mask)
        heads = heads.transpose(1, 2).reshape(*x.shape[:2], -1)  # [B, H, N * Q, D] -> [B * N, Q, H * D]
        return self.out(heads)  # type: ignore[no-any-return]

    def project_memory(self, memory: Tensor) -> MemoryCache:
        """Project a memory [B, K, M] to all that later queries need of it, in one matrix product."""
        return MemoryCache(self._project_kv(memory))

    def _project_kv(self, memory: Tensor) -> Tensor:
        if self.rotary is not None:
            raise ValueError("cross-attention takes no rotary positions: source and target have no common distance")
        return self._split_kv(linear_rows(self.qkv, memory, slice(sum(self.q_parts), None)))

    def _project_query(self, x: Tensor, num_sentences: int) -> Tensor:
        (q_dim,) = self.q_parts
        q = linear_rows(self.qkv, x, slice(q_dim))
        return self._split_heads(q.view(num_sentences, -1, q_dim))  # [B, H, N * Q, D]: hypotheses are more queries

    def _project_self(self, x: Tensor, cache: KVCache | None) -> tuple[Tensor, Tensor]:
        """Project x to queries [B, H, Q, D] and, as `_split_kv` gives them, keys and values of all tokens so far.

        The hypotheses of a sentence become more queries of it.
        """
        *queries, kv = torch.split(self.qkv(x), [*self.q_parts, sum(self.kv_parts)], dim=-1)
        parts = [self._split_heads(part) for part in queries]  # [B, H, Q, D], and [B, H, Q, rotary_dim] with a latent
        kv = self._split_kv(kv)
        if self.rotary is not None:
            offset = cache.length if cache is not None else 0
            parts[-1] = self.rotary(parts[-1], offset)
            kv = self._rotate_keys(kv, self.rotary, offset)
        q = torch.cat(parts, dim=-1) if parts[1:] else parts[0]
        if cache is None:
            return q, kv
        if cache.hypotheses > 1:  # [B * N, H, 1, D] -> [B, H, N, D]
            q = q.squeeze(2).view(-1, cache.hypotheses, *q.shape[1::2]).transpose(1, 2)
        return q, cache.append(kv)

    def _rotate_keys(self, kv: Tensor, rotary: RotaryPositions, offset: int) -> Tensor:
        if self.kv_latent_dim is None:
            k, v = kv.unbind(1)
            return torch.stack((rotary(k, offset), v), dim=1)
        latent, k = torch.split(kv, self.kv_parts, dim=-1)
        return torch.cat((latent, rotary(k, offset)), dim=-1)

    def _split_heads(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], self.num_heads, -1).transpose(1, 2)  # [B, Q, H * D] -> [B, H, Q, D]

    def _split_kv(self, kv: Tensor) -> Tensor:
        """Split into keys and values [B, 2, G, K, D], or into latents with rotary keys [B, 1, K, L + rotary_dim]."""
        if self.kv_latent_dim is not None:
            return kv[:, None]
        return kv.view(*kv.shape[:2], 2, self.num_kv_heads, self.head_dim).permute(0, 2, 3, 1, 4)

    def _expand_latent(self, kv: Tensor) -> tuple[Tensor, Tensor]:
        """Expand latents to keys [B, H, K, D + rotary_dim] and values [B, H, K, D] of each head."""
        assert self.kv_up is not None
        latent, *rotary = torch.split(kv, self.kv_parts, dim=-1)  # [B, 1, K, L], [B, 1, K, rotary_dim]
        k, v = (self._split_heads(part) for part in self.kv_up(latent[:, 0]).chunk(2, dim=-1))  # each [B, H, K, D]
        return torch.cat((k, rotary[0].expand(-1, self.num_heads, -1, -1)), dim=-1) if rotary else k, v

    def _attend_latent(self, q: Tensor, kv: Tensor, attn_mask: Tensor | None) -> Tensor:
        """Attend to the latents as they lie in the cache; the same as with expanded keys and values."""
        assert self.kv_up is not None
        assert self.kv_latent_dim is not None
        k_up, v_up = self.kv_up.weight.view(2, self.num_heads, self.head_dim, -1)  # each [H, D, L]
        content, rotary = torch.split(q, [self.head_dim, self.rotary_dim], dim=-1)
        q = torch.cat((torch.einsum("bhqd,hdl->bhql", content, k_up), rotary), dim=-1)  # [B, H, Q, L + rotary_dim]
        heads = self._attend(q, kv, kv[..., : self.kv_latent_dim], attn_mask, stepping=True)  # [B, H, Q, L]
        return torch.einsum("bhql,hdl->bhqd", heads, v_up)

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None, *, stepping: bool = False) -> Tensor:
        """Attend with heads [B, H, Q, D] by the fastest core; `stepping` says that there is a cache and Q is small."""
        dropout = self.dropout if self.training else 0.0
        scale = (self.head_dim + self.rotary_dim) ** -0.5
        mixes = None if self.mix_scores is None or self.mix_weights is None else (self.mix_scores, self.mix_weights)
        if mixes is None and self.recorded is None:
            if stepping and not dropout and runs_in_c(q, v, attn_mask):
                mask = None if attn_mask is None else attn_mask.numpy()
                return torch.from_numpy(kernels.attend(q.numpy(), k.numpy(), v.numpy(), mask, scale))
            if not (q.requires_grad and explicit_is_faster(q, dropout)):
                return fused_attention(q, k, v, attn_mask, dropout, scale=scale)
        heads, weights = explicit_attention(q, k, v, attn_mask, dropout, scale=scale, mixes=mixes)
        if self.recorded is not None:
            self.recorded.append(weights)
        return heads

    def _check_mask(self, attn_mask: Tensor | None) -> None:
        if attn_mask is None:
            return
        if attn_mask.dtype != torch.bool:
            raise ValueError(f"attn_mask must be bool with True = may attend, not {attn_mask.dtype}")
        if self.mix_scores is not None and attn_mask.dim() > 2 and attn_mask.size(-3) > 1:
            raise ValueError(
                f"talking heads need one attn_mask for all heads, [B, 1, Q, K], not {list(attn_mask.shape)}: "
                "mixing would carry what one head may see to the others"
            )


def _check_hypotheses(x: Tensor, cache: MemoryCache, attn_mask: Tensor | None) -> None:
    rows, sentences = x.size(0), cache.kv.size(0)
    if sentences and rows % sentences:
        raise ValueError(f"{rows} rows of x do not divide among the {sentences} sentences of the memory's cache")
    if attn_mask is not None and rows > sentences and _per_query(attn_mask):
        raise ValueError(
            f"hypotheses that share a memory share its mask, [B, 1, 1, K]; they cannot have {list(attn_mask.shape)}"
        )


def _check_sizes(
    d_model: int,
    num_heads: int,
    num_kv_heads: int | None,
    head_dim: int | None,
    kv_latent_dim: int | None,
    dropout: float,
) -> None:
    names = "num_heads", "num_kv_heads", "head_dim", "kv_latent_dim"
    for name, count in zip(names, (num_heads, num_kv_heads, head_dim, kv_latent_dim), strict=True):
        if count is not None and count < 1:
            raise ValueError(f"{name} ({count}) must be at least 1")
    if head_dim is None and d_model % num_heads:
        raise ValueError(
            f"d_model ({d_model}) must be divisible by num_heads ({num_heads}); set head_dim to choose another width"
        )
    if num_kv_heads is not None and num_heads % num_kv_heads:
        raise ValueError(f"num_kv_heads ({num_kv_heads}) must divide num_heads ({num_heads})")
    if num_kv_heads is not None and kv_latent_dim is not None:
        raise ValueError(
            f"num_kv_heads ({num_kv_heads}) and kv_latent_dim ({kv_latent_dim}) exclude each other: from a latent "
            "every head has its own keys and values; set one of them"
        )
    if not 0.0 <= dropout < 1.0:
        raise ValueError(f"dropout ({dropout}) must be at least 0 and below 1")
