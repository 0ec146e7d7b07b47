"""Sampling against the distribution it draws from, by hand and on a small trained model."""

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from omegaconf import OmegaConf
from torch import Tensor

from translate.common.resources import conf_dir
from translate.config.decode import DecodeConfig
from translate.search.draw import drawing_log_probs, generator_of
from translate.search.hypothesis import Hypothesis
from translate.search.loops import loop_repeats
from translate.search.sampling import Sampling, _at
from translate.translator.translator import Translator

PAD, UNK, BOS, EOS = 0, 1, 2, 3
VOCAB = 8
TINY = Path(__file__).parents[1] / "fixtures" / "tiny_model"
TEXTS = ["a cat sat by the sea", "two dogs run", "dogs", "The red car is in the garden."]


class NoState:
    """What a model without memory remembers."""

    def repeat(self, beam_size: int) -> None: ...

    def reorder(self, row_indices: Tensor) -> None: ...

    def keep(self, sentence_indices: Tensor) -> None: ...


class Chain:
    """A StepModel whose next token depends on the last one alone: logits [V, V]."""

    def __init__(self, logits: Tensor) -> None:
        self.logits = logits

    def encode(self, src_ids: Tensor, src_mask: Tensor) -> Tensor:
        return src_ids[:, :, None].float()

    def start(self, memory: Tensor, src_mask: Tensor) -> NoState:
        return NoState()

    def step(self, last_ids: Tensor, state: NoState) -> Tensor:
        return self.logits[last_ids]

    def log_prob(self, token_ids: tuple[int, ...]) -> float:
        log_probs = self.logits.double().log_softmax(1)
        return float(sum(log_probs[last, token] for last, token in zip((BOS, *token_ids), token_ids, strict=False)))


def make_sampling(**changes: float) -> Sampling:
    values = {
        "temperature": 1.0,
        "top_k": 0,
        "top_p": 1.0,
        "seed": 1,
        "length_penalty": 1.0,
        "num_hypotheses": 50,
        "min_output_len": 1,
        "max_output_len": 6,
        "min_output_ratio": 0.0,
        "max_output_ratio": 0.0,
        "repetition_guard": False,
        "length_guard": False,
        **changes,
    }
    settings = DecodeConfig(search="sample", **values)  # type: ignore[arg-type]
    return Sampling(settings=settings, bos_id=BOS, eos_id=EOS, forbidden_ids=(PAD, UNK, BOS))


def make_chain(seed: int = 0) -> Chain:
    return Chain(torch.randn(VOCAB, VOCAB, generator=torch.Generator().manual_seed(seed)))


def draw(chain: Chain, *src_ids: int, **changes: float) -> list[list[Hypothesis]]:
    ids = torch.tensor([[source, EOS] for source in src_ids])
    return make_sampling(**changes).search(chain, ids, torch.ones_like(ids, dtype=torch.bool))


@pytest.mark.parametrize(
    "changes", [{}, {"temperature": 0.5}, {"temperature": 2.0}, {"top_k": 2}, {"top_p": 0.7}, {"min_output_len": 2}]
)
@pytest.mark.slow
def test_samples_follow_the_distribution(changes: dict[str, float]) -> None:
    chain, count = make_chain(), 20_000
    (samples,) = draw(chain, 9, num_hypotheses=count, max_output_len=2, **changes)
    allowed = chain.logits.log_softmax(1).index_fill(1, torch.tensor([PAD, UNK, BOS]), -math.inf)
    first = allowed[BOS].clone()
    if "min_output_len" in changes:
        first[EOS] = -math.inf
    rows = torch.stack((first, *allowed[4:]))
    settings = {name: changes.get(name, off) for name, off in (("temperature", 1.0), ("top_k", 0), ("top_p", 1.0))}
    chances = drawing_log_probs(rows, **settings).exp()  # type: ignore[arg-type]
    found = Counter(sample.token_ids for sample in samples)
    expected = {(a, b): float(chances[0, a] * chances[a - 3, b]) for a in range(4, VOCAB) for b in range(3, VOCAB)}
    expected[EOS,] = float(chances[0, EOS])
    assert sum(expected.values()) == pytest.approx(1)
    for output, chance in expected.items():  # five standard deviations of a share
        assert found[output] / count == pytest.approx(chance, abs=5 * math.sqrt(chance / count) + 1e-9)
    assert set(found) <= set(expected)


