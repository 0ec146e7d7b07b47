"""The decoder-only language model: its loss, its caches, its draws."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.testing import assert_close

from translate.config.model import ModelConfig
from translate.model.language_model import LanguageModel, build_language_model, draw

KINDS = ["mha", "gqa", "mqa", "mla", "talking_heads"]
every_kind = pytest.mark.parametrize("kind", KINDS)
every_position = pytest.mark.parametrize("positions", ["sinusoidal", "rotary"])


def make(kind: str = "mha", positions: str = "sinusoidal", *, seed: int = 0) -> LanguageModel:
    torch.manual_seed(seed)
    config = ModelConfig(d_model=16, d_ff=32, num_heads=4, num_decoder_layers=2, attention=kind, positions=positions)
    model = build_language_model(config, 11).eval()
    for name, parameter in model.named_parameters():
        if "mix" in name:
            nn.init.normal_(parameter, std=0.5)
    return model


def some_ids(*shape: int) -> Tensor:
    return torch.randint(0, 11, shape, generator=torch.Generator().manual_seed(1))


@every_position
@every_kind
def test_a_later_id_changes_no_earlier_logit(kind: str, positions: str) -> None:
    model, ids = make(kind, positions), some_ids(2, 8)
    changed = ids.clone()
    changed[:, 5] = (changed[:, 5] + 1) % 11
    assert torch.equal(model(ids)[:, :5], model(changed)[:, :5])
    assert not torch.equal(model(ids)[:, 5:], model(changed)[:, 5:])


@every_position
@every_kind
def test_step_by_step_equals_the_full_pass(kind: str, positions: str) -> None:
    model, ids = make(kind, positions), some_ids(3, 24)
    caches = model.start()
    steps = [model.step(ids[:, :5], caches)] + [model.step(ids[:, t : t + 1], caches) for t in range(5, 24)]
    assert_close(torch.stack(steps, 1), model(ids)[:, 4:], atol=1e-5, rtol=1e-5)


def test_the_loss_is_that_of_each_next_id() -> None:
    model, ids = make(), some_ids(2, 6)
    expected = F.cross_entropy(model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    assert_close(model.loss(ids), expected)


def test_padding_weighs_nothing_in_the_loss() -> None:
    model, ids = make(), some_ids(2, 6)
    mask = torch.ones(2, 6, dtype=torch.bool)
    mask[1, 4:] = False
    alone = torch.stack((model.loss(ids[:1]) * 5, model.loss(ids[1:, :4]) * 3)).sum() / 8
    assert_close(model.loss(ids, mask), alone)


def test_a_fresh_model_knows_nothing() -> None:
    assert make().loss(some_ids(8, 40)).item() == pytest.approx(math.log(11), abs=0.7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_a_text_that_repeats_is_learnt(kind: str) -> None:
    model = make(kind).train()
    ids = torch.tensor([[1, 2, 3, 4, 5] * 4, [5, 3, 1, 4, 2] * 4])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(100):
        optimizer.zero_grad()
        model.loss(ids).backward()
        optimizer.step()
    assert model.eval().loss(ids) < 0.3
    assert torch.equal(model.sample(ids[:, :7], 13, temperature=0), ids)


def test_samples_repeat_with_their_seed_and_keep_the_prompt() -> None:
    model, prompt = make(), some_ids(2, 3)
    first, again, other = (
        model.sample(prompt, 20, generator=torch.Generator().manual_seed(seed)) for seed in (0, 0, 1)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert first.shape == (2, 23)
    assert torch.equal(first[:, :3], prompt)


def test_temperature_zero_and_one_candidate_take_the_best_id() -> None:
    model, prompt = make(), some_ids(2, 3)
    ids = prompt
    for _ in range(6):
        ids = torch.cat((ids, model(ids)[:, -1].argmax(-1, keepdim=True)), 1)
    assert torch.equal(model.sample(prompt, 6, temperature=0), ids)
    assert torch.equal(model.sample(prompt, 6, top_k=1), ids)


def test_draws_follow_the_probabilities() -> None:
    logits = torch.tensor([[0.5, 0.3, 0.15, 0.05]]).log().expand(20000, -1)
    generator = torch.Generator().manual_seed(0)

    def shares(**settings: object) -> Tensor:
        drawn = draw(logits, generator=generator, **{"temperature": 1.0, "top_k": None} | settings)
        return torch.bincount(drawn, minlength=4) / 20000

    assert_close(shares(), torch.tensor([0.5, 0.3, 0.15, 0.05]), atol=0.015, rtol=0)
    assert_close(shares(top_k=2), torch.tensor([0.625, 0.375, 0.0, 0.0]), atol=0.015, rtol=0)
    squares = torch.tensor([0.25, 0.09, 0.0225, 0.0025])
    assert_close(shares(temperature=0.5), squares / squares.sum(), atol=0.015, rtol=0)


def test_what_cannot_be_is_refused() -> None:
    model = make()
    with pytest.raises(ValueError, match="at least 2 ids in a row, not 1"):
        model.loss(some_ids(2, 1))
    with pytest.raises(ValueError, match="the mask leaves no id to predict"):
        model.loss(some_ids(2, 3), torch.tensor([[True, False, False]] * 2))
    with pytest.raises(ValueError, match="the prompt is empty"):
        model.sample(some_ids(2, 0), 3)
    with pytest.raises(ValueError, match=r"temperature \(-1\)"):
        model.sample(some_ids(2, 2), 3, temperature=-1)
    with pytest.raises(ValueError, match=r"top_k \(0\)"):
        model.sample(some_ids(2, 2), 3, top_k=0)
    caches = model.start()
    model.step(some_ids(2, 3), caches)
    with pytest.raises(ValueError, match="one by one, not 2 at once"):
        model.step(some_ids(2, 2), caches)


def test_ids_without_a_padding_id_all_learn() -> None:
    model = make().train()
    model.loss(some_ids(4, 30)).backward()
    gradient = model.embedding.tokens.weight.grad
    assert gradient is not None
    assert (gradient.abs().sum(1) > 0).all()


def test_two_ids_are_enough_for_a_loss() -> None:
    model = make()
    ids = torch.tensor([[3, 4]])
    expected = -model(ids[:, :1])[0, 0].log_softmax(-1)[4]
    torch.testing.assert_close(model.loss(ids), expected)
