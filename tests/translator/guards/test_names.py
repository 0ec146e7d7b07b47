"""First names in short texts come through."""

import time
from collections.abc import Callable

import pytest
from translations import translation

from translate.translator.guards.forms import plain_form
from translate.translator.guards.names import copy_names
from translate.translator.translation import Translation
from translate.translator.translator import Translator


def answering(answers: dict[str, tuple[str, float]]) -> Callable[[list[str]], list[Translation]]:
    """A model that knows these texts."""
    return lambda texts: [translation(answers[text][0], score=answers[text][1]) for text in texts]


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("Mark", "Mark"),
        ("- Sarah K. O'Neil", "- Sarah K. O'Neil"),
        ("Luke and Emma", "Luke et Emma"),
        ("Jean-Marc McCoy, Léa & Anna!", "Jean-Marc McCoy, Léa & Anna!"),
        ("Grace", "faux"),  # a word
        ("Jeanne d'Arc", "faux"),
        ("Mark Unread", "faux"),
        ("Paul Is Late", "faux"),
    ],
)
def test_names_alone_stay(text: str, output: str) -> None:
    model = answering({"Tom Is Late": ("faux", -0.2)})
    (one,) = copy_names([text], [translation("faux")], model, form=plain_form)
    assert one.text == output


@pytest.mark.parametrize(
    ("text", "first", "read", "answer", "output"),
    [
        ("Dear Luke,", ("Madame Luke,", -0.5), "Dear Tom,", ("Cher Tom,", -0.2), "Cher Luke,"),  # a better score
        ("Hi Zoe,", ("Salut Zoe,", -0.1), "Hi Julie,", ("Bonjour Julie,", -0.2), "Salut Zoe,"),  # a worse one
        ("Is Ben in?", ("Est-il là ?", -0.1), "Is Tom in?", ("Tom est là ?", -0.2), "Ben est là ?"),  # a lost name
        ("Is Ben in?", ("Est-il là ?", -0.1), "Is Tom in?", ("Il est là ?", -0.2), "Est-il là ?"),  # again
        ("Kind regards, Paul", ("Gentil, Paul", -0.5), "Kind regards,", ("Cordialement,", 0.0), "Cordialement, Paul"),
        ("Thanks, Paul!", ("Mercy, Paul !", -0.5), "Thanks,", ("Merci,", 0.0), "Merci, Paul!"),
        ("Un ami d'Éric", ("Uni", -0.5), "Un ami d'Alex", ("A friend of Alex", -0.1), "A friend of Éric"),
        ("Many hugs, Paul", ("Câlins, Paul", -0.5), "Many hugs,", ("Câlin,", -0.1), "Câlins, Paul"),  # not known
    ],
)
def test_a_name_in_a_few_words_is_read_as_one_that_the_model_knows(
    text: str, first: tuple[str, float], read: str, answer: tuple[str, float], output: str
) -> None:
    (one,) = copy_names([text], [translation(first[0], score=first[1])], answering({read: answer}), form=plain_form)
    assert one.text == output


def test_what_is_known_by_heart_stays() -> None:
    texts = ["Marc", "Get well soon, Tom!", "Dear Luke,"]
    found = [translation("x", score=0.0) for _ in texts]
    assert copy_names(texts, found, answering({})) == found


def test_of_several_hypotheses_those_with_the_name_are_kept() -> None:
    found = translation("Madame Luke,", "Luke,", score=-0.5)
    new = translation("Cher Tom,", "Madame,", score=-0.2)
    (one,) = copy_names(["Dear Luke,"], [found], lambda _: [new])
    assert [other.text for other in one.hypotheses] == ["Cher Luke,", "Madame Luke,"]


def test_terms_longer_texts_and_several_names_are_left_alone() -> None:
    texts = ["Dear Luke,", "I have not seen Luke since last year.", "Is Ben with Luke?", "Luke saw Tom."]
    found = [translation("x") for _ in texts]
    assert copy_names(texts, found, answering({}), lambda text: [(5, 9)] if text == texts[0] else []) == found


def test_many_names_take_no_time() -> None:
    start = time.process_time()
    text = "Paul Marc, " * 2_000 + "and so on"
    copy_names([text], [translation("x")], answering({}))
    assert time.process_time() - start < 1


def test_the_model_of_the_package_keeps_them(general: Translator) -> None:
    texts = ["James", "Dear James,", "Luke and Adam", "Cheers!", "Best regards, Sarah Miller"]
    outputs = [found.text for found in general.translate(texts, tgt_lang="fr")]
    assert outputs[:1] + outputs[2:3] + outputs[4:] == ["James", "Luke et Adam", "Cordialement, Sarah Miller"]
    assert "James" in outputs[1]
