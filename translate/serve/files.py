"""Files to translate: which formats there are, and where translated ones lie until they are fetched."""

from __future__ import annotations

import re
import textwrap
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from translate.serve.documents import Part, html_parts, text_parts
from translate.serve.errors import ApiError

_SECONDS_KEPT = 3600
_MOST_KEPT = 100
_NAME = re.compile(r"[0-9a-f-]{36}\.[\w.-]{1,100}")
_LINE_END = re.compile(r"(\r?\n|\r)")
_CUE = re.compile(
    # possessive, and each search from the start of a line, so that no file takes long
    r"((?:\A\s*+|(?<=\n)[^\S\n]*+\n)(?:[^\S\n]*+\d++[^\S\n]*+\n)?"
    r"[^\S\n]*+\d++:\d\d:\d\d[,.]\d++[^\S\n]*+-->[^\n]*+(?:\n|\Z))"
)


def subtitle_parts(text: str) -> list[Part]:
    """Cut subtitles (SRT) into the texts of their cues, and numbers and times; a text keeps its number of lines.

    >>> [part.text for part in subtitle_parts("1\\n00:00:01,000 --> 00:00:02,000\\nHello,\\nworld.\\n")]
    ['1\\n00:00:01,000 --> 00:00:02,000\\n', 'Hello, world.', '\\n']
    """
    parts: list[Part] = []
    for number, piece in enumerate(_CUE.split(text)):
        inner = piece.strip()
        if number % 2 or not re.search(r"[^\W\d_]", inner):
            parts.append(Part(piece, translated=False))
            continue
        start = piece.index(inner)
        pieces = _LINE_END.split(inner)
        lines, ends = pieces[::2], pieces[1::2]
        one = Part(" ".join(line.strip() for line in lines), protect=True, restore=partial(_in_lines, ends=ends))
        after = Part(piece[start + len(inner) :], translated=False)
        parts += [Part(piece[:start], translated=False), one, after]
    return [part for part in parts if part.text]


def _in_lines(text: str, ends: Sequence[str]) -> str:
    """Break a text at these line ends, or at the first of them, into lines that are about as long."""
    count = len(ends) + 1
    width = -(-len(text) // count)
    while len(lines := textwrap.wrap(text, max(1, width), break_long_words=False, break_on_hyphens=False)) > count:
        width += 1
    return "".join(end + line for end, line in zip(["", *ends], lines, strict=False))


FORMATS: dict[str, Callable[[str], list[Part]]] = {".txt": text_parts, ".html": html_parts, ".srt": subtitle_parts}


def read_file(name: str, contents: bytes) -> tuple[str, str]:
    """Return the format of a file, by the end of its name, and its text.

    Raises:
        ApiError: If the format is not one of `FORMATS`, or the text is not UTF-8.
    """
    suffix = Path(name).suffix.lower()
    if suffix not in FORMATS:
        raise ApiError(400, f"{suffix.removeprefix('.') or 'that'} format is not supported: {', '.join(FORMATS)}")
    try:
        return suffix, contents.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ApiError(400, f"Invalid request: the file is not UTF-8: {error}") from error


class TranslatedFiles:
    """Files in a temporary folder, for an hour and a hundred at most."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="translate-serve-")
        self._made: dict[str, float] = {}
        self._adding = threading.Lock()

    def add(self, name: str, text: str) -> str:
        """Keep a file; return the name that it can be fetched by, which cannot be guessed."""
        now = time.monotonic()
        safe = re.sub(r"[^\w.-]", "_", Path(name).name, flags=re.ASCII)[-100:]
        kept = f"{uuid.uuid4()}.{safe}"
        self._path(kept).write_text(text, encoding="utf-8", newline="")
        with self._adding:
            old = [one for one, made in self._made.items() if now - made > _SECONDS_KEPT]
            for one in old or ([next(iter(self._made))] if len(self._made) >= _MOST_KEPT else []):
                del self._made[one]
                self._path(one).unlink(missing_ok=True)
            self._made[kept] = now
        return kept

    def find(self, name: str) -> Path:
        """Return the path of a file.

        Raises:
            ApiError: If there is none of that name.
        """
        if not _NAME.fullmatch(name) or name not in self._made:
            raise ApiError(400, "Invalid filename")
        return self._path(name)

    def remove(self) -> None:
        """Remove all of them."""
        self._folder.cleanup()

    def _path(self, name: str) -> Path:
        return Path(self._folder.name, name)
