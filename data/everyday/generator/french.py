"""French morphology for the everyday corpus: agreement, conjugation, contraction and elision.

Words are handled in their full form ("le ami", "je ai"); :func:`surface` elides once the sentence is
whole. A star before a word ("*héros") marks an aspirated h, as dictionaries do, and is dropped there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

VOWELS = "aàâeéèêëiîïoôuùûœæyAÀÂEÉÈÊËIÎÏOÔUÙÛŒÆ"
ELIDED = ["le", "la", "je", "me", "te", "se", "de", "ne", "ce", "que"]
ETRE_VERBS = frozenset(
    {"aller", "arriver", "devenir", "entrer", "naître", "partir", "rester", "retourner", "revenir", "sortir"}
    | {"tomber", "venir"}
)
REFLEXIVE = ("me", "te", "se", "nous", "vous", "se")
SUBJECT_PRONOUNS = ("je", "tu", "il", "nous", "vous", "ils")
UNITS = (
    "zéro",
    "un",
    "deux",
    "trois",
    "quatre",
    "cinq",
    "six",
    "sept",
    "huit",
    "neuf",
    "dix",
    "onze",
    "douze",
    "treize",
    "quatorze",
    "quinze",
    "seize",
    "dix-sept",
    "dix-huit",
    "dix-neuf",
)
INVARIABLE = frozenset({"marron", "en bois"})
LIAISON_FORMS = {"beau": "bel", "nouveau": "nouvel", "vieux": "vieil", "ce": "cet"}

Row = dict[str, str]


@dataclass(frozen=True)
class Agreement:
    """What a verb agrees with: the person slot (0 je, 1 tu, 2 il, 3 nous, 4 vous, 5 ils) and the gender."""

    slot: int = 2
    feminine: bool = False

    @property
    def plural(self) -> bool:
        """Whether participles and adjectives take the plural (a polite "vous" does not)."""
        return self.slot in (3, 5)


def vowel_sound(word: str) -> bool:
    """Whether a word makes the one before it elide: it starts with a vowel or a silent h.

    >>> vowel_sound("ami"), vowel_sound("homme"), vowel_sound("*héros")
    (True, True, False)
    """
    return bool(word) and word[0] in VOWELS + "hH" and not re.match(r"yaourt|onze|ouistiti", word)


def surface(text: str) -> str:
    """Elide a sentence and drop the stars of the aspirated h.

    >>> surface("je ai que il le *haricot de eau si il si elle la école")
    "j'ai qu'il le haricot d'eau s'il si elle l'école"
    """
    words = text.split(" ")
    for i, (word, following) in enumerate(pairwise(words)):
        before_il = word.lower() == "si" and following in ("il", "ils")
        if before_il or (word.lower() in ELIDED and vowel_sound(following)):
            words[i] = word[:-1] + "'"
    return " ".join(words).replace("' ", "'").replace("*", "")


def de(phrase: str) -> str:
    """Put "de" before a noun phrase, contracting it with a definite article.

    >>> de("le pain"), surface(de("le ami")), de("les enfants"), de("*héros")
    ('du pain', "de l'ami", 'des enfants', 'de *héros')
    """
    return _contract("de", "du", "des", phrase)


def a(phrase: str) -> str:
    """Put "à" before a noun phrase, contracting it with a definite article.

    >>> a("le marché"), a("les enfants"), surface(a("la école"))
    ('au marché', 'aux enfants', "à l'école")
    """
    return _contract("à", "au", "aux", phrase)


def _contract(preposition: str, singular: str, plural: str, phrase: str) -> str:
    first, _, rest = phrase.partition(" ")
    if first == "le" and not vowel_sound(rest):
        return f"{singular} {rest}"
    if first == "les":
        return f"{plural} {rest}"
    return f"{preposition} {phrase}"


def plural_noun(noun: str) -> str:
    """Return the regular plural of a noun.

    >>> [plural_noun(n) for n in ("clé", "gâteau", "cheval", "neveu", "os")]
    ['clés', 'gâteaux', 'chevaux', 'neveux', 'os']
    """
    if noun.endswith(("s", "x", "z")):
        return noun
    if noun.endswith(("au", "eu")):
        return noun + "x"
    return noun[:-2] + "aux" if noun.endswith("al") else noun + "s"


def feminine_adjective(adjective: str) -> str:
    """Return the regular feminine of an adjective.

    >>> feminine_adjective("petit"), feminine_adjective("rouge")
    ('petite', 'rouge')
    """
    return adjective if adjective.endswith("e") else adjective + "e"


def agree(masculine: str, feminine: str, agreement: Agreement) -> str:
    """Choose the form of an adjective or participle, given its two singulars.

    >>> agree("beau", "belle", Agreement(5)), agree("vu", "vue", Agreement(5, feminine=True))
    ('beaux', 'vues')
    """
    form = feminine if agreement.feminine else masculine
    if not agreement.plural or masculine in INVARIABLE or form.endswith(("s", "x")):
        return form
    if form.endswith("eau"):
        return form + "x"
    return form[:-2] + "aux" if form.endswith("al") else form + "s"


def determiner(kind: str, agreement: Agreement, following: str) -> str:
    """Return an article, possessive or demonstrative for a noun (the possessives by their owner's slot, "mon0").

    >>> determiner("possessive0", Agreement(2, feminine=True), "école")
    'mon'
    >>> determiner("this", Agreement(), "arbre"), determiner("this", Agreement(5), "arbres")
    ('cet', 'ces')
    """
    column = 2 if agreement.plural else int(agreement.feminine)
    if kind == "this":
        return "cet" if column == 0 and vowel_sound(following) else ("ce", "cette", "ces")[column]
    if kind.startswith("possessive"):
        slot = int(kind[-1])
        if slot > 2:
            return (("notre", "votre", "leur")[slot - 3], ("nos", "vos", "leurs")[slot - 3])[agreement.plural]
        if column == 1 and vowel_sound(following):
            column = 0
        return "mts"[slot] + ("on", "a", "es")[column]
    return {"the": ("le", "la", "les"), "a": ("un", "une", "des")}[kind][column]


def partitive(agreement: Agreement, following: str) -> str:
    """Return "du", "de la" or "de l'" (as "de le", to be elided) before a mass noun.

    >>> partitive(Agreement(), "pain"), surface(partitive(Agreement(), "argent") + " argent")
    ('du', "de l'argent")
    """
    if agreement.feminine:
        return "de la"
    return "de le" if vowel_sound(following) else "du"


class Conjugator:
    """Conjugates French verbs: irregular ones from a table, the others by rule."""

    def __init__(self, rows: Iterable[Row]) -> None:
        """Take the rows of the table of irregular verbs (``lexicon/conjugations.tsv``)."""
        self._irregular = {row["infinitive"]: row for row in rows}

    def present(self, verb: str) -> tuple[str, ...]:
        """Return the six forms of the present tense."""
        if row := self._irregular.get(verb):
            return tuple(row[person] for person in SUBJECT_PRONOUNS)
        stem = verb[:-2]
        if verb.endswith("er"):
            strong = strong_stem(verb)
            soft = {"g": stem + "e", "c": stem[:-1] + "ç"}.get(stem[-1], stem)
            return strong + "e", strong + "es", strong + "e", soft + "ons", stem + "ez", strong + "ent"
        if verb.endswith("ir"):
            return tuple(stem + ending for ending in ("is", "is", "it", "issons", "issez", "issent"))
        return tuple(stem + ending for ending in ("s", "s", "", "ons", "ez", "ent"))

    def imperfect(self, verb: str) -> tuple[str, ...]:
        """Return the six forms of the imparfait."""
        stem = "ét" if verb == "être" else self.present(verb)[3].removesuffix("ons")
        weak = verb[:-2] if verb.endswith(("ger", "cer")) else stem
        return stem + "ais", stem + "ais", stem + "ait", weak + "ions", weak + "iez", stem + "aient"

    def _future_stem(self, verb: str) -> str:
        if row := self._irregular.get(verb):
            return row["future"]
        if verb.endswith("er") and not re.search(r"é[^aeiouyé]+er$", verb):
            return strong_stem(verb) + "er"
        return verb.removesuffix("e")

    def future(self, verb: str) -> tuple[str, ...]:
        """Return the six forms of the futur simple."""
        return tuple(self._future_stem(verb) + ending for ending in ("ai", "as", "a", "ons", "ez", "ont"))

    def conditional(self, verb: str) -> tuple[str, ...]:
        """Return the six forms of the conditional."""
        return tuple(self._future_stem(verb) + ending for ending in ("ais", "ais", "ait", "ions", "iez", "aient"))

    def participle(self, verb: str, agreement: Agreement | None = None) -> str:
        """Return the past participle, agreeing with ``agreement`` where given."""
        if row := self._irregular.get(verb):
            form = row["participle"]
        else:
            form = verb[:-2] + {"er": "é", "ir": "i", "re": "u"}[verb[-2:]]
        if agreement is None:
            return form
        return agree(form, form.replace("û", "u") + "e", agreement)

    def gerund(self, verb: str) -> str:
        """Return the gerund of a verb that is not reflexive ("en mangeant", "en jouant")."""
        infinitive, _, rest = verb.partition(" ")
        special = {"être": "étant", "avoir": "ayant", "savoir": "sachant"}
        form = special.get(infinitive) or self.present(infinitive)[3].removesuffix("ons") + "ant"
        return f"en {form} {rest}".strip()

    def finite(self, verb: str, tense: str, slot: int) -> str:
        """Return one simple form, such as ``finite("avoir", "present", 0)``."""
        forms = {"present": self.present, "imperfect": self.imperfect}
        forms |= {"future": self.future, "conditional": self.conditional}
        return forms[tense](verb)[slot]

    def imperative(self, verb: str, slot: int) -> str:
        """Return the imperative of "nous" or "vous" (slot 3 or 4)."""
        special = {"être": ("soyons", "soyez"), "avoir": ("ayons", "ayez")}
        return special[verb][slot - 3] if verb in special else self.present(verb)[slot]


def strong_stem(verb: str) -> str:
    """Return the stem of an -er verb before a silent ending.

    >>> [strong_stem(v) for v in ("acheter", "préférer", "appeler", "nettoyer", "parler")]
    ['achèt', 'préfèr', 'appell', 'nettoi', 'parl']
    """
    stem = verb[:-2]
    if verb in ("appeler", "jeter"):
        return stem + stem[-1]
    if verb.endswith("yer"):
        return stem[:-1] + "i"
    return re.sub(r"[eé]([bcdfglmnprstv])$", r"è\1", stem)


@dataclass(frozen=True)
class Predicate:
    """A conjugated verb taken apart, so that statements and inverted questions can be put together."""

    clitics: tuple[str, ...]
    finite: str
    rest: tuple[str, ...]
    inner: tuple[str, ...] = ()

    def statement(self, negation: str = "", adverb: str = "", *, ne: bool = False) -> str:
        """Put the parts in the order of a statement, with an optional negation ("pas" …) or a lone "ne"."""
        before = ("ne",) if negation or ne else ()
        words = (*before, *self.clitics, self.finite, negation, adverb, *self.inner, *self.rest)
        return " ".join(word for word in words if word)

    def inverted(self, pronoun: str, adverb: str = "") -> str:
        """Put the parts in the order of a question with an inverted subject pronoun ("mange-t-il").

        >>> Predicate((), "a", ("mangé",)).inverted("il")
        'a-t-il mangé'
        """
        link = "-t-" if self.finite[-1] in "aec" and pronoun[0] in "ie" else "-"
        words = (*self.clitics, self.finite + link + pronoun, adverb, *self.inner, *self.rest)
        return " ".join(word for word in words if word)


def predicate(
    french: Conjugator,
    verb: str,
    tense: str,
    subject: Agreement,
    clitics: tuple[str, ...] = (),
    clitic_agreement: Agreement | None = None,
) -> Predicate:
    """Conjugate a verb ("se lever", "avoir besoin") with its object clitics.

    Args:
        french: The conjugator.
        verb: An infinitive, with "se" or "s'" for a reflexive and with words after it kept as they are.
        tense: "present", "imperfect", "future", "conditional", "perfect" (passé composé) or "near".
        subject: What the verb agrees with.
        clitics: Object clitics in their order.
        clitic_agreement: The gender and number of a direct object before the verb.
    """
    reflexive, infinitive, extra = split_verb(verb)
    own = (REFLEXIVE[subject.slot],) if reflexive else ()
    if tense == "near":
        return Predicate((), french.finite("aller", "present", subject.slot), (*own, *clitics, infinitive, *extra))
    if tense == "perfect":
        with_etre = reflexive or infinitive in ETRE_VERBS
        participle = french.participle(infinitive, subject if with_etre else clitic_agreement)
        auxiliary = french.finite("être" if with_etre else "avoir", "present", subject.slot)
        return Predicate((*own, *clitics), auxiliary, (participle, *extra))
    return Predicate((*own, *clitics), french.finite(infinitive, tense, subject.slot), extra)


def infinitive_phrase(verb: str, slot: int, clitics: tuple[str, ...] = ()) -> str:
    """Return an infinitive with its clitics ("se lever" for "je" is "me lever").

    >>> infinitive_phrase("se lever", 0), infinitive_phrase("voir", 2, ("la",))
    ('me lever', 'la voir')
    """
    reflexive, infinitive, extra = split_verb(verb)
    own = (REFLEXIVE[slot],) if reflexive else ()
    return " ".join((*own, *clitics, infinitive, *extra))


def split_verb(verb: str) -> tuple[bool, str, tuple[str, ...]]:
    """Split a verb into whether it is reflexive, its infinitive and the words after it.

    >>> split_verb("s'occuper"), split_verb("avoir besoin")
    ((True, 'occuper', ()), (False, 'avoir', ('besoin',)))
    """
    reflexive = verb.startswith(("se ", "s'"))
    infinitive, *extra = verb.removeprefix("se ").removeprefix("s'").split(" ")
    return reflexive, infinitive, tuple(extra)


def number_word(number: int, feminine: bool = False) -> str:
    """Write a number under 1000 in words, "un" agreeing with a feminine noun.

    >>> [number_word(n) for n in (1, 21, 71, 80, 81, 99, 200, 201)]
    ['un', 'vingt et un', 'soixante et onze', 'quatre-vingts', 'quatre-vingt-un', 'quatre-vingt-dix-neuf', \
'deux cents', 'deux cent un']
    """
    if number >= 100:
        hundreds, rest = divmod(number, 100)
        head = "cent" if hundreds == 1 else f"{number_word(hundreds)} cent"
        return f"{head} {number_word(rest, feminine)}" if rest else head + "s" * (hundreds > 1)
    if number < 20:
        return "une" if number == 1 and feminine else UNITS[number]
    tens, unit = divmod(number, 10)
    if tens in (7, 9):
        tens, unit = tens - 1, unit + 10
    if tens == 8:
        return "quatre-vingts" if unit == 0 else "quatre-vingt-" + number_word(unit, feminine)
    head = {2: "vingt", 3: "trente", 4: "quarante", 5: "cinquante", 6: "soixante"}[tens]
    if unit in (1, 11):
        return f"{head} et {number_word(unit, feminine)}"
    return f"{head}-{UNITS[unit]}" if unit else head
