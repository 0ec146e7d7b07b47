"""What people do where, when and why: the pairings that keep the sentences of the everyday corpus sensible."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    """Split a comma-separated list of words, which may run over several lines."""
    return tuple(" ".join(word.split()) for word in text.split(","))


# What may follow or accompany anything in a normal day.
EVERYDAY = _words(
    """
    eat, drink, prepare, wash, clean, look for, watch, listen to, read, write, repair, help, thank, call,
    greet, feed, order, water, sing, learn, sweep, iron, fold, correct, paint, draw, play, talk about, talk
    to, phone, write to, smile at, answer, cook, work, study, dance, sleep, wait, laugh, rest, go for a walk,
    have fun, show, bring, lend, offer, explain, visit, photograph, take care of, translate, close, buy, sell,
    invite, print, sign, swim, run, travel, whistle
    """
)
# What somebody leaves or enters, as the start of something else.
ARRIVALS = ("arrive", "come back from", "come out of", "go into", "get up", "wake up", "go back")
# What one may enjoy.
LEISURE = _words(
    """
    swim, run, dance, cook, travel, sleep, study, work, go for a walk, have fun, rest, play, read, sing,
    listen to, watch, visit, draw, paint, photograph, talk to, talk about, eat, drink, help, drive, write to,
    plant, feed, admire
    """
)
# What one can do well or badly, in a certain way.
MANNERED = _words(
    """
    repair, open, clean, prepare, cut, build, find, solve, learn, translate, protect, correct, move, hide,
    break, lose, fill, choose, catch, turn off, turn on, close, lift, paint, draw, photograph, sell
    """
)
# What a baby does.
INFANT_VERBS = frozenset(
    _words(
        """
    sleep, cry, laugh, smile, fall, wake up, fall asleep, sneeze, cough, rest, smile at
    """
    )
)
# Leaving without a word, and the like.
DEPARTURES = ("leave", "come out of", "go into", "go back", "go to bed", "fall asleep", "arrive")
OMITTED = _words(
    """
    greet, thank, talk to, answer, wait for, call, close, turn off, eat, drink, finish, phone, smile at, look
    at, look for, read, wash, clean, fold, visit
    """
)
# Verbs whose object is a known one ("the lamp") rather than "a lamp", and one at a time.
DEFINITE = frozenset(
    _words(
        """
    leave, turn on, turn off, sweep, finish, protect, park, drive, begin, cross, come out of, congratulate,
    iron, correct
    """
    )
)
WORN = frozenset({"wear", "put on", "take off", "try on"})
# Nouns one can own ("my coat"), besides members of a family.
OWNABLE = frozenset(
    _words(
        """
    clothes, footwear, furniture, decor, tool, thing, device, instrument, vehicle, text, room, notion, tale,
    event, pet, farm_animal, infant, container
    """
    )
)
# An adjective which makes no sense with what is done to the thing.
CLASHES = {
    "open": {"open", "closed"},
    "close": {"open", "closed"},
    "break": {"broken"},
    "wash": {"clean"},
    "clean": {"clean"},
    "empty": {"empty"},
    "fill": {"full"},
    "cut": {"hot"},
    "eat": {"bad"},
    "order": {"bad", "cold"},
    "choose": {"bad", "broken", "dirty"},
    "offer": {"bad", "broken", "dirty", "useless", "boring"},
    "give": {"bad", "broken", "dirty", "useless", "boring"},
    "serve": {"bad"},
    "buy": {"dirty", "broken", "ripe"},
    "sell": {"dirty", "broken"},
    "wear": {"dirty"},
    "drink": {"bad"},
    "prepare": {"bad", "cold"},
    "build": {"old", "dirty", "noisy"},
    "find": {"ready"},
    "paint": {"wooden"},
    "repair": {"new"},
    "plant": {"old", "rare"},
    "protect": {"dangerous"},
}
# Qualities that make one refuse a thing, unless one mends it.
FAULTS = frozenset({"bad", "useless", "boring", "broken", "dirty", "dangerous", "cold", "salty"})
MENDING = frozenset(
    _words(
        """
    clean, wash, repair, correct, iron, weigh, move, sell, hide, empty, close
    """
    )
)
# Where one does something for a while: the kinds or nouns of the places.
ACTIVITY_PLACES = {
    "work": _words(
        """
        school, hospital, museum, bank, theatre, restaurant, hotel, airport, library, post office, town
        hall, bakery, pharmacy, supermarket, office, factory, university, zoo, farm, bookshop, harbour,
        market, station, cinema, garden, garage, kitchen
        """
    ),
    "study": _words("""library, school, university, bedroom, living room, kitchen, garden"""),
    "eat": _words(
        """
        restaurant, hotel, kitchen, dining room, courtyard, garden, park, farm, university, beach
        """
    ),
    "sleep": _words("""hotel, bedroom, living room, farm, hospital, castle, attic"""),
    "wait": _words(
        """
        station, airport, pharmacy, bank, post office, town hall, harbour, hospital, bakery, corridor,
        cinema, theatre, stadium, market, courtyard
        """
    ),
    "rest": _words("""bedroom, living room, garden, park, beach, hotel, courtyard, farm"""),
    "cry": _words("""bedroom, bathroom, corridor, garden, kitchen, attic"""),
    "laugh": _words("""kitchen, living room, garden, cinema, theatre, courtyard, dining room"""),
    "shout": _words("""stadium, garden, courtyard, market, swimming pool"""),
    "live": _words("""house, village, town, flat, street, neighbourhood, building"""),
    "buy": _words("""market, supermarket, bakery, bookshop, pharmacy, airport, museum, farm"""),
    "sell": _words("""market, farm, bakery, bookshop, harbour"""),
    "drink": _words("""restaurant, hotel, kitchen, dining room, beach, airport"""),
    "see": _words("""museum, zoo, cinema, castle, attic, cellar, forest"""),
    "hear": _words("""theatre, attic, cellar, corridor, church, garden"""),
    "find": _words("""market, bookshop, attic, cellar, garage, beach, supermarket"""),
    "break": _words("""museum, kitchen, castle, attic, living room"""),
    "forget": _words("""hotel, restaurant, school, office, beach, swimming pool, library"""),
}
# What one does in a certain state with which things: (state, verb) to the kinds of its object.
WISHES = {
    ("hungry", "buy"): ("dish", "bread", "cheese", "fruit"),
    ("hungry", ""): ("dish", "soup", "salad", "chicken"),
    ("thirsty", ""): ("water", "milk", "orange juice", "apple juice", "lemonade", "tea", "beer", "cider"),
    ("hot", "take off"): ("coat", "jacket", "jumper", "scarf", "hat", "raincoat", "cap"),
    ("hot", ""): ("water", "orange juice", "lemonade", "apple juice"),
    ("cold", "close"): ("window", "door"),
    ("cold", ""): ("coat", "jacket", "jumper", "scarf", "cap", "boot", "glove", "sock", "hat"),
    ("late", "take"): ("taxi", "bus", "train", "tram"),
    ("late", "forget"): ("key", "umbrella", "bag", "phone", "wallet", "ticket", "watch", "passport"),
    ("nervous", ""): ("key", "word", "answer", "ticket", "glove", "wallet", "question"),
    ("angry", "break"): ("glass", "cup", "bowl", "plate", "mirror", "toy"),
    ("angry", "leave"): ("meeting", "party", "office", "restaurant", "house"),
    ("angry", "refuse"): ("gift", "plan", "choice", "idea"),
    ("sad", "leave"): ("party", "house", "village", "town"),
    ("ready", "begin"): ("lesson", "exercise", "meeting", "game", "trip"),
}
# What the weather invites to: the verb and the kinds of its object or place.
SUNNY: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("go", ("beach", "park", "swimming pool", "zoo", "market", "farm", "stadium", "castle")),
    ("swim", ()),
    ("go for a walk", ()),
    ("run", ()),
    ("water", ("garden", "flower", "rose", "tulip")),
    ("wear", ("dress", "skirt", "shirt", "cap", "hat")),
    ("wash", ("car", "curtain", "bicycle", "blanket")),
    ("visit", ("castle", "village", "zoo", "farm", "island")),
    ("photograph", ("nature", "plant", "castle")),
    ("pick", ("flower", "rose", "cherry", "strawberry", "apricot")),
    ("drink", ("water", "lemonade", "orange juice")),
    ("eat", ("ice cream", "melon", "salad")),
    ("paint", ("door", "gate", "boat")),
)
RAINY: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("stay", ("house", "flat", "room", "hotel")),
    ("go", ("museum", "cinema", "library", "theatre")),
    ("watch", ("film", "television", "game")),
    ("read", ("book", "novel", "magazine", "newspaper", "poem")),
    ("listen to", ("radio", "song", "story")),
    ("cook", ()),
    ("put on", ("coat", "boot", "raincoat", "jumper", "scarf", "cap")),
    ("take", ("bus", "taxi", "tram", "umbrella")),
    ("prepare", ("soup", "cake", "pancake", "tea", "coffee")),
    ("rest", ()),
    ("study", ()),
    ("finish", ("novel", "book", "exercise", "letter", "painting")),
    ("clean", ("room", "window", "oven")),
    ("play", ("piano", "guitar", "violin", "flute", "harp")),
)
# What animals feed on.
DIETS: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...] = (
    (
        ("rabbit", "hamster", "goat", "donkey", "horse", "turtle", "cow", "sheep"),
        "eat",
        ("carrot", "apple", "leaf", "flower"),
    ),
    (("rabbit", "turtle", "hamster"), "eat", ("salad", "tomato", "strawberry", "cucumber")),
    (("pig", "hedgehog", "bear", "mouse", "fox"), "eat", ("apple", "pear", "potato", "egg", "mushroom")),
    (("monkey", "elephant"), "eat", ("banana", "orange", "apple", "melon")),
    (("bird", "duck", "hen", "mouse", "squirrel"), "eat", ("bread", "cherry", "leaf", "biscuit")),
    (("dog", "cat", "wolf", "lion", "fox", "bear"), "eat", ("meat", "chicken", "sausage")),
    (("cat", "bear", "duck"), "eat", ("fish",)),
    (("mouse",), "eat", ("cheese",)),
    (("cat", "hedgehog"), "drink", ("milk",)),
    (("animal",), "drink", ("water",)),
)
# The animals from small to large.
ANIMAL_SIZES = _words(
    """
    butterfly, mouse, frog, hamster, bird, squirrel, hedgehog, owl, turtle, duck, hen, rabbit, cat, fox,
    monkey, dog, goat, sheep, wolf, pig, donkey, lion, bear, cow, horse, elephant
    """
)
# The age of relatives, the others being of any age.
AGES = {
    **dict.fromkeys(("grandmother", "grandfather"), (62, 97)),
    **dict.fromkeys(("mother", "father", "aunt", "uncle"), (32, 70)),
    **dict.fromkeys(("daughter", "son", "niece", "nephew"), (2, 25)),
}
# What one keeps where: kinds or nouns, besides the kitchen.
STORES: tuple[tuple[tuple[str, ...], tuple[str, str]], ...] = (
    (
        _words(
            """
            butter, meat, chicken, ham, fish, cheese, salad, soup, cream, milk, egg, sausage, orange
            juice, apple juice, lemonade, beer, strawberry, melon, tomato, cucumber, mustard, jam
            """
        ),
        ("in the fridge", "dans le réfrigérateur"),
    ),
    (
        _words(
            """
            wine, cider, beer, potato, apple, pear, onion, carrot, leek
            """
        ),
        ("in the cellar", "dans la cave"),
    ),
    (
        _words(
            """
            sugar, salt, pepper, oil, flour, rice, honey, chocolate, coffee, tea, biscuit, bread,
            garlic, jam
            """
        ),
        ("in the cupboard", "dans le placard"),
    ),
)
