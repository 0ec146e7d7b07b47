"""Layers against torch's with copied weights, and the laws of the whole network."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from translate.config.model import ModelConfig
from translate.model.cache import DecoderState, MemoryCache, expected_length
from translate.model.layers import DecoderLayer, EncoderLayer, FeedForward, make_norm
from translate.model.masks import causal_attn_mask, source_attn_mask
from translate.model.transformer import Transformer, build_model, build_outline

TINY = ModelConfig(d_model=16, d_ff=32, num_heads=4, num_encoder_layers=2, num_decoder_layers=3)
VARIANTS = {
    "pre-norm": TINY,
    "post-norm": replace(TINY, norm_first=False),
    "grouped": replace(TINY, attention="gqa"),
    "multi-query": replace(TINY, attention="mqa"),
    "rotary": replace(TINY, positions="rotary", norm="rmsnorm", activation="swiglu", bias=False),
    "marian": replace(
        TINY, activation="swish", sinusoids="marian", output_bias=True, scale_embeddings=False, norm_eps=1e-3
    ),
    "learned": replace(TINY, positions="learned", max_positions=40, activation="gelu", tie_output=False),
    "latent": replace(TINY, attention="mla", kv_latent_dim=6),
    "latent rotary": replace(TINY, attention="mla", kv_latent_dim=6, positions="rotary"),
    "talking heads": replace(TINY, attention="talking_heads"),
    "mixed": replace(TINY, encoder_attention="talking_heads", decoder_attention="mqa", cross_attention="mla"),
    "separate": replace(TINY, share_embeddings=False, head_dim=6),
}


@pytest.fixture(params=VARIANTS)
def config(request: pytest.FixtureRequest) -> ModelConfig:
    return VARIANTS[request.param]


def make(config: ModelConfig, vocab: int = 23) -> Transformer:
    torch.manual_seed(0)
    return build_model(config, vocab, vocab).eval()


def batch() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Two pairs of unequal lengths: source 6 and 4, target 5 and 3."""
    generator = torch.Generator().manual_seed(3)
    src, tgt = (torch.randint(4, 23, (2, n), generator=generator) for n in (6, 5))
    src_mask, tgt_mask = torch.ones(2, 6).bool(), torch.ones(2, 5).bool()
    src_mask[1, 4:], tgt_mask[1, 3:] = False, False
    return src * src_mask, tgt * tgt_mask, src_mask, tgt_mask


def without_dropout(norm_first: bool, activation: str) -> ModelConfig:
    return replace(TINY, norm_first=norm_first, activation=activation, dropout=0.0)


def copy_attention(ours: nn.Module, theirs: nn.MultiheadAttention) -> None:
    theirs.in_proj_weight.data.copy_(ours.qkv.weight)
    theirs.in_proj_bias.data.copy_(ours.qkv.bias)
    theirs.out_proj.load_state_dict(ours.out.state_dict())


def copy_rest(ours: nn.Module, theirs: nn.Module, norms: list[str]) -> None:
    theirs.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.outer.state_dict())
    for index, name in enumerate(norms, 1):
        norm = getattr(ours, name)
        nn.init.normal_(norm.weight)
        getattr(theirs, f"norm{index}").load_state_dict(norm.state_dict())


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_encoder_layer_equals_torch(norm_first: bool, activation: str) -> None:
    torch.manual_seed(0)
    ours = EncoderLayer(without_dropout(norm_first, activation))
    theirs = nn.TransformerEncoderLayer(16, 4, 32, 0.0, activation, batch_first=True, norm_first=norm_first)
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_rest(ours, theirs, ["self_norm", "ff_norm"])
    x, src_mask = torch.randn(2, 6, 16), batch()[2]
    expected = theirs(x, src_key_padding_mask=~src_mask)
    assert_close(ours(x, source_attn_mask(src_mask))[src_mask], expected[src_mask])


@pytest.mark.parametrize("norm_first", [True, False])
def test_decoder_layer_equals_torch(norm_first: bool) -> None:
    torch.manual_seed(0)
    ours = DecoderLayer(without_dropout(norm_first, "relu"))
    theirs = nn.TransformerDecoderLayer(16, 4, 32, 0.0, "relu", batch_first=True, norm_first=norm_first)
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_attention(ours.cross_attention, theirs.multihead_attn)
    copy_rest(ours, theirs, ["self_norm", "cross_norm", "ff_norm"])
    _, _, src_mask, tgt_mask = batch()
    x, memory = torch.randn(2, 5, 16), torch.randn(2, 6, 16)
    expected = theirs(
        x, memory, torch.ones(5, 5).triu(1).bool(), tgt_key_padding_mask=~tgt_mask, memory_key_padding_mask=~src_mask
    )
    got = ours(x, causal_attn_mask(tgt_mask), memory, source_attn_mask(src_mask))
    assert_close(got[tgt_mask], expected[tgt_mask])


