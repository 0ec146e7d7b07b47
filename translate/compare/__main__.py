"""Compare runs: `python -m translate.compare runs/attention/*`."""

from __future__ import annotations

import argparse
import logging
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from translate.common.command import run_command
from translate.common.cores import limit_threads

_DESCRIPTION = """\
Put finished training runs side by side: one table, one picture.

Runs whose settings differ in nothing but the seed are one row, named by what tells it from the other rows. Each row
shows its size, the memory that decoding takes per token, how fast it trains and decodes, and its loss and BLEU on the
validation split. Test sets are left alone: choose here, then score the choice once with translate.evaluate.

The speeds are measured now, on this machine, in turns: every row once a round, so that their ratios are fair. Runs on
different corpora, and runs that are not finished, are refused. The runs are only read."""

_EXAMPLES = """\
examples:
  python -m translate.train -m name=heads model.num_heads=2,4,8 seed=1,2     six runs, and then
  python -m translate.compare runs/heads/*                                   three rows of two seeds
  python -m translate.compare runs/a/DATE runs/b/DATE --output a-or-b        two runs, files to a-or-b/
  python -m translate.compare runs/heads/* --rounds 0                        no speeds: sooner done
  python -m translate.compare runs/heads/* --data-root DIR --threads 1       the corpus has moved; one CPU thread

The table goes to stdout. The output folder gets compare.md (the table, each run, machine, signature), compare.json
(every figure) and compare.png (learning curves, BLEU with intervals, memory against BLEU, speeds)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, then compare; returns the exit status."""
    args = parse(arguments)
    logging.basicConfig(stream=sys.stderr, format="%(message)s")
    logging.getLogger("translate").setLevel(logging.DEBUG if args.verbose else logging.WARNING)
    from translate.compare.comparison import compare

    limit_threads(args.threads)
    comparison = compare(
        [Path(run) for run in args.runs],
        output=Path(args.output),
        command=shlex.join(["python", "-m", "translate.compare", *(sys.argv[1:] if arguments is None else arguments)]),
        rounds=args.rounds,
        steps=args.steps,
        sentences=args.sentences,
        data_root=args.data_root,
        device=args.device,
    )
    print(comparison.table(), end="")
    print(f"written: {Path(args.output) / 'compare.md'} (and compare.json, compare.png)", file=sys.stderr)
    return 0


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; exit with a message if it is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m translate.compare",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("runs", nargs="+", metavar="RUN", help="run directory, runs/<name>/<date_time>")
    add("--output", default="comparison", metavar="DIR", help="where the files go (default: comparison)")
    add("--rounds", type=_at_least(0), default=5, metavar="N", help="measurements of each speed; 0: none (default: 5)")
    add("--steps", type=_at_least(1), default=20, metavar="N", help="training steps of a measurement (default: 20)")
    add("--sentences", type=_at_least(1), default=200, metavar="N", help="sentences to decode in one (default: 200)")
    add("--threads", type=_at_least(1), metavar="N", help="CPU threads (default: torch's choice)")
    add("--device", choices=("auto", "cpu", "cuda"), default="auto", help="auto (default) takes a GPU if there is one")
    add("--data-root", metavar="DIR", help="where the corpus lies, if not where the runs found it")
    add("-v", "--verbose", action="store_true", help="tracebacks of errors")
    return parser.parse_args(arguments)


def _at_least(low: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < low:
            raise argparse.ArgumentTypeError(f"{text} is not a whole number from {low} up")
        return int(text)

    return number


if __name__ == "__main__":
    run_command(main)
