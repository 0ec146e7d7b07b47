"""Model FLOPs, by hand and as torch counts them."""

from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from translate.benchmark.flops import Work, forward_flops, training_flops
from translate.config.model import ModelConfig
from translate.data.batch import Batch, Example, collate
from translate.model.attention import Attention
from translate.model.transformer import build_model, record_attention

MODEL = ModelConfig(d_model=8, d_ff=12, num_heads=4, num_encoder_layers=1, num_decoder_layers=1)


def batch(src_lens: list[int], tgt_lens: list[int]) -> Batch:
    pairs = zip(src_lens, tgt_lens, strict=True)
    return collate([Example([5] * src, [6] * tgt) for src, tgt in pairs], pad_id=0, bos_id=2)


def test_work_counts_tokens_and_pairs_of_real_tokens() -> None:
    work = Work.of([batch([3, 1], [2, 4]), batch([2], [1])])
    assert work == Work(
        src_tokens=6,
        tgt_tokens=7,
        src_pairs=9 + 1 + 4,
        tgt_pairs=(1 + 2) + (1 + 2 + 3 + 4) + 1,
        cross_pairs=6 + 4 + 2,
        positions=2 * 3 + 2 * 4 + 2 + 1,
    )
    assert work.padding_share == pytest.approx(4 / 17)


def test_padding_costs_nothing() -> None:
    together, alone = Work.of([batch([3, 1], [2, 4])]), Work.of([batch([3], [2]), batch([1], [4])])
    assert replace(together, positions=0) == replace(alone, positions=0)
    assert alone.padding_share == 0


def test_flops_of_a_tiny_model_by_hand() -> None:
    model = build_model(MODEL, 10, 10)
    src, tgt = 3, 2
    encoder = src * (4 * 8 * 8 + 2 * 8 * 12) + src * src * 2 * 8  # q, k, v, out; feed-forward; scores and sum
    decoder = tgt * (4 * 8 * 8 + 2 * 8 * 12) + (1 + 2) * 2 * 8
    cross = tgt * 2 * 8 * 8 + src * 2 * 8 * 8 + tgt * src * 2 * 8
    multiply_adds = encoder + decoder + cross + tgt * 8 * 10
    work = Work.of([batch([src], [tgt])])
    assert forward_flops(model, work) == 2 * multiply_adds
    assert training_flops(model, work) == 6 * multiply_adds


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"attention": "gqa"},
        {"attention": "mqa"},
        {"attention": "mla"},
        {"attention": "mla", "kv_latent_dim": 3, "cross_attention": "mha", "positions": "rotary", "head_dim": 4},
        {"attention": "talking_heads"},
        {"encoder_attention": "talking_heads", "decoder_attention": "mla", "cross_attention": "gqa", "num_kv_heads": 1},
        {"activation": "swiglu", "head_dim": 3, "tie_output": False, "share_embeddings": False, "bias": False},
    ],
    ids=lambda changes: " ".join(map(str, changes.values())) or "mha",
)
def test_flops_are_those_that_torch_counts(changes: dict) -> None:
    """Where nothing is padded, and with all pairs in the decoder, which torch computes and masks."""
    config = replace(MODEL, num_encoder_layers=2, num_decoder_layers=2, **changes)
    model, one = build_model(config, 10, 10), batch([5, 5], [4, 4])
    attentions = [module for module in model.modules() if isinstance(module, Attention)]
    with record_attention(attentions), FlopCounterMode(display=False) as counter:  # plain matmuls, which it knows
        logits = model(one.src_ids, one.tgt_in_ids, one.src_mask, one.tgt_mask)
        forward = counter.get_total_flops()
        logits.sum().backward()
    work = Work.of([one])
    assert work.tgt_pairs == 2 * 10
    unmasked = replace(work, tgt_pairs=2 * 16)
    assert forward == forward_flops(model, unmasked)
    assert counter.get_total_flops() == training_flops(model, unmasked)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_batches_on_a_gpu_count_alike() -> None:
    one = batch([3, 1], [2, 4])
    assert Work.of([one.to(torch.device("cuda"))]) == Work.of([one])
