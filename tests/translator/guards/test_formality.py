"""A French text says tu or vous throughout, or what is asked for."""

from dataclasses import replace
from pathlib import Path

import pytest

from translate.common.resources import models_dir
from translate.translator.guards.formality import addresses, choose, deviates
from translate.translator.translator import Translator

MODEL = models_dir() / "en-fr"
TINY = Path(__file__).parents[2] / "fixtures" / "tiny_model"
LETTER = "Could you send me the figures before Monday? You have done a great job."
MOTHER = "Mum, where did you put my shoes? Can you help me? You always know where everything is."


VOUS = """Avez-vous faim ? | C'est le vôtre. | Soyez prudents. | Dites-le ! | Faites attention. | S'il vous plaît.
ENVOYEZ-LE | Je vous en prie. Prenez un rendez-vous. | Martinez, venez !"""
TU = """As-tu faim ? | Il t'aime. | Il t’aime. | Va-t'en ! | C'est pour toi. | Lave-toi. | Dis-moi. | Suis-moi.
Viens ici. | Ferme la porte. | N'oublie pas. | Ne ferme pas la porte. | Attends ! Prends ça. | Mange ! | C'est le tien.
Donne-lui ça. | Les tiennes sont là. | Change ton ton. | Prends un rendez-vous."""
NEITHER = """Il a pris un rendez-vous chez Mme Martinez. | Assez ! | Y a-t-il du pain ? | Je tiens à eux.
Est-ce la gare ? | Il le dit d'un ton sec. | Puis-je le voir ? | Suis-je en retard ? | Reste à savoir.
Le rez-de-chaussée, le nez. | Demande de visa | Ferme à vendre | Le test est là. | Les uns, les autres"""


@pytest.mark.parametrize(("texts", "said"), [(VOUS, {"formal"}), (TU, {"informal"}), (NEITHER, set())])
def test_a_text_is_formal_or_informal_by_its_words(texts: str, said: set[str]) -> None:
    for text in texts.replace("\n", " | ").split(" | "):
        assert addresses(text) == said, text


def test_the_whole_text_decides_and_a_sentence_without_the_other_stays() -> None:
    formal, informal = ("Avez-vous faim ?", -1.0), ("As-tu faim ?", -1.5)
    neither, only = ("Il pleut.", -1.0), ("Tu manges.", -1.0)
    assert choose([[formal, informal], [neither, informal]], "consistent") == [0, 0]
    assert choose([[formal, informal], [only]], "consistent") == [1, 0]
    assert choose([[formal, informal], [only, neither]], "formal") == [0, 1]
    assert choose([[only, neither, formal]], "formal") == [2]
    assert choose([[only], [neither, formal]], "formal") == [0, 0]
    assert deviates(["Tu manges.", "Avez-vous faim ?"], "consistent")
    assert not deviates(["Tu manges.", "As-tu faim ?", "Il pleut."], "consistent")
    assert [deviates(["Tu manges."], one) for one in ("formal", "informal", "any")] == [True, False, False]


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(MODEL, device="cpu").into("fr")


@pytest.mark.parametrize("precision", ["32", "int8"])
def test_a_text_says_the_same_throughout_or_what_is_asked_for(precision: str) -> None:
    translator = Translator.load(MODEL, device="cpu", precision=precision)
    said = {
        formality: [addresses(one.text) for one in translator.translate([LETTER, MOTHER], formality=formality)]
        for formality in ("any", "consistent", "formal", "informal")
    }
    both = {"formal", "informal"}
    assert said == {
        "any": [both, both],
        "consistent": [{"formal"}, {"informal"}],
        "formal": [{"formal"}] * 2,
        "informal": [{"informal"}] * 2,
    }


def test_texts_that_do_not_deviate_are_searched_once_and_nothing_else_changes(translator, monkeypatch) -> None:
    texts = ["You should go home.", "It rains. Where are you?", ""]
    widths = []
    search = translator.engine.search

    def counted(sources, prefixes, decode):
        widths.append(decode.beam_size)
        return search(sources, prefixes, decode)

    monkeypatch.setattr(translator.engine, "search", counted)
    expected = translator.translate(texts, formality="any", beam_size=3)
    assert translator.translate(texts, formality="consistent", beam_size=3) == expected
    assert set(widths) == {3}
    translator.translate([LETTER], formality="consistent", beam_size=3)
    assert set(widths) == {3, 12}


def test_other_hypotheses_follow_and_a_prefix_decides_by_itself(translator) -> None:
    (found,) = translator.translate(["You have done a great job."], formality="formal", num_hypotheses=3)
    assert len(found.hypotheses) == 3
    assert addresses(found.text) == {"formal"}
    texts = [one.text for one in found.hypotheses]
    assert len(set(texts)) == 3
    (plain,) = translator.translate(["You have done a great job."], formality="any", num_hypotheses=3)
    assert plain.text in texts
    (begun,) = translator.translate(["You have done a great job."], formality="formal", prefixes=["Tu as"])
    assert begun.text.startswith("Tu as")


def test_searches_and_models_that_cannot_choose_refuse(translator) -> None:
    with pytest.raises(ValueError, match=r"^formality \(formal\) chooses among the outputs of a beam"):
        translator.translate(["a"], formality="formal", search="sample")
    with pytest.raises(ValueError, match=r"^formality \(informal\) chooses among the outputs of a beam"):
        translator.translate(["a"], formality="informal", num_hypotheses=2, mbr="chrf")
    german = Translator.load(TINY, device="cpu")
    german.config = replace(german.config, tgt_lang="de")
    with pytest.raises(ValueError, match=r"^formality \(formal\) is for translations into fr, and .* en to de only$"):
        german.translate(["a"], formality="formal")
    with pytest.raises(ValueError, match=r"^decode\.formality \(polite\) must be one of any, consistent, formal"):
        german.translate(["a"], formality="polite")
