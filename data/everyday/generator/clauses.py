"""Sentence patterns of commands, relative clauses and two clauses joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from generator import french
from generator.lexicon import Verb
from generator.patterns import INDIRECT, MISHAPS, PEOPLE, action, bare, dot, wanted
from generator.phrases import EMPTY, PRONOUNS, Nominal, Pair, pronoun_for, seq
from generator.scripts import ACTIVITY_PLACES, EVERYDAY, WISHES
from generator.tables import ERRANDS
from generator.writer import Writer

HELPERS = ("obj", "obj", "obj", "of", "give", "go", "to", "refl", "none")


class Feeling(NamedTuple):
    """How one feels: an adjective with its French genders, or a noun after "avoir", and what one does then."""

    en: str
    masculine: str
    feminine: str
    verbs: tuple[str, ...]

    @property
    def noun(self) -> bool:
        """Whether French says it with "avoir" ("avoir faim")."""
        return not self.feminine


FEELINGS = (
    Feeling("tired", "fatigué", "fatiguée", ("rest", "sit down", "go to bed", "fall asleep", "sleep", "stay")),
    Feeling("sick", "malade", "malade", ("stay", "rest", "cough", "complain", "go to bed", "sleep")),
    Feeling("happy", "heureux", "heureuse", ("laugh", "smile", "sing", "dance", "whistle", "thank", "congratulate")),
    Feeling("sad", "triste", "triste", ("cry", "stay", "get bored", "write to", "leave")),
    Feeling("angry", "furieux", "furieuse", ("shout", "complain", "leave", "break", "refuse", "shout")),
    Feeling("late", "en retard", "en retard", ("hurry", "run", "get dressed", "call", "phone", "take", "forget")),
    Feeling("nervous", "nerveux", "nerveuse", ("make a mistake", "forget", "lose", "shout", "cry", "repeat")),
    Feeling("ready", "prêt", "prête", ("smile", "begin", "wait", "call")),
    Feeling("worried", "inquiet", "inquiète", ("wait", "phone", "call", "talk to", "write to", "talk to")),
    Feeling("alone", "seul", "seule", ("get bored", "cry", "phone", "call", "cook", "talk to")),
    Feeling("hungry", "faim", "", ("eat", "order", "prepare", "buy", "cook", "eat")),
    Feeling("thirsty", "soif", "", ("drink", "drink", "buy", "order")),
    Feeling("cold", "froid", "", ("put on", "close", "wear", "cough", "sneeze", "run", "put on")),
    Feeling("hot", "chaud", "", ("take off", "swim", "drink", "come out of", "rest")),
    Feeling("sleepy", "sommeil", "", ("go to bed", "fall asleep", "rest", "sleep", "stay")),
)
BE = {"present": "present", "past": "imperfect", "future": "future"}
# What one would need in order to do something: a thing said outright or kinds of nouns, and the verbs (any if none).
MEANS: tuple[tuple[Pair | tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...] = (
    (Pair("more time", "plus de temps"), (), ()),
    (Pair("more courage", "plus de courage"), ("talk to", "answer", "leave", "travel", "call", "sing", "write to"), ()),
    (
        Pair("a lot of money", "beaucoup d'argent"),
        ("buy", "rent"),
        ("house", "car", "boat", "flat"),
    ),
    (Pair("a lot of money", "beaucoup d'argent"), ("offer",), ("gift", "ring", "watch")),
    (("car", "bicycle", "motorbike"), ("go", "go back"), ()),
    (("car", "boat", "suitcase"), ("travel",), ()),
    (("hammer", "saw", "ladder", "tool"), ("repair",), ("door", "roof", "furniture", "wall")),
    (("pen", "pencil", "computer"), ("write", "write to"), ()),
    (("computer", "dictionary"), ("translate",), ()),
    (("pen", "pencil"), ("draw",), ()),
    (("camera",), ("photograph",), ()),
    (("oven", "saucepan"), ("prepare", "cook"), ("dish", "soup")),
    (("dog", "cat"), ("take care of", "feed"), ("dog", "cat")),
    (("umbrella", "raincoat"), ("go for a walk", "go"), ()),
)


def be(w: Writer, subject: Nominal, tense: str = "present", negation: str = "") -> Pair:
    """Return a subject with "to be"; the English past "was" is an imparfait."""
    en = w.lexicon.english.statement("be", tense, subject.slot, "not" if negation else "")
    fr = french.predicate(w.lexicon.french, "être", BE[tense], subject.agreement).statement(negation)
    return Pair(f"{subject.en} {en}", f"{subject.fr} {fr}")


def state(w: Writer, subject: Nominal, tense: str = "present", feeling: Feeling | None = None) -> Pair:
    """Return a clause about how somebody feels ("she is tired", "he is hungry")."""
    feeling = feeling or w.pick(FEELINGS)
    if feeling.noun:
        avoir = french.predicate(w.lexicon.french, "avoir", BE[tense], subject.agreement).statement()
        be_en = w.lexicon.english.statement("be", tense, subject.slot)
        return Pair(f"{subject.en} {be_en} {feeling.en}", f"{subject.fr} {avoir} {feeling.masculine}")
    form = feeling.masculine
    if feeling.en != "late":
        form = french.agree(feeling.masculine, feeling.feminine, subject.agreement)
    return seq(be(w, subject, tense), Pair(feeling.en, form))


def reaction(w: Writer, subject: Nominal, tense: str, feeling: Feeling) -> Pair:
    """Return a clause about what somebody does because of a feeling, the food or drink fitting it."""
    verbs = [w.lexicon.verb[name] for name in feeling.verbs]
    verb = w.rng.choice([verb for verb in verbs if not (verb.brief and tense in ("progressive", "present"))])
    if subject.head:
        w.note("subject", subject.head, verb.en)
    kinds: tuple[str, ...] = ()
    if verb.frame == "obj":
        kinds = WISHES.get((feeling.en, verb.en)) or WISHES.get((feeling.en, ""), ())
    elif verb.frame == "stay":
        kinds = ("house", "flat", "bedroom", "living room")
    return w.clause(subject, verb, tense, w.complement(verb, kinds=kinds))


def simple(w: Writer, subject: Nominal, tense: str, names: Sequence[str] = EVERYDAY) -> Pair:
    """Return a short clause of one of some verbs for a given subject and tense."""
    lasting = tense in ("progressive", "continuous")
    verb = w.pick([verb for verb in map(w.lexicon.verb.__getitem__, names) if not (lasting and verb.brief)])
    if subject.head:
        w.note("subject", subject.head, verb.en)
    return w.clause(subject, verb, verb.fit(tense), w.complement(verb))


def errand(w: Writer) -> tuple[Pair, Pair, Verb]:
    """Return a place to go to, what one does there (the complement), and its verb."""
    places, name, kinds = w.pick(ERRANDS)
    verb, place = w.lexicon.verb[name], w.of_kinds(*places)
    w.note("object", "go", place.en)
    return w.place(place, goal=True), w.complement(verb, kinds=kinds) if kinds else EMPTY, verb


def anybody(w: Writer) -> Nominal:
    """Choose a subject, pronoun or not."""
    return w.rng.choice(PRONOUNS) if w.chance(0.4) else w.people()


def clause_subjects(w: Writer) -> tuple[Nominal, Nominal]:
    """Choose the subjects of two clauses: the same person twice, or two different ones."""
    first = anybody(w)
    if w.chance(0.5):
        return first, pronoun_for(first)
    other = w.rng.choice((PRONOUNS[0], PRONOUNS[4])) if first in PRONOUNS or w.chance(0.6) else w.people()
    return first, other


# Commands


def ordered(w: Writer, verb: Verb, slot: int) -> str:
    """Return the French imperative of a verb ("levez-vous")."""
    reflexive, infinitive, extra = french.split_verb(verb.fr)
    form = w.lexicon.french.imperative(infinitive, slot) + (f"-{french.REFLEXIVE[slot]}" if reflexive else "")
    return " ".join((form, *extra))


def command(w: Writer) -> Pair:
    """Open the window, please."""
    verb = wanted(w, *HELPERS)
    polite = Pair(", please", ", s'il vous plaît") if w.chance(0.5) else Pair("", "")
    pair = seq(Pair(verb.en, ordered(w, verb, 4)), w.complement(verb))
    return dot(Pair(pair.en + polite.en, pair.fr + polite.fr))


def forbidden(w: Writer) -> Pair:
    """Don't touch the painting!"""
    verb = wanted(w, *HELPERS) if w.chance(0.7) else w.lexicon.verb[w.rng.choice(MISHAPS)]
    reflexive, infinitive, extra = french.split_verb(verb.fr)
    words = ("ne", *(["vous"] if reflexive else []), w.lexicon.french.imperative(infinitive, 4), "pas", *extra)
    return dot(seq(Pair(f"don't {verb.en}", " ".join(words)), w.complement(verb, negated=True)), "!")


