"""Continue a stopped `translate.infer --input FILE --output FILE`.

The output itself tells how many lines are done, since lines are written whole and in order. Until it is complete,
OUTPUT.resume beside it records the settings and the input, so that nothing else is appended to it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from itertools import groupby, takewhile
from pathlib import Path
from typing import BinaryIO

from translate.common.files import explained, write_text

logger = logging.getLogger(__name__)

_INPUT = "input"  # the key of its digest


class Record:
    """The settings and the input of an output, kept in a file beside it until it is complete.

    Args:
        output: Path of the output.
        settings: All settings that change the lines, by name; JSON can hold the values.
        source: The input, seekable; it is left at its start.
    """

    def __init__(self, output: Path, settings: dict[str, object], source: BufferedReader) -> None:
        self.output, self.path = output, output.with_name(f"{output.name}.resume")
        self.settings = {**settings, _INPUT: hashlib.file_digest(source, "sha256").hexdigest()}
        source.seek(0)

    def write(self) -> None:
        """Write the record beside the output."""
        write_text(self.path, json.dumps(self.settings, indent=1) + "\n")

    def answered(
        self, total: int, *, numbered: bool = False, lines_each: int = 1, header: bool = False
    ) -> tuple[int, int]:
        """Return how many inputs have their output already, and how many bytes that is, with the header.

        The bytes after these are incomplete: a line without its end, or, where an input has several lines, those of the
        last input, of which some may be missing. Both numbers are 0 where no input is done yet.

        Args:
            total: Number of lines of the input.
            numbered: Whether an input may have several lines, any number, each beginning with its number and a tab.
            lines_each: Where they are not numbered, how many lines each input has.
            header: Whether the first line is a header.

        Raises:
            ValueError: If the output was made with other settings or from another input.
        """
        if not self.output.exists() or not self.output.stat().st_size:
            return 0, 0
        self._check()
        with self.output.open("rb") as file:
            lines = takewhile(lambda line: line.endswith(b"\n"), file)
            head = len(next(lines, b"")) if header else 0
            begun, done, size = self._count_numbered(lines) if numbered else _count(lines, lines_each)
        if begun > total:
            raise ValueError(f"{self.output} answers {begun} lines, and the input has {total}: it is of another input")
        return done, head + size if done else 0

    def _check(self) -> None:
        """Raise ValueError if the record beside the output is of other settings or another input."""
        if not self.path.is_file():
            logger.warning("%s does not exist: whether %s was made in this way is not checked", self.path, self.output)
            return
        advice = "give the same as before, leave out --resume to begin anew, or delete that file to go on all the same"
        try:
            before = dict(json.loads(self.path.read_text(encoding="utf-8")))
        except (ValueError, TypeError) as error:
            raise ValueError(f"{self.path} is damaged; delete it to go on without it") from error
        changed = [name for name in {**before, **self.settings} if before.get(name) != self.settings.get(name)]
        if _INPUT in changed:
            raise ValueError(f"the input is not the one that {self.output} was begun with ({self.path}); {advice}")
        if changed:
            named = ", ".join(f"{name} {self.settings.get(name)}, before {before.get(name)}" for name in changed)
            raise ValueError(f"{self.output} was begun with other settings ({self.path}): {named}; {advice}")

    def _count_numbered(self, lines: Iterable[bytes]) -> tuple[int, int, int]:
        """Count the inputs begun, the inputs certainly complete and the bytes of these."""
        begun = size = last = 0
        for begun, (number, group) in enumerate(groupby(lines, lambda line: line.split(b"\t", 1)[0]), 1):
            if number != str(begun).encode():
                raise ValueError(
                    f"{self.output}: the lines of input {begun} should come next and begin with its number, not with "
                    f"{number[:20].decode(errors='replace')!r}; --num-hypotheses did not write it"
                )
            size, last = size + last, sum(map(len, group))
        return begun, max(0, begun - 1), size


def _count(lines: Iterable[bytes], lines_each: int) -> tuple[int, int, int]:
    """Count the inputs begun, the inputs complete and the bytes of these, where each has `lines_each` lines."""
    number = size = whole = 0
    for number, line in enumerate(lines, 1):
        size += len(line)
        whole = whole if number % lines_each else size
    return -(-number // lines_each), number // lines_each, whole


@contextmanager
def open_output(path: Path, size: int, record: Record | None) -> Iterator[BinaryIO]:
    """Open the output after its first `size` bytes; its record stays beside it until the block ends without error.

    Raises:
        OSError: If it cannot be written; the message names the file and what is full.
    """
    if record is not None:
        with explained(record.path):
            record.write()  # first: where this fails, an earlier output must not be empty
    with explained(path), path.open("r+b" if size else "wb") as file:
        if size:
            file.truncate(size)
            file.seek(size)
        yield file
        if record is not None:
            file.flush()
            os.fsync(file.fileno())  # an output without a record counts as complete
    if record is not None:
        record.path.unlink(missing_ok=True)
