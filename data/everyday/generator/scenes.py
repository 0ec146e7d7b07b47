"""Sentence patterns of description and daily facts: being, having, comparing, time, weather, prices, places."""

from __future__ import annotations

from generator import english, french
from generator.clauses import be, state
from generator.french import Agreement
from generator.lexicon import Adjective, Noun
from generator.patterns import dot
from generator.phrases import EMPTY, PRONOUNS, Nominal, Pair, seq
from generator.scripts import ANIMAL_SIZES, OWNABLE, STORES
from generator.writer import Writer

COLOURS = frozenset(["red", "blue", "green", "white", "black", "yellow", "grey", "brown"])
# Adjectives without degrees.
UNGRADED = COLOURS | {
    "huge",
    "delicious",
    "open",
    "closed",
    "wooden",
    "square",
    "round",
    "broken",
    "free",
    "empty",
    "full",
}
UNGRADED |= {"ready", "sick", "wild"}
PREPOSITIONS = (
    Pair("on", "sur"),
    Pair("under", "sous"),
    Pair("behind", "derrière"),
    Pair("in front of", "devant"),
    Pair("next to", "à côté de"),
    Pair("near", "près de"),
)
OUTDOORS = ("wall", "hedge", "tree", "path", "road", "bridge", "river", "lake", "field", "forest", "street", "hill")
THINGS = (
    "goods",
    "fruit",
    "vegetable",
    "dish",
    "text",
    "home",
    "public",
    "room",
    "animal",
    "human",
    "infant",
    "profession",
    "nature",
    "plant",
    "tale",
    "event",
    "food",
    "drink",
    "transport",
    "notion",
    "opening",
    "surface",
)


def described(w: Writer, *kinds: str) -> tuple[Noun, Adjective]:
    """Choose a noun and an adjective that suits it."""
    noun = w.of_kinds(*(kinds or (w.rng.choice(THINGS),)))
    adjective = w.adjective(noun, attributive=False)
    if adjective is None:
        return described(w, *kinds)
    w.note("adjective", adjective.en, noun.en)
    return noun, adjective


def subject_thing(w: Writer, noun: Noun) -> Nominal:
    """Build "the table", "my shoes", "this apple" as a subject."""
    det = "the" if noun.mass or w.chance(0.6) else w.rng.choice(("my", "your", "his", "her", "our", "their", "this"))
    if noun.kind not in OWNABLE and noun.kind != "family" and noun.en not in ("house", "flat") and det != "this":
        det = "the"
    return w.noun(noun, det, plural=not noun.mass and w.chance(0.85 if noun.kind == "footwear" else 0.25))


def avoir(w: Writer, slot: int, tense: str = "present", negation: str = "") -> str:
    """Return a form of "avoir"."""
    return french.predicate(w.lexicon.french, "avoir", tense, Agreement(slot)).statement(negation)


# Description


def is_adjective(w: Writer) -> Pair:
    """The soup is too hot."""
    noun, adjective = described(w)
    subject = subject_thing(w, noun)
    tense = w.rng.choice(("present", "present", "past"))
    degree = w.rng.choice((EMPTY, EMPTY, Pair("very", "très"), Pair("too", "trop")))
    if adjective.en in UNGRADED:
        degree = EMPTY
    negation = "pas" if degree.en != "too" and w.chance(0.2) else ""
    form = Pair(adjective.en, w.adjective_form(adjective, subject.agreement))
    return dot(seq(be(w, subject, tense, negation), degree, form))


def is_it(w: Writer) -> Pair:
    """Is the museum open?"""
    noun, adjective = described(w)
    subject = subject_thing(w, noun)
    en, fr = ("are", "sont") if subject.slot == 5 else ("is", "est")
    form = w.adjective_form(adjective, subject.agreement)
    return dot(Pair(f"{en} {subject.en} {adjective.en}", f"est-ce que {subject.fr} {fr} {form}"), "?")


def feeling(w: Writer) -> Pair:
    """They were very tired."""
    subject = w.rng.choice(PRONOUNS) if w.chance(0.5) else w.people()
    tense = w.rng.choice(("present", "past"))
    clause = state(w, subject, tense)
    tail = w.rng.choice((EMPTY, Pair("this morning", "ce matin"), Pair("today", "aujourd'hui")))
    if tense == "past":
        whens = (
            EMPTY,
            Pair("yesterday", "hier"),
            Pair("yesterday evening", "hier soir"),
            Pair("this morning", "ce matin"),
        )
        tail = w.rng.choice(whens)
    return dot(seq(clause, tail))


