"""Second translations of sentences of Tatoeba: the form of their files, and how sentences find them."""

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest
from corpus_text import has_french_spaces, is_plain, rows

from translate.config.data import DataConfig
from translate.config.parts import PartConfig
from translate.data import second_translations
from translate.data.corpus import open_corpus
from translate.data.second_translations import sentence_hash
from translate.data.sources import Pair

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "data" / "second_translations"
TATOEBA = ROOT.parent / "shared" / "corpora" / "tatoeba"


def translations(lang: str) -> list[tuple[str, ...]]:
    """The hashes and texts of a file, without its header."""
    return rows(FOLDER / f"{lang}.tsv")[1:]


@pytest.mark.parametrize(("lang", "other"), [("en", "fr"), ("fr", "en")])
def test_a_file_has_a_header_and_lines_of_a_hash_and_a_text_in_plain_characters(lang: str, other: str) -> None:
    header, *found = rows(FOLDER / f"{lang}.tsv")
    assert header == ("sentence", other)
    assert not [row for row in found if len(row) != 2 or not is_plain(row[1])]
    hashes = [row[0] for row in found]
    assert hashes == sorted(set(hashes))
    assert all(re.fullmatch("[0-9a-f]{12}", found) for found in hashes)


def test_french_has_its_spaces_before_marks() -> None:
    assert not [text for _, text in translations("en") if not has_french_spaces(text)]


def test_no_side_is_one_of_the_hundred_judged_sentences() -> None:
    with (ROOT / "docs" / "results" / "general_sentences.csv").open(encoding="utf-8", newline="") as file:
        judged = [row["source"] for row in csv.DictReader(file)]
    assert len(judged) == 100
    both = [*translations("en"), *translations("fr")]
    assert not {sentence_hash(text) for text in judged} & {found for found, _ in both}
    assert not {text.rstrip(".?!").lower() for text in judged} & {text.rstrip(" .?!").lower() for _, text in both}


def test_the_readme_counts_right() -> None:
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    table = re.findall(r"\| `(\w+)\.tsv` \| ([\d,]+) \|", readme)
    assert {lang: int(count.replace(",", "")) for lang, count in table} == {
        lang: len(translations(lang)) for lang in ("en", "fr")
    }


@pytest.mark.skipif(not TATOEBA.is_dir(), reason=f"needs {TATOEBA}")
def test_every_one_belongs_to_a_training_sentence_of_tatoeba() -> None:
    again = PartConfig(train=["train.en.gz", "train.fr.gz"], second_translations=True)
    valid = ["valid.en.gz", "valid.fr.gz"]
    corpus = open_corpus(DataConfig(source="mix", root=str(TATOEBA), parts={"again": again}, valid=valid))
    found = sum(1 for _ in corpus.streams()["again"])
    assert found == sum(len(translations(lang)) for lang in ("en", "fr"))


@pytest.fixture
def mixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataConfig:
    """A mixture whose part "again" asks for second translations of four pairs, three of which have some."""
    pairs = [
        Pair("Go on.", "Continuez."),
        Pair("Go on.", "Va."),  # the same English, whose second translation comes once
        Pair("Stop.", "Halte\u0301 !"),  # found in whatever form of Unicode
        Pair("Look.", "Regarde."),
    ]
    for lang, texts in zip(("en", "fr"), zip(*pairs, strict=True), strict=True):
        (tmp_path / f"talk.{lang}").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        (tmp_path / f"valid.{lang}").write_text("New.\n", encoding="utf-8")
    folder = tmp_path / "second_translations"
    folder.mkdir()
    tables = {("en", "fr"): {"Go on.": "Continue."}, ("fr", "en"): {"Halté !": "Halt!", "Ailleurs.": "Elsewhere."}}
    for (lang, other), table in tables.items():
        lines = [f"sentence\t{other}", *(f"{sentence_hash(text)}\t{second}" for text, second in table.items())]
        (folder / f"{lang}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.setattr(second_translations, "second_translations_dir", lambda: folder)
    again = PartConfig(train=["talk.en", "talk.fr"], second_translations=True)
    return DataConfig(source="mix", root=str(tmp_path), parts={"again": again}, valid=["valid.en", "valid.fr"])


def test_sentences_of_either_side_come_once_with_their_second_translation(mixture: DataConfig) -> None:
    assert list(open_corpus(mixture).streams()["again"]) == [
        Pair("Go on.", "Continue."),
        Pair("Halt!", "Halte\u0301 !"),
    ]


def test_they_are_read_in_the_other_direction(mixture: DataConfig) -> None:
    turned = open_corpus(replace(mixture, src_lang="fr", tgt_lang="en"))
    assert list(turned.streams()["again"]) == [Pair("Continue.", "Go on."), Pair("Halte\u0301 !", "Halt!")]


def test_max_pairs_counts_the_pairs_of_the_collection(mixture: DataConfig) -> None:
    again = replace(mixture.parts["again"], max_pairs=2)
    pairs = list(open_corpus(replace(mixture, parts={"again": again})).streams()["again"])
    assert pairs == [Pair("Go on.", "Continue.")]


def test_sentences_are_found_without_their_markup(mixture: DataConfig, tmp_path: Path) -> None:
    (tmp_path / "talk.en").write_text("*Go on.*\nf(x)\n", encoding="utf-8")
    (tmp_path / "talk.fr").write_text("Va.\nf(x)\n", encoding="utf-8")
    again = replace(mixture.parts["again"], markup="rst")
    pairs = list(open_corpus(replace(mixture, parts={"again": again})).streams()["again"])
    assert pairs == [Pair("Go on.", "Continue.")]


def test_a_sentence_is_found_whatever_cleaning_changes_of_it() -> None:
    assert {sentence_hash(text) for text in ("Go on.", " Go\u200b on. ", "Go\ton.")} == {"c21817ed1608"}
    assert sentence_hash("Go\ud800") == sentence_hash("Go\ufffd")


def test_sentences_without_any_are_named(mixture: DataConfig, tmp_path: Path) -> None:
    for lang in ("en", "fr"):
        (tmp_path / f"talk.{lang}").write_text("Something else.\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"^data\.parts\.again: none of its sentences has a second translation"):
        list(open_corpus(mixture).streams()["again"])


def test_other_languages_have_none(mixture: DataConfig) -> None:
    with pytest.raises(
        ValueError, match=r"data\.parts\.again: data\.tgt_lang \(de\): the corpus of second translations is in en"
    ):
        open_corpus(replace(mixture, tgt_lang="de"))


def test_the_cache_knows_when_they_change(mixture: DataConfig, tmp_path: Path) -> None:
    before = open_corpus(mixture).fingerprint
    again = replace(mixture.parts["again"], second_translations=False)
    assert open_corpus(replace(mixture, parts={"again": again})).fingerprint != before
    with (tmp_path / "second_translations" / "fr.tsv").open("a", encoding="utf-8") as file:
        file.write(f"{sentence_hash('Regarde.')}\tLook at that.\n")
    assert open_corpus(mixture).fingerprint != before
