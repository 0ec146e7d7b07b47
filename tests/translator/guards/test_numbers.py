"""Numbers of a translation are written as its language writes them, where they came out as in the source."""

from __future__ import annotations

import pytest
from translations import translation

from translate.translator.guards.numbers import numbers_of_the_language
from translate.translator.translator import Translator


def rewritten(text: str, output: str, src_lang: str, tgt_lang: str) -> str:
    (new,) = numbers_of_the_language([text], [translation(output, tgt_lang=tgt_lang)], src_lang)
    assert new.hypotheses[0].text == new.text
    return new.text


@pytest.mark.parametrize(
    ("text", "output", "expected"),
    [
        ("It is 10.5 km long.", "Il fait 10.5 km de long.", "Il fait 10,5 km de long."),
        ("1,250,000 people.", "1,250,000 personnes.", "1 250 000 personnes."),
        ("1,250,000 people.", "1 250,000 personnes.", "1 250 000 personnes."),
        ("It costs €1,250.00.", "Ça coûte €1250.00.", "Ça coûte 1 250,00 €."),
        ("A 2.5-hour film.", "Un film de 2.5 heures.", "Un film de 2,5 heures."),
        ("It rose by 3.5% to $1,200.50.", "De 3.5 % à $1,200.50.", "De 3,5 % à 1 200,50 $."),
        ("It costs €20.", "Ça coûte €20.", "Ça coûte 20 €."),
        ("It has £5 million.", "Il a £5 millions.", "Il a £5 millions."),
        ("US$5 and $5-10.", "US$5 et $5-10.", "US$5 et $5-10."),
        ("Python 3.11 is out.", "Python 3.11 est sorti.", "Python 3.11 est sorti."),
        ("At 8.30, in 1.2.3 km.", "À 8.30, en 1.2.3 km.", "À 8.30, en 1.2.3 km."),
        ("Pages 1,2 and 10,11.", "Les pages 1,2 et 10,11.", "Les pages 1,2 et 10,11."),
        ("It is £29.99, now 1,000,", "C'est £29.99, et 1,000,", "C'est 29,99 £, et 1 000,"),
        ("It is $5bn.", "C'est $5bn.", "C'est $5bn."),
        ("It is 2.5 kg, v2.5.", "C'est 2.5 kg, v2.5.", "C'est 2,5 kg, v2.5."),
        ("It has 12000 people.", "Elle a 12,000 personnes.", "Elle a 12 000 personnes."),
        ("It has 12000 people.", "Elle a 12000 personnes.", "Elle a 12000 personnes."),
    ],
)
def test_english_numbers_become_french(text: str, output: str, expected: str) -> None:
    assert rewritten(text, output, "en", "fr") == expected


@pytest.mark.parametrize(
    ("text", "output", "expected"),
    [
        ("Il y a 10,5 km.", "There are 10,5 km.", "There are 10.5 km."),
        ("Elle a 1 250 000 habitants.", "It has 1 250 000 people.", "It has 1,250,000 people."),
        ("Elle a 1 250 000 habitants.", "It has 1 250,000 people.", "It has 1,250,000 people."),
        ("Il a payé 1\u202f500,50 €.", "He paid 1\u202f500,50 €.", "He paid €1,500.50."),
        ("Entre 10 € et 20 $.", "Between 10 € and 20 $.", "Between €10 and $20."),
        ("De 10-20 €.", "From 10-20 €.", "From 10-20 €."),
        ("59000 Lille, en 2000.", "59,000 Lille, in 2,000.", "59000 Lille, in 2000."),
        ("Il a 59000 Euros.", "He has 59,000 Euros.", "He has 59,000 Euros."),
        ("2000 € pour 2000 km", "€2,000 for 2,000 km", "€2,000 for 2,000 km"),
        ("Appelle le 06 12 345 678.", "Call 06 12 345 678.", "Call 06 12 345 678."),
        ("Appelle le 06 12 34 56 78.", "Call 06 12 34 56 78.", "Call 06 12 34 56 78."),
    ],
)
def test_french_numbers_become_english(text: str, output: str, expected: str) -> None:
    assert rewritten(text, output, "fr", "en") == expected


def test_other_languages_and_what_is_kept_are_left_as_they_are() -> None:
    assert rewritten("It is 10.5 km.", "Es sind 10.5 km.", "en", "de") == "Es sind 10.5 km."
    text, output = "Use `1.5 km` and $5.", "Utilise `1.5 km` et $5."
    (new,) = numbers_of_the_language([text], [translation(output)], "en", lambda text: [(4, 12)])
    assert new.text == output


def test_the_model_of_the_package_writes_numbers_as_the_language_does(general: Translator) -> None:
    (french,) = general.translate(["The city has 1,250,000 inhabitants."], tgt_lang="fr")
    (english,) = general.translate(["La ville compte 1 250 000 habitants."], tgt_lang="en")
    assert ("1 250 000" in french.text, "1,250,000" in english.text) == (True, True)
    (free,) = general.translate(["La ville compte 1 250 000 habitants."], tgt_lang="en", copy_guard=False)
    assert "1,250,000" not in free.text


def test_numbers_within_what_is_kept_are_left_alone_though_they_also_stand_elsewhere() -> None:
    text = "He has 1,250 dogs, see https://x.org/?n=1,250 now."
    output = "Il a 1,250 chiens, voyez https://x.org/?n=1,250 maintenant."
    (new,) = numbers_of_the_language([text], [translation(output)], "en", lambda _: [(23, 45)])
    assert new.text == "Il a 1 250 chiens, voyez https://x.org/?n=1,250 maintenant."
