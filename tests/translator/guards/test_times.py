"""Times of day as a model reads them and as the languages write them; what the model of the package makes of them."""

import pytest

from translate.translator.guards.times import changed_times, has_time, plain_times, write_time
from translate.translator.translator import Translator


@pytest.mark.parametrize(
    ("text", "lang", "read"),
    [
        ("Open 9 a.m.-5 p.m. or 10:00–18:00.", "en", "Open from 9 a.m. to 5 p.m. or from 10:00 to 18:00."),
        ("From 9:00 - 17:00, between 9-11am", "en", "From 9:00 to 17:00, between 9am and 11am"),
        (
            "Pages 9-17, 1:2-3:4, 2024-10:30, 9:00-17:00-18:00",
            "en",
            "Pages 9-17, 1:2-3:4, 2024-10:30, 9:00-17:00-18:00",
        ),
        (
            "Ouvert 9h-17h, de 14h-16h30, entre 8:00-9:00",
            "fr",
            "Ouvert de 9:00 à 17:00, de 14:00 à 16:30, entre 8:00 et 9:00",
        ),
        (
            "Il dure 3 h, attendez 1 h, pendant 1h30.",
            "fr",
            "Il dure 3 heures, attendez 1 heure, pendant 1 heure et 30 minutes.",
        ),
        ("à 2 h, demain 9h, à 1h30", "fr", "à 2 h, demain 9h, à 1:30"),
        ("from 7 to 8 pm, 11 to 1 p.m., 6:30 or 7 AM", "en", "from 7 pm to 8 pm, 11 a.m. to 1 p.m., 6:30 AM or 7 AM"),
        ("chapters 3 to 7, 13 to 2 pm", "en", "chapters 3 to 7, 13 to 2 pm"),
        ("From 7 to 8 pm.", "en", "From 7 pm to 8 pm."),
        ("Trajet : 9h-12h, de 8h à 17h par jour", "fr", "Trajet : de 9:00 à 12:00, de 8:00 à 17:00 par jour"),
        ("Cuisson : 1 h 20 min, 1h30min", "fr", "Cuisson : 1 heure et 20 minutes, 1 heure et 30 minutes"),
        ("Après 1 h au four, jusqu'à 2h avant", "fr", "Après 1 h au four, jusqu'à 2h avant"),
        (
            "35 h par semaine, Durée : 2 h, 1 h 30 de route",
            "fr",
            "35 heures par semaine, Durée : 2 heures, 1 heure et 30 minutes de route",
        ),
        ("20 min, 1 mn. de plus, 5 min.", "fr", "20 minutes, 1 minute de plus, 5 minutes."),
        ("Vers 19h, après 8 h du soir, avant 17 h.", "fr", "Vers 19:00, après 8 h du soir, avant 17:00."),
        ("Attendez 15h30, depuis 8h.", "fr", "Attendez 15:30, depuis 8h."),
        ("9:00-17:00", "en", "From 9:00 to 17:00"),
        ("Closed at 10:00-12:00 Monday 9:00-17:00", "en", "Closed from 10:00 to 12:00 Monday from 9:00 to 17:00"),
        ("See Matthew 5:10-11:30.", "en", "See Matthew 5:10-11:30."),
    ],
)
def test_spans_of_times_have_words_and_durations_are_no_times(text: str, lang: str, read: str) -> None:
    assert plain_times(text, lang) == read


@pytest.mark.parametrize(
    ("time", "text", "there"),
    [
        ("15h30", "at 3:30 p.m.", True),
        ("3:30 p.m.", "à 15 h 30", True),
        ("14 h", "at 14 p.m.", False),
        ("14 h", "at 2 o'clock", True),
        ("8h05", "at 8:50", False),
        ("8h05", "at five past eight", True),
        ("12 a.m.", "à 0 h", True),
        ("7:05", "le train de 7 heures 05", True),
        ("7:05", "7 :05", False),
        ("3:30 p.m.", "à 3 h 30 30 h 30", False),
    ],
)
def test_a_time_may_stand_there_by_either_clock(time: str, text: str, there: bool) -> None:
    assert has_time(text, time) == there


