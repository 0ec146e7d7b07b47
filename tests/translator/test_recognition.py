"""Which language a text is in, and translating it into the other one."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from translate.common.resources import everyday_dir
from translate.translator.recognition import Recognizer, ngrams
from translate.translator.translator import Translator

TINY = Path(__file__).parents[1] / "fixtures" / "tiny_model"


def lines(name: str) -> list[str]:
    return (everyday_dir() / name).read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def recognizer() -> Recognizer:
    return Recognizer.learn(("en", "fr"), lines("train.en"), lines("train.fr"))


@pytest.mark.slow
def test_sentences_that_it_did_not_learn_from_are_recognized(recognizer: Recognizer) -> None:
    for language in ("en", "fr"):
        texts = lines(f"test_unseen.{language}")
        for given_texts in (texts, [text.lower().rstrip(".?! \u202f\u00a0") for text in texts]):
            right = sum(recognizer.recognize([text]) == [language] for text in given_texts)
            assert right >= 0.99 * len(texts)


def test_a_text_that_is_too_short_to_tell_goes_with_those_beside_it(recognizer: Recognizer) -> None:
    assert recognizer.recognize(["42", "Où est la gare ?", "!"]) == ["fr", "fr", "fr"]
    assert recognizer.recognize(["42", "Where is the station?"]) == ["en", "en"]
    assert recognizer.recognize(["Where is the station?", "Où est la gare ?"]) == ["en", "fr"]
    assert recognizer.recognize(["", "12:30"]) == ["en", "en"]
    assert recognizer.recognize([]) == []


def test_beside_many_clear_texts_of_one_language_those_of_the_other_are_clear(recognizer: Recognizer) -> None:
    english, doubtful = lines("test.en")[:60], "Mon table."
    assert -20 < recognizer.evidence(doubtful) < -2
    assert recognizer.recognize([*english[:5], doubtful])[-1] == "fr"
    assert recognizer.recognize([*english, doubtful])[-1] == "en"
    french = "Le médecin mange une pomme dans le jardin avec sa sœur."
    assert recognizer.recognize([*english, doubtful, french])[-2:] == ["fr", "fr"]


@given(st.text())
def test_any_text_is_in_one_of_the_two(recognizer: Recognizer, text: str) -> None:
    assert recognizer.recognize([text])[0] in ("en", "fr")


def test_what_another_knew_of_other_n_grams_stays(recognizer: Recognizer) -> None:
    own = Recognizer.learn(("fr", "en"), ["zut alors"], ["oh dear"], recognizer)
    text = "Where is the station?"
    assert own.recognize([text, "Où est la gare ?", "zut", "oh"]) == ["en", "fr", "fr", "en"]
    alone = Recognizer.learn(("fr", "en"), ["zut alors"], ["oh dear"])
    assert own.weights["zu"] == alone.weights["zu"] != -recognizer.weights.get("zu", 0)
    assert own.weights["wher"] == -recognizer.weights["wher"]


def test_typographic_apostrophes_count_as_straight_ones() -> None:
    assert list(ngrams("I’ll quit l’ami")) == list(ngrams("I'll quit l'ami"))


def test_it_comes_back_from_its_file(recognizer: Recognizer, tmp_path: Path) -> None:
    assert Recognizer.load(tmp_path) is None
    recognizer.save(tmp_path)
    assert Recognizer.load(tmp_path) == recognizer
    assert (tmp_path / "languages.tsv").stat().st_size < 100_000
    (tmp_path / "languages.tsv").write_text("en\tfr\nthe\tmuch\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"languages\.tsv is damaged"):
        Recognizer.load(tmp_path)


def test_a_model_of_one_direction_recognizes_nothing(both_ways: Translator) -> None:
    translator = Translator.load(TINY, device="cpu")
    with pytest.raises(ValueError, match=r"only a model of both directions .* this one translates en to fr only"):
        translator.translate(["Hello."], tgt_lang="auto")
    with pytest.raises(ValueError, match=r"no languages\.tsv"):
        both_ways.recognize(["Hello."])


def test_each_text_is_translated_as_if_its_direction_had_been_given(
    both_ways: Translator, recognizer: Recognizer
) -> None:
    both_ways.recognizer = recognizer
    english, french = lines("test.en")[:6], lines("test.fr")[6:12]
    mixed = [*english, "", *french]
    random.Random(3).shuffle(mixed)
    done: list[int] = []
    found = both_ways.translate(mixed, tgt_lang="auto", progress=done.append, beam_size=2, max_output_len=8)
    assert sum(done) == len(mixed)
    for text, translation in zip(mixed, found, strict=True):
        target = "en" if text in french else "fr"
        (expected,) = both_ways.translate([text], tgt_lang=target, beam_size=2, max_output_len=8)
        if text:
            assert (translation.text, translation.tgt_lang) == (expected.text, target)
    begun = both_ways.translate(["Où est la gare ?", "Hello."], tgt_lang="auto", prefixes=["a", None], max_output_len=8)
    assert begun[0].text.startswith("a")
    assert [one.tgt_lang for one in begun] == ["en", "fr"]


def test_accents_of_their_own_do_not_mislead(general: Translator) -> None:
    assert general.recognize(["Ou\u0300 c\u0327a ?"]) == ["fr"]
