"""Choices by a measure of translations, by hand and against sacreBLEU's own sentence scores."""

import math
from pathlib import Path

import pytest
import sacrebleu

from translate.config.decode import DecodeConfig
from translate.infer.__main__ import main
from translate.search.mbr import closest, mbr_order, posterior
from translate.translator.translator import Translator

TINY = Path(__file__).parents[1] / "fixtures" / "tiny_model"
TEXTS = ["the cat sat on the mat", "the cat sat on a mat", "a dog ran in the park", "the cat is on the mat", ""]


@pytest.mark.parametrize("metric", ["chrf", "bleu"])
@pytest.mark.parametrize("weights", [[1, 1, 1, 1, 1], [0.1, 0.1, 3.0, 0.5, 0.1]])
def test_the_order_is_that_of_the_mean_sentence_score(metric: str, weights: list[float]) -> None:
    def measure(text: str, reference: str) -> float:
        if metric == "chrf":
            return sacrebleu.sentence_chrf(text, [reference]).score
        return sacrebleu.sentence_bleu(text, [reference]).score  # with effective order

    expected = [
        sum(weight * measure(text, other) for weight, other in zip(weights, TEXTS, strict=True)) for text in TEXTS
    ]
    order = mbr_order(TEXTS, [0.0] * len(TEXTS), weights, metric)
    assert order == sorted(range(len(TEXTS)), key=lambda place: -expected[place])
    assert order[0] == (0 if weights[0] == 1 else 2)


@pytest.mark.parametrize("metric", ["chrf", "bleu"])
def test_a_text_that_comes_often_wins_over_a_better_score(metric: str) -> None:
    texts = ["un chat noir dort", "le chien court vite", "le chien court vite", "le chien court"]
    assert mbr_order(texts, [-0.1, -2.0, -1.0, -3.0], [1.0] * 4, metric) == [2, 1, 3, 0]


def test_ties_go_to_the_better_score() -> None:
    assert mbr_order(["abc", "xyz"], [-2.0, -1.0], [0.5, 0.5], "chrf") == [1, 0]
    assert mbr_order(["same", "same"], [-2.0, -1.0], [0.9, 0.1], "bleu") == [1, 0]
    assert mbr_order(["abc", "xyz"], [-2.0, -1.0], [0.6, 0.4], "chrf") == [0, 1]


def test_the_posterior_survives_tiny_probabilities() -> None:
    assert posterior([-2000.0, -2000.0 + math.log(3)]) == pytest.approx([0.25, 0.75])


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the metric \(ter\) must be one of chrf, bleu"):
        mbr_order(["a"], [0.0], [1.0], "ter")
    with pytest.raises(ValueError, match=r"the metric \(ter\) must be one of chrf, bleu"):
        closest(["a"], "a", "ter")
    with pytest.raises(ValueError, match=r"decode\.mbr \(ter\) must be one of none, chrf, bleu"):
        DecodeConfig(mbr="ter")


def test_the_closest_is_what_sacrebleu_scores_highest() -> None:
    reference = "a cat sat on the mat"
    scores = [sacrebleu.sentence_bleu(text, [reference], use_effective_order=True).score for text in TEXTS]
    assert closest(TEXTS, reference, "bleu") == scores.index(max(scores))
    assert closest([*TEXTS, reference, reference], reference, "bleu") == len(TEXTS)
    with pytest.raises(ValueError, match="no candidate"):
        closest([], reference, "bleu")


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(TINY, device="cpu", precision="32")


@pytest.mark.parametrize("search", ["beam", "sample", "sample_distinct"])
def test_translations_are_the_same_hypotheses_in_another_order(translator: Translator, search: str) -> None:
    texts = ["a cat sat by the sea", "", "two dogs run in the garden"]
    plain = translator.translate(texts, search=search, num_hypotheses=5)
    for before, after in zip(
        plain, translator.translate(texts, search=search, num_hypotheses=5, mbr="chrf"), strict=True
    ):
        found = before.hypotheses
        equal = search == "sample" or not found
        weights = [1.0] * len(found) if equal else posterior([one.log_prob for one in found])
        order = mbr_order([one.text for one in found], [one.score for one in found], weights, "chrf") if found else []
        assert after.hypotheses == tuple(found[place] for place in order)
        assert (after.text, after.score) == (after.hypotheses[0][:2] if found else ("", 0.0))


def test_choosing_among_one_is_refused(translator: Translator) -> None:
    with pytest.raises(ValueError, match=r"mbr \(bleu\) chooses among num_hypotheses, which is 1"):
        translator.translate(["a cat"], mbr="bleu")


def test_the_command_writes_the_choice_alone(translator: Translator, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "--model",
        str(TINY),
        "--device",
        "cpu",
        "--precision",
        "32",
        "--sample",
        "--num-hypotheses",
        "8",
        "--mbr",
        "chrf",
    ]
    assert main([*arguments, "two dogs run"]) == 0
    (expected,) = translator.translate(["two dogs run"], search="sample", num_hypotheses=8, mbr="chrf")
    assert capfd.readouterr().out == f"{expected.text}\n"
