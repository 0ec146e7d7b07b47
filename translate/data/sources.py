"""Streams of sentence pairs: files of every kind, and datasets of the hub.

All rows come through the `datasets` library. It is imported when the first row is read, so that a start from the token
cache does without it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from translate.common.errors import first_line
from translate.common.files import write_text
from translate.data.glossary import Glossary
from translate.data.readers import missing_column, read_aligned, read_table, suffix

TABLES = (".parquet", ".arrow")
TEXTS = (".tsv", ".csv", ".jsonl", ".json")
_HUB_COPY = "refs/convert/parquet"  # the branch in which the hub keeps a dataset as Parquet
_REMEMBER_FROM = 2**24  # bytes; hashing less is not worth remembering


class Pair(NamedTuple):
    """A sentence and its translation."""

    src: str
    tgt: str


class Source(Protocol):
    """One split of a corpus."""

    def pairs(self) -> Iterator[Pair]:
        """Stream the pairs from the first."""

    def identity(self) -> str:
        """Return a text that changes when the pairs change."""


@dataclass(frozen=True)
class FileSource:
    """Two line-aligned text files, or files with both sides: TSV, CSV, JSON lines, parquet or arrow.

    Attributes:
        paths: Two text files, or files of one kind with both sides, in order.
        columns: Names of source and target in a file with both sides, at the top or under "translation".
        named: The user chose the column names; if not, a TSV of two columns needs no header.
        cache_dir: Where the hashes of large files are remembered.
    """

    paths: tuple[str, ...]
    columns: tuple[str, str]
    named: bool = False
    cache_dir: str = ".cache"

    def __post_init__(self) -> None:
        for path in self.paths:
            if not Path(path).is_file():
                raise ValueError(f"{path}: no such file")
        if len(self.paths) == 1 and suffix(self.paths[0]) not in TABLES + TEXTS:
            raise ValueError(
                f"{self.paths[0]}: a file with both sides must end in {', '.join(TEXTS + TABLES)}; "
                "for line-aligned text give two files"
            )

    def pairs(self) -> Iterator[Pair]:
        """Stream the pairs; raises as `translate.data.readers`, and for a missing column or a damaged table."""
        src_column, tgt_column = self.columns
        if suffix(self.paths[0]) in TABLES:
            return _pairs(_load_tables(self.paths), self.columns, self.paths[0])
        if suffix(self.paths[0]) in TEXTS:
            tables = (read_table(path, src_column, tgt_column, named=self.named) for path in self.paths)
            return _pairs(chain.from_iterable(tables), ("src", "tgt"), "")
        return _pairs(read_aligned(self.paths[0], self.paths[1]), ("src", "tgt"), "")

    def identity(self) -> str:
        """Return a hash of the contents and of how they are read."""
        contents = [(suffix(path), _file_hash(Path(path), Path(self.cache_dir))) for path in self.paths]
        return repr((contents, self.columns, self.named))


@dataclass(frozen=True)
class HubSource:
    """One split of a dataset on the hub.

    Attributes:
        hub_id: Name on the hub, such as "Helsinki-NLP/opus-100".
        hub_config: Its configuration, such as "en-fr".
        branch: Its branch or commit; None for the newest.
        split: Its split, such as "train".
        columns: Keys of source and target, under "translation" or at the top.
        streaming: Read over the network each time instead of storing the dataset first.
        cache_dir: Where the dataset and its revision are stored.
    """

    hub_id: str
    hub_config: str | None
    branch: str | None
    split: str
    columns: tuple[str, str]
    streaming: bool = False
    cache_dir: str = ".cache"

    def pairs(self) -> Iterator[Pair]:
        """Stream the pairs; raises for a dataset that cannot be reached or a missing column."""
        import datasets

        with _one_line(f"{self.hub_id}: cannot be read from the hub", "check the network, or set data.root=DIR"):
            rows = datasets.load_dataset(
                self.hub_id,
                **self._place(),
                split=self.split,
                revision=self._revision(),
                streaming=self.streaming,
                cache_dir=str(Path(self.cache_dir, "datasets")),
            )
        return _pairs(rows, self.columns, f"{self.hub_id}, split {self.split}")

    def _place(self, name: str = "name") -> dict[str, Any]:
        """Say where the configuration is: in the hub's own copies of datasets a folder, otherwise under this name."""
        return {"data_dir" if self.branch == _HUB_COPY else name: self.hub_config}

    def identity(self) -> str:
        """Name and revision on the hub."""
        return repr((self.hub_id, self.hub_config, self.split, self._revision(), self.columns))

    def splits(self) -> list[str]:
        """Return the names of the splits that the dataset has."""
        return list(self._about()["splits"])

    def _revision(self) -> str:
        return str(self._about()["revision"])

    def _about(self) -> dict[str, Any]:
        """Return commit and splits of the dataset: fetched once, so that runs agree and start without network."""
        name = "--".join(filter(None, (self.hub_id, self.hub_config, self.branch))).replace("/", "--")
        file = Path(self.cache_dir, "revisions", f"{name}.json")
        if not file.is_file():
            import datasets

            with _one_line(f"{self.hub_id}: cannot be found on the hub", "check the network, or set data.root=DIR"):
                revision = datasets.load_dataset_builder(self.hub_id, **self._place(), revision=self.branch).hash
                splits = datasets.get_dataset_split_names(self.hub_id, **self._place("config_name"), revision=revision)
            write_text(file, json.dumps({"revision": revision, "splits": splits}))
        about: dict[str, Any] = json.loads(file.read_text())
        return about


