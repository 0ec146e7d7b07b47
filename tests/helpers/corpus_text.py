"""The form of the texts in the corpora that were written for this project."""

import re
import unicodedata
from pathlib import Path

_WRONG_SPACES = re.compile(r"[^ \s«?!…][?!;](?:\s|$)|\w:(?:\s|$)|«\S|\S»")


def rows(path: Path) -> list[tuple[str, ...]]:
    """Return the lines of a file, the header among them, each cut at its tabs."""
    return [tuple(line.split("\t")) for line in path.read_text(encoding="utf-8").splitlines()]


def is_plain(text: str) -> bool:
    """Return whether a text is in Unicode form NFC, without spaces side by side or characters of print."""
    return bool(text) and unicodedata.normalize("NFC", text) == " ".join(text.split()) and not set("’“”") & set(text)


def has_french_spaces(text: str) -> bool:
    """Return whether a French text has a space before `? ! : ;` and within « »."""
    return not _WRONG_SPACES.search(text)
