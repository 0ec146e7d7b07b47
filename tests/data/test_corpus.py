"""Every source gives the same pairs, and what is wrong with a file is said with its name and line."""

import dataclasses
import gzip
import json
import subprocess
import sys
from pathlib import Path

import datasets
import pytest
from omegaconf import OmegaConf

from translate.common.resources import conf_dir
from translate.config.data import DataConfig
from translate.config.parts import PartConfig
from translate.data.corpus import Corpus, Pair, open_corpus
from translate.data.sources import FileSource

PAIRS = [
    Pair("One.", "Un."),
    Pair('Two, "too".', "Deux."),
    Pair("Three\u2028is\x85one line", "Trois\x0c!"),
    Pair("🙂", ""),
]
MULTI30K = Path(__file__).parents[3] / "shared" / "multi30k" / "raw"


def write_lines(path: Path, lines: list[str], newline: str = "\n", bom: bool = False) -> str:
    data = "".join(line + newline for line in lines).encode("utf-8-sig" if bom else "utf-8")
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


def write_text(folder: Path, name: str, pairs: list[Pair], ending: str = "") -> list[str]:
    return [
        write_lines(folder / f"{name}.{lang}{ending}", [pair[i] for pair in pairs])
        for i, lang in enumerate(("en", "fr"))
    ]


def write_table(folder: Path, ending: str, pairs: list[Pair], columns: tuple[str, str] = ("en", "fr")) -> list[str]:
    path = folder / f"pairs{ending}"
    rows = [dict(zip(columns, pair, strict=True)) for pair in pairs]
    if ending.startswith(".parquet"):
        datasets.Dataset.from_list(rows).to_parquet(path)
    elif ending.startswith(".arrow"):
        write_arrow(rows, path)
    elif ending.startswith(".json"):
        write_lines(path, [json.dumps(row, ensure_ascii=False) for row in rows])
    elif ending.startswith(".csv"):
        quote = lambda text: '"' + text.replace('"', '""') + '"'  # noqa: E731
        write_lines(path, [",".join(columns), *(",".join(map(quote, pair)) for pair in pairs)])
    else:
        write_lines(path, ["\t".join(columns), *("\t".join(pair) for pair in pairs)])
    return [str(path)]


def write_arrow(rows: list[dict], path: Path) -> None:
    from datasets.arrow_writer import ArrowWriter

    with ArrowWriter(path=str(path)) as writer:
        for row in rows:
            writer.write(row)
        writer.finalize()


def files(train: list[str], **settings) -> Corpus:
    return open_corpus(DataConfig(**{"source": "files", "train": train, "valid": train, "test": train, **settings}))


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_line_aligned_text_is_read_line_by_line(tmp_path, ending):
    corpus = files(write_text(tmp_path, "train", PAIRS, ending))
    assert list(corpus.train()) == list(corpus.valid()) == corpus.test("train") == PAIRS


