"""First names: a model that has read too few of them takes them for other words where a text is short."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import NamedTuple

from translate.translator.guards.forms import Form, Kept, nothing
from translate.translator.translation import TranslatedHypothesis, Translation

_MEN = (  # names that are hardly another word, and no place
    "Aaron Abdel Adam Adrian Adrien Ahmed Alain Alan Albert Alex Alexander Alexandre Alexis Alfred Alvin Andreas "
    "Andrew André Andy Anthony Antoine Antonio Arnaud Arthur Aurélien Axel Aymeric Ayoub Baptiste Bastien Ben "
    "Benjamin Benoît Bernard Bob Boris Brad Brandon Brian Bruno Bryan Caleb Carl Carlos Charles Charlie Chris "
    "Christophe Christopher Claude Clément Connor Corentin Corey Craig Curtis Cyprien Cyril Cédric Damien Dan Daniel "
    "Danny Dave David Denis Dennis Derek Diego Dimitri Dominique Donald Doug Douglas Duncan Dustin Dylan Ed Eddie "
    "Edgar Edward Eli Elias Elliot Emmanuel Enzo Eric Erik Erwan Ethan Eugène Evan Fabien Fabio Fabrice Farid Felix "
    "Fernando Florent Franck François Fred Frédéric Félix Gabe Gabriel Gareth Gary Gaspard Gauthier Gaël Geoffrey "
    "George Georges Gerry Gilbert Gilles Giovanni Glenn Gordon Graham Greg Gregory Guillaume Gustave Gérald Gérard "
    "Hakim Hans Harold Harry Hassan Hector Henri Henry Hervé Howard Hubert Hugh Hugo Ian Ibrahim Ilyès Isaac Ismaël "
    "Ivan Ivor Jacky Jacob Jacques Jake Jamal James Jamie Jason Javier Jed Jeff Jeremy Jerry Jesse Jim Jimmy Joe Joel "
    "John Johnny Jon Jonas Jonathan Joseph Josh Joshua José Joël Juan Jules Julian Julien Justin Jérémie Jérémy "
    "Jérôme Karim Karl Keith Ken Kenneth Kevin Kurt Kyle Kévin Lachlan Larry Laurent Len Lenny Leo Liam Lilian Lionel "
    "Lloyd Logan Lorenzo Loris Lou Louis Loïc Lucas Lucien Ludovic Luis Luke Léo Léon Malik Marc Marcel Marco Marcus "
    "Mario Marwan Mathieu Mathis Matt Matthew Matthieu Maurice Maxime Mehdi Michael Michel Mickaël Mickey Miguel Mike "
    "Mitch Mohamed Mohammad Mohammed Moussa Murray Nabil Nathan Ned Neil Nicolas Nigel Nino Noah Oliver Ollie Omar "
    "Oscar Owen Paolo Pascal Patrice Patrick Paul Pedro Peter Phil Philip Philippe Quentin Rachid Ralph Raoul Raphaël "
    "Rayan Raymond Renaud René Ricardo Richard Robert Roberto Rodrigue Roger Roland Romain Ronald Ronan Ronnie Rory "
    "Ross Roy Rudy Russell Ryan Régis Rémi Rémy Sacha Samir Samuel Sanjay Sean Serge Sergio Shane Shawn Simon Stan "
    "Stephen Steve Steven Stuart Stéphane Sven Sylvain Sébastien Tanguy Ted Terry Thibault Thibaut Thierry Thomas "
    "Théo Théodore Théophile Tiago Tim Timothy Timothée Toby Todd Tom Tommy Tony Trevor Tristan Ugo Ulrich Valentin "
    "Vernon Vic Vince Vincent Walter Wayne William Xavier Yanis Yann Yannick Yusuf Yves Zach Zachary Zack Zinedine "
    "Édouard Éric Étienne"
)
_WOMEN = (
    "Abby Abigail Adèle Agathe Agnès Aisha Alexandra Alice Alicia Alison Alix Alizée Alma Amanda Amelia Amina Amy "
    "Amélie Ana Anaïs Andrea Angela Angelina Anita Ann Anna Anne Annie Anouk Apolline Astrid Audrey Aurélie Aya "
    "Barbara Beatrice Becky Bella Bernadette Beth Brenda Bridget Brigitte Brooke Béatrice Camila Camille Capucine "
    "Carla Carole Caroline Cassie Catherine Cathy Chantal Charlène Chiara Chloe Chloé Christelle Christiane Christina "
    "Christine Cindy Clara Claudia Claudine Clémence Connie Coralie Corinne Cynthia Cécile Céline Daniela Danielle "
    "Daphné Debbie Deborah Delphine Diana Diane Donna Doris Dorothy Edith Eileen Elaine Eleanor Elena Elizabeth Ella "
    "Ellen Eloïse Elsa Elsie Emilia Emily Emma Emmanuelle Erica Erika Erin Estelle Esther Eva Evelyn Fanny Fatima "
    "Fatou Faye Fiona Flavie Françoise Gabrielle Gaëlle Gemma Geneviève Ghislaine Gina Giulia Gloria Greta Gwen "
    "Gwyneth Hannah Harriet Heidi Helen Hollie Héloïse Hélène Ida Imogen Ingrid Inès Irene Irène Isabel Isabella "
    "Isabelle Isla Jackie Jacqueline Jane Janet Jeanne Jennifer Jenny Jess Jessica Jill Joan Joanna Joanne Jocelyne "
    "Johanna Josie Joséphine Judith Judy Julia Julie Juliette Justine Karen Karine Kate Katherine Kathy Katia Katie "
    "Katrina Kayla Kelly Kenza Kim Kirsten Kristen Kylie Laetitia Lana Lara Laura Laure Lauren Laurence Leah Leanne "
    "Leila Lena Leslie Lila Lilou Lina Linda Lisa Lise Liz Lola Loretta Lottie Louise Lucie Lucy Ludivine Lydia Lydie "
    "Lynn Léa Léna Léonie Mabel Maddie Madeleine Maeve Magali Maggie Manon Margaret Margaux Margot Maria Marianne "
    "Marie Marilyn Marion Marjorie Marlène Martha Martine Mathilde Maureen Maya Maëlle Maëlys Maëva Megan Melanie "
    "Melissa Mia Michelle Michèle Mila Millie Mireille Moira Molly Monica Monique Morgane Muriel Myriam Mélanie "
    "Mélissa Mélodie Nadia Nadine Nancy Naomi Natalie Nathalie Nell Nelly Nicole Nikki Nina Nolwenn Nora Noémie "
    "Océane Odile Olivia Ophélie Pamela Pascale Patricia Patty Paula Pauline Peggy Phoebe Priya Rachel Rebecca Rita "
    "Rosa Rosalie Rosie Roxane Ruth Régine Sabine Sabrina Sadie Sally Salma Salomé Samantha Samia Sandra Sandrine "
    "Sara Sarah Sasha Shannon Sharon Sheila Sheryl Sidonie Sienna Simone Sofia Solange Sonia Sophia Sophie Soraya "
    "Stephanie Stéphanie Susan Susie Suzanne Suzie Sylvie Séverine Tamara Tania Tara Teresa Tess Tessa Thaïs Thelma "
    "Thérèse Tiffany Tina Tiphaine Tracy Valentine Valérie Vanessa Vicky Viviane Véronique Wendy Winnie Yasmine Yaël "
    "Yuki Yvette Yvonne Zoe Zoé Ève Élisa Élise Élodie Émilie"
)
_WORDS_TOO = (  # names where they are all of a text
    "Ali Aurore Bernie Blake Carter Chuck Claire Clark Cole Dale Drew Frank Glen Gus Hank Heather Holly Ivy Jack Jean "
    "Jo Lily Luc Mandy Mark Nick Olivier Pete Pierre Ray Rick Rob Spencer Sue Travis Trudy Wade Wes"
)
_FIRST = "|".join(f"{_MEN} {_WOMEN}".split())
_EVERY = frozenset(f"{_MEN} {_WOMEN} {_WORDS_TOO}".split())
_WORD = re.compile(r"\w+")
_SURNAME = r" (?:[DLO]['’])?[A-ZÀ-Þ][a-zß-öø-ÿœ]+(?:[A-Z-][A-Za-zß-öø-ÿœ]+)?"
_NAME = (
    rf"(?:(?:Jean-)?+(?:{_FIRST})\b(?:[ -](?:{_FIRST})\b)?+(?: [A-Z]\.)?+(?:{_SURNAME})?+"
    rf"|(?:{'|'.join(_WORDS_TOO.split())})\b)"
)
_NAMES = rf"{_NAME}(?:(?:, | & | and | et ){_NAME})*+[,.!?]?"
_CLOSING = rf"(?P<words>[^,.!?]+), (?P<name>{_NAME})(?P<mark>[.!]?)"
_ONE_NAME = rf"(?<![\w-])(?:{_FIRST})(?![\w'’-]| (?:d['’]|(?:le|la|the|[IVX]+)\b))"  # not Jeanne d'Arc
_AND = {"en": (" et ", " and "), "fr": (" and ", " et ")}  # by the language of the translation
_STAND_INS = {  # names that the model knows, of men and of women, and whether French elides "de" and "que" before them
    ("man", False): "Tom",
    ("man", True): "Alex",
    ("woman", False): "Julie",
    ("woman", True): "Alice",
}
_ELIDED = "AÀEÉÈIÎOUYH"  # first letters before which French elides
_MOST_WORDS = 6  # of a text that is read with a stand-in


class _Named(NamedTuple):
    """A text with a name, and what the model reads instead.

    Attributes:
        form: The text.
        name: Where the name is in it.
        read: The text without the name, or with its stand-in.
        stand_in: "" if there is none.
    """

    form: Form
    name: re.Match[str]
    read: str
    stand_in: str


def copy_names(
    texts: Sequence[str],
    found: Sequence[Translation],
    translate: Callable[[list[str]], Iterable[Translation]],
    kept: Kept = nothing,
    form: Callable[[str], Form] = Form,
) -> list[Translation]:
    """Return translations with the names of short texts; those that are known by heart are left alone.

    Names alone stay as they are: "Paul", "Luc et Léa". What people write before their name is translated without it if
    it is known: "Kind regards, Paul". Other texts of a few words, such as "Dear Luke,", are read with a name that the
    model knows.

    Args:
        texts: Clean sources.
        found: Their translations.
        translate: Translates texts.
        kept: Where a text holds what comes through anyway, or as a term.
        form: Takes off the marks around a text that the model does not read, and keeps them.
    """
    results, named = list(found), dict[int, _Named]()
    for place, text in enumerate(texts):
        if _is_known(found[place]) or kept(text):
            continue
        own = form(text)
        if _EVERY.isdisjoint(_WORD.findall(own.text)):
            continue
        if _pattern(_NAMES).fullmatch(own.text):
            results[place] = _copied(own, found[place])
        elif one := _without_name(own) or _with_stand_in(own):
            named[place] = one
    again = translate([one.read for one in named.values()]) if named else ()
    for (place, one), new in zip(named.items(), again, strict=True):
        put_back = _named if one.stand_in else _signed
        results[place] = put_back(one, new, found[place])
    return results


@cache
def _pattern(expression: str) -> re.Pattern[str]:
    """Compile one of the long expressions, which takes a twentieth of a second, when the first name comes."""
    return re.compile(expression)


def _is_known(found: Translation) -> bool:
    """Return whether a translation is in the memory, as its score tells."""
    return found.score == 0


def _without_name(own: Form) -> _Named | None:
    """Return the end of a letter or the like to be read without its name."""
    closing = _pattern(_CLOSING).fullmatch(own.text)
    return _Named(own, closing, f"{closing['words']},", "") if closing else None


def _with_stand_in(own: Form) -> _Named | None:
    """Return a short text with one name to be read with another one."""
    if len(own.text.split()) > _MOST_WORDS:
        return None
    names = list(_pattern(_ONE_NAME).finditer(own.text))
    if len(names) != 1 or any(name in own.text for name in _STAND_INS.values()):
        return None
    (name,) = names
    stand_in = _STAND_INS["woman" if name[0] in _WOMEN.split() else "man", name[0][0] in _ELIDED]
    return _Named(own, name, f"{own.text[: name.start()]}{stand_in}{own.text[name.end() :]}", stand_in)


def _copied(own: Form, found: Translation) -> Translation:
    """Return a translation of names alone."""
    names = own.text.replace(*_AND[found.tgt_lang]) if found.tgt_lang in _AND else own.text
    return found.with_texts([own.restore(names, found.tgt_lang)] * len(found.hypotheses))


def _signed(one: _Named, words: Translation, found: Translation) -> Translation:
    """Return the end of a letter with its name; as it was found if the words before the name are not known by heart."""
    if not _is_known(words):
        return found
    text = f"{words.text.rstrip(',')}, {one.name['name']}{one.name['mark']}"
    return words.with_texts([one.form.restore(text, found.tgt_lang)] * len(words.hypotheses))


def _named(one: _Named, other: Translation, found: Translation) -> Translation:
    """Return a translation with the name in place of its stand-in, if that is better or the name was lost.

    Hypotheses that have lost the stand-in are those of the translation before.
    """
    name, stand_in = one.name[0], re.compile(rf"(?<![\w-]){one.stand_in}(?![\w-])")

    def has_stand_in(hypothesis: TranslatedHypothesis) -> bool:
        return len(stand_in.findall(hypothesis.text)) == 1

    if (name in found.text and other.score < found.score) or not has_stand_in(other.hypotheses[0]):
        return found
    good = [
        own._replace(text=one.form.restore(stand_in.sub(name, own.text), other.tgt_lang))
        for own in other.hypotheses
        if has_stand_in(own)
    ]
    rest = found.hypotheses[: len(other.hypotheses) - len(good)]
    return other._replace(text=good[0].text, hypotheses=(*good, *rest))
