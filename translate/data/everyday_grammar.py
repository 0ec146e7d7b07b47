"""Sentence patterns around a verb: statements, questions, commands, clitics and subordinate clauses.

Each pattern is a function from a :class:`Writer` to one sentence in both languages.
"""

from __future__ import annotations

from translate.data import everyday_english as english
from translate.data import everyday_french as french
from translate.data.everyday_french import Agreement
from translate.data.everyday_lexicon import Noun, Verb
from translate.data.everyday_writer import EMPTY, NEGATIONS, Nominal, Pair, Writer, pronoun_for, seq

ALL = ("obj", "obj", "obj", "obj", "of", "like", "none", "refl", "go", "enter", "exit", "stay", "to", "give")
PEOPLE = frozenset({"person", "human", "family", "profession"})
# What nobody wants to do, nor tells another to do.
UNWANTED = (
    "forget",
    "lose",
    "break",
    "meet",
    "receive",
    "see",
    "hear",
    "find",
    "dream about",
    "recognise",
    "fall",
    "sneeze",
    "cough",
    "get bored",
    "get lost",
    "make a mistake",
    "get angry",
    "cry",
    "complain",
)
MISHAPS = ("forget", "lose", "break", "fall", "cry", "get lost", "make a mistake", "get angry", "complain")
# What one learns and knows how to do.
SKILLS = (
    "swim",
    "dance",
    "cook",
    "drive",
    "draw",
    "paint",
    "sing",
    "repair",
    "translate",
    "play",
    "iron",
    "plant",
    "read",
    "write",
    "build",
    "photograph",
    "feed",
    "use",
)
# Kinds of nouns that cannot be held, nor be somewhere.
ABSTRACT = ("notion", "tale", "event", "public", "home", "room", "nature", "surface", "virtue")
ADVERBS = (Pair("often", "souvent"), Pair("sometimes", "parfois"), Pair("always", "toujours"))
# Direct object pronouns with their French clitic and what a participle then agrees with.
DIRECT = (
    ("me", "me", Agreement(0)),
    ("you", "vous", Agreement(4)),
    ("him", "le", Agreement(2)),
    ("her", "la", Agreement(2, feminine=True)),
    ("us", "nous", Agreement(3)),
    ("them", "les", Agreement(5)),
)
INDIRECT = (
    ("me", "me", 0),
    ("you", "vous", 4),
    ("him", "lui", 2),
    ("her", "lui", 2),
    ("us", "nous", 3),
    ("them", "leur", 5),
)
# Modal verbs with the French preposition before the infinitive: those for any verb, for skills, for what lasts.
MODALS: tuple[tuple[str, str, str], ...] = (
    ("can", "pouvoir", ""),
    ("must", "devoir", ""),
    ("want to", "vouloir", ""),
    ("have to", "devoir", ""),
    ("hope to", "espérer", ""),
    ("try to", "essayer", "de"),
    ("decide to", "décider", "de"),
    ("refuse to", "refuser", "de"),
    ("prefer to", "préférer", ""),
    ("like to", "aimer", ""),
)
SKILL_MODALS: tuple[tuple[str, str, str], ...] = (
    ("know how to", "savoir", ""),
    ("learn to", "apprendre", "à"),
    ("can", "pouvoir", ""),
)
LASTING_MODALS: tuple[tuple[str, str, str], ...] = (("continue to", "continuer", "à"), ("start to", "commencer", "à"))


def dot(pair: Pair, mark: str = ".") -> Pair:
    """End a sentence; French puts a space before "?" and "!"."""
    return Pair(pair.en + mark, pair.fr + (mark if mark == "." else f" {mark}"))


def action(w: Writer) -> Verb:
    """Choose any verb but a state."""
    return w.action(w.rng.choice([frame for frame in ALL if frame != "like"]))


def wanted(w: Writer, *frames: str) -> Verb:
    """Choose a verb, of some constructions or any, which one may want to do."""
    verb = w.action(*frames) if frames else action(w)
    return wanted(w, *frames) if verb.en in UNWANTED else verb


def bare(verb: Verb, slot: int, clitics: tuple[str, ...] = ()) -> str:
    """Return the French infinitive of a verb with its clitics."""
    return french.infinitive_phrase(verb.fr, slot, clitics)


# Statements


def statement(w: Writer) -> Pair:
    """Marie is eating an apple."""
    verb = w.verb(w.rng.choice(ALL))
    tense = w.tense(verb)
    return dot(w.timed(w.clause(w.subject(verb), verb, tense, w.complement(verb)), tense, 0.0 if verb.state else 0.5))


def lasting_state(w: Writer) -> Pair:
    """My niece is afraid of the wolf."""
    verb = w.pick([verb for verb in w.lexicon.verbs if verb.state and verb.frame != "like"])
    return dot(w.clause(w.subject(verb), verb, w.tense(verb), w.complement(verb)))