FORMATS = [".tsv", ".tsv.gz", ".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".json", ".parquet", ".arrow"]


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("columns", [("en", "fr"), ("English text", "French")])
def test_one_file_with_both_sides(tmp_path, ending, columns):
    names = {} if columns == ("en", "fr") else {"src_column": columns[0], "tgt_column": columns[1]}
    corpus = files(write_table(tmp_path, ending, PAIRS, columns), **names)
    assert list(corpus.train()) == PAIRS
    assert corpus.test_names == ("pairs",)


@pytest.mark.parametrize("ending", FORMATS)
def test_a_missing_column_is_named_with_those_that_are_there(tmp_path, ending):
    corpus = files(write_table(tmp_path, ending, PAIRS, ("en", "français")), src_column="en", tgt_column="french")
    with pytest.raises(ValueError, match=r"pairs\..*no column 'french'; there are 'en', 'français'"):
        list(corpus.train())


def test_languages_choose_the_columns_so_that_the_direction_is_one_override(tmp_path):
    paths = write_table(tmp_path, ".csv", PAIRS)
    assert list(files(paths, src_lang="fr", tgt_lang="en").train()) == [pair[::-1] for pair in PAIRS]


def test_a_tsv_without_header_is_source_and_target(tmp_path):
    path = write_lines(tmp_path / "pairs.tsv", ["\t".join(pair) for pair in PAIRS])
    assert list(files([path]).train()) == PAIRS


def test_rows_of_the_hub_schema_are_read_from_json_lines_and_parquet(tmp_path):
    rows = [{"id": "0", "translation": {"en": pair.src, "fr": pair.tgt}} for pair in PAIRS]
    path = write_lines(tmp_path / "pairs.jsonl", [json.dumps(row) for row in rows])
    assert list(files([path]).train()) == PAIRS
    datasets.Dataset.from_list(rows).to_parquet(tmp_path / "pairs.parquet")
    assert list(files([str(tmp_path / "pairs.parquet")]).train()) == PAIRS


def test_a_column_may_be_called_translation(tmp_path):
    paths = write_table(tmp_path, ".parquet", PAIRS, ("en", "translation"))
    assert list(files(paths, src_column="en", tgt_column="translation").train()) == PAIRS


def test_endings_of_files_may_be_in_capitals(tmp_path):
    (path,) = write_table(tmp_path, ".tsv", PAIRS)
    assert list(files([str(Path(path).rename(tmp_path / "PAIRS.TSV"))]).train()) == PAIRS


def test_a_byte_order_mark_and_carriage_returns_are_not_text(tmp_path):
    en = write_lines(tmp_path / "a.en", ["One", "Two"], newline="\r\n", bom=True)
    fr = write_lines(tmp_path / "a.fr", ["Un", "Deux\rtrois"])
    assert list(files([en, fr]).train()) == [("One", "Un"), ("Two", "Deux\rtrois")]


def test_a_last_line_without_end_counts(tmp_path):
    (tmp_path / "a.en").write_text("One\nTwo")
    (tmp_path / "a.fr").write_text("Un\nDeux\n")
    assert list(files([str(tmp_path / "a.en"), str(tmp_path / "a.fr")]).train()) == [("One", "Un"), ("Two", "Deux")]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"gone\.en: no such file"):
        files([str(tmp_path / "gone.en"), str(tmp_path / "gone.fr")])


@pytest.mark.parametrize(("src", "tgt"), [(3, 5), (5, 3)])
def test_different_line_counts_are_both_stated(tmp_path, src, tgt):
    paths = [write_lines(tmp_path / "a.en", ["x"] * src), write_lines(tmp_path / "a.fr", ["y"] * tgt)]
    with pytest.raises(ValueError, match=rf"a\.en has {src} lines and .*a\.fr has {tgt}"):
        list(files(paths).train())


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_invalid_utf8_is_reported_with_file_and_line(tmp_path, ending):
    paths = write_text(tmp_path, "a", PAIRS, ending)
    data = b"fine\nalso fine\nd\xe9j\xe0 vu\nfine\n"
    Path(paths[1]).write_bytes(gzip.compress(data) if ending else data)
    with pytest.raises(ValueError, match=rf"a\.fr{ending}, line 3: invalid UTF-8 \(byte 0xe9 at position 1\)"):
        list(files(paths).train())


def test_gzip_that_is_not_gzip_or_cut_off_is_reported(tmp_path):
    paths = write_text(tmp_path, "a", PAIRS * 200, ".gz")
    whole = Path(paths[0]).read_bytes()
    Path(paths[0]).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"a\.en\.gz, after line \d+: the gzip file ends too early"):
        list(files(paths).train())
    Path(paths[0]).write_text("plain text")
    with pytest.raises(ValueError, match=r"a\.en\.gz.*not gzip"):
        list(files(paths).train())


