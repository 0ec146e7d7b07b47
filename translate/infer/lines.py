"""Read lines as a stream: in bounded memory, every line exactly once, in order."""

import codecs
import fcntl
import gzip
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from io import BufferedReader, RawIOBase
from itertools import chain, islice
from pathlib import Path
from typing import cast

from translate.common.files import is_gzip

# Bytes per read: 4,000 sentences, whose batches of like length hold 2 % padding (beam) to 10 % (greedy).
BLOCK = 1 << 18
LINES = 1 << 13  # largest number of lines in a chunk: very short ones take more memory than their bytes


def lines_at_once(num_hypotheses: int | None) -> int:
    """Return the largest number of lines in a chunk, as memory goes with the hypotheses."""
    return max(1, LINES // (num_hypotheses or 1))


def open_lines(path: Path) -> BufferedReader:
    """Open a file of lines for reading, one that ends in .gz unpacked.

    Reading it raises ValueError where such a file is damaged or not gzip.
    """
    if not is_gzip(path):
        return path.open("rb")
    return _Unpacked(cast("RawIOBase", gzip.open(path, "rb")), path)


class _Unpacked(BufferedReader):
    """A compressed file that gives as much as is asked for, so that the same lines make the same batches."""

    def __init__(self, file: RawIOBase, path: Path) -> None:
        super().__init__(file)
        self.path = path

    def read(self, size: int | None = -1, /) -> bytes:
        try:
            return super().read(size)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{self.path}: not gzip, or damaged ({error})") from error

    read1 = read


def read_chunks(
    stream: BufferedReader, name: str, *, errors: str = "strict", skip: int = 0, most: int = LINES
) -> Iterator[list[str]]:
    r"""Read the lines of a stream, in chunks of what one read gives.

    One read gives up to `BLOCK` bytes of a file or of a busy pipe, and one line from a terminal, so that a person who
    types gets each answer at once. Lines end at \n alone; one \r before it is removed, and a byte order mark at the
    start. The last line needs no \n.

    Args:
        stream: UTF-8; `sys.stdin.buffer`, or a file opened with "rb".
        name: Name of the stream, for messages.
        errors: "strict", or "replace" to put U+FFFD for invalid bytes.
        skip: Number of lines at the start that are left out, whatever they hold.
        most: Largest number of lines in a chunk.

    Raises:
        ValueError: At invalid UTF-8 with errors="strict", after the lines before it were yielded; the message has
            the line number.
    """
    with suppress(OSError, AttributeError):  # while we work on a chunk, whoever writes the pipe can write the next one
        fcntl.fcntl(stream.fileno(), fcntl.F_SETPIPE_SZ, BLOCK)
    number = 1
    for lines in _line_blocks(stream):
        if number == 1:
            lines[0] = lines[0].removeprefix(codecs.BOM_UTF8)
        for start in range(max(0, skip + 1 - number), len(lines), most):
            yield from _decoded(lines[start : start + most], number + start, name, errors)
        number += len(lines)


def aligned_lines(
    stream: BufferedReader, name: str, total: int | None, *, errors: str = "strict", skip: int = 0
) -> Callable[[int], list[str]]:
    """Return a function that reads the next `count` lines of a stream with a line for each line of the input.

    Args:
        stream: As in `read_chunks`, like `errors` and `skip`.
        name: Name of the stream, for messages.
        total: Number of lines of the input, if known.
        errors: "strict" or "replace".
        skip: Number of lines at the start that are left out.

    Raises:
        ValueError: If it does not have as many lines as the input; where `total` is unknown, when it ends too soon.
    """
    count = count_lines(stream) if stream.seekable() else total
    if total is not None and count != total:
        raise ValueError(f"{name} has {count} lines and the input {total}; they must correspond line by line")
    lines = chain.from_iterable(read_chunks(stream, name, errors=errors, skip=skip))

    def take(number: int) -> list[str]:
        taken = list(islice(lines, number))
        if len(taken) < number:
            raise ValueError(f"{name} ends before the input does; they must correspond line by line")
        return taken

    return take


def _decoded(lines: list[bytes], first: int, name: str, errors: str) -> Iterator[list[str]]:
    """Decode a chunk that begins with line `first` of the stream; before an error, yield the lines before it."""
    texts: list[str] = []
    for number, line in enumerate(lines, first):
        try:
            texts.append(decode_line(line, f"{name}, line {number}", errors))
        except ValueError:
            if texts:
                yield texts
            raise
    yield texts


def decode_line(line: bytes, place: str, errors: str) -> str:
    """Decode one line without its end; an error names `place`."""
    try:
        return line.removesuffix(b"\r").decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{place}: invalid UTF-8 (byte 0x{line[error.start]:02x} after {error.start} good ones); "
            "convert it to UTF-8, or go on with --errors=replace"
        ) from error


def argument_lines(arguments: Sequence[str], *, errors: str) -> list[str]:
    """Decode command-line arguments, which the system hands over as bytes."""
    return [decode_line(os.fsencode(text), f"argument {number}", errors) for number, text in enumerate(arguments, 1)]


def count_lines(stream: BufferedReader) -> int:
    """Count the lines of a seekable stream, which is left at its start."""
    count, last = 0, b"\n"
    while block := stream.read(1 << 20):
        count, last = count + block.count(b"\n"), block
    stream.seek(0)
    return count + (not last.endswith(b"\n"))


def _line_blocks(stream: BufferedReader) -> Iterator[list[bytes]]:
    """Yield complete lines, as many as each read completes."""
    rest: list[bytes] = []  # parts of an unfinished line
    while block := stream.read1(BLOCK):
        first, *lines = block.split(b"\n")
        rest.append(first)
        if lines:
            last = lines.pop()
            yield [b"".join(rest), *lines]
            rest = [last]
    if last_line := b"".join(rest):
        yield [last_line]
