"""Sentence patterns of daily facts: people and their work, weather, travel, languages, food and health."""

from __future__ import annotations

from generator import english, french
from generator.clauses import be, state
from generator.french import Agreement, number_word
from generator.lexicon import Country
from generator.patterns import dot
from generator.phrases import EMPTY, HE, PRONOUNS, SHE, Nominal, Pair, seq
from generator.scenes import avoir
from generator.scripts import DIETS, RAINY, SUNNY
from generator.tables import FAR, HOW_TO_GO, MEASURES, WEATHER, WEATHER_TIMES
from generator.writer import Writer


def person(w: Writer) -> Nominal:
    """Choose a pronoun, a name or a relative whose gender shows in English."""
    if w.chance(0.3):
        return w.rng.choice((PRONOUNS[0], HE, SHE, SHE))
    return (
        w.name() if w.chance(0.6) else w.noun(w.of_kinds("family"), w.rng.choice(("my", "your", "our", "his", "her")))
    )


def profession(w: Writer) -> Pair:
    """My aunt is a nurse."""
    who, job = person(w), w.pick(w.lexicon.professions)
    name, form = job.of(who.agreement.feminine)
    draw = w.rng.random()
    an = english.article(name)
    if draw < 0.35:
        return dot(seq(be(w, who), Pair(an, form)))
    if draw < 0.5:
        return dot(seq(be(w, who, "past"), Pair(an, form), place_of_work(w)))
    if draw < 0.65:
        return dot(seq(be(w, who, negation="pas"), Pair(an, form)))
    en = w.lexicon.english.statement("want", "present", who.slot)
    if draw < 0.85:
        fr = w.lexicon.french.finite("vouloir", "present", who.slot)
        return dot(seq(who.pair, Pair(f"{en} to become {an}", f"{fr} devenir {form}")))
    fr = w.lexicon.french.finite("devenir", "future", who.slot)
    return dot(seq(who.pair, Pair(f"will become {an}", f"{fr} {form}")))


def place_of_work(w: Writer) -> Pair:
    """Return a city with "in"."""
    en, fr = w.pick(w.lexicon.cities)
    return Pair(f"in {en}", f"à {fr}")


def weather(w: Writer) -> Pair:
    """It was raining in Geneva yesterday."""
    tense = w.rng.choice((0, 1, 2))
    where = country_place(w) if w.chance(0.4) else place_of_work(w)
    return dot(seq(w.rng.choice(WEATHER)[tense], where, w.rng.choice(WEATHER_TIMES[tense])))


def if_weather(w: Writer) -> Pair:
    """If it rains tomorrow, we will stay in the house."""
    good, bad = (
        [Pair("the weather is nice", "il fait beau"), Pair("it is hot", "il fait chaud")],
        [Pair("it rains", "il pleut")],
    )
    bad += [
        Pair("it snows", "il neige"),
        Pair("it is cold", "il fait froid"),
        Pair("the weather is bad", "il fait mauvais"),
    ]
    starts, deeds = w.rng.choice(((good, SUNNY), (bad, RAINY)))
    start = w.rng.choice(starts)
    day = w.rng.choice((Pair("tomorrow", "demain"), Pair("on Sunday", "dimanche"), Pair("on Saturday", "samedi")))
    name, kinds = w.pick(deeds)
    verb = w.lexicon.verb[name]
    subject = w.rng.choice(PRONOUNS) if w.chance(0.4) else w.people()
    clause = w.clause(subject, verb, "future", w.complement(verb, kinds=kinds) if kinds else EMPTY)
    return dot(seq(Pair(f"if {start.en} {day.en},", f"si {start.fr} {day.fr},"), clause))


def country_place(w: Writer) -> Pair:
    """Return a country with "in"."""
    country = w.pick(w.lexicon.countries)
    return Pair(f"in {country.en}", country.where)


def travel(w: Writer) -> Pair:
    """My cousin will go to Japan by plane next year."""
    verb, who = w.lexicon.verb["go"], w.rng.choice(PRONOUNS) if w.chance(0.3) else w.people()
    tense = w.rng.choice(("past", "future", "going"))
    if w.chance(0.5):
        country = w.pick(w.lexicon.countries)
        name, goal = country.en, Pair(f"to {country.en}", country.where)
    else:
        name, fr = w.pick(w.lexicon.cities)
        goal = Pair(f"to {name}", f"à {fr}")
    how = w.rng.choice((EMPTY, HOW_TO_GO[3] if name in FAR else w.rng.choice(HOW_TO_GO[:4])))
    return dot(w.timed(seq(w.clause(who, verb, tense, goal), how), tense, 0.7))


def by_vehicle(w: Writer) -> Pair:
    """I go to the office by bicycle every day."""
    verb, how = w.lexicon.verb["go"], w.rng.choice([h for h in HOW_TO_GO if h.en != "by plane"])
    subject, tense = w.subject(verb), w.rng.choice(("present", "past", "future", "used"))
    goal = w.place(w.of_kinds("public"), goal=True)
    return dot(w.timed(seq(w.clause(subject, verb, tense, goal), how), tense, 0.5))