@pytest.mark.parametrize(
    ("name", "lines", "message"),
    [
        ("a.tsv", ["en\tfr", "One\tUn", "Two"], r"a\.tsv, line 3: 1 fields where 2 are needed"),
        ("a.csv", ["en,fr", 'One,"Un'], r"a\.csv, line 2: not CSV"),
        ("a.jsonl", ['{"en": "One", "fr": "Un"}', "{"], r"a\.jsonl, line 2: not JSON"),
        ("a.jsonl", ['{"en": "One", "fr": 1}'], r"a\.jsonl, line 1: 'en' and 'fr' must be strings"),
        ("a.jsonl", ["[" * 100_000], r"a\.jsonl, line 1: not JSON"),
        ("a.jsonl", ["[1]"], r"a\.jsonl, line 1: not a JSON object"),
        ("a.parquet", ["no table"], r"a\.parquet: not a parquet file"),
    ],
)
def test_damaged_tables_are_reported_with_file_and_line(tmp_path, name, lines, message):
    corpus = files([write_lines(tmp_path / name, lines)])
    with pytest.raises(ValueError, match=message):
        list(corpus.train())


def test_an_empty_corpus_is_an_error(tmp_path):
    corpus = files(write_text(tmp_path, "train", []))
    with pytest.raises(ValueError, match="no training pairs"):
        list(corpus.train())
    with pytest.raises(ValueError, match="no pairs for valid"):
        list(corpus.valid())


def test_a_file_ending_that_says_nothing_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"pairs\.txt: a file with both sides must end in \.tsv"):
        files([write_lines(tmp_path / "pairs.txt", ["a\tb"])])


def test_missing_splits_are_taken_from_the_head_of_train(tmp_path):
    pairs = [Pair(f"sentence {i}", f"phrase {i}") for i in range(10)]
    paths = write_text(tmp_path, "train", pairs)
    corpus = files(paths, valid=[], test=[], holdout=2)
    assert list(corpus.valid()) == pairs[:2]
    assert corpus.test_names == ("holdout",)
    assert corpus.test("holdout") == pairs[2:4]
    assert list(corpus.train()) == pairs[4:]
    assert list(files(paths, valid=[], holdout=3, max_pairs=4).train()) == pairs[3:7]
    with pytest.raises(ValueError, match=r"no training pairs after the first 10, .*lower data\.holdout"):
        list(files(paths, valid=[], test=[], holdout=5).train())
    with pytest.raises(
        ValueError, match=r"no pairs for holdout: its first 10 are held out .*; lower data\.holdout, or give data\.test"
    ):
        files(paths, valid=[], test=[], holdout=10).test("holdout")


def test_the_fingerprint_follows_the_contents(tmp_path):
    paths = write_text(tmp_path, "train", PAIRS)
    first = files(paths).fingerprint
    (tmp_path / "copy").mkdir()
    assert files(write_text(tmp_path / "copy", "train", PAIRS)).fingerprint == first
    assert files(paths, max_pairs=2).fingerprint != first
    assert files(paths[::-1], src_lang="fr", tgt_lang="en").fingerprint != first
    write_text(tmp_path, "train", PAIRS[:3])
    assert files(paths).fingerprint != first


def test_extra_pairs_come_with_every_source_and_belong_to_the_fingerprint(tmp_path):
    extra = write_table(tmp_path, ".jsonl", PAIRS) + write_table(tmp_path, ".tsv.gz", PAIRS[:2])
    for config in (DataConfig(), DataConfig(source="files", train=write_text(tmp_path, "train", PAIRS), holdout=1)):
        own, more = open_corpus(config), open_corpus(dataclasses.replace(config, extra=extra))
        assert list(more.streams()["extra"]) == [*PAIRS, *PAIRS[:2]]
        assert next(more.train()) == next(own.train())
        assert more.fingerprint != own.fingerprint
        assert open_corpus(dataclasses.replace(config, extra=extra).own).fingerprint == own.fingerprint
    turned = open_corpus(DataConfig(src_lang="fr", extra=extra))
    assert next(turned.streams()["extra"]) == PAIRS[0][::-1]
    with pytest.raises(ValueError, match=r"data\.extra \(pairs\.fr\): each is one file with both sides, .* \.tsv"):
        open_corpus(DataConfig(extra=["pairs.fr"]))


