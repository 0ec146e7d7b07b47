"""English measures are read as metric ones, and written as French calls them."""

import re

import pytest

from translate.common.resources import models_dir
from translate.translator.guards.measures import french_measures, plain_measures
from translate.translator.translator import Translator


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('A 27" or 3/4" pipe, 15.6 inches.', "A 27 centimetres or 3/4 centimetres pipe, 15.6 centimetres."),
        ("He is 6'2\" tall, 5'x, '5\"", "He is 6 feet 2 centimetres tall, 5'x, '5 centimetres"),
        ("in 3'25\" at 40° 5'6\" N", "in 3'25 centimetres at 40° 5'6 centimetres N"),
        ("65 mph, 90 miles per hour, 8oz, a 12-ounce can", "65 km/h, 90 km/h, 8 g, a 12 g can"),
        ("A 20-mile walk with a 10-pound bag", "A 20 km walk with a 10 kg bag"),
        ("1 inch, A4 inch, 5-inches-long, 20 miles", "1 inch, A4 inch, 5-inches-long, 20 miles"),
        ("1.5 inches", "1.5 centimetres"),
        ("a 55-inch TV, 55-inches", "a 55-centimetre TV, 55 centimetres"),
        ("3 inches or 8 cm", "3 inches or 8 cm"),  # which would be one
        ('She said "I am 27" and "only 5" today.', 'She said "I am 27" and "only 5" today.'),
        ('The "best" 32" TV', 'The "best" 32 centimetres TV'),
        ('27"x, 1990"', '27"x, 1990"'),
        ("5 ft 10 in tall, 12 ft by 15 ft, 7.5 mi.", "5 feet 10 centimetres tall, 12 feet by 15 feet, 7.5 miles."),
        ("5 ft 10 in the photo, do re 3 mi fa", "5 feet 10 in the photo, do re 3 mi fa"),
        ("no number of inches", "no number of inches"),
    ],
)
def test_english_measures_are_replaced(text: str, read: str) -> None:
    assert plain_measures(text)[0] == read


@pytest.mark.parametrize(
    ("output", "written"),
    [
        ("12 cm de long", "12 pouces de long"),
        ("1,5 centimètre, 15.6\u00a0cm", "1,5 pouce, 15,6 pouces"),
        ("12 cmx, cm", "12 cmx, cm"),
        ("100 kilomètres à l'heure", "100 kilomètres à l'heure"),  # a measure that the text did not have
    ],
)
def test_what_they_were_is_put_back(output: str, written: str) -> None:
    assert french_measures(output, plain_measures("12 inches")[1]) == written


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ('The screen is 15.6".', "15,6 pouces"),
        ("The speed limit is 65 mph.", "65 miles à l'heure"),
        ("It weighs 8 ounces.", "8 onces"),
    ],
)
def test_the_general_model_reads_them_so(text: str, output: str) -> None:
    translator = Translator.load(models_dir() / "en-fr")
    (found,) = translator.translate([text], tgt_lang="fr")
    assert output in found.text
    (plain,) = translator.translate([text], tgt_lang="fr", form_guard=False, glossary=False)
    assert not re.search("pouces|miles à|onces", plain.text)