def living(w: Writer) -> Pair:
    """Olivier has been living in Portugal for two years."""
    who = person(w)
    en, fr = w.pick(w.lexicon.cities)
    where = country_place(w) if w.chance(0.6) else Pair(f"in {en}", f"à {fr}")
    verb = w.lexicon.verb["live"]
    years = w.rng.randint(2, 30)
    have = "has" if who.slot == 2 else "have"
    number = Pair(english.number_word(years), number_word(years))
    fr_group = w.group(who, verb, "present").statement()
    if w.chance(0.5):
        return dot(
            Pair(
                f"{who.en} {have} been living {where.en} for {number.en} years",
                f"{who.fr} {fr_group} {where.fr} depuis {number.fr} ans",
            )
        )
    return dot(w.clause(who, verb, w.rng.choice(("present", "used", "future")), where))


def nationality(w: Writer) -> Pair:
    """Nadia is Moroccan, but she lives in Belgium."""
    who, country, other = person(w), w.pick(w.lexicon.countries), w.pick(w.lexicon.countries)
    adjective = country.fr_feminine if who.agreement.feminine else country.fr_adjective
    first = seq(be(w, who), Pair(country.en_adjective, adjective))
    if country == other or w.chance(0.3):
        return dot(
            Pair(
                f"{who.en} {'come' if who.slot == 0 else 'comes'} from {country.en}",
                f"{who.fr} {w.lexicon.french.finite('venir', 'present', who.slot)} {country.origin}",
            )
        )
    he = who if who.slot == 0 else SHE if who.agreement.feminine else HE
    clause = w.clause(he, w.lexicon.verb["live"], "present", Pair(f"in {other.en}", other.where))
    return dot(Pair(f"{first.en}, but {clause.en}", f"{first.fr}, mais {clause.fr}"))


def language(w: Writer) -> Pair:
    """Sophie is learning Japanese at the university."""
    spoken = [
        c
        for c in w.lexicon.countries
        if c.en not in ("Canada", "Brazil", "Morocco", "Belgium", "Switzerland", "the United States", "Iran")
    ]
    country: Country = w.pick(spoken)
    who, verb = person(w), w.rng.choice(("speak", "learn"))
    fr_verb, article = ("parler", "") if verb == "speak" else ("apprendre", "le ")
    negation = "not" if w.chance(0.25) else ""
    en = w.lexicon.english.statement(verb, "present" if verb == "speak" else "progressive", who.slot, negation)
    fr = french.predicate(w.lexicon.french, fr_verb, "present", who.agreement).statement("pas" if negation else "")
    manner = w.rng.choice(
        (
            EMPTY,
            Pair("at the university", "à la université"),
            Pair("at school", "à la école"),
        )
    )
    if verb == "speak":
        manner = w.rng.choice((EMPTY, Pair("well", "bien"), Pair("very well", "très bien"), Pair("a little", "un peu")))
        if manner.en and not negation:
            said = f"{country.en_adjective} {manner.en}"
            if manner.en == "a little":
                said = f"a little {country.en_adjective}"
            pair = Pair(f"{who.en} {en} {said}", f"{who.fr} {fr} {manner.fr} {country.fr_adjective}")
            return dot(pair)
        manner = EMPTY
    return dot(
        seq(Pair(f"{who.en} {en} {country.en_adjective}", f"{who.fr} {fr} {article}{country.fr_adjective}"), manner)
    )


def ache(w: Writer) -> Pair:
    """Paul's back hurts."""
    who = w.rng.choice(PRONOUNS[:5]) if w.chance(0.4) else w.people()
    part = w.noun(w.of_kinds("body"), "the")
    owners = {"I": "my", "you": "your", "he": "his", "she": "her", "we": "our"}
    owner = owners.get(who.en) or who.en + ("'" if who.en.endswith("s") and who.slot == 5 else "'s")
    if who.slot in (3, 5):
        return dot(state(w, who))
    tense = w.rng.choice(("present", "present", "continuous"))
    verb, fr_tense = ("hurts", "present") if tense == "present" else ("was hurting", "imperfect")
    en = f"{owner} {part.en.removeprefix('the ')} {verb}"
    when = w.rng.choice((EMPTY, EMPTY, Pair("this morning", "ce matin"), Pair("today", "aujourd'hui")))
    return dot(seq(Pair(en, f"{who.fr} {avoir(w, who.slot, fr_tense)} mal {french.a(part.fr)}"), when))


