"""What errors of libraries say, in a line."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message; the name of its class if it has none.

    >>> first_line(ValueError("no\\nmore")), first_line(MemoryError())
    ('no', 'MemoryError')
    """
    message = str(error).strip() or type(error).__name__
    return message.splitlines()[0]


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Let a ValueError that arises while a file of a model is read name the file, and say where to get a whole one.

    Raises:
        ValueError: In place of the one that arose.
    """
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{path} is damaged ({error}); take it from a complete copy of the model") from error