def negative(w: Writer) -> Pair:
    """Paul doesn't sell any books."""
    verb = w.verb(w.rng.choice(ALL))
    negation, tenses = w.rng.choice(
        (
            ("not", ("present", "progressive", "past", "future", "going")),
            ("not", ("present", "past", "future")),
            ("never", ("present", "future", "perfect")),
            ("no longer", ("present",)),
        )
    )
    tense = "present" if verb.state else verb.fit(w.rng.choice(tenses))
    clause = w.clause(w.subject(verb), verb, tense, w.complement(verb, negated=True), negation=negation)
    if tense == "past" and w.chance(0.3):
        return dot(seq(clause, Pair("yesterday", "hier")))
    return dot(w.timed(clause, tense, 0.4 if tense in ("future", "going", "progressive") else 0.0))


def with_adverb(w: Writer) -> Pair:
    """The doctor often works at night."""
    verb = action(w)
    tense = w.rng.choice(("present", "past")) if verb.frame == "obj" else "present"
    adverb = w.rng.choice(ADVERBS)
    return dot(w.clause(w.subject(verb), verb, tense, w.complement(verb), adverb=adverb))


def only(w: Writer) -> Pair:
    """Paul eats only apples."""
    verb = w.lexicon.verb[w.rng.choice(("eat", "drink", "sell", "buy", "like"))]
    subject, noun = w.subject(verb), w.object_noun(verb)
    tail = w.noun(noun, "generic" if verb.frame == "like" else "some", plural=not noun.mass)
    en = w.lexicon.english.statement(verb.en, "present", subject.slot)
    fr = w.group(subject, verb, "present").statement("que")
    return dot(Pair(f"{subject.en} {en} only {tail.en.removeprefix('some ')}", f"{subject.fr} {fr} {tail.fr}"))


def since(w: Writer) -> Pair:
    """Alice has been working at the bank for three years."""
    names, units = w.rng.choice((
        (("wait", "sleep", "cry", "rest", "laugh", "shout"), (("minute", "minute"), ("hour", "heure"))),
        (("work", "study", "live"), (("day", "jour"), ("week", "semaine"), ("year", "an"))),
    ))  # fmt: skip
    verb, subject, number = w.lexicon.verb[w.rng.choice(names)], w.people(), w.rng.randint(2, 20)
    w.note("subject", subject.head, verb.en)
    unit = w.rng.choice(units)
    count = w.number(Noun("", unit[0], unit[1], f"{unit[0]}s", f"{unit[1]}s", unit[1].endswith("e")), number)
    noun = w.of_kinds("house", "village", "town", "flat") if verb.en == "live" else w.of_kinds("public", "room")
    place = w.place(noun)
    have = "has" if subject.slot == 2 else "have"
    en = f"{subject.en} {have} been {w.lexicon.english.ing(verb.en)} {place.en} for {count.en}"
    fr = f"{subject.fr} {w.group(subject, verb, 'present').statement()} {place.fr} depuis {count.fr}"
    return dot(Pair(en, fr))


def nobody(w: Writer) -> Pair:
    """Nobody has read this book."""
    verb = w.action("obj", "obj", "give", "to", "none", "go")
    tense = w.rng.choice(("present", "past", "future", "perfect"))
    he = Nominal("nobody", "personne")
    en = w.lexicon.english.statement(verb.en, tense, 2)
    fr = w.group(he, verb, tense).statement(ne=True)
    return dot(seq(Pair(f"nobody {en}", f"personne {fr}"), w.complement(verb, negated=True)))


def nothing(w: Writer) -> Pair:
    """Paul bought nothing at the market."""
    verb = w.lexicon.verb[w.rng.choice(("eat", "drink", "buy", "sell", "see", "hear", "find", "break", "forget"))]
    subject, tense = w.subject(verb), w.rng.choice(("present", "past", "future"))
    en = w.lexicon.english.statement(verb.en, tense, subject.slot)
    clause = Pair(f"{subject.en} {en} nothing", f"{subject.fr} {w.group(subject, verb, tense).statement('rien')}")
    return dot(w.timed(seq(clause, w.place(w.of_kinds("public", "room"))), tense, 0.4))


