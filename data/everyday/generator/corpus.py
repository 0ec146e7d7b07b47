"""The everyday English-French corpus: a bilingual grammar writes it from a lexicon and hand-written phrases.

Run as ``python -m generator.corpus`` to write the corpus again; the files are the same bytes each time.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from generator import clauses as c
from generator import dates as d
from generator import facts as f
from generator import joined as j
from generator import patterns as g
from generator import pronouns as p
from generator import questions as q
from generator import scenes as s
from generator.activities import write_activities
from generator.lexicon import Lexicon, read_table
from generator.phrases import Pair, finish
from generator.writer import Writer

Splits = dict[str, list[tuple[str, str]]]
Relation = tuple[str, str, str]

HERE = Path(__file__).resolve().parents[1]  # the folder of the corpus, its lexicon and phrases
SIZES = {"train": 20_000, "valid": 1_000, "test": 1_000, "test_unseen": 1_000}
DEFAULT_SEED = 2024
# One word pair in so many is held out of every split but test_unseen.
HELD_OUT_SHARE = 14
# How often "isn't" is written "is not".
FULL_FORMS = 0.3

# The sentence patterns with their weights.
PATTERNS: tuple[tuple[Callable[[Writer], Pair], int], ...] = (
    (g.statement, 14),
    (g.lasting_state, 3),
    (g.negative, 8),
    (g.with_adverb, 3),
    (g.only, 1),
    (g.since, 1),
    (g.nobody, 2),
    (g.nothing, 1),
    (g.passive, 3),
    (q.yes_no, 5),
    (q.inverted, 3),
    (q.wh_adverb, 4),
    (q.where, 3),
    (q.who, 3),
    (q.what, 2),
    (q.which, 3),
    (q.how_many, 3),
    (p.it_clitic, 4),
    (p.person_clitic, 3),
    (p.receiver_clitic, 3),
    (p.double_clitic, 2),
    (p.y_clitic, 1),
    (p.en_clitic, 1),
    (p.en_some, 2),
    (p.en_of, 2),
    (p.y_now, 1),
    (g.modal, 6),
    (p.modal_clitic, 2),
    (c.command, 3),
    (c.forbidden, 2),
    (c.let_us, 2),
    (c.command_it, 1),
    (c.two_commands, 1),
    (c.relative_subject, 3),
    (c.relative_object, 4),
    (c.relative_place, 2),
    (c.this_is_relative, 2),
    (j.because, 4),
    (j.when_future, 3),
    (j.when_past, 3),
    (j.if_real, 3),
    (j.if_unreal, 2),
    (j.while_clause, 3),
    (j.but, 1),
    (j.two_clauses, 5),
    (j.in_order_to, 2),
    (j.before_doing, 3),
    (j.after_doing, 3),
    (j.without_doing, 2),
    (j.gerund, 3),
    (j.reported, 4),
    (c.wish, 2),
    (c.just_done, 2),
    (c.already, 2),
    (c.busy, 2),
    (s.is_adjective, 6),
    (s.is_it, 2),
    (s.feeling, 2),
    (s.compare, 3),
    (s.compare_people, 2),
    (s.superlative, 2),
    (s.exclamation, 2),
    (s.colour, 1),
    (s.this_is, 3),
    (s.belongs, 2),
    (s.has, 3),
    (s.has_number, 2),
    (s.there_is, 3),
    (s.is_where, 3),
    (s.none_left, 4),
    (f.animal_meal, 3),
    (s.thing_near, 5),
    (f.profession, 2),
    (d.age, 1),
    (d.born, 1),
    (d.on_date, 1),
    (d.time_now, 1),
    (d.appointment, 2),
    (d.routine, 1),
    (d.price, 2),
    (d.ordinal, 2),
    (f.weather, 2),
    (f.if_weather, 1),
    (f.travel, 3),
    (f.by_vehicle, 2),
    (f.living, 3),
    (f.nationality, 4),
    (f.language, 3),
    (f.ache, 6),
    (f.measure, 4),
    (f.a_lot, 3),
    (f.virtue, 5),
    (f.relative_owner, 2),
)


@dataclass(frozen=True)
class Sentence:
    """A sentence pair with the word pairs that the grammar brought together in it."""

    en: str
    fr: str
    relations: tuple[Relation, ...] = ()

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of both sides, lower-cased and marked with their language."""
        return frozenset([f"en:{w}" for w in words_of(self.en)] + [f"fr:{w}" for w in words_of(self.fr)])


def words_of(text: str) -> list[str]:
    """Split a sentence into lower-case words without punctuation.

    >>> words_of("Où est l'ami de Paul ?")
    ['où', 'est', "l'", 'ami', 'de', 'paul']
    """
    for mark in ".,?!:;":
        text = text.replace(mark, " ")
    return text.lower().replace("'", "' ").split()


