"""Mixtures of corpora: parts that are cleaned, counted, augmented and weighed by themselves."""

import gzip
import re
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from translate.config.data import DataConfig
from translate.config.parts import PartConfig
from translate.config.tokenizer import TokenizerConfig
from translate.data.augment import ADDED, Augmentation, Augmenter, join
from translate.data.corpus import open_corpus
from translate.data.datamodule import TranslationDataModule
from translate.data.epoch import EpochPairs, mixture_copies
from translate.data.rst import is_code, plain_text
from translate.data.sources import Pair
from translate.data.variants import renamed, typed, typeset

TALK = [Pair(f"Cat {i} sleeps.", f"Le chat {i} dort.") for i in range(60)]
CODE = [
    Pair(f"See :mod:`module {i} <os>` and ``word``.", f"Voir :mod:`le module {i} <os>` et ``word``.") for i in range(9)
]
CODE += [Pair("Call ``f(x)`` now.", "Appeler ``f(x)``."), Pair("x = 1", "x = 1")]


def write(folder: Path, name: str, pairs: list[Pair]) -> list[str]:
    for lang, texts in zip(("en", "fr"), zip(*pairs, strict=True), strict=True):
        with gzip.open(folder / f"{name}.{lang}.gz", "wt", encoding="utf-8") as file:
            file.writelines(text + "\n" for text in texts)
    return [f"{name}.en.gz", f"{name}.fr.gz"]


@pytest.fixture
def mixture(tmp_path: Path) -> DataConfig:
    parts = {
        "talk": PartConfig(train=write(tmp_path, "talk", [*TALK, TALK[0]]), joined=0.5, typed=0.5),
        "code": PartConfig(train=write(tmp_path, "code", CODE), markup="rst", weight=2.5),
    }
    valid = write(tmp_path, "valid", [Pair("Cat 7 sleeps.", "Un autre texte."), Pair("New.", "Nouveau.")])
    cache = str(tmp_path / "cache")
    return DataConfig(source="mix", root=str(tmp_path), parts=parts, valid=valid, batch_tokens=300, cache_dir=cache)


def prepared(config: DataConfig) -> TranslationDataModule:
    data = TranslationDataModule(config, TokenizerConfig(vocab_size=320), seed=1)
    data.prepare()
    return data


def test_each_part_is_cleaned_and_counted_by_itself(mixture: DataConfig) -> None:
    data = prepared(mixture)
    counts = data.cleaning.counts
    assert (counts["talk"]["read"], counts["talk"]["drop_duplicates"], counts["talk"]["drop_overlap"]) == (61, 1, 1)
    assert (counts["code"]["read"], counts["code"]["drop_empty"]) == (11, 2)
    added = counts["talk"]["joined"] + counts["talk"]["typed"]
    assert counts["talk"]["joined"] > 10
    assert counts["talk"]["typed"] > 10
    assert data.num_train_pairs == 59 + added + 9
    table = data.cleaning.table()
    assert table.splitlines()[0].split() == ["pairs", "talk", "code", "valid"]
    assert "added: as people type" in table


def test_no_held_out_sentence_comes_back_by_augmentation(mixture: DataConfig) -> None:
    sources, _ = prepared(mixture).texts()
    texts = list(sources)
    assert not [text for text in texts if "cat 7 " in text.lower()]
    assert "See module 3 and word." in texts


def test_no_held_out_sentence_comes_about_by_another_form(mixture: DataConfig, tmp_path: Path) -> None:
    valid = write(tmp_path, "typed", [Pair(f"cat {i} sleeps", f"chat {i}") for i in range(60)])
    talk = replace(mixture.parts["talk"], joined=0, typed=1.0)
    sources, _ = prepared(replace(mixture, parts={"talk": talk}, valid=valid)).texts()
    texts = list(sources)
    assert len(texts) > 60
    assert not [text for text in texts if text.startswith("cat") and not text.endswith(".")]


def test_an_epoch_holds_each_part_as_often_as_its_weight_says(mixture: DataConfig) -> None:
    data = prepared(mixture)
    sizes = data._store.sizes
    rows = sum(len(batch.src_ids) for batch in data.train_dataloader())
    assert rows == sizes["talk"] + round(2.5 * sizes["code"])


