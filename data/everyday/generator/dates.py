"""Sentence patterns with numbers: ages, dates, clock times, ranks and prices."""

from __future__ import annotations

from generator import english, french
from generator.clauses import be
from generator.facts import person, place_of_work
from generator.french import number_word
from generator.lexicon import Noun
from generator.patterns import dot
from generator.phrases import EMPTY, OWNERS, PRONOUNS, Nominal, Pair, seq
from generator.scenes import avoir
from generator.scripts import AGES
from generator.tables import HOURS, MONTHS, ORDINALS
from generator.writer import Writer


def age(w: Writer) -> Pair:
    """Louise is twenty-one years old."""
    who = person(w)
    years = w.rng.randint(*AGES.get(who.head, (5, 99)))
    words = Pair(english.number_word(years), number_word(years))
    numbers = Pair(str(years), str(years)) if w.chance(0.3) else words
    if w.chance(0.25):
        return dot(
            Pair(
                f"{who.en} will be {numbers.en} years old tomorrow",
                f"{who.fr} {avoir(w, who.slot, 'future')} {numbers.fr} ans demain",
            )
        )
    en = be(w, who).en
    return dot(Pair(f"{en} {numbers.en} years old", f"{who.fr} {avoir(w, who.slot)} {numbers.fr} ans"))


def date(w: Writer) -> Pair:
    """Return a date such as "on 1 May" and "le 1er mai"."""
    day, (en, fr) = w.rng.randint(1, 28), w.rng.choice(MONTHS)
    return Pair(f"on {day} {en}", f"le {'1er' if day == 1 else day} {fr}")


def born(w: Writer) -> Pair:
    """Anne was born on 3 June 1992 in Lyon."""
    who, when = person(w), date(w)
    low, high = AGES.get(who.head, (10, 85))
    year = str(2025 - w.rng.randint(low, high))
    group = french.predicate(w.lexicon.french, "naître", "perfect", who.agreement).statement()
    be_en = "was"
    where = w.rng.choice((EMPTY, place_of_work(w)))
    return dot(seq(Pair(f"{who.en} {be_en} born", f"{who.fr} {group}"), when, Pair(year, year), where))


def on_date(w: Writer) -> Pair:
    """The concert is on 1 May."""
    event = w.noun(w.of_kinds("event", "lesson", "game"), w.rng.choice(("the", "our", "this")))
    draw = w.rng.random()
    if draw < 0.3:
        return dot(seq(Pair(f"{event.en} begins", f"{event.fr} commence"), date(w)))
    if draw < 0.6:
        return dot(seq(Pair(f"{event.en} will be", f"{event.fr} aura lieu"), date(w), clock(w, True, step=15)))
    return dot(seq(Pair(f"{event.en} ends", f"{event.fr} finit"), clock(w, True, step=15)))


def clock(w: Writer, at: bool = False, hours: tuple[int, int] = (1, 11), step: int = 5) -> Pair:
    """Return a clock time, with "at" if wanted ("at half past three", "à trois heures et demie").

    Args:
        w: The writer.
        at: Whether to say "at".
        hours: The first and the last full hour.
        step: Minutes between two possible times.
    """
    hour, minute = w.rng.randint(*hours), w.rng.choice((0, *range(0, 60, step)))
    en_hour, fr_hour = HOURS[hour], number_word(hour, feminine=True) + (" heure" if hour == 1 else " heures")
    following = hour % 12 + 1
    fr_next = "midi" if following == 12 else number_word(following, feminine=True) + " heures"
    minutes = {5: "five", 10: "ten", 15: "quarter", 20: "twenty", 25: "twenty-five", 30: "half"}
    if minute == 0:
        en, fr = f"{en_hour} o'clock", fr_hour
    elif minute <= 30:
        link = {15: " et quart", 30: " et demie"}.get(minute) or f" {number_word(minute)}"
        en, fr = f"{minutes[minute]} past {en_hour}", fr_hour + link
    else:
        link = " moins le quart" if minute == 45 else f" moins {number_word(60 - minute)}"
        en, fr = f"{minutes[60 - minute]} to {HOURS[following]}", fr_next + link
    if minute in (15, 45):
        en = f"a {en}"
    return Pair(f"at {en}", f"à {fr}") if at else Pair(en, fr)


def time_now(w: Writer) -> Pair:
    """It is a quarter to nine."""
    now = clock(w)
    part = w.rng.choice((EMPTY, Pair("already", "déjà"), Pair("now", "maintenant")))
    if part.en == "already":
        return dot(Pair(f"it is already {now.en}", f"il est déjà {now.fr}"))
    return dot(seq(Pair("it is", "il est"), now, part))


