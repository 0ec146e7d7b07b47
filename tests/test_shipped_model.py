"""The model that comes with the package: small, whole, and as good as its list of judged sentences says."""

import csv
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from translate import Translator
from translate.common.resources import SHIPPED, models_dir
from translate.infer.__main__ import main as infer
from translate.translator.bundle import find_model

SENTENCES = Path(__file__).parents[1] / "docs" / "results" / "general_sentences.csv"


@pytest.fixture(scope="module")
def judged() -> list[dict[str, str]]:
    with SENTENCES.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_it_is_small_and_says_where_its_text_is_from() -> None:
    directory = models_dir() / SHIPPED
    assert find_model(SHIPPED) == directory
    assert sum(file.stat().st_size for file in directory.iterdir()) < 16_000_000
    card = (directory / "README.md").read_text(encoding="utf-8")
    for name in (
        "tatoeba.org",
        "manythings.org",
        "CC BY 2.0 FR",
        "Django",
        "BSD-3-Clause",
        "CC0",
        "limits",
        "Tatoeba test",
    ):
        assert name in card


def test_a_directory_of_its_name_comes_first_if_it_holds_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / SHIPPED / "model").mkdir(parents=True)  # text, say: nothing that could be opened
    assert find_model(SHIPPED) == models_dir() / SHIPPED
    (tmp_path / SHIPPED / "model/model.safetensors").touch()
    assert find_model(SHIPPED) == Path(SHIPPED, "model")


def test_the_command_opens_it_without_being_asked(capsys: pytest.CaptureFixture[str], caplog) -> None:
    assert infer(["-v", "I don't understand the question.", "Merci beaucoup."]) == 0
    assert capsys.readouterr().out == "Je ne comprends pas la question.\nThank you very much.\n"
    assert f"model {models_dir() / SHIPPED}" in caplog.text


def test_a_line_that_is_in_the_language_asked_for_is_pointed_out_once(caplog: pytest.LogCaptureFixture) -> None:
    said = "line 2 seems to be in fr already"
    infer(["--to", "fr", "The cat is black.", "Bonjour, comment allez-vous ?", "Bonjour, comment allez-vous ?"])
    assert [said in message for message in caplog.messages] == [True]
    caplog.clear()
    infer(["--to", "en", "Bonjour, comment allez-vous ?", "Non", ""])
    infer(["Bonjour, comment allez-vous ?", "The cat is black."])
    infer(["--score", "The cat is black.", "Le chat est noir."])
    infer(["--pairs", "The cat is black."])
    assert caplog.messages == []
    infer(["--score", "Le chat est noir.", "The cat is black."])
    infer(["--pairs", "Bonjour, comment allez-vous ?"])
    said = "line 1 seems to be in fr already, and the model reads it as en; --to en is the other way"
    assert [said in message for message in caplog.messages] == [True, True]


def test_without_what_tells_its_languages_apart_one_must_be_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model"
    shutil.copytree(models_dir() / SHIPPED, model, ignore=shutil.ignore_patterns("languages.tsv"))
    with pytest.raises(ValueError, match=r"no languages\.tsv to recognize languages by; name the language"):
        infer(["--model", str(model), "Merci beaucoup."])
    assert infer(["--model", str(model), "--to", "en", "Merci beaucoup."]) == 0
    assert capsys.readouterr().out == "Thank you very much.\n"


def test_the_library_opens_it_without_being_asked() -> None:
    translator = Translator.load(device="cpu")
    found = translator.translate(["I don't understand the question.", "Merci beaucoup."], tgt_lang="auto")
    assert [(one.text, one.tgt_lang) for one in found] == [
        ("Je ne comprends pas la question.", "fr"),
        ("Thank you very much.", "en"),
    ]


def test_an_ensemble_with_itself_translates_as_it_does() -> None:
    translator = Translator.load(device="cpu")
    both, text = Translator.ensemble([translator, translator]), "I don't understand the question."
    for beam_size in (1, 5):
        (alone,), (found,) = (one.translate([text], tgt_lang="fr", beam_size=beam_size) for one in (translator, both))
        assert found.text == alone.text


@pytest.mark.slow
def test_most_of_its_translations_are_those_that_were_judged(judged: list[dict[str, str]]) -> None:
    assert len(judged) == len({row["source"] for row in judged}) == 100
    translator = Translator.load(device="cpu", precision="auto")
    found = [
        translator.translate([row["source"]], tgt_lang="auto")[0] for row in judged
    ]  # as the shortlist is of a batch
    same = [row for row, one in zip(judged, found, strict=True) if row["translation"] == one.text]
    assert len(same) >= 97  # elsewhere sums are rounded otherwise
    assert {row["verdict"] for row in judged} <= {"acceptable", "wrong"}
    assert sum(row["verdict"] == "acceptable" for row in judged) >= 85


@pytest.mark.slow
def test_nothing_is_fetched(tmp_path: Path) -> None:
    code = (
        "import socket, sys\n"
        "def refuse(*arguments): raise AssertionError('the network is used')\n"
        "socket.socket.connect = refuse\n"
        "from translate import Translator\n"
        "print(Translator.load().translate(['Where is the library?'])[0].text)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "Où est la bibliothèque\u00a0?\n"), done.stderr
