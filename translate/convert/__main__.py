"""Convert a model of another program: `python -m translate.convert from=PATH`."""

import sys

from translate.common.command import run_command
from translate.config.convert import ConvertConfig


def main() -> None:
    """Run the command with the settings of the command line."""
    from translate.config.compose import hydra_main  # needs the extra train, as the next
    from translate.convert.reader import convert

    # `from` is what people will write, and cannot be the name of a field in Python
    sys.argv[1:] = [f"source={word[5:]}" if word.startswith("from=") else word for word in sys.argv[1:]]
    hydra_main("convert", ConvertConfig, convert, groups=False)


if __name__ == "__main__":
    run_command(main)
