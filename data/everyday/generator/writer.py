"""The writer of the everyday corpus: it chooses words and puts noun phrases and clauses together in both languages."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from generator import english, french
from generator.french import Agreement, Predicate
from generator.lexicon import ATTRIBUTIVE_ONLY, PREDICATE_ONLY, Adjective, Lexicon, Noun, Verb
from generator.phrases import (
    ACTION_TENSES,
    EMPTY,
    FRENCH_TENSES,
    NEGATIONS,
    OWNERS,
    PRONOUNS,
    STATE_TENSES,
    Nominal,
    Pair,
    english_determiner,
    french_determiner,
    seq,
)
from generator.scripts import CLASHES, DEFINITE, INFANT_VERBS, OWNABLE, WORN

Item = TypeVar("Item")


class Writer:
    """Chooses words evenly and builds phrases, noting the word pairs which each sentence brings together."""

    def __init__(self, lexicon: Lexicon, rng: random.Random) -> None:
        """Write with the words of ``lexicon``, drawing from ``rng``."""
        self.lexicon = lexicon
        self.rng = rng
        self.noted: list[tuple[str, str, str]] = []
        self._uses: Counter[object] = Counter()
        self._picked: list[object] = []
        self._verb = ""

    def start(self) -> None:
        """Begin a new sentence."""
        self.noted, self._picked, self._verb = [], [], ""

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
            english_determiner(det, en, plural),
            french_determiner(det, fr, agreement, noun.mass, preposed),
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
        wrong = (PREDICATE_ONLY if attributive else ATTRIBUTIVE_ONLY) | CLASHES.get(self._verb, frozenset())
        found = tuple(adjective for adjective in found if adjective.en not in wrong)
        return self.pick(found) if found else None

    def some(self, noun: Noun, negated: bool = False, adjectives: float = 0.3, *, known: bool = False) -> Nominal:
        """Build a noun phrase with a random determiner, number and perhaps adjective, as an object would have.

        Args:
            noun: The noun.
            negated: Whether the verb is negated ("any" takes the place of "a" and "some").
            adjectives: How often it has an adjective.
            known: Whether it is one known thing ("the lamp", "my lamp").
        """
        if noun.kind == "family":
            return self.noun(noun, self.rng.choice(OWNERS)[0])
        if noun.mass:
            det = self.rng.choice(("any", "the") if negated else ("some", "some", "the"))
            plural = False
        elif noun.kind in ("human", "profession"):
            det, plural = self.rng.choice((("the", False), ("the", True), ("this", False), ("the", False)))
        else:
            owned = noun.kind in OWNABLE or noun.en in ("house", "flat", "school", "office")
            choices = [("the", False)] * 6 + [("this", False), ("owner" if owned else "the", False)]
            if not (known or noun.kind == "room"):
                choices += [("the", True), ("this", True)]
                choices += [("any", True)] * 3 if negated else [("a", False)] * 5 + [("some", True)] * 2
            det, plural = self.rng.choice(choices)
            if noun.kind == "footwear" and not plural and self.chance(0.9):
                det, plural = {"a": "some"}.get(det, det), True
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
        """Build a subject for a verb: a pronoun, a person or, where the verb allows it, an animal or a baby."""
        if self.chance(pronouns):
            return self.rng.choice(PRONOUNS)
        if verb.animal and self.chance(0.35):
            noun = self.of_kinds("animal")
            adjective = self.adjective(noun) if self.chance(0.2) else None
            subject = self.noun(noun, "the", plural=self.chance(0.25), adjective=adjective)
        elif verb.en in INFANT_VERBS and self.chance(0.2):
            subject = self.noun(self.of_kinds("infant"), self.rng.choice(("the", "my", "your", "their", "our")))
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
        if verb.frame == "like":
            return self.rng.choice(("present", "present", "used"))
        return verb.fit(self.rng.choice(STATE_TENSES if verb.state else ACTION_TENSES))

    def object_noun(self, verb: Verb) -> Noun:
        """Choose a noun that can be the object of a verb."""
        return self.noted_object(verb, self.of_kinds(*verb.objects))

    def noted_object(self, verb: Verb, noun: Noun) -> Noun:
        """Return a noun after noting that a verb has it as its object."""
        self.note("object", verb.en, noun.en)
        self._verb = verb.en
        return noun

    def object(self, verb: Verb, negated: bool = False, kinds: Sequence[str] = ()) -> Nominal:
        """Build an object for a verb, of some kinds or of all that the verb takes."""
        noun = self.noted_object(verb, self.of_kinds(*(kinds or verb.objects)))
        if verb.en in ("count", "pick") and not noun.mass:
            thing = self.noun(noun, self.rng.choice(("the", "the", "these")).replace("these", "this"), plural=True)
        else:
            one = verb.en in WORN and noun.kind != "footwear"
            thing = self.some(noun, negated and not one, known=verb.en in DEFINITE or one)
        self._verb = ""
        return thing

    def complement(self, verb: Verb, negated: bool = False, kinds: Sequence[str] = ()) -> Pair:
        """Build everything that follows a verb of any construction, its object of some kinds if they are given."""
        frame = verb.frame
        if kinds:
            verb = replace(verb, objects=tuple(kinds))
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
        times = self.lexicon.times_of(tense)
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