def appointment(w: Writer) -> Pair:
    """The train to Lyon leaves at ten past six."""
    draw, when = w.rng.random(), clock(w, at=True)
    if draw < 0.4:
        vehicle = w.noun(w.of_kinds("bus", "train", "plane"), "the")
        en, fr = w.pick(w.lexicon.cities)
        verb = w.rng.choice((Pair("leaves", "part"), Pair("arrives", "arrive"), Pair("will leave", "partira")))
        link = Pair(f"from {en}", f"de {fr}") if verb.en == "arrives" else Pair(f"to {en}", f"pour {fr}")
        return dot(seq(vehicle.pair, link, verb, when))
    place = w.noun(
        w.of_kinds(
            "museum",
            "bank",
            "post office",
            "bakery",
            "pharmacy",
            "supermarket",
            "library",
            "market",
            "restaurant",
            "swimming pool",
            "bookshop",
            "town hall",
            "school",
            "office",
        ),
        "the",
    )
    verb, hours = w.rng.choice(((Pair("opens", "ouvre"), (7, 10)), (Pair("closes", "ferme"), (4, 8))))
    when = clock(w, True, hours, 15)
    return dot(
        seq(
            place.pair,
            verb,
            when,
            w.rng.choice((EMPTY, Pair("on Mondays", "le lundi"), Pair("on Saturdays", "le samedi"))),
        )
    )


def routine(w: Writer) -> Pair:
    """Every morning, I get up at seven o'clock."""
    hours = {
        "get up": (5, 9),
        "wake up": (5, 9),
        "get dressed": (6, 9),
        "go to bed": (8, 11),
        "fall asleep": (8, 11),
        "go for a walk": (2, 7),
    }
    verb = w.lexicon.verb[w.rng.choice(tuple(hours))]
    subject, tense = w.subject(verb), w.rng.choice(("present", "past", "future"))
    return dot(seq(w.clause(subject, verb, tense), clock(w, True, hours[verb.en])))


def ordinal(w: Writer) -> Pair:
    """Marie lives on the third floor."""
    rank, draw = w.rng.choice(ORDINALS), w.rng.random()
    if draw < 0.35:
        who = w.rng.choice(PRONOUNS) if w.chance(0.3) else w.people()
        verb = w.lexicon.verb[w.rng.choice(("live", "work"))]
        floor = Pair(f"on the {rank[0]} floor", f"au {rank[1]} étage")
        return dot(w.clause(who, verb, w.rng.choice(("present", "used")), floor))
    if draw < 0.65:
        noun = w.of_kinds("exercise", "lesson", "novel", "book", "film", "exam", "trip", "letter", "house", "car")
        owner = w.rng.choice(("the", "my", "your", "his", "her", "our", "their"))
        lead = w.rng.choice((Pair("this is", "ce est"), Pair("this was", "ce était")))
        return dot(seq(lead, _ranked(noun, owner, rank).pair))
    noun = w.of_kinds("exercise", "lesson", "question", "answer", "novel", "film", "house", "door", "street", "word")
    adjective = w.adjective(noun, attributive=False)
    if adjective is None:
        return ordinal(w)
    w.note("adjective", adjective.en, noun.en)
    thing = _ranked(noun, "the", rank)
    form = w.adjective_form(adjective, thing.agreement)
    return dot(seq(be(w, thing, w.rng.choice(("present", "past"))), Pair(adjective.en, form)))


def _ranked(noun: Noun, owner: str, rank: tuple[str, str, str]) -> Nominal:
    agreement = french.Agreement(2, noun.feminine)
    fr = rank[2] if noun.feminine else rank[1]
    kind = "the" if owner == "the" else f"possessive{dict(OWNERS)[owner]}"
    determiner = french.determiner(kind, agreement, fr)
    return Nominal(f"{owner} {rank[0]} {noun.en}", f"{determiner} {fr} {noun.fr}", agreement, noun.en)


def price(w: Writer) -> Pair:
    """The cherries cost five euros a kilo."""
    noun = w.of_kinds("goods", "countable_food", "text", "bread", "cheese", "meat", "fish", "ham", "coffee")
    if noun.en not in w.lexicon.prices or w.chance(0.2):
        if noun.kind == "text" and noun.en not in w.lexicon.prices:
            return price(w)
        thing = w.noun(noun, w.rng.choice(("the", "this")), plural=noun.kind == "footwear")
        do, fr = ("do", "coûtent") if thing.slot == 5 else ("does", "coûte")
        return dot(Pair(f"how much {do} {thing.en} cost", f"combien {fr} {thing.fr}"), "?")
    low, high, kilo = w.lexicon.prices[noun.en]
    plural = not noun.mass and (kilo or noun.kind == "footwear" or w.chance(0.2))
    thing = w.noun(noun, w.rng.choice(("the", "this")), plural=plural)
    verb = Pair("cost", "coûtent") if thing.slot == 5 else Pair("costs", "coûte")
    amount = w.rng.randint(low, high)
    if amount > 100:
        amount -= amount % 5
    words = Pair(str(amount), str(amount)) if w.chance(0.35) else Pair(english.number_word(amount), number_word(amount))
    unit = Pair("a kilo", "le kilo") if kilo else EMPTY
    return dot(seq(thing.pair, verb, words, Pair("euros", "euros"), unit))
