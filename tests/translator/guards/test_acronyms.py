"""Acronyms come out as those of the other language, with the right articles."""

import pytest

from translate.translator.guards.acronyms import (
    STAND_INS,
    Acronym,
    find_acronyms,
    lacks_article,
    plain_acronyms,
    with_articles,
)
from translate.translator.translator import Translator


@pytest.mark.parametrize(
    ("text", "src_lang", "read"),
    [
        (
            "AI, OpenAI, AI-made, an AI tool",
            "en",
            "Artificial intelligence, OpenAI, AI-made, an artificial intelligence tool",
        ),
        (
            "The AI, Mistral AI, AI Weiwei, (AI), #AI",
            "en",
            "The artificial intelligence, Mistral AI, AI Weiwei, (AI), #AI",
        ),
        ("Artificial intelligence, or AI", "en", "Artificial intelligence, or AI"),
        ("Les IA du stade IA, la (IA), Mistral IA", "fr", "Les IA du stade IA, la (IA), Mistral IA"),
        ("L'IA est l'intelligence artificielle.", "fr", "L'IA est l'intelligence artificielle."),
        ("L'IA, une IA", "fr", "L'intelligence artificielle, une intelligence artificielle"),
        ("TBD, HR and an ICU", "en", "To be determined, human resources and an intensive care unit"),
        ("30 HR, HR 5, ER, the ER", "en", "30 HR, HR 5, ER, the ER"),
        ("She is in the ER.", "en", "She is in the emergency room."),
        (
            "UK troops left the UK. The UK law, a US law.",
            "en",
            "British troops left the United Kingdom. The British law, an American law.",
        ),
        (
            "US beat UK; U.S. laws; tell US what; the US army",
            "en",
            "US beat United Kingdom; American laws; tell US what; the US army",
        ),
        ("The United Kingdom, or UK", "en", "The United Kingdom, or UK"),
        (
            "IT staff in IT, is IT bad? In LA, a LA",
            "en",
            "computer staff in computing, is IT bad? In Los Angeles, a LA",
        ),
        (
            "Mon RIB, les RIB, les petites BD, 2 CDI, un CDI",
            "fr",
            "Mon coordonnées bancaires, les coordonnées bancaires, les petites BD, 2 CDI, un contrat permanent",
        ),
        ("Le CDI du lycée, l'HLM, au JO, La DRH, DAB+", "fr", "Le CDI du lycée, l'HLM, au JO, La DRH, DAB+"),
        ("Le R.-U. et les É.-U.", "fr", "Le Royaume-Uni et les États-Unis."),
    ],
)
def test_some_are_read_in_full(text: str, src_lang: str, read: str) -> None:
    assert plain_acronyms(text, src_lang) == read


@pytest.mark.parametrize(
    ("text", "src_lang", "found"),
    [
        ("The EU's aid to an NGO", "en", [("EU", "the, l'", "UE"), ("NGO", "une, l'", "ONG")]),
        ("L'OMS et des ONG, 3 PME, une PME", "fr", [("OMS", "the, l'", "WHO"), ("ONG", "des", "NGOs")]),
        ("It grew (AI), it fell (GDP).", "en", [("AI", "word", "IA"), ("GDP", "word", "PIB")]),
        ("AI, x.EU, a/EU, EU/b, EU.org, EU-led, (OK), (UK)", "en", []),
        ("L'IA et UN ami", "fr", []),
        ("An API in HTML", "en", [("API", "une, l'", "API"), ("HTML", "le, no name", "HTML")]),
        (
            "entreprises (PME), une entreprise (PME), le SIDA",
            "fr",
            [("PME", "word", "SMEs"), ("PME", "word", "SME"), ("SIDA", "le", "AIDS")],
        ),
        ("(FREE) (NOT) (BC)", "en", []),
        ("tom's gps and the nato ceos", "en", [("gps", "un", "gps"), ("nato", "l'", "otan"), ("ceos", "des", "pdg")]),
        ("les ong et l'onu", "fr", [("ong", "des", "ngos"), ("onu", "the, l'", "un")]),
        ("J'ai deux gps et une irm.", "fr", [("gps", "des", "GPS"), ("irm", "une, l'", "MRI")]),
        ("mr ngo, the std code, ilo, xml::x, c:\\html", "en", []),
        ("monsieur ong oit, le fiv, mst en chimie, master ist", "fr", []),
        ("who led aids? the eu, un vat of http://bbc.uk x.html fbi-led", "en", []),
        ("il a eu un ram, le sida, la led", "fr", []),
    ],
)
def test_what_is_known_is_found(text: str, src_lang: str, found: list[tuple[str, str, str]]) -> None:
    acronyms = list(find_acronyms(text, src_lang))
    assert [one[1:] for one in acronyms][: len(found)] == found
    assert all(text[one.start :].startswith(one.text) for one in acronyms)
    assert bool(acronyms) == bool(found)