def compare(w: Writer) -> Pair:
    """My house is bigger than your flat."""
    noun, adjective = described(w, "goods", "countable_food", "public", "animal", "transport", "text", "nature")
    kinds = ("animal",) if noun.en in ANIMAL_SIZES else (noun.kind,)
    others = [n for n in w.lexicon.of_kinds(kinds) if adjective in w.lexicon.adjectives_of[n.en] and n != noun]
    if not others or adjective.en in UNGRADED:
        return compare(w)
    other = w.pick(others)
    by_size = noun.en in ANIMAL_SIZES and adjective.en in ("big", "small", "fat", "strong")
    if by_size:
        noun, other = sorted((noun, other), key=lambda n: ANIMAL_SIZES.index(n.en), reverse=adjective.en != "small")
    w.note("adjective", adjective.en, other.en)
    first, second = subject_thing(w, noun), w.noun(other, w.rng.choice(("the", "this")))
    form = w.adjective_form(adjective, first.agreement)
    better = {"bon": "meilleur", "bonne": "meilleure", "bons": "meilleurs", "bonnes": "meilleures"}
    more = better.get(form) or f"plus {form}"
    ways = [(f"{english.comparative(adjective.en)} than", f"{more} que")]
    if not by_size:
        ways.append((f"as {adjective.en} as", f"aussi {form} que"))
        if english.comparative(adjective.en).startswith("more ") or adjective.en in ("heavy", "noisy", "funny", "easy"):
            ways.append((f"less {adjective.en} than", f"moins {form} que"))
    en, fr = w.rng.choice(ways)
    return dot(seq(be(w, first), Pair(f"{en} {second.en}", f"{fr} {second.fr}")))


def compare_people(w: Writer) -> Pair:
    """Marie is taller than her brother."""
    en, masculine, feminine = w.pick(
        (
            ("tall", "grand", "grande"),
            ("old", "âgé", "âgée"),
            ("young", "jeune", "jeune"),
            ("rich", "riche", "riche"),
            ("strong", "fort", "forte"),
            ("intelligent", "intelligent", "intelligente"),
            ("patient", "patient", "patiente"),
            ("polite", "poli", "polie"),
            ("shy", "timide", "timide"),
            ("kind", "gentil", "gentille"),
        )
    )
    first, second = w.name(), w.noun(w.of_kinds("family"), w.rng.choice(("my", "your", "our")))
    form = feminine if first.agreement.feminine else masculine
    words = w.rng.choice(
        (
            Pair(f"{english.comparative(en)} than", f"plus {form} que"),
            Pair(f"as {en} as", f"aussi {form} que"),
            Pair(f"less {en} than", f"moins {form} que"),
        )
    )
    return dot(seq(be(w, first), words, second.pair))


def superlative(w: Writer) -> Pair:
    """This is the most beautiful house in the village."""
    noun, adjective = described(
        w, "home", "public", "animal", "profession", "human", "thing", "clothes", "text", "vehicle"
    )
    if noun.mass or noun.kind == "footwear" or adjective.en in UNGRADED:
        return superlative(w)
    thing = w.noun(noun, "the")
    article, bare = thing.fr.split(" ", 1)
    form = w.adjective_form(adjective, thing.agreement, bare)
    best = {"bon": "meilleur", "bonne": "meilleure"}.get(form) or f"plus {form}"
    fr = f"{article} {best} {bare}" if adjective.before else f"{article} {bare} {article} {best}"
    scope = w.rng.choice(
        (
            Pair("in the village", "du village"),
            Pair("in the town", "de la ville"),
            Pair("in the neighbourhood", "du quartier"),
            Pair("in the world", "du monde"),
            Pair("in the country", "du pays"),
        )
    )
    return dot(seq(Pair(f"this is the {english.superlative(adjective.en)} {noun.en}", f"ce est {fr}"), scope))


def exclamation(w: Writer) -> Pair:
    """What a beautiful garden!"""
    noun, adjective = described(
        w, "goods", "countable_food", "home", "animal", "nature", "plant", "tale", "event", "text", "idea"
    )
    if adjective.en in UNGRADED - {"huge", "delicious"} or noun.kind == "footwear":
        return exclamation(w)
    thing = w.noun(noun, "", adjective=adjective)
    quel = "quelle" if thing.agreement.feminine else "quel"
    return dot(Pair(f"what {english.article(thing.en)}", f"{quel} {thing.fr}"), "!")


