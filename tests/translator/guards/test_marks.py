"""Marks of a translation have the spaces of its language, and what the model reads of marks within a text."""

import time

import pytest
from translations import translation

from translate.translator.guards.forms import plain_characters, plain_marks
from translate.translator.guards.marks import marks_of_the_language, with_lost_mark
from translate.translator.translator import Translator


@pytest.mark.parametrize(
    ("output", "lang", "expected"),
    [
        ("«Ah ! » dit-il : oui; 5% ?", "fr", "«\u00a0Ah\u00a0!\u00a0» dit-il\u00a0: oui\u00a0; 5\u00a0%\u00a0?"),
        ("Quoi ?! À 10:30, http://a.fr/?b : oui...", "fr", "Quoi\u00a0?! À 10:30, http://a.fr/?b\u00a0: oui..."),
        ("Stop ! ! ! Quoi ? !", "fr", "Stop\u00a0!!! Quoi\u00a0?!"),
        ("Merci :-) Ah…! {a}!", "fr", "Merci :-) Ah…! {a}\u00a0!"),
        ("Dans l' Amazone qu’ il aime, d' 1 'non'.", "fr", "Dans l'Amazone qu’il aime, d'1 'non'."),
        (
            "Le adulte dit que à la école il ne est; si ils y vont",
            "fr",
            "L'adulte dit qu'à l'école il n'est\u00a0; s'ils y vont",
        ),
        (
            "Donne-le à la une, le un, la onzième, de A à Z. Puis-je aller",
            "fr",
            "Donne-le à la une, le un, la onzième, de A à Z. Puis-je aller",
        ),
        ("DE AMOUR, que une, le oui, Je aime", "fr", "D'AMOUR, qu'une, le oui, J'aime"),
        ("Du caf&eacute; &amp; a5%20b", "fr", "Du caf&eacute; &amp; a5%20b"),
        (
            'Le «mot", "un" et "deux» a="b" 15"',
            "fr",
            'Le «\u00a0mot\u00a0», «\u00a0un\u00a0» et «\u00a0deux\u00a0» a="b" 15"',
        ),
        ('He said : " Go ! " , 5 % of it .', "en", 'He said: "Go!", 5% of it.'),
        ("Thanks :-) I have .5 and … ok", "en", "Thanks :-) I have .5 and … ok"),
        ("Was ist das ?", "de", "Was ist das ?"),
    ],
)
def test_marks_have_the_spaces_of_the_language(output: str, lang: str, expected: str) -> None:
    (new,) = marks_of_the_language(["x"], [translation(output, output, tgt_lang=lang)])
    assert [new.text, *(one.text for one in new.hypotheses)] == [expected] * 3


@pytest.mark.parametrize(
    ("output", "spans", "lang", "expected"),
    [
        ("Il dit «\u00a0non, puis part.", [1], "fr", "Il dit «\u00a0non\u00a0», puis part."),
        ("Je vais bien\u00a0», merci.", [1], "fr", "Je vais «\u00a0bien\u00a0», merci."),
        ("«\u00a0Un\u00a0» ou deux mots\u00a0».", [1, 2], "fr", "«\u00a0Un\u00a0» ou «\u00a0deux mots\u00a0»."),
        ("Dis «\u00a0oui", [5], "fr", "Dis «\u00a0oui\u00a0»"),
        ('No," he said.', [1], "en", '"No," he said.'),
        ('No," he said, "I do not."', [1, 3], "en", '"No," he said, "I do not."'),
        ("Il dit «\u00a0non\u00a0».", [1], "fr", "Il dit «\u00a0non\u00a0»."),
        ("Il dit non.", [1], "fr", "Il dit non."),  # both are lost: where they were is not known
        ('15" and', [], "en", '15" and'),
        ("«", [1], "fr", "«"),
    ],
)
def test_a_lost_quotation_mark_is_put_where_its_words_end(
    output: str, spans: list[int], lang: str, expected: str
) -> None:
    assert with_lost_mark(output, spans, lang) == expected


def test_what_is_kept_keeps_its_marks() -> None:
    (new,) = marks_of_the_language(["a"], [translation("`b ! c` ! d !")], lambda _: [(0, 1)])
    assert new.text == "`b\u00a0! c`\u00a0! d\u00a0!"
    (new,) = marks_of_the_language(["see `b ! c`!"], [translation("`b ! c` ! d !")], lambda _: [(4, 11)])
    assert new.text == "`b ! c`\u00a0! d\u00a0!"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("It costs 5.He left,but I stay.", "It costs 5.He left, but I stay."),
        ("Vraiment?Non!Il part.", "Vraiment? Non! Il part."),
        (
            "See node.js,www.a.fr/b,cc and J.K.Rowling, e.g.This.",
            "See node.js,www.a.fr/b,cc and J.K.Rowling, e.g.This.",
        ),
        ("Pages 3–5, Paris–Lyon—by train.", "Pages 3-5, Paris-Lyon - by train."),
        ("a – b", "a – b"),
        ("1 1/2 cups of H₂O, 2 2/3 tasses", "1½ cups of H2O, 2⅔ tasses"),
        ("Room 5 1/4 finals, 1 3/2 cups, 12 1/2/3", "Room 5 1/4 finals, 1 3/2 cups, 12 1/2/3"),
    ],
)
def test_forgotten_spaces_and_dashes_of_print_are_read_as_usual(text: str, read: str) -> None:
    assert plain_characters(text) == read