def test_swiglu_is_the_gated_product() -> None:
    torch.manual_seed(0)
    layer, x = FeedForward(8, 12, activation="swiglu", bias=False, dropout=0.0), torch.randn(3, 8)
    gate, value = layer.inner.weight[:12], layer.inner.weight[12:]
    assert_close(layer(x), (nn.functional.silu(x @ gate.T) * (x @ value.T)) @ layer.outer.weight.T)


def test_more_padding_changes_nothing(config: ModelConfig) -> None:
    model, (src, tgt, src_mask, tgt_mask) = make(config), batch()
    pad = torch.zeros(2, 3, dtype=torch.long)
    more = (torch.cat((x, pad.to(x.dtype)), 1) for x in (src, tgt, src_mask, tgt_mask))
    expected = model(src, tgt, src_mask, tgt_mask)
    assert_close(model(*more)[:, :5][tgt_mask], expected[tgt_mask])


def test_a_later_target_token_changes_no_earlier_logit(config: ModelConfig) -> None:
    model, (src, tgt, src_mask, tgt_mask) = make(config), batch()
    changed = tgt.clone()
    changed[0, 3] = 22 if tgt[0, 3] != 22 else 21
    before, after = model(src, tgt, src_mask, tgt_mask), model(src, changed, src_mask, tgt_mask)
    assert torch.equal(before[:, :3], after[:, :3])
    assert not torch.equal(before[0, 3:], after[0, 3:])


def test_a_row_is_the_same_alone_and_in_a_batch(config: ModelConfig) -> None:
    model, (src, tgt, src_mask, tgt_mask) = make(config), batch()
    together = model(src, tgt, src_mask, tgt_mask)
    assert_close(model(src[1:, :4], tgt[1:, :3], src_mask[1:, :4], tgt_mask[1:, :3])[0], together[1, :3])


def test_permuting_the_batch_permutes_the_output(config: ModelConfig) -> None:
    model, tensors = make(config), batch()
    assert_close(model(*(x.flip(0) for x in tensors)), model(*tensors).flip(0))


@torch.no_grad()
def test_every_dropout_is_on_in_training_and_off_outside() -> None:
    names = ("dropout", "attention_dropout", "activation_dropout", "embedding_dropout", "word_dropout", "layer_drop")
    model, tensors = make(replace(TINY, **dict.fromkeys(names, 0.5))), batch()
    assert_close(model(*tensors), make(TINY)(*tensors), atol=0, rtol=0)
    none = dict.fromkeys(names, 0.0)
    for name in names:
        model = make(replace(TINY, **none | {name: 0.5})).train()
        assert len({float(model(*tensors).sum()) for _ in range(5)}) > 1, name


def test_an_all_padding_source_gives_no_nan_forward_or_backward(config: ModelConfig) -> None:
    model, (src, tgt, src_mask, tgt_mask) = make(config).train(), batch()
    src_mask[1] = False
    model(src, tgt, src_mask, tgt_mask).square().mean().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


def step_through(model: Transformer, state: DecoderState, ids: Tensor) -> Tensor:
    return torch.stack([model.step(ids[:, t], state) for t in range(ids.size(1))], 1)


def test_token_by_token_equals_the_full_pass(config: ModelConfig) -> None:
    model, (src, tgt, src_mask, tgt_mask) = make(config), batch()
    state = model.start(model.encode(src, src_mask), src_mask)
    full = model(src, tgt, src_mask, tgt_mask)
    assert_close(step_through(model, state, tgt)[tgt_mask], full[tgt_mask])


def test_reorder_halfway_follows_the_beams(config: ModelConfig) -> None:
    model, (src, _, src_mask, _) = make(config), batch()
    ids = torch.randint(4, 23, (6, 6), generator=torch.Generator().manual_seed(5))  # three hypotheses a sentence
    rows = torch.tensor([2, 0, 0, 3, 5, 4])
    state = model.start(model.encode(src, src_mask), src_mask)
    state.repeat(3)
    step_through(model, state, ids[:, :3])
    state.reorder(rows)
    got = step_through(model, state, ids[:, 3:])
    history = torch.cat((ids[rows, :3], ids[:, 3:]), 1)
    source = src.repeat_interleave(3, 0), src_mask.repeat_interleave(3, 0)
    expected = model(source[0], history, source[1], torch.ones(6, 6).bool())
    assert_close(got, expected[:, 3:])


