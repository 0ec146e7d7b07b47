"""Names and the like that are typed in lower case are read with their capitals."""

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from translate.data.tokenizer import Tokenizer
from translate.export.writer import copy_model
from translate.translator.beside import Beside
from translate.translator.bundle import BundleConfig, save_bundle
from translate.translator.translator import Translator
from translate.translator.truecasing import Truecaser

Parts = tuple[torch.nn.Module, Tokenizer, BundleConfig]
TEXTS = [
    "I met Tom in Rome.",
    "Is Tom here? She went to NASA.",
    "Tom met the pope.",
    "But Tom and the Pope, and the pope.",
] * 3
TRUECASER = Truecaser({"en": {"tom": "Tom", "nasa": "NASA", "i": "I"}, "fr": {"tom": "Tom"}})


def test_words_with_capitals_within_sentences_are_learnt() -> None:
    texts = [
        *TEXTS,
        "Rome and the Rome of rome, rome",
        "to tom",
        "A Title With Tiny Words",
        "Tom:",
        '"Maybe," Tom said.',
    ]
    assert Truecaser.learn({"en": texts}).words == {"en": {"tom": "Tom"}}


def test_a_word_must_stand_there_three_times_and_hardly_ever_without_its_capital() -> None:
    assert Truecaser.learn({"fr": ["Elle voit Marie."] * 2}).words == {"fr": {}}
    text = ["Elle voit Marie en 20 Ms."] * 9
    assert Truecaser.learn({"fr": [*text, "Il se marie."]}).words == {"fr": {"marie": "Marie"}}
    assert Truecaser.learn({"fr": [*text, "Il se marie.", "Je me marie."]}).words == {"fr": {}}


def test_what_a_model_before_knew_stays_unless_the_text_has_it_in_lower_case() -> None:
    texts = {"en": [*TEXTS, "The pope, the pope."], "de": ["Wo ist Tom?"]}
    before = Truecaser({"en": {"i": "I", "julie": "Julie", "pope": "Pope", "tom": "ToM"}, "fr": {"tom": "Tom"}})
    learnt = {"i": "I", "julie": "Julie", "rome": "Rome", "tom": "Tom"}
    assert Truecaser.learn(texts, before).words == {"en": learnt, "de": {}}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("where is tom", "where is Tom"),
        ("where is tom's dog? i asked nasa.", "where is Tom's dog? I asked NASA."),
        ("Where is tom?", "Where is tom?"),
        ("Is tom in Paris?", "Is tom in Paris?"),
        ("mail tom@nasa.gov, nasa.gov or tom_1, {tom} <tom>", "mail tom@nasa.gov, nasa.gov or tom_1, {tom} <tom>"),
        ("ask jo-tom@nasa.gov, tom.jo@nasa.gov, tom-jo.com", "ask jo-tom@nasa.gov, tom.jo@nasa.gov, tom-jo.com"),
        ("tom-nasa, tom.", "Tom-nasa, Tom."),
        ("tom", "Tom"),
        ("tom!", "Tom!"),
        ("TOM", "TOM"),
        ("", ""),
        ("42", "42"),
    ],
)
def test_what_has_no_capitals_gets_them(text: str, read: str) -> None:
    assert TRUECASER.restore(text, "en") == read


@given(st.text())
def test_nothing_but_case_changes(text: str) -> None:
    assert TRUECASER.restore(text, "en").lower() == text.lower()
    assert TRUECASER.restore(text, "de") == text


def test_it_comes_back_from_its_file(tmp_path: Path) -> None:
    assert Truecaser.load(tmp_path) is None
    TRUECASER.save(tmp_path)
    assert Truecaser.load(tmp_path) == TRUECASER
    (tmp_path / "capitals.tsv").write_text("en Tom\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"capitals\.tsv is damaged"):
        Truecaser.load(tmp_path)


def test_copies_of_a_model_directory_have_it(parts: Parts, tmp_path: Path) -> None:
    save_bundle(tmp_path / "model", *parts, Beside(truecaser=TRUECASER))
    copy_model(tmp_path / "model", tmp_path / "copy", "int8")
    for name in ("model", "copy"):
        assert Translator.load(tmp_path / name, device="cpu", precision="32").truecaser == TRUECASER


def test_the_translation_of_a_text_in_lower_case_is_in_lower_case(
    both_ways: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    both_ways.truecaser = Truecaser({"en": {"dogs": "Dogs"}, "fr": {"chat": "Chat"}})
    pieces, read = both_ways.tokenizer, []
    encode = pieces.encode_src_batch
    monkeypatch.setattr(pieces, "encode_src_batch", lambda texts: read.extend(texts) or encode(texts))
    found = both_ways.translate(
        ["two dogs run by the sea.", "My two dogs run.", "TWO DOGS RUN BY THE SEA.", "the cat."], form_guard=True
    )
    assert {"two Dogs run by the sea.", "My two dogs run.", "the cat."} <= set(read)
    assert "two dogs run by the sea." not in read
    assert found[0].text == found[0].text.lower()
    assert found[2].text == found[2].text.upper()
    read.clear()
    both_ways.translate(["two dogs run."], form_guard=False)
    assert read == ["two dogs run."]
