"""What a translation says twice in a row is said once, unless that is right."""

import pytest
from translations import translation

from translate.translator.guards.doubles import say_once, without_doubles


@pytest.mark.parametrize(
    ("text", "once"),
    [
        ("a sawmill sawmill", "a sawmill"),
        ("The physicist The physicist left", "The physicist left"),
        ("le cancer du cancer du côlon", "le cancer du côlon"),
        ("on the first floor on the first floor", "on the first floor"),
        ("d'empêchant d'empêchant", "d'empêchant"),
        ("Nous nous levons, vous vous levez", "Nous nous levons, vous vous levez"),
        ("de plus en plus en retard, étape par étape par", "de plus en plus en retard, étape par étape par"),
        ("I know that that is it. It had had it.", "I know that that is it. It had had it."),
        ("une rose rose, Will will come, side by side by me", "une rose rose, Will will come, side by side by me"),
        ("côte à côte à table, de temps en temps en ville", "côte à côte à table, de temps en temps en ville"),
        ("300 000 000, bye bye", "300 000 000, bye bye"),
        ("a test, test-test, attest test", "a test, test-test, attest test"),
    ],
)
def test_words_in_a_row_are_said_once(text: str, once: str) -> None:
    assert without_doubles(text) == once


def test_a_source_that_says_something_twice_is_left_alone() -> None:
    texts = ["A long, long day", "A long day", "A long `x` day"]
    found = [translation("Une longue longue journée", "x longue longue")] * 3
    done = say_once(texts, found, lambda text: [(7, 10)] if "`" in text else [])
    assert [one.text for one in done] == [
        "Une longue longue journée",
        "Une longue journée",
        "Une longue longue journée",
    ]
    assert [one.text for one in done[1].hypotheses] == ["Une longue journée", "x longue"]
