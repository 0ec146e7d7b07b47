"""English morphology for the everyday corpus: plurals, articles, verb forms and comparison."""

from __future__ import annotations

import re
from collections.abc import Iterable

# The person slots are those of French: 0 I, 2 he or she, 3 we, 4 you, 5 they.
BE_PRESENT = ("am", "are", "is", "are", "are", "are")
BE_PAST = ("was", "were", "was", "were", "were", "were")
DOUBLED_ENDINGS = frozenset({"begin", "forget", "prefer", "travel", "shovel"})
COMPARED_BY_MORE = frozenset({"wooden", "useful", "useless", "boring", "famous", "salty", "jealous", "nervous"})
NEGATIVES = {"will": "won't", "can": "can't", "am": "am not", "must": "mustn't"}
SMALL = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
)
TENS = ("", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

Row = dict[str, str]


def plural(noun: str) -> str:
    """Return the regular plural of a noun.

    >>> plural("box"), plural("party"), plural("boy"), plural("apple")
    ('boxes', 'parties', 'boys', 'apples')
    """
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    return re.sub(r"([^aeiou])y$", r"\1ie", noun) + "s"


def article(phrase: str) -> str:
    """Put "a" or "an" before a phrase.

    >>> article("apple"), article("university"), article("hour")
    ('an apple', 'a university', 'an hour')
    """
    vowel = re.match(r"[aeiou]|hour|honest", phrase, re.I) and not re.match(r"uni(?!n)|use|usu|euro|one", phrase)
    return f"{'an' if vowel else 'a'} {phrase}"


def comparative(adjective: str) -> str:
    """Return the comparative of an adjective.

    >>> comparative("big"), comparative("happy"), comparative("expensive"), comparative("good")
    ('bigger', 'happier', 'more expensive', 'better')
    """
    irregular = {"good": "better", "bad": "worse", "shy": "shyer", "grey": "greyer"}
    short = len(re.findall(r"[aeiouy]+", adjective.removesuffix("e"))) == 1 or adjective.endswith("y")
    if adjective in irregular:
        return irregular[adjective]
    if adjective in COMPARED_BY_MORE or not (short or adjective in ("quiet", "clever")):
        return f"more {adjective}"
    if re.search(r"[^aeiou][aeiou][bdgmnpt]$", adjective):
        adjective += adjective[-1]
    return re.sub(r"y$", "i", adjective.removesuffix("e") if adjective.endswith("e") else adjective) + "er"


def superlative(adjective: str) -> str:
    """Return the superlative of an adjective.

    >>> superlative("big"), superlative("expensive"), superlative("good")
    ('biggest', 'most expensive', 'best')
    """
    form = {"good": "best", "bad": "worst"}.get(adjective) or comparative(adjective)
    if form.startswith("more "):
        return "most" + form[4:]
    return form[:-2] + "est" if form.endswith("er") else form


def with_pronoun(group: str, pronoun: str) -> str:
    """Put an object pronoun after a verb group, or between the verb and its particle.

    >>> with_pronoun("looked for", "it"), with_pronoun("took off", "it")
    ('looked for it', 'took it off')
    """
    verb, _, particle = group.rpartition(" ")
    return f"{verb} {pronoun} {particle}" if particle in ("on", "off") else f"{group} {pronoun}"


def negate(auxiliary: str) -> str:
    """Return the negative of an auxiliary.

    >>> negate("does"), negate("am")
    ("doesn't", 'am not')
    """
    return NEGATIVES.get(auxiliary) or auxiliary + "n't"


class Verbs:
    """English verb forms: irregular ones from a table, the others by rule; particles stay behind the verb."""

    def __init__(self, rows: Iterable[Row]) -> None:
        """Take the rows of the table of irregular verbs (``lexicon/english_verbs.tsv``)."""
        self._irregular = {row["base"]: (row["past"], row["participle"]) for row in rows}

    def third(self, verb: str) -> str:
        """Return the third person singular of the present tense ("look for" gives "looks for")."""
        head, rest = _split(verb)
        if head in ("have", "be"):
            return {"have": "has", "be": "is"}[head] + rest
        if head.endswith(("s", "x", "ch", "sh", "o")):
            return head + "es" + rest
        return re.sub(r"([^aeiou])y$", r"\1ie", head) + "s" + rest

    def past(self, verb: str) -> str:
        """Return the simple past."""
        head, rest = _split(verb)
        return (self._irregular[head][0] if head in self._irregular else _regular_past(head)) + rest

    def participle(self, verb: str) -> str:
        """Return the past participle."""
        head, rest = _split(verb)
        return (self._irregular[head][1] if head in self._irregular else _regular_past(head)) + rest

    def ing(self, verb: str) -> str:
        """Return the form in -ing."""
        head, rest = _split(verb)
        if head.endswith("ie"):
            return head[:-2] + "ying" + rest
        if head.endswith("e") and not head.endswith("ee") and head != "be":
            return head[:-1] + "ing" + rest
        return _double(head) + "ing" + rest

    def parts(self, verb: str, tense: str, slot: int) -> tuple[str, str, str]:
        """Return the auxiliary, the form after it, and the form without it ("does", "eat", "eats").

        The third is empty where the auxiliary is always said ("will", "is eating" …).
        """
        head, rest = _split(verb)
        if head == "be" and tense in ("present", "past"):
            return (BE_PRESENT if tense == "present" else BE_PAST)[slot], rest.strip(), ""
        if tense == "present":
            plain = self.third(verb) if slot == 2 else verb
            return ("does" if slot == 2 else "do"), verb, plain
        if tense == "past":
            return "did", verb, self.past(verb)
        auxiliary, main = {
            "progressive": (BE_PRESENT[slot], self.ing(verb)),
            "continuous": (BE_PAST[slot], self.ing(verb)),
            "used": ("used to", verb),
            "future": ("will", verb),
            "going": (BE_PRESENT[slot], f"going to {verb}"),
            "perfect": ("has" if slot == 2 else "have", self.participle(verb)),
            "conditional": ("would", verb),
        }[tense]
        return auxiliary, main, ""

    def statement(self, verb: str, tense: str, slot: int, negation: str = "", adverb: str = "") -> str:
        """Return the verb group of a statement; ``negation`` is "not" or an adverb such as "never".

        The form is "doesn't eat" for "not" and "never eats" for "never".
        """
        auxiliary, main, plain = self.parts(verb, tense, slot)
        if negation == "not":
            words = (negate(auxiliary), adverb, main)
        elif plain:
            words = (negation, adverb, plain)
        else:
            words = (auxiliary, negation or adverb, main)
        return " ".join(word for word in words if word)


def _split(verb: str) -> tuple[str, str]:
    head, space, rest = verb.partition(" ")
    return head, space + rest


def _double(verb: str) -> str:
    short = re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]", verb)
    return verb + verb[-1] if short or verb in DOUBLED_ENDINGS else verb


def _regular_past(verb: str) -> str:
    if verb.endswith("e"):
        return verb + "d"
    return re.sub(r"([^aeiou])y$", r"\1i", _double(verb)) + "ed"


def number_word(number: int) -> str:
    """Write a number under 1000 in words.

    >>> number_word(21), number_word(80), number_word(201)
    ('twenty-one', 'eighty', 'two hundred and one')
    """
    if number < 20:
        return SMALL[number]
    if number < 100:
        tens = TENS[number // 10]
        return f"{tens}-{SMALL[number % 10]}" if number % 10 else tens
    hundreds = f"{SMALL[number // 100]} hundred"
    return f"{hundreds} and {number_word(number % 100)}" if number % 100 else hundreds