def let_us(w: Writer) -> Pair:
    """Let's go to the beach!"""
    verb = wanted(w, *HELPERS)
    return dot(seq(Pair(f"let's {verb.en}", ordered(w, verb, 3)), w.complement(verb)), "!")


def command_it(w: Writer) -> Pair:
    """This is the pen. Give it to me, please."""
    verb = w.verb("give")
    noun = w.object_noun(verb)
    thing = w.noun(noun, "the", plural=not noun.mass and w.chance(0.3))
    en, clitic, _ = w.rng.choice([d for d in INDIRECT if d[0] != "you"])
    clitic = "moi" if en == "me" else clitic
    lead = Pair("here are", "voici") if thing.slot == 5 else Pair("here is", "voici")
    order = f"{w.lexicon.french.imperative(verb.fr, 4)}-{thing.clitic}-{clitic}"
    polite = w.rng.choice((Pair("", ""), Pair(", please", ", s'il vous plaît")))
    return seq(
        dot(seq(lead, thing.pair)), dot(Pair(f"{verb.en} {thing.en_pronoun} to {en}{polite.en}", order + polite.fr))
    )


def two_commands(w: Writer) -> Pair:
    """Wash the plate and put it on the table."""
    verb = w.lexicon.verb[w.rng.choice(("wash", "take", "buy", "choose", "find", "look for", "borrow", "hide", "open"))]
    noun = w.object_noun(verb)
    if noun.kind in PEOPLE:
        return command(w)
    thing = w.noun(noun, "the", plural=not noun.mass and w.chance(0.3))
    second = w.lexicon.verb[w.rng.choice(("show", "give", "bring", "send"))]
    if verb.en == "open" or noun not in w.lexicon.of_kinds(second.objects):
        return command_it(w)
    person = w.receiver()
    first = seq(Pair(verb.en, ordered(w, verb, 4)), thing.pair)
    order = f"{w.lexicon.french.imperative(second.fr, 4)}-{thing.clitic} {french.a(person.fr)}"
    return dot(seq(first, Pair("and", "et"), Pair(f"{second.en} {thing.en_pronoun} to {person.en}", order)))


