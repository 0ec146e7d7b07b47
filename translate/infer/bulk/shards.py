"""The files of a job: which there are, what their rows hold, and how the rows with their translations are written."""

from __future__ import annotations

import glob
import gzip
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO

from translate.common.errors import first_line
from translate.common.files import is_gzip
from translate.infer.lines import open_lines, read_chunks

COLUMN = "translation"  # of JSON objects and Parquet rows: where the translation goes
_JSON_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")


@dataclass(frozen=True)
class Shard:
    """A file to translate.

    Attributes:
        name: Its path below the folder that all inputs have in common; that of the output below the output folder.
        source: The input.
        target: The output.
    """

    name: str
    source: Path
    target: Path


@dataclass
class Chunk:
    """Some rows of a shard, one after another.

    Attributes:
        texts: What to translate, "" for a row with a problem.
        problems: What is wrong with a row, by its place in the chunk.
        rows: What the format needs to write them; None if that is nothing.
    """

    texts: list[str]
    problems: dict[int, str] = field(default_factory=dict)
    rows: Any = None


Translated = Iterable[tuple[Chunk, list[str]]]  # chunks with the translations of their texts


def find_shards(pattern: str, output: Path) -> list[Shard]:
    """Return the files that a pattern names, the largest first, so that a long one does not end the job alone.

    Outputs of an earlier run that the pattern names too are left out.

    Args:
        pattern: A path, with *, ?, [] and ** as in a shell; a file of just this name is meant before those it matches.
        output: Folder of the outputs.

    Raises:
        ValueError: If there is no such file, or an output would replace its input.
    """
    names = [pattern] if Path(pattern).is_file() else glob.glob(pattern, recursive=True)
    paths = sorted(Path(name) for name in names if Path(name).is_file())
    paths = _without_outputs(paths, pattern, output)
    if not paths:
        raise ValueError(f"--input ({pattern}) names no file; quote the pattern, so that it gets here as it is")
    common = Path(os.path.commonpath([path.absolute().parent for path in paths]))
    shards = []
    for path in paths:
        name = str(path.absolute().relative_to(common))
        target = output / name
        if target.exists() and target.samefile(path):
            raise ValueError(f"--output-dir ({output}) would replace the input {path}; choose another folder")
        shards.append(Shard(name, path, target))
    return sorted(shards, key=lambda shard: -shard.source.stat().st_size)


def _without_outputs(paths: list[Path], pattern: str, output: Path) -> list[Path]:
    """Leave out what lies in the output folder, unless the pattern begins with a folder in there."""
    folder = output.resolve()
    start = Path(*takewhile(lambda part: not glob.has_magic(part), Path(pattern).parts))
    if start.resolve().is_relative_to(folder):
        return paths
    return [path for path in paths if not path.parent.resolve().is_relative_to(folder)]


def format_of(path: Path, column: str, most: int) -> Format:
    """Return how a file is read and written, by its name; arguments are the attributes of `Format`."""
    name = path.name.lower()
    if name.endswith(".parquet"):
        return Parquet(column, most)
    return JsonLines(column, most) if name.endswith(_JSON_LINES) else Text(column, most)


@dataclass(frozen=True)
class Format(ABC):
    """Reads and writes the rows of a shard.

    Attributes:
        column: Name of the column with the text, in formats that have columns.
        most: Largest number of rows in a chunk.
    """

    column: str
    most: int

    @abstractmethod
    def read(self, path: Path) -> Iterator[Chunk]:
        """Yield the rows.

        Raises:
            ValueError: If the file is damaged or has no such column.
        """

    @abstractmethod
    def write(self, file: BinaryIO, path: Path, translated: Translated) -> None:
        """Write the rows to a file, whose final name is `path`."""


class Text(Format):
    """Lines, in a file that ends in .gz compressed; the output has a line for each."""

    def read(self, path: Path) -> Iterator[Chunk]:
        """See `Format.read`; the column does not matter."""
        with open_lines(path) as stream:
            # no byte is refused: bad ones become surrogates, which good ones never do
            for texts in read_chunks(stream, str(path), errors="surrogateescape", most=self.most):
                yield _without_bad_bytes(texts)

    def write(self, file: BinaryIO, path: Path, translated: Translated) -> None:
        """See `Format.write`."""
        _write_lines(file, path, (text for _, texts in translated for text in texts))