def test_the_hash_of_a_large_file_is_remembered_until_it_changes(tmp_path, monkeypatch):
    monkeypatch.setattr("translate.data.sources._REMEMBER_FROM", 1)
    path, cache = write_lines(tmp_path / "a.tsv", ["a\tb"]), str(tmp_path / "cache")
    source = FileSource((path,), ("en", "fr"), cache_dir=cache)
    first = source.identity()
    assert source.identity() == first
    assert len(list((tmp_path / "cache" / "hashes").iterdir())) == 1
    write_lines(Path(path), ["a\tc", "d\te"])
    assert source.identity() != first


def test_everyday_is_there_in_both_directions():
    corpus, turned = (open_corpus(DataConfig(src_lang=src, tgt_lang=tgt)) for src, tgt in (("en", "fr"), ("fr", "en")))
    assert corpus.test_names == ("everyday_test", "everyday_unseen")
    assert next(turned.train()) == next(corpus.train())[::-1]
    assert turned.test("everyday_unseen")[0] == corpus.test("everyday_unseen")[0][::-1]
    with pytest.raises(ValueError, match=r"data\.tgt_lang \(de\): everyday is in en and fr"):
        open_corpus(DataConfig(tgt_lang="de"))
    with pytest.raises(ValueError, match=r"no test set 'news'; there are: everyday_test, everyday_unseen"):
        corpus.test("news")


def test_multi30k_is_read_from_a_folder_gz_or_plain_with_the_test_sets_it_has(tmp_path):
    write_text(tmp_path, "train", PAIRS, ".gz")
    write_text(tmp_path, "val", PAIRS[:2])
    write_text(tmp_path, "test_2018_flickr", PAIRS[:1], ".gz")
    corpus = open_corpus(DataConfig(source="multi30k", root=str(tmp_path)))
    assert list(corpus.train()) == PAIRS
    assert list(corpus.valid()) == PAIRS[:2]
    assert corpus.test_names == ("test_2018_flickr",)
    (tmp_path / "val.fr").unlink()
    with pytest.raises(ValueError, match=r"no file val\.fr or val\.fr\.gz"):
        open_corpus(DataConfig(source="multi30k", root=str(tmp_path)))
    with pytest.raises(ValueError, match=r"data\.root \(/no/such/folder\) is not a folder"):
        open_corpus(DataConfig(source="multi30k", root="/no/such/folder"))


@pytest.mark.skipif(not MULTI30K.is_dir(), reason="Multi30k is not at ../shared/multi30k")
def test_the_real_multi30k_has_its_known_sizes():
    corpus = open_corpus(DataConfig(source="multi30k", root=str(MULTI30K)))
    assert sum(1 for _ in corpus.train()) == 29_000
    assert sum(1 for _ in corpus.valid()) == 1_014
    assert len(corpus.test("test_2016_flickr")) == 1_000


HUB = {"source": "hub", "hub_id": "Helsinki-NLP/opus-100", "hub_config": "en-fr"}


