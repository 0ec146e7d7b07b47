"""Sentence patterns with object pronouns, which French puts before the verb."""

from __future__ import annotations

from generator import english
from generator.patterns import ABSTRACT, DIRECT, INDIRECT, PEOPLE, bare, dot, modal_group, wanted
from generator.phrases import EMPTY, HE, PRONOUNS, SHE, THEY, Pair, pronoun_for, seq
from generator.scripts import FAULTS, MENDING
from generator.writer import Writer


def it_clitic(w: Writer) -> Pair:
    """Where is the key? Paul lost it yesterday."""
    verb = w.action("obj")
    noun = w.object_noun(verb)
    if noun.kind in PEOPLE:
        return person_clitic(w)
    thing = w.noun(noun, "the", plural=not noun.mass and w.chance(0.3))
    tense = verb.fit(w.rng.choice(("past", "past", "future", "going")))
    negation = "not" if tense == "past" and w.chance(0.3) else ""
    clause = w.clause(
        w.subject(verb),
        verb,
        tense,
        Pair(thing.en_pronoun, ""),
        clitics=(thing.clitic,),
        agreement=thing.agreement,
        negation=negation,
    )
    are, sont = ("are", "sont") if thing.slot == 5 else ("is", "est")
    lead = (
        dot(thing.pair, "?")
        if noun.kind in ABSTRACT
        else w.rng.choice(
            (
                dot(Pair(f"where {are} {thing.en}", f"où {sont} {thing.fr}"), "?"),
                dot(Pair(f"here {are} {thing.en}", f"voici {thing.fr}")),
                dot(thing.pair, "?"),
            )
        )
    )
    return seq(lead, dot(seq(clause, w.time(tense) if negation == "" and w.chance(0.4) else EMPTY)))


def person_clitic(w: Writer) -> Pair:
    """My sister met them last week."""
    verb = w.lexicon.verb[
        w.rng.choice(
            (
                "see",
                "help",
                "invite",
                "thank",
                "wait for",
                "follow",
                "call",
                "greet",
                "hear",
                "congratulate",
                "know",
                "recognise",
                "listen to",
                "look for",
            )
        )
    ]
    subject = w.subject(verb)
    en, clitic, agreement = w.rng.choice([d for d in DIRECT if d[2].slot != subject.slot or subject.slot in (2, 5)])
    if {subject.slot, agreement.slot} == {0, 3}:
        return it_clitic(w)
    tense = "present" if verb.state else verb.fit(w.rng.choice(("progressive", "past", "past", "future", "used")))
    negation = "not" if tense in ("present", "progressive", "past", "future") and w.chance(0.3) else ""
    clause = w.clause(subject, verb, tense, Pair(en, ""), clitics=(clitic,), agreement=agreement, negation=negation)
    return dot(w.timed(clause, tense, 0.0 if verb.state else 0.5))


def receiver_clitic(w: Writer) -> Pair:
    """Julie lent us her car."""
    verb = w.verb("give", "give", "to")
    subject = w.subject(verb)
    en, clitic, slot = w.rng.choice([d for d in INDIRECT if d[2] != subject.slot or subject.slot in (2, 5)])
    if {subject.slot, slot} == {0, 3}:
        en, clitic, slot = INDIRECT[1]
    tense = w.rng.choice(("present", "past", "past", "future", "going"))
    if verb.frame == "to":
        tail = Pair(en, "")
    else:
        thing = w.object(verb)
        tail = Pair(f"{thing.en} to {en}", thing.fr)
    return dot(w.timed(w.clause(subject, verb, tense, tail, clitics=(clitic,)), tense, 0.4))


def double_clitic(w: Writer) -> Pair:
    """Paul has the key. He will give it to her."""
    verb = w.verb("give")
    noun, owner = w.object_noun(verb), w.people()
    if noun.kind in ABSTRACT:
        return it_clitic(w)
    thing = w.noun(noun, "the", plural=not noun.mass and w.chance(0.3))
    he = pronoun_for(owner)
    en, clitic, slot = w.rng.choice(INDIRECT)
    clitics = (thing.clitic, clitic) if slot in (2, 5) else (clitic, thing.clitic)
    tense = w.rng.choice(("past", "future", "going", "future"))
    have = Pair("has" if owner.slot == 2 else "have", "a" if owner.slot == 2 else "ont")
    clause = w.clause(
        he, verb, tense, Pair(f"{thing.en_pronoun} to {en}", ""), clitics=clitics, agreement=thing.agreement
    )
    if tense == "past":
        have = Pair("had", "avait" if owner.slot == 2 else "avaient")
    lead = dot(seq(owner.pair, have, thing.pair))
    return seq(lead, dot(seq(clause, w.time(tense) if w.chance(0.3) else EMPTY)))


def y_clitic(w: Writer) -> Pair:
    """Do you know the beach? We go there every day."""
    noun = w.of_kinds("public")
    place, verb = w.noun(noun, "the"), w.lexicon.verb[w.rng.choice(("go", "go back", "stay", "go"))]
    subject, tense = w.rng.choice((PRONOUNS[0], PRONOUNS[0], PRONOUNS[4])), w.rng.choice(("past", "future", "going"))
    if verb.en == "go":
        tense = w.rng.choice(("present", "past", "going"))
    lead = w.rng.choice(
        (
            Pair(f"do you know {place.en}?", f"est-ce que vous connaissez {place.fr} ?"),
            Pair(f"I like {place.en}.", f"je aime {place.fr}."),
        )
    )
    return seq(lead, dot(seq(w.clause(subject, verb, tense, Pair("there", ""), clitics=("y",)), w.time(tense))))


