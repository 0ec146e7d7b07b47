"""The one attention against torch's, against itself in other forms, and its laws."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from translate.model.attention import Attention, explicit_attention, fused_attention
from translate.model.cache import KVCache
from translate.model.masks import causal_attn_mask, source_attn_mask
from translate.model.positions import RotaryPositions

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


def as_torch(attention: Attention) -> nn.MultiheadAttention:
    theirs = nn.MultiheadAttention(16, 4, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(attention.qkv.weight)
        theirs.in_proj_bias.copy_(attention.qkv.bias)
        theirs.out_proj.weight.copy_(attention.out.weight)
        theirs.out_proj.bias.copy_(attention.out.bias)
    return theirs


def test_self_attention_equals_torch() -> None:
    ours, x, real = make(), random(2, 5, 16), mask_of(5, 3)
    expected, _ = as_torch(ours)(x, x, x, key_padding_mask=~real, need_weights=False)
    assert_close(ours(x, attn_mask=source_attn_mask(real)), expected)


def test_causal_self_attention_equals_torch() -> None:
    ours, x = make(), random(2, 5, 16)
    blocked = torch.ones(5, 5, dtype=torch.bool).triu(1)
    expected, _ = as_torch(ours)(x, x, x, attn_mask=blocked, need_weights=False)
    assert_close(ours(x, attn_mask=masks("causal")), expected)


def test_cross_attention_equals_torch() -> None:
    ours, x, memory, real = make(), random(2, 3, 16), random(2, 7, 16, seed=2), mask_of(7, 4)
    expected, _ = as_torch(ours)(x, memory, memory, key_padding_mask=~real, need_weights=False)
    assert_close(ours(x, memory, attn_mask=source_attn_mask(real)), expected)


@pytest.mark.parametrize("num_kv_heads", [2, 1])
def test_grouped_heads_equal_repeated_heads(num_kv_heads: int) -> None:
    grouped, full = make(num_kv_heads), make(4)
    with torch.no_grad():
        for target, source in ((full.qkv.weight, grouped.qkv.weight), (full.qkv.bias, grouped.qkv.bias)):
            q, k, v = source.split(grouped.q_parts + grouped.kv_parts)
            repeated = [
                part.unflatten(0, (num_kv_heads, 4)).repeat_interleave(4 // num_kv_heads, 0).flatten(0, 1)
                for part in (k, v)
            ]
            target.copy_(torch.cat((q, *repeated)))
        full.out.load_state_dict(grouped.out.state_dict())
    x, memory = random(2, 5, 16), random(2, 7, 16, seed=2)
    assert_close(grouped(x, attn_mask=masks("both")), full(x, attn_mask=masks("both")))
    real = source_attn_mask(mask_of(7, 2))
    assert_close(grouped(x, memory, attn_mask=real), full(x, memory, attn_mask=real))


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


@pytest.mark.parametrize("num_kv_heads", HEAD_COUNTS)
def test_more_padding_changes_nothing_at_real_positions(num_kv_heads: int) -> None:
    attention, x = make(num_kv_heads), random(2, 5, 16)
    padded = torch.cat((x, random(2, 3, 16, seed=9)), dim=1)
    short = attention(x, attn_mask=source_attn_mask(mask_of(5, 3)))
    long = attention(padded, attn_mask=source_attn_mask(torch.cat((mask_of(5, 3), torch.zeros(2, 3).bool()), 1)))
    assert_close(long[:, :5], short)


@pytest.mark.parametrize("rotary", [False, True])
@pytest.mark.parametrize("num_kv_heads", HEAD_COUNTS)
def test_a_later_token_changes_no_earlier_output(num_kv_heads: int, rotary: bool) -> None:
    attention, x = make(num_kv_heads, rotary=RotaryPositions(4) if rotary else None), random(2, 5, 16)
    changed = x.clone()
    changed[:, 3] += 1
    before, after = attention(x, attn_mask=masks("causal")), attention(changed, attn_mask=masks("causal"))
    assert torch.equal(before[:, :3], after[:, :3])
    assert not torch.equal(before[:, 3:], after[:, 3:])


@pytest.mark.parametrize("rotary", [False, True])
@pytest.mark.parametrize("num_kv_heads", HEAD_COUNTS)
def test_token_by_token_with_a_cache_equals_the_full_pass(num_kv_heads: int, rotary: bool) -> None:
    attention, x = make(num_kv_heads, rotary=RotaryPositions(4) if rotary else None), random(2, 20, 16)
    causal = causal_attn_mask(torch.ones(2, 20, dtype=torch.bool))
    cache = KVCache()
    steps = [attention(x[:, t : t + 1], cache=cache) for t in range(20)]  # outgrows the first buffer
    assert_close(torch.cat(steps, 1), attention(x, attn_mask=causal))
    assert cache.num_elements == 2 * 20 * (2 * num_kv_heads * 4)


@pytest.mark.parametrize("num_kv_heads", HEAD_COUNTS)
def test_hypotheses_share_the_memory_of_their_sentence(num_kv_heads: int) -> None:
    attention, memory, real = make(num_kv_heads), random(2, 7, 16), source_attn_mask(mask_of(7, 4))
    x = random(6, 1, 16, seed=3)  # three hypotheses of two sentences
    cached = attention(x, attn_mask=real, cache=attention.project_memory(memory))
    expected = attention(x, memory.repeat_interleave(3, 0), attn_mask=real.repeat_interleave(3, 0))
    assert_close(cached, expected)


def test_recording_gives_the_weights_and_the_same_output() -> None:
    attention, x = make(2), random(2, 5, 16)
    fused = attention(x, attn_mask=masks("both"))
    attention.recorded = []
    assert_close(attention(x, attn_mask=masks("both")), fused)
    (weights,) = attention.recorded
    assert weights.shape == (2, 4, 5, 5)
    assert (weights.triu(1) == 0).all()


def test_dropout_acts_in_training_only() -> None:
    attention, x = make(dropout=0.5), random(2, 5, 16)
    assert not torch.equal(attention(x), attention(x))
    attention.eval()
    assert torch.equal(attention(x), attention(x))


def test_gradients_are_those_of_finite_differences() -> None:
    attention, x = make(2).double(), random(2, 3, 16).double().requires_grad_()
    mask = causal_attn_mask(mask_of(3, 2))
    attention.recorded = []  # the explicit core; the fused one has no float64 backward on every machine
    assert torch.autograd.gradcheck(lambda y: attention(y, attn_mask=mask), (x,))


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
        make(rotary=RotaryPositions(4))(x, x)
