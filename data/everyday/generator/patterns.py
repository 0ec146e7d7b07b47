"""Sentence patterns around a verb: statements, questions, commands, clitics and subordinate clauses.

Each pattern is a function from a :class:`Writer` to one sentence in both languages.
"""

from __future__ import annotations

from generator import french
from generator.french import Agreement
from generator.lexicon import Noun, Verb
from generator.phrases import NEGATIONS, Nominal, Pair, seq
from generator.scripts import ACTIVITY_PLACES, LEISURE, WORN
from generator.writer import Writer

ALL = ("obj", "obj", "obj", "obj", "of", "like", "none", "refl", "go", "enter", "exit", "stay", "to", "give")
PEOPLE = frozenset({"person", "human", "family", "profession", "infant"})
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
    "fall asleep",
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
    ("refuse to", "refuser", "de"),
    ("prefer to", "préférer", ""),
)
# Modals of habit, for what one enjoys; those whose negation says what it seems to; and the English tense of others.
LEISURE_MODALS: tuple[tuple[str, str, str], ...] = (("like to", "aimer", ""),)
NEGATED_MODALS = frozenset({"can", "must", "want to", "like to", "know how to"})
MODAL_TENSES = {"try to": "progressive", "learn to": "progressive", "start to": "progressive"}
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
    tense, timed = w.tense(verb), not verb.state and w.chance(0.5)
    if not timed and not verb.state:
        tense = current(verb, tense)
    return dot(w.timed(w.clause(w.subject(verb), verb, tense, w.complement(verb)), tense, float(timed)))


def current(verb: Verb, tense: str) -> str:
    """Return "progressive" for the present of what is going on now rather than a habit."""
    return verb.fit("progressive" if tense == "present" and verb.frame in ("obj", "of", "give", "to") else tense)


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
    if verb.state:
        negation = "not" if verb.en == "prefer" or negation == "never" else negation
    elif negation == "never":
        tense = w.rng.choice(("future", "perfect")) if verb.once and not verb.mishap else "perfect"
    if verb.en == "prefer":
        return lasting_state(w)
    clause = w.clause(w.subject(verb), verb, tense, w.complement(verb, negated=True), negation=negation)
    if tense == "past" and w.chance(0.3):
        return dot(seq(clause, Pair("yesterday", "hier")))
    timed = negation == "not" and tense in ("future", "going", "progressive")
    return dot(w.timed(clause, tense, 0.4 if timed else 0.0))


def with_adverb(w: Writer) -> Pair:
    """The doctor often works at night."""
    verb = action(w)
    if verb.once and not verb.mishap:
        return statement(w)
    tense = "present"
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
    names, units, most = w.rng.choice((
        (("wait", "sleep", "cry", "rest", "laugh", "shout", "study"), (("minute", "minute"),), 59),
        (("wait", "sleep", "rest", "study", "work"), (("hour", "heure"),), 9),
        (("work", "study", "live"), (("day", "jour"), ("week", "semaine"), ("year", "an"), ("year", "an")), 20),
    ))  # fmt: skip
    verb, number = w.lexicon.verb[w.rng.choice(names)], w.rng.randint(2, most)
    subject, unit = w.people(), w.rng.choice(units)
    w.note("subject", subject.head, verb.en)
    count = w.number(Noun("", unit[0], unit[1], f"{unit[0]}s", f"{unit[1]}s", unit[1].endswith("e")), number)
    place = w.place(w.of_kinds(*ACTIVITY_PLACES[verb.en]))
    have = "has" if subject.slot == 2 else "have"
    en = f"{subject.en} {have} been {w.lexicon.english.ing(verb.en)} {place.en} for {count.en}"
    fr = f"{subject.fr} {w.group(subject, verb, 'present').statement()} {place.fr} depuis {count.fr}"
    return dot(Pair(en, fr))


