"""Sentence patterns of questions."""

from __future__ import annotations

from generator import french
from generator.lexicon import Verb
from generator.patterns import ALL, PEOPLE, action, current, dot, wanted
from generator.phrases import EMPTY, PRONOUNS, Nominal, Pair, seq
from generator.scripts import MANNERED
from generator.writer import Writer


def asked(w: Writer, verb: Verb, pronouns: float = 0.35) -> Nominal:
    """Choose a subject to ask about: anybody but oneself."""
    subject = w.subject(verb, pronouns)
    return PRONOUNS[1] if subject == PRONOUNS[0] else subject


def ask(w: Writer, verb: Verb, tense: str, subject: Nominal) -> tuple[str, str]:
    """Return the English question order and the French statement order of a clause without its complement."""
    auxiliary, main, _ = w.lexicon.english.parts(verb.en, tense, subject.slot)
    en = " ".join(word for word in (auxiliary, subject.en, main) if word)
    return en, f"{subject.fr} {w.group(subject, verb, tense).statement()}"


def yes_no(w: Writer) -> Pair:
    """Does Marie like oranges?"""
    verb = w.verb(w.rng.choice(ALL))
    tense = "present" if verb.state else verb.fit(w.rng.choice(("progressive", "past", "going", "perfect")))
    en, fr = ask(w, verb, tense, asked(w, verb))
    time = w.time(tense) if w.chance(0.3) and not verb.state else EMPTY
    return dot(seq(Pair(en, f"est-ce que {fr}"), w.complement(verb), time), "?")


def inverted(w: Writer) -> Pair:
    """Will he finish the book tomorrow?"""
    verb, tense = wanted(w), "future"
    subject = w.rng.choice(PRONOUNS[1:])
    auxiliary, main, _ = w.lexicon.english.parts(verb.en, tense, subject.slot)
    fr = w.group(subject, verb, tense).inverted(subject.fr)
    tail = w.complement(verb)
    return dot(seq(Pair(f"{auxiliary} {subject.en} {main}", fr), tail, w.time(tense) if w.chance(0.4) else EMPTY), "?")


def wh_adverb(w: Writer) -> Pair:
    """Why is the baby crying?"""
    word = w.rng.choice((Pair("why", "pourquoi"), Pair("when", "quand"), Pair("how", "comment")))
    verb = w.action("none", "refl", "go", "obj", "give")
    if word.en == "how":
        verb = w.lexicon.verb[w.rng.choice(MANNERED)]
    tense = verb.fit(w.rng.choice(("past", "future") if word.en != "why" else ("past", "progressive", "going")))
    subject = asked(w, verb, 0.5)
    en, fr = ask(w, verb, tense, subject)
    if subject in PRONOUNS[1:]:
        group = w.group(subject, verb, tense).inverted(subject.fr)
        return dot(seq(Pair(f"{word.en} {en}", f"{word.fr} {group}"), w.complement(verb)), "?")
    return dot(seq(Pair(f"{word.en} {en}", f"{word.fr} est-ce que {fr}"), w.complement(verb)), "?")


def where(w: Writer) -> Pair:
    """Where did Paul buy the shoes?"""
    verb = w.lexicon.verb[
        w.rng.choice(
            (
                "buy",
                "live",
                "work",
                "find",
                "lose",
                "hide",
                "sleep",
                "go",
                "eat",
                "see",
                "park",
                "meet",
                "rest",
                "swim",
                "wait",
                "run",
                "take",
                "plant",
                "study",
            )
        )
    ]
    tense = "present" if verb.state else verb.fit(w.rng.choice(("past", "past", "going", "future")))
    subject = asked(w, verb, 0.5)
    en, fr = ask(w, verb, tense, subject)
    tail = w.object(verb).pair if verb.frame == "obj" else EMPTY
    if subject in PRONOUNS[1:]:
        return dot(seq(Pair(f"where {en}", f"où {w.group(subject, verb, tense).inverted(subject.fr)}"), tail), "?")
    return dot(seq(Pair(f"where {en}", f"où est-ce que {fr}"), tail), "?")


def who(w: Writer) -> Pair:
    """Who broke the window?"""
    verb = action(w)
    tense = current(verb, w.rng.choice(("present", "progressive", "past", "future", "going")))
    return dot(w.clause(Nominal("who", "qui"), verb, tense, w.complement(verb)), "?")


def what(w: Writer) -> Pair:
    """What is Paul drinking?"""
    verb = w.pick([v for v in w.lexicon.of_frame("obj") if not v.state and not PEOPLE & set(v.objects)])
    tense = verb.fit(w.rng.choice(("progressive", "progressive", "past", "going")))
    en, fr = ask(w, verb, tense, asked(w, verb))
    return dot(seq(Pair(f"what {en}", f"qu'est-ce que {fr}"), w.time(tense) if w.chance(0.6) else EMPTY), "?")


def which(w: Writer) -> Pair:
    """Which books did you read?"""
    verb = w.action("obj")
    subject, tense = asked(w, verb), verb.fit(w.rng.choice(("progressive", "past", "going", "future")))
    noun = w.object_noun(verb)
    thing = w.noun(noun, "", plural=not noun.mass and w.chance(0.3))
    auxiliary, main, _ = w.lexicon.english.parts(verb.en, tense, subject.slot)
    quel = french.agree("quel", "quelle", thing.agreement)
    group = w.group(subject, verb, tense, agreement=thing.agreement).statement()
    return dot(
        Pair(f"which {thing.en} {auxiliary} {subject.en} {main}", f"{quel} {thing.fr} est-ce que {subject.fr} {group}"),
        "?",
    )


def how_many(w: Writer) -> Pair:
    """How many apples did Marie buy?"""
    verb = w.action("obj")
    noun, subject, tense = w.object_noun(verb), asked(w, verb), verb.fit(w.rng.choice(("past", "past", "going")))
    thing = w.noun(noun, "", plural=not noun.mass)
    auxiliary, main, _ = w.lexicon.english.parts(verb.en, tense, subject.slot)
    group = w.group(subject, verb, tense, agreement=thing.agreement).statement()
    return dot(
        Pair(
            f"how {'much' if noun.mass else 'many'} {thing.en} {auxiliary} {subject.en} {main}",
            f"combien {french.de(thing.fr)} est-ce que {subject.fr} {group}",
        ),
        "?",
    )
