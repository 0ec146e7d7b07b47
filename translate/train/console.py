"""Messages to the person who trains: lines on stderr, and durations in words."""

import sys

from tqdm import tqdm


def say(*lines: str) -> None:
    """Write lines to stderr without breaking a progress bar."""
    for line in lines:
        tqdm.write(line, file=sys.stderr)
    sys.stderr.flush()


def clock(seconds: float) -> str:
    """Return a duration as h:mm:ss.

    >>> clock(3725.4)
    '1:02:05'
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