def en_clitic(w: Writer) -> Pair:
    """Do you have any apples? Yes, I have three."""
    noun = w.of_kinds("goods", "countable_food", "text", "tame")
    many = noun.kind in ("fruit", "vegetable", "dish", "tableware", "text", "farm_animal")
    things, number = w.noun(noun, "", plural=True), w.rng.randint(2, 30 if many else 9)
    counted = w.number(noun, number)
    owner = w.rng.choice((Pair("do you", "est-ce que vous avez"), Pair("does he", "est-ce qu'il a")))
    reply = Pair("I have", "je en ai") if owner.en == "do you" else Pair("he has", "il en a")
    en_number = counted.en.removesuffix(" " + things.en)
    fr_number = counted.fr.removesuffix(" " + things.fr)
    return Pair(
        f"{owner.en} have any {things.en}? Yes, {reply.en} {en_number}.",
        f"{owner.fr} des {things.fr} ? Oui, {reply.fr} {fr_number}.",
    )


def en_some(w: Writer) -> Pair:
    """There is some bread. Paul is eating some."""
    verb = w.lexicon.verb[w.rng.choice(("eat", "drink", "buy", "order", "prepare", "bring", "sell"))]
    kinds = {"drink": ("drink",), "prepare": ("dish", "soup", "salad", "coffee", "tea")}
    noun = w.noted_object(
        verb, w.of_kinds(*kinds.get(verb.en, ("edible", "drink") if verb.en != "eat" else ("edible",)))
    )
    food, subject = w.noun(noun, "some", plural=not noun.mass), w.subject(verb)
    tense = w.rng.choice(("progressive", "past", "future", "going"))
    lead = Pair("there are" if food.slot == 5 else "there is", "il y a")
    if tense == "past":
        lead = Pair("there were" if food.slot == 5 else "there was", "il y avait")
    clause = w.clause(subject, verb, tense, Pair("some", ""), clitics=("en",))
    return seq(dot(seq(lead, food.pair)), dot(w.timed(clause, tense, 0.3)))


def en_of(w: Writer) -> Pair:
    """The hammer? He needs it."""
    verb = w.verb("of")
    noun = w.object_noun(verb)
    if noun.kind in PEOPLE or noun.kind in ("pet", "farm_animal", "wild"):
        return it_clitic(w)
    thing, subject = w.noun(noun, "the"), w.subject(verb)
    tense = "present" if verb.state else w.rng.choice(("progressive", "past", "future"))
    negation = "not" if w.chance(0.25) else ""
    clause = w.clause(subject, verb, tense, Pair("it", ""), clitics=("en",), negation=negation)
    return seq(dot(thing.pair, "?"), dot(w.timed(clause, tense, 0.0 if verb.state or negation else 0.3)))


def y_now(w: Writer) -> Pair:
    """Are you going to the market? Yes, I am going there now."""
    place = w.place(w.of_kinds("public"), goal=True)
    verb, when = w.lexicon.verb["go"], w.time("progressive")
    asked, answering = w.rng.choice(((PRONOUNS[1], PRONOUNS[0]), (HE, HE), (SHE, SHE), (THEY, THEY)))
    en = f"{'is' if asked.slot == 2 else 'are'} {asked.en} going"
    group = w.group(asked, verb, "progressive").statement()
    negation = "not" if w.chance(0.3) else ""
    answer = w.clause(answering, verb, "progressive", Pair("there", ""), clitics=("y",), negation=negation)
    yes = Pair("no,", "non,") if negation else Pair("yes,", "oui,")
    question = dot(Pair(f"{en} {place.en}", f"est-ce que {asked.fr} {group} {place.fr}"), "?")
    return seq(question, dot(seq(yes, answer, EMPTY if negation else when)))


# Infinitives


def modal_clitic(w: Writer) -> Pair:
    """The pear is ripe. Thomas wants to eat it."""
    verb = wanted(w, "obj")
    noun = w.object_noun(verb)
    if noun.kind in PEOPLE:
        return person_clitic(w)
    thing = w.noun(noun, "the", plural=not noun.mass and w.chance(0.3))
    adjective = w.adjective(noun, attributive=False)
    if adjective is not None and verb.en in ("open", "close") and adjective.en in ("open", "closed"):
        return modal_clitic(w)
    if adjective is None:
        return it_clitic(w)
    w.note("adjective", adjective.en, noun.en)
    subject = w.subject(verb)
    faulty = adjective.en in FAULTS and verb.en not in MENDING
    group, preposition = modal_group(w, subject, verb, "not" if faulty or w.chance(0.2) else "")
    be = Pair("are", "sont") if thing.slot == 5 else Pair("is", "est")
    lead = dot(seq(thing.pair, be, Pair(adjective.en, w.adjective_form(adjective, thing.agreement))))
    infinitive = f"{preposition} {bare(verb, subject.slot, (thing.clitic,))}".strip()
    return seq(lead, dot(seq(group, Pair(english.with_pronoun(verb.en, thing.en_pronoun), infinitive))))
