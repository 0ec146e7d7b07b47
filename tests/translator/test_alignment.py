"""Word alignments: pieces to words, weights to links, pieces of long texts to whole texts."""

import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from translate.infer.__main__ import main
from translate.translator.alignment import joined_links, pharaoh, word_links, word_numbers
from translate.translator.translator import Translator

TINY = Path(__file__).parents[1] / "fixtures" / "tiny_model"


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(TINY, device="cpu", precision="32")


@pytest.mark.parametrize("text", ["a cat sat", "don't  stop", "é😀 x", "Bonjour\u00a0! Ça va ?", "l'homme", "a"])
def test_words_are_what_spaces_separate(translator: Translator, text: str) -> None:
    tokenizer = translator.tokenizer
    ids = tokenizer.encode_tgt(text)
    pieces = tokenizer.pieces_tgt(ids)
    words = [word for word in text.split(" ") if word]
    numbers = word_numbers(pieces)
    assert numbers[-1] == -1  # EOS
    assert sorted({number for number in numbers if number >= 0}) == list(range(len(words)))
    for number, word in enumerate(words):
        of_word = [token for token, found in zip(ids, numbers, strict=True) if found == number]
        assert tokenizer.decode(of_word).strip(" ") == word


def test_weights_of_a_words_pieces_count_together() -> None:
    src, tgt = ["▁a", "▁c", "at", "</s>"], ["▁un", "▁ch", "at", "</s>"]
    weights = torch.tensor([[0.5, 0.2, 0.2, 0.1], [0.4, 0.3, 0.3, 0.0], [0.4, 0.1, 0.2, 0.3], [0.1, 0.8, 0.1, 0.0]])
    assert word_links(weights, src, tgt) == ((0, 0), (1, 1))  # 0.6 + 0.3 of the second word beats 0.4 + 0.4
    assert word_links(weights[:, -1:], ["</s>"], tgt) == ()
    assert word_links(weights[-1:], src, ["</s>"]) == ()


def test_a_word_that_was_cut_keeps_its_number() -> None:
    links = {("abc", "x"): ((0, 0),), ("def gh", "y z"): ((0, 1), (1, 0))}
    assert joined_links("abcdef gh", [("abc", "x"), ("def gh", "y z")], links) == ((0, 0), (0, 2), (1, 1))
    links["abc", ""] = ()
    assert joined_links("abc def gh", [("abc", ""), ("def gh", "y z")], links) == ((1, 1), (2, 0))


def test_every_target_word_has_one_link_that_does_not_depend_on_the_batch(translator: Translator) -> None:
    pairs = [("a cat sat by the sea", "un chat assis"), ("dogs", "les chiens"), ("", "x"), ("two dogs run", "deux")]
    found = translator.align(pairs)
    assert found == [translator.align([pair])[0] for pair in pairs]
    for (src, tgt), links in zip(pairs, found, strict=True):
        assert [target for _, target in links] == list(range(len(tgt.split()) if src else 0))
        assert all(0 <= source < len(src.split()) for source, _ in links)


def test_links_are_those_of_the_last_layer(translator: Translator) -> None:
    attention = translator.cross_attention("two dogs run", "deux chiens courent")
    expected = word_links(attention.weights[-1].mean(0), attention.src_pieces, attention.tgt_pieces)
    assert translator.align([("two dogs run", "deux chiens courent")]) == [expected]


def test_long_texts_are_aligned_piece_by_piece(translator: Translator) -> None:
    short = Translator(translator.engine, translator.tokenizer, replace(translator.config, max_src_len=12))
    sentences = ["The cat is in the garden.", "Two dogs run.", "The red car."]
    text = " ".join(sentences)
    settings = {"alignments": True, "max_output_len": 18}
    whole, *parts = short.translate([text, *sentences], **settings)  # type: ignore[arg-type]
    expected, sources, targets = [], 0, 0
    for sentence, part in zip(sentences, parts, strict=True):
        links = part.hypotheses[0].alignment
        assert links is not None
        expected += [(sources + source, targets + target) for source, target in links]
        sources, targets = sources + len(sentence.split(" ")), targets + len(part.text.split(" "))
    assert whole.hypotheses[0].alignment == tuple(expected)
    assert [piece for piece, _ in whole.hypotheses[0].parts] == sentences


def test_the_command_adds_a_column(translator: Translator, capfd: pytest.CaptureFixture[str]) -> None:
    def run(*arguments: str) -> list[str]:
        assert main(["--model", str(TINY), "--device", "cpu", "--precision", "32", "--alignments", *arguments]) == 0
        return capfd.readouterr().out.splitlines()

    sentences = ["two dogs run", "", "a cat"]
    expected = translator.translate(sentences, alignments=True, num_hypotheses=2)
    best = [one.hypotheses[0] if one.hypotheses else None for one in expected]
    columns = [(one.text, one.alignment) if one else ("", ()) for one in best]
    assert run(*sentences) == [f"{text}\t{pharaoh(links or ())}" for text, links in columns]
    assert [len(line.split("\t")) for line in run("--num-hypotheses", "2", *sentences)] == [4] * 6
    found = json.loads(run("--json", "two dogs run")[0])["hypotheses"][0]
    assert found["alignment"] == [list(link) for link in columns[0][1] or ()]
    assert "parts" not in found


def test_alignments_of_scored_pairs_are_refused(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--score", "--alignments", "a", "b"])
    assert "--alignments is for translations" in capfd.readouterr().err


def test_json_holds_attention_weights_when_asked(translator: Translator, capfd: pytest.CaptureFixture[str]) -> None:
    assert (
        main(
            ["--model", str(TINY), "--device", "cpu", "--precision", "32", "--json", "--attention", "two dogs run", ""]
        )
        == 0
    )
    found, empty = (json.loads(line) for line in capfd.readouterr().out.splitlines())
    expected = translator.cross_attention("two dogs run", found["text"])
    assert (found["attention"]["src_pieces"], found["attention"]["tgt_pieces"]) == expected[:2]
    np.testing.assert_allclose(found["attention"]["weights"], expected.weights, atol=6e-5)
    assert empty["attention"] is None
    with pytest.raises(SystemExit):
        main(["--attention", "a"])
    assert "--attention needs --json" in capfd.readouterr().err


def test_time_to_join_links_grows_no_faster_than_the_text() -> None:
    def seconds(number: int) -> float:
        parts = [("a b", "x")] * number
        text, links = " ".join(source for source, _ in parts), {("a b", "x"): ((1, 0),)}
        times = []
        for _ in range(3):
            start = time.process_time()
            joined = joined_links(text, parts, links)
            times.append(time.process_time() - start)
        assert joined == tuple((2 * part + 1, part) for part in range(number))
        return min(times)

    assert seconds(8000) < 0.02 + 8 * seconds(2000)  # four times the text: 4 if linear, 16 if quadratic
