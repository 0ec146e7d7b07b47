"""Sampling without replacement against its probabilities, worked out by hand."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

from translate.config.decode import DecodeConfig
from translate.search.draw import drawing_log_probs
from translate.search.hypothesis import Hypothesis
from translate.search.loops import loop_repeats
from translate.search.stochastic_beam import StochasticBeam, _conditioned
from translate.translator.translator import Translator

PAD, UNK, BOS, EOS = 0, 1, 2, 3
VOCAB = 7
WORDS = (4, 5, 6)
TINY = Path(__file__).parents[1] / "fixtures" / "tiny_model"
TEXTS = ["a cat sat by the sea", "two dogs run", "dogs", "The red car is in the garden."]


class History:
    """Remembers the last two tokens of each row, so that a wrong order of rows shows."""

    def __init__(self, count: int) -> None:
        self.before = torch.full((count,), BOS)
        self.width = 1

    def repeat(self, beam_size: int) -> None:
        self.before, self.width = self.before.repeat_interleave(beam_size), beam_size

    def reorder(self, row_indices: Tensor) -> None:
        self.before = self.before[row_indices]

    def keep(self, sentence_indices: Tensor) -> None:
        self.before = self.before.view(-1, self.width)[sentence_indices].flatten()


class Trigrams:
    """A StepModel whose next token depends on the two before it: logits [V, V, V]."""

    def __init__(self) -> None:
        self.logits = torch.randn(VOCAB, VOCAB, VOCAB, generator=torch.Generator().manual_seed(1))

    def encode(self, src_ids: Tensor, src_mask: Tensor) -> Tensor:
        return src_ids[:, :, None].float()

    def start(self, memory: Tensor, src_mask: Tensor) -> History:
        return History(len(memory))

    def step(self, last_ids: Tensor, state: History) -> Tensor:
        logits, state.before = self.logits[state.before, last_ids], last_ids
        return logits

    def log_prob(self, token_ids: tuple[int, ...], *, drawing: bool = False, **changes: float) -> float:
        """By the model, or by what is drawn from."""
        total, before, last = 0.0, BOS, BOS
        for token in token_ids:
            row = self.logits[before, last].log_softmax(0)
            if drawing:
                row = row.index_fill(0, torch.tensor([PAD, UNK, BOS]), -math.inf)
                settings = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, **changes}
                row = drawing_log_probs(row[None], **settings)[0]  # type: ignore[arg-type]
            total, before, last = total + float(row[token]), last, token
        return total


def draw(*src_ids: int, prefixes: Sequence[tuple[int, ...]] = (), **changes: float) -> list[list[Hypothesis]]:
    values = {
        "temperature": 1.0,
        "top_k": 0,
        "top_p": 1.0,
        "seed": 1,
        "length_penalty": 1.0,
        "num_hypotheses": 4,
        "min_output_len": 1,
        "max_output_len": 3,
        "min_output_ratio": 0.0,
        "max_output_ratio": 0.0,
        "repetition_guard": False,
        "length_guard": False,
        **changes,
    }
    settings = DecodeConfig(search="sample_distinct", **values)  # type: ignore[arg-type]
    search = StochasticBeam(settings=settings, bos_id=BOS, eos_id=EOS, forbidden_ids=(PAD, UNK, BOS))
    ids = torch.tensor([[source, EOS] for source in src_ids])
    return search.search(Trigrams(), ids, torch.ones_like(ids, dtype=torch.bool), prefixes)


def all_outputs(max_len: int) -> list[tuple[int, ...]]:
    ended = [(*words, EOS) for length in range(max_len) for words in itertools.product(WORDS, repeat=length)]
    return [*ended, *itertools.product(WORDS, repeat=max_len)]


@pytest.mark.parametrize("changes", [{}, {"temperature": 0.6, "top_k": 3}])
def test_sets_of_two_come_as_often_as_sampling_without_replacement_says(changes: dict[str, float]) -> None:
    count, model = 8000, Trigrams()
    found = Counter(
        frozenset(output.token_ids for output in outputs)
        for outputs in draw(*range(count), num_hypotheses=2, max_output_len=2, **changes)
    )
    chances = {output: math.exp(model.log_prob(output, drawing=True, **changes)) for output in all_outputs(2)}
    assert sum(chances.values()) == pytest.approx(1)
    for one, other in itertools.combinations(chances, 2):
        p, q = chances[one], chances[other]
        chance = p * q / (1 - p) + q * p / (1 - q)
        share = found[frozenset((one, other))] / count  # within five standard deviations
        assert share == pytest.approx(chance, abs=5 * math.sqrt(chance / count) + 1e-9)


def test_as_many_as_there_are_gives_all_of_them() -> None:
    outputs = all_outputs(3)
    (found,) = draw(5, num_hypotheses=len(outputs) + 3)
    assert sorted(output.token_ids for output in found) == sorted(outputs)


def test_log_probs_are_the_models_and_best_come_first() -> None:
    model = Trigrams()
    for outputs in draw(5, 6, 7, temperature=2.0, top_p=0.95, length_penalty=0.5, num_hypotheses=6):
        assert len({output.token_ids for output in outputs}) == len(outputs) == 6
        for output in outputs:
            assert output.log_prob == pytest.approx(model.log_prob(output.token_ids), abs=1e-5)
            assert output.score == output.log_prob / len(output.token_ids) ** 0.5
        assert [output.score for output in outputs] == sorted((output.score for output in outputs), reverse=True)


def test_lengths_stay_within_their_limits() -> None:
    (found,) = draw(5, num_hypotheses=39, min_output_len=2, max_output_len=3)
    assert {len(output.token_ids) for output in found} == {2, 3}
    assert all(EOS not in output.token_ids[:-1] for output in found)


def test_what_follows_a_prefix_is_all_there_is_and_changes_no_other_sentence() -> None:
    outputs = [output for output in all_outputs(3) if output[0] == 5]
    found = draw(5, 6, prefixes=[(5,), ()], num_hypotheses=len(outputs) + 2)
    assert sorted(output.token_ids for output in found[0]) == sorted(outputs)
    assert [found[1]] == draw(6, num_hypotheses=len(outputs) + 2)


def test_guards_hold_back_loops_and_make_outputs_end() -> None:
    (free,), (held,) = (draw(5, max_output_len=9, num_hypotheses=40, repetition_guard=on) for on in (False, True))
    assert max(loop_repeats(output.token_ids) for output in free) > 2
    assert max(loop_repeats(output.token_ids) for output in held) == 2
    (ended,) = draw(5, max_output_len=4, num_hypotheses=40, length_guard=True)
    assert sorted(output.token_ids for output in ended) == sorted(out for out in all_outputs(4) if out[-1] == EOS)


def test_a_source_gets_its_own_whatever_the_batch() -> None:
    found = draw(5, 6, 5, max_output_len=6)
    assert found[0] == found[2] != found[1]
    assert draw(6, max_output_len=6) == [found[1]]
    assert draw(5, max_output_len=6, seed=2)[0] != found[0]


def test_a_trained_model_gives_different_outputs_that_score_as_reported() -> None:
    translator = Translator.load(TINY, device="cpu", precision="32")
    settings = {"search": "sample_distinct", "num_hypotheses": 5, "max_output_len": 20}
    found = translator.translate(TEXTS, **settings)  # type: ignore[arg-type]
    for src, one in zip(TEXTS, found, strict=True):
        assert len({hypothesis.token_ids for hypothesis in one.hypotheses}) == 5
        for hypothesis, score in zip(
            one.hypotheses,
            translator.score([(src, hypothesis.token_ids) for hypothesis in one.hypotheses]),
            strict=True,
        ):
            assert hypothesis.token_log_probs == pytest.approx([token.log_prob for token in score.tokens], abs=2e-5)
        (alone,) = translator.translate([src], **settings)  # type: ignore[arg-type]
        assert [h.token_ids for h in alone.hypotheses] == [h.token_ids for h in one.hypotheses]


def test_conditioned_keys_are_those_of_the_formula() -> None:
    keys = torch.tensor([[2.0, 1.9, 1.0, -3.0, -math.inf]], dtype=torch.float64)
    top = torch.tensor([0.5], dtype=torch.float64)
    finite = keys[0, :4]
    expected = -((-top).exp() - (-keys[0, 0]).exp() + (-finite).exp()).log()
    found = _conditioned(keys, top)[0]
    torch.testing.assert_close(found[:4], expected)
    assert found[0] == top[0]
    assert found[4] == -math.inf
