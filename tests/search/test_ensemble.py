"""Ensembles: the mean of the members' probabilities, step by step and by teacher forcing alike."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from translate.config.model import ModelConfig
from translate.data.tokenizer import Tokenizer
from translate.infer.__main__ import main
from translate.model.transformer import build_model
from translate.translator.bundle import save_bundle
from translate.translator.engines.torch import TorchEngine
from translate.translator.translator import Translator

TINY = Path(__file__).parents[1] / "fixtures" / "tiny_model"
TEXTS = ["a cat sat by the sea", "two dogs run", "dogs"]


def make_member(seed: int, **changes: object) -> Translator:
    """A model of the fixture's tokenizer, of other size."""
    fixture = Translator.load(TINY, device="cpu", precision="32")
    settings = {"d_model": 16, "d_ff": 24, "num_encoder_layers": 1, "num_decoder_layers": 2, **changes}
    config = replace(fixture.config, model=ModelConfig(**settings))  # type: ignore[arg-type]
    torch.manual_seed(seed)
    model = build_model(config.model, config.src_vocab_size, config.tgt_vocab_size).eval()
    return Translator(TorchEngine(model, fixture.tokenizer), fixture.tokenizer, config)


@pytest.fixture(scope="module")
def members() -> list[Translator]:
    return [
        Translator.load(TINY, device="cpu", precision="32"),
        make_member(1),
        make_member(2, attention="mla", positions="rotary"),
    ]


@pytest.fixture(scope="module")
def ensemble(members: list[Translator]) -> Translator:
    return Translator.ensemble(members)


def test_a_token_gets_the_mean_of_the_members_probabilities(members: list[Translator], ensemble: Translator) -> None:
    pairs = [("a cat sat", "un chat assis"), ("dogs", "les chiens")]
    alone = [member.score(pairs) for member in members]
    for place, found in enumerate(ensemble.score(pairs)):
        own = torch.tensor([[token.log_prob for token in scores[place].tokens] for scores in alone])
        expected = own.double().exp().mean(0).log()
        assert [token.log_prob for token in found.tokens] == pytest.approx(expected.tolist(), abs=1e-5)


def test_an_ensemble_of_equals_is_each_of_them(members: list[Translator]) -> None:
    twice = Translator.ensemble([members[0], members[0]])
    for found, expected in zip(twice.translate(TEXTS), members[0].translate(TEXTS), strict=True):
        assert found.text == expected.text
        assert found.score == pytest.approx(expected.score, abs=1e-5)


@pytest.mark.parametrize("search", ["beam", "sample", "sample_distinct"])
def test_reported_log_probs_equal_scoring_in_any_batch(ensemble: Translator, search: str) -> None:
    settings = {"search": search, "num_hypotheses": 4, "max_output_len": 12}
    found = ensemble.translate(TEXTS, **settings)  # type: ignore[arg-type]
    for src, one in zip(TEXTS, found, strict=True):
        scores = ensemble.score([(src, hypothesis.token_ids) for hypothesis in one.hypotheses])
        assert [h.log_prob for h in one.hypotheses] == pytest.approx([score.log_prob for score in scores], abs=1e-4)
        (alone,) = ensemble.translate([src], **settings)  # type: ignore[arg-type]
        assert [h.token_ids for h in alone.hypotheses] == [h.token_ids for h in one.hypotheses]


def test_members_of_one_depth_attend_with_all_their_heads(members: list[Translator]) -> None:
    pair = Translator.ensemble(members[1:])
    found = pair.cross_attention("a cat", "un chat").weights
    alone = [member.cross_attention("a cat", "un chat").weights for member in members[1:]]
    np.testing.assert_array_equal(found, np.concatenate(alone, axis=1))
    assert pair.align([("a cat", "un chat")])[0]
    with pytest.raises(ValueError, match=r"models of one depth, not \[1, 2\] layers"):
        Translator.ensemble(members[:2]).cross_attention("a cat", "un chat")


def test_limits_are_the_narrowest_of_all(members: list[Translator]) -> None:
    found = Translator.ensemble([members[0], make_member(3, positions="learned", max_positions=9)])
    assert found.max_src_len == 9
    with pytest.raises(ValueError, match=r"max_output_len \(10\) must be at most 9"):
        found.translate(["a cat"], max_output_len=10)
    assert found.translate(["the cat sat by the sea " * 5], max_output_len=9)[0].hypotheses


def test_what_does_not_fit_is_refused(members: list[Translator]) -> None:
    first = members[0]
    other = Tokenizer.train(["a cat sat"] * 9, ["un chat assis"] * 9, vocab_size=290)
    with pytest.raises(ValueError, match=r"model 2 has other pieces in its tokenizer than model 1"):
        Translator.ensemble([first, Translator(first.engine, other, first.config)])
    turned = replace(first.config, src_lang="fr", tgt_lang="en")
    with pytest.raises(ValueError, match=r"model 3 translates fr to en, but model 1 en to fr"):
        Translator.ensemble([first, first, Translator(first.engine, first.tokenizer, turned)])


def test_the_command_makes_an_ensemble_of_several_models(
    members: list[Translator], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    member = members[1]
    save_bundle(tmp_path / "model", member.engine.model, member.tokenizer, member.config)
    assert (
        main(
            [
                "--model",
                str(TINY),
                "--model",
                str(tmp_path),
                "--device",
                "cpu",
                "--precision",
                "32",
                "--json",
                "two dogs run",
            ]
        )
        == 0
    )
    (expected,) = Translator.ensemble(members[:2]).translate(["two dogs run"])
    found = json.loads(capfd.readouterr().out)
    assert (found["text"], found["score"]) == (expected.text, pytest.approx(expected.score, abs=1e-6))
