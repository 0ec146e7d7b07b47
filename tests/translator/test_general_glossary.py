"""The glossary of the general model: terms come out right that the network alone does not know."""

import pytest

from translate.common.resources import glossary_dir
from translate.data.glossary import Glossary
from translate.translator.translator import Translator


def test_that_of_the_general_model_is_the_embedded_one_and_serves_it(general: Translator) -> None:
    assert general.glossary is not None
    assert general.glossary.entries == Glossary.read(glossary_dir() / "terms.tsv").entries
    texts = ["The kingfisher caught a fish.", "Two combine harvesters are in the field."]
    found = [one.text for one in general.translate(texts, tgt_lang="fr")]
    assert found == ["Le martin-pêcheur a attrapé un poisson.", "Deux moissonneuses-batteuses sont dans le champ."]
    without = [one.text for one in general.translate(texts, tgt_lang="fr", glossary=False)]
    assert not [text for text in without if "martin" in text or "batteuse" in text]


@pytest.mark.parametrize(
    ("text", "tgt_lang", "output"),
    [
        ("Weevil", "fr", "Charançon"),
        ("long time no see!", "fr", "ça fait longtemps\u00a0!"),
        ("charançons", "en", "weevils"),
    ],
)
def test_a_text_that_is_a_term_is_looked_up(general: Translator, text: str, tgt_lang: str, output: str) -> None:
    found = general.translate([text], tgt_lang=tgt_lang)[0]
    assert (found.text, found.score) == (output, 0)
    assert general.translate([text], tgt_lang=tgt_lang, glossary=False)[0].score < 0
