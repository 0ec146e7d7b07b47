"""The embedded corpus of topics: the form of its lines, and how it is read."""

import csv
import re
from collections import Counter
from pathlib import Path

import pytest
from corpus_text import has_french_spaces, is_plain, rows

from translate.config.data import DataConfig
from translate.data.corpus import open_corpus
from translate.data.sources import Pair

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "data" / "topics"
TOPICS = sorted(path.stem for path in FOLDER.glob("*.tsv"))


def pairs_of(topic: str) -> list[tuple[str, ...]]:
    """The pairs of a file, without its header."""
    return rows(FOLDER / f"{topic}.tsv")[1:]


@pytest.mark.parametrize("topic", TOPICS)
def test_a_file_has_a_header_and_lines_of_two_sides_in_plain_characters(topic: str) -> None:
    header, *pairs = rows(FOLDER / f"{topic}.tsv")
    assert header == ("en", "fr")
    wrong = [pair for pair in pairs if len(pair) != 2 or not all(map(is_plain, pair))]
    wrong += [pair for pair in pairs if not has_french_spaces(pair[1])]
    assert not wrong


def test_no_english_side_comes_twice_and_none_is_one_of_the_hundred_judged_sentences() -> None:
    several = ("french_expressions", "set_phrases", "single_words")  # ways to translate one English side
    sides = [pair for topic in TOPICS if topic not in several for pair in pairs_of(topic)]
    assert not [text for text, count in Counter(english.lower() for english, _ in sides).items() if count > 1]
    for topic in several:
        pairs = pairs_of(topic)
        sides += pairs
        assert len({*pairs}) == len(pairs)
    with (ROOT / "docs" / "results" / "general_sentences.csv").open(encoding="utf-8", newline="") as file:
        judged = {row["source"].rstrip(".?!").lower() for row in csv.DictReader(file)}
    assert len(judged) == 100
    assert not judged & {text.rstrip(" .?!").lower() for pair in sides for text in pair}


PHRASES = ("interfaces", "set_phrases", "single_words")
UNREAD = ("valid", "valid_genres", *PHRASES)


def test_it_is_read_in_both_directions_file_after_file() -> None:
    one = open_corpus(DataConfig(source="topics"))
    other = open_corpus(DataConfig(source="topics", src_lang="fr", tgt_lang="en"))
    pairs, valid = list(one.train_source.pairs()), list(one.valid())
    assert pairs == [Pair(*pair) for topic in TOPICS if topic not in UNREAD for pair in pairs_of(topic)]
    assert valid == [Pair(*pair) for pair in pairs_of("valid")]
    assert list(other.train_source.pairs()) == [Pair(fr, en) for en, fr in pairs]


def test_set_phrases_are_a_source_of_their_own() -> None:
    phrases = open_corpus(DataConfig(source="phrases"))
    assert list(phrases.train_source.pairs()) == [Pair(*pair) for topic in PHRASES for pair in pairs_of(topic)]
    assert list(phrases.valid()) == [Pair(*pair) for pair in pairs_of("valid")]


def test_the_table_of_its_readme_counts_right() -> None:
    readme = (ROOT / "data" / "topics" / "README.md").read_text(encoding="utf-8")
    table = re.findall(r"\| `(\w+)\.tsv` \| ([\d,]+) \|", readme)
    assert {topic: int(count.replace(",", "")) for topic, count in table} == {
        topic: len(pairs_of(topic)) for topic in TOPICS
    }


def test_it_has_no_other_language() -> None:
    with pytest.raises(ValueError, match="the corpus of topics is in en and fr"):
        open_corpus(DataConfig(source="topics", tgt_lang="de"))
