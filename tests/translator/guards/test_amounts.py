"""What people abbreviate of amounts and sizes is read in words, or as the other language writes it."""

import re
import time

import pytest

from translate.common.resources import models_dir
from translate.translator.guards.amounts import plain_amounts, with_bytes
from translate.translator.translator import Translator


@pytest.mark.parametrize(
    ("text", "lang", "read"),
    [
        ("Il coûte 3 M€.", "fr", "Il coûte 3 millions d'euros."),
        ("1,2Md€ ou 2 Mds$", "fr", "1,2 milliard d'euros ou 2 milliards de dollars"),
        ("0,5 M£", "fr", "0,5 million de livres"),
        ("de 3-5 M€", "fr", "de 3-5 millions d'euros"),
        ("45k€, 4,5 k€, 1 200 k€", "fr", "45 000 €, 4 500 €, 1 200 000 €"),
        ("8 Go, 250Mo, 2 To et 20 ko", "fr", "8 Go, 250 Mo, 2 To et 20 ko"),
        ("Go ! Il a 5 Mots. A3 M€", "fr", "Go ! Il a 5 Mots. A3 M€"),
        ("$3 GB", "fr", "$3 GB"),
        ("It cost $3.5 million.", "en", "It cost 3.5 million dollars."),
        ("€12M, £2bn and $1.5 Billion", "en", "12 million euros, 2 billion pounds and 1.5 billion dollars"),
        ("$45k a year, $4.5K", "en", "$45,000 a year, $4,500"),
        ("16GB, 250 MB and 1 TB", "en", "16 GB, 250 MB and 1 TB"),
        ("#1: room #12, C#, #336699, #012, a/#5", "en", "Number 1: room number 12, C#, #336699, #012, a/#5"),
        ("The color #333, issue", "en", "The color #333, issue"),
        ("fix #123", "en", "fix #123"),
        ("#2024 #vote", "en", "#2024 #vote"),
        ("*#06#", "en", "*#06#"),
        ("$20/hour, €5/kg and 60€/night", "en", "$20 an hour, €5 a kilo and 60€ per night"),
        ("$5/hourly, $5/mo/user", "en", "$5/hourly, $5/mo/user"),
        ("4.5/5 stars, 4/5, v1.4/5.2", "en", "4.5 out of 5 stars, 4/5, v1.4/5.2"),
        ("Taille : 1m65, 1 m 80, 3 m 20, 12m50", "fr", "Taille : 1,65 m, 1,80 m, 3 m 20, 12m50"),
        ("400 m en 1m12", "fr", "400 m en 1m12"),
        (
            "Prix HT : 100 € HT, soit 120 € TTC",
            "fr",
            "Prix hors taxes : 100 € hors taxes, soit 120 € toutes taxes comprises",
        ),
        (
            "15 €/kg, 80€ / nuit, 25 €/pers., 9 €/h",
            "fr",
            "15 € le kilo, 80€ par nuit, 25 € par personne, 9 € par heure",
        ),
        ("20 lbs. of rice, 5lb", "en", "20 pounds of rice, 5 pounds"),
        ("It weighs 5 lbs. We", "en", "It weighs 5 pounds. We"),
        ("$5 m/s, $5m/s, $1,200M, 3 k, GB", "en", "$5 m/s, $5m/s, $1,200M, 3 k, GB"),
    ],
)
def test_they_are_read_in_full(text: str, lang: str, read: str) -> None:
    assert plain_amounts(text, lang) == read


@pytest.mark.parametrize(
    ("text", "lang", "output"),
    [
        ("Le budget est de 3,5 M€.", "en", "3\\.5 million euros"),
        ("Il gagne 45 k€ par an.", "en", "€45,000|45,000 euros"),
        ("She earns $45k a year.", "fr", "45 000 (\\$|dollars)"),
        ("It costs $2bn.", "fr", "2 milliards de dollars"),
        ("The file is 250MB.", "fr", "250 Mo"),
    ],
)
def test_the_general_model_reads_them_so_and_keeps_their_numbers(text: str, lang: str, output: str) -> None:
    (found,) = Translator.load(models_dir() / "en-fr").translate([text], tgt_lang=lang)
    assert re.search(output, found.text)


def test_without_the_guards_they_stay() -> None:
    translator = Translator.load(models_dir() / "en-fr")
    (found,) = translator.translate(["It is 250MB."], tgt_lang="fr", form_guard=False, copy_guard=False)
    assert "250MB" in found.text


def test_bytes_are_written_as_the_language_does() -> None:
    assert with_bytes("16GB, 1.5 TB, B, 5 MBit, a GB", "fr") == "16Go, 1.5 To, B, 5 MBit, a GB"
    assert with_bytes("16 Go, 20 ko, 3 Gold", "en") == "16 GB, 20 kB, 3 Gold"


def test_many_digits_take_no_time() -> None:
    start = time.process_time()
    for text in ("1" * 20_000, "1," * 10_000, "€" * 20_000):
        plain_amounts(text, "fr")
        plain_amounts(text, "en")
    assert time.process_time() - start < 1