def test_the_same_pairs_are_added_in_every_run(mixture: DataConfig, tmp_path: Path) -> None:
    first, second = (prepared(replace(mixture, cache_dir=str(tmp_path / name))) for name in ("one", "two"))
    assert [list(side) for side in first.texts()] == [list(side) for side in second.texts()]
    parts = {**mixture.parts, "talk": replace(mixture.parts["talk"], joined=0.1)}
    less = prepared(replace(mixture, parts=parts))  # the same cache
    assert less.cleaning.counts["talk"]["joined"] < first.cleaning.counts["talk"]["joined"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parts": {}}, r"data\.source=mix needs data\.parts, the corpora by name, and data\.valid"),
        ({"valid": []}, r"data\.source=mix needs data\.parts"),
        ({"source": "everyday", "root": None, "valid": []}, r"data\.parts does nothing with data=everyday"),
        ({"parts": {"extra": PartConfig(train=["a.tsv"])}}, r"data\.parts\.extra: the name extra has a meaning"),
        ({"temperature": 0.5}, r"data\.temperature \(0\.5\) must be at least 1"),
        (
            {"drop_empty": False},
            r"data\.drop_empty=false would keep .* data\.parts\.code\.markup=rst empties; leave it",
        ),
    ],
)
def test_bad_mixtures_are_refused(mixture: DataConfig, change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(mixture, **change)  # type: ignore[arg-type]


def test_a_part_whose_pairs_are_all_too_long_is_named(mixture: DataConfig, tmp_path: Path) -> None:
    long = write(tmp_path, "long", [Pair("a " * 300, "b " * 300)])
    data = prepared(replace(mixture, parts={**mixture.parts, "long": PartConfig(train=long)}))
    with pytest.raises(ValueError, match=r"^every data\.parts\.long pair is longer than data\.max_len \(256 tokens\)"):
        len(data.train_dataloader())


def test_a_part_that_is_not_there_is_named(mixture: DataConfig) -> None:
    parts = {**mixture.parts, "lost": PartConfig(train=["nowhere.en", "nowhere.fr"])}
    with pytest.raises(ValueError, match=r"data\.parts\.lost: .*nowhere\.en: no such file"):
        open_corpus(replace(mixture, parts=parts))
    with pytest.raises(ValueError, match=r"data\.parts\.lost: data=files needs data\.train"):
        open_corpus(replace(mixture, parts={"lost": PartConfig()}))


def test_a_part_may_be_any_source(mixture: DataConfig) -> None:
    everyday = PartConfig(source="everyday", max_pairs=5)
    streams = open_corpus(replace(mixture, parts={"everyday": everyday, **mixture.parts})).streams()
    assert {name: len(list(pairs)) for name, pairs in streams.items()} == {"everyday": 5, "talk": 61, "code": 11}


def test_a_part_of_the_hub_has_its_own_folder_columns_and_split(mixture: DataConfig, tmp_path: Path) -> None:
    rows = {"sourceString": [pair.src for pair in TALK], "targetString": [pair.tgt for pair in TALK]}
    (tmp_path / "hub" / "eng-fra").mkdir(parents=True)
    parquet.write_table(pyarrow.table(rows), tmp_path / "hub" / "eng-fra" / "validation-0.parquet")
    part = PartConfig(
        source="hub",
        hub_id="Helsinki-NLP/tatoeba_mt",
        hub_config="eng-fra",
        hub_split="validation",
        root=str(tmp_path / "hub"),
        src_column="sourceString",
        tgt_column="targetString",
    )
    streams = open_corpus(replace(mixture, parts={"tatoeba": part, **mixture.parts})).streams()
    assert list(streams["tatoeba"]) == TALK


@given(st.lists(st.tuples(st.integers(1, 50), st.floats(1, 4)), min_size=1, max_size=4), st.booleans())
def test_every_pair_comes_as_often_as_its_copies_say(parts: list[tuple[int, float]], both: bool) -> None:
    sizes, copies = zip(*parts, strict=True)
    epoch = EpochPairs(sizes, copies, both_directions=both)
    lengths = np.arange(sum(sizes))
    src, tgt = epoch.lengths(lengths, lengths + 100)
    rows, turned = epoch.locate(np.arange(len(src)))
    assert (src == np.where(turned, rows + 100, rows)).all()
    assert (tgt == np.where(turned, rows, rows + 100)).all()
    times = np.bincount(rows[~turned], minlength=sum(sizes))
    start = 0
    for size, often in parts:
        own = times[start : start + size]
        assert own.sum() == int(often) * size + round((often % 1) * size)
        assert own.max() - own.min() <= 1
        start += size


def test_temperature_gives_small_parts_more_room() -> None:
    sizes, weights = {"large": 1000, "small": 10}, {"large": 1.0, "small": 1.0}
    assert mixture_copies(sizes, weights, 1.0) == [1.0, 1.0]
    assert mixture_copies(sizes, weights, 2.0) == [1.0, 10.0]
    assert mixture_copies(sizes, {"large": 3.0, "small": 1.5}, 1.0) == [2.0, 1.0]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Use :func:`~os.path.join` here.", "Use os.path.join here."),
        (":ref:`the guide <topics/db>` **must** be *read*", "the guide must be read"),
        ("A `link <https://x.org/a_b>`__ and `other`_", "A link and other"),
        ("|release| of ``Python 3``", "release of Python 3"),
        ("2 * 3 * 4 and a*b", "2 * 3 * 4 and a*b"),
        ("nothing", "nothing"),
    ],
)
def test_markup_becomes_the_words_that_a_reader_sees(text: str, plain: str) -> None:
    assert plain_text(text) == plain
    assert plain_text(plain) == plain


