"""Dates, ordinals and centuries as a model reads them and as French writes them."""

import pytest

from translate.translator.guards.dates import plain_dates, with_centuries


@pytest.mark.parametrize(
    ("text", "lang", "read"),
    [
        ("On March 14th at noon", "en", "On 14 March at noon"),
        ("The 3rd of May, May 5.", "en", "3 May, 5 May."),
        ("December 25, 1977, Oct. 5", "en", "25 December 1977, 5 October"),
        ("3 Dec, 4 Sept. 2020, on 5 Jan.", "en", "3 December, 4 September 2020, on 5 January."),
        ("1.5 Mar, 3 Marches, 9:30 Dec", "en", "1.5 Mar, 3 Marches, 9:30 Dec"),
        (
            "July 14 to 28, May 3-5, March 1, 2 and 3",
            "en",
            "From 14 July to 28 July, from 3 May to 5 May, 1 March, 2 and 3",
        ),
        ("our July 14 - Aug. 2, May 5, 19", "en", "our 14 July to 2 August, 5 May, 19"),
        ("July 4-0, May 1 to 3.5, April 1 to 10% off", "en", "July 4-0, 1 May to 3.5, 1 April to 10% off"),
        ("from July 14 to July 28 with you", "en", "from 14 July to 28 July with you"),
        ("May 5 people came in March 14 times.", "en", "May 5 people came in March 14 times."),
        ("the 21st century, a 9th-century church", "en", "the twenty-first century, a ninth-century church"),
        ("the 45th, 2ndly, the 32nd century", "en", "the 45th, 2ndly, the 32nd century"),
        (
            "au XVIIIe siècle, du IXe au XIe siècle, le Ier siècle",
            "fr",
            "au dix-huitième siècle, du neuvième au onzième siècle, le premier siècle",
        ),
        ("Louis XIVe du nom, le XXVe siècle", "fr", "Louis XIVe du nom, le XXVe siècle"),
        ("au 2e étage, le 3ème, 1er", "fr", "au deuxième étage, le troisième, 1er"),
        ("le 14 March, 5e-6e", "fr", "le 14 March, cinquième-6e"),
        (
            "au 1er étage, la 1re fois, le 1er mai, la 2nde",
            "fr",
            "au premier étage, la première fois, le 1er mai, la seconde",
        ),
        (
            "le 5 sept nains, le 5 sept. 2014, François 1er et son 1er fils",
            "fr",
            "le 5 sept nains, le 5 septembre 2014, François 1er et son premier fils",
        ),
        ("le 5 janv. 2024, le 1er sept., 3 mars", "fr", "le 5 janvier 2024, le 1er septembre, 3 mars"),
    ],
)
def test_dates_are_read_in_one_order_and_ordinals_as_words(text: str, lang: str, read: str) -> None:
    assert plain_dates(text, lang) == read


def test_centuries_are_those_of_the_source_and_in_french_have_roman_numbers() -> None:
    words = "du douzième siècle au premier siècle, le vingt-et-unième siècle"
    assert with_centuries("the 12th century", words, "fr") == "du XIIe siècle au premier siècle, le XXIe siècle"
    assert with_centuries("in the fifth century", "au 6e siècle", "fr") == "au Ve siècle"
    assert (
        with_centuries("from the 18th century to the 19th", "du XVIIIe au XIXe siècle", "fr")
        == "du XVIIIe au XIXe siècle"
    )
    assert (
        with_centuries("les XIXe et XXe siècles", "the 19th century and the 20th", "en")
        == "the 19th century and the 20th"
    )
    assert with_centuries("une maison du XIXe siècle", "an 18th-century house", "en") == "a nineteenth-century house"
    assert with_centuries("last century", "au siècle dernier", "fr") == "au siècle dernier"
    assert with_centuries("the 32nd century", "au trente-deuxième siècle", "fr") == "au trente-deuxième siècle"
    assert with_centuries("au xviiie siècle", "In the 17th century", "en") == "In the eighteenth century"
    assert with_centuries("le 1er siècle", "the 1st century", "en") == "the 1st century"
