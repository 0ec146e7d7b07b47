"""Convert a model of another program: `python -m translate.convert from=PATH`."""

import sys
from collections.abc import Sequence

from translate.common.command import run_command
from translate.config.convert import ConvertConfig


def main() -> None:
    """Run the command with the settings of the command line."""
    from translate.config.compose import hydra_main  # needs the extra train, as the next
    from translate.convert.reader import convert

    sys.argv[1:] = with_source(sys.argv[1:])
    hydra_main("convert", ConvertConfig, convert, groups=False)


def with_source(words: Sequence[str]) -> list[str]:
    """Return a command line with `source=` for `from=`, which cannot be the name of a field in Python.

    >>> with_source(["from=a/b", "overwrite=true"])
    ['source=a/b', 'overwrite=true']
    """
    return [f"source={word[5:]}" if word.startswith("from=") else word for word in words]


if __name__ == "__main__":
    run_command(main)