def test_keep_drops_the_other_sentences(config: ModelConfig) -> None:
    model, (src, _, src_mask, _) = make(config), batch()
    ids = torch.randint(4, 23, (4, 4), generator=torch.Generator().manual_seed(5))  # two hypotheses a sentence
    state = model.start(model.encode(src, src_mask), src_mask)
    state.repeat(2)
    step_through(model, state, ids[:, :2])
    state.keep(torch.tensor([1]))
    got = step_through(model, state, ids[2:, 2:])
    alone = model(src[1:].expand(2, -1), ids[2:], src_mask[1:].expand(2, -1), torch.ones(2, 4).bool())
    assert_close(got, alone[:, 2:])
    assert state.num_sentences == 1


@pytest.mark.parametrize(
    ("settings", "own", "cross"),
    [  # numbers per token and layer in the self-attention caches and in the cross-attention caches; H = 4, D = 4
        ({}, 2 * 4 * 4, 2 * 4 * 4),
        ({"attention": "gqa"}, 2 * 2 * 4, 2 * 2 * 4),
        ({"num_kv_heads": 1}, 2 * 1 * 4, 2 * 1 * 4),  # grouped without the word
        ({"attention": "mqa"}, 2 * 1 * 4, 2 * 1 * 4),
        ({"attention": "mla"}, 8, 8),
        ({"attention": "mla", "kv_latent_dim": 6}, 6, 6),
        ({"attention": "mla", "kv_latent_dim": 6, "positions": "rotary"}, 6 + 2, 6),
        ({"attention": "talking_heads"}, 2 * 4 * 4, 2 * 4 * 4),
        ({"decoder_attention": "mqa", "cross_attention": "mla"}, 2 * 1 * 4, 8),
    ],
)
def test_cache_sizes_are_those_of_the_variant(settings: dict[str, Any], own: int, cross: int) -> None:
    src, _, src_mask, _ = batch()
    model = make(replace(TINY, **settings))
    state = model.start(model.encode(src, src_mask), src_mask)
    assert state.num_elements == 3 * 2 * 6 * cross
    assert (state.bytes_per_token, state.bytes_per_src_token) == (0, 3 * cross * 4)
    step_through(model, state, torch.ones(2, 2, dtype=torch.long))
    assert state.num_elements == 3 * (2 * 6 * cross + 2 * 2 * own)
    assert state.bytes_per_token == 3 * own * 4  # float32


def test_cross_attention_rows_sum_to_one_over_real_source_tokens() -> None:
    model, tensors = make(TINY), batch()
    maps = model.cross_attention(*tensors)
    assert [tuple(weights.shape) for weights in maps] == [(2, 4, 5, 6)] * 3
    for weights in maps:
        assert_close(weights.sum(-1), torch.ones(2, 4, 5))
        assert (weights[1, :, :, 4:] == 0).all()


def test_cross_attention_in_one_thread_does_not_meet_that_in_another() -> None:
    model, tensors = make(TINY), batch()
    expected = model.cross_attention(*tensors)
    with torch.inference_mode(), ThreadPoolExecutor(4) as pool:
        found = list(
            pool.map(lambda number: model.cross_attention(*tensors) if number % 2 else model(*tensors), range(60))
        )
    for maps in found[1::2]:
        assert_close(list(maps), expected)
    assert all(attention.recorded is None for attention in model._cross_attentions())


def test_parameter_count_is_that_of_the_formula() -> None:
    count = sum(p.numel() for p in build_model(ModelConfig(), 8000, 8000).parameters())
    attention, feed_forward, norm = 4 * (256 * 256 + 256), 2 * 256 * 1024 + 1024 + 256, 2 * 256
    encoder = 3 * (attention + feed_forward + 2 * norm) + norm
    decoder = 3 * (2 * attention + feed_forward + 3 * norm) + norm
    assert count == 8000 * 256 + encoder + decoder == 7_578_624


def test_sharing_is_what_the_settings_say() -> None:
    shared, separate = make(TINY), make(replace(TINY, share_embeddings=False, tie_output=False))
    assert shared.src_embedding.tokens.weight is shared.output.weight is shared.tgt_embedding.tokens.weight
    assert separate.src_embedding.tokens.weight is not separate.tgt_embedding.tokens.weight
    assert separate.output.weight is not separate.tgt_embedding.tokens.weight
    with pytest.raises(ValueError, match="23 source and 24 target"):
        build_model(TINY, 23, 24)
    assert build_model(replace(TINY, share_embeddings=False), 23, 24)(*batch()).shape == (2, 5, 24)


