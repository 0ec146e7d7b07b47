"""Sentence patterns of commands, relative clauses and two clauses joined."""

from __future__ import annotations

from typing import NamedTuple

from translate.data import everyday_french as french
from translate.data.everyday_grammar import INDIRECT, MISHAPS, action, bare, dot, wanted
from translate.data.everyday_lexicon import Verb
from translate.data.everyday_tables import ERRANDS
from translate.data.everyday_writer import EMPTY, PRONOUNS, Nominal, Pair, Writer, pronoun_for, seq

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
    Feeling("angry", "furieux", "furieuse", ("shout", "complain", "leave", "break", "refuse", "run away")),
    Feeling("late", "en retard", "en retard", ("hurry", "run", "get dressed", "call", "phone", "take", "forget")),
    Feeling("nervous", "nerveux", "nerveuse", ("make a mistake", "forget", "lose", "shout", "get lost", "repeat")),
    Feeling("ready", "prêt", "prête", ("smile", "begin", "come out of", "wait", "call")),
    Feeling("worried", "inquiet", "inquiète", ("wait", "phone", "call", "look for", "talk to", "write to", "get up")),
    Feeling("alone", "seul", "seule", ("get bored", "cry", "phone", "call", "cook", "talk to")),
    Feeling("hungry", "faim", "", ("eat", "order", "prepare", "buy", "cook", "eat")),
    Feeling("thirsty", "soif", "", ("drink", "drink", "buy", "order")),
    Feeling("cold", "froid", "", ("put on", "close", "wear", "cough", "sneeze", "run")),
    Feeling("hot", "chaud", "", ("take off", "swim", "drink", "come out of", "rest")),
    Feeling("sleepy", "sommeil", "", ("go to bed", "fall asleep", "rest", "sleep", "stay")),
)
BE = {"present": "present", "past": "imperfect", "future": "future"}
# What one would need in order to do something: a thing said outright or kinds of nouns, and the verbs (any if none).
MEANS: tuple[tuple[Pair | tuple[str, ...], tuple[str, ...]], ...] = (
    (Pair("more time", "plus de temps"), ()),
    (Pair("more courage", "plus de courage"), ()),
    (Pair("a lot of money", "beaucoup d'argent"), ("buy", "travel", "rent", "order", "build", "offer")),
    (("vehicle",), ("go", "go back", "travel")),
    (("hammer", "saw", "ladder", "tool"), ("repair", "build")),
    (("pen", "pencil", "computer"), ("write", "draw", "write to", "translate")),
    (("camera",), ("photograph",)),
    (("oven", "saucepan"), ("prepare", "cook")),
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
    verb = w.lexicon.verb[w.rng.choice(feeling.verbs)]
    if subject.head:
        w.note("subject", subject.head, verb.en)
    wishes = {"hungry": ("dish", "soup", "salad", "chicken"), "thirsty": ("drink",), "hot": ("drink",)}
    if feeling.en in wishes and verb.frame == "obj" and verb.en not in ("take off", "put on"):
        noun = w.of_kinds(*wishes[feeling.en])
        w.note("object", verb.en, noun.en)
        return w.clause(subject, verb, verb.fit(tense), w.some(noun).pair)
    return w.clause(subject, verb, verb.fit(tense), w.complement(verb))


def simple(w: Writer, subject: Nominal, tense: str, *frames: str) -> Pair:
    """Return a short clause of a random verb for a given subject and tense."""
    verb = w.action(w.rng.choice(frames or HELPERS), lasting=tense in ("progressive", "continuous"))
    if subject.head:
        w.note("subject", subject.head, verb.en)
    return w.clause(subject, verb, tense, w.complement(verb))


def anybody(w: Writer) -> Nominal:
    """Choose a subject, pronoun or not."""
    return w.rng.choice(PRONOUNS) if w.chance(0.4) else w.people()


def clause_subjects(w: Writer) -> tuple[Nominal, Nominal]:
    """Choose the subjects of two clauses: the same person twice, or two different ones."""
    first = anybody(w)
    return first, pronoun_for(first) if w.chance(0.6) else w.rng.choice((PRONOUNS[0], PRONOUNS[4], w.people()))


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
    if noun.kind in ("human", "family", "profession"):
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
    tense = verb.fit(w.rng.choice(("present", "progressive", "past", "past")))
    w.note("subject", noun.en, verb.en)
    clause = w.clause(Nominal("who", "qui", person.agreement), verb, tense, w.complement(verb))
    if w.chance(0.5):
        relation = w.pick([n for n in w.lexicon.of_kinds(("family",)) if n.feminine == noun.feminine])
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
    if adjective is None or noun.kind in ("human", "family", "profession"):
        return relative_subject(w)
    w.note("adjective", adjective.en, noun.en)
    thing = w.noun(noun, "the", plural=not noun.mass and w.chance(0.35))
    tense = verb.fit(w.rng.choice(("past", "past", "progressive", "present")))
    subject = w.subject(verb, pronouns=0.45)
    clause = w.clause(subject, verb, tense, agreement=thing.agreement)
    end = be(w, Nominal("", "", thing.agreement), "past" if tense == "past" and w.chance(0.5) else "present")
    form = w.adjective_form(adjective, thing.agreement)
    return dot(seq(thing.pair, Pair(f"that {clause.en}{end.en}", f"que {clause.fr}{end.fr}"), Pair(adjective.en, form)))


def relative_place(w: Writer) -> Pair:
    """The village where my uncle lives is quiet."""
    noun = w.of_kinds("public", "home", "room")
    adjective = w.adjective(noun, attributive=False)
    if adjective is None:
        return relative_subject(w)
    w.note("adjective", adjective.en, noun.en)
    place = w.noun(noun, "the")
    verbs = ("live", "live", "work") if noun.kind == "home" else ("work", "eat", "sleep", "wait", "study", "rest")
    verb = w.lexicon.verb[w.rng.choice(verbs)]
    clause = w.clause(w.subject(verb, pronouns=0.4), verb, "present")
    end = Pair(f"is {adjective.en}", f"est {w.adjective_form(adjective, place.agreement)}")
    return dot(seq(place.pair, Pair(f"where {clause.en}", f"où {clause.fr}"), end))


def this_is_relative(w: Writer) -> Pair:
    """This is the book that I bought yesterday."""
    verb = w.action("obj")
    noun = w.object_noun(verb)
    if noun.kind == "family":
        return relative_subject(w)
    thing = w.noun(noun, "the", plural=not noun.mass and w.chance(0.3))
    tense = w.rng.choice(("past", "going", "future"))
    clause = w.clause(w.subject(verb, pronouns=0.5), verb, tense, agreement=thing.agreement)
    relative = "who" if noun.kind in ("human", "profession") else "that"
    lead = Pair("these are", "ce sont") if thing.slot == 5 else Pair("this is", "ce est")
    clause = Pair(f"{relative} {clause.en}", f"que {clause.fr}")
    return dot(seq(lead, thing.pair, clause, w.time(tense) if w.chance(0.5) else EMPTY))


# Two clauses


def because(w: Writer) -> Pair:
    """Sophie is going to bed because she is sleepy."""
    first, feeling = anybody(w), w.pick(FEELINGS)
    tense = w.rng.choice(("past", "past", "progressive", "present"))
    reason = state(w, pronoun_for(first), "past" if tense == "past" else "present", feeling)
    return dot(seq(reaction(w, first, tense, feeling), Pair("because", "parce que"), reason))


def when_future(w: Writer) -> Pair:
    """When the guests arrive, we will open the bottle."""
    first, second = clause_subjects(w)
    verb = w.action("go", "stay", "refl", "exit")
    if first.head:
        w.note("subject", first.head, verb.en)
    tail = w.complement(verb)
    en = w.clause(first, verb, "present", tail).en
    fr = w.clause(first, verb, "future", tail).fr
    return dot(seq(Pair(f"when {en},", f"quand {fr},"), simple(w, second, "future")))


def when_past(w: Writer) -> Pair:
    """I was reading when my brother came back from the station."""
    first, second = anybody(w), w.people()
    return dot(
        seq(simple(w, first, "continuous"), Pair("when", "quand"), simple(w, second, "past", "exit", "go", "enter"))
    )


def if_real(w: Writer) -> Pair:
    """If you are hungry, you will eat a sandwich."""
    first, second = clause_subjects(w)
    if w.chance(0.6):
        feeling = w.pick(FEELINGS)
        start, end = state(w, first, feeling=feeling), reaction(w, pronoun_for(first), "future", feeling)
    else:
        start, end = simple(w, first, "present", "go", "stay", "exit", "enter"), simple(w, second, "future")
    return dot(seq(Pair(f"if {start.en},", f"si {start.fr},"), end))


def if_unreal(w: Writer) -> Pair:
    """If she had a car, she would go to the beach."""
    owner = anybody(w)
    means, verbs = w.rng.choice(MEANS)
    had = means if isinstance(means, Pair) else w.noun(w.of_kinds(*means), "a").pair
    verb = w.lexicon.verb[w.rng.choice(verbs)] if verbs else wanted(w, *HELPERS)
    avoir = w.lexicon.french.finite("avoir", "imperfect", owner.slot)
    start = Pair(f"if {owner.en} had {had.en},", f"si {owner.fr} {avoir} {had.fr},")
    return dot(seq(start, w.clause(pronoun_for(owner), verb, "conditional", w.complement(verb))))


def while_clause(w: Writer) -> Pair:
    """While the baby is sleeping, his mother is reading."""
    first, second = anybody(w), w.people()
    tense = w.rng.choice(("progressive", "continuous"))
    start = simple(w, second, tense)
    return dot(seq(Pair(f"while {start.en},", f"pendant que {start.fr},"), simple(w, first, tense)))


def but(w: Writer) -> Pair:
    """Thomas likes tea, but he prefers coffee."""
    verb = w.lexicon.verb["like"]
    subject = w.people()
    w.note("subject", subject.head, "like")
    liked = w.clause(subject, verb, "present", w.complement(verb))
    second = w.lexicon.verb[w.rng.choice(("prefer", "hate", "love"))]
    noun = w.object_noun(second)
    other = w.noun(noun, "generic", plural=not noun.mass)
    clause = w.clause(pronoun_for(subject), second, "present", other.pair)
    return dot(Pair(f"{liked.en}, but {clause.en}", f"{liked.fr}, mais {clause.fr}"))


def two_clauses(w: Writer) -> Pair:
    """Marie is cooking and Paul is reading the newspaper."""
    tense = w.rng.choice(("progressive", "past", "past", "future", "continuous", "present"))
    first, second = w.people(), anybody(w)
    link = w.rng.choice((Pair(" and", " et"), Pair(", but", ", mais")))
    start, end = simple(w, first, tense), simple(w, second, tense)
    return dot(seq(Pair(start.en + link.en, start.fr + link.fr), end))


def in_order_to(w: Writer) -> Pair:
    """Alice is going to the market in order to buy some pears."""
    places, verb_name, kinds = w.pick(ERRANDS)
    going, verb = w.lexicon.verb[w.rng.choice(("go", "go", "go back"))], w.lexicon.verb[verb_name]
    subject, tense = w.subject(going), w.rng.choice(("progressive", "past", "future", "present"))
    place = w.of_kinds(*places)
    w.note("object", going.en, place.en)
    goal = Pair(f"in order to {verb.en}", f"pour {bare(verb, subject.slot)}")
    end = EMPTY
    if kinds:
        noun = w.of_kinds(*kinds)
        w.note("object", verb.en, noun.en)
        end = w.some(noun).pair
    return dot(seq(w.clause(subject, going, tense, w.place(place, goal=True)), goal, end))


def before_doing(w: Writer) -> Pair:
    """Before going to bed, Paul reads a book."""
    verb = action(w)
    subject, tense = anybody(w), w.rng.choice(("present", "past", "future"))
    lead = seq(
        Pair(f"before {w.lexicon.english.ing(verb.en)}", f"avant de {bare(verb, subject.slot)}"), w.complement(verb)
    )
    return dot(seq(Pair(f"{lead.en},", f"{lead.fr},"), simple(w, subject, tense)))


def after_doing(w: Writer) -> Pair:
    """After eating the soup, Louise washed the plates."""
    verb = action(w)
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
    subject, verb = anybody(w), wanted(w, "obj", "to", "none")
    first = simple(w, subject, w.rng.choice(("past", "future")), "go", "exit", "obj")
    infinitive = Pair(f"without {w.lexicon.english.ing(verb.en)}", f"sans {bare(verb, subject.slot)}")
    return dot(seq(first, infinitive, w.complement(verb, negated=True)))


def reported(w: Writer) -> Pair:
    """My father says that the train is late."""
    en, fr, tenses = w.rng.choice(
        (
            ("say", "dire", ("present", "past", "future", "progressive")),
            ("think", "penser", ("present", "future", "progressive")),
            ("know", "savoir", ("present", "past", "future")),
            ("hope", "espérer", ("future",)),
            ("believe", "croire", ("present", "past", "future")),
        )
    )
    speaker = anybody(w)
    head = Pair(
        w.lexicon.english.statement(en, "present", speaker.slot), w.lexicon.french.finite(fr, "present", speaker.slot)
    )
    tense = w.rng.choice(tenses)
    second = pronoun_for(speaker) if w.chance(0.3) else anybody(w)
    return dot(seq(speaker.pair, head, Pair("that", "que"), simple(w, second, tense)))


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
    subject = w.subject(verb)
    en, fr = be(w, subject, w.rng.choice(("present", "past")))
    phrase = Pair(
        f"{en} in the middle of {w.lexicon.english.ing(verb.en)}", f"{fr} en train de {bare(verb, subject.slot)}"
    )
    return dot(seq(phrase, w.complement(verb)))
