"""The lexicon of the everyday corpus: nouns, verbs, adjectives and names read from tab-separated files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from generator import english, french

Row = dict[str, str]

# Adjectives which only ever follow "to be", and one which in French never does.
PREDICATE_ONLY = frozenset({"ready", "open", "closed"})
ATTRIBUTIVE_ONLY = frozenset({"new"})


@dataclass(frozen=True)
class Noun:
    """A noun of both languages; mass nouns have no plural, professions have a French feminine."""

    kind: str
    en: str
    fr: str
    en_plural: str
    fr_plural: str
    feminine: bool

    @property
    def mass(self) -> bool:
        """Whether the noun is uncountable."""
        return not self.en_plural


@dataclass(frozen=True)
class Adjective:
    """An adjective with its French genders, its place beside the French noun and the nouns it suits."""

    en: str
    fr: str
    fr_feminine: str
    before: bool
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class Verb:
    """A verb with its construction (``frame``) and the kinds of object it takes; see ``verbs.tsv``."""

    en: str
    fr: str
    frame: str
    objects: tuple[str, ...]
    state: bool
    brief: bool
    once: bool
    mishap: bool
    animal: bool

    def fit(self, tense: str) -> str:
        """Return an English tense that the verb can take instead of one that it cannot.

        Tenses that last become simple for a brief action, nobody plans a mishap, and what is done once is no habit.
        """
        if self.mishap and tense in ("future", "going", "progressive"):
            return "past"
        if self.brief:
            tense = {"progressive": "present", "continuous": "past", "used": "past"}.get(tense, tense)
        if self.once:
            tense = {"present": "past" if self.brief else "progressive", "used": "past"}.get(tense, tense)
        return tense


@dataclass(frozen=True)
class Profession:
    """A profession with its two French genders, and an English word for a woman where it differs."""

    en: str
    fr: str
    fr_feminine: str
    en_feminine: str

    def of(self, feminine: bool) -> tuple[str, str]:
        """Return the English and the French word for a man or a woman."""
        return (self.en_feminine or self.en, self.fr_feminine) if feminine else (self.en, self.fr)


@dataclass(frozen=True)
class Country:
    """A country, its adjective, and the gender ("m", "f", "mp") which decides its French prepositions."""

    en: str
    fr: str
    gender: str
    en_adjective: str
    fr_adjective: str
    fr_feminine: str

    @property
    def named(self) -> str:
        """The name with its article ("la France")."""
        return {"m": "le ", "f": "la ", "mp": "les "}[self.gender] + self.fr

    @property
    def where(self) -> str:
        """The country with "in" or "to" ("en France", "au Japon", "aux États-Unis")."""
        if self.gender == "f" or (self.gender == "m" and french.vowel_sound(self.fr)):
            return f"en {self.fr}"
        return french.a(self.named)

    @property
    def origin(self) -> str:
        """The country with "from" ("de France", "du Japon")."""
        return f"de {self.fr}" if self.where.startswith("en ") else french.de(self.named)


@dataclass(frozen=True)
class Time:
    """A time expression and the English tenses which go with it."""

    en: str
    fr: str
    tenses: tuple[str, ...]


def read_table(path: Path) -> Iterator[Row]:
    """Yield the rows of a tab-separated file with a header row; lines from "#" on are comments."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    header = lines[0].split("\t")
    for line in lines[1:]:
        cells = line.split("\t")
        yield dict(zip(header, cells + [""] * (len(header) - len(cells)), strict=True))


