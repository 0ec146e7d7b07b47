"""Common misspellings are read as what was meant, and what may be right stays."""

import pytest

from translate.translator.guards.misspellings import plain_spelling
from translate.translator.translator import Translator


@pytest.mark.parametrize(
    ("text", "src_lang", "read"),
    [
        ("I recieved it untill wensday.", "en", "I received it until Wednesday."),
        (
            "Definately! Becuase a Mr Freind, a FREIND",
            "en",
            "Definitely! Because a Mr Freind, a FREIND",
        ),
        ("alot, aswell; thankyou", "en", "a lot, as well; thank you"),
        ("teh@x.org #teh te.teh x-teh teh-x", "en", "teh@x.org #teh te.teh x-teh teh-x"),
        (
            "You should of come. It must of course end.",
            "en",
            "You should have come. It must of course end.",
        ),
        ("Your welcome! Your welcome party. Your going.", "en", "You're welcome! Your welcome party. You're going."),
        ("More then that, and then go. Better then", "en", "More than that, and then go. Better then"),
        ("It's to late to go to many shops.", "en", "It's too late to go to many shops."),
        ("Sa va ? Sa mère va bien.", "fr", "Ça va ? Sa mère va bien."),
        ("Ses trop bien, ses amis se voient se soir.", "fr", "C'est trop bien, ses amis se voient ce soir."),
        ("Ta vu ? Il ma dit oui, à ma mère.", "fr", "T'as vu ? Il m'a dit oui, à ma mère."),
        ("C est bon, j ai vu l hotel, qu est ce que c est", "fr", "C'est bon, j'ai vu l'hotel, qu'est ce que c'est"),
        (
            "Le plan d est bon, la vitamine c aussi",
            "fr",
            "Le plan d est bon, la vitamine c aussi",
        ),
        ("1,65 m et ``c est`` où n est un nombre, 5 l avec", "fr", "1,65 m et ``c est`` où n est un nombre, 5 l avec"),
        ("Imagine your not coming, out your welcome.", "en", "Imagine your not coming, out your welcome."),
        ("The aim is to slow it. It was easier then to go.", "en", "The aim is to slow it. It was easier then to go."),
        (
            "Their coming was foretold. It must of necessity fail.",
            "en",
            "Their coming was foretold. It must of necessity fail.",
        ),
        ('I belıve it. Noone, not "recieve"', "en", 'I belıve it. Noone, not "recieve"'),
        ("Il reprit sa marche. Sa marche ? Ses trop rares", "fr", "Il reprit sa marche. Ça marche ? Ses trop rares"),
        ("Le l est muet, où l est la longueur", "fr", "Le l est muet, où l est la longueur"),
        ("Comme même les enfants le savent", "fr", "Comme même les enfants le savent"),
        ("Comme même, malgrés tout, Madame Acceuil", "fr", "Quand même, malgré tout, Madame Acceuil"),
    ],
)
def test_they_are_read_right(text: str, src_lang: str, read: str) -> None:
    assert plain_spelling(text, src_lang) == read


@pytest.mark.parametrize(
    ("text", "tgt_lang", "output"),
    [
        ("I beleive you.", "fr", "Je te crois."),
        ("See you tommorow.", "fr", "À demain."),
        ("Sa va bien ?", "en", "Are you ok?"),
    ],
)
def test_the_general_model_reads_them_so(general: Translator, text: str, tgt_lang: str, output: str) -> None:
    assert general.translate([text], tgt_lang=tgt_lang)[0].text == output