def colour(w: Writer) -> Pair:
    """What colour is your scarf? It is red."""
    coloured = (
        "clothes,vehicle,furniture,footwear,curtain,carpet,cushion,blanket,bag,umbrella,suitcase,towel,wallet,pen,ball"
    )
    noun, owner = w.of_kinds(*coloured.split(",")), w.rng.choice(("your", "his", "her", "their", "the"))
    thing = w.noun(noun, owner, plural=noun.kind == "footwear")
    en, masculine, feminine = w.pick(
        (
            ("red", "rouge", "rouge"),
            ("blue", "bleu", "bleue"),
            ("green", "vert", "verte"),
            ("white", "blanc", "blanche"),
            ("black", "noir", "noire"),
            ("yellow", "jaune", "jaune"),
            ("grey", "gris", "grise"),
        )
    )
    w.note("adjective", en, thing.head)
    form, it = french.agree(masculine, feminine, thing.agreement), "elle" if thing.agreement.feminine else "il"
    if thing.slot == 5:
        question = f"de quelle couleur sont {thing.fr} ? {it}s sont {form}."
        return Pair(f"what colour are {thing.en}? They are {en}.", question)
    return Pair(f"what colour is {thing.en}? It is {en}.", f"de quelle couleur est {thing.fr} ? {it} est {form}.")


def this_is(w: Writer) -> Pair:
    """These are my sister's gloves."""
    noun = w.of_kinds("goods", "house", "flat", "text", "tame")
    plural = not noun.mass and noun.en != noun.en_plural and w.chance(0.9 if noun.kind == "footwear" else 0.35)
    lead = Pair("these are", "ce sont") if plural else Pair("this is", "ce est")
    if w.chance(0.5):
        owner = w.people()
        thing = w.noun(noun, "the", plural)
        mark = "'" if owner.en.endswith("s") and owner.slot == 5 else "'s"
        return dot(seq(lead, Pair(f"{owner.en}{mark} {thing.en.removeprefix('the ')}", _of_owner(thing, owner))))
    adjective = w.adjective(noun) if w.chance(0.6) else None
    return dot(seq(lead, w.noun(noun, w.rng.choice(("my", "your", "his", "our", "their")), plural, adjective).pair))


def _of_owner(thing: Nominal, owner: Nominal) -> str:
    if " et " in owner.fr:
        first, second = owner.fr.split(" et ")
        return f"{thing.fr} {french.de(first)} et {french.de(second)}"
    return f"{thing.fr} {french.de(owner.fr)}"


def belongs(w: Writer) -> Pair:
    """Whose umbrella is this? It belongs to Paul."""
    thing = w.noun(w.of_kinds("goods", "text"), "this")
    owner = w.receiver()
    if w.chance(0.4):
        return dot(Pair(f"{thing.en} belongs to {owner.en}", f"{thing.fr} appartient {french.a(owner.fr)}"))
    it = "elle" if thing.agreement.feminine else "il"
    return Pair(
        f"whose is {thing.en}? It belongs to {owner.en}.",
        f"à qui est {thing.fr} ? {it} appartient {french.a(owner.fr)}.",
    )


def has(w: Writer) -> Pair:
    """My uncle has a red tractor."""
    noun = w.of_kinds("goods", "house", "flat", "tame", "text")
    det, plural = ("some", True) if noun.kind == "footwear" else ("a", False)
    thing = w.noun(noun, det, plural, adjective=w.adjective(noun) if w.chance(0.6) else None)
    owner = w.rng.choice(PRONOUNS) if w.chance(0.3) else w.people()
    if w.chance(0.25):
        things = w.noun(noun, "any", plural=True)
        en = w.lexicon.english.statement("have", "present", owner.slot, "not")
        return dot(
            Pair(f"{owner.en} {en} {things.en}", f"{owner.fr} {avoir(w, owner.slot, negation='pas')} {things.fr}")
        )
    tense, fr_tense = w.rng.choice((("present", "present"), ("used", "imperfect"), ("future", "future")))
    en = w.lexicon.english.statement("have", tense, owner.slot)
    return dot(Pair(f"{owner.en} {en} {thing.en}", f"{owner.fr} {avoir(w, owner.slot, fr_tense)} {thing.fr}"))


