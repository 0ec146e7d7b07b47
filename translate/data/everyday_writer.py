"""The phrase builders of the everyday corpus: they put noun phrases and clauses together in both languages."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from translate.data import everyday_english as english
from translate.data import everyday_french as french
from translate.data.everyday_french import Agreement, Predicate
from translate.data.everyday_lexicon import Adjective, Lexicon, Noun, Verb

Item = TypeVar("Item")

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


class Writer:
    """Chooses words evenly and builds phrases, noting the word pairs which each sentence brings together."""

    def __init__(self, lexicon: Lexicon, rng: random.Random) -> None:
        """Write with the words of ``lexicon``, drawing from ``rng``."""
        self.lexicon = lexicon
        self.rng = rng
        self.noted: list[tuple[str, str, str]] = []
        self._uses: Counter[object] = Counter()
        self._picked: list[object] = []

    def start(self) -> None:
        """Begin a new sentence."""
        self.noted, self._picked = [], []

    def accept(self, en: str) -> None:
        """Count the words of the sentence just written as used, those that are really in it."""
        for item in self._picked:
            if not isinstance(item, Noun) or item.en in en or (item.en_plural and item.en_plural in en):
                self._uses[item] += 1

    def note(self, relation: str, first: str, second: str) -> None:
        """Note that the sentence pairs two words ("object": eat, apple)."""
        self.noted.append((relation, first, second))

    def chance(self, probability: float) -> bool:
        """Return True with a probability."""
        return self.rng.random() < probability

    def pick(self, items: Sequence[Item]) -> Item:
        """Choose one of the items, favouring those used least so far."""
        item = min(self.rng.choices(items, k=7), key=self._uses.__getitem__)
        self._picked.append(item)
        return item

    # Noun phrases

    def noun(self, noun: Noun, det: str, plural: bool = False, adjective: Adjective | None = None) -> Nominal:
        """Build a noun phrase.

        Args:
            noun: The noun.
            det: "the", "a", "some", "any" (after a negation), "this", an owner ("my" …), "generic" or "" for none.
            plural: Whether it is plural.
            adjective: An adjective to put beside the noun.
        """
        if noun.en == noun.en_plural and det not in ("some", "any", "this", "generic", ""):
            plural = False  # "the sheep" would not tell how many
        agreement = Agreement(5 if plural else 2, noun.feminine)
        en = noun.en_plural if plural else noun.en
        words = [noun.fr_plural if plural else noun.fr]
        if adjective:
            self.note("adjective", adjective.en, noun.en)
            en = f"{adjective.en} {en}"
            words.insert(0 if adjective.before else 1, self.adjective_form(adjective, agreement, words[0]))
        fr = " ".join(words)
        preposed = bool(adjective and adjective.before)
        return Nominal(
            _english_determiner(det, en, plural),
            _french_determiner(det, fr, agreement, noun.mass, preposed),
            agreement,
            noun.en,
        )

    def adjective_form(self, adjective: Adjective, agreement: Agreement, following: str = "") -> str:
        """Inflect a French adjective; before a masculine vowel it may change ("bel arbre")."""
        form = french.agree(adjective.fr, adjective.fr_feminine, agreement)
        if adjective.before and not agreement.plural and french.vowel_sound(following):
            return french.LIAISON_FORMS.get(form, form)
        return form

    def adjective(self, noun: Noun, attributive: bool = True) -> Adjective | None:
        """Choose an adjective which suits a noun, if there is one."""
        found = self.lexicon.adjectives_of[noun.en]
        if attributive:
            found = tuple(a for a in found if a.en not in ("ready", "open", "closed"))
        return self.pick(found) if found else None

    def some(self, noun: Noun, negated: bool = False, adjectives: float = 0.3) -> Nominal:
        """Build a noun phrase with a random determiner, number and perhaps adjective, as an object would have."""
        if noun.kind == "family":
            return self.noun(noun, self.rng.choice(OWNERS)[0])
        if noun.mass:
            det = self.rng.choice(("any", "the") if negated else ("some", "some", "the"))
            plural = False
        elif noun.kind in ("human", "profession"):
            det, plural = self.rng.choice((("the", False), ("the", True), ("this", False), ("the", False)))
        else:
            choices = [("the", False)] * 6 + [("the", True), ("this", False), ("this", True), ("owner", False)]
            choices += [("any", True)] * 3 if negated else [("a", False)] * 5 + [("some", True)] * 2
            det, plural = self.rng.choice(choices)
        if det == "owner":
            det = self.rng.choice(OWNERS)[0]
        adjective = self.adjective(noun) if self.chance(adjectives) else None
        return self.noun(noun, det, plural, adjective)

    def number(self, noun: Noun, number: int) -> Nominal:
        """Build a counted noun phrase with the number in words ("twenty-one apples")."""
        bare = self.noun(noun, "", plural=number > 1)
        fr = f"{french.number_word(number, noun.feminine)} {bare.fr}"
        return Nominal(f"{english.number_word(number)} {bare.en}", fr, bare.agreement, noun.en)

    def of_kinds(self, *kinds: str) -> Noun:
        """Choose a noun of some kinds."""
        return self.pick(self.lexicon.of_kinds(kinds))

    def name(self) -> Nominal:
        """Choose a first name."""
        name, feminine = self.pick(self.lexicon.names)
        return Nominal(name, name, Agreement(2, feminine), name)

    def people(self) -> Nominal:
        """Build a subject which is a person or several, other than a pronoun."""
        draw = self.rng.random()
        if draw < 0.4:
            return self.name()
        if draw < 0.48:
            first, second = self.name(), self.name()
            if first.head == second.head:
                return first
            both = first.agreement.feminine and second.agreement.feminine
            return Nominal(f"{first.en} and {second.en}", f"{first.fr} et {second.fr}", Agreement(5, both), first.head)
        if draw < 0.68:
            return self.noun(self.of_kinds("family"), self.rng.choice(OWNERS)[0])
        noun = self.of_kinds("human", "profession")
        return self.noun(noun, "the", plural=self.chance(0.3))

    def subject(self, verb: Verb, pronouns: float = 0.35) -> Nominal:
        """Build a subject for a verb: a pronoun, a person or, where the verb allows it, an animal."""
        if self.chance(pronouns):
            return self.rng.choice(PRONOUNS)
        if verb.animal and self.chance(0.35):
            noun = self.of_kinds("animal")
            adjective = self.adjective(noun) if self.chance(0.2) else None
            subject = self.noun(noun, "the", plural=self.chance(0.25), adjective=adjective)
        else:
            subject = self.people()
        self.note("subject", subject.head, verb.en)
        return subject

    # Verbs and clauses

    def verb(self, *frames: str) -> Verb:
        """Choose a verb of some constructions."""
        return self.pick(self.lexicon.of_frame(*frames))

    def action(self, *frames: str, lasting: bool = False) -> Verb:
        """Choose a verb of some constructions which is not a state, nor (for ``lasting``) a brief action."""
        return self.pick([v for v in self.lexicon.of_frame(*frames) if not v.state and not (lasting and v.brief)])

    def tense(self, verb: Verb) -> str:
        """Choose a tense that a verb can take."""
        return verb.fit(self.rng.choice(STATE_TENSES if verb.state else ACTION_TENSES))

    def object_noun(self, verb: Verb) -> Noun:
        """Choose a noun that can be the object of a verb."""
        noun = self.of_kinds(*verb.objects)
        self.note("object", verb.en, noun.en)
        return noun

    def object(self, verb: Verb, negated: bool = False) -> Nominal:
        """Build an object for a verb."""
        return self.some(self.object_noun(verb), negated)

    def complement(self, verb: Verb, negated: bool = False) -> Pair:
        """Build everything that follows a verb of any construction."""
        frame = verb.frame
        if frame in ("none", "refl"):
            return EMPTY
        if frame == "like":
            noun = self.object_noun(verb)
            return self.noun(noun, "generic", plural=not noun.mass).pair
        if frame in ("stay", "go"):
            return self.place(self.object_noun(verb), goal=frame == "go")
        if frame in ("enter", "exit"):
            place = self.noun(self.object_noun(verb), "the")
            return Pair(place.en, f"dans {place.fr}" if frame == "enter" else french.de(place.fr))
        if frame == "to":
            person = self.some(self.object_noun(verb))
            return Pair(person.en, french.a(person.fr))
        if frame == "give":
            person = self.receiver()
            return seq(self.object(verb, negated).pair, Pair(f"to {person.en}", french.a(person.fr)))
        thing = self.definite(verb) if frame == "of" else self.object(verb, negated)
        return Pair(thing.en, french.de(thing.fr)) if frame == "of" else thing.pair

    def definite(self, verb: Verb) -> Nominal:
        """Build an object with a definite or possessive determiner."""
        noun = self.object_noun(verb)
        if noun.kind == "family":
            return self.noun(noun, self.rng.choice(OWNERS)[0])
        return self.noun(noun, self.rng.choice(("the", "the", "this")))

    def receiver(self) -> Nominal:
        """Build the person to whom something is given."""
        if self.chance(0.4):
            return self.name()
        if self.chance(0.4):
            return self.noun(self.of_kinds("family"), self.rng.choice(OWNERS)[0])
        return self.noun(self.of_kinds("human", "profession"), "the")

    def place(self, noun: Noun, goal: bool = False) -> Pair:
        """Build "at the station" or "in the kitchen", or with ``goal`` "to the station"."""
        place = self.noun(noun, "the")
        if noun.kind == "public":
            return Pair(f"{'to' if goal else 'at'} {place.en}", french.a(place.fr))
        return Pair(f"{'to' if goal else 'in'} {place.en}", f"dans {place.fr}")

    def time(self, tense: str) -> Pair:
        """Choose a time expression which goes with an English tense."""
        times = [time for time in self.lexicon.times if tense in time.tenses]
        if not times:
            return EMPTY
        time = self.pick(times)
        return Pair(time.en, time.fr)

    def timed(self, clause: Pair, tense: str, probability: float = 0.5) -> Pair:
        """Add a time expression to a clause with some probability, now and then at its front."""
        time = self.time(tense) if self.chance(probability) else EMPTY
        if time.en and self.chance(0.25):
            return Pair(f"{time.en}, {clause.en}", f"{time.fr}, {clause.fr}")
        return seq(clause, time)

    def group(
        self,
        subject: Nominal,
        verb: Verb,
        tense: str,
        clitics: tuple[str, ...] = (),
        agreement: Agreement | None = None,
    ) -> Predicate:
        """Conjugate the French verb for an English tense."""
        tense = FRENCH_TENSES[tense]
        return french.predicate(self.lexicon.french, verb.fr, tense, subject.agreement, clitics, agreement)

    def clause(
        self,
        subject: Nominal,
        verb: Verb,
        tense: str,
        tail: Pair = EMPTY,
        *,
        negation: str = "",
        adverb: Pair = EMPTY,
        clitics: tuple[str, ...] = (),
        agreement: Agreement | None = None,
    ) -> Pair:
        """Build a clause.

        Args:
            subject: The subject.
            verb: The verb.
            tense: The English tense; the French one follows from it.
            tail: What comes after the verb.
            negation: "not", "never" or "no longer".
            adverb: An adverb which stands before the English and after the French verb.
            clitics: The French object clitics.
            agreement: The agreement of a direct object clitic.
        """
        past = self.lexicon.english.past(verb.en)
        if tense == "present" and past == verb.en and subject.slot != 2 and negation != "not":
            tense = "progressive"  # "I read" would not tell when
        en = self.lexicon.english.statement(verb.en, tense, subject.slot, negation, adverb.en)
        if clitics:
            en, tail = english.with_pronoun(en, tail.en), Pair("", tail.fr)
        fr = self.group(subject, verb, tense, clitics, agreement).statement(NEGATIONS[negation], adverb.fr)
        return seq(subject.pair, Pair(en, fr), tail)


def _english_determiner(det: str, phrase: str, plural: bool) -> str:
    if det in ("", "generic"):
        return phrase
    if det == "a":
        return english.article(phrase)
    return f"{'these' if det == 'this' and plural else det} {phrase}"


def _french_determiner(det: str, phrase: str, agreement: Agreement, mass: bool, preposed: bool) -> str:
    if det == "":
        return phrase
    if det == "any" or (det == "some" and agreement.plural and preposed):
        return f"de {phrase}"
    if det == "some" and mass:
        return f"{french.partitive(agreement, phrase)} {phrase}"
    owner = dict(OWNERS).get(det)
    kind = {"generic": "the", "some": "a"}.get(det, det) if owner is None else f"possessive{owner}"
    return f"{french.determiner(kind, agreement, phrase)} {phrase}"