def test_a_number_before_it_makes_a_plural() -> None:
    text = "3 PME, une PME, nos PME, 21 PME, 1 PME, de nombreuses PME, les deux grandes PME"
    assert [one.kind for one in find_acronyms(text, "fr")] == ["des", "une", "des", "des", "une", "des", "des"]


@pytest.mark.parametrize(
    ("text", "acronym", "kind", "tgt_lang", "expected"),
    [
        ("He has a MRI, an SUV and a NGO.", "MRI", "une, l'", "en", "He has an MRI, an SUV and a NGO."),
        ("An SUV", "SUV", "un", "en", "An SUV"),
        ("An GPS", "GPS", "un", "en", "A GPS"),
        ("An NATO state", "NATO", "l'", "en", "A NATO state"),
        ("le chef de NASA va en NASA", "NASA", "la", "fr", "le chef de la NASA va à la NASA"),
        ("beaucoup d'ADN", "ADN", "l', no name", "fr", "beaucoup d'ADN"),
        ("hepatitis A RNA", "RNA", "l', no name", "en", "hepatitis A RNA"),
        ("en ONG", "ONG", "une, l'", "fr", "en ONG"),
        ("a mri", "mri", "une, l'", "en", "an mri"),
    ],
)
def test_articles_are_those_of_the_acronym(text: str, acronym: str, kind: str, tgt_lang: str, expected: str) -> None:
    assert with_articles(text, acronym, kind, tgt_lang) == expected


def test_a_name_that_needs_its_article_has_it_at_the_beginning() -> None:
    otan, fmi = Acronym(0, "NATO", "l'", "OTAN"), Acronym(4, "IMF", "the, le", "FMI")
    texts = ("OTAN envoie des troupes", "L'OTAN est là", "Les forces de l'OTAN", "OTAN", "OTAN, UE et ONU")
    assert [lacks_article(text, otan, "fr") for text in texts] == [True, False, False, False, False]
    assert not lacks_article("FMI leva", fmi, "fr")
    assert not lacks_article("OTAN envoie", otan, "en")


@pytest.mark.parametrize(("kind", "names"), STAND_INS.items())
def test_the_general_model_knows_the_stand_ins(general: Translator, kind: str, names: tuple[tuple[str, str], ...]):
    frame = "The {} is here." if kind.startswith("the") else "Tom has one {}." if kind[:2] == "un" else "Tom knows {}."
    english = [frame.format(name) for name, _ in names]
    for (_, name), one in zip(names, general.translate(english, tgt_lang="fr"), strict=True):
        assert name in one.text


@pytest.mark.parametrize(
    ("text", "tgt_lang", "output"),
    [
        ("The WHO said that it is over.", "fr", "L'OMS a dit que c'était fini."),
        ("The European Union (EU) agreed.", "fr", "L'Union européenne (UE) a accepté."),
        ("Le PIB a augmenté de 2 %.", "en", "The GDP rose by 2%."),
        ("Il travaille pour des ONG.", "en", "He works for NGOs."),
        ("NASA launched a rocket.", "fr", "La NASA a lancé une fusée."),
        ("OPEC reduced production.", "fr", "L'OPEP a réduit la production."),
    ],
)
def test_the_general_model_translates_them(general: Translator, text: str, tgt_lang: str, output: str) -> None:
    assert general.translate([text], tgt_lang=tgt_lang)[0].text == output
