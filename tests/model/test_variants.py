"""Every variant of the one attention: parity with something independent, gradients, causality, caches, memory."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from translate.model.attention import Attention, explicit_attention
from translate.model.cache import KVCache, Selection
from translate.model.masks import causal_attn_mask, source_attn_mask

VARIANTS: dict[str, dict[str, Any]] = {
    "single head": {"num_heads": 1},
    "multi-head": {},
    "no bias": {"bias": False},
    "grouped": {"num_kv_heads": 2},
    "multi-query": {"num_kv_heads": 1},
    "latent": {"kv_latent_dim": 6},
    "talking": {"talking_heads": True},
    "talking grouped": {"talking_heads": True, "num_kv_heads": 2},
    "talking latent": {"talking_heads": True, "kv_latent_dim": 6},
}
ROTARY: dict[str, dict[str, Any]] = {
    "rotary": {"rotary": True},
    "grouped rotary": {"num_kv_heads": 2, "rotary": True},
    "latent rotary": {"kv_latent_dim": 6, "rotary": True},
    "talking rotary": {"talking_heads": True, "rotary": True},
}
DTYPES = [torch.float32, torch.bfloat16]
CASES = ["none", "padding", "causal", "both", "empty row", "cross", "cross, empty row"]
POSSIBLE = [  # cross-attention takes no rotary positions
    (variant, case) for variant in VARIANTS | ROTARY for case in CASES if not ("rotary" in variant and "cross" in case)
]

every_variant = pytest.mark.parametrize("variant", VARIANTS)
every_self_variant = pytest.mark.parametrize("variant", VARIANTS | ROTARY)
every_case = pytest.mark.parametrize("case", CASES)
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "bfloat16"])


def make(variant: str) -> Attention:
    torch.manual_seed(0)
    attention = Attention(16, **{"num_heads": 4} | (VARIANTS | ROTARY)[variant])
    for parameter in attention.parameters():  # biases and mixes too
        nn.init.normal_(parameter, std=0.3)
    return attention


def random(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def mask_of(*lengths: int, size: int) -> Tensor:
    return torch.arange(size)[None] < torch.tensor(lengths)[:, None]


def inputs(case: str) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """x [2, 5, 16], a memory [2, 7, 16] for cross-attention, and the mask."""
    real = mask_of(5, 3, size=5)
    mask = {
        "none": None,
        "padding": source_attn_mask(real),
        "causal": causal_attn_mask(torch.ones(2, 5, dtype=torch.bool)),
        "both": causal_attn_mask(real),
        "empty row": source_attn_mask(mask_of(5, 0, size=5)),
        "cross": source_attn_mask(mask_of(7, 4, size=7)),
        "cross, empty row": source_attn_mask(mask_of(0, 4, size=7)),
    }[case]
    return random(2, 5, 16), random(2, 7, 16, seed=2) if "cross" in case else None, mask


def apply(attention: nn.Module, case: str, dtype: torch.dtype, *, cached: bool = False) -> Tensor:
    """The output [2, 5, 16] in float32; with `cached`, cross-attention reads a memory projected beforehand."""
    x, memory, mask = inputs(case)
    x, memory = x.to(dtype), None if memory is None else memory.to(dtype)
    with torch.no_grad():
        if memory is not None:
            cache = attention.project_memory(memory) if cached else None
            return attention(x, None if cached else memory, attn_mask=mask, cache=cache).float()
        return attention(x, attn_mask=mask).float()


def check(actual: Tensor, expected: Tensor, dtype: torch.dtype) -> None:
    """Equal up to rounding: outputs here are of size 1 to 3, and bfloat16 keeps 8 bits of each of some 30 terms."""
    tolerance = {"atol": 1e-5, "rtol": 1e-5} if dtype == torch.float32 else {"atol": 0.06, "rtol": 0.06}
    assert_close(actual, expected, **tolerance)


def as_multi_head(attention: Attention) -> Attention:
    """Plain multi-head attention with the same effective matrices; talking heads must be at the identity."""
    heads, groups, width = attention.num_heads, attention.num_kv_heads, attention.head_dim
    plain = Attention(16, heads, bias=attention.qkv.bias is not None)
    with torch.no_grad():
        for name in ("weight", "bias"):
            source = getattr(attention.qkv, name)
            if source is None:
                continue
            q, *kv = source.split(attention.q_parts + attention.kv_parts)
            if attention.kv_up is not None:  # the products of both projections
                kv = [up @ kv[0] for up in attention.kv_up.weight.chunk(2)]
            elif groups != heads:  # the heads of a group repeated
                kv = [
                    part.unflatten(0, (groups, width)).repeat_interleave(heads // groups, 0).flatten(0, 1)
                    for part in kv
                ]
            getattr(plain.qkv, name).copy_(torch.cat((q, *kv)))
        plain.out.load_state_dict(attention.out.state_dict())
    return plain


@every_dtype
@every_case
@pytest.mark.parametrize(
    "variant", ["grouped", "multi-query", "latent", "talking", "talking grouped", "talking latent"]
)
def test_every_variant_equals_multi_head_attention_with_the_same_matrices(
    variant: str, case: str, dtype: torch.dtype
) -> None:
    attention = make(variant)
    for mix in (attention.mix_scores, attention.mix_weights):
        if mix is not None:
            nn.init.eye_(mix)
    expected = apply(as_multi_head(attention), case, torch.float32)
    check(apply(attention.to(dtype), case, dtype), expected, dtype)


@every_dtype
@every_case
@pytest.mark.parametrize("variant", ["single head", "multi-head", "no bias"])
def test_multi_head_attention_equals_torch(variant: str, case: str, dtype: torch.dtype) -> None:
    ours = make(variant)
    theirs = nn.MultiheadAttention(16, ours.num_heads, bias=variant != "no bias", batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(ours.qkv.weight)
        if ours.qkv.bias is not None:
            theirs.in_proj_bias.copy_(ours.qkv.bias)
    theirs.out_proj.load_state_dict(ours.out.state_dict())
    x, memory, mask = inputs(case)
    source = x if memory is None else memory
    blocked = None if mask is None else ~mask.expand(2, ours.num_heads, 5, source.size(1)).flatten(0, 1)
    with torch.no_grad():
        expected, _ = theirs(x, source, source, attn_mask=blocked, need_weights=False)
    got = apply(ours.to(dtype), case, dtype)
    if "empty row" in case:  # torch's own gives NaN there, ours the bias alone
        empty = 1 if case == "empty row" else 0
        bias = torch.zeros(16) if ours.out.bias is None else ours.out.bias.detach().float()
        check(got[empty], bias.expand(5, -1), dtype)
        got, expected = got[1 - empty], expected[1 - empty]
    check(got, expected, dtype)


@every_dtype
@pytest.mark.parametrize(("variant", "case"), [pair for pair in POSSIBLE if "talking" not in pair[0]])
def test_both_cores_agree(variant: str, case: str, dtype: torch.dtype) -> None:
    attention = make(variant).to(dtype)
    expected = apply(attention, case, dtype)
    attention.recorded = []
    check(apply(attention, case, dtype), expected, dtype)
    (weights,) = attention.recorded
    _, _, mask = inputs(case)
    assert weights.shape[:3] == (2, attention.num_heads, 5)
    assert mask is None or (weights[~mask.expand_as(weights)] == 0).all()
    if case == "both":
        assert_close(weights.float().sum(-1), torch.ones(weights.shape[:3]), atol=0.02, rtol=0)


def test_multi_query_attention_is_the_formula_of_its_paper() -> None:
    attention, (x, _, _) = make("multi-query"), inputs("none")
    (query, key, value), bias = attention.qkv.weight.split([16, 4, 4]), attention.qkv.bias.split([16, 4, 4])
    q = torch.einsum("bnd,hkd->bhnk", x, query.view(4, 4, 16)) + bias[0].view(1, 4, 1, 4)  # k: width of a head
    k, v = x @ key.T + bias[1], x @ value.T + bias[2]  # one of each, [B, M, K]
    weights = (torch.einsum("bhnk,bmk->bhnm", q, k) / 2).softmax(-1)
    heads = torch.einsum("bhnm,bmv->bhnv", weights, v)
    expected = torch.einsum("bhnv,dhv->bnd", heads, attention.out.weight.view(16, 4, 4)) + attention.out.bias
    assert_close(attention(x), expected)


@pytest.mark.parametrize("case", ["none", "both", "cross", "cross, empty row"])
def test_talking_heads_mix_before_and_after_the_softmax_with_the_mask_between(case: str) -> None:
    q, k, v = random(2, 3, 5, 4), random(2, 3, 7 if "cross" in case else 5, 4, seed=2), None
    v = random(*k.shape, seed=3)
    _, _, mask = inputs(case)
    before, after = random(3, 3, seed=4).numpy(), random(3, 3, seed=5).numpy()
    allowed = np.ones((2, 1, 5, k.size(2)), bool) if mask is None else mask.expand(2, 1, 5, k.size(2)).numpy()
    scores = q.numpy() @ k.numpy().swapaxes(-1, -2) / 2
    mixed = sum(before[:, [h]][None, :, :, None] * scores[:, [h]] for h in range(3))
    exponents = np.where(allowed, np.exp(mixed - mixed.max(-1, keepdims=True)), 0)
    sums = exponents.sum(-1, keepdims=True)
    weights = np.divide(exponents, sums, out=np.zeros_like(exponents), where=sums > 0)
    weights = sum(after[:, [h]][None, :, :, None] * weights[:, [h]] for h in range(3))
    heads, got = explicit_attention(q, k, v, mask, mixes=(torch.from_numpy(before), torch.from_numpy(after)))
    assert_close(got, torch.from_numpy(weights).float(), atol=1e-6, rtol=1e-5)
    assert_close(heads, torch.from_numpy(weights @ v.numpy()).float(), atol=1e-5, rtol=1e-5)


def test_fresh_talking_heads_are_plain_attention() -> None:
    torch.manual_seed(0)
    talking = Attention(16, 4, talking_heads=True)
    plain = Attention(16, 4)
    plain.load_state_dict({name: value for name, value in talking.state_dict().items() if "mix" not in name})
    x, _, mask = inputs("both")
    assert_close(talking(x, attn_mask=mask), plain(x, attn_mask=mask))


def test_talking_heads_refuse_a_mask_per_head() -> None:
    x, mask = random(2, 5, 16), torch.ones(2, 4, 5, 5, dtype=torch.bool)
    with pytest.raises(ValueError, match=r"talking heads need one attn_mask for all heads.*\[2, 4, 5, 5\]"):
        make("talking")(x, attn_mask=mask)


@pytest.mark.parametrize("core", ["fused", "explicit"])
@pytest.mark.parametrize(("variant", "case"), POSSIBLE)
def test_gradients_are_those_of_finite_differences(variant: str, case: str, core: str) -> None:
    attention = make(variant).double()
    attention.recorded = [] if core == "explicit" else None
    x, memory, mask = inputs(case)
    tensors = [tensor.double().requires_grad_() for tensor in (x, memory) if tensor is not None]
    tensors += attention.parameters()  # changed in place by the check, so forward need not be given them

    def forward(x: Tensor, *others: Tensor) -> Tensor:
        return attention(x, others[0] if memory is not None else None, attn_mask=mask)

    assert torch.autograd.gradcheck(forward, tensors, fast_mode=True)


@every_dtype
@pytest.mark.parametrize("case", ["empty row", "cross, empty row"])
@every_variant
def test_a_row_that_may_attend_to_nothing_gives_finite_gradients(variant: str, case: str, dtype: torch.dtype) -> None:
    attention = make(variant).to(dtype)
    x, memory, mask = inputs(case)
    x, memory = x.to(dtype).requires_grad_(), None if memory is None else memory.to(dtype).requires_grad_()
    attention(x, memory, attn_mask=mask).square().sum().backward()
    for tensor in (x, memory, *attention.parameters()):
        assert tensor is None or (tensor.grad is not None and tensor.grad.isfinite().all())
    assert (x.grad[1 if memory is None else 0] == 0).all()


@every_self_variant
def test_a_later_token_changes_no_earlier_output(variant: str) -> None:
    attention, (x, _, mask) = make(variant), inputs("causal")
    changed = x.clone()
    changed[:, 3] += 1
    before, after = attention(x, attn_mask=mask), attention(changed, attn_mask=mask)
    assert torch.equal(before[:, :3], after[:, :3])
    assert not torch.equal(before[:, 3:], after[:, 3:])


@every_self_variant
def test_more_padding_changes_nothing_at_real_positions(variant: str) -> None:
    attention, x = make(variant), random(2, 5, 16)
    padded = torch.cat((x, random(2, 3, 16, seed=9)), dim=1)
    short = attention(x, attn_mask=source_attn_mask(mask_of(5, 3, size=5)))
    assert_close(attention(padded, attn_mask=source_attn_mask(mask_of(5, 3, size=8)))[:, :5], short)


PER_TOKEN = {"grouped": 2 * 2 * 4, "multi-query": 2 * 1 * 4, "latent": 6, "latent rotary": 6 + 2}


@every_dtype
@every_self_variant
def test_token_by_token_with_a_reorder_halfway_equals_the_full_pass(variant: str, dtype: torch.dtype) -> None:
    attention, x = make(variant).to(dtype), random(3, 20, 16).to(dtype)
    rows, cache = torch.tensor([2, 0, 0]), KVCache()
    first = [attention(x[:, t : t + 1], cache=cache) for t in range(9)]
    cache.select(Selection(rows))
    second = [attention(x[:, t : t + 1], cache=cache) for t in range(9, 20)]  # outgrows the first buffer
    causal = causal_attn_mask(torch.ones(3, 20, dtype=torch.bool))
    history = torch.cat((x[rows, :9], x[:, 9:]), 1)
    check(torch.cat(first, 1), attention(x, attn_mask=causal)[:, :9], dtype)
    check(torch.cat(second, 1), attention(history, attn_mask=causal)[:, 9:], dtype)
    name = variant.removeprefix("talking ") if variant != "talking rotary" else "rotary"
    per_token = PER_TOKEN.get(name, PER_TOKEN.get(name.removesuffix(" rotary"), 2 * 4 * 4))
    if variant == "single head":
        per_token = 2 * 16
    assert cache.num_elements == 3 * 20 * per_token
    assert cache.bytes_per_token == dtype.itemsize * per_token


@pytest.mark.parametrize("variant", ["multi-head", "latent"])
def test_a_cache_copies_what_it_holds_only_when_its_room_doubles(variant: str) -> None:
    attention, cache, places = make(variant), KVCache(), []
    for _ in range(100):
        attention(random(2, 1, 16), cache=cache)
        assert cache._buffer is not None
        places.append(cache._buffer.data_ptr())
    moves = [length for length in range(1, 100) if places[length] != places[length - 1]]
    assert moves == [16, 32, 64]


def test_a_cache_without_rows_still_knows_its_bytes() -> None:
    attention, cache = make("grouped"), KVCache()
    attention(random(2, 1, 16), cache=cache)
    cache.select(Selection(torch.tensor([], dtype=torch.long)))
    assert (cache.num_elements, cache.bytes_per_token) == (0, 4 * 2 * 2 * 4)


@every_dtype
@pytest.mark.parametrize("case", ["cross", "cross, empty row"])
@every_variant
def test_a_memory_projected_once_serves_like_the_memory(variant: str, case: str, dtype: torch.dtype) -> None:
    attention = make(variant).to(dtype)
    check(apply(attention, case, dtype, cached=True), apply(attention, case, dtype), dtype)


@every_variant
def test_hypotheses_share_the_memory_of_their_sentence(variant: str) -> None:
    attention, memory, real = make(variant), random(2, 7, 16), source_attn_mask(mask_of(7, 4, size=7))
    x = random(6, 1, 16, seed=3)  # three hypotheses of two sentences
    cache = attention.project_memory(memory)
    expected = attention(x, memory.repeat_interleave(3, 0), attn_mask=real.repeat_interleave(3, 0))
    check(attention(x, attn_mask=real, cache=cache), expected, torch.float32)
    assert cache.num_elements == 2 * 7 * cache.bytes_per_token // 4


def test_rows_that_do_not_belong_to_a_sentence_are_refused() -> None:
    attention = make("grouped")
    cache = attention.project_memory(random(2, 7, 16))
    with pytest.raises(ValueError, match="3 rows of x do not divide among the 2 sentences"):
        attention(random(3, 2, 16), cache=cache)
    mask = torch.ones(2, 1, 2, 7, dtype=torch.bool)
    assert attention(random(2, 2, 16), attn_mask=mask, cache=cache).shape == (2, 2, 16)
    with pytest.raises(ValueError, match=r"share its mask, \[B, 1, 1, K\]; they cannot have \[2, 1, 2, 7\]"):
        attention(random(4, 2, 16), attn_mask=mask, cache=cache)


@pytest.mark.parametrize("variant", ["latent", "latent rotary", "talking latent"])
def test_decoding_never_expands_the_latents(variant: str) -> None:
    attention = make(variant)
    attention.kv_up.register_forward_hook(lambda *_: pytest.fail("keys and values were expanded"))
    attention(random(2, 1, 16), cache=KVCache())
    if "rotary" not in variant:
        attention(random(2, 1, 16), cache=attention.project_memory(random(2, 7, 16)))


@pytest.mark.parametrize("core", ["fused", "explicit", "cached"])
def test_the_scale_of_a_rotary_latent_counts_both_parts_of_a_query(core: str) -> None:
    attention, x = make("latent rotary").eval(), random(2, 5, 16)
    q, q_rotary, latent, k_rotary = attention.qkv(x).split(attention.q_parts + attention.kv_parts, dim=-1)
    k, v = attention.kv_up(latent).chunk(2, dim=-1)

    def heads(part: Tensor, count: int = 4) -> Tensor:
        return part.unflatten(2, (count, -1)).transpose(1, 2)

    turned = attention.rotary(heads(q_rotary)), attention.rotary(heads(k_rotary, 1))  # all heads share that key
    scores = heads(q) @ heads(k).mT + turned[0] @ turned[1].mT
    weights = (scores / (4 + 2) ** 0.5).softmax(-1)  # 4 of the content, 2 of the positions
    expected = attention.out((weights @ heads(v)).transpose(1, 2).flatten(2))
    attention.recorded = [] if core == "explicit" else None
    assert_close(attention(x, cache=KVCache() if core == "cached" else None), expected, atol=1e-5, rtol=1e-5)


def test_the_rotary_key_of_a_latent_sees_distances_alone() -> None:
    attention = make("latent rotary")
    attention.recorded, x = [], random(1, 1, 16).expand(1, 6, 16)  # the same token everywhere
    attention(x, attn_mask=inputs("none")[2])
    scores = attention.recorded[0].log()
    scores = scores - scores.diagonal(dim1=-2, dim2=-1)[..., None]  # of each key against the query's own
    for distance in (1, 2, 3):
        ahead = scores.diagonal(distance, -2, -1)
        assert_close(ahead, ahead[..., :1].expand_as(ahead), atol=1e-5, rtol=1e-5)
    assert (scores.diagonal(1, -2, -1).abs() > 1e-3).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_kv_heads": 2, "kv_latent_dim": 6}, r"num_kv_heads \(2\) and kv_latent_dim \(6\) exclude each other"),
        ({"kv_latent_dim": 0}, r"kv_latent_dim \(0\) must be at least 1"),
        ({"head_dim": 0}, r"head_dim \(0\) must be at least 1"),
        ({"head_dim": 5, "rotary": True}, "rotary positions need an even head_dim, not 5"),
        ({"head_dim": 6, "kv_latent_dim": 6, "rotary": True}, "rotary positions need an even head_dim, not 3"),
    ],
)
def test_what_excludes_each_other_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Attention(16, 4, **arguments)


def test_cross_attention_with_a_rotary_latent_is_refused() -> None:
    with pytest.raises(ValueError, match="no rotary positions"):
        make("latent rotary")(random(2, 5, 16), random(2, 7, 16))


PEAK = """
import sys, torch
from translate.model.attention import fused_attention
torch.set_num_threads(1)
q, k, v = torch.randn(1, 16, 4096, 64), torch.randn(1, 1, 4096, 64), torch.randn(1, 1, 4096, 64)
mask = torch.ones(4096, 4096, dtype=torch.bool).tril() if sys.argv[1] == "causal" else None
def peak():  # MiB
    return int(next(line for line in open("/proc/self/status") if "VmHWM" in line).split()[1]) / 1024
