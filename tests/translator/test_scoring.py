"""Scoring: teacher forcing by hand, whatever the batch, and equal to what the search reports."""

import json
import math
from itertools import chain
from pathlib import Path

import pytest
import torch

from translate.config.model import ModelConfig
from translate.infer.__main__ import main
from translate.model.scoring import token_log_probs
from translate.model.transformer import build_model
from translate.translator.translator import Translator

TINY = Path(__file__).parents[1] / "fixtures" / "tiny_model"
PAIRS = [
    ("a cat sat", "un chat assis"),
    ("", ""),
    ("two dogs run by the sea", "deux chiens"),
    ("dogs", "les chiens courent à la mer et le chat aussi 😀"),
    ("a cat sat", "un chat assis"),
]


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(TINY, device="cpu", precision="32")


def by_hand(translator: Translator, src_ids: list[int], tgt_ids: list[int]) -> list[float]:
    """One pair, no padding, the whole logits."""
    one = torch.ones(1, len(src_ids), dtype=torch.bool), torch.ones(1, len(tgt_ids), dtype=torch.bool)
    tgt_in_ids = torch.tensor([[translator.tokenizer.bos_id, *tgt_ids[:-1]]])
    with torch.no_grad():
        logits = translator.engine.model(torch.tensor([src_ids]), tgt_in_ids, *one)
    return logits[0].log_softmax(-1)[range(len(tgt_ids)), tgt_ids].tolist()  # type: ignore[no-any-return]


def test_scores_are_teacher_forcing(translator: Translator) -> None:
    tokenizer = translator.tokenizer
    for (src, tgt), found in zip(PAIRS, translator.score(PAIRS, length_penalty=0.5), strict=True):
        tgt_ids = tokenizer.encode_tgt(tgt)
        expected = by_hand(translator, tokenizer.encode_src(src), tgt_ids)
        assert [token.piece for token in found.tokens] == tokenizer.pieces_tgt(tgt_ids)
        assert [token.log_prob for token in found.tokens] == pytest.approx(expected, abs=1e-5)
        assert found.log_prob == pytest.approx(sum(expected), abs=1e-5 * len(expected))
        assert found.score == found.log_prob / len(expected) ** 0.5


@pytest.mark.parametrize(("batch_tokens", "largest"), [(1, 1), (40, 2), (100_000, 5)])
def test_a_score_does_not_depend_on_the_batch(translator: Translator, batch_tokens: int, largest: int) -> None:
    alone = [translator.score([pair])[0] for pair in PAIRS]
    seen: list[int] = []
    for one, found in zip(alone, translator.score(PAIRS, batch_tokens=batch_tokens, progress=seen.append), strict=True):
        assert found.log_prob == pytest.approx(one.log_prob, abs=1e-5 * len(one.tokens))
        assert [token.log_prob for token in found.tokens] == pytest.approx(
            [token.log_prob for token in one.tokens], abs=1e-5
        )
    assert sum(seen) == len(PAIRS)
    assert max(seen) >= largest
    assert seen[0] < 5 or batch_tokens == 100_000


def test_what_a_search_reports_is_what_scoring_its_ids_gives(translator: Translator) -> None:
    texts = ["a cat sat by the sea", "two dogs run", "dogs"]
    found = translator.translate(texts, beam_size=4, num_hypotheses=4, max_output_len=6)  # some are cut without EOS
    pairs = [(src, hypothesis) for src, one in zip(texts, found, strict=True) for hypothesis in one.hypotheses]
    scores = translator.score([(src, hypothesis.token_ids) for src, hypothesis in pairs])
    for (_, hypothesis), score in zip(pairs, scores, strict=True):
        assert score.log_prob == pytest.approx(hypothesis.log_prob, abs=1e-4)
        assert score.score == pytest.approx(hypothesis.score, abs=1e-4)


def test_positions_are_projected_in_parts_that_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    network = ModelConfig(d_model=16, d_ff=32, num_heads=2, num_encoder_layers=1, num_decoder_layers=1)
    model = build_model(network, 20, 20).eval()
    ids, mask = torch.randint(4, 20, (3, 5)), torch.ones(3, 5, dtype=torch.bool)
    mask[1, 3:] = False
    whole = token_log_probs(model, ids, mask, ids, mask, ids)
    monkeypatch.setattr("translate.model.scoring._POSITIONS", 4)
    parts = token_log_probs(model, ids, mask, ids, mask, ids)
    assert [len(row) for row in parts] == [5, 3, 5]
    assert [*chain(*parts)] == pytest.approx([*chain(*whole)], abs=1e-6)


def test_a_model_that_gives_nan_is_refused(translator: Translator) -> None:
    broken = Translator.load(TINY, device="cpu", precision="32")
    with torch.no_grad():
        broken.engine.model.output.weight.fill_(math.nan)
    with pytest.raises(ValueError, match="not a number"):
        broken.score(PAIRS)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["a cat"], r"pair 1 must be \(source, target\)"),
        ([("a", "b", "c")], r"pair 1 must be"),
        ([("a", "b"), ("a", [])], r"pair 2: target ids must be one or more"),
        ([("a", [10**6])], r"pair 1: target ids .* of 0 to \d+"),
        ([(1, "a")], r"pair 1: the source must be a text, not 1"),
    ],
)
def test_what_is_no_pair_is_refused(translator: Translator, pairs: list[tuple[str, str]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        translator.score(pairs)


def score_door(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["--model", str(TINY), "--device", "cpu", "--precision", "32", "--score", *arguments]) == 0
    return capfd.readouterr().out


def test_the_command_writes_log_prob_and_score(
    translator: Translator, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"{src}\t{tgt}\n" for src, tgt in PAIRS), encoding="utf-8")
    lines = score_door(capfd, "--input", str(file), "--length-penalty", "2").splitlines()
    expected = [f"{score.log_prob:.6f}\t{score.score:.6f}" for score in translator.score(PAIRS, length_penalty=2)]
    assert lines == expected
    alone = score_door(capfd, "--length-penalty", "2", *PAIRS[0]).removesuffix("\n").split("\t")
    assert [float(number) for number in alone] == pytest.approx([float(x) for x in expected[0].split("\t")], abs=2e-6)
    found = json.loads(score_door(capfd, "--json", *PAIRS[0]))
    assert list(found) == ["src", "tgt", "log_prob", "score", "tokens"]
    assert [token["piece"] for token in found["tokens"]][-1] == "</s>"
    assert sum(token["log_prob"] for token in found["tokens"]) == pytest.approx(found["log_prob"], abs=1e-9)


@pytest.mark.parametrize(("line", "tabs"), [("no tab", 0), ("", 0), ("a\tb\tc", 2)])
def test_a_line_that_is_no_pair_is_named_after_those_before_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], line: str, tabs: int
) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text(f"a cat\tun chat\n{line}\na\tb\n", encoding="utf-8")
    with pytest.raises(ValueError, match=rf"pairs\.tsv, line 2: {tabs} tabs; --score needs source, one tab, target"):
        score_door(capfd, "--input", str(file))
    assert capfd.readouterr().out.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a cat"], "needs SOURCE and TARGET"),
        (["--beam-size", "2", "a", "b"], "--beam-size does nothing with --score"),
        (["--max-output-len", "2"], "--max-output-len does nothing with --score"),
    ],
)
def test_options_that_scoring_cannot_use_are_refused(
    capfd: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    with pytest.raises(SystemExit):
        main(["--score", *arguments])
    assert message in capfd.readouterr().err
