"""The pieces of a sentence in both languages: pairs of texts, noun phrases with their agreement, pronouns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from generator import english, french
from generator.french import Agreement

# The convention for tenses: each English tense has one French tense.
FRENCH_TENSES = {
    "present": "present",
    "progressive": "present",
    "past": "perfect",
    "perfect": "perfect",
    "continuous": "imperfect",
    "used": "imperfect",
    "future": "future",
    "going": "near",
    "conditional": "conditional",
}
ACTION_TENSES = ("present", "progressive", "past", "past", "continuous", "used", "future", "future", "going")
STATE_TENSES = ("present", "present", "future", "used")
NEGATIONS = {"": "", "not": "pas", "never": "jamais", "no longer": "plus"}
OWNERS = (("my", 0), ("your", 4), ("his", 2), ("her", 2), ("our", 3), ("their", 5))


class Pair(NamedTuple):
    """The same words in English and in French."""

    en: str
    fr: str


EMPTY = Pair("", "")
THIRD = Agreement()


def seq(*pairs: Pair) -> Pair:
    """Join pairs with spaces, leaving out the empty ones.

    >>> seq(Pair("now", "maintenant"), EMPTY, Pair("here", "ici"))
    Pair(en='now here', fr='maintenant ici')
    """
    return Pair(" ".join(p.en for p in pairs if p.en), " ".join(p.fr for p in pairs if p.fr))


@dataclass(frozen=True)
class Nominal:
    """A noun phrase or pronoun: its two texts, what agrees with it, and its English head word."""

    en: str
    fr: str
    agreement: Agreement = THIRD
    head: str = ""

    @property
    def slot(self) -> int:
        """The person slot, which both languages share."""
        return self.agreement.slot

    @property
    def pair(self) -> Pair:
        """The two texts."""
        return Pair(self.en, self.fr)

    @property
    def en_pronoun(self) -> str:
        """The English object pronoun for a thing."""
        return "them" if self.agreement.plural else "it"

    @property
    def clitic(self) -> str:
        """The French direct object clitic for a thing."""
        return "les" if self.agreement.plural else "la" if self.agreement.feminine else "le"


PRONOUNS = (
    Nominal("I", "je", Agreement(0)),
    Nominal("you", "vous", Agreement(4)),
    Nominal("he", "il", Agreement(2)),
    Nominal("she", "elle", Agreement(2, feminine=True)),
    Nominal("we", "nous", Agreement(3)),
    Nominal("they", "ils", Agreement(5)),
)
HE, SHE, THEY = PRONOUNS[2], PRONOUNS[3], PRONOUNS[5]


def pronoun_for(nominal: Nominal) -> Nominal:
    """Return the subject pronoun which stands for a person ("they" is "elles" only after women)."""
    if nominal.agreement == Agreement(5, feminine=True):
        return Nominal("they", "elles", nominal.agreement)
    if nominal.slot != 2:
        return PRONOUNS[{0: 0, 3: 4, 4: 1, 5: 5}[nominal.slot]]
    return SHE if nominal.agreement.feminine else HE


def finish(pair: Pair) -> Pair:
    """Elide the French and begin the sentences of both sides with capitals.

    >>> finish(Pair("he is here. he eats.", "il est là. il aime le eau."))
    Pair(en='He is here. He eats.', fr="Il est là. Il aime l'eau.")
    """
    return Pair(_capitalise(pair.en), _capitalise(french.surface(pair.fr)))


def _capitalise(text: str) -> str:
    return re.sub(r"(^|[.?!] )(\w)", lambda match: match[1] + match[2].upper(), text)


def english_determiner(det: str, phrase: str, plural: bool) -> str:
    """Put an English determiner (see :meth:`Writer.noun`) before a noun."""
    if det in ("", "generic"):
        return phrase
    if det == "a":
        return english.article(phrase)
    return f"{'these' if det == 'this' and plural else det} {phrase}"


def french_determiner(det: str, phrase: str, agreement: Agreement, mass: bool, preposed: bool) -> str:
    """Put a French determiner before a noun or an adjective and a noun."""
    if det == "":
        return phrase
    if det == "any" or (det == "some" and agreement.plural and preposed):
        return f"de {phrase}"
    if det == "some" and mass:
        return f"{french.partitive(agreement, phrase)} {phrase}"
    owner = dict(OWNERS).get(det)
    kind = {"generic": "the", "some": "a"}.get(det, det) if owner is None else f"possessive{owner}"
    return f"{french.determiner(kind, agreement, phrase)} {phrase}"
