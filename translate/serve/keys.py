"""API keys in an SQLite file, of which only hashes are kept."""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple


class Key(NamedTuple):
    """A key that was made.

    Attributes:
        number: What it is revoked by.
        name: Whose it is.
        req_limit: Requests a minute; None = the server's limit.
        made: Date, UTC.
    """

    number: int
    name: str
    req_limit: int | None
    made: str


class ApiKeys:
    """The keys of a file, which need not exist yet."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, name: str, req_limit: int | None = None) -> str:
        """Make a key; it is known to nobody but whoever gets it here."""
        key = secrets.token_urlsafe(24)
        with self._open() as file:
            file.execute("INSERT INTO keys (name, hash, req_limit) VALUES (?, ?, ?)", (name, _hash(key), req_limit))
        return key

    def list(self) -> list[Key]:
        """Return all keys."""
        with self._open() as file:
            return [Key(*row) for row in file.execute("SELECT number, name, req_limit, made FROM keys ORDER BY number")]

    def revoke(self, number: int) -> None:
        """Remove a key.

        Raises:
            ValueError: If there is none of that number.
        """
        with self._open() as file:
            if not file.execute("DELETE FROM keys WHERE number = ?", (number,)).rowcount:
                raise ValueError(f"there is no key {number} in {self.path}; `translate.serve keys list` names them")

    def find(self, key: str) -> Key | None:
        """Return what is known of a key; None if it was not made here."""
        with self._open() as file:
            query = "SELECT number, name, req_limit, made FROM keys WHERE hash = ?"
            row = file.execute(query, (_hash(key),)).fetchone()
        return None if row is None else Key(*row)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path)) as file, file:
                file.execute(
                    "CREATE TABLE IF NOT EXISTS keys (number INTEGER PRIMARY KEY, name TEXT NOT NULL, "
                    "hash TEXT NOT NULL UNIQUE, req_limit INTEGER, made TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP)"
                )
                yield file
        except sqlite3.Error as error:
            raise ValueError(f"{self.path}: {error}; it must be an SQLite file that can be written") from error


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()  # keys are long and random, so that no slow hash is needed