def nobody(w: Writer) -> Pair:
    """Nobody has read this book."""
    verb = w.action("obj", "obj", "give", "to", "none", "go")
    tense = verb.fit(w.rng.choice(("progressive", "past", "future", "perfect")))
    he = Nominal("nobody", "personne")
    en = w.lexicon.english.statement(verb.en, tense, 2)
    fr = w.group(he, verb, tense).statement(ne=True)
    return dot(seq(Pair(f"nobody {en}", f"personne {fr}"), w.complement(verb, negated=True)))


def nothing(w: Writer) -> Pair:
    """Paul bought nothing at the market."""
    verb = w.lexicon.verb[w.rng.choice(("eat", "drink", "buy", "sell", "see", "hear", "find", "break", "forget"))]
    subject, tense = w.subject(verb), verb.fit(w.rng.choice(("progressive", "past", "future")))
    en = w.lexicon.english.statement(verb.en, tense, subject.slot)
    clause = Pair(f"{subject.en} {en} nothing", f"{subject.fr} {w.group(subject, verb, tense).statement('rien')}")
    return dot(w.timed(seq(clause, w.place(w.of_kinds(*ACTIVITY_PLACES[verb.en]))), tense, 0.4))


def passive(w: Writer) -> Pair:
    """The door was opened by the pupil."""
    verb = w.pick([verb for verb in w.lexicon.of_frame("obj") if not verb.state and " " not in verb.en])
    noun = w.object_noun(verb)
    if noun.mass or noun.kind == "family" or verb.en in WORN or verb.en in ("count", "watch"):
        return passive(w)
    thing, agent = w.noun(noun, w.rng.choice(("the", "this")), plural=w.chance(0.3)), w.people()
    w.note("subject", agent.head, verb.en)
    tense, be_fr = w.rng.choice((("past", "perfect"), ("past" if verb.mishap else "future", "future")))
    be_fr = "perfect" if tense == "past" else be_fr
    be = {"past": "were" if thing.slot == 5 else "was", "future": "will be"}[tense]
    etre = french.predicate(w.lexicon.french, "être", be_fr, thing.agreement).statement()
    participle = w.lexicon.french.participle(verb.fr, thing.agreement)
    verb_en = w.lexicon.english.participle(verb.en)
    return dot(Pair(f"{thing.en} {be} {verb_en} by {agent.en}", f"{thing.fr} {etre} {participle} par {agent.fr}"))


# Object clitics


def modal_group(w: Writer, subject: Nominal, verb: Verb, negation: str = "") -> tuple[Pair, str]:
    """Return a subject with a modal verb that suits another verb, and the French preposition before the latter."""
    modals = MODALS
    if verb.en in SKILLS and w.chance(0.5):
        modals = SKILL_MODALS
    elif verb.en in LEISURE and w.chance(0.3):
        modals = LEISURE_MODALS
    elif verb.frame in ("obj", "none", "of") and not verb.brief and w.chance(0.3):
        modals = LASTING_MODALS
    en_modal, fr_modal, preposition = w.rng.choice(
        [m for m in modals if not negation or m[0] in NEGATED_MODALS] or MODALS[:1]
    )
    if en_modal in ("can", "must"):
        en = {"": en_modal, "not": "cannot" if en_modal == "can" else "must not"}[negation]
    else:
        en = w.lexicon.english.statement(en_modal, MODAL_TENSES.get(en_modal, "present"), subject.slot, negation)
    fr = french.predicate(w.lexicon.french, fr_modal, "present", subject.agreement).statement(NEGATIONS[negation])
    return Pair(f"{subject.en} {en}", f"{subject.fr} {fr}"), preposition


def modal(w: Writer) -> Pair:
    """We want to visit the museum."""
    verb = w.lexicon.verb[w.rng.choice(SKILLS)] if w.chance(0.2) else wanted(w)
    subject, negation = w.subject(verb), "not" if w.chance(0.3) else ""
    group, preposition = modal_group(w, subject, verb, negation)
    infinitive = Pair(verb.en, f"{preposition} {bare(verb, subject.slot)}".strip())
    return dot(seq(group, infinitive, w.complement(verb, negated=bool(negation))))
