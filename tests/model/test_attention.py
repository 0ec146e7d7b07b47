"""The two cores of the one attention, and what its calls accept; its variants are in test_variants.py."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from translate.model.attention import (
    Attention,
    _group_mask,
    _per_query,
    explicit_attention,
    explicit_is_faster,
    fused_attention,
)
from translate.model.cache import KVCache
from translate.model.masks import causal_attn_mask, source_attn_mask

HEAD_COUNTS = [4, 2, 1]  # multi-head, grouped, multi-query


def make(num_kv_heads: int = 4, **options: object) -> Attention:
    torch.manual_seed(0)
    attention = Attention(16, 4, num_kv_heads=num_kv_heads, **options)  # type: ignore[arg-type]
    for parameter in attention.parameters():  # biases too
        nn.init.normal_(parameter, std=0.3)
    return attention


def random(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def mask_of(*lengths: int) -> Tensor:
    return torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]


def masks(kind: str) -> Tensor | None:
    """For B = 2 and five positions."""
    real = mask_of(5, 3)
    return {
        "none": None,
        "padding": source_attn_mask(real),
        "causal": causal_attn_mask(torch.ones(2, 5, dtype=torch.bool)),
        "both": causal_attn_mask(real),
        "empty row": source_attn_mask(mask_of(5, 0)),
    }[kind]


@pytest.mark.parametrize("kind", ["none", "padding", "causal", "both", "empty row"])
@pytest.mark.parametrize("groups", HEAD_COUNTS)
def test_cores_agree(kind: str, groups: int) -> None:
    q, k, v = random(2, 4, 5, 8), random(2, groups, 5, 8, seed=2), random(2, groups, 5, 8, seed=3)
    mask = masks(kind)
    heads, weights = explicit_attention(q, k, v, mask)
    assert_close(fused_attention(q, k, v, mask), heads, atol=1e-6, rtol=0)
    sums = torch.ones(2, 4, 5)
    if kind == "empty row":
        sums[1] = 0
    assert_close(weights.sum(-1), sums)


@pytest.mark.parametrize("keys", [1, 15, 16, 40])
def test_cores_agree_on_short_rows_of_scores_and_on_long_ones_backward_too(keys: int) -> None:
    found, mask = [], random(2, 1, 5, keys, seed=4) > -1
    mask[..., 0] = True
    for core in (fused_attention, lambda *args: explicit_attention(*args)[0]):
        inputs = [random(2, 4, length, 8, seed=length).double().requires_grad_() for length in (5, keys, keys)]
        inputs[1].data[0] *= 1_000  # exp of such scores would be infinite
        out = core(*inputs, mask)
        found.append((out, *torch.autograd.grad(out.square().sum(), inputs)))
    for fused, explicit in zip(*found, strict=True):
        assert_close(explicit, fused, atol=1e-9, rtol=1e-6)


@pytest.mark.parametrize("keys", [5, 20])
def test_the_softmax_of_bfloat16_is_in_float32(keys: int) -> None:
    q, k = (random(2, 4, length, 8, seed=length).bfloat16() for length in (7, keys))
    scores = (q * 0.5) @ k.mT
    weights = explicit_attention(q, k, k, None, scale=0.5)[1]
    assert weights.dtype == torch.float32
    assert_close(weights, scores.double().softmax(dim=-1).float(), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("groups", HEAD_COUNTS)
def test_a_mask_per_head_is_honoured(groups: int) -> None:
    q, k, v = random(2, 4, 5, 8), random(2, groups, 5, 8, seed=2), random(2, groups, 5, 8, seed=3)
    mask = random(2, 4, 5, 5, seed=4) > -1
    for head in range(4):
        group = head * groups // 4
        alone = explicit_attention(
            q[:, head : head + 1], k[:, group : group + 1], v[:, group : group + 1], mask[:, head : head + 1]
        )[0]
        assert_close(fused_attention(q, k, v, mask)[:, head : head + 1], alone, atol=1e-6, rtol=0)


@pytest.mark.parametrize("groups", HEAD_COUNTS)
def test_a_mask_of_queries_and_keys_alone_serves_every_row(groups: int) -> None:
    q, k, v = random(2, 4, 5, 8), random(2, groups, 5, 8, seed=2), random(2, groups, 5, 8, seed=3)
    mask = torch.ones(5, 5).tril().bool()
    expected = explicit_attention(q, k, v, mask.expand(2, 1, 5, 5))[0]
    assert_close(fused_attention(q, k, v, mask), expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("kind", ["none", "padding", "causal", "both"])
def test_cores_equal_the_additive_formula_in_numpy(kind: str) -> None:
    q, k, v = (random(2, 4, 5, 8, seed=seed) for seed in (1, 2, 3))
    mask = masks(kind)
    additive = 0.0 if mask is None else np.where(mask.numpy(), 0.0, -np.inf)
    scores = q.numpy() @ k.numpy().swapaxes(-1, -2) / math.sqrt(8) + additive
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    assert_close(fused_attention(q, k, v, mask), torch.from_numpy(weights @ v.numpy()).float(), atol=1e-6, rtol=0)


@pytest.mark.parametrize("core", [fused_attention, lambda *args: explicit_attention(*args)[0]])
def test_rows_that_may_attend_to_nothing_give_zeros_forward_and_backward(core: object) -> None:
    q, k, v = (random(2, 4, 5, 8, seed=seed).requires_grad_() for seed in (1, 2, 3))
    out = core(q, k, v, masks("empty row"))  # type: ignore[operator]
    assert (out[1] == 0).all()
    out.square().sum().backward()
    for tensor in (q, k, v):
        assert tensor.grad is not None
        assert tensor.grad.isfinite().all()
        assert (tensor.grad[1] == 0).all()


def test_recording_gives_the_weights_and_the_same_output() -> None:
    attention, x = make(2), random(2, 5, 16)
    fused = attention(x, attn_mask=masks("both"))
    attention.recorded = []
    assert_close(attention(x, attn_mask=masks("both")), fused)
    (weights,) = attention.recorded
    assert weights.shape == (2, 4, 5, 5)
    assert (weights.triu(1) == 0).all()


@pytest.mark.parametrize("arguments", [{}, {"num_kv_heads": 1}, {"kv_latent_dim": 6}, {"talking_heads": True}])
def test_one_query_over_a_sequence_gives_one_vector_and_its_weights(arguments: dict[str, int]) -> None:
    """Target attention: what does this sequence say about that one thing?"""
    torch.manual_seed(0)
    attention, target, sequence = Attention(16, 4, **arguments), random(2, 1, 16), random(2, 7, 16, seed=2)
    mask = source_attn_mask(mask_of(7, 3))
    attention.recorded = []
    out = attention(target, sequence, attn_mask=mask)
    (weights,) = attention.recorded
    assert out.shape == (2, 1, 16)
    assert weights.shape == (2, 4, 1, 7)
    assert (weights[1, :, :, 3:] == 0).all()
    assert_close(weights.sum(-1), torch.ones(2, 4, 1))
    assert_close(out[1:], attention(target[1:], sequence[1:, :3]))


def test_dropout_acts_in_training_only() -> None:
    attention, x = make(dropout=0.5), random(2, 5, 16)
    assert not torch.equal(attention(x), attention(x))
    attention.eval()
    assert torch.equal(attention(x), attention(x))


def test_head_dim_may_differ_from_the_quotient() -> None:
    attention = Attention(16, 3, head_dim=8)
    assert attention(random(2, 5, 16)).shape == (2, 5, 16)
    assert attention.qkv.weight.shape == (3 * 3 * 8, 16)


def test_bias_off_leaves_no_bias() -> None:
    assert all("bias" not in name for name, _ in Attention(16, 4, bias=False).named_parameters())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"d_model": 16, "num_heads": 3}, r"d_model \(16\) must be divisible by num_heads \(3\)"),
        ({"d_model": 16, "num_heads": 4, "num_kv_heads": 3}, r"num_kv_heads \(3\) must divide num_heads \(4\)"),
        ({"d_model": 16, "num_heads": 4, "num_kv_heads": 0}, r"num_kv_heads \(0\)"),
        ({"d_model": 16, "num_heads": 4, "dropout": 1.0}, r"dropout \(1.0\)"),
    ],
)
def test_impossible_shapes_are_refused(arguments: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Attention(**arguments)  # type: ignore[arg-type]


def test_what_a_call_cannot_do_is_refused() -> None:
    attention, x = make(), random(2, 5, 16)
    with pytest.raises(ValueError, match="not both"):
        attention(x, x, cache=KVCache())
    with pytest.raises(ValueError, match=r"bool with True = may attend, not torch\.float32"):
        attention(x, attn_mask=torch.zeros(5, 5))
    with pytest.raises(ValueError, match="no rotary positions"):
        make(rotary=True)(x, x)


def test_the_explicit_core_trains_where_it_is_faster() -> None:
    q = torch.zeros(1, 1, 128, 4)
    assert not explicit_is_faster(q, dropout=0.0)
    assert explicit_is_faster(q, dropout=0.1)
    assert explicit_is_faster(q.bfloat16(), dropout=0.0)
    assert not explicit_is_faster(torch.zeros(1, 1, 129, 4, dtype=torch.bfloat16), dropout=0.0)
    assert not explicit_is_faster(q.to("meta"), dropout=0.1)


@pytest.mark.parametrize(
    "shape", [(5, 6), (3, 1, 5, 6), (1, 4, 5, 6), (2, 4, 5, 6), (4, 5, 6), (1, 1, 1, 6), (4, 1, 5, 6)]
)
def test_a_mask_of_grouped_queries_says_what_the_mask_of_each_head_said(shape: tuple[int, ...]) -> None:
    heads, groups, queries = 4, 2, 5
    mask = torch.rand(shape) > 0.5
    full = mask.expand(mask.size(0) if mask.dim() == 4 else 1, heads, queries, 6)
    grouped = _group_mask(mask, heads, groups, queries).expand(len(full), groups, heads // groups * queries, 6)
    assert torch.equal(grouped.reshape(len(full), heads, queries, 6), full)


@pytest.mark.parametrize(("shape", "differs"), [((1, 1, 1, 6), False), ((1, 1, 5, 6), True), ((1, 4, 1, 6), True)])
def test_a_mask_that_differs_among_queries_or_heads_is_told_from_one_for_all(
    shape: tuple[int, ...], differs: bool
) -> None:
    assert _per_query(torch.ones(shape).bool()) is differs
