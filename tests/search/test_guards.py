"""Guards: degenerate outputs are searched again, and nothing else is touched."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from translate.config.decode import DecodeConfig
from translate.export.writer import save_exported
from translate.search.guards import Ids, guarded_search
from translate.search.hypothesis import Hypothesis
from translate.search.loops import loop_repeats
from translate.translator.bundle import load_bundle
from translate.translator.translator import Translator

TINY = Path(__file__).parents[1] / "fixtures" / "tiny_model"
EOS = 3
LOST = "A man in a cluttered office is using the telephone"  # nothing that the tiny model has words for
ORDINARY = ["Good morning.", "The cat is black.", "She will eat an apple tomorrow."]


def searched_again(output: Sequence[int], src_ids: Ids, prefix_ids: Ids = [], **guards: bool) -> bool:  # noqa: B006
    """Whether an output leads to a second search; the search is asked for this source and an ordinary one."""
    calls: list[tuple[list[Ids], bool, bool]] = []

    def search(sources: Sequence[Ids], prefixes: Sequence[Ids], decode: DecodeConfig) -> list[list[Hypothesis]]:
        calls.append((list(sources), decode.repetition_guard, decode.length_guard))
        if len(calls) == 2:
            return [[Hypothesis((99, EOS), -1.0, -1.0)]]
        return [[Hypothesis((5, EOS), -1.0, -1.0)], [Hypothesis(tuple(output), -1.0, -1.0)]]

    sources, decode = [[8, EOS], [*src_ids, EOS]], DecodeConfig(**guards)  # type: ignore[arg-type]
    ordinary, found = guarded_search(search, sources, [[], prefix_ids], decode, EOS)
    assert ordinary[0].token_ids == (5, EOS)
    assert calls[0] == (sources, False, False)
    assert calls[1:] in ([], [(sources[1:], decode.repetition_guard, decode.length_guard)])
    assert found[0].token_ids == ((99, EOS) if calls[1:] else tuple(output))
    return len(calls) == 2


@pytest.mark.parametrize("loop", [[7], [7, 8], [7, 8, 7, 9, 6, 5, 4, 10]])
def test_loops_are_searched_again_unless_the_source_has_its_own(loop: list[int]) -> None:
    assert searched_again([20, *loop * 4, EOS], [20, 21, 22])
    assert not searched_again([20, *loop * 3, EOS], [20, 21, 22])
    assert not searched_again([20, *loop * 5, EOS], [30] * 5)  # "very very very very very good"
    assert not searched_again([20, *loop * 9, EOS], [30] * 5)
    assert searched_again([20, *loop * 10, EOS], [30] * 5)
    assert not searched_again([*loop * 5, EOS], [20, 21, 22], loop * 5)
    assert not searched_again([20, *loop * 4, EOS], [20, 21, 22], repetition_guard=False)


def test_outputs_without_an_end_are_searched_again_if_they_are_far_longer_than_the_source() -> None:
    words = list(range(10, 40))
    assert searched_again(words[:18], [20, 21, 22])  # 2 * 4 + 10
    assert not searched_again(words[:17], [20, 21, 22])  # a limit of the settings cut it
    assert not searched_again([*words, EOS], [20, 21, 22])
    assert not searched_again(words[:18], [20, 21, 22], [10, 11])
    assert not searched_again(words[:18], [20, 21, 22], length_guard=False)


@pytest.mark.parametrize(
    "settings", [{}, {"beam_size": 1}, {"search": "sample", "top_k": 1}, {"search": "sample_distinct", "top_k": 1}]
)
def test_a_lost_model_is_held_back_and_ordinary_sentences_stay_to_the_bit(settings: dict[str, object]) -> None:
    translator, off = (
        Translator.load(TINY, device="cpu", precision="32"),
        {"repetition_guard": False, "length_guard": False},
    )
    guarded = translator.translate([*ORDINARY, LOST], **settings)  # type: ignore[arg-type]
    free = translator.translate([*ORDINARY, LOST], **settings, **off)  # type: ignore[arg-type]
    assert guarded[:-1] == free[:-1]
    assert loop_repeats(free[-1].hypotheses[0].token_ids) >= 4
    (held,) = guarded[-1].hypotheses
    assert loop_repeats(held.token_ids) <= 2
    assert held.token_ids[-1] == EOS
    (score,) = translator.score([(LOST, held.token_ids)])
    assert held.token_log_probs == pytest.approx([token.log_prob for token in score.tokens], abs=2e-5)


def test_an_exported_model_is_guarded_too(tmp_path: Path) -> None:
    save_exported(tmp_path / "exported", *load_bundle(TINY), "float32")
    translator, off = Translator.load(tmp_path / "exported", device="cpu"), {"repetition_guard": False}
    guarded, free = translator.translate([*ORDINARY, LOST]), translator.translate([*ORDINARY, LOST], **off)  # type: ignore[arg-type]
    assert guarded[:-1] == free[:-1]
    assert loop_repeats(free[-1].hypotheses[0].token_ids) >= 4
    assert loop_repeats(guarded[-1].hypotheses[0].token_ids) <= 3