@pytest.mark.parametrize(
    ("text", "lang", "read"),
    [
        ("The “best” and *very* **good** one", "en", "The « best » and very good one"),
        ("**Important:** _really_ good, a_b_c, __init__ too", "en", "Important: really good, a_b_c, init too"),
        ('"Stop," he said. "You (there)!"', "en", '"Stop," he said. "You ( there)!"'),
        ("Il dit «\u202foui\u202f» ou «non».", "fr", "Il dit « oui » ou « non »."),
        ('2 * 3 * 4, a*b*c, 5" and 6", f(x)', "en", '2 * 3 * 4, a*b*c, 5" and 6", f(x)'),
        ("Cash and/or card. Not land/or.", "en", "Cash or card. Not land/or."),
        ("Espèces et/ou carte, pas et/où.", "fr", "Espèces ou carte, pas et/où."),
        ("and/or", "fr", "and/or"),
        ("Click ‘Save’ or 'Stop!', don't.", "en", 'Click « Save » or "Stop!", don\'t.'),
        ("The boys' cat, '90s, rock 'n' roll's", "en", "The boys' cat, '90s, rock 'n' roll's"),
        ("Ami(e)s, né(e) le, nom(s), f(s), mot(clé)", "fr", "Amis, né le, noms, f(s), mot(clé)"),
        ("Select the file(s).", "en", "Select the files."),
        ("print(e), map(f) and né(e)", "en", "print(e), map(f) and né(e)"),
        ("WHERE id = 'abc', f('abc'), a_b 'cd'", "en", "WHERE id = 'abc', f('abc'), a_b 'cd'"),
        ("the '90s and the '80s' songs", "en", "the '90s and the '80s' songs"),
    ],
)
def test_marks_within_a_text(text: str, lang: str, read: str) -> None:
    assert plain_marks(text, lang) == read


@pytest.mark.parametrize(
    ("output", "lang", "written"),
    [
        ("Venez le 1 mai à 9 h 30, pas le 11 mai.", "fr", "Venez le 1er mai à 9\u00a0h\u00a030, pas le 11 mai."),
        ("De 9 h à 12 :00, 3 : 4, 5 :123", "fr", "De 9\u00a0h à 12:00, 3\u00a0: 4, 5 :123"),
        ("At 9:00 a.m, at 5 p.m.", "en", "At 9:00 a.m., at 5 p.m."),
        ("Le 1 janvier, de 9 h à 12 h 5.", "fr", "Le 1er janvier, de 9\u00a0h à 12\u00a0h 5."),
        ("On May 1th, the 22th and the 103th", "en", "On May 1st, the 22nd and the 103rd"),
        ("The 11th, 12th, 113th and 20th", "en", "The 11th, 12th, 113th and 20th"),
    ],
)
def test_days_and_times_are_written_as_the_language_does(output: str, lang: str, written: str) -> None:
    assert marks_of_the_language(["x"], [translation(output, tgt_lang=lang)])[0].text == written


def test_spaces_that_were_added_for_the_model_are_taken_out() -> None:
    found = [translation("A ( b) et / ou c"), translation("A ( b) et / ou c")]
    tight, spaced = marks_of_the_language(["A (b) and/or c", "A (b) and / or c"], found)
    assert (tight.text, spaced.text) == ("A (b) et/ou c", "A (b) et / ou c")


def test_long_runs_of_marks_take_no_long_time() -> None:
    start = time.process_time()
    for part in ('"', '"a ', "*a ", "«", " ", "aa,bb", " !", "(a "):
        text = part * (100_000 // len(part))
        plain_marks(plain_characters(text), "en")
        marks_of_the_language(["x"] * 2, [translation(text), translation(text, tgt_lang="en")])
    assert time.process_time() - start < 5


def test_the_model_of_the_package_translates_text_with_marks_within(general: Translator) -> None:
    quoted, bracketed, unspaced, smiling = general.translate(
        ["He said: “It’s too late.”", "He left (without saying goodbye).", "I am tired,but happy.", "I'm sad :("],
        tgt_lang="fr",
    )
    assert quoted.text == "Il a dit\u00a0: «\u00a0Il est trop tard.\u00a0»"
    assert bracketed.text == "Il est parti (sans dire au revoir)."
    assert "mais" in unspaced.text
    assert smiling.text.endswith("triste :(")
    (left,) = general.translate(['He said "no", then left.'], tgt_lang="fr")
    assert "«\u00a0non\u00a0», " in left.text
    (within,) = general.translate(["My sister (who lives in Paris) left."], tgt_lang="fr")
    assert "(qui" in within.text
    (either,) = general.translate(["Pay by cash and/or card."], tgt_lang="fr")
    assert either.text == "Payez en espèces et/ou par carte."
    (english,) = general.translate(["Payez en espèces et/ou par carte."], tgt_lang="en")
    assert " and/or " in english.text
