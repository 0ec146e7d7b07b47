"""The command line of `translate.serve`: its options and their help."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from translate.config.flags import add_flags
from translate.config.serve import ServeConfig

_DESCRIPTION = """\
Serve translations over HTTP, for clients of LibreTranslate."""

_EXAMPLES = """\
examples:
  python -m translate.serve
  python -m translate.serve --model runs/latest --host 0.0.0.0 --port 8080
  curl -d q="Where is the library?" -d source=auto -d target=fr http://127.0.0.1:5000/translate
  python -m translate.serve keys add "a colleague"
  python -m translate.serve --api-keys

SIGTERM finishes what runs and ends; SIGHUP opens the models again without refusing a request."""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line, whose first word may be `keys`; exit with a message if it is wrong."""
    if arguments[:1] == ["keys"]:
        return _keys_parser().parse_args(arguments[1:])
    return _parser().parse_args(arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m translate.serve",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--model",
        action="append",
        metavar="PATH",
        help="run, model directory or exported one; several for several languages; the general model without it",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="log each request, as JSON, without its texts")
    parser.set_defaults(action="serve")
    add_flags(parser, ServeConfig, defaults=True)
    return parser


def _whole(text: str) -> int:
    if not re.fullmatch(r"\d{1,18}", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text} is no whole number from 0, or too large a one")
    return int(text)


def _limit(text: str) -> int:
    return -1 if text == "-1" else _whole(text)


def _keys_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m translate.serve keys", description="Make, list and revoke the API keys of a server."
    )
    parser.add_argument("--keys-file", default=ServeConfig.keys_file, metavar="FILE", help="SQLite file of the keys")
    actions = parser.add_subparsers(dest="action", required=True)
    add = actions.add_parser("add", help="make a key and print it; nobody can see it again")
    add.add_argument("name", help="whose it is")
    add.add_argument(
        "--req-limit", type=_limit, metavar="N", help="requests a minute, -1 = no limit; else the server's"
    )
    actions.add_parser("list", help="list the keys, without what they are")
    revoke = actions.add_parser("revoke", help="remove a key")
    revoke.add_argument("number", type=_whole, help="as `list` gives it")
    return parser