def test_log_probs_are_the_models_whatever_is_drawn_from() -> None:
    chain = make_chain()
    for changes in ({}, {"temperature": 3.0, "top_k": 3}, {"top_p": 0.4, "min_output_len": 3}):
        for sample in draw(chain, 9, length_penalty=0.5, **changes)[0]:
            assert sample.log_prob == pytest.approx(chain.log_prob(sample.token_ids), abs=1e-5)
            assert sample.log_prob == pytest.approx(sum(sample.token_log_probs or ()))
            assert sample.score == sample.log_prob / len(sample.token_ids) ** 0.5


def test_lengths_stay_within_their_limits_and_only_an_end_is_eos() -> None:
    (samples,) = draw(make_chain(), 9, min_output_len=2, max_output_len=4, num_hypotheses=200)
    assert {len(sample.token_ids) for sample in samples} == {2, 3, 4}
    for sample in samples:
        assert EOS not in sample.token_ids[:-1]
        assert len(sample.token_ids) == 4 or sample.token_ids[-1] == EOS
        assert not {PAD, UNK, BOS} & set(sample.token_ids)
    (samples,) = draw(make_chain(), 9, max_output_ratio=0.1, max_output_len=50, num_hypotheses=200)
    assert max(len(sample.token_ids) for sample in samples) == 10


def test_samples_are_best_first_and_more_of_them_contain_the_fewer() -> None:
    (few,), (many,) = (draw(make_chain(), 9, num_hypotheses=count) for count in (5, 40))
    assert [sample.score for sample in many] == sorted((sample.score for sample in many), reverse=True)
    assert not Counter(few) - Counter(many)


def test_a_seed_and_a_source_decide() -> None:
    chain = make_chain()
    found, again = draw(chain, 9, 10, 9, num_hypotheses=20), draw(chain, 10, 9, num_hypotheses=20)
    assert found[0] == found[2] == again[1]
    assert found[1] == again[0]
    assert found[0] != found[1]
    assert draw(chain, 9, num_hypotheses=20, seed=0)[0] != found[0]
    assert generator_of(3, [5]).random() != generator_of(3, [6]).random()


def test_prefixes_least_lengths_and_guards_shape_what_is_drawn() -> None:
    chain, ids = make_chain(), torch.tensor([[9, EOS, EOS], [9, EOS, PAD]])
    search = make_sampling(min_output_ratio=1.0, max_output_len=8)
    found = search.search(chain, ids, ids != PAD, [(5, 6), ()])
    assert {sample.token_ids[:2] for sample in found[0]} == {(5, 6)}
    assert [min(len(sample.token_ids) for sample in samples) for samples in found] == [3, 2]
    for sample in (*found[0], *found[1]):
        assert sample.log_prob == pytest.approx(chain.log_prob(sample.token_ids), abs=1e-5)
    chain.logits[:, 5] += 3
    assert max(loop_repeats(sample.token_ids) for sample in draw(chain, 9)[0]) > 3
    assert max(loop_repeats(sample.token_ids) for sample in draw(chain, 9, repetition_guard=True)[0]) == 2
    guarded = draw(chain, 9, length_guard=True)[0]
    assert all(sample.token_ids[-1] == EOS and len(sample.token_ids) <= 6 for sample in guarded)


def test_drawing_from_one_token_is_greedy() -> None:
    translator = Translator.load(TINY, device="cpu", precision="32")
    greedy = translator.translate(TEXTS, beam_size=1)
    for changes in ({"top_k": 1}, {"top_p": 1e-6}, {"top_p": 1e-300}, {"temperature": 1e-4}):
        found = translator.translate(TEXTS, search="sample", **changes)  # type: ignore[arg-type]
        assert [one.text for one in found] == [one.text for one in greedy]


def test_temperature_top_k_and_top_p_by_hand() -> None:
    log_probs = torch.tensor([[0.4, 0.3, 0.2, 0.1, 0.0]]).log()

    def shares(**changes: float) -> list[float]:
        settings = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, **changes}
        return drawing_log_probs(log_probs, **settings).exp()[0].tolist()  # type: ignore[arg-type, no-any-return]

    assert shares() == pytest.approx([0.4, 0.3, 0.2, 0.1, 0.0])
    assert shares(temperature=0.5) == pytest.approx([0.16 / 0.3, 0.09 / 0.3, 0.04 / 0.3, 0.01 / 0.3, 0.0])
    assert shares(top_k=2) == pytest.approx([4 / 7, 3 / 7, 0, 0, 0])
    assert shares(top_k=99) == pytest.approx(shares())
    assert shares(top_p=0.65) == pytest.approx([4 / 7, 3 / 7, 0, 0, 0])
    assert shares(top_p=0.75) == pytest.approx([4 / 9, 3 / 9, 2 / 9, 0, 0])
    assert shares(top_k=3, top_p=0.7) == pytest.approx([4 / 7, 3 / 7, 0, 0, 0])  # 0.7 of what top_k left


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(TINY, device="cpu", precision="32")