def write_hub(folder: Path, splits: dict[str, list[Pair]], kind: str = "parquet") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    features = datasets.Features({"translation": datasets.Translation(languages=["en", "fr"])})
    for split, pairs in splits.items():
        middle = (len(pairs) + 1) // 2
        for part, chunk in enumerate((pairs[:middle], pairs[middle:])):
            rows = [{"translation": {"en": pair.src, "fr": pair.tgt}} for pair in chunk]
            path = folder / f"{split}-{part:05}-of-00002.{kind}"
            if kind == "parquet":
                datasets.Dataset.from_list(rows, features=features).to_parquet(path)
            else:
                write_arrow(rows, path)


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("folders", ["", "en-fr", "SPLIT", "en-fr/SPLIT"])
def test_hub_datasets_are_read_from_local_files_of_their_schema(tmp_path, kind, folders):
    for split, pairs in {"train": PAIRS, "validation": PAIRS[:3], "test": PAIRS[1:3]}.items():
        write_hub(tmp_path / folders.replace("SPLIT", split), {split: pairs}, kind)
    corpus = open_corpus(DataConfig(root=str(tmp_path), **HUB))
    assert list(corpus.train()) == PAIRS
    assert list(corpus.valid()) == PAIRS[:3]
    assert corpus.test_names == ("opus_100_test",)
    assert corpus.test("opus_100_test") == PAIRS[1:3]


@pytest.mark.parametrize(
    ("preset", "splits"),
    [
        ("opus100", ("train", "validation", "test")),
        ("wmt14", ("train", "validation", "test")),
        ("opus_books", ("train",)),
    ],
)
def test_settings_of_public_datasets_read_local_parquet_of_their_layout(tmp_path, preset, splits):
    settings = OmegaConf.load(conf_dir() / "data" / f"{preset}.yaml")
    folder = tmp_path / settings["hub_config"]
    pairs = [Pair(f"Sentence {number}.", f"Phrase {number}.") for number in range(9)]
    write_hub(folder, {split: pairs if split == "train" else pairs[:2] for split in splits})
    corpus = open_corpus(DataConfig(root=str(tmp_path), holdout=2, **settings))
    head = 0 if "test" in splits else 4
    assert list(corpus.train()) == pairs[head:]
    assert list(corpus.valid()) == pairs[:2]
    assert corpus.test(*corpus.test_names) == (pairs[2:4] if head else pairs[:2])


def test_a_hub_dataset_with_train_only_gives_up_its_head(tmp_path):
    write_hub(tmp_path, {"train": PAIRS})
    corpus = open_corpus(DataConfig(root=str(tmp_path), holdout=1, src_lang="fr", tgt_lang="en", **HUB))
    assert list(corpus.valid()) == [PAIRS[0][::-1]]
    assert corpus.test("opus_100_holdout") == [PAIRS[1][::-1]]
    assert list(corpus.train()) == [pair[::-1] for pair in PAIRS[2:]]


def test_a_hub_folder_without_train_or_with_other_languages_is_an_error(tmp_path):
    write_hub(tmp_path, {"test": PAIRS})
    with pytest.raises(ValueError, match="no train split"):
        open_corpus(DataConfig(root=str(tmp_path), **HUB))
    write_hub(tmp_path, {"train": PAIRS})
    corpus = open_corpus(DataConfig(root=str(tmp_path), tgt_lang="de", holdout=1, **HUB))
    with pytest.raises(ValueError, match="no column 'de'; there are 'en', 'fr'"):
        list(corpus.train())


