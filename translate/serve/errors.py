"""Errors that a client is told of."""

from __future__ import annotations

from collections.abc import Mapping


class ApiError(Exception):
    """An answer that is not what was asked for.

    Args:
        status: HTTP status code.
        message: What is wrong, in a sentence.
        headers: More headers of the answer.
    """

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, headers