def read_phrases(directory: Path) -> list[Sentence]:
    """Read the hand-written sentence pairs."""
    return [Sentence(row["en"], row["fr"]) for row in read_table(directory / "phrases.tsv")]


def phrase_texts(phrases: Iterable[Sentence]) -> list[str]:
    """Return the English words of each phrase, a space before every word."""
    return [" " + " ".join(words_of(phrase.en)) for phrase in phrases]


def held_out(relation: Relation, texts: Sequence[str]) -> bool:
    """Whether a word pair is kept for test_unseen: a fixed share of them, save those met in the phrases."""
    if zlib.crc32(":".join(relation).encode()) % HELD_OUT_SHARE:
        return False
    _, first, second = (word.split()[0] for word in relation)
    return not any(f" {first}" in text and f" {second}" in text for text in texts)


def full_forms(en: str) -> str:
    """Write the contracted negations in full.

    >>> full_forms("He isn't here, he won't come and can't call.")
    'He is not here, he will not come and cannot call.'
    """
    return en.replace("won't", "will not").replace("can't", "cannot").replace("n't", " not").replace("Don't", "Do not")


def write_sentence(writer: Writer) -> Sentence:
    """Let a random pattern write one sentence."""
    pattern = writer.rng.choices([pattern for pattern, _ in PATTERNS], [weight for _, weight in PATTERNS])[0]
    writer.start()
    en, fr = finish(pattern(writer))
    if "n't " in en and not en.endswith("?") and writer.chance(FULL_FORMS):
        en = full_forms(en)
    return Sentence(en, fr, tuple(writer.noted))


def sentences(directory: Path, seed: int = DEFAULT_SEED) -> dict[str, list[Sentence]]:
    """Write the sentences of every split with their word pairs; no text of either side comes twice.

    Args:
        directory: The folder with ``lexicon/`` and ``phrases.tsv``.
        seed: The seed of the random choices.
    """
    rng = random.Random(seed)
    writer = Writer(Lexicon(directory / "lexicon"), rng)
    phrases = read_phrases(directory)
    texts = phrase_texts(phrases)
    seen = {text for phrase in phrases for text in (phrase.en, phrase.fr)}
    wanted = SIZES["train"] - len(phrases) + SIZES["valid"] + SIZES["test"]
    decisions: dict[Relation, bool] = {}
    known: list[Sentence] = []
    unseen: list[Sentence] = []
    while len(known) < wanted:
        sentence = write_sentence(writer)
        if sentence.en in seen or sentence.fr in seen or " on on " in sentence.en:
            continue
        for relation in sentence.relations:
            if relation not in decisions:
                decisions[relation] = held_out(relation, texts)
        new = any(decisions[relation] for relation in sentence.relations)
        (unseen if new else known).append(sentence)
        if not new:
            writer.accept(sentence.en)
        seen |= {sentence.en, sentence.fr}
    rng.shuffle(known)
    valid, test, rest = known[: SIZES["valid"]], known[SIZES["valid"] : SIZES["valid"] + SIZES["test"]], known[2000:]
    train = phrases + rest
    rng.shuffle(train)
    return {"train": train, "valid": valid, "test": test, "test_unseen": _known_words(unseen, train)}


def _known_words(unseen: Iterable[Sentence], train: Iterable[Sentence]) -> list[Sentence]:
    """Keep the first sentences all of whose words are in train."""
    vocabulary = {word for sentence in train for word in sentence.words}
    return [sentence for sentence in unseen if sentence.words <= vocabulary][: SIZES["test_unseen"]]


def build(seed: int = DEFAULT_SEED, directory: Path | None = None) -> Splits:
    """Write the corpus in memory.

    Args:
        seed: The seed of the random choices.
        directory: The folder of the lexicon and phrases; the one shipped with the project by default.

    Returns:
        For each of train, valid, test, test_unseen and activities its (English, French) pairs.
    """
    directory = directory or HERE
    built = sentences(directory, seed)
    splits = {split: [(sentence.en, sentence.fr) for sentence in chosen] for split, chosen in built.items()}
    return {**splits, "activities": write_activities(directory / "lexicon", seed)}


def write(directory: Path, seed: int = DEFAULT_SEED, source: Path | None = None) -> None:
    """Write ``{train,valid,test,test_unseen,activities}.{en,fr}`` into a directory (see :func:`build`)."""
    directory.mkdir(parents=True, exist_ok=True)
    for split, pairs in build(seed, source).items():
        for column, language in enumerate(("en", "fr")):
            text = "".join(pair[column] + "\n" for pair in pairs)
            (directory / f"{split}.{language}").write_text(text, encoding="utf-8", newline="\n")