@given(st.text(alphabet="ab `:<>*|_~", max_size=40))
def test_any_text_becomes_plain_in_one_pass_at_most_shorter(text: str) -> None:
    assert len(plain_text(text)) <= len(text)


def test_code_is_told_from_language() -> None:
    assert all(map(is_code, ["x = 1", "f()", "see https://x.org", "a::b", "1 2 3 4 5 6", "{name}"]))
    assert not any(map(is_code, ["Good morning.", "C'est l'été, n'est-ce pas ?", "Python 3 is here."]))


def test_typed_pairs_differ_in_case_and_end_alone() -> None:
    random = Random(0)
    pair = Pair("Where is Tom now?", "Où est Tom\u202f?")
    assert {form for _ in range(200) for form in typed(pair, random)} == {
        Pair("where is tom now", "où est tom"),
        Pair("Where is Tom now", "Où est Tom"),
        Pair("where is tom now?", "où est tom\u202f?"),
        Pair("WHERE IS TOM NOW?", "OÙ EST TOM\u202f?"),
    }
    assert len(typed(pair, random)) == 1
    assert typed(Pair("Is that really?", "Vraiment."), random) == []
    assert typed(Pair("no end", "sans fin"), random) == []
    assert typed(Pair("...", "..."), random) == []


def test_short_pairs_are_typed_in_every_form() -> None:
    assert typed(Pair("Hello, Tom!", "Salut, Tom\u202f!"), Random(0)) == [
        Pair("hello, tom", "salut, tom"),
        Pair("Hello, Tom", "Salut, Tom"),
        Pair("hello, tom!", "salut, tom\u202f!"),
        Pair("HELLO, TOM!", "SALUT, TOM\u202f!"),
        Pair("Hello, Tom.", "Salut, Tom."),
    ]
    assert [form.src for form in typed(Pair("Who is it?", "Qui est-ce ?"), Random(0))] == [
        "who is it",
        "Who is it",
        "who is it?",
        "WHO IS IT?",
    ]


@pytest.mark.parametrize(
    ("pair", "printed"),
    [
        (("I'm here.", "J'y suis, l'ami."), ("I’m here.", "J’y suis, l’ami.")),
        (('He said: "Why?"', 'Il dit : "Pourquoi ?"'), ("He said: “Why?”", "Il dit : « Pourquoi ? »")),
        (('Say "yes"!', "Dis « oui » !"), ("Say “yes”!", "Dis « oui » !")),
        (("Who are you?", "Qui es-tu ?"), None),  # English does not show the style
        (("It's me.", "Me voici."), None),
    ],
)
def test_typeset_pairs_have_the_marks_of_print_on_both_sides(
    pair: tuple[str, str], printed: tuple[str, str] | None
) -> None:
    assert typeset(Pair(*pair), ("en", "fr")) == printed
    assert typeset(Pair(*pair[::-1]), ("fr", "en")) == (printed and printed[::-1])


