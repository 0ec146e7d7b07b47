"""Sentence patterns that join two clauses."""

from __future__ import annotations

from generator import french
from generator.clauses import (
    FEELINGS,
    MEANS,
    anybody,
    clause_subjects,
    errand,
    reaction,
    simple,
    state,
)
from generator.patterns import bare, dot
from generator.phrases import HE, PRONOUNS, SHE, THEY, Nominal, Pair, pronoun_for, seq
from generator.scripts import ARRIVALS, DEPARTURES, EVERYDAY, OMITTED
from generator.writer import Writer


def because(w: Writer) -> Pair:
    """Sophie is going to bed because she is sleepy."""
    first, feeling = anybody(w), w.pick(FEELINGS)
    tense = w.rng.choice(("past", "past", "progressive"))
    reason = state(w, pronoun_for(first), "past" if tense == "past" else "present", feeling)
    return dot(seq(reaction(w, first, tense, feeling), Pair("because", "parce que"), reason))


def when_future(w: Writer) -> Pair:
    """When Paul arrives at the station, we will call him."""
    first, second = clause_subjects(w)
    if second == pronoun_for(first):
        goal, tail, deed = errand(w)
        verb, end = w.lexicon.verb["go"], w.clause(second, deed, "future", tail)
    else:
        verb, end = w.lexicon.verb[w.rng.choice(ARRIVALS)], simple(w, second, "future")
        goal = w.complement(verb)
    if first.head:
        w.note("subject", first.head, verb.en)
    en, fr = w.clause(first, verb, "present", goal).en, w.clause(first, verb, "future", goal).fr
    return dot(seq(Pair(f"when {en},", f"quand {fr},"), end))


def when_past(w: Writer) -> Pair:
    """I was reading when my brother came back from the station."""
    first, second = anybody(w), w.people()
    return dot(seq(simple(w, first, "continuous"), Pair("when", "quand"), simple(w, second, "past", ARRIVALS)))


def if_real(w: Writer) -> Pair:
    """If you are hungry, you will eat a sandwich."""
    first, second = clause_subjects(w)
    if w.chance(0.6):
        feeling = w.pick(FEELINGS)
        start, end = state(w, first, feeling=feeling), reaction(w, pronoun_for(first), "future", feeling)
    elif second == pronoun_for(first):
        goal, tail, deed = errand(w)
        start = w.clause(first, w.lexicon.verb["go"], "present", goal)
        end = w.clause(second, deed, "future", tail)
    else:
        start = simple(w, first, "present", ("stay", "work", "sleep", "cook", "wait", "go", "travel", "sing", "dance"))
        end = simple(w, second, "future")
    return dot(seq(Pair(f"if {start.en},", f"si {start.fr},"), end))


def if_unreal(w: Writer) -> Pair:
    """If she had a car, she would go to the beach."""
    owner = anybody(w)
    means, verbs, kinds = w.pick(MEANS)
    had = means if isinstance(means, Pair) else w.noun(w.of_kinds(*means), "a").pair
    verb = w.lexicon.verb[w.rng.choice(verbs or EVERYDAY)]
    avoir = w.lexicon.french.finite("avoir", "imperfect", owner.slot)
    start = Pair(f"if {owner.en} had {had.en},", f"si {owner.fr} {avoir} {had.fr},")
    return dot(seq(start, w.clause(pronoun_for(owner), verb, "conditional", w.complement(verb, kinds=kinds))))


def while_clause(w: Writer) -> Pair:
    """While the guests are eating, his mother is reading."""
    first, second = anybody(w), w.people()
    if first in (HE, SHE, THEY):
        first = w.rng.choice((PRONOUNS[0], PRONOUNS[4]))
    tense = w.rng.choice(("progressive", "continuous"))
    start = simple(w, second, tense)
    return dot(seq(Pair(f"while {start.en},", f"pendant que {start.fr},"), simple(w, first, tense)))


def gerund(w: Writer) -> Pair:
    """Paul listens to the radio while cooking."""
    names = ("listen to", "sing", "whistle", "smile", "laugh", "drink", "eat", "read", "wait", "learn", "talk to")
    second = w.lexicon.verb[
        w.rng.choice(("cook", "work", "eat", "wait", "run", "iron", "wash", "sweep", "play", "paint"))
    ]
    subject, tense = anybody(w), w.rng.choice(("progressive", "past", "continuous", "future"))
    first = simple(w, subject, tense, [name for name in names if name != second.en])
    tail = w.complement(second)
    en = f"while {w.lexicon.english.ing(second.en)}"
    return dot(seq(first, Pair(en, w.lexicon.french.gerund(second.fr)), tail))


def but(w: Writer) -> Pair:
    """Thomas likes tea, but he prefers coffee."""
    verb, second = w.lexicon.verb["like"], w.lexicon.verb[w.rng.choice(("prefer", "hate", "love"))]
    subject, noun = w.people(), w.object_noun(verb)
    w.note("subject", subject.head, "like")
    other = w.noted_object(second, w.pick([n for n in w.lexicon.of_kinds((noun.kind,)) if n != noun]))
    liked = w.clause(subject, verb, "present", w.noun(noun, "generic", plural=not noun.mass).pair)
    clause = w.clause(pronoun_for(subject), second, "present", w.noun(other, "generic", plural=not other.mass).pair)
    return dot(Pair(f"{liked.en}, but {clause.en}", f"{liked.fr}, mais {clause.fr}"))


