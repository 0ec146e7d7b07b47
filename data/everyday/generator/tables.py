"""Small tables of daily facts: months, hours, weather, measures of food and ways to travel."""

from __future__ import annotations

from generator.phrases import Pair

MONTHS = (
    ("January", "janvier"),
    ("February", "février"),
    ("March", "mars"),
    ("April", "avril"),
    ("May", "mai"),
    ("June", "juin"),
    ("July", "juillet"),
    ("August", "août"),
    ("September", "septembre"),
    ("October", "octobre"),
    ("November", "novembre"),
    ("December", "décembre"),
)
WEATHER = (
    (Pair("it is raining", "il pleut"), Pair("it was raining", "il pleuvait"), Pair("it will rain", "il pleuvra")),
    (Pair("it is snowing", "il neige"), Pair("it was snowing", "il neigeait"), Pair("it will snow", "il neigera")),
    (
        Pair("it is hot", "il fait chaud"),
        Pair("it was hot", "il faisait chaud"),
        Pair("it will be hot", "il fera chaud"),
    ),
    (
        Pair("it is cold", "il fait froid"),
        Pair("it was cold", "il faisait froid"),
        Pair("it will be cold", "il fera froid"),
    ),
    (
        Pair("the weather is nice", "il fait beau"),
        Pair("the weather was nice", "il faisait beau"),
        Pair("the weather will be nice", "il fera beau"),
    ),
    (
        Pair("the weather is bad", "il fait mauvais"),
        Pair("the weather was bad", "il faisait mauvais"),
        Pair("the weather will be bad", "il fera mauvais"),
    ),
    (
        Pair("it is windy", "il y a du vent"),
        Pair("it was windy", "il y avait du vent"),
        Pair("it will be windy", "il y aura du vent"),
    ),
    (
        Pair("it is foggy", "il y a du brouillard"),
        Pair("it was foggy", "il y avait du brouillard"),
        Pair("it will be foggy", "il y aura du brouillard"),
    ),
)
WEATHER_TIMES = (
    (Pair("today", "aujourd'hui"), Pair("this morning", "ce matin"), Pair("", "")),
    (Pair("yesterday", "hier"), Pair("last week", "la semaine dernière"), Pair("last night", "la nuit dernière")),
    (Pair("tomorrow", "demain"), Pair("next week", "la semaine prochaine"), Pair("tonight", "ce soir")),
)
# Measures of food: the container or unit, its gender in French, and the nouns it can measure.
MEASURES = (
    (Pair("a kilo", "un kilo"), ("garlic", "fruit", "vegetable", "meat", "rice", "flour", "sugar", "fish")),
    (Pair("a bottle", "une bouteille"), ("water", "wine", "beer", "cider", "milk", "orange juice", "lemonade", "oil")),
    (
        Pair("a glass", "un verre"),
        ("water", "milk", "wine", "orange juice", "apple juice", "lemonade", "cider", "beer"),
    ),
    (Pair("a cup", "une tasse"), ("coffee", "tea")),
    (Pair("a slice", "une tranche"), ("bread", "ham", "meat", "melon", "pineapple", "sausage")),
    (Pair("a piece", "un morceau"), ("cheese", "chocolate", "chicken", "bread")),
    (Pair("a pot", "un pot"), ("jam", "honey", "mustard", "cream")),
    (Pair("a packet", "un paquet"), ("pepper", "rice", "flour", "sugar", "salt", "coffee")),
    (Pair("a litre", "un litre"), ("milk", "water", "oil", "orange juice", "soup")),
    (Pair("a dozen", "une douzaine"), ("egg", "croissant", "pancake", "biscuit")),
)
# Ranks: English, French masculine and feminine.
ORDINALS = (
    ("first", "premier", "première"),
    ("second", "deuxième", "deuxième"),
    ("third", "troisième", "troisième"),
    ("fourth", "quatrième", "quatrième"),
    ("fifth", "cinquième", "cinquième"),
    ("sixth", "sixième", "sixième"),
    ("seventh", "septième", "septième"),
    ("eighth", "*huitième", "*huitième"),
    ("ninth", "neuvième", "neuvième"),
    ("tenth", "dixième", "dixième"),
)
HOURS = ("midnight", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "noon")
FAR = frozenset({"Japan", "China", "Canada", "Brazil", "Iran", "the United States", "Montreal", "Tokyo", "Morocco"})
HOW_TO_GO = (
    Pair("by train", "en train"),
    Pair("by bus", "en bus"),
    Pair("by car", "en voiture"),
    Pair("by plane", "en avion"),
    Pair("by bicycle", "à vélo"),
    Pair("on foot", "à pied"),
)
# Errands: the places one goes to, the verb of what one does there, and the kinds of its object.
ERRANDS: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...] = (
    (("market", "supermarket"), "buy", ("fruit", "vegetable", "food", "seasoning", "drink")),
    (("market",), "sell", ("fruit", "vegetable", "flower", "egg", "cheese")),
    (("beach", "park", "stadium"), "watch", ("game",)),
    (("bakery",), "buy", ("bread", "croissant", "pie", "cake", "biscuit")),
    (("bookshop",), "buy", ("book", "novel", "magazine", "dictionary", "newspaper")),
    (("library",), "borrow", ("book", "novel", "dictionary")),
    (("library", "school", "university"), "study", ()),
    (("station", "airport"), "wait for", ("family", "human", "plane", "train")),
    (("restaurant", "hotel", "harbour"), "meet", ("human", "profession")),
    (("kitchen",), "prepare", ("dish", "soup", "salad", "coffee", "tea")),
    (("kitchen",), "wash", ("tableware", "fruit", "vegetable", "glass", "cup", "bowl")),
    (("garden", "courtyard"), "water", ("flower", "rose", "tulip", "tree")),
    (("garden",), "pick", ("flower", "rose", "apple", "pear", "cherry", "strawberry", "peach")),
    (("garage",), "repair", ("vehicle",)),
    (("bedroom", "attic", "cellar"), "look for", ("clothes", "thing", "tool")),
    (("bedroom",), "sleep", ()),
    (("living room",), "watch", ("film", "television")),
    (("living room",), "listen to", ("radio", "song")),
    (("zoo", "farm"), "photograph", ("animal",)),
    (("zoo", "farm"), "feed", ("animal",)),
    (("post office",), "send", ("letter", "postcard", "gift")),
    (("museum", "castle"), "admire", ("painting", "mirror", "clock", "carpet")),
    (("hospital",), "see", ("family", "patient", "doctor", "nurse")),
    (("cinema",), "see", ("film",)),
    (("swimming pool", "beach"), "swim", ()),
    (("park", "stadium"), "run", ()),
    (("office", "factory", "pharmacy", "bank", "town hall"), "work", ()),
)