class Lexicon:
    """Every word of the corpus, with indexes by kind and by name."""

    def __init__(self, directory: Path) -> None:
        """Read the tables of ``directory``."""
        self._directory = directory
        self.french = french.Conjugator(self._rows("conjugations"))
        self.english = english.Verbs(self._rows("english_verbs"))
        self.professions = tuple(Profession(**row) for row in self._rows("professions"))
        self.nouns = tuple(map(_noun, self._rows("nouns"))) + tuple(map(_worker, self.professions))
        self.adjectives = tuple(map(_adjective, self._rows("adjectives")))
        self.verbs = tuple(map(_verb, self._rows("verbs")))
        self.names = tuple((row["name"], row["gender"] == "f") for row in self._rows("names"))
        self.cities = tuple((row["en"], row["fr"]) for row in self._rows("cities"))
        self.countries = tuple(map(_country, self._rows("countries")))
        self.times = tuple(Time(row["en"], row["fr"], tuple(row["tenses"].split(","))) for row in self._rows("times"))
        self._groups = {row["group"]: row["members"].split(",") for row in self._rows("kinds")}
        self._of_kinds: dict[tuple[str, ...], tuple[Noun, ...]] = {}

    def _rows(self, name: str) -> Iterator[Row]:
        return read_table(self._directory / f"{name}.tsv")

    @cached_property
    def noun(self) -> dict[str, Noun]:
        """The nouns by their English word."""
        return {noun.en: noun for noun in self.nouns}

    @cached_property
    def verb(self) -> dict[str, Verb]:
        """The verbs by their English infinitive."""
        return {verb.en: verb for verb in self.verbs}

    def of_kinds(self, kinds: tuple[str, ...]) -> tuple[Noun, ...]:
        """Return the nouns of some kinds, groups of kinds, or named one by one."""
        if kinds not in self._of_kinds:
            names = {member for kind in kinds for member in self._groups.get(kind, [kind])}
            self._of_kinds[kinds] = tuple(n for n in self.nouns if n.kind in names or n.en in names)
        return self._of_kinds[kinds]

    @cached_property
    def adjectives_of(self) -> dict[str, tuple[Adjective, ...]]:
        """The adjectives which suit each noun, by its English word."""
        suited: dict[str, tuple[Adjective, ...]] = {noun.en: () for noun in self.nouns}
        for adjective in self.adjectives:
            for noun in self.of_kinds(adjective.kinds):
                suited[noun.en] += (adjective,)
        return suited

    @cached_property
    def prices(self) -> dict[str, tuple[int, int, bool]]:
        """The lowest and highest price of each noun that has one, and whether it is sold by the kilo."""
        return {
            noun.en: (int(row["low"]), int(row["high"]), bool(row["kilo"]))
            for row in self._rows("prices")
            for noun in self.of_kinds((row["what"],))
        }

    def times_of(self, tense: str) -> list[Time]:
        """Return the time expressions which go with an English tense."""
        return [time for time in self.times if tense in time.tenses]

    def of_frame(self, *frames: str) -> tuple[Verb, ...]:
        """Return the verbs of some constructions."""
        return tuple(verb for verb in self.verbs if verb.frame in frames)


def _noun(row: Row) -> Noun:
    mass = row["en_plural"] == "-"
    en_plural = "" if mass else row["en_plural"] or english.plural(row["en"])
    fr_plural = "" if mass else row["fr_plural"] or french.plural_noun(row["fr"])
    return Noun(row["kind"], row["en"], row["fr"], en_plural, fr_plural, row["gender"] == "f")


def _worker(profession: Profession) -> Noun:
    plural = {"salesperson": "salespeople"}.get(profession.en) or english.plural(profession.en)
    return Noun("profession", profession.en, profession.fr, plural, french.plural_noun(profession.fr), False)


def _adjective(row: Row) -> Adjective:
    feminine = row["fr_feminine"] or french.feminine_adjective(row["fr"])
    return Adjective(row["en"], row["fr"], feminine, row["position"] == "before", tuple(row["kinds"].split(",")))


def _verb(row: Row) -> Verb:
    flags = row["flags"].split(",")
    objects = tuple(kind for kind in row["objects"].split(",") if kind)
    fr = row["fr"].removesuffix(" de").removesuffix(" à")
    state, brief, once, mishap, animal = (flag in flags for flag in ("state", "brief", "once", "mishap", "animal"))
    return Verb(row["en"], fr, row["frame"], objects, state, brief, once, mishap, animal)


def _country(row: Row) -> Country:
    adjectives = (row["en_adjective"], row["fr_adjective"], row["fr_adjective_feminine"])
    return Country(row["en"], row["fr"], row["gender"], *adjectives)
