"""Models whose sources begin with the tag of the language to translate into: one model, both directions."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from translate.data.tokenizer import Tokenizer
from translate.export.writer import save_exported
from translate.infer.__main__ import main
from translate.translator.bundle import BundleConfig, save_bundle
from translate.translator.engines.torch import TorchEngine
from translate.translator.translator import Translator

TEXTS = ["a cat sat", "", "two dogs <2fr> run by the sea", "<2en> cat"]
LANGUAGES = ["fr", "en"]
Parts = tuple[torch.nn.Module, Tokenizer, BundleConfig]


def test_the_tag_is_an_id_that_no_text_becomes(parts: Parts) -> None:
    tokenizer = parts[1]
    tags = [tokenizer.tagged(language).tag_ids[0] for language in LANGUAGES]
    for text in TEXTS:
        plain = tokenizer.encode_src(text)
        assert tokenizer.tagged("en").encode_src(text) == [tags[1], *plain]
        assert not set(tags) & {*plain, *tokenizer.encode_tgt(text)}
        assert tokenizer.decode(plain) == text
    with pytest.raises(ValueError, match=r"no tag <2de>; train one with data\.language_tags=true"):
        tokenizer.tagged("de")
    with pytest.raises(ValueError, match=r"tokenizer\.user_symbols: <2fr> is a tag of data\.language_tags"):
        Tokenizer.train(["a"], ["b"], user_symbols=["<2fr>"], languages=LANGUAGES)


def test_each_direction_searches_what_it_scores(both_ways: Translator) -> None:
    translator = both_ways
    found = {language: translator.translate(TEXTS, tgt_lang=language) for language in LANGUAGES}
    assert found["fr"] == translator.translate(TEXTS)
    assert [one.text for one in found["fr"]] != [one.text for one in found["en"]]
    assert found["en"][1].hypotheses == ()
    for language, translations in found.items():
        pairs = [(t, one.hypotheses[0].token_ids) for t, one in zip(TEXTS, translations, strict=True) if one.hypotheses]
        scores = translator.into(language).score(pairs)
        assert [s.log_prob for s in scores] == pytest.approx(
            [one.hypotheses[0].log_prob for one in translations if one.hypotheses], abs=1e-4
        )
    assert (translator.into("en").config.src_lang, translator.into("en").into("fr").config.src_lang) == ("fr", "en")
    with pytest.raises(ValueError, match=r"tgt_lang \(de\): this model translates en to fr and back"):
        translator.translate(TEXTS, tgt_lang="de")


def test_an_ensemble_asks_all_of_its_models_for_the_same_language(parts: Parts) -> None:
    model, tokenizer, config = parts
    one = Translator(TorchEngine(model, tokenizer), tokenizer, config)
    both = Translator.ensemble([one, one])
    for language in LANGUAGES:
        texts = [found.text for found in both.translate(TEXTS, tgt_lang=language)]
        assert texts == [found.text for found in one.translate(TEXTS, tgt_lang=language)]
    other = Translator(TorchEngine(model, tokenizer), tokenizer, replace(config, tgt_langs=["fr"]))
    with pytest.raises(ValueError, match="model 2 was trained with the language codes fr, but model 1 with fr, en"):
        Translator.ensemble([one, other])


def test_the_tag_is_no_word_of_an_alignment(parts: Parts) -> None:
    model, tokenizer, config = parts
    pair = ("a cat sat", "un chat assis")
    (links,) = Translator(TorchEngine(model, tokenizer), tokenizer, config).align([pair])
    attention = Translator(TorchEngine(model, tokenizer), tokenizer, config).cross_attention(*pair)
    assert attention.src_pieces[0] == "<2fr>"
    words = torch.from_numpy(attention.weights[-1].mean(0)[:, 1:])  # [T, S] without the tag
    starts = [i for i, piece in enumerate(attention.src_pieces[1:]) if piece.startswith("▁")]
    spans = zip(starts, [*starts[1:], len(attention.src_pieces) - 2], strict=True)
    sums = torch.stack([words[:, start:end].sum(1) for start, end in spans], dim=1)  # [T, source words]
    first = attention.tgt_pieces.index(next(piece for piece in attention.tgt_pieces[1:] if piece.startswith("▁")))
    assert links[0] == (int(sums[:first].sum(0).argmax()), 0)
    assert len(links) == 3


def test_an_export_knows_both_directions(parts: Parts, both_ways: Translator, tmp_path: Path) -> None:
    save_exported(tmp_path / "ct2", *parts, "float32")
    ours, theirs = both_ways, Translator.load(tmp_path / "ct2", device="cpu")
    for language in LANGUAGES:
        expected = ours.translate(TEXTS, tgt_lang=language, beam_size=1)
        assert [one.text for one in theirs.translate(TEXTS, tgt_lang=language, beam_size=1)] == [
            one.text for one in expected
        ]
    assert theirs.align([("a cat", "un chat")]) == ours.align([("a cat", "un chat")])
    assert "`<2fr>` or `<2en>`" in (tmp_path / "ct2/README.md").read_text()


def test_the_command_line_chooses_the_direction(
    parts: Parts, both_ways: Translator, tmp_path: Path, capsysbinary
) -> None:
    save_bundle(tmp_path / "model", *parts)
    assert main(["--model", str(tmp_path), "--device", "cpu", "--to", "en", TEXTS[0]]) == 0
    expected = both_ways.translate(TEXTS[:1], tgt_lang="en")[0].text
    assert capsysbinary.readouterr().out.decode() == expected + "\n"
    assert "en to fr and back" in (tmp_path / "model/README.md").read_text()
