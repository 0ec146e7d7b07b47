"""Start a command quickly and end it cleanly: errors as one line, a closed pipe and Ctrl-C quietly."""

import gc
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from translate.common.extras import explain_missing

logger = logging.getLogger(__name__)


def run_command(main: Callable[[], int | None]) -> NoReturn:
    """Run `main` and exit with its status (None means 0).

    A ValueError or OSError, which are what a user can cause, or a missing package that an extra installs, becomes one
    line `error: …` on stderr and status 2; the traceback goes to the log at level DEBUG. A reader that closed our
    output early (`| head -1`) ends us with 141 and Ctrl-C with 130, as the shell reports them, and without a word.
    Of standard streams that are closed (`>&-`) only the output is missed.
    """
    sys.stdin, sys.stderr = sys.stdin or open(os.devnull), sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    try:
        if sys.stdout is None:
            raise ValueError("standard output is closed, and nothing can be written there; give it a file or /dev/null")
        status = main() or 0
        sys.stdout.flush()
    except KeyboardInterrupt:
        status = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still buffered has no reader
        status = 141
    except (ValueError, OSError, ModuleNotFoundError, MemoryError) as error:
        logger.debug("the error below came from here", exc_info=True)
        print(f"error: {' '.join(_explain(error).split())}", file=sys.stderr)
        status = 2
    sys.exit(status)


@contextmanager
def importing() -> Iterator[None]:
    """Import large libraries without searching their objects for garbage, then or later: they have none.

    The searches would take a fifth of the time that torch and Lightning need.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collecting:
            gc.enable()


def _explain(error: ValueError | OSError | ModuleNotFoundError | MemoryError) -> str:
    if isinstance(error, MemoryError):
        return f"not enough memory{f' ({error})' if str(error) else ''}; ask for smaller batches, beams or files"
    if isinstance(error, ModuleNotFoundError):
        if (explained := explain_missing(error)) is None:  # a defect of ours
            raise error
        return explained
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)