def test_renamed_pairs_have_the_same_new_names_and_numbers_on_both_sides() -> None:
    random = Random(1)
    for _ in range(50):
        pair = renamed(Pair("Tom's bus 12 left Mary in 1999.", "Le bus 12 de Tom quitta Marie en 1999."), random)
        assert pair is not None
        words = re.fullmatch(r"(\w+)'s bus (\d\d) left Mary in (\d{4})\.", pair.src)
        assert words is not None
        assert pair.tgt == f"Le bus {words[2]} de {words[1]} quitta Marie en {words[3]}."
        assert words[1] != "Tom"
        assert words[1][0] not in "AEHIOU"
    for pair in (("Alice is here.", "Alice est ici."), ("He is 7.", "Il a 7 ans."), ("$1,250.50", "1,250.50 $")):
        assert renamed(Pair(*pair), random) is None


def test_a_kind_of_added_pairs_does_not_change_the_others() -> None:
    pairs = [Pair(f"I'm with Tom {i}.", f"J'y suis avec Tom {i}.") for i in range(40)]

    def added(settings: Augmentation) -> list[tuple[str, Pair]]:
        augmenter = Augmenter(settings, "talk")
        return [one for pair in pairs for one in augmenter.more(pair)]

    every = added(Augmentation(joined=0.5, typed=0.5, typeset=0.5, renamed=0.5))
    assert {kind for kind, _ in every} == set(ADDED)
    both = added(Augmentation(joined=0.5, renamed=0.5))
    assert both == [(kind, pair) for kind, pair in every if kind in ("joined", "renamed")]


def test_typed_pairs_have_other_names_in_as_many_as_get_them_by_themselves() -> None:
    pairs = [Pair(f"I'm with Tom {i}.", f"J'y suis avec Tom {i}.") for i in range(400)]

    def with_tom(share: float) -> float:
        augmenter = Augmenter(Augmentation(typed=1.0, renamed=share), "talk")
        typed_ones = [one for pair in pairs for kind, one in augmenter.more(pair) if kind == "typed"]
        assert len(typed_ones) == len(pairs)
        toms = [["tom" in side.lower().split() for side in one] for one in typed_ones]
        assert all(src == tgt for src, tgt in toms)
        return sum(src for src, _ in toms) / len(toms)

    assert with_tom(0.0) == 1.0
    assert with_tom(1.0) == 0.0
    assert 0.4 < with_tom(0.5) < 0.6


def test_joined_pairs_are_of_whole_pairs_in_the_same_order_on_both_sides() -> None:
    augmenter = Augmenter(Augmentation(joined=1.0), "talk")
    known = dict(TALK)
    for pair in TALK:
        for kind, joined in augmenter.more(pair):
            assert kind == "joined"
            sentences = [text + "." for text in joined.src.split(". ")]
            sentences[-1] = sentences[-1].removesuffix(".")
            assert 2 <= len(sentences) <= 5
            assert joined.tgt == " ".join(known[sentence] for sentence in sentences)
    assert join([Pair("a", "b"), Pair("c", "d")]) == ("a c", "b d")


def test_a_setting_of_a_part_and_a_missing_folder_are_named(mixture: DataConfig) -> None:
    parts = {name: replace(part, weight=0) if name == "talk" else part for name, part in mixture.parts.items()}
    with pytest.raises(ValueError, match=r"data\.parts\.talk\.weight \(0\) must be above 0"):
        replace(mixture, parts=parts)
    parts = {"talk": PartConfig(train=["nowhere/a.en", "nowhere/a.fr"])}
    with pytest.raises(ValueError, match=r"data\.parts\.talk: nowhere/a\.en: no such file; data\.root=DIR"):
        open_corpus(replace(mixture, parts=parts, root=None))
