"""A French text says tu or vous throughout, or what is asked for."""

from dataclasses import replace
from pathlib import Path

import pytest

from translate.common.resources import models_dir
from translate.translator.guards.formality import addresses, best_place, deviates, in_one_formality
from translate.translator.translation import TranslatedHypothesis, Translation
from translate.translator.translator import Translator

MODEL = models_dir() / "en-fr"
TINY = Path(__file__).parents[2] / "fixtures" / "tiny_model"
LETTER = "Could you send me the figures before Monday? You have done a great job."
MOTHER = "Mum, where did you put my shoes? Can you help me? You always know where everything is."


def translation(text: str, *, log_prob: float = -1) -> Translation:
    return Translation(text, log_prob, (TranslatedHypothesis(text, log_prob, log_prob, ()),))


VOUS = """Avez-vous faim ? | C'est le vôtre. | Soyez prudents. | Dites-le ! | Faites attention. | S'il vous plaît.
ENVOYEZ-LE | Je vous en prie. Prenez un rendez-vous. | Martinez, venez ! | Donnez-le-moi ! | Dites-le-moi. | Vous-même
Montrez-le-lui. | Allez-vous-en ! | Faites-le-moi savoir. | Entrez et sortez. | Allez-y. | Entrez. | Allez à la gare."""
TU = """As-tu faim ? | Il t'aime. | Il t’aime. | Va-t'en ! | C'est pour toi. | Lave-toi. | Dis-moi. | Suis-moi. | Vas-y.
Viens ici. | Ferme la porte. | N'oublie pas. | Ne ferme pas la porte. | Attends ! Prends ça. | Mange ! | C'est le tien.
Donne-lui ça. | Les tiennes sont là. | Change ton ton. | Prends un rendez-vous. | Ouvre l'enveloppe. | Arrête\u00a0!
Maman, viens ici ! | «\u00a0Ferme la porte.\u00a0» | - Ferme la porte. | Sors d'ici. | Ne bouge pas. | Donne-le-moi."""
NEITHER = """Il a pris un rendez-vous chez Mme Martinez. | Assez ! | Y a-t-il du pain ? | Je tiens à eux. | Te Deum
Il le dit d'un ton sec. | Puis-je le voir ? | Suis-je en retard ? | Reste à savoir. | Le rez-de-chaussée, le nez. | Suez
Demande de visa | Ferme à vendre | Le test est là. | Les uns, les autres | Où sommes-nous ? | Allons-nous-en. | Allez !
Prêtons-le-leur. | Brive-la-Gaillarde | Un boute-en-train | notes-en.txt | pages-en/a.html | Le cessez-le-feu tient.
un laissez-passer | Des merguez | garde-à-vous | M. Lopez est là. | Lopez est là. | « Martinez est là » | Garcia (Gomez)
Il s'est tu. | Je le tiens de toute façon. | Je les tiens. | qu'il la tienne | Quel ton ! | Il a changé de ton.
Reste un problème. | Cherche un appartement. | Ne pas fumer | Ne sont pas remboursés | Il ne bouge pas."""


@pytest.mark.parametrize(("texts", "said"), [(VOUS, {"formal"}), (TU, {"informal"}), (NEITHER, set())])
def test_a_text_is_formal_or_informal_by_its_words(texts: str, said: set[str]) -> None:
    for text in texts.replace("\n", " | ").split(" | "):
        assert addresses(text) == said, text


def test_what_deviates_and_what_is_chosen_instead() -> None:
    both = "Tu manges. Avez-vous faim ?"
    assert [deviates(text, "consistent") for text in (both, "Tu manges. As-tu faim ?", "Il pleut.")] == [
        True,
        False,
        False,
    ]
    assert [deviates("Tu manges.", one) for one in ("formal", "informal", "any")] == [True, False, False]
    assert best_place(["Tu manges.", both, "On mange.", "Mangez."], "formal") == 3
    assert best_place(["Tu manges.", both, "On mange."], "formal") == 2
    assert best_place(["Tu manges.", both], "formal") == 0


def test_texts_that_say_both_become_the_likelier_of_what_says_one() -> None:
    found = [translation("Tu es. Vous êtes."), translation("Tu es."), translation("Te voilà. Vous voilà.")]
    asked = []

    def translate(places: list[int], formality: str) -> list[Translation]:
        asked.append((places, formality))
        ways = {"formal": [("Vous êtes.", -3), ("Vous voilà.", -5)], "informal": [("Tu es.", -2), ("Toi, vous.", -1)]}
        return [translation(text, log_prob=log_prob) for text, log_prob in ways[formality]]

    done = in_one_formality(found, translate)
    assert [one.text for one in done] == ["Tu es.", "Tu es.", "Vous voilà."]
    assert asked == [([0, 2], "formal"), ([0, 2], "informal")]
    assert in_one_formality(found[1:2], translate) == found[1:2]
    assert len(asked) == 2


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
    formal = replace(translator.config.decode, formality="formal")
    (begun,) = translator.translate(["You have done a great job."], formal, prefixes=["Tu as"])
    assert begun.text.startswith("Tu as")


def test_pieces_around_emoji_and_brackets_and_what_the_memory_has_agree(translator) -> None:
    for text in (
        "Could you send me the figures before Monday? 😀 You have done a great job.",
        "Could you send me the figures before Monday (you have done a great job)?",
    ):
        assert addresses(translator.translate([text])[0].text) == {"formal"}
    known = "Your password has been changed"
    assert translator.translate([known])[0].score == 0
    assert [addresses(translator.translate([known], formality=one)[0].text) for one in ("formal", "informal")] == [
        {"formal"},
        {"informal"},
    ]


def test_searches_and_models_that_cannot_choose_refuse(translator) -> None:
    with pytest.raises(ValueError, match=r"^formality \(formal\) chooses among the outputs of a beam"):
        translator.translate(["a"], formality="formal", search="sample")
    with pytest.raises(ValueError, match=r"^formality \(informal\) chooses among the outputs of a beam"):
        translator.translate(["a"], formality="informal", num_hypotheses=2, mbr="chrf")
    with pytest.raises(ValueError, match=r"^formality \(formal\) is for translations into fr, not en$"):
        translator.translate(["a"], formality="formal", tgt_lang="en")
    with pytest.raises(ValueError, match=r"^formality \(formal\) cannot be combined with prefixes"):
        translator.translate(["a"], formality="formal", prefixes=["Tu"])
    (into_english, into_french) = translator.translate(
        ["Merci beaucoup.", "Are you coming?"], formality="formal", tgt_lang="auto"
    )
    assert into_english.text == "Thank you very much."
    assert addresses(into_french.text) == {"formal"}
    german = Translator.load(TINY, device="cpu")
    german.config = replace(german.config, tgt_lang="de", tgt_langs=["de", "en"])
    for tgt_lang in ("auto", "de"):
        with pytest.raises(ValueError, match=r"^formality \(formal\) is for translations into fr"):
            german.translate(["a"], formality="formal", tgt_lang=tgt_lang)
    with pytest.raises(ValueError, match=r"^decode\.formality \(polite\) must be one of any, consistent, formal"):
        german.translate(["a"], formality="polite")