def has_number(w: Writer) -> Pair:
    """The farmer has twenty-one sheep."""
    if w.chance(0.6):
        many = w.of_kinds(
            "text",
            "stamp",
            "sheep",
            "cow",
            "hen",
            "photo",
            "key",
            "toy",
            "candle",
            "pencil",
            "doll",
            "ticket",
            "fruit",
            "biscuit",
            "rose",
            "tulip",
            "goat",
            "bottle",
            "chair",
            "plate",
            "glass",
        )
        things = w.number(many, w.rng.randint(13, 99))
    else:
        things = w.number(w.of_kinds("tame", "thing", "clothes", "footwear", "tableware"), w.rng.randint(2, 12))
    owner = w.rng.choice(PRONOUNS) if w.chance(0.3) else w.people()
    en = "has" if owner.slot == 2 else "have"
    return dot(Pair(f"{owner.en} {en} {things.en}", f"{owner.fr} {avoir(w, owner.slot)} {things.fr}"))


def there_is(w: Writer) -> Pair:
    """There are two cats under the table."""
    noun = w.of_kinds("thing", "tool", "tableware", "container", "countable_food", "cat", "dog", "mouse", "text")
    number = w.rng.randint(2, 12)
    thing = w.rng.choice((w.noun(noun, "a"), w.noun(noun, "some", plural=True), w.number(noun, number)))
    en = "there are" if thing.slot == 5 else "there is"
    en, fr = w.rng.choice(((en, "il y a"), ({"there are": "there were", "there is": "there was"}[en], "il y avait")))
    return dot(seq(Pair(en, fr), thing.pair, position(w, noun)))


def position(w: Writer, noun: Noun) -> Pair:
    """Build "under the table" or "in the drawer" for a thing; food lies where one may find it."""
    if noun.kind in ("fruit", "vegetable", "dish"):
        place = w.noun(w.of_kinds("table", "basket", "fridge", "cupboard", "bowl", "plate", "kitchen", "bag"), "the")
        return (
            Pair(f"on {place.en}", f"sur {place.fr}")
            if place.head in ("table", "plate")
            else Pair(f"in {place.en}", f"dans {place.fr}")
        )
    if w.chance(0.3) and noun.kind != "pet":
        inside = w.noun(w.of_kinds("box", "basket", "bag", "drawer", "wardrobe", "cupboard", "suitcase", "room"), "the")
        return Pair(f"in {inside.en}", f"dans {inside.fr}")
    preposition = w.rng.choice(PREPOSITIONS)
    supports = ("table", "chair", "bed", "sofa", "armchair", "bench")
    place = w.noun(w.of_kinds(*supports, *(() if noun.kind == "pet" else ("desk", "shelf", "piano"))), "the")
    if preposition.fr.endswith(" de"):
        return Pair(f"{preposition.en} {place.en}", preposition.fr.removesuffix("de") + french.de(place.fr))
    return Pair(f"{preposition.en} {place.en}", f"{preposition.fr} {place.fr}")


def is_where(w: Writer) -> Pair:
    """Your keys are on the desk."""
    noun = w.of_kinds("thing", "tool", "tableware", "text", "cat", "dog", "countable_food", "clothes")
    thing = subject_thing(w, noun)
    return dot(seq(be(w, thing, w.rng.choice(("present", "past"))), position(w, noun)))


def none_left(w: Writer) -> Pair:
    """There isn't any milk left."""
    noun = w.of_kinds("food", "seasoning", "drink", "countable_food")
    thing = w.noun(noun, "", plural=not noun.mass)
    be_en = "aren't" if thing.slot == 5 else "isn't"
    places = [EMPTY, Pair("in the kitchen", "dans la cuisine")]
    places += [Pair(*place) for nouns, place in STORES if noun.en in nouns]
    what = Pair(f"there {be_en} any {thing.en} left", f"il n'y a plus {french.de(thing.fr)}")
    return dot(seq(what, w.rng.choice(places)))


def thing_near(w: Writer) -> Pair:
    """The wall behind the school is high."""
    noun, adjective = described(w, *(OUTDOORS if w.chance(0.6) else ("public", "house", "building")))
    thing, other = w.noun(noun, "the"), w.noun(w.of_kinds("public", "house"), "the")
    if noun.en == other.head:
        return thing_near(w)
    form = w.adjective_form(adjective, thing.agreement)
    link = w.rng.choice((Pair("near", "près de"), Pair("behind", "derrière"), Pair("in front of", "devant")))
    fr_other = "près " + french.de(other.fr) if link.en == "near" else f"{link.fr} {other.fr}"
    en, fr = w.rng.choice((("is", "est"), ("was", "était")))
    return dot(Pair(f"{thing.en} {link.en} {other.en} {en} {adjective.en}", f"{thing.fr} {fr_other} {fr} {form}"))
