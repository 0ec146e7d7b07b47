"""Beam search against a scripted model, brute force, greedy search and teacher forcing."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from translate.config.decode import DecodeConfig
from translate.config.model import ModelConfig
from translate.model.transformer import Transformer, build_model
from translate.search.beam import BeamSearch
from translate.search.candidates import best_candidates, top_k
from translate.search.hypothesis import Hypothesis, normalized_score
from translate.search.loops import loop_repeats

PAD, UNK, BOS, EOS = 0, 1, 2, 3
WORDS = (4, 5, 6, 7)
VOCAB = 8
Script = Callable[[int, tuple[int, ...]], Tensor]


@dataclass
class ScriptedState:
    """Remembers what a real state would: the source of each sentence and the tokens behind each row."""

    sources: list[int]
    prefixes: list[tuple[int, ...]]
    beam_size: int = 1

    def repeat(self, beam_size: int) -> None:
        self.prefixes = [prefix for prefix in self.prefixes for _ in range(beam_size)]
        self.beam_size = beam_size

    def reorder(self, row_indices: Tensor) -> None:
        rows = row_indices.tolist()
        assert [row // self.beam_size for row in rows] == [row // self.beam_size for row in range(len(self.prefixes))]
        self.prefixes = [self.prefixes[row] for row in rows]

    def keep(self, sentence_indices: Tensor) -> None:
        kept = sentence_indices.tolist()
        self.prefixes = [self.prefixes[i * self.beam_size + n] for i in kept for n in range(self.beam_size)]
        self.sources = [self.sources[i] for i in kept]


class ScriptedModel:
    """A StepModel whose logits are a function of the source's first id and the tokens so far."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.rows: list[int] = []  # rows of each step

    def encode(self, src_ids: Tensor, src_mask: Tensor) -> Tensor:
        return src_ids[:, :, None].float()

    def start(self, memory: Tensor, src_mask: Tensor) -> ScriptedState:
        return ScriptedState([int(source) for source in memory[:, 0, 0]], [() for _ in memory])

    def step(self, last_ids: Tensor, state: ScriptedState) -> Tensor:
        state.prefixes = [(*prefix, token) for prefix, token in zip(state.prefixes, last_ids.tolist(), strict=True)]
        assert len(state.prefixes) == len(state.sources) * state.beam_size
        self.rows.append(len(last_ids))
        rows = [(state.sources[row // state.beam_size], prefix[1:]) for row, prefix in enumerate(state.prefixes)]
        return torch.stack([self.script(source, prefix) for source, prefix in rows])


def random_script(source: int, prefix: tuple[int, ...]) -> Tensor:
    """Logits that look random but depend on source and prefix alone."""
    seed = source
    for token in prefix:
        seed = seed * 31 + token
    return 2 * torch.randn(VOCAB, generator=torch.Generator().manual_seed(seed))


def probabilities(**by_name: float) -> Tensor:
    """Logits of a distribution such as probabilities(eos=0.9, a=0.1); what is not named gets next to nothing."""
    ids = {"pad": PAD, "bos": BOS, "eos": EOS, "a": 4, "b": 5}
    values = torch.full((VOCAB,), 1e-9)
    for name, value in by_name.items():
        values[ids[name]] = value
    return values.log()


def make_search(**changes: float) -> BeamSearch:
    values = {
        "beam_size": 4,
        "length_penalty": 1.0,
        "num_hypotheses": 1,
        "min_output_len": 1,
        "max_output_len": 6,
        "min_output_ratio": 0.0,
        "max_output_ratio": 0.0,
        "repetition_guard": False,
        "length_guard": False,
        **changes,
    }
    settings = DecodeConfig(**values)  # type: ignore[arg-type]
    return BeamSearch(settings=settings, bos_id=BOS, eos_id=EOS, forbidden_ids=(PAD, UNK, BOS))


def sources(*first_ids: int) -> tuple[Tensor, Tensor]:
    src_ids = torch.tensor([[source, EOS] for source in first_ids])
    return src_ids, torch.ones_like(src_ids, dtype=torch.bool)


def run(script: Script, *first_ids: int, **changes: float) -> list[list[Hypothesis]]:
    return make_search(**changes).search(ScriptedModel(script), *sources(*first_ids))


def script_log_probs(script: Script, source: int, token_ids: tuple[int, ...]) -> list[float]:
    """Log-probabilities of an output's tokens."""
    return [float(script(source, token_ids[:t]).log_softmax(-1)[token]) for t, token in enumerate(token_ids)]


def script_log_prob(script: Script, source: int, token_ids: tuple[int, ...]) -> float:
    """Log-probability of an output."""
    return sum(script_log_probs(script, source, token_ids))


def all_outputs(min_len: int, max_len: int) -> list[tuple[int, ...]]:
    lengths = range(min_len - 1, max_len)
    return [(*words, EOS) for length in lengths for words in itertools.product(WORDS, repeat=length)]


@pytest.mark.parametrize("length_penalty", [0.0, 0.7, 1.0])
@pytest.mark.parametrize(("min_len", "max_len"), [(1, 3), (1, 4), (3, 4)])
def test_beam_as_wide_as_the_space_equals_brute_force(length_penalty: float, min_len: int, max_len: int) -> None:
    outputs = all_outputs(min_len, max_len)
    found = run(
        random_script,
        11,
        12,
        beam_size=(len(WORDS) + 1) * len(WORDS) ** (max_len - 1),
        num_hypotheses=len(outputs),
        length_penalty=length_penalty,
        min_output_len=min_len,
        max_output_len=max_len,
    )
    for source, hypotheses in zip((11, 12), found, strict=True):
        scores = {
            output: script_log_prob(random_script, source, output) / len(output) ** length_penalty for output in outputs
        }
        expected = sorted(outputs, key=lambda output: -scores[output])
        assert [hypothesis.token_ids for hypothesis in hypotheses] == expected
        got, wanted = [h.score for h in hypotheses], [scores[output] for output in expected]
        torch.testing.assert_close(got, wanted, rtol=1e-6, atol=1e-6)  # float32 sums in another order


def greedy(script: Script, source: int, max_len: int) -> tuple[int, ...]:
    tokens: tuple[int, ...] = ()
    while len(tokens) < max_len and EOS not in tokens:
        logits = script(source, tokens)
        logits[[PAD, UNK, BOS]] = -math.inf
        tokens = (*tokens, int(logits.argmax()))
    return tokens


def test_beam_of_one_equals_greedy() -> None:
    ids = range(100, 130)
    found = run(random_script, *ids, beam_size=1, max_output_len=12)
    assert [hypotheses[0].token_ids for hypotheses in found] == [greedy(random_script, i, 12) for i in ids]
    assert any(EOS not in hypotheses[0].token_ids for hypotheses in found)
    assert any(hypotheses[0].token_ids[-1] == EOS for hypotheses in found)


def test_every_log_prob_and_score_is_that_of_the_tokens() -> None:
    for source, hypotheses in zip((5, 6, 7), run(random_script, 5, 6, 7, num_hypotheses=4), strict=True):
        assert len({hypothesis.token_ids for hypothesis in hypotheses}) == 4
        assert [h.score for h in hypotheses] == sorted((h.score for h in hypotheses), reverse=True)
        for token_ids, log_prob, score, token_log_probs in hypotheses:
            assert log_prob == pytest.approx(script_log_prob(random_script, source, token_ids), abs=1e-5)
            assert score == normalized_score(log_prob, len(token_ids), 1.0)
            assert token_log_probs == pytest.approx(script_log_probs(random_script, source, token_ids), abs=1e-5)


def test_sentences_that_are_done_leave_the_batch() -> None:
    def script(source: int, prefix: tuple[int, ...]) -> Tensor:  # the source says how many words come before EOS
        return probabilities(eos=0.99, a=0.01) if len(prefix) == source else probabilities(a=0.99, b=0.01)

    model = ScriptedModel(script)
    found = make_search(beam_size=1).search(model, *sources(2, 0, 1, 4))
    assert [len(hypotheses[0].token_ids) for hypotheses in found] == [3, 1, 2, 5]
    assert model.rows == [4, 3, 2, 1, 1]
    model = ScriptedModel(script)
    make_search(beam_size=2, length_penalty=0.0).search(model, *sources(2, 0, 1, 4))
    assert model.rows == [4, 3 * 2, 2 * 2, 2, 2]  # one row per sentence in the first step, then beam_size


def ends_at_once(source: int, prefix: tuple[int, ...]) -> Tensor:
    return probabilities(eos=0.9, a=0.05, b=0.05)


@pytest.mark.parametrize(
    ("length_penalty", "steps"),
    [
        (0.0, 1),  # log 0.05 < log 0.9: nothing unfinished can win
        (
            1.0,
            2,
        ),  # log 0.05 / 50 > log 0.9: one that goes on for 50 tokens could; after step 2 both beams have finished
    ],
)
def test_search_stops_when_no_unfinished_hypothesis_can_win(length_penalty: float, steps: int) -> None:
    model = ScriptedModel(ends_at_once)
    search = make_search(beam_size=2, length_penalty=length_penalty, max_output_len=50)
    assert search.search(model, *sources(9))[0][0].token_ids == (EOS,)
    assert len(model.rows) == steps


def test_search_goes_on_while_more_hypotheses_are_wanted() -> None:
    (hypotheses,) = run(ends_at_once, 9, beam_size=3, num_hypotheses=3, length_penalty=0.0)
    assert hypotheses[0].token_ids == (EOS,)
    assert {hypothesis.token_ids for hypothesis in hypotheses[1:]} == {(4, EOS), (5, EOS)}


def test_length_limits_hold() -> None:
    for hypotheses in run(random_script, *range(20, 30), num_hypotheses=4, min_output_len=4, max_output_len=5):
        assert len(hypotheses) == 4
        assert all(4 <= len(hypothesis.token_ids) <= 5 for hypothesis in hypotheses)
        assert all(EOS not in hypothesis.token_ids[:-1] for hypothesis in hypotheses)


def test_the_relative_limit_is_that_of_each_sentence() -> None:
    def endless(source: int, prefix: tuple[int, ...]) -> Tensor:
        return probabilities(eos=1e-6, a=0.6, b=0.4)

    src_ids = torch.tensor([[11, EOS, PAD, PAD], [12, 12, 12, EOS]])
    search = make_search(beam_size=2, max_output_len=50, max_output_ratio=1.5)
    found = search.search(ScriptedModel(endless), src_ids, src_ids != PAD)
    assert [len(hypotheses[0].token_ids) for hypotheses in found] == [13, 16]  # 1.5 * 2 + 10 and 1.5 * 4 + 10
    cut = make_search(beam_size=2, max_output_len=14, max_output_ratio=1.5)
    found = cut.search(ScriptedModel(endless), src_ids, src_ids != PAD)
    assert [len(hypotheses[0].token_ids) for hypotheses in found] == [13, 14]


def test_the_least_length_is_that_of_each_sentence() -> None:
    src_ids = torch.tensor([[11, EOS, PAD, PAD], [12, 12, 12, EOS]])
    for beam_size in (1, 3):
        search = make_search(beam_size=beam_size, max_output_len=9, min_output_ratio=1.5)
        found = search.search(ScriptedModel(ends_at_once), src_ids, src_ids != PAD)
        assert [len(hypotheses[0].token_ids) for hypotheses in found] == [3, 6]


def test_a_prefix_is_continued_as_brute_force_would_and_changes_no_other_sentence() -> None:
    outputs, prefixes = all_outputs(1, 4), [(5, 7), (), (4,)]
    search = make_search(beam_size=5 * 4**3, num_hypotheses=len(outputs), max_output_len=4)
    found = search.search(ScriptedModel(random_script), *sources(11, 12, 13), prefixes)
    for source, prefix, hypotheses in zip((11, 12, 13), prefixes, found, strict=True):
        scores = {one: script_log_prob(random_script, source, one) / len(one) for one in outputs}
        wanted = [one for one in sorted(outputs, key=lambda one: -scores[one]) if one[: len(prefix)] == prefix]
        ended = [hypothesis for hypothesis in hypotheses if hypothesis.token_ids[-1] == EOS]
        assert [hypothesis.token_ids for hypothesis in ended] == wanted
        for hypothesis in hypotheses:
            log_probs = script_log_probs(random_script, source, hypothesis.token_ids)
            assert hypothesis.token_log_probs == pytest.approx(log_probs, abs=1e-5)
    assert_same(found[1], run(random_script, 12, beam_size=5 * 4**3, num_hypotheses=len(outputs), max_output_len=4)[0])


def runs_in_circles(source: int, prefix: tuple[int, ...]) -> Tensor:
    """a b a b a b …; c, which comes third, would break out of it."""
    logits = probabilities(eos=1e-12, a=0.98 if len(prefix) % 2 == 0 else 0.01, b=0.98 if len(prefix) % 2 else 0.01)
    logits[6] = -4.7
    return logits


@pytest.mark.parametrize("beam_size", [1, 4])
def test_guards_hold_back_loops_and_make_outputs_end(beam_size: int) -> None:
    def output(**guards: bool) -> tuple[int, ...]:
        return run(runs_in_circles, 9, beam_size=beam_size, max_output_len=40, **guards)[0][0].token_ids

    assert loop_repeats(output()) == 20
    assert loop_repeats(output(repetition_guard=True)) == 2
    assert output(length_guard=True) == (4, 5, 4, 5, 4, 5, 4, 5, 4, 5, 4, 5, 4, EOS)  # at 2 * 2 + 10


def test_at_the_limit_unfinished_hypotheses_only_fill_up() -> None:
    def script(source: int, prefix: tuple[int, ...]) -> Tensor:
        if len(prefix) == 1:
            return probabilities(eos=0.5, a=0.3, b=0.2)
        return probabilities(a=0.6, b=0.4, eos=1e-12)  # less than any other word, so that no tie lets it in

    def closed(**changes: float) -> list[bool]:
        (hypotheses,) = run(script, 9, beam_size=4, length_penalty=0.0, max_output_len=3, **changes)
        return [hypothesis.token_ids[-1] != EOS for hypothesis in hypotheses]

    assert closed(num_hypotheses=2) == [False, False]
    assert closed(num_hypotheses=4) == [False, False, True, True]


def test_special_ids_are_never_generated_but_keep_their_probability() -> None:
    def script(source: int, prefix: tuple[int, ...]) -> Tensor:
        return probabilities(pad=0.5, bos=0.3, a=0.1, eos=0.1 - 1e-3)

    (hypotheses,) = run(script, 9, num_hypotheses=3, max_output_len=3)
    assert not {PAD, UNK, BOS} & {token for hypothesis in hypotheses for token in hypothesis.token_ids}
    best = next(hypothesis for hypothesis in hypotheses if hypothesis.token_ids == (4, 4, EOS))
    assert best.log_prob == pytest.approx(3 * math.log(0.1), abs=0.02)


def test_equal_scores_keep_the_order_found() -> None:
    def script(source: int, prefix: tuple[int, ...]) -> Tensor:  # every token costs the same
        return probabilities(eos=0.5, a=0.5)

    (hypotheses,) = run(script, 9, beam_size=2, num_hypotheses=2, length_penalty=1.0)
    assert [hypothesis.token_ids for hypothesis in hypotheses] == [(EOS,), (4, EOS)]


def test_a_space_too_small_gives_what_there_is() -> None:
    def script(source: int, prefix: tuple[int, ...]) -> Tensor:
        return torch.tensor([-math.inf, -math.inf, -math.inf, 0.0, 0.0, *[-math.inf] * 3])

    (hypotheses,) = run(script, 9, beam_size=6, num_hypotheses=6, max_output_len=3)
    assert {hypothesis.token_ids for hypothesis in hypotheses} == {(EOS,), (4, EOS), (4, 4, EOS), (4, 4, 4)}
    assert len(hypotheses) == 4


@pytest.mark.parametrize("beam_size", [1, 2])
def test_where_no_token_is_possible_there_is_no_output(beam_size: int) -> None:
    def script(source: int, prefix: tuple[int, ...]) -> Tensor:
        if source == 9 and prefix:
            return torch.tensor([0.0, *[-math.inf] * 7])  # PAD alone
        return probabilities(eos=0.9, b=0.1) if len(prefix) == 2 else probabilities(a=0.8, b=0.2)

    nothing, something = run(script, 9, 5, beam_size=beam_size)
    assert nothing == []
    assert something[0].token_ids == (4, 4, EOS)


@pytest.mark.parametrize("beam_size", [1, 4])
def test_nan_is_an_error(beam_size: int) -> None:
    with pytest.raises(ValueError, match="NaN"):
        run(lambda source, prefix: torch.full((VOCAB,), math.nan), 9, beam_size=beam_size)


@pytest.fixture
def transformer() -> Transformer:
    """Random weights, sharpened; by this seed some outputs end early and some never."""
    torch.manual_seed(3)
    config = ModelConfig(d_model=16, d_ff=32, num_heads=2, num_encoder_layers=2, num_decoder_layers=2, tie_output=False)
    model = build_model(config, 24, 24).eval()
    with torch.no_grad():
        model.output.weight.mul_(6)
    return model


def real_batch() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    lengths = torch.tensor([5, 9, 1, 7])
    src_mask = torch.arange(9) < lengths[:, None]
    return torch.randint(4, 24, (4, 9), generator=generator).masked_fill(~src_mask, PAD), src_mask


def assert_same(found: list[Hypothesis], expected: list[Hypothesis]) -> None:
    assert [hypothesis.token_ids for hypothesis in found] == [hypothesis.token_ids for hypothesis in expected]
    torch.testing.assert_close([h.log_prob for h in found], [h.log_prob for h in expected], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("beam_size", [1, 5])
def test_log_probs_of_a_transformer_equal_teacher_forcing(transformer: Transformer, beam_size: int) -> None:
    src_ids, src_mask = real_batch()
    search = make_search(beam_size=beam_size, num_hypotheses=beam_size, max_output_len=20)
    found = search.search(transformer, src_ids, src_mask)
    assert len({len(hypothesis.token_ids) for hypotheses in found for hypothesis in hypotheses}) > 1
    for row, hypotheses in enumerate(found):
        assert len(hypotheses) == beam_size
        for token_ids, log_prob, _, found_log_probs in hypotheses:
            tgt_in_ids = torch.tensor([[BOS, *token_ids[:-1]]])
            mask = torch.ones_like(tgt_in_ids, dtype=torch.bool)
            logits = transformer(src_ids[row : row + 1], tgt_in_ids, src_mask[row : row + 1], mask)
            token_log_probs = logits[0].log_softmax(-1).gather(1, torch.tensor(token_ids)[:, None])
            assert log_prob == pytest.approx(token_log_probs.sum().item(), abs=1e-4)
            assert found_log_probs == pytest.approx(token_log_probs.flatten().tolist(), abs=2e-5)


def test_batch_equals_one_by_one_and_follows_a_permutation(transformer: Transformer) -> None:
    src_ids, src_mask = real_batch()
    search = make_search(num_hypotheses=4, max_output_len=20)
    found = search.search(transformer, src_ids, src_mask)
    order = [2, 0, 3, 1]
    permuted = search.search(transformer, src_ids[order], src_mask[order])
    for row, expected in enumerate(found):
        length = int(src_mask[row].sum())
        (alone,) = search.search(transformer, src_ids[row : row + 1, :length], src_mask[row : row + 1, :length])
        assert_same(alone, expected)
        assert_same(permuted[order.index(row)], expected)


def test_beam_of_one_equals_greedy_on_a_transformer(transformer: Transformer) -> None:
    src_ids, src_mask = real_batch()
    found = make_search(beam_size=1, max_output_len=20).search(transformer, src_ids, src_mask)

    def script(row: int, prefix: tuple[int, ...]) -> Tensor:
        tgt_in_ids = torch.tensor([[BOS, *prefix]])
        mask = torch.ones_like(tgt_in_ids, dtype=torch.bool)
        return transformer(src_ids[row : row + 1], tgt_in_ids, src_mask[row : row + 1], mask)[0, -1]

    with torch.no_grad():
        assert [hypotheses[0].token_ids for hypotheses in found] == [greedy(script, row, 20) for row in range(4)]


def test_bfloat16_logits_are_normalized_in_float32(transformer: Transformer) -> None:
    src_ids, src_mask = real_batch()
    search = make_search(num_hypotheses=4, max_output_len=8)
    for hypotheses in search.search(transformer.bfloat16(), src_ids, src_mask):
        for hypothesis in hypotheses:
            assert hypothesis.log_prob != float(torch.tensor(hypothesis.log_prob).bfloat16())


@pytest.mark.parametrize("width", [5, 127, 1000, 8000, 8037])
@pytest.mark.parametrize("k", [1, 4, 13])
def test_top_k_by_chunks_is_top_k(width: int, k: int) -> None:
    k = min(k, width)
    x = torch.randn(6, width, generator=torch.Generator().manual_seed(width))
    x[1, -1], x[2, 0], x[3, ::2] = 9.0, 9.0, -math.inf  # the ends, and few that are possible
    values, indices = top_k(x, k)
    assert torch.equal(values, x.topk(k, dim=1).values)
    assert torch.equal(values, x.gather(1, indices))
    assert all(len(set(row)) == k for row in indices.tolist())


@pytest.mark.parametrize("banned", [(), (3,), (3, 5, 7)])
def test_candidates_without_the_kernels_are_the_best_that_are_allowed(
    banned: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("translate.search.candidates.best_continuations", lambda *arguments: None)
    logits = torch.randn(2 * 2, VOCAB, generator=torch.Generator().manual_seed(1))
    logits[:, list(banned)] += 9  # the banned ones would be the best
    sums = torch.tensor([[-1.0, -2.0], [-3.0, -1.0]])
    found = best_candidates(logits, sums, banned, 4)
    expected = (logits.log_softmax(1) + sums.view(-1, 1)).index_fill(
        1, torch.tensor(banned, dtype=torch.long), -math.inf
    )
    values, places = expected.view(2, -1).topk(4, dim=1)
    torch.testing.assert_close(found.log_probs, values)
    assert torch.equal(found.beams * VOCAB + found.token_ids, places)


@pytest.mark.parametrize("wanted", [1, 2, 3])
def test_stopping_early_changes_nothing_among_the_best(wanted: int) -> None:
    ids, compared = range(200, 280), 0
    few = run(random_script, *ids, num_hypotheses=wanted, max_output_len=8)
    for some, every in zip(few, run(random_script, *ids, num_hypotheses=4, max_output_len=8), strict=True):
        scores = [hypothesis.score for hypothesis in every]
        assert scores == sorted(scores, reverse=True)
        if all(hypothesis.token_ids[-1] == EOS for hypothesis in every[:wanted]):
            assert [one.token_ids for one in some] == [one.token_ids for one in every[:wanted]]
            compared += 1
    assert compared > 40