def two_clauses(w: Writer) -> Pair:
    """Marie is cooking and Paul is reading the newspaper."""
    tense = w.rng.choice(("progressive", "past", "past", "future", "continuous"))
    first, second = w.people(), anybody(w)
    if " and " in second.en or second in (HE, SHE, THEY):
        second = w.rng.choice((PRONOUNS[0], PRONOUNS[4]))
    if w.chance(0.6):
        return dot(seq(simple(w, first, tense), Pair("and", "et"), simple(w, second, tense)))
    verbs = [verb for verb in w.lexicon.of_frame("obj") if verb.en in EVERYDAY]
    verb = w.pick([verb for verb in verbs if len(w.lexicon.of_kinds(verb.objects)) > 1])
    noun = w.object_noun(verb)
    other = w.pick([n for n in w.lexicon.of_kinds(verb.objects) if n != noun])
    w.noted_object(verb, other)
    w.note("subject", first.head, verb.en)
    start = w.clause(first, verb, tense, w.some(noun, adjectives=0.0).pair)
    end = w.clause(second, verb, tense, w.some(other, adjectives=0.0).pair)
    return dot(Pair(f"{start.en}, but {end.en}", f"{start.fr}, mais {end.fr}"))


def in_order_to(w: Writer) -> Pair:
    """Alice is going to the market in order to buy some pears."""
    going = w.lexicon.verb[w.rng.choice(("go", "go", "go back"))]
    subject, tense = w.subject(going), w.rng.choice(("progressive", "past", "future"))
    goal, tail, verb = errand(w)
    purpose = Pair(f"in order to {verb.en}", f"pour {bare(verb, subject.slot)}")
    return dot(seq(w.clause(subject, going, tense, goal), purpose, tail))


def before_doing(w: Writer) -> Pair:
    """Before going to bed, Paul reads a book."""
    verb = w.lexicon.verb[
        w.rng.choice((*EVERYDAY, "go to bed", "get dressed", "go", "leave", "come out of", "go back"))
    ]
    subject, tense = anybody(w), w.rng.choice(("past", "future"))
    lead = Pair(f"before {w.lexicon.english.ing(verb.en)}", f"avant de {bare(verb, subject.slot)}")
    lead = seq(lead, w.complement(verb))
    return dot(seq(Pair(f"{lead.en},", f"{lead.fr},"), simple(w, subject, tense)))


def after_doing(w: Writer) -> Pair:
    """After eating the soup, Louise washed the plates."""
    verb = w.lexicon.verb[w.rng.choice((*EVERYDAY, *ARRIVALS, "get dressed", "leave"))]
    subject, tense = anybody(w), w.rng.choice(("past", "future"))
    reflexive, infinitive, extra = french.split_verb(verb.fr)
    with_etre = reflexive or infinitive in french.ETRE_VERBS
    participle = w.lexicon.french.participle(infinitive, subject.agreement if with_etre else None)
    auxiliary = french.infinitive_phrase(
        ("se " if reflexive else "") + ("être" if with_etre else "avoir"), subject.slot
    )
    lead = Pair(f"after {w.lexicon.english.ing(verb.en)}", " ".join(("après", auxiliary, participle, *extra)))
    lead = seq(lead, w.complement(verb))
    return dot(seq(Pair(f"{lead.en},", f"{lead.fr},"), simple(w, subject, tense)))


def without_doing(w: Writer) -> Pair:
    """He left the house without taking the umbrella."""
    subject, verb = anybody(w), w.lexicon.verb[w.rng.choice(OMITTED)]
    first = simple(w, subject, w.rng.choice(("past", "future")), DEPARTURES)
    infinitive = Pair(f"without {w.lexicon.english.ing(verb.en)}", f"sans {bare(verb, subject.slot)}")
    return dot(seq(first, infinitive, w.complement(verb, negated=True)))


def reported(w: Writer) -> Pair:
    """My father says that the guests are eating."""
    en, fr, tenses = w.rng.choice(
        (
            ("say", "dire", ("past", "future", "progressive")),
            ("think", "penser", ("past", "future", "progressive")),
            ("know", "savoir", ("past", "future", "progressive")),
            ("hope", "espérer", ("future",)),
            ("believe", "croire", ("past", "future", "progressive")),
        )
    )
    speaker = anybody(w)
    head = Pair(
        w.lexicon.english.statement(en, "present", speaker.slot), w.lexicon.french.finite(fr, "present", speaker.slot)
    )
    tense = w.rng.choice(tenses)
    second: Nominal = anybody(w)
    if tense == "future" and w.chance(0.5):
        second = pronoun_for(speaker)
    return dot(seq(speaker.pair, head, Pair("that", "que"), simple(w, second, tense)))
