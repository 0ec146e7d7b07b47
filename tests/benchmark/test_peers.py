"""Other implementations: the same batches, sizes and tokens, and what differs is said."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from translate.benchmark.loop import peer_turn
from translate.benchmark.peers import Sizes, find_peers, peer_loss
from translate.benchmark.timing import training_turn
from translate.config.model import ModelConfig
from translate.data.batch import Example, collate
from translate.model.transformer import build_model
from translate.translator.bundle import num_parameters

CPU = torch.device("cpu")
SIZES = Sizes(src_vocab=30, tgt_vocab=30, max_len=16, pad_id=0, bos_id=2, eos_id=3)
MODEL = ModelConfig(d_model=16, d_ff=24, num_heads=2, num_encoder_layers=2, num_decoder_layers=1)
NAMES = ["nn.Transformer", "MarianMTModel"]


def build(name: str, config: ModelConfig = MODEL, sizes: Sizes = SIZES) -> tuple[nn.Module, list[str]]:
    if name == "MarianMTModel":
        pytest.importorskip("transformers")
    torch.manual_seed(0)
    peer = find_peers(config, sizes)[0][name]
    return peer.build(), peer.differences


def batch(*lengths: tuple[int, int]):
    return collate([Example([5] * (src - 1) + [3], [7] * (tgt - 1) + [3]) for src, tgt in lengths], pad_id=0, bos_id=2)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("changes", [{}, {"norm_first": False}, {"share_embeddings": False}], ids=str)
def test_parameters_are_as_many_as_ours_but_for_the_stated_differences(name: str, changes: dict) -> None:
    config = replace(MODEL, **changes)
    ours = num_parameters(build_model(config, 30, 30))
    model, differences = build(name, config)
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    no_last_norms = "norm after each sub-layer, so none after the last layers" in differences
    assert ours - trained == (2 * 2 * 16 if no_last_norms else 0)
    assert no_last_norms == (name == "MarianMTModel" and config.norm_first)


@pytest.mark.parametrize("name", NAMES)
def test_the_loss_is_a_mean_over_real_tokens_and_every_weight_has_a_gradient(name: str) -> None:
    model = build(name)[0].eval()
    one, other, both = batch((4, 3)), batch((2, 6)), batch((4, 3), (2, 6))
    losses = [peer_loss(model, part, 0.1).item() for part in (one, other)]
    loss = peer_loss(model, both, 0.1)
    assert loss.isfinite()
    assert loss.item() == pytest.approx((3 * losses[0] + 6 * losses[1]) / 9, rel=1e-5)  # so padding changes nothing
    loss.backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters() if p.requires_grad)


@pytest.mark.parametrize("name", NAMES)
def test_a_later_token_changes_no_earlier_logit(name: str) -> None:
    model, one = build(name)[0].eval(), batch((4, 5), (2, 3))
    changed = replace(one, tgt_in_ids=one.tgt_in_ids.clone())
    changed.tgt_in_ids[0, 3] = 9
    torch.testing.assert_close(model(one)[0, :3], model(changed)[0, :3])
    assert not torch.allclose(model(one)[0, 3], model(changed)[0, 3])


@pytest.mark.parametrize("name", NAMES)
def test_dropout_is_where_ours_is(name: str) -> None:
    config = replace(MODEL, dropout=0.0, embedding_dropout=0.0)
    one, (model, _) = batch((4, 5)), build(name, config)
    torch.testing.assert_close(model.train()(one), model.eval()(one))
    for place in ("dropout", "attention_dropout", "activation_dropout"):
        model = build(name, replace(config, **{place: 0.5}))[0].train()
        assert not torch.equal(model(one), model(one)), place
    model, differences = build(name, replace(config, word_dropout=0.5))
    assert torch.equal(model.train()(one), model(one)) == ("no dropout of words" in differences)


@pytest.mark.parametrize(
    ("changes", "trained"),
    [
        ({"tie_output": False}, 0),
        ({"tie_output": False, "share_embeddings": False}, 0),
        ({"positions": "learned", "max_positions": 16}, 0),
        ({"bias": False}, -16 * (2 * 2 + 3 + 2)),
    ],
    ids=str,
)
def test_what_marian_cannot_be_torch_is(monkeypatch, changes: dict, trained: int) -> None:
    monkeypatch.setattr("translate.benchmark.peers.find_spec", lambda name: object())
    monkeypatch.setattr("translate.benchmark.peers.version", lambda name: "1")
    config = replace(MODEL, **changes)
    peers, left_out = find_peers(config, SIZES)
    assert ("MarianMTModel" in left_out) == ("share_embeddings" not in changes)
    ours = num_parameters(build_model(config, 30, 30))
    assert num_parameters(peers["nn.Transformer"].build()) - ours == trained
    assert bool(peers["nn.Transformer"].differences) == bool(trained)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"attention": "gqa"}, "has no attention gqa"),
        ({"cross_attention": "mla", "decoder_attention": "mqa"}, "has no attention mla, mqa"),
        ({"head_dim": 4}, "has no head_dim=4"),
        ({"norm": "rmsnorm"}, "has no norm=rmsnorm"),
        ({"activation": "swiglu", "positions": "rotary"}, "has no activation=swiglu; has no positions=rotary"),
    ],
)
def test_what_a_peer_cannot_be_leaves_it_out(monkeypatch, changes: dict, reason: str) -> None:
    monkeypatch.setattr("translate.benchmark.peers.find_spec", lambda name: object())
    assert find_peers(replace(MODEL, **changes), SIZES) == ({}, dict.fromkeys(NAMES, reason))


def test_a_peer_that_is_not_installed_says_how(monkeypatch) -> None:
    monkeypatch.setattr("translate.benchmark.peers.find_spec", lambda name: None if name == "transformers" else 1)
    peers, left_out = find_peers(MODEL, SIZES)
    assert list(peers) == ["nn.Transformer"]
    assert left_out == {"MarianMTModel": "pip install transformers"}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("accumulate", [1, 2])
def test_a_peer_trains_on_our_batches(config, data, model, name: str, accumulate: int) -> None:
    config = replace(config, steps=5, trainer=replace(config.trainer, accumulate=accumulate))
    sizes = replace(SIZES, src_vocab=data.tokenizer.src_vocab_size, tgt_vocab=data.tokenizer.tgt_vocab_size, max_len=64)
    build(name, config.model, sizes)
    turn = peer_turn(find_peers(config.model, sizes)[0][name], config, data, CPU)
    ours = training_turn(model, config, data, CPU)
    assert turn.tokens == ours.tokens
    assert all(torch.equal(a.labels, b.labels) for a, b in zip(turn.batches, ours.batches, strict=True))
    assert turn.seconds > 0
    assert turn.peak_bytes > 0