def test_learned_positions_refuse_what_lies_beyond_them() -> None:
    model = make(replace(TINY, positions="learned", max_positions=4))
    src, tgt, src_mask, tgt_mask = batch()
    with pytest.raises(ValueError, match=r"position 6 lies beyond max_positions \(4\)"):
        model(src, tgt, src_mask, tgt_mask)


def test_repeat_asks_for_one_row_per_sentence() -> None:
    model, (src, _, src_mask, _) = make(TINY), batch()
    state = model.start(model.encode(src, src_mask), src_mask)
    state.repeat(2)
    with pytest.raises(ValueError, match="not 2"):
        state.repeat(2)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match=r"activation \(tanh\)"):
        FeedForward(8, 8, activation="tanh", bias=True, dropout=0.0)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_the_gpu_gives_the_same_logits_and_finite_gradients(config: ModelConfig) -> None:
    model, tensors = make(config), batch()
    expected = model(*tensors)
    on_gpu = [x.cuda() for x in tensors]
    assert_close(model.cuda()(*on_gpu).cpu(), expected, atol=1e-4, rtol=1e-3)  # other kernels, other order of sums
    on_gpu[2][1] = False
    model(*on_gpu).square().mean().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


def test_an_output_layer_that_is_not_tied_begins_as_small_as_an_embedding() -> None:
    model = build_model(ModelConfig(d_model=64, num_heads=4, tie_output=False, share_embeddings=False), 2000, 2000)
    assert float(model.output.weight.detach().std()) == pytest.approx(1 / 8, rel=0.02)


def test_rms_norm_divides_by_the_root_mean_square() -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(3, 8, generator=generator) * 1e-2  # small, so that a large epsilon would show
    norm = make_norm(ModelConfig(d_model=8, num_heads=1, norm="rmsnorm"))
    assert_close(norm(x), x / x.square().mean(dim=1, keepdim=True).sqrt(), atol=0, rtol=0.02)
    assert_close(norm(torch.zeros(1, 8)), torch.zeros(1, 8))


@pytest.mark.parametrize("src_len", [1, 5, 40])
def test_outputs_of_the_expected_length_move_nothing_in_the_cache(src_len: int) -> None:
    assert src_len <= expected_length(src_len) <= 8 + 2 * src_len
    state = DecoderState([MemoryCache(torch.zeros(1, 2, 1, src_len, 4))], torch.ones(1, 1, 1, src_len).bool())
    places = {
        state.self_caches[0].append(torch.zeros(1, 2, 1, 1, 4)).data_ptr() for _ in range(expected_length(src_len))
    }
    assert len(places) == 1


def test_a_decoder_of_one_layer_steps_like_the_full_pass() -> None:
    model, (src, tgt, src_mask, tgt_mask) = make(ModelConfig(d_model=16, d_ff=32, num_decoder_layers=1)), batch()
    state = model.start(model.encode(src, src_mask), src_mask)
    assert_close(step_through(model, state, tgt)[tgt_mask], model(src, tgt, src_mask, tgt_mask)[tgt_mask])


def test_an_outline_has_the_shapes_of_the_network_and_no_storage(config: ModelConfig) -> None:
    torch.manual_seed(0)
    outline = build_outline(config, 23, 23)
    drawn = torch.rand(3)
    torch.manual_seed(0)
    assert torch.equal(torch.rand(3), drawn)  # nothing was drawn for it
    assert all(tensor.is_meta for tensor in (*outline.parameters(), *outline.buffers()))
    built = build_model(config, 23, 23)
    for tensors in (Transformer.named_parameters, Transformer.named_buffers):
        shapes, expected = ({n: t.shape for n, t in tensors(m, remove_duplicate=False)} for m in (outline, built))
        assert shapes == expected
    tied, expected = (m.output.weight is m.tgt_embedding.tokens.weight for m in (outline, built))
    assert tied == expected


@pytest.mark.parametrize("name", ["d_model", "d_ff", "max_positions"])
def test_an_outline_of_what_cannot_be_is_refused_in_one_line(name: str) -> None:
    config = replace(VARIANTS["learned"], **{name: 4 * 10**30})
    with pytest.raises(ValueError, match=r"^the settings describe no possible network: [^\n]+$"):
        build_outline(config, 23, 23)


def test_one_row_for_each_sentence_is_enough_to_repeat() -> None:
    model, (src, tgt, src_mask, tgt_mask) = make(TINY), batch()
    state = model.start(model.encode(src, src_mask), src_mask)
    state.repeat(1)
    assert_close(step_through(model, state, tgt)[tgt_mask], model(src, tgt, src_mask, tgt_mask)[tgt_mask])
