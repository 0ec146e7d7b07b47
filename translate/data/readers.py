"""Strict readers of text files: what is wrong in them is reported with file and line.

Lines end at \\n and nowhere else (a \\r before it is dropped), so line i is the same line that every other tool counts.
"""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from translate.common.files import is_gzip

Row = dict[str, str]


def read_lines(path: Path | str) -> Iterator[str]:
    """Read the lines of a UTF-8 file, plain or gzip by its name, without line ends and byte order mark.

    Raises:
        ValueError: If the file is missing, not UTF-8 (with the line), or named .gz and not gzip.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    number = 0
    try:
        with gzip.open(path, "rb") if is_gzip(path) else path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                line = raw.decode("utf-8").removesuffix("\n").removesuffix("\r")
                yield line.removeprefix("\ufeff") if number == 1 else line
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}, line {number}: invalid UTF-8 (byte 0x{error.object[error.start]:02x} at position {error.start}); "
            "convert the file to UTF-8"
        ) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path}, after line {number}: not gzip, though its name ends in .gz ({error})") from error
    except EOFError as error:
        raise ValueError(f"{path}, after line {number}: the gzip file ends too early; copy it again") from error


def read_aligned(src_path: str, tgt_path: str) -> Iterator[Row]:
    """Read rows {"src", "tgt"} of two files in which line i of one is the translation of line i of the other.

    Raises:
        ValueError: If the files have different line counts (the message states both), or as `read_lines`.
    """
    src_lines, tgt_lines = read_lines(src_path), read_lines(tgt_path)
    count = 0
    for src in src_lines:
        tgt = next(tgt_lines, None)
        if tgt is None:
            raise _unequal(src_path, count + 1 + sum(1 for _ in src_lines), tgt_path, count)
        count += 1
        yield {"src": src, "tgt": tgt}
    if extra := sum(1 for _ in tgt_lines):
        raise _unequal(src_path, count, tgt_path, count + extra)


def _unequal(src_path: str, src_count: int, tgt_path: str, tgt_count: int) -> ValueError:
    return ValueError(
        f"{src_path} has {src_count:,} lines and {tgt_path} has {tgt_count:,}; "
        "line i of one must translate line i of the other"
    )


def suffix(path: str) -> str:
    """Return the ending of a file name without .gz.

    >>> suffix("pairs.TSV.gz"), suffix("pairs.tsv.GZ")
    ('.tsv', '.tsv')
    """
    return Path(path.lower().removesuffix(".gz")).suffix


def read_table(path: str, src_column: str, tgt_column: str, named: bool) -> Iterator[Row]:
    """Read rows {"src", "tgt"} of a .tsv, .csv, .jsonl or .json file (both JSON lines), each also with .gz.

    TSV is split at tabs, without quoting; CSV is quoted as usual, and a quoted field may span lines. The first row
    names the columns; a TSV of two columns whose first row does not is source and target from its first line.

    Args:
        path: The file; its name says what it is.
        src_column: Column of the source; in JSON lines a key, at the top or under "translation".
        tgt_column: Column of the target.
        named: The user named the columns, so a TSV must have them.

    Raises:
        ValueError: If a column is missing (with those there are) or a row has too few fields, or as `read_lines`.
    """
    kind = suffix(path)
    if kind in (".jsonl", ".json"):
        yield from _read_json_lines(path, src_column, tgt_column)
        return
    rows = _tsv_rows(path) if kind == ".tsv" else _csv_rows(path)
    first = next(rows, None)
    if first is None:
        return
    number, names = first
    if src_column in names and tgt_column in names:
        src, tgt = names.index(src_column), names.index(tgt_column)
    elif kind == ".tsv" and len(names) == 2 and not named:
        src, tgt, rows = 0, 1, chain([first], rows)
    else:
        raise missing_column(f"{path}, line {number}", (src_column, tgt_column), names)
    for number, row in rows:
        if len(row) <= max(src, tgt):
            raise ValueError(f"{path}, line {number}: {len(row)} fields where {max(src, tgt) + 1} are needed")
        yield {"src": row[src], "tgt": row[tgt]}


def missing_column(where: str, wanted: tuple[str, str], there: list[str]) -> ValueError:
    """Return the error for missing columns, which names those that exist."""
    missing = " or ".join(repr(name) for name in wanted if name not in there)
    names = ", ".join(repr(name) for name in islice(there, 20))
    return ValueError(
        f"{where}: no column {missing}; there are {names}; set data.src_column and data.tgt_column "
        "(data.extra names its columns by the languages)"
    )


def _tsv_rows(path: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(read_lines(path), start=1):
        yield number, line.split("\t")


def _csv_rows(path: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader((line + "\n" for line in read_lines(path)), strict=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: not CSV ({error})") from error


def _read_json_lines(path: str, src_column: str, tgt_column: str) -> Iterator[Row]:
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{where}: not JSON ({getattr(error, 'msg', error)})") from error
        if isinstance(row, dict) and isinstance(row.get("translation"), dict):
            row = row["translation"]
        if not isinstance(row, dict):
            raise ValueError(f"{where}: not a JSON object with {src_column!r} and {tgt_column!r}")
        if src_column not in row or tgt_column not in row:
            raise missing_column(where, (src_column, tgt_column), list(row))
        src, tgt = row[src_column], row[tgt_column]
        if not (isinstance(src, str) and isinstance(tgt, str)):
            raise ValueError(f"{where}: {src_column!r} and {tgt_column!r} must be strings")
        yield {"src": src, "tgt": tgt}
