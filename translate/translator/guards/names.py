"""First names: a model that has read too few of them takes them for other words where a text is short."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from translate.translator.guards.forms import Form, Kept, nothing
from translate.translator.translation import Translation

_MEN = (  # names that are hardly another word where they stand alone, and no place
    "Aaron Abdel Adam Adrian Adrien Ahmed Alain Alan Albert Alex Alexander Alexandre Alexis Alfred Ali Alvin Andreas "
    "Andrew André Andy Anthony Antoine Antonio Arnaud Arthur Aurélien Axel Aymeric Ayoub Baptiste Barry Bastien Ben "
    "Benjamin Benoît Bernard Bernie Blake Bob Boris Brad Brandon Brian Bruno Bryan Caleb Carl Carlos Carter Charles "
    "Charlie Chris Christophe Christopher Chuck Clark Claude Clément Cole Connor Corentin Corey Craig Curtis Cyprien "
    "Cyril Cédric Dale Damien Dan Daniel Danny Dave David Denis Dennis Derek Diego Dimitri Dominique Donald Doug "
    "Douglas Drew Duncan Dustin Dylan Earl Ed Eddie Edgar Edward Eli Elias Elliot Emmanuel Enzo Eric Erik Erwan Ethan "
    "Eugène Evan Fabien Fabio Fabrice Farid Felix Fernando Florent Franck Frank François Fred Frédéric Félix Gabe "
    "Gabriel Gareth Gary Gaspard Gauthier Gaël Geoffrey George Georges Germain Gerry Gilbert Gilles Giovanni Glen "
    "Glenn Gordon Graham Greg Gregory Guillaume Gus Gustave Gérald Gérard Hakim Hank Hans Harold Harry Hassan Hector "
    "Henri Henry Hervé Howard Hubert Hugh Hugo Hunter Ian Ibrahim Ilyès Isaac Ismaël Ivan Ivor Jack Jacky Jacob "
    "Jacques Jake Jamal James Jamie Jason Javier Jean Jed Jeff Jeremy Jerry Jesse Jim Jimmy Joe Joel John Johnny Jon "
    "Jonas Jonathan Joseph Josh Joshua José Joël Juan Jules Julian Julien Justin Jérémie Jérémy Jérôme Karim Karl "
    "Keith Ken Kenneth Kevin Kurt Kyle Kévin Lachlan Larry Laurent Len Lenny Leo Liam Lilian Lionel Lloyd Logan "
    "Lorenzo Loris Lou Louis Loïc Luc Lucas Lucien Ludovic Luis Luke Léo Léon Malik Manuel Marc Marcel Marco Marcus "
    "Mario Mark Marwan Mathieu Mathis Matt Matthew Matthieu Maurice Max Maxime Mehdi Michael Michel Mickaël Mickey "
    "Miguel Mike Mitch Mohamed Mohammad Mohammed Moussa Murray Nabil Nathan Ned Neil Nick Nicolas Nigel Nino Noah "
    "Norman Noé Octave Oliver Olivier Ollie Omar Oscar Owen Paolo Pascal Pat Patrice Patrick Paul Pedro Pete Peter "
    "Phil Philip Philippe Pierre Quentin Rachid Ralph Raoul Raphaël Ravi Ray Rayan Raymond Renaud René Ricardo "
    "Richard Rick Rob Robert Roberto Robin Rodrigue Roger Roland Romain Ronald Ronan Ronnie Rory Ross Roy Rudy "
    "Russell Ryan Régis Rémi Rémy Sacha Samir Samuel Sanjay Sean Serge Sergio Shane Shawn Sid Simon Spencer Stan "
    "Stephen Steve Steven Stuart Stéphane Sven Sylvain Sébastien Tanguy Ted Terry Thibault Thibaut Thierry Thomas "
    "Théo Théodore Théophile Tiago Tim Timothy Timothée Toby Todd Tom Tommy Tony Travis Trevor Tristan Ugo Ulrich "
    "Valentin Vernon Vic Vince Vincent Wade Walter Wayne Wes William Xavier Yanis Yann Yannick Yusuf Yves Zach "
    "Zachary Zack Zinedine Édouard Éric Étienne"
)
_WOMEN = (
    "Abby Abigail Adèle Agathe Agnès Aisha Alexandra Alice Alicia Alison Alix Alizée Alma Amanda Amelia Amina Amy "
    "Amélie Ana Anaïs Andrea Angela Angelina Anita Ann Anna Anne Annie Anouk Apolline Astrid Audrey Aurore Aurélie "
    "Aya Barbara Beatrice Becky Bella Bernadette Beth Brenda Bridget Brigitte Brooke Béatrice Camila Camille Capucine "
    "Carla Carole Caroline Cassie Catherine Cathy Chantal Charlène Chiara Chloe Chloé Christelle Christiane Christina "
    "Christine Cindy Claire Clara Claudia Claudine Clémence Connie Constance Coralie Corinne Cynthia Cécile Céline "
    "Daniela Danielle Daphné Debbie Deborah Delphine Diana Diane Donna Doris Dorothy Edith Eileen Elaine Eleanor "
    "Elena Elizabeth Ella Ellen Eloïse Elsa Elsie Emilia Emily Emma Emmanuelle Erica Erika Erin Estelle Esther Eva "
    "Evelyn Fanny Fatima Fatou Faye Fiona Flavie Flora Françoise Gabrielle Gaëlle Gemma Geneviève Ghislaine Gina "
    "Giulia Gloria Greta Gwen Gwyneth Hannah Harriet Heather Heidi Helen Hollie Holly Héloïse Hélène Ida Imogen "
    "Ingrid Inès Irene Irène Isabel Isabella Isabelle Isla Ivy Jackie Jacqueline Jane Janet Jeanne Jennifer Jenny "
    "Jess Jessica Jill Jo Joan Joanna Joanne Jocelyne Johanna Josie Joséphine Judith Judy Julia Julie Juliette "
    "Justine Karen Karine Kate Katherine Kathy Katia Katie Katrina Kayla Kelly Kenza Kim Kirsten Kristen Kylie "
    "Laetitia Lana Lara Laura Laure Lauren Laurence Leah Leanne Leila Lena Leslie Lila Lilou Lily Lina Linda Lisa "
    "Lise Liz Lola Loretta Lottie Louise Lucie Lucy Ludivine Lydia Lydie Lynn Léa Léna Léonie Mabel Maddie Madeleine "
    "Maeve Magali Maggie Mandy Manon Margaret Margaux Margot Maria Marianne Marie Marilyn Marine Marion Marjorie "
    "Marlène Martha Martine Mathilde Maureen Maya Maëlle Maëlys Maëva Megan Melanie Melissa Mia Michelle Michèle Mila "
    "Millie Mireille Moira Molly Monica Monique Morgane Muriel Myriam Mélanie Mélissa Mélodie Nadia Nadine Nancy "
    "Naomi Natalie Nathalie Nell Nelly Nicole Nikki Nina Nolwenn Nora Noémie Océane Odile Olivia Ophélie Pamela "
    "Pascale Patricia Patty Paula Pauline Peggy Phoebe Priya Rachel Rebecca Rita Rosa Rosalie Rosie Roxane Ruth "
    "Régine Sabine Sabrina Sadie Sally Salma Salomé Samantha Samia Sandra Sandrine Sara Sarah Sasha Shannon Sharon "
    "Sheila Sheryl Sidonie Sienna Simone Sofia Solange Sonia Sophia Sophie Soraya Stella Stephanie Stéphanie Sue "
    "Susan Susie Suzanne Suzie Sylvie Séverine Tamara Tania Tara Teresa Tess Tessa Thaïs Thelma Thérèse Tiffany Tina "
    "Tiphaine Tracy Trudy Valentine Valérie Vanessa Verity Vicky Viviane Véronique Wendy Winnie Yasmine Yaël Yuki "
    "Yvette Yvonne Zoe Zoé Ève Élisa Élise Élodie Émilie"
)
_FIRST = "|".join(f"{_MEN} {_WOMEN}".split())
_SURNAME = r" (?:[DLO]['’])?[A-ZÀ-Þ][a-zß-öø-ÿœ]+(?:[A-Z-][A-Za-zß-öø-ÿœ]+)?"
_NAME = rf"(?:{_FIRST})\b(?:[ -](?:{_FIRST})\b)?+(?: [A-Z]\.)?+(?:{_SURNAME})?+"
_NAMES = re.compile(rf"{_NAME}(?:(?:, | & | and | et ){_NAME})*+[,.!?]?")
_ONE_NAME = re.compile(rf"(?<![\w-])(?:{_FIRST})(?![\w'’-])")
_CLOSING = re.compile(rf"([^,.!?]+), ({_NAME})[.!]?")
_AND = {"en": (" et ", " and "), "fr": (" and ", " et ")}  # by the language of the translation
_STAND_INS = ("Tom", "Emma")  # for a man and for a woman, which the model knows
_MOST = 6  # words of a text with a stand-in


def copy_names(
    texts: Sequence[str],
    found: Sequence[Translation],
    translate: Callable[[list[str]], Iterable[Translation]],
    kept: Kept = nothing,
    form: Callable[[str], Form] = Form,
) -> list[Translation]:
    """Return translations with the names of short texts.

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
    results = list(found)
    named: dict[int, tuple[Form, re.Match[str], str]] = {}
    for place, text in enumerate(texts):
        if kept(text) or not _ONE_NAME.search(text):
            continue
        own = form(text)
        if _NAMES.fullmatch(own.text):
            results[place] = _copied(own, found[place])
        elif closing := _CLOSING.fullmatch(own.text):
            named[place] = own, closing, f"{closing[1]},"
        elif len(own.text.split()) <= _MOST and (name := _only_name(own.text)):
            named[place] = own, name, _with_stand_in(name)
    again = translate([read for _, _, read in named.values()]) if named else ()
    for (place, (own, match, _)), one in zip(named.items(), again, strict=True):
        put_back = _signed if match.re is _CLOSING else _named
        results[place] = put_back(own, match, one, results[place])
    return results


