"""Searches among some tokens, and what their check finds and repairs."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch

from translate.config.decode import DecodeConfig
from translate.config.model import ModelConfig
from translate.kernels import library
from translate.kernels.search_state import Searched
from translate.model.transformer import build_model
from translate.native.narrowed import NarrowedTransformer
from translate.native.network import NativeTransformer
from translate.native.weights import Weights
from translate.search.beam import BeamSearch
from translate.search.hypothesis import Hypothesis

VOCAB, BOS = 203, 2
SRC_IDS = np.random.default_rng(1).integers(4, VOCAB, (40, 12))
SRC_MASK = np.arange(12) < 1 + np.arange(40)[:, None] % 12

pytestmark = pytest.mark.skipif(library() is None, reason="there is no C compiler (cc)")


class Watched(NativeTransformer):
    """Notes how many sentences each search among all tokens has; `eos_id` is a token that often comes."""

    eos_id = 3
    sizes: list[int]

    def beam_search(self, memory: np.ndarray, *arguments: Any, **settings: Any) -> list[Searched]:
        self.sizes.append(len(memory))
        return super().beam_search(memory, *arguments, **settings)


@pytest.fixture(scope="module", params=[{}, {"output_bias": True, "num_kv_heads": 2, "norm_first": False}], ids=str)
def network(request: pytest.FixtureRequest) -> Watched:
    torch.manual_seed(5)
    sizes: dict[str, Any] = {"d_model": 64, "d_ff": 96, "num_heads": 4, "num_encoder_layers": 2}
    config = ModelConfig(**sizes, num_decoder_layers=2, **request.param)
    parameters = build_model(config, VOCAB, VOCAB).named_parameters()
    weights = {name: (x + 0.02 * torch.randn_like(x)).detach().numpy() for name, x in parameters}
    found = Watched(config, Weights(weights), VOCAB, VOCAB)
    found.sizes = []
    outputs = search(found, beam_size=1)
    found.eos_id = Counter(token for one in outputs for token in one[0].token_ids[3:]).most_common(1)[0][0]
    return found


def search(network: Watched, model: Any = None, **settings: Any) -> list[list[Hypothesis]]:
    own = DecodeConfig(max_output_len=30, repetition_guard=False, length_guard=False, **settings)
    found = BeamSearch(settings=own, bos_id=BOS, eos_id=network.eos_id, forbidden_ids=(0, BOS))
    return found.search(model or network, SRC_IDS, SRC_MASK)


def narrowed(network: Watched, left_out: int, *, check: bool = True) -> NarrowedTransformer:
    """The network, for all tokens but so many; EOS is among them."""
    others = np.setdiff1d(np.arange(VOCAB), [network.eos_id])
    without = np.random.default_rng(left_out).choice(others, left_out, replace=False)
    return NarrowedTransformer(network, np.setdiff1d(np.arange(VOCAB), without), check=check)


def likeliest(network: NativeTransformer, number: int, tokens: tuple[int, ...]) -> list[int]:
    """Of each place of an output of source `number` the most probable token, by steps among all of them."""
    ids, mask = SRC_IDS[number : number + 1], SRC_MASK[number : number + 1]
    state, found = network.start(network.encode(ids, mask), mask), []
    for token in (BOS, *tokens[:-1]):
        logits = network.step(np.array([token]), state)[0]
        logits[[0, BOS]] = -np.inf
        found.append(int(logits.argmax()))
    return found


@pytest.mark.parametrize("left_out", [8, 150])
def test_greedily_a_checked_search_is_that_of_all_tokens(network: Watched, left_out: int) -> None:
    expected = search(network, beam_size=1)
    network.sizes.clear()
    found = search(network, narrowed(network, left_out), beam_size=1)
    assert len(network.sizes) == 1  # those that had missed a token, together
    assert network.sizes[0] < len(SRC_IDS) or left_out == 150
    for own, full in zip(found, expected, strict=True):
        assert own[0].token_ids == full[0].token_ids
        assert own[0].token_log_probs == pytest.approx(full[0].token_log_probs, abs=1e-4)
    unchecked = search(network, narrowed(network, left_out, check=False), beam_size=1)
    assert [one[0].token_ids for one in unchecked] != [one[0].token_ids for one in expected]


@pytest.mark.parametrize("settings", [{"beam_size": 3}, {"beam_size": 5, "num_hypotheses": 3, "length_penalty": 0.6}])
def test_a_beam_is_kept_where_no_likeliest_token_was_left_out(network: Watched, settings: dict[str, Any]) -> None:
    model = narrowed(network, 8)
    expected = search(network, **settings)
    free = search(network, narrowed(network, 8, check=False), **settings)
    network.sizes.clear()
    found = search(network, model, **settings)
    again = 0
    for number, (own, without, full) in enumerate(zip(found, free, expected, strict=True)):
        seen = {token for one in without for token in likeliest(network, number, one.token_ids)}
        kept = model.is_chosen[list(seen)].all() and all(one.token_ids[-1] == network.eos_id for one in without)
        again += not kept
        theirs = without if kept else full
        assert sorted(one.token_ids for one in own) == sorted(one.token_ids for one in theirs)
    assert network.sizes == [again]
    assert 0 < again < len(SRC_IDS)


@pytest.mark.parametrize("beam_size", [1, 4])
def test_its_log_probabilities_are_those_of_all_tokens_and_rank_its_outputs(network: Watched, beam_size: int) -> None:
    for number, own in enumerate(search(network, narrowed(network, 8), beam_size=beam_size, num_hypotheses=beam_size)):
        assert [one.score for one in own] == sorted((one.score for one in own), reverse=True)
        for one in own:
            labels, src = np.array([one.token_ids]), SRC_IDS[number : number + 1, : SRC_MASK[number].sum()]
            read = np.hstack(([[BOS]], labels[:, :-1]))
            log_probs, _ = network.read_targets(src, np.ones(src.shape, bool), read, labels, attention=False)
            np.testing.assert_allclose(one.token_log_probs, log_probs[0], atol=1e-4)


def test_scores_of_tokens_are_a_softmax_and_the_best_is_the_first_of_equals(network: Watched) -> None:
    rng = np.random.default_rng(4)
    states, tokens = rng.standard_normal((61, 64)).astype(np.float32), rng.integers(0, VOCAB, 61)
    log_probs, best = network.score_tokens(states, tokens, (7, 9))
    everything = np.array([network.score_tokens(states, np.full(61, token), ())[0] for token in range(VOCAB)])
    np.testing.assert_allclose(np.exp(everything.astype(float)).sum(axis=0), 1, rtol=1e-4)
    np.testing.assert_allclose(log_probs, everything[tokens, np.arange(61)], atol=1e-5)
    everything[[7, 9]] = -np.inf
    np.testing.assert_array_equal(best, everything.argmax(axis=0))
    with pytest.raises(ValueError, match="vocabulary"):
        network.score_tokens(states, np.full(61, VOCAB), ())
    with pytest.raises(ValueError, match="states"):
        network.score_tokens(states[:, :32], tokens, ())
