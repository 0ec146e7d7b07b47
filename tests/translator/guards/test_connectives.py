"""Connectives that models hardly know are read in other words, and come back."""

import pytest

from translate.translator.guards.connectives import plain_connectives, with_connectives
from translate.translator.translator import Translator


@pytest.mark.parametrize(
    ("text", "lang", "read"),
    [
        ("apples, pears, etc.", "en", "apples, pears and other things."),
        ("apples etc", "en", "apples and other things"),
        ("Films, music, etc. Then we left.", "en", "Films, music and other things. Then we left."),
        (
            "Pens, etc. are here (paper, etc.), etc...",
            "en",
            "Pens and other things are here (paper and other things) and other things...",
        ),
        ("PENS, ETC.", "en", "PENS and other things."),
        ("ls /etc, etc/passwd, fetch", "en", "ls /etc, etc/passwd, fetch"),
        ("pommes, poires, etc.", "fr", "pommes, poires et d'autres choses."),
        ("Monday, i.e. tomorrow", "en", "Monday, which means tomorrow"),
        ("Monday, that is, tomorrow", "en", "Monday, which means tomorrow"),
        ("That is, he says that is to say.", "en", "That is, he says that is to say."),
        ("Lundi, c\u2019est-à-dire demain", "fr", "Lundi, ce qui veut dire demain"),
        ("Lundi, c.-à-d. demain", "fr", "Lundi, ce qui veut dire demain"),
        ("C'est-à-dire ?", "fr", "C'est-à-dire ?"),
        (
            "Moreover, it rains. Instead, stay; overall, rest.",
            "en",
            "In addition, it rains. Instead of that, stay; on the whole, rest.",
        ),
        ("moreover, we stay instead, the overall cost", "en", "in addition, we stay instead, the overall cost"),
        ("Thus, he won and is thus rich.", "en", "So, he won and is thus rich."),
        ("Regarding your order, at most ten", "en", "Concerning your order, no more than ten"),
        ("Best regards, regarding him, at most, the most", "en", "Best regards, regarding him, at most, the most"),
        (
            "Néanmoins, il vient. De plus, il néanmoins paie de plus.",
            "fr",
            "Cependant, il vient. En plus, il néanmoins paie de plus.",
        ),
        ("Or il dort. Or, l'or est cher, or que dire.", "fr", "Mais il dort. Mais l'or est cher, or que dire."),
        (
            "Il pleut, quoiqu'il fasse beau, pour autant que je sache",
            "fr",
            "Il pleut, bien qu'il fasse beau, pour autant que je sache",
        ),
        (
            "With regard to safety, he is, with regard to it, ill owing to work.",
            "en",
            "As for safety, he is, with regard to it, ill due to work.",
        ),
        (
            "Having said that, albeit slow, it works. All in all, fine.",
            "en",
            "However, although slow, it works. On the whole, fine.",
        ),
        ("Pour ce qui est du prix, à l'instar des autres", "fr", "Concernant le prix, comme les autres"),
        (
            "S'agissant de la loi : au vu d'un texte, dans le but d'aider",
            "fr",
            "Concernant la loi : compte tenu d'un texte, afin d'aider",
        ),
        ("Dans la mesure où il pleut, dans la mesure où la pluie", "fr", "Puisqu'il pleut, puisque la pluie"),
        (
            "Il n'empêche qu'il dort. Par rapport à lui, un rapport à lui",
            "fr",
            "Malgré tout, il dort. Comparé à lui, un rapport à lui",
        ),
        ("In the event that it rains, once in a while", "en", "If it rains, from time to time"),
        (
            "Par ailleurs, elle part à mon insu, par ailleurs",
            "fr",
            "En outre, elle part sans que je le sache, par ailleurs",
        ),
        (
            "Au sein de l'équipe, au sein du club, en vis-à-vis de la gare",
            "fr",
            "Dans l'équipe, dans le club, en vis-à-vis de la gare",
        ),
        ("Gentil à l'égard de ses amis, vis-à-vis de la loi", "fr", "Gentil envers ses amis, envers la loi"),
        ("J'écris concernant votre annonce.", "fr", "J'écris au sujet de votre annonce."),
        (
            "Concernant votre annonce, les lois concernant les chiens",
            "fr",
            "Concernant votre annonce, les lois concernant les chiens",
        ),
    ],
)
def test_they_are_read_in_words_that_any_text_has(text: str, lang: str, read: str) -> None:
    assert plain_connectives(text, lang) == read


