"""Lines in and out as a stream: bounded memory, every input line exactly one line, order kept."""

import codecs
import os
from collections.abc import Iterator, Sequence
from io import BufferedReader

BLOCK = 1 << 16  # bytes per read: about a thousand sentences, enough to fill batches of like length


def read_chunks(stream: BufferedReader, name: str, *, errors: str = "strict") -> Iterator[list[str]]:
    r"""The lines of a stream, in chunks of what one read gives.

    That is up to `BLOCK` bytes of a file or of a busy pipe, and one line from a terminal, so that a person who types
    is answered at once. Lines end at \n alone; one \r before it goes, so does a byte order mark at the start. The last
    line needs no \n.

    Args:
        stream: UTF-8; `sys.stdin.buffer`, or a file opened with "rb".
        name: Of the stream, for messages.
        errors: "strict", or "replace" to put U+FFFD for what is not UTF-8.

    Raises:
        ValueError: At invalid UTF-8 with errors="strict", after the lines before it were given out; the message has
            the line number.
    """
    number = 1
    for block in _line_blocks(stream):
        texts: list[str] = []
        for line in block:
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
            try:
                texts.append(decode_line(line, f"{name}, line {number}", errors))
            except ValueError:
                if texts:
                    yield texts
                raise
            number += 1
        yield texts


def decode_line(line: bytes, place: str, errors: str) -> str:
    """Text of one line without its end; `place` is named when it is not UTF-8."""
    try:
        return line.removesuffix(b"\r").decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{place}: invalid UTF-8 (byte 0x{line[error.start]:02x} after {error.start} good ones); "
            "convert it to UTF-8, or go on with --errors=replace"
        ) from error


def argument_lines(arguments: Sequence[str], *, errors: str) -> list[str]:
    """Texts of command-line arguments, which the system hands over as bytes."""
    return [decode_line(os.fsencode(text), f"argument {number}", errors) for number, text in enumerate(arguments, 1)]


def count_lines(stream: BufferedReader) -> int:
    """Lines of a seekable stream, which is left at its start."""
    count, last = 0, b"\n"
    while block := stream.read(1 << 20):
        count, last = count + block.count(b"\n"), block
    stream.seek(0)
    return count + (not last.endswith(b"\n"))


def _line_blocks(stream: BufferedReader) -> Iterator[list[bytes]]:
    """Complete lines, as many as each read completes."""
    rest: list[bytes] = []  # parts of the line whose end has not come yet
    while block := stream.read1(BLOCK):
        first, *lines = block.split(b"\n")
        rest.append(first)
        if lines:
            last = lines.pop()
            yield [b"".join(rest), *lines]
            rest = [last]
    if last_line := b"".join(rest):
        yield [last_line]
