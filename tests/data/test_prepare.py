"""What the cache holds of a corpus: cleaned text without what validation and the tests hold."""

from dataclasses import replace
from pathlib import Path

import pytest

from translate.config.data import DataConfig
from translate.data.cleaning import CleaningRules
from translate.data.corpus import Pair, open_corpus
from translate.data.prepare import TextStore, cached_text

SPLITS = {
    "train": [("one", "un"), ("two", "deux"), ("three", "trois"), ("four", "quatre"), ("six", "six")],
    "valid": [("one", "une"), ("zero", "quatre")],
    "test": [("ten", "dix"), ("two\t", "2"), ("nine", " trois")],
}


@pytest.fixture
def config(tmp_path: Path) -> DataConfig:
    for split, pairs in SPLITS.items():
        for lang, sides in zip(("en", "fr"), zip(*pairs, strict=True), strict=True):
            (tmp_path / f"{split}.{lang}").write_text("".join(f"{side}\n" for side in sides), encoding="utf-8")
    files = {split: [str(tmp_path / f"{split}.{lang}") for lang in ("en", "fr")] for split in SPLITS}
    return DataConfig(source="files", cache_dir=str(tmp_path / "cache"), **files)


def cleaned(config: DataConfig) -> TextStore:
    return cached_text(open_corpus(config), CleaningRules.of(config), Path(config.cache_dir))


def trained_on(config: DataConfig) -> list[Pair]:
    text = cleaned(config)
    return [text.pair("train", row) for row in range(len(text.rows["train.src"]))]


def test_sources_of_validation_and_tests_are_not_trained_on(config: DataConfig) -> None:
    assert trained_on(config) == [("three", "trois"), ("four", "quatre"), ("six", "six")]


def test_of_both_directions_neither_side_of_validation_and_tests_is_trained_on(config: DataConfig) -> None:
    extra = Path(config.cache_dir).with_name("extra.tsv")
    extra.write_text("en\tfr\nhundred\tdix\nfive\tcinq\n", encoding="utf-8")
    one_way = replace(config, extra=[str(extra)])
    leaks = [("three", "trois"), ("four", "quatre"), ("hundred", "dix")]
    assert cleaned(one_way).counts["extra"] == {"read": 2}
    assert set(trained_on(one_way)) - set(trained_on(replace(one_way, both_directions=True))) == set(leaks)