class FakeHub:
    """The two functions of the hub library that are used, over local files."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.calls = folder, []
        self.load = datasets.load_dataset

    def load_dataset_builder(self, hub_id, name, revision):
        assert (name, revision) == ("en-fr", None)
        self.calls.append("builder")
        return type("Builder", (), {"hash": "abc123"})

    def get_dataset_split_names(self, hub_id, config_name, revision):
        assert revision == "abc123"
        return ["train", "test"]

    def load_dataset(self, hub_id, name, *, split, revision, streaming, cache_dir):
        self.calls.append((hub_id, name, split, revision, streaming))
        pattern = str(self.folder / f"{split}-*.parquet")
        return self.load("parquet", data_files=pattern, split="train", streaming=streaming, cache_dir=cache_dir)


@pytest.mark.parametrize("streaming", [True, False])
def test_the_hub_is_asked_once_for_its_revision_and_read_at_it(tmp_path, monkeypatch, streaming):
    write_hub(tmp_path, {"train": PAIRS, "test": PAIRS[:2]})
    hub = FakeHub(tmp_path)
    for name in ("load_dataset", "load_dataset_builder", "get_dataset_split_names"):
        monkeypatch.setattr(datasets, name, getattr(hub, name))
    config = DataConfig(cache_dir=str(tmp_path / "cache"), streaming=streaming, holdout=1, **HUB)
    corpus = open_corpus(config)
    assert list(corpus.train()) == PAIRS[1:]
    assert list(corpus.valid()) == PAIRS[:1]
    assert corpus.test("opus_100_test") == PAIRS[:2]
    assert hub.calls[:2] == ["builder", ("Helsinki-NLP/opus-100", "en-fr", "train", "abc123", streaming)]
    assert open_corpus(config).fingerprint == corpus.fingerprint
    assert hub.calls.count("builder") == 1


TATOEBA = OmegaConf.load(conf_dir() / "data" / "tatoeba.yaml")


@pytest.mark.parametrize("streaming", [True, False])
def test_tatoeba_is_read_from_the_hubs_own_copy(tmp_path, streaming):
    """A local folder of the branch's layout stands for the hub: the library reads both in the same way."""
    rows = [{"sourceLang": "eng", "targetlang": "fra", "sourceString": src, "targetString": tgt} for src, tgt in PAIRS]
    for split, some in (("validation", rows), ("test", rows[:2])):
        folder = tmp_path / "tatoeba_mt" / "eng-fra" / split
        folder.mkdir(parents=True)
        datasets.Dataset.from_list(some).to_parquet(folder / "0000.parquet")
    settings = {**TATOEBA, "hub_id": str(tmp_path / "tatoeba_mt"), "streaming": streaming}
    corpus = open_corpus(DataConfig(cache_dir=str(tmp_path / "cache"), holdout=1, **settings))
    assert list(corpus.train()) == PAIRS[1:]
    assert list(corpus.valid()) == PAIRS[:1]
    assert corpus.test("tatoeba_mt_test") == PAIRS[:2]
    valid = [write_lines(tmp_path / "valid.tsv", ["a\tb"])]
    part = PartConfig(**{key: TATOEBA[key] for key in TATOEBA if key != "hub_id"}, hub_id=settings["hub_id"])
    config = DataConfig(source="mix", parts={"tatoeba": part}, valid=valid, cache_dir=str(tmp_path / "cache"))
    assert [list(pairs) for pairs in open_corpus(config).streams().values()] == [PAIRS]


def test_an_unreachable_hub_is_one_line_that_names_the_way_out(tmp_path, monkeypatch):
    def unreachable(*_, **__):
        raise ConnectionError("Couldn't reach it\nlong trace")

    monkeypatch.setattr(datasets, "load_dataset_builder", unreachable)
    with pytest.raises(ValueError, match=r"^Helsinki-NLP/opus-100: .*Couldn't reach it\); .*data\.root=DIR$"):
        open_corpus(DataConfig(cache_dir=str(tmp_path), **HUB))


def test_opening_a_corpus_does_not_import_datasets(tmp_path):
    code = (
        "import sys; from translate.config.data import DataConfig; from translate.data.corpus import open_corpus; "
        "open_corpus(DataConfig()).fingerprint; sys.exit('datasets' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_two_files_named_by_their_languages_need_no_order(tmp_path: Path) -> None:
    paths = write_text(tmp_path, "train", PAIRS)
    swapped = open_corpus(DataConfig(source="files", train=paths, holdout=1, src_lang="fr", cache_dir=str(tmp_path)))
    assert next(iter(swapped.train())).src in {pair.tgt for pair in PAIRS}
    same = DataConfig(source="files", train=paths[::-1], holdout=1, src_lang="fr", cache_dir=str(tmp_path))
    assert list(open_corpus(same).train()) == list(swapped.train())
