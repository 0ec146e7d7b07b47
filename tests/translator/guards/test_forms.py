"""What a model reads of texts in lists, quotation marks, brackets, capitals or as titles, and what it gives back."""

import time

import pytest
from translations import translation

from translate.translator.guards.forms import (
    Form,
    plain_characters,
    plain_form,
    translate_in_other_case,
    translate_titles,
)
from translate.translator.translation import Translation
from translate.translator.translator import Translator


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('"Stop."', Form("Stop.", '"', '"')),
        ("« Stop. »", Form("Stop.", "« ", " »")),
        ("(“**Stop.**”)", Form("Stop.", "(“**", "**”)")),
        ("“Stop. I", Form("Stop. I", "“")),  # a paragraph is cut at the ends of sentences
        ('go."', Form("go.", "", '"')),
        ("* an item of *mine*", Form("an item of *mine*", "* ")),
        ("- [ ] 1. “Stop.”", Form("Stop.", "- [ ] 1. “", "”")),
        ("## NO SMOKING", Form("no smoking", "## ", capitals=True)),
        ("> > (b) Stop.", Form("Stop.", "> > (b) ")),
        ("— Il dort.", Form("Il dort.", "— ")),
        ("GO AWAY!", Form("go away!", capitals=True)),
        ("[ÇA VA BIEN ?]", Form("ça va bien ?", "[", "]", capitals=True)),
    ],
)
def test_what_encloses_a_text_is_taken_off(text: str, form: Form) -> None:
    assert plain_form(text) == form


@pytest.mark.parametrize(
    "text",
    [
        *('"Stop!" he cried.', 'He cried: "Stop!"', "(Tom) and (Mary)", "[1] See (2).", "“A” and “B”", '"A" "B"'),
        *("NATO", "ÇA VA ?", "123 + 45", '""', '"', "()", "", "**", "It's 5 * 3", "snake_case", "f(x)", "*a* and *b*"),
        *("- 5", "-5 degrees", "#1 is here", "2024. Then", "(I) am", "1.", "- ", "3.5 metres", "a.) no", "x > y"),
        *("How are you?", "Tom IS HERE.", "the dogs'", "'tis", "…", "(…)", 'It is 55"'),
    ],
)
def test_what_belongs_to_the_words_stays(text: str) -> None:
    assert plain_form(text) == Form(text)


def test_a_chain_of_marks_takes_no_time() -> None:
    start = time.process_time()
    form = plain_form("- " * 100_000 + "Stop.")
    assert time.process_time() - start < 1
    assert form == Form("- " * 99_992 + "Stop.", "- " * 8)


@pytest.mark.parametrize(
    ("text", "lang", "output"),
    [
        ("“Stop.”", "fr", "«\u00a0X.\u00a0»"),
        ('"Stop."', "fr", "«\u00a0X.\u00a0»"),
        ("«\u00a0Stop.\u00a0»", "en", '"X."'),
        ("«\u00a0Stop.\u00a0»", "de", "«\u00a0X.\u00a0»"),
        ("“Stop.”", "en", "“X.”"),
        ('"Stop. I', "fr", "«\u00a0X."),  # what closes it may stand in another part of the text
        ('go."', "fr", "X.\u00a0»"),
        ("(**STOP NOW.**)", "fr", "(**X.**)"),
    ],
)
def test_a_translation_gets_the_quotation_marks_of_its_language(text: str, lang: str, output: str) -> None:
    assert plain_form(text).restore("x." if text.isupper() else "X.", lang) == output


def test_a_label_in_capitals_is_read_as_a_word_and_comes_out_in_capitals(general: Translator) -> None:
    outputs = general.translate(["WARNING: hot surface", "WAIT: NO!"], tgt_lang="fr")
    assert outputs[0].text.startswith("AVERTISSEMENT\u00a0: ")
    assert outputs[1].text.isupper()
    (found,) = general.translate(["URGENT : rappelle-moi."], tgt_lang="en")
    assert found.text.startswith("URGENT: ")


def test_titles_are_read_in_lower_case_where_that_scores_better() -> None:
    asked = []

    def translate(texts: list[str]) -> list[Translation]:
        asked.append(texts)
        return [translation("comment faire du pain", score=-0.3), translation("tom, marie et jean", score=-0.9)]

    texts = ["1. How to Make Bread Now", "Tom, Mary and John", "Tom and Mary live here.", "I am Tom.", "USA AND UK NOW"]
    texts += ["Mr. Tom Brown", "St. John and St. Mark", "M. Jean Noir"]
    found = [translation(text, score=-0.5) for text in texts]
    again = translate_titles(texts, found, translate)
    assert asked == [["1. How to make bread now", "Tom, mary and john"]]
    assert again == [translation("comment faire du pain", score=-0.3), *found[1:]]