@dataclass(frozen=True)
class TermSource:
    """The terms of a glossary as pairs, those that are translated in both directions.

    Attributes:
        path: That of the glossary, None for the embedded one.
        languages: Source and target.
    """

    path: str | None
    languages: tuple[str, str]

    def pairs(self) -> Iterator[Pair]:
        """Stream the pairs; raises as `Glossary.open`."""
        glossary = Glossary.open(self.path, self.languages)
        way = 1 if glossary.languages == self.languages else -1
        return (Pair(*pair[::way]) for pair in glossary.pairs())

    def identity(self) -> str:
        """Return a hash of the terms."""
        return hashlib.blake2b(repr(list(self.pairs())).encode(), digest_size=16).hexdigest()


@dataclass(frozen=True)
class FirstPairs:
    """The first pairs of a source.

    Attributes:
        source: All of them.
        count: How many are taken.
    """

    source: Source
    count: int

    def pairs(self) -> Iterator[Pair]:
        """Stream the pairs."""
        return islice(self.source.pairs(), self.count)

    def identity(self) -> str:
        """Return a text that changes when the pairs change."""
        return f"first {self.count} of {self.source.identity()}"


def _load_tables(paths: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    import datasets

    kind = suffix(paths[0]).removeprefix(".")
    with _one_line(f"{paths[0]}: not a {kind} file, or a damaged one", "check the file and its name"):
        yield from datasets.load_dataset(kind, data_files=list(paths), split="train", streaming=True)


def _pairs(rows: Iterable[dict[str, Any]], columns: tuple[str, str], where: str) -> Iterator[Pair]:
    src, tgt = columns
    for number, row in enumerate(rows, start=1):
        nested = row.get("translation")
        fields = nested if isinstance(nested, dict) else row
        if src not in fields or tgt not in fields:
            raise missing_column(where, columns, list(fields))
        if not (isinstance(fields[src], str) and isinstance(fields[tgt], str)):
            raise ValueError(f"{where}, row {number}: {src!r} and {tgt!r} must be strings")
        yield Pair(fields[src], fields[tgt])


@contextmanager
def _one_line(what: str, hint: str) -> Iterator[None]:
    """Turn whatever a library raises into one line that says what to do."""
    try:
        yield
    except Exception as error:
        raise ValueError(f"{what} ({first_line(error)}); {hint}") from error


def _file_hash(path: Path, cache_dir: Path) -> str:
    """Return the hash of a file's contents; that of a large file is kept until its size or time of change differs."""
    stat = path.stat()
    key = hashlib.blake2b(repr((str(path.resolve()), stat.st_size, stat.st_mtime_ns)).encode(), digest_size=16)
    memory = cache_dir / "hashes" / key.hexdigest()
    if stat.st_size >= _REMEMBER_FROM and memory.is_file():
        return memory.read_text()
    with path.open("rb") as file:
        result = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    if stat.st_size >= _REMEMBER_FROM:
        write_text(memory, result)
    return result
