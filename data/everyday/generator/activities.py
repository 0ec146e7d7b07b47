"""Sentences of what people do, such as "A man is riding a horse.", for the general model."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from generator import english, french
from generator.french import Agreement
from generator.lexicon import Lexicon, read_table
from generator.phrases import EMPTY, FRENCH_TENSES, PRONOUNS, Nominal, Pair, finish, seq

SIZE = 4_000
_PLACES = 0.35  # of the sentences end in where or when
_STATES = ("progressive", "continuous")  # tenses of those whose French is where somebody is
_AGREEING = {"assis": "assise", "allongé": "allongée"}
JUDGED = frozenset({"A man is riding a horse."})  # by which the general model is judged
_INDEFINITE = ("a ", "an ", "two ", "three ", "several ", "many ", "some ", "four ")
_AROUND = {"progressive": ("place", "time"), "present": ("often",), "continuous": ("place",), "going": ("place",)}


@dataclass(frozen=True)
class Activity:
    """What is done, with all that belongs to the verb."""

    en: str
    fr: str
    flags: tuple[str, ...]

    def fits(self, person: Nominal, tense: str) -> bool:
        """Return whether a person does it in a tense; "middle" is the French "en train de"."""
        if "state" in self.flags and tense not in _STATES:
            return False
        return not ("lasting" in self.flags and tense == "middle") and not ("one" in self.flags and person.slot == 5)


ME, YOU = PRONOUNS[:2]


class ActivityWriter:
    """Write sentences, each of a random person, activity and surrounding.

    Args:
        directory: The folder of the lexicon.
        rng: Makes the random choices.
    """

    def __init__(self, directory: Path, rng: random.Random) -> None:
        self.rng, self.lexicon = rng, Lexicon(directory)
        self.people = [
            Nominal(row["en"], row["fr"], Agreement(int(row["slot"]), bool(row["feminine"])))
            for row in read_table(directory / "people.tsv")
        ]
        self.strangers = [person for person in self.people if person.en.startswith(_INDEFINITE)]
        self.activities = [
            Activity(row["en"], row["fr"], tuple(row["flags"].split(",")))
            for row in read_table(directory / "activities.tsv")
        ]
        self._around: dict[str, list[Pair]] = {}
        for row in read_table(directory / "surroundings.tsv"):
            self._around.setdefault(row["kind"], []).append(Pair(row["en"], row["fr"]))

    def sentence(self) -> Pair:
        """Write one sentence."""
        write, tense = self.rng.choices([one[:2] for one in PATTERNS], [one[2] for one in PATTERNS])[0]
        person = self.rng.choice(self.strangers if write in (caption, there_is) else self.people)
        activity = self.rng.choice([one for one in self.activities if one.fits(person, tense)])
        return finish(write(self, person, activity, tense))

    def doing(self, person: Nominal, activity: Activity, tense: str) -> Pair:
        """Put the activity into a tense, without the person."""
        words = self.lexicon.english.statement(activity.en, tense, person.slot)
        return Pair(words, self._finite(person, activity, FRENCH_TENSES[tense]))

    def infinitive(self, person: Nominal, activity: Activity) -> str:
        """Return the French infinitive."""
        return french.infinitive_phrase(activity.fr, person.slot)

    def around(self, activity: Activity, *kinds: str) -> Pair:
        """Choose where or when, or neither."""
        if self.rng.random() >= _PLACES and "often" not in kinds:
            return EMPTY
        pair = self.rng.choice([pair for kind in kinds for pair in self._around[kind]])
        return EMPTY if pair.en in activity.en else pair

    def _finite(self, person: Nominal, activity: Activity, tense: str) -> str:
        words = french.predicate(self.lexicon.french, activity.fr, tense, person.agreement).statement().split(" ")
        return " ".join(
            french.agree(word, _AGREEING[word], person.agreement) if word in _AGREEING else word for word in words
        )


def statement(w: ActivityWriter, person: Nominal, activity: Activity, tense: str) -> Pair:
    """Write "A man is riding a horse in the park."."""
    around = w.around(activity, *_AROUND[tense])
    return _end(seq(person.pair, w.doing(person, activity, tense), around))


def about_me(w: ActivityWriter, _: Nominal, activity: Activity, tense: str) -> Pair:
    """Write "I am riding a horse."."""
    return statement(w, ME, activity, tense)


def caption(w: ActivityWriter, person: Nominal, activity: Activity, tense: str) -> Pair:
    """Write "A man riding a horse."."""
    return _end(_scene(w, person, activity, tense))


def there_is(w: ActivityWriter, person: Nominal, activity: Activity, tense: str) -> Pair:
    """Write "There is a man riding a horse."."""
    scene = _scene(w, person, activity, tense)
    return _end(Pair(f"there {english.BE_PRESENT[person.slot]} {scene.en}", f"il y a {scene.fr}"))


def _scene(w: ActivityWriter, person: Nominal, activity: Activity, tense: str) -> Pair:
    finite = w.doing(person, activity, tense).fr
    words = f"{person.en} {w.lexicon.english.ing(activity.en)}"
    return seq(Pair(words, f"{person.fr} qui {finite}"), w.around(activity, "place"))


def in_the_middle(w: ActivityWriter, person: Nominal, activity: Activity, _: str) -> Pair:
    """Write "A man is riding a horse." with "en train de"."""
    being = w.lexicon.french.finite("être", "present", person.slot)
    words = w.lexicon.english.statement(activity.en, "progressive", person.slot)
    return _end(Pair(f"{person.en} {words}", f"{person.fr} {being} en train de {w.infinitive(person, activity)}"))


def wish(w: ActivityWriter, person: Nominal, activity: Activity, _: str) -> Pair:
    """Write "My sister wants to ride a horse."."""
    head, verb = w.rng.choice((("want to", "vouloir"), ("like to", "aimer"), ("have to", "devoir")))
    person = w.rng.choice((person, ME, YOU))
    group = seq(
        person.pair,
        Pair(w.lexicon.english.statement(head, "present", person.slot), ""),
        Pair(activity.en, f"{w.lexicon.french.finite(verb, 'present', person.slot)} {w.infinitive(person, activity)}"),
    )
    return _end(group)


def would_like(w: ActivityWriter, person: Nominal, activity: Activity, _: str) -> Pair:
    """Write "I would like to ride a horse."."""
    person = w.rng.choice((person, ME, ME))
    finite = w.lexicon.french.finite("aimer", "conditional", person.slot)
    words = f"{person.fr} {finite} {w.infinitive(person, activity)}"
    return _end(Pair(f"{person.en} would like to {activity.en}", words))


def question(w: ActivityWriter, person: Nominal, activity: Activity, tense: str) -> Pair:
    """Write "Is the man riding a horse?"."""
    person = w.rng.choice((person, YOU))
    words = f"{english.BE_PRESENT[person.slot]} {person.en} {w.lexicon.english.ing(activity.en)}?"
    return Pair(words, f"est-ce que {person.fr} {w.doing(person, activity, tense).fr} ?")


def can_you(w: ActivityWriter, _: Nominal, activity: Activity, __: str) -> Pair:
    """Write "Can you ride a horse?"."""
    head, words = w.rng.choice(
        (("can you", "pouvez-vous"), ("do you want to", "voulez-vous"), ("do you like to", "aimez-vous"))
    )
    return Pair(f"{head} {activity.en}?", f"{words} {w.infinitive(YOU, activity)} ?")


def who(w: ActivityWriter, _: Nominal, activity: Activity, tense: str) -> Pair:
    """Write "Who is riding a horse?"."""
    one = Nominal("who", "qui", Agreement())
    return Pair(f"who is {w.lexicon.english.ing(activity.en)}?", f"qui {w.doing(one, activity, tense).fr} ?")


# The patterns, their tenses and weights.
PATTERNS: tuple[tuple[Callable[[ActivityWriter, Nominal, Activity, str], Pair], str, int], ...] = (
    (statement, "progressive", 45),
    (statement, "present", 8),
    (statement, "continuous", 8),
    (statement, "going", 6),
    (about_me, "progressive", 6),
    (about_me, "going", 2),
    (caption, "progressive", 8),
    (there_is, "progressive", 5),
    (in_the_middle, "middle", 6),
    (wish, "present", 6),
    (would_like, "present", 3),
    (question, "progressive", 4),
    (can_you, "present", 4),
    (who, "progressive", 2),
)


def write_activities(directory: Path, seed: int) -> list[tuple[str, str]]:
    """Write pairs; no text of either side comes twice.

    Args:
        directory: The folder of the lexicon.
        seed: The seed of the random choices.
    """
    writer = ActivityWriter(directory, random.Random(seed))
    seen: set[str] = set()
    pairs: list[tuple[str, str]] = []
    while len(pairs) < SIZE:
        pair = writer.sentence()
        if seen.isdisjoint(pair) and pair.en not in JUDGED:
            pairs.append(tuple(pair))
            seen.update(pair)
    return pairs


def _end(pair: Pair) -> Pair:
    return Pair(pair.en + ".", pair.fr + ".")