def test_a_sample_depends_on_nothing_in_its_batch(translator: Translator) -> None:
    settings = {"search": "sample", "num_hypotheses": 6, "max_output_len": 20, "seed": 3}
    found = translator.translate(TEXTS, **settings)  # type: ignore[arg-type]
    assert len({one.hypotheses for one in found}) == len(TEXTS)
    for batch_tokens, order in ((1, [0, 1, 2, 3]), (100, [3, 1, 0, 2]), (100_000, [2, 3, 1, 0])):
        again = translator.translate([TEXTS[i] for i in order], batch_tokens=batch_tokens, **settings)  # type: ignore[arg-type]
        for place, one in zip(order, again, strict=True):
            assert [h.token_ids for h in one.hypotheses] == [h.token_ids for h in found[place].hypotheses]
            assert one.score == pytest.approx(found[place].score, abs=1e-5)


def test_reported_log_probs_equal_scoring(translator: Translator) -> None:
    found = translator.translate(TEXTS, search="sample", num_hypotheses=5, temperature=1.5, top_k=50)
    pairs = [(src, h) for src, one in zip(TEXTS, found, strict=True) for h in one.hypotheses]
    scores = translator.score([(src, h.token_ids) for src, h in pairs])
    for (_, hypothesis), score in zip(pairs, scores, strict=True):
        assert hypothesis.token_log_probs == pytest.approx([token.log_prob for token in score.tokens], abs=2e-5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"search": "sample", "temperature": 0.0}, r"temperature \(0\.0\) must be at least 0\.0001"),
        ({"search": "sample", "top_p": 0.0}, r"top_p \(0\.0\) must be above 0 and at most 1"),
        ({"search": "sample", "top_k": -1}, r"top_k \(-1\) must be at least 0"),
        ({"search": "sample", "seed": -1}, r"seed \(-1\) must be at least 0"),
        ({"search": "dream"}, r"search \(dream\) must be one of beam, sample, sample_distinct"),
        ({"top_k": 3}, r"top_k \(3\) does nothing with search=beam; choose search=sample"),
    ],
)
def test_bad_settings_are_refused(translator: Translator, settings: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        translator.translate([], **settings)  # type: ignore[arg-type]


def test_a_beam_can_be_asked_of_a_model_that_samples(translator: Translator) -> None:
    decode = DecodeConfig(search="sample", num_hypotheses=20, top_k=5)
    config = replace(translator.config, decode=decode)
    stored = Translator(translator.engine, translator.tokenizer, config)
    assert len(stored.translate(["dogs"])[0].hypotheses) == 20
    assert stored.translate(TEXTS, beam_size=1) == translator.translate(TEXTS, beam_size=1)
    assert len(stored.translate(["dogs"], search="beam")[0].hypotheses) == decode.beam_size


def test_the_file_of_settings_samples() -> None:
    values = OmegaConf.load(conf_dir() / "decode" / "sample.yaml")
    assert OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(DecodeConfig), values)) == DecodeConfig("sample")


@pytest.mark.parametrize("top_p", [0.3, 0.9])
def test_a_nucleus_may_be_wider_than_what_is_sorted_at_first(top_p: float) -> None:
    logits = torch.randn(4, 500, generator=torch.Generator().manual_seed(0)) * torch.tensor(
        [[0.01], [0.1], [1.0], [9.0]]
    )
    shares = logits.softmax(1)
    found = drawing_log_probs(logits, temperature=1.0, top_k=0, top_p=top_p).exp() > 0
    for row, kept in zip(shares, found, strict=True):
        ordered = row.sort(descending=True).values
        count = int((ordered.cumsum(0) - ordered < top_p).sum())
        assert abs(int(kept.sum()) - count) <= 1  # the sums are added in another order
        assert row[kept].min() >= row[~kept].max() if count < 500 else kept.all()
    assert found.sum(1)[0] > 64 > found.sum(1)[3]


def test_a_token_without_probability_is_never_drawn_even_at_the_edge() -> None:
    log_probs = torch.tensor([[0.0, 0.25, 0.0, 0.75, 0.0]]).log()
    points = torch.tensor([[0.0, 0.25, 0.2499, 1 - 1e-12]], dtype=torch.float64)
    assert _at(log_probs, points).tolist() == [[1, 3, 1, 3]]


def test_what_is_not_a_number_is_an_error() -> None:
    with pytest.raises(ValueError, match="NaN"):
        draw(Chain(torch.full((VOCAB, VOCAB), math.nan)), 9)
