"""Diverse beams against a search written out for one sentence, and against scoring."""

from pathlib import Path

import pytest
import torch

from translate.config.decode import DecodeConfig
from translate.translator.translator import Translator

TINY = Path(__file__).parents[1] / "fixtures" / "tiny_model"
TEXTS = ["a cat sat by the sea", "two dogs run", "dogs", "The red car is in the garden."]
DIVERSE = {"beam_size": 3, "beam_groups": 3, "num_hypotheses": 3, "diversity_penalty": 1.5, "max_output_len": 12}


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(TINY, device="cpu", precision="32")


def greedy_groups(translator: Translator, text: str, groups: int, penalty: float, max_len: int) -> list[list[int]]:
    """One hypothesis per group: in each step one group after the other, a token costs what groups before it took."""
    special, src_ids = translator.tokenizer, torch.tensor([translator.tokenizer.encode_src(text)])
    outputs: list[list[int]] = [[] for _ in range(groups)]
    for _ in range(max_len):
        taken: list[int] = []
        for output in outputs:
            if special.eos_id in output:
                continue
            tgt_in_ids = torch.tensor([[special.bos_id, *output]])
            masks = torch.ones_like(src_ids, dtype=torch.bool), torch.ones_like(tgt_in_ids, dtype=torch.bool)
            with torch.no_grad():
                worth = translator.engine.model(src_ids, tgt_in_ids, *masks)[0, -1].log_softmax(0)
            worth[[special.pad_id, special.bos_id, special.unk_id]] = -torch.inf
            for token in taken:
                worth[token] -= penalty
            output.append(int(worth.argmax()))
            taken += [token for token in output[-1:] if token != special.eos_id]
    return outputs


def test_groups_of_one_are_greedy_searches_that_keep_clear_of_each_other(translator: Translator) -> None:
    translator.engine.model.eval()
    for text, found in zip(TEXTS, translator.translate(TEXTS, **DIVERSE), strict=True):  # type: ignore[arg-type]
        groups = greedy_groups(translator, text, 3, 1.5, 12)
        assert sorted(list(one.token_ids) for one in found.hypotheses) == sorted(groups)
        assert len({one.token_ids[0] for one in found.hypotheses}) == 3
        assert [one.score for one in found.hypotheses] == sorted((h.score for h in found.hypotheses), reverse=True)


def test_log_probs_are_without_the_penalty_and_the_first_group_is_a_beam(translator: Translator) -> None:
    settings = {**DIVERSE, "beam_size": 6, "num_hypotheses": 6}
    beams = translator.translate(TEXTS, beam_size=2, num_hypotheses=2, max_output_len=12)
    for text, found, beam in zip(TEXTS, translator.translate(TEXTS, **settings), beams, strict=True):  # type: ignore[arg-type]
        assert len({one.token_ids for one in found.hypotheses}) == 6
        assert {one.token_ids for one in beam.hypotheses} <= {one.token_ids for one in found.hypotheses}
        scores = translator.score([(text, one.token_ids) for one in found.hypotheses])
        for one, score in zip(found.hypotheses, scores, strict=True):
            assert one.token_log_probs == pytest.approx([token.log_prob for token in score.tokens], abs=2e-5)
        (alone,) = translator.translate([text], **settings)  # type: ignore[arg-type]
        assert [one.token_ids for one in alone.hypotheses] == [one.token_ids for one in found.hypotheses]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beam_groups": 2}, r"beam_groups \(2\) must divide decode\.beam_size \(5\)"),
        ({"beam_groups": 5, "diversity_penalty": 0.0}, r"diversity_penalty \(0\.0\) must be above 0"),
        ({"diversity_penalty": 1.0}, r"diversity_penalty \(1\.0\) does nothing with beam_groups=1"),
        ({"beam_groups": 2, "search": "sample"}, r"beam_groups \(2\) does nothing without search=beam"),
    ],
)
def test_bad_settings_are_refused(translator: Translator, settings: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        translator.translate([], **settings)  # type: ignore[arg-type]


def test_a_beam_that_the_stored_groups_do_not_divide_has_none() -> None:
    stored = DecodeConfig(beam_size=4, beam_groups=2)
    assert [stored.changed({"beam_size": size}).beam_groups for size in (1, 6, 7)] == [1, 2, 1]


def test_every_group_begins_with_the_prefix(translator: Translator) -> None:
    found = translator.translate(TEXTS, prefixes=["Il", None, "Elle", ""], **DIVERSE)  # type: ignore[arg-type]
    assert all(one.text.startswith("Il") for one in found[0].hypotheses)
    assert all(one.text.startswith("Elle") for one in found[2].hypotheses)
    assert len({one.text for one in found[0].hypotheses}) == 3