# Relative clauses


def relative_subject(w: Writer) -> Pair:
    """The woman who sells flowers is my aunt."""
    noun = w.of_kinds("human", "profession")
    person = w.noun(noun, "the")
    verb = action(w)
    tense = verb.fit(w.rng.choice(("progressive", "past", "past")))
    w.note("subject", noun.en, verb.en)
    clause = w.clause(Nominal("who", "qui", person.agreement), verb, tense, w.complement(verb))
    if w.chance(0.5) and noun.en not in ("king", "queen", "prince", "princess", "hero"):
        young = ("son", "daughter", "nephew", "niece", "brother", "sister", "cousin")
        kinds = young if noun.en in ("child", "girl", "boy", "pupil") else ("family",)
        relation = w.pick([n for n in w.lexicon.of_kinds(kinds) if n.feminine == noun.feminine])
        owned = w.noun(relation, w.rng.choice(("my", "your", "our")))
        end = Pair(f"is {owned.en}", f"est {owned.fr}")
    else:
        adjective = w.adjective(noun, attributive=False)
        if adjective is None:
            return relative_place(w)
        w.note("adjective", adjective.en, noun.en)
        end = Pair(f"is {adjective.en}", f"est {w.adjective_form(adjective, person.agreement)}")
    return dot(seq(person.pair, clause, end))