def measure(w: Writer) -> Pair:
    """I would like a kilo of apples, please."""
    unit, kinds = w.rng.choice(MEASURES)
    noun = w.of_kinds(*kinds)
    food = w.noun(noun, "", plural=not noun.mass and unit.en != "a slice")
    link = Pair("", french.de(food.fr)) if unit.en == "a dozen" else Pair("of", french.de(food.fr))
    amount = Pair(" ".join(x for x in (unit.en, link.en, food.en) if x), f"{unit.fr} {link.fr}")
    draw = w.rng.random()
    if draw < 0.3:
        polite = w.rng.choice((Pair(", please", ", s'il vous plaît"), Pair("", "")))
        return dot(Pair(f"I would like {amount.en}{polite.en}", f"je voudrais {amount.fr}{polite.fr}"))
    verb = w.lexicon.verb[w.rng.choice(("buy", "order", "bring", "sell", "buy"))]
    if verb.en not in ("buy", "sell") and noun.kind == "seasoning":
        verb = w.lexicon.verb["buy"]
    subject, tense = w.subject(verb), w.rng.choice(("past", "future", "going"))
    return dot(w.timed(w.clause(subject, verb, tense, amount), tense, 0.3))


def a_lot(w: Writer) -> Pair:
    """The tourists drink too much coffee."""
    verb = w.lexicon.verb[w.rng.choice(("eat", "drink", "buy", "sell", "read", "eat", "drink", "order"))]
    noun = w.object_noun(verb)
    things = w.noun(noun, "", plural=not noun.mass)
    en, fr = w.rng.choice(
        (
            ("a lot of", "beaucoup de"),
            ("too much" if noun.mass else "too many", "trop de"),
            ("enough", "assez de"),
            ("a little" if noun.mass else "few", "un peu de" if noun.mass else "peu de"),
            ("less" if noun.mass else "fewer", "moins de"),
            ("more", "plus de"),
        )
    )
    subject, tense = w.subject(verb), w.rng.choice(("progressive", "past", "future"))
    return dot(w.clause(subject, verb, tense, Pair(f"{en} {things.en}", f"{fr} {things.fr}")))


def virtue(w: Writer) -> Pair:
    """You need patience."""
    noun = w.of_kinds("virtue")
    thing = w.noun(noun, "generic")
    who = w.rng.choice(PRONOUNS) if w.chance(0.4) else w.people()
    draw = w.rng.random()
    if draw < 0.45 and noun.en in ("courage", "patience", "luck", "money", "peace", "freedom"):
        en = w.lexicon.english.statement("need", "present", who.slot)
        return dot(Pair(f"{who.en} {en} {noun.en}", f"{who.fr} {avoir(w, who.slot)} besoin {french.de(noun.fr)}"))
    if draw < 0.65 and noun.en not in ("hatred", "money"):
        other = w.noun(w.of_kinds("virtue"), "generic")
        if other.head != noun.en:
            return dot(
                Pair(
                    f"{thing.en} is more important than {other.en}",
                    f"{thing.fr} est plus {'importante' if noun.feminine else 'important'} que {other.fr}",
                )
            )
    if draw < 0.85 and noun.en in ("courage", "patience", "luck", "money"):
        some = w.noun(noun, "some")
        en = "has" if who.slot == 2 else "have"
        return dot(Pair(f"{who.en} {en} {noun.en}", f"{who.fr} {avoir(w, who.slot)} {some.fr}"))
    en = w.lexicon.english.statement("talk about", "present", who.slot, adverb="often")
    fr = french.predicate(w.lexicon.french, "parler", "present", who.agreement).statement(adverb="souvent")
    return dot(Pair(f"{who.en} {en} {noun.en}", f"{who.fr} {fr} {french.de(thing.fr)}"))


def relative_owner(w: Writer) -> Pair:
    """Marie's brother is a dentist."""
    owner, relation = w.name(), w.of_kinds("family", "friend", "neighbour")
    thing = w.noun(relation, "the")
    lead = Pair(f"{owner.en}'s {relation.en}", f"{thing.fr} {french.de(owner.fr)}")
    job = w.pick(w.lexicon.professions)
    if w.chance(0.5):
        name, form = job.of(relation.feminine)
        return dot(seq(lead, Pair(f"is {english.article(name)}", f"est {form}")))
    verb = w.action("obj", "go", "stay", "none", "refl")
    subject = Nominal(lead.en, lead.fr, Agreement(2, relation.feminine), relation.en)
    tense = verb.fit(w.rng.choice(("progressive", "past", "past", "future", "going")))
    w.note("subject", relation.en, verb.en)
    return dot(w.timed(w.clause(subject, verb, tense, w.complement(verb)), tense, 0.3))


def animal_meal(w: Writer) -> Pair:
    """The rabbits are eating a carrot."""
    animals, name, foods = w.pick(DIETS)
    verb, animal, food = w.lexicon.verb[name], w.of_kinds(*animals), w.of_kinds(*foods)
    w.note("subject", animal.en, verb.en)
    w.noted_object(verb, food)
    subject = w.noun(animal, w.rng.choice(("the", "the", "this")), plural=w.chance(0.3))
    tense = w.rng.choice(("progressive", "past", "present", "going", "future"))
    habit = tense == "present"
    tail = w.noun(food, "some", plural=not food.mass) if habit or food.mass else w.some(food)
    negation = "not" if w.chance(0.2) and not habit else ""
    if negation:
        tail = w.noun(food, "any", plural=not food.mass)
    return dot(w.timed(w.clause(subject, verb, tense, tail.pair, negation=negation), tense, 0.4))