def test_times_are_written_as_the_language_does() -> None:
    assert [write_time(time, "fr") for time in ("7:05", "7 p.m.", "12:10 p.m.")] == [
        "7:05",
        "19\u00a0h",
        "12\u00a0h\u00a010",
    ]
    assert [write_time(time, "de") for time in ("15h30", "7 p.m.")] == ["15h30", "7 p.m."]
    assert changed_times("at 3 p.m.", "à 3 heures de l'après-midi", "fr") == {}
    assert changed_times("at 3 p.m.", "à 3 heures", "fr") == {"3 heures": "15\u00a0h"}
    assert changed_times("7 to 8 pm", "de 7 heures à 8 h", "fr") == {"7 heures": "19\u00a0h", "8 h": "20\u00a0h"}
    assert changed_times("at 12:45 a.m.", "à 12 h 45", "fr") == {"12 h 45": "0\u00a0h\u00a045"}
    assert changed_times("9:00-17:00", "9 h 00 à 17 00.", "fr") == {"17 00": "17\u00a0h\u00a000"}
    assert changed_times("9:00-17:00", "le 17 00 12, 117 00", "fr") == {}
    assert changed_times("à 8h", "at 8h, 9:30", "en") == {"8h": "8:00"}
    assert changed_times("pendant 2 h", "for 2 h", "en") == {}
    assert changed_times("à 8h", "at 8 p.m.", "en") == {"8 p.m": "8 o'clock"}
    assert changed_times("à 8h30 et à 12h", "at 8:30 p.m. and at 12 p.m.", "en") == {"8:30 p.m.": "8:30"}
    assert changed_times("à 20 h", "at 8 p.m.", "en") == {}
    assert changed_times("à 18h30", "at 6:30 in the evening", "en") == {}
    assert changed_times("à 18h30 ou à 6h30", "at 18:30 or at 6:30", "en") == {}
    assert changed_times("jusqu'à 20h pendant 20 h", "until 20h for 20 h", "en") == {"20h": "20:00"}
    assert changed_times("à 20 h", "at 20 p.m.", "en") == {"20 p.m": "20:00"}
    assert changed_times("à 8 h du soir", "at 8 a.m.", "en") == {"8 a.m": "8 p.m"}
    assert changed_times("à 3h du matin", "at 3 p.m.", "en") == {"3 p.m": "3 a.m"}
    assert changed_times("à 3 h de l'après-midi", "at 3 p.m.", "en") == {}
    assert changed_times("at 3 p.m.", "um 3 p.m.", "de") == {}


@pytest.mark.parametrize(
    ("text", "lang", "part"),
    [
        ("La réunion aura lieu le jeudi 14 mars à 15h30.", "en", " 15:30."),
        ("The meeting is at 3:30 p.m. on Monday.", "fr", "à 15\u00a0h\u00a030 lundi"),
        ("On July 4, 1776, the colonies declared independence.", "fr", "Le 4 juillet 1776"),
        ("This is the 3rd time.", "fr", "troisième fois"),
        ("C'est au 2e étage.", "en", "second floor"),
        ("Il y avait 3 450 personnes.", "en", "3,450 people"),
        ("Le jardin fait 250 m².", "en", "250 m²"),
        ("Call us at +1 (555) 123-4567.", "fr", "+1 (555) 123-4567"),
        ("Your order #48213 has been shipped.", "fr", "numéro de commande 48213"),
        ("The invoice for €1,250.00, due by 31/12/2025.", "fr", "1 250,00 €, "),
        ("Prices rose by 3.5% on Monday.", "fr", "3,5\u00a0%"),
        ("Rendez-vous entre 9h et 18h.", "en", " between 9:00 and 18:00."),
        ("Meet me at 6.30 p.m. on Monday.", "fr", "à 18\u00a0h\u00a030 lundi"),
        ("Ouvert 9h-17h", "en", "from 9:00 to 17:00"),
        ("Open 9:00-17:00", "fr", "de 9\u00a0h à 17\u00a0h"),
        ("Le trajet dure 3 h.", "en", "3 hours"),
        ("Le 1er jour", "en", "first day"),
        ("La commande n° 98765 a été expédiée.", "en", "order number 98765"),
    ],
)
def test_the_model_of_the_package_keeps_dates_times_and_quantities(
    general: Translator, text: str, lang: str, part: str
) -> None:
    assert part in general.translate([text], tgt_lang=lang)[0].text