def relative_object(w: Writer) -> Pair:
    """The cake that Marie made was delicious."""
    verb = w.action("obj")
    noun = w.object_noun(verb)
    adjective = w.adjective(noun, attributive=False)
    if adjective is None or noun.kind in PEOPLE:
        return relative_subject(w)
    w.note("adjective", adjective.en, noun.en)
    thing = w.noun(noun, "the", plural=not noun.mass and w.chance(0.35))
    tense = verb.fit(w.rng.choice(("past", "past", "progressive")))
    subject = w.subject(verb, pronouns=0.45)
    clause = w.clause(subject, verb, tense, agreement=thing.agreement)
    end = be(w, Nominal("", "", thing.agreement), "past" if tense == "past" and w.chance(0.5) else "present")
    form = w.adjective_form(adjective, thing.agreement)
    return dot(seq(thing.pair, Pair(f"that {clause.en}{end.en}", f"que {clause.fr}{end.fr}"), Pair(adjective.en, form)))


def relative_place(w: Writer) -> Pair:
    """The village where my uncle lives is quiet."""
    name = w.rng.choice(("live", "live", "work", "work", "eat", "sleep", "wait", "study", "rest"))
    verb, noun = w.lexicon.verb[name], w.of_kinds(*ACTIVITY_PLACES[name])
    adjective = w.adjective(noun, attributive=False)
    if adjective is None:
        return relative_subject(w)
    w.note("adjective", adjective.en, noun.en)
    place = w.noun(noun, "the")
    clause = w.clause(w.rng.choice(PRONOUNS) if w.chance(0.4) else w.people(), verb, "present")
    end = Pair(f"is {adjective.en}", f"est {w.adjective_form(adjective, place.agreement)}")
    return dot(seq(place.pair, Pair(f"where {clause.en}", f"où {clause.fr}"), end))


def this_is_relative(w: Writer) -> Pair:
    """This is the book that I bought yesterday."""
    verb = w.action("obj")
    noun = w.object_noun(verb)
    if noun.kind == "family":
        return relative_subject(w)
    thing = w.noun(noun, "the", plural=not noun.mass and w.chance(0.3))
    tense = verb.fit(w.rng.choice(("past", "going", "future")))
    clause = w.clause(w.subject(verb, pronouns=0.5), verb, tense, agreement=thing.agreement)
    relative = "who" if noun.kind in ("human", "profession") else "that"
    lead = Pair("these are", "ce sont") if thing.slot == 5 else Pair("this is", "ce est")
    clause = Pair(f"{relative} {clause.en}", f"que {clause.fr}")
    return dot(seq(lead, thing.pair, clause, w.time(tense) if w.chance(0.5) else EMPTY))


# Two clauses


def wish(w: Writer) -> Pair:
    """I would like to visit the castle."""
    verb = wanted(w)
    subject = w.subject(verb, pronouns=0.7)
    fr = w.lexicon.french.finite("vouloir", "conditional", subject.slot)
    pair = Pair(f"{subject.en} would like to {verb.en}", f"{subject.fr} {fr} {bare(verb, subject.slot)}")
    return dot(seq(pair, w.complement(verb)))


def just_done(w: Writer) -> Pair:
    """The plumber has just repaired the oven."""
    verb = w.action("obj", "obj", "go", "stay", "none", "give", "refl")
    subject = w.subject(verb)
    en = f"{'has' if subject.slot == 2 else 'have'} just {w.lexicon.english.participle(verb.en)}"
    fr = f"{w.lexicon.french.finite('venir', 'present', subject.slot)} de {bare(verb, subject.slot)}"
    return dot(seq(subject.pair, Pair(en, fr), w.complement(verb)))


def already(w: Writer) -> Pair:
    """Emma has already read this novel."""
    verb = w.action("obj", "obj", "to", "go", "give")
    subject, adverb = w.subject(verb), Pair("already", "déjà")
    return dot(w.clause(subject, verb, "perfect", w.complement(verb), adverb=adverb))


def busy(w: Writer) -> Pair:
    """The children are in the middle of eating the cake."""
    verb = w.action("obj", "none", "of", "refl", lasting=True)
    if verb.en in ("hold", "wear", "keep", "get bored", "carry", "protect", "follow", "run away", "get angry", "see"):
        return busy(w)
    subject = w.subject(verb)
    en, fr = be(w, subject, w.rng.choice(("present", "past")))
    phrase = Pair(
        f"{en} in the middle of {w.lexicon.english.ing(verb.en)}", f"{fr} en train de {bare(verb, subject.slot)}"
    )
    return dot(seq(phrase, w.complement(verb)))