@pytest.mark.parametrize(
    ("text", "output", "lang", "wanted"),
    [
        ("Pens, etc. are here.", "Des stylos et d'autres choses sont ici.", "fr", "Des stylos, etc. sont ici."),
        ("Pens, paper, etc.", "Des stylos, du papier et d'autres choses.", "fr", "Des stylos, du papier, etc."),
        ("PENS, ETC.", "STYLOS ET D'AUTRES CHOSES.", "fr", "STYLOS, ETC."),
        ("Pens and other things.", "Des stylos et d'autres choses.", "fr", "Des stylos et d'autres choses."),
        ("Stylos, etc. Gommes, etc.", "Pens and other things. Erasers.", "en", "Pens and other things. Erasers."),
        ("(chiens, chats, etc.)", "(dogs, cats and other things)", "en", "(dogs, cats, etc.)"),
        ("Monday, i.e. tomorrow", "Lundi, ce qui veut dire demain", "fr", "Lundi, c'est-à-dire demain"),
        ("I know what it means.", "Je sais ce qui veut dire ça.", "fr", "Je sais ce qui veut dire ça."),
        ("Lundi, c'est-à-dire demain", "Monday, which means tomorrow", "en", "Monday, which means tomorrow"),
    ],
)
def test_they_come_back_where_the_translation_has_as_many(text: str, output: str, lang: str, wanted: str) -> None:
    assert with_connectives(text, output, lang) == wanted


def test_the_shipped_model_translates_lists_that_go_on(general: Translator) -> None:
    english = ["We sell apples, pears, etc.", "He leaves on Monday, i.e. tomorrow."]
    french = ["Apportez des stylos, du papier, etc.", "Il part lundi, c'est-à-dire demain."]
    outputs = [one.text for one in general.translate(english, tgt_lang="fr")]
    assert outputs[0].endswith("poires, etc.")
    assert "c'est-à-dire demain" in outputs[1]
    outputs = [one.text for one in general.translate(french, tgt_lang="en")]
    assert outputs == ["Bring pens, paper, etc.", "He leaves on Monday, which means tomorrow."]


@pytest.mark.parametrize(
    "text",
    [
        "Je vous prie d'agréer, Madame, Monsieur, mes salutations distinguées.",
        "Veuillez agréer, Madame, Monsieur, l'expression de mes sentiments distingués.",
        "Je vous prie de croire, Madame, à l'assurance de mes sentiments les meilleurs.",
        "Nous vous prions de bien vouloir recevoir, Monsieur le Maire, l'assurance de notre haute considération.",
    ],
)
def test_the_closings_of_french_letters_are_closings_in_english(general: Translator, text: str) -> None:
    assert general.translate([text], tgt_lang="en")[0].text == "Yours faithfully."


def test_the_shipped_model_translates_connectives_at_the_start_of_a_sentence(general: Translator) -> None:
    english = ["Moreover, it is cheap.", "Instead, he went home.", "Overall, it was good."]
    french = ["Néanmoins, elle a souri.", "Toutefois, c'est cher.", "Hormis Tom, tout le monde est venu."]
    outputs = [one.text for one in general.translate(english, tgt_lang="fr")]
    assert outputs == [
        "En plus, c'est bon marché.",
        "Au lieu de ça, il est rentré chez lui.",
        "Dans l'ensemble, c'était bon.",
    ]
    outputs = [one.text for one in general.translate(french, tgt_lang="en")]
    assert outputs == ["However, she smiled.", "However, it's expensive.", "Apart from Tom, everyone came."]