fused_attention(q[:, :, :64], k, v, None if mask is None else mask[:64])  # the kernel's own workspace
before = peak()
fused_attention(q, k, v, mask)
print(peak() - before)
fused_attention(q, k.repeat_interleave(16, 1), v.repeat_interleave(16, 1), mask)
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads peak memory from /proc")
@pytest.mark.parametrize(("mask", "needed"), [("none", 16), ("causal", 16 + 64)])
def test_grouped_keys_and_values_are_never_repeated_in_memory(mask: str, needed: int) -> None:
    """4,096 tokens, 16 heads of width 64, one of keys and values, which are 2 MiB as they are and 32 MiB repeated.

    Needed are 16 MiB of output and, with a mask, the kernel's own copy of it in float32.
    """
    run = subprocess.run([sys.executable, "-c", PEAK, mask], capture_output=True, text=True, check=True)
    grouped, repeated = map(float, run.stdout.split())
    assert grouped < needed + 8
    assert repeated - grouped > 24


@pytest.mark.parametrize("shape", [(2, 3, 3), (1, 2, 3, 3)])
def test_two_talking_heads_refuse_a_mask_for_each(shape: tuple[int, ...]) -> None:
    attention = Attention(8, 2, talking_heads=True)
    with pytest.raises(ValueError, match=r"talking heads need one attn_mask for all heads"):
        attention(torch.zeros(1, 3, 8), attn_mask=torch.ones(shape).bool())
    attention(torch.zeros(1, 3, 8), attn_mask=torch.ones(shape[-2:]).bool())


@every_self_variant
def test_steps_without_gradients_take_the_kernels_only_where_these_know_the_variant(variant: str) -> None:
    torch.manual_seed(0)
    attention = Attention(64, 4, **widened(variant)).eval()  # heads as wide as the kernels want them
    for parameter in attention.parameters():
        nn.init.normal_(parameter, std=0.3)
    x, cache = random(2, 6, 64), KVCache()
    causal = causal_attn_mask(torch.ones(2, 6, dtype=torch.bool))
    with torch.no_grad():
        steps = [attention(x[:, t : t + 1], cache=cache) for t in range(6)]
    assert_close(torch.cat(steps, 1), attention(x, attn_mask=causal), atol=1e-4, rtol=1e-4)


def widened(variant: str) -> dict[str, Any]:
    """The arguments of a variant for four heads, whose widths and latents are multiples of 16."""
    changed = ("num_heads", "bias", "kv_latent_dim")
    arguments = {name: value for name, value in (VARIANTS | ROTARY)[variant].items() if name not in changed}
    if "latent" not in variant:
        return arguments | {"head_dim": 16}
    return arguments | {"kv_latent_dim": 16, "head_dim": 32}  # the rotary key is half as wide as a head