def passive(w: Writer) -> Pair:
    """The door was opened by the pupil."""
    verb = w.pick([verb for verb in w.lexicon.of_frame("obj") if not verb.state and " " not in verb.en])
    noun = w.object_noun(verb)
    if noun.mass or noun.kind == "family":
        return statement(w)
    thing, agent = w.noun(noun, w.rng.choice(("the", "this")), plural=w.chance(0.3)), w.people()
    w.note("subject", agent.head, verb.en)
    tense, be_fr = w.rng.choice((("past", "perfect"), ("future", "future")))
    be = {"past": "were" if thing.slot == 5 else "was", "future": "will be"}[tense]
    etre = french.predicate(w.lexicon.french, "être", be_fr, thing.agreement).statement()
    participle = w.lexicon.french.participle(verb.fr, thing.agreement)
    verb_en = w.lexicon.english.participle(verb.en)
    return dot(Pair(f"{thing.en} {be} {verb_en} by {agent.en}", f"{thing.fr} {etre} {participle} par {agent.fr}"))


# Object clitics


def it_clitic(w: Writer) -> Pair:
    """Where is the key? Paul lost it yesterday."""
    verb = w.action("obj")
    noun = w.object_noun(verb)
    if noun.kind in ("family", "human", "profession"):
        return person_clitic(w)
    thing = w.noun(noun, "the", plural=not noun.mass and w.chance(0.3))
    tense = verb.fit(w.rng.choice(("past", "past", "future", "going", "used")))
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
    tense = "present" if verb.state else w.rng.choice(("present", "past", "past", "future", "used"))
    negation = "not" if tense in ("present", "past", "future") and w.chance(0.3) else ""
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
    place, verb = w.noun(noun, "the"), w.lexicon.verb[w.rng.choice(("go", "go back", "stay", "arrive", "go"))]
    subject, tense = w.subject(verb, pronouns=0.6), w.rng.choice(("past", "future", "going"))
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
    noun = w.of_kinds("goods", "countable_food", "text", "animal")
    things, number = w.noun(noun, "", plural=True), w.rng.randint(2, 30)
    counted = w.number(noun, number)
    owner = w.rng.choice((Pair("do you", "est-ce que vous avez"), Pair("does he", "est-ce qu'il a")))
    reply = Pair("I have", "je en ai") if owner.en == "do you" else Pair("he has", "il en a")
    en_number = counted.en.removesuffix(" " + things.en)
    fr_number = counted.fr.removesuffix(" " + things.fr)
    return Pair(
        f"{owner.en} have any {things.en}? Yes, {reply.en} {en_number}.",
        f"{owner.fr} des {things.fr} ? Oui, {reply.fr} {fr_number}.",
    )


# Infinitives


def modal_group(w: Writer, subject: Nominal, verb: Verb, negation: str = "") -> tuple[Pair, str]:
    """Return a subject with a modal verb that suits another verb, and the French preposition before the latter."""
    modals = MODALS
    if verb.en in SKILLS and w.chance(0.7):
        modals = SKILL_MODALS
    elif verb.frame in ("obj", "none", "of") and not verb.brief and w.chance(0.3):
        modals = LASTING_MODALS
    en_modal, fr_modal, preposition = w.rng.choice(modals)
    if en_modal in ("can", "must"):
        en = {"": en_modal, "not": "cannot" if en_modal == "can" else "must not"}[negation]
    else:
        en = w.lexicon.english.statement(en_modal, "present", subject.slot, negation)
    fr = french.predicate(w.lexicon.french, fr_modal, "present", subject.agreement).statement(NEGATIONS[negation])
    return Pair(f"{subject.en} {en}", f"{subject.fr} {fr}"), preposition


def modal(w: Writer) -> Pair:
    """We want to visit the museum."""
    verb = w.lexicon.verb[w.rng.choice(SKILLS)] if w.chance(0.2) else wanted(w)
    subject, negation = w.subject(verb), "not" if w.chance(0.3) else ""
    group, preposition = modal_group(w, subject, verb, negation)
    infinitive = Pair(verb.en, f"{preposition} {bare(verb, subject.slot)}".strip())
    return dot(seq(group, infinitive, w.complement(verb, negated=bool(negation))))


def modal_clitic(w: Writer) -> Pair:
    """The pear is ripe. Thomas wants to eat it."""
    verb = wanted(w, "obj")
    noun = w.object_noun(verb)
    if noun.kind in PEOPLE:
        return person_clitic(w)
    thing = w.noun(noun, "the", plural=not noun.mass and w.chance(0.3))
    adjective = w.adjective(noun, attributive=False)
    if adjective is None:
        return it_clitic(w)
    w.note("adjective", adjective.en, noun.en)
    subject = w.subject(verb)
    group, preposition = modal_group(w, subject, verb, "not" if w.chance(0.2) else "")
    be = Pair("are", "sont") if thing.slot == 5 else Pair("is", "est")
    lead = dot(seq(thing.pair, be, Pair(adjective.en, w.adjective_form(adjective, thing.agreement))))
    infinitive = f"{preposition} {bare(verb, subject.slot, (thing.clitic,))}".strip()
    return seq(lead, dot(seq(group, Pair(english.with_pronoun(verb.en, thing.en_pronoun), infinitive))))
