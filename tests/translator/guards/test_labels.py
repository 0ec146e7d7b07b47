"""Labels with a number come out as labels, before a text and alone."""

import pytest

from translate.translator.guards.labels import split_label, translate_label
from translate.translator.translator import Translator


@pytest.mark.parametrize(
    ("text", "tgt_lang", "label", "rest"),
    [
        ("Error 404: not found", "fr", "Erreur 404 : ", "not found"),
        ("Étape 2 : mélangez.", "en", "Step 2: ", "mélangez."),
        ("chapter 3: Bees", "fr", "chapitre 3 : ", "Bees"),
        ("Step 2:", "fr", "", "Step 2:"),  # nothing follows
        ("STEP 2: mix", "fr", "", "STEP 2: mix"),
        ("Tom 2: no", "fr", "", "Tom 2: no"),
        ("Step 2:30 ends", "fr", "", "Step 2:30 ends"),
        ("Step two: mix", "fr", "", "Step two: mix"),
        ("Étape 2 : mélangez.", "de", "", "Étape 2 : mélangez."),
    ],
)
def test_a_label_before_a_text_is_split_off(text: str, tgt_lang: str, label: str, rest: str) -> None:
    assert split_label(text, tgt_lang) == (label, rest)


@pytest.mark.parametrize(
    ("text", "tgt_lang", "output"),
    [
        ("Room 12", "fr", "Salle 12"),
        ("annexe 2b", "en", "appendix 2b"),
        ("Page 3.", "fr", "Page 3."),
        ("Step 2: mix", "fr", None),
        ("Day of 3", "fr", None),
        ("Room 12", "de", None),
    ],
)
def test_a_label_alone_is_known(text: str, tgt_lang: str, output: str | None) -> None:
    assert translate_label(text, tgt_lang) == output


def test_the_general_model_looks_them_up(general: Translator) -> None:
    texts = ["Error 403: you do not have permission to view this page.", "Platform 9", "1) Part 2: it rains."]
    assert [one.text for one in general.translate(texts, tgt_lang="fr")] == [
        "Erreur 403\u00a0: vous n'avez pas l'autorisation de consulter cette page.",
        "Quai 9",
        "1) Partie 2\u00a0: il pleut.",
    ]
    (plain,) = general.translate(["Error 403: you do not have permission."], tgt_lang="fr", form_guard=False)
    assert not plain.text.startswith("Erreur 403")