def test_abbreviations_in_a_title_stay_in_capitals_and_terms_in_a_title_as_they_are() -> None:
    asked = []

    def translate(texts: list[str]) -> list[Translation]:
        asked.extend(texts)
        return [translation("x", score=-0.3)] * len(texts)

    texts = ["NASA Launches a New Rocket", "Visit Our New Shop"]
    found = [translation(text, score=-0.5) for text in texts]
    translate_titles(texts, found, translate, lambda text: [(0, 5)] if "Shop" in text else [])
    assert asked == ["NASA launches a new rocket"]


def test_a_name_in_a_title_keeps_its_capital() -> None:
    def translate(texts: list[str]) -> list[Translation]:
        assert texts == ["The house of mary brown"]
        return [translation("La maison de mary marron", score=-0.1)]

    first = translation("La Mary de Brown", score=-0.5)
    (found,) = translate_titles(["The House of Mary Brown"], [first], translate)
    assert found.text == "La maison de Mary marron"
    (found,) = translate_titles(["I am Tom Brown."], [first], translate)  # two capitals, I is none
    assert found is first


def test_short_texts_are_read_with_the_other_case_of_their_first_letter_where_that_scores_better() -> None:
    asked = []

    def translate(texts: list[str]) -> list[Translation]:
        asked.extend(texts)
        return [
            translation("pain", score=-0.3),
            translation("bonjour", score=-0.6),
            translation("se connecter", score=-0.4),
            translation("À demain", score=-0.2),
            translation("je suis", score=-0.9),
        ]

    texts = ["Bread", "Hello!", '- "Sign in"', "Tom Brown", "NATO", "see you", "It is a book.", "", "My term", "I am"]
    found = [translation(text, score=-0.5) for text in texts]
    again = translate_in_other_case(texts, found, translate, lambda text: [(3, 7)] if "term" in text else [])
    assert asked == ["bread", "hello!", "sign in", "See you", "i am"]
    assert again[0] == translation("Pain", score=-0.3)
    assert again[2] == translation("- «\u00a0Se connecter\u00a0»", score=-0.4)
    assert again[5] == translation("à demain", score=-0.2)
    assert [one for place, one in enumerate(again) if place not in (0, 2, 5)] == [found[1], *found[3:5], *found[6:]]


def test_lines_without_a_mark_at_their_end_are_read_with_a_small_letter_too() -> None:
    asked = []

    def translate(texts: list[str]) -> list[Translation]:
        asked.extend(texts)
        return [translation("lait, œufs et pain", score=-0.3), translation("grève à Paris", score=-0.9)]

    texts = [
        "Milk, eggs and bread",
        "Strike in the Paris region",
        "NATO calls for calm",
        "It is a long day.",
        "One " * 13,
    ]
    found = [translation(text.strip(), score=-0.5) for text in texts]
    again = translate_in_other_case([text.strip() for text in texts], found, translate)
    assert asked == ["milk, eggs and bread", "strike in the Paris region"]
    assert again == [translation("Lait, œufs et pain", score=-0.3), *found[1:]]


def test_what_people_type_is_read_with_a_capital_too_and_comes_out_as_they_type() -> None:
    def translate(texts: list[str]) -> list[Translation]:
        assert texts == ["Do you know where tom lives", "We want to see the sea in may"]
        return [
            translation("Savez-vous où Tom habite\u00a0?", score=-0.3),
            translation("Nous voulons voir la mer", score=-0.9),
        ]

    texts = ["do you know where tom lives", "we want to see the sea in may", "do you know him?", "he is tom b."]
    found = [translation(text, score=-0.5) for text in texts]
    again = translate_in_other_case(texts, found, translate)
    assert again == [translation("savez-vous où tom habite", score=-0.3), *found[1:]]


def test_hyphens_apostrophes_and_letters_of_print_are_read_as_those_of_keyboards(general: Translator) -> None:
    texts = ["This is a well\u2011known and long\u2010term plan.", "I\u00b4m in the o\ufb03ce."]
    plain = ["This is a well-known and long-term plan.", "I'm in the office."]
    found = general.translate([*texts, *plain], tgt_lang="fr")
    assert [one.text for one in found[:2]] == [one.text for one in found[2:]]


def test_spaces_side_by_side_are_one_also_without_the_guard(general: Translator) -> None:
    assert plain_characters("a   b c  ") == "a b c "
    one, other = general.translate(["A cat sleeps.", "A   cat  sleeps."], tgt_lang="fr", form_guard=False)
    assert one.text == other.text
    assert other.hypotheses[0].parts[0][0] == "A   cat  sleeps."


def test_the_model_of_the_package_translates_every_form_alike(general: Translator) -> None:
    text = "My brother is reading a book."
    plain, *forms = (
        one.text
        for one in general.translate([text, f'"{text}"', f"**{text}**", text.upper(), f"({text})"], tgt_lang="fr")
    )
    assert forms == [f"«\u00a0{plain}\u00a0»", f"**{plain}**", plain.upper(), f"({plain})"]
    assert general.translate(["My Brother Is Reading A Book."], tgt_lang="fr")[0].text == plain
    off = general.translate([f"**{text}**"], tgt_lang="fr", form_guard=False)[0].text
    assert off != f"**{plain}**"