def _copied(own: Form, found: Translation) -> Translation:
    """Return a translation of names alone."""
    names = own.text.replace(*_AND[found.tgt_lang]) if found.tgt_lang in _AND else own.text
    return found.with_texts([own.restore(names, found.tgt_lang)] * len(found.hypotheses))


def _signed(own: Form, closing: re.Match[str], known: Translation, found: Translation) -> Translation:
    """Return the end of a letter with its name; as it was found if the words before the name are not known by heart."""
    if known.score < 0:
        return found
    text = own.restore(f"{known.text.rstrip(',')}, {closing[2]}", found.tgt_lang)
    return known.with_texts([text] * len(known.hypotheses))


def _named(own: Form, name: re.Match[str], other: Translation, found: Translation) -> Translation:
    """Return a translation with the name in place of its stand-in, if that is better or the name was lost."""
    stand_in = re.compile(rf"(?<![\w-]){_stand_in(name[0])}(?![\w-])")
    outputs = [one.text for one in other.hypotheses]
    is_better = other.score >= found.score or name[0] not in found.text
    if not is_better or any(len(stand_in.findall(one)) != 1 for one in outputs):
        return found
    return other.with_texts([own.restore(stand_in.sub(name[0], one), other.tgt_lang) for one in outputs])


def _only_name(text: str) -> re.Match[str] | None:
    names = list(_ONE_NAME.finditer(text))
    return names[0] if len(names) == 1 and not any(name in text for name in _STAND_INS) else None


def _with_stand_in(name: re.Match[str]) -> str:
    return f"{name.string[: name.start()]}{_stand_in(name[0])}{name.string[name.end() :]}"


def _stand_in(name: str) -> str:
    return _STAND_INS[name in _WOMEN.split()]
