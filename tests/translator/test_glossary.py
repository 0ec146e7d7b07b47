"""A translator with a glossary: what its model reads, and who is not given any of it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from translate.data.glossary import Entry, Glossary
from translate.data.tokenizer import Tokenizer
from translate.export.writer import copy_model
from translate.translator.beside import Beside
from translate.translator.bundle import BundleConfig, save_bundle
from translate.translator.translator import Translator

Parts = tuple[torch.nn.Module, Tokenizer, BundleConfig]


@pytest.fixture
def glossary() -> Glossary:
    return Glossary(("en", "fr"), [Entry("=", "dog(s)", "chien(s)"), Entry(">", "sea", "mer")])


@pytest.fixture
def sources(both_ways: Translator, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the model reads, as pieces that are put together; it grows with each search."""
    read: list[str] = []
    search, pieces = both_ways.engine.search, both_ways.tokenizer.pieces_src

    def spy(sources: Sequence[Sequence[int]], *arguments: Any) -> Any:
        read.extend("".join(pieces(list(ids))) for ids in sources)
        return search(sources, *arguments)

    monkeypatch.setattr(both_ways.engine, "search", spy)
    return read


def test_the_model_reads_translations_behind_the_terms(
    both_ways: Translator, glossary: Glossary, sources: list[str]
) -> None:
    both_ways.glossary = glossary
    both_ways.translate(["- two dogs sat by the sea"], form_guard=True)
    both_ways.translate(["deux chiens"], tgt_lang="en")
    assert [sources[0], sources[-1]] == [
        "<2fr>▁two▁dogs<0x02>▁chiens<0x03>▁sat▁by▁the▁sea<0x02>▁mer<0x03></s>",
        "<2en>▁deux▁chiens<0x02>▁dogs<0x03></s>",
    ]


def test_without_it_and_by_request_it_reads_the_text_alone(
    both_ways: Translator, glossary: Glossary, sources: list[str]
) -> None:
    plain = both_ways.translate(["two dogs"])
    both_ways.glossary = glossary
    assert both_ways.translate(["two dogs"], glossary=False) == plain
    both_ways.translate(["la mer"], tgt_lang="en")  # known from English only
    assert sources == ["<2fr>▁two▁dogs</s>", "<2fr>▁two▁dogs</s>", "<2en>▁la▁mer</s>"]


def test_what_it_adds_counts_where_a_text_is_cut(both_ways: Translator, glossary: Glossary, sources: list[str]) -> None:
    text = "Two dogs run. The dogs sat."
    both_ways.glossary = glossary
    length = len(both_ways.tokenizer.encode_src(text))
    both_ways.translate([text], paragraph_len=length, glossary=False)
    assert len(sources) == 1
    both_ways.translate([text], paragraph_len=length)
    assert len(sources) == 3
    assert sources[1].endswith("wo▁dogs<0x02>▁chiens<0x03>▁run<0x2E></s>")


def test_alignments_are_of_the_text_without_it(both_ways: Translator, glossary: Glossary) -> None:
    both_ways.glossary = glossary
    (found,) = both_ways.translate(["two dogs"], alignments=True)
    assert [part[0] for one in found.hypotheses for part in one.parts] == ["two dogs"]
    assert found.hypotheses[0].alignment
    assert {src for src, _ in found.hypotheses[0].alignment} <= {0, 1}


def test_it_lies_in_the_model_directory_and_in_copies_of_it(parts: Parts, glossary: Glossary, tmp_path: Path) -> None:
    save_bundle(tmp_path / "model", *parts, Beside(glossary=glossary))
    copy_model(tmp_path / "model", tmp_path / "copy", "int8")
    for name in ("model", "copy"):
        opened = Translator.load(tmp_path / name, device="cpu", precision="32")
        assert opened.glossary is not None
        assert opened.glossary.entries == glossary.entries
        assert opened.into("en").glossary is opened.glossary
