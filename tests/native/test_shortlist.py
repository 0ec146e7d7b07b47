"""The shortlist: what it learns, what it proposes, and what a search that keeps to it finds."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from translate.kernels import library
from translate.native.shortlist import FILE, Shortlist
from translate.translator.engines.native import NativeEngine
from translate.translator.translator import Translator

TINY = Path(__file__).parents[1] / "fixtures" / "tiny_model"
SPECIAL = (0, 1, 2, 3)
TEXTS = ["The cat sleeps.", "A dog runs in the garden.", "Where is my brother?"]
needs_compiler = pytest.mark.skipif(library() is None, reason="there is no C compiler (cc)")


def pairs(count: int = 400) -> tuple[list[list[int]], list[list[int]]]:
    """Sentences of tokens 10 to 39, whose translations are 60 more, in another order."""
    rng = np.random.default_rng(1)
    sources = [rng.integers(10, 40, rng.integers(2, 7)).tolist() for _ in range(count)]
    return sources, [rng.permutation(np.array(src) + 60).tolist() for src in sources]


def learn(**changes: object) -> Shortlist:
    return Shortlist.learn([pairs()], 100, 120, special_ids=SPECIAL, **({"copies": False} | changes))  # type: ignore[arg-type]


def test_it_learns_which_tokens_go_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("translate.native.shortlist._FREQUENT", 2)
    monkeypatch.setattr("translate.native.shortlist._EACH", 3)
    shortlist = learn()
    for token in range(10, 40):
        assert token + 60 in shortlist.tokens_for(np.array([[token]]))
        assert len(shortlist.tokens_for(np.array([[token]]))) <= 3 + 2 + len(SPECIAL)
    proposed = shortlist.tokens_for(np.array([[12, 15, 0], [30, 12, 15]]))
    assert {*SPECIAL, 72, 75, 90} <= set(proposed.tolist())
    assert proposed.tolist() == sorted(set(proposed.tolist()))
    assert 12 not in proposed
    assert 12 in learn(copies=True).tokens_for(np.array([[12]]))


def test_both_directions_are_learnt_side_by_side() -> None:
    both = Shortlist.learn([pairs(), pairs()[::-1]], 120, 120, special_ids=SPECIAL, copies=True)
    assert 72 in both.tokens_for(np.array([[12]]))
    assert 12 in both.tokens_for(np.array([[72]]))


def test_without_pairs_that_are_short_enough_it_proposes_what_is_always_allowed() -> None:
    found = Shortlist.learn([([[5] * 90], [[6] * 90])], 100, 120, special_ids=SPECIAL, copies=False)
    assert found.tokens_for(np.array([[5]])).tolist() == list(SPECIAL)


def test_it_reads_back_and_what_is_damaged_is_refused(tmp_path: Path) -> None:
    shortlist, src_ids = learn(copies=True), np.array([[12, 15]])
    assert Shortlist.load(tmp_path, 100, 120) is None
    shortlist.save(tmp_path)
    again = Shortlist.load(tmp_path, 100, 120)
    assert again is not None
    np.testing.assert_array_equal(again.tokens_for(src_ids), shortlist.tokens_for(src_ids))
    for sizes in ((99, 120), (100, 90)):
        with pytest.raises(ValueError, match=rf"{FILE} is not of the model's vocabulary"):
            Shortlist.load(tmp_path, *sizes)
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ValueError, match=rf"{FILE} is damaged: its checksum is not"):
        Shortlist.load(tmp_path, 100, 120)
    (tmp_path / FILE).write_bytes(whole[:-5])
    with pytest.raises(ValueError, match=rf"{FILE} is damaged"):
        Shortlist.load(tmp_path, 100, 120)


@pytest.fixture
def translator() -> Translator:
    return Translator.load(TINY, device="cpu", precision="int8")


class Fixed(Shortlist):
    """Proposes the same tokens for every source."""

    def __init__(self, tokens: list[int]) -> None:
        self._fixed = np.array(tokens)

    def tokens_for(self, src_ids: np.ndarray) -> np.ndarray:
        return self._fixed


def narrow(translator: Translator, tokens: list[int]) -> None:
    assert isinstance(translator.engine, NativeEngine)
    translator.engine.shortlist = Fixed(tokens)


@needs_compiler
@pytest.mark.parametrize("beam_size", [1, 4])
def test_among_all_tokens_nothing_changes(translator: Translator, beam_size: int) -> None:
    expected = translator.translate(TEXTS, beam_size=beam_size)
    narrow(translator, list(range(translator.config.tgt_vocab_size)))
    for own, full in zip(translator.translate(TEXTS, beam_size=beam_size), expected, strict=True):
        assert own.text == full.text
        assert own.hypotheses[0].token_log_probs == pytest.approx(full.hypotheses[0].token_log_probs, abs=1e-5)


@needs_compiler
@pytest.mark.parametrize("beam_size", [1, 4])
def test_unchecked_it_keeps_to_the_tokens_and_estimates_scores(
    translator: Translator, beam_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("translate.kernels.packed._SAMPLED", 50)  # of about 140 that cannot come
    size, rng = translator.config.tgt_vocab_size, np.random.default_rng(2)
    expected = translator.translate(TEXTS, beam_size=beam_size)
    needed = {token for one in expected for token in translator.tokenizer.encode_tgt(one.text)}
    allowed = needed | set(rng.choice(size, size // 2, replace=False).tolist())
    narrow(translator, sorted(allowed))
    found = translator.translate(TEXTS, beam_size=beam_size, shortlist_check=False)
    assert {token for one in found for token in one.hypotheses[0].token_ids} <= {*allowed, translator.tokenizer.eos_id}
    assert sum(own.text == full.text for own, full in zip(found, expected, strict=True)) >= 2
    for own, full in zip(found, expected, strict=True):
        if own.text == full.text:
            assert own.score == pytest.approx(full.score, abs=0.15)
    assert translator.translate(TEXTS, beam_size=beam_size, shortlist=False) == expected


@needs_compiler
@pytest.mark.parametrize("settings", [{"beam_size": 1}, {"search": "sample"}, {"beam_size": 4, "beam_groups": 2}])
def test_searches_that_it_does_not_speed_up_do_without(translator: Translator, settings: dict[str, Any]) -> None:
    expected = translator.translate(TEXTS, **settings)
    narrow(translator, [3, 100])
    assert translator.translate(TEXTS, **settings) == expected


@needs_compiler
def test_a_prefix_is_searched_on_from_with_all_tokens(translator: Translator) -> None:
    prefix = translator.translate(TEXTS[:1])[0].text.split()[0]
    expected = translator.translate(TEXTS[:1], prefixes=[prefix])
    narrow(translator, [3, 100])
    assert translator.translate(TEXTS[:1], prefixes=[prefix], shortlist_check=False) == expected
