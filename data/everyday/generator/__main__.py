"""Write the embedded corpus again: `cd data/everyday && python -m generator`."""

import argparse
from pathlib import Path

from generator.corpus import DEFAULT_SEED, HERE, write


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m generator",
        description="Write the everyday English-French corpus (train, valid, test and test_unseen) from its lexicon, "
        "its grammar and its hand-written phrases.",
    )
    parser.add_argument(
        "--output", type=Path, default=HERE, metavar="DIR", help="where to write (default: %(default)s)"
    )
    parser.add_argument(
        "--source", type=Path, default=HERE, metavar="DIR", help="where lexicon/ and phrases.tsv are (default: here)"
    )
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, metavar="N", help="seed (default: %(default)s)")
    options = parser.parse_args()
    write(options.output, options.seed, options.source)
    print(f"wrote {options.output}")


if __name__ == "__main__":
    main()