class JsonLines(Text):
    """An object a line, the text by its key; the output has the same objects with one more key."""

    def read(self, path: Path) -> Iterator[Chunk]:
        """See `Format.read`."""
        for chunk in super().read(path):
            chunk.rows = [{} for _ in chunk.texts]
            for place, line in enumerate(chunk.texts):
                if place not in chunk.problems:
                    self._parse(chunk, place, line)
            yield chunk

    def write(self, file: BinaryIO, path: Path, translated: Translated) -> None:
        """See `Format.write`."""
        objects = (row for chunk, texts in translated for row in zip(chunk.rows, texts, strict=True))
        _write_lines(file, path, (_json({**row, COLUMN: text}) for row, text in objects))

    def _parse(self, chunk: Chunk, place: int, line: str) -> None:
        chunk.texts[place] = ""
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            chunk.problems[place] = f"not JSON: {error}"
            return
        if not isinstance(row, dict):
            chunk.problems[place] = "not a JSON object"
            return
        if COLUMN in row:
            raise ValueError(f"there is a key {COLUMN} already, where the translation would go")
        chunk.rows[place] = row
        text = row.get(self.column)
        if isinstance(text, str):
            chunk.texts[place] = text
        else:
            chunk.problems[place] = f"no text in {self.column}; the object has {', '.join(row) or 'nothing'}"


class Parquet(Format):
    """Rows of columns; the output has the same with one more column."""

    def read(self, path: Path) -> Iterator[Chunk]:
        """See `Format.read`; a null is an empty text."""
        import pyarrow
        from pyarrow import parquet

        try:
            with parquet.ParquetFile(path) as file:
                names = file.schema_arrow.names
                if self.column not in names:
                    raise ValueError(f"{path}: no column {self.column}; there are {', '.join(names)}; see --column")
                kind = file.schema_arrow.field(self.column).type
                if not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)):
                    raise ValueError(f"{path}: column {self.column} holds {kind}, not text")
                if COLUMN in names:
                    raise ValueError(f"{path}: there is a column {COLUMN} already, where the translation would go")
                for rows in file.iter_batches(batch_size=self.most):
                    yield Chunk([text or "" for text in rows.column(self.column).to_pylist()], rows=rows)
        except pyarrow.ArrowException as error:
            raise ValueError(f"{path}: damaged: {first_line(error)}") from error

    def write(self, file: BinaryIO, path: Path, translated: Translated) -> None:
        """See `Format.write`."""
        import pyarrow
        from pyarrow import parquet

        writer = None
        for chunk, texts in translated:
            rows = chunk.rows.append_column(COLUMN, pyarrow.array(texts, pyarrow.string()))
            writer = writer or parquet.ParquetWriter(file, rows.schema)
            writer.write_batch(rows)
        if writer is None:
            raise ValueError(f"{path}: a Parquet file without rows has nothing to translate; leave it out")
        writer.close()


def _without_bad_bytes(texts: list[str]) -> Chunk:
    chunk = Chunk(texts)
    for place, text in enumerate(texts):
        bad = next((char for char in text if "\udc80" <= char <= "\udcff"), None)
        if bad is not None:
            chunk.texts[place], chunk.problems[place] = "", f"invalid UTF-8 (byte 0x{ord(bad) - 0xDC00:02x})"
    return chunk


def _json(row: dict[str, Any]) -> str:
    """Return a row as JSON; half of a pair of surrogates, which UTF-8 cannot hold, stays an escape."""
    text = json.dumps(row, ensure_ascii=False)
    return json.dumps(row) if any("\ud800" <= char <= "\udfff" for char in text) else text


def _write_lines(file: BinaryIO, path: Path, lines: Iterable[str]) -> None:
    if not is_gzip(path):
        file.writelines(f"{line}\n".encode() for line in lines)
        return
    with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:  # without a date, so that it depends on the text alone
        packed.writelines(f"{line}\n".encode() for line in lines)
