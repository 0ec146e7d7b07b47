"""What errors of libraries say, in a line."""


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message; the name of its class if it has none.

    >>> first_line(ValueError("no\\nmore")), first_line(MemoryError())
    ('no', 'MemoryError')
    """
    message = str(error).strip() or type(error).__name__
    return message.splitlines()[0]
