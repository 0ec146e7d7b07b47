"""What the model is unsure of is read with its first word in lower case, too."""

import pytest

from translate.search.hypothesis import Hypothesis
from translate.translator.beside import Beside
from translate.translator.guards.forms import Form
from translate.translator.guards.second_reading import is_likelier, second_reading
from translate.translator.translation import Translation
from translate.translator.translator import Translator
from translate.translator.truecasing import Truecaser

NAMES = {"tom", "london"}
TEXTS = {  # by the language of their translations, with words of these
    "fr": {"Superb house, clean pool, discreet neighbours.": "superbe", "Hard to find a better deal.": "Difficile"},
    "en": {
        "Miel à vendre, pot de 500 g, 7 €": "Honey",
        "Musée intéressant, comptez deux bonnes heures.": "Interesting",
    },
}


def hypothesis(mean: float, tokens: int = 10) -> Hypothesis:
    return Hypothesis(tuple(range(4, tokens + 4)), mean * tokens, mean, (mean,) * tokens)


def _best(translation: Translation) -> Hypothesis:
    one = translation.hypotheses[0]
    return hypothesis(one.log_prob / len(one.token_ids), len(one.token_ids))


def test_a_word_that_may_be_unknown_at_the_start_of_a_sentence_is_read_in_lower_case() -> None:
    form = Form("Superb house, clean pool.", head="- ")
    second = second_reading(form, hypothesis(-0.5), "Poste superbe, piscine propre.", NAMES)
    assert second == form._replace(text="superb house, clean pool.", capital=True)
    assert second.restore("maison superbe, piscine propre.", "fr") == "- Maison superbe, piscine propre."


@pytest.mark.parametrize(
    "text",
    [
        "Tom sleeps.",  # a name
        "New York sleeps.",  # two words with capitals
        "superb house",
        "I sleep.",
        "NATO sleeps.",
        "C++ is a language.",
        "E-mails sleep.",
        "L'été est court.",
        "Dr. No",
        "12 eggs",
        "",
    ],
)
def test_names_abbreviations_and_what_has_no_capital_are_read_once(text: str) -> None:
    assert second_reading(Form(text), hypothesis(-2.0), "une sortie", NAMES) is None


def test_what_the_model_is_sure_of_and_what_keeps_its_capital_is_read_once() -> None:
    form = Form("Kowalski called.")
    assert second_reading(form, hypothesis(-0.3), "Appel.", NAMES) is None
    assert second_reading(form, hypothesis(-0.5), "Hier, Kowalski a appelé.", NAMES) is None
    assert (
        second_reading(form, hypothesis(-0.5), "Kowalski a appelé.", NAMES) is not None
    )  # may be a word that was copied


def test_the_second_reading_must_be_likelier_by_token_not_by_sentence() -> None:
    assert is_likelier(hypothesis(-0.4, 20), hypothesis(-0.5, 10))
    assert not is_likelier(hypothesis(-0.46), hypothesis(-0.5))


@pytest.mark.parametrize("lang", TEXTS)
def test_the_shipped_model_knows_words_that_hardly_begin_a_sentence(general: Translator, lang: str) -> None:
    texts = list(TEXTS[lang])
    found = [one.text for one in general.translate(texts, tgt_lang=lang)]
    once = [one.text for one in general.translate(texts, tgt_lang=lang, form_guard=False)]
    for word, one, other in zip(TEXTS[lang].values(), found, once, strict=True):
        assert word in one
        assert word not in other
        assert one[0].isupper()


def test_each_segment_of_a_paragraph_is_read_again_by_itself(general: Translator) -> None:
    (found,) = general.translate(
        ["We stayed here in May. Superb house, clean pool, discreet neighbours."], tgt_lang="fr"
    )
    assert "superbe" in found.text
    assert ". " in found.text
    assert found.text.split(". ")[1][0].isupper()


def test_a_second_reading_that_is_likelier_replaces_all_hypotheses(both_ways: Translator) -> None:
    beside = Beside(truecaser=Truecaser({"en": {"tom": "Tom"}}))
    translator = Translator(both_ways.engine, both_ways.tokenizer, both_ways.config, beside)
    once = {"num_hypotheses": 2, "beam_size": 4}
    replaced = []
    for text in ["Dogs run and run by the cat.", "Cat and the dogs sat.", "Tom run and run by the cat."]:
        (found,) = translator.translate([text], form_guard=True, **once)
        first, second = both_ways.translate([text, text[0].lower() + text[1:]], **once)
        replaced.append(text[:3] != "Tom" and is_likelier(*map(_best, (second, first))))
        wanted = (second if replaced[-1] else first).hypotheses
        assert [one.token_ids for one in found.hypotheses] == [one.token_ids for one in wanted]
        assert all(one.text[0] == one.text[0].upper() for one in found.hypotheses)
    assert replaced == [True, False, False]
