"""The translating door: `python -m translate.infer "A man is riding a horse."`."""

from __future__ import annotations

import argparse
import contextlib
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import fields
from functools import partial
from io import BufferedReader
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, BinaryIO, cast

from translate.answers import Settings, scored_lines, translated_lines
from translate.config import DecodeConfig
from translate.doors import run_door
from translate.lines import argument_lines, count_lines, read_chunks

if TYPE_CHECKING:
    from translate.translator import Translator

Answer = Callable[[list[str], int], Iterator[str]]  # input lines and the number of the first one to output lines

logger = logging.getLogger("translate.infer")

_DESCRIPTION = """\
Translate sentences with a trained model.

Sentences are given as arguments; without any, each line of stdin (or of --input) becomes one line of stdout (or of
--output), in order, an empty line for an empty line. Only translations go to stdout."""

_EXAMPLES = """\
examples:
  python -m translate.infer "A man is riding a horse."
  python -m translate.infer < text.en > text.fr
  python -m translate.infer --input text.en --output text.fr --greedy
  python -m translate.infer --model runs/multi30k/2026-01-31_12-00-00 --beam-size 10 --num-hypotheses 3 "Hello."
  python -m translate.infer --json "Hello." | jq .score
  python -m translate.infer --sample --top-p 0.9 --num-hypotheses 5 --seed 2 "Hello."
  python -m translate.infer --sample-distinct --num-hypotheses 5 "Hello."
  python -m translate.infer --sample --num-hypotheses 32 --mbr chrf < text.en > text.fr
  python -m translate.infer --model RUN1 --model RUN2 < text.en > text.fr
  python -m translate.infer --score "A man is riding a horse." "Un homme monte à cheval."
  paste text.en text.fr | python -m translate.infer --score > log_probs.tsv

Settings that are not given are those of the model directory. A line longer than the sources of training is cut at
sentence ends and translated piece by piece."""

_SCORE_SETTINGS = ("length_penalty", "batch_tokens")  # the settings that --score takes


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, then translate; returns the exit status."""
    args = parse(arguments)
    logging.basicConfig(stream=sys.stderr, format="%(message)s")
    logging.getLogger("translate").setLevel(logging.DEBUG if args.verbose else logging.WARNING)
    with ExitStack() as stack:
        chunks, total = _open_input(args, stack)
        from translate.translator import Translator  # torch is loaded here, after the command line proved right

        models = [Translator.load(path, device=args.device, precision=args.precision) for path in args.model or [None]]
        translator = Translator.ensemble(models) if len(models) > 1 else models[0]
        logger.info("%s", translator.describe())
        output = stack.enter_context(Path(args.output).open("wb")) if args.output else sys.stdout.buffer
        answer = _answer(args, translator, stack.enter_context(_progress(args, total)))
        _run(answer, chunks, output)
    return 0


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line; exits with a message if it is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m translate.infer",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("sentences", nargs="*", metavar="SENTENCE", help="what to translate; none reads lines")
    add(
        "--model",
        action="append",
        metavar="PATH",
        help="run, model directory or exported one (default: runs/latest, the newest run); given again: an ensemble",
    )
    add("--input", metavar="FILE", help="read lines from this file, UTF-8")
    add("--output", metavar="FILE", help="write lines to this file, as they get ready")
    add("--errors", choices=("strict", "replace"), default="strict", help="at invalid UTF-8: stop there, or put U+FFFD")
    width = parser.add_mutually_exclusive_group()
    width.add_argument("--beam-size", type=int, metavar="N", help="hypotheses followed at once; 1 is greedy")
    width.add_argument("--greedy", dest="beam_size", action="store_const", const=1, help="the same as --beam-size 1")
    width.add_argument("--sample", dest="search", action="store_const", const="sample", help="draw outputs at random")
    width.add_argument(
        "--sample-distinct", dest="search", action="store_const", const="sample_distinct", help="draw different ones"
    )
    add("--temperature", type=float, metavar="T", help="of samples: above 1 draws more evenly, below 1 less")
    add("--top-k", type=int, metavar="K", help="of samples: draw from the K most probable tokens; 0 is off")
    add("--top-p", type=float, metavar="P", help="of samples: draw from the most probable ones that reach P; 1 is off")
    add("--seed", type=int, metavar="S", help="of samples: the same seed draws the same for the same line")
    add("--length-penalty", type=float, metavar="A", help="scores are log_prob / length^A; 0 is off")
    add("--num-hypotheses", type=int, metavar="K", help="K lines per input: its number, score and text, tab-separated")
    add("--mbr", choices=("none", "chrf", "bleu"), help="one line: that of the K most like the others, by sacreBLEU")
    add("--min-output-len", type=int, metavar="T", help="fewest tokens of a translation, its end counted")
    add("--max-output-len", type=int, metavar="T", help="most tokens of a translation, its end counted")
    add("--max-output-ratio", type=float, metavar="R", help="most tokens per source token, plus 10; 0 is off")
    add("--alignments", action="store_true", help="one more column: links SOURCE_WORD-TARGET_WORD, counted from 0")
    add("--score", action="store_true", help="input is SOURCE, tab, TARGET: write log-probability and score of each")
    add("--attention", action="store_true", help="with --json: cross-attention weights of each layer and head")
    add("--json", action="store_true", help="one JSON object per input: src, text, score, hypotheses")
    add("--device", default="auto", metavar="D", help="cpu, cuda, cuda:1 …; auto (default) takes a GPU if there is one")
    add("--precision", choices=("32", "bf16", "16"), default="32", help="of weights and matmuls; 16 needs a GPU")
    add("--batch-tokens", type=int, metavar="T", help="limit of sentences * beam size * longest source in a batch")
    add("-v", "--verbose", action="store_true", help="log and progress on stderr, tracebacks of errors")
    args = parser.parse_args(arguments)
    if args.sentences and args.input:
        parser.error("give sentences or --input, not both")
    if args.attention and not args.json:
        parser.error("--attention needs --json")
    if args.score:
        _check_score(parser, args)
    return args


def _check_score(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    if len(args.sentences) not in (0, 2):
        parser.error(f"--score needs SOURCE and TARGET, or no argument to read lines, not {len(args.sentences)}")
    for field in fields(DecodeConfig):
        if field.name not in _SCORE_SETTINGS and getattr(args, field.name) is not None:
            parser.error(f"--{field.name.replace('_', '-')} does nothing with --score")
    for name in ("alignments", "attention"):
        if getattr(args, name):
            parser.error(f"--{name} is of translations; it does nothing with --score")


def _open_input(args: argparse.Namespace, stack: ExitStack) -> tuple[Iterator[list[str]], int | None]:
    """Chunks of lines and, where it is known, the number of lines."""
    if args.sentences:
        texts = argument_lines(args.sentences, errors=args.errors)
        if args.score:
            texts = ["\t".join(text.replace("\t", " ") for text in texts)]
        return iter([texts]), len(texts)
    if not args.input:
        stdin = cast("BufferedReader", sys.stdin.buffer)
        return read_chunks(stdin, "stdin", errors=args.errors), None
    file = stack.enter_context(Path(args.input).open("rb"))  # noqa: SIM115 - the stack closes it
    if args.output and Path(args.output).exists() and Path(args.input).samefile(args.output):
        raise ValueError(f"--output ({args.output}) is the file of --input; writing it would destroy it")
    total = count_lines(file) if file.seekable() else None
    return read_chunks(file, args.input, errors=args.errors), total


def _answer(args: argparse.Namespace, translator: Translator, progress: Callable[[int], object]) -> Answer:
    """What makes the output lines."""
    settings: Settings = {field.name: getattr(args, field.name) for field in fields(DecodeConfig)}
    settings["progress"] = progress
    settings["alignments"] = args.alignments
    if args.score:
        settings = {name: settings[name] for name in (*_SCORE_SETTINGS, "progress")}
        name = "arguments" if args.sentences else args.input or "stdin"
        return partial(scored_lines, translator, settings, name=name, as_json=args.json)
    return partial(translated_lines, translator, settings, as_json=args.json, attention=args.attention)


def _run(answer: Answer, chunks: Iterator[list[str]], output: BinaryIO) -> None:
    """Answer chunk by chunk and write each line as soon as it is ready."""
    list(answer([], 1))  # refuses a bad setting before the first line is waited for
    start, done = perf_counter(), 0
    for texts in chunks:
        for line in answer(texts, done + 1):
            output.write(line.encode() + b"\n")
        output.flush()
        done += len(texts)
    seconds = perf_counter() - start
    logger.info("%d lines in %.1f s, %.1f lines/s", done, seconds, done / seconds)


@contextlib.contextmanager
def _progress(args: argparse.Namespace, total: int | None) -> Iterator[Callable[[int], object]]:
    """What to call with the number of lines done: a bar on stderr where one can be seen and disturbs nothing."""
    visible = args.verbose or (sys.stderr.isatty() and not args.sentences and (args.output or not sys.stdout.isatty()))
    if not visible:
        yield lambda lines: None
        return
    try:
        from tqdm import tqdm
    except ModuleNotFoundError:  # beside an exported model nothing else needs it
        yield lambda lines: None
        return
    with tqdm(total=total, unit="line", file=sys.stderr, dynamic_ncols=True) as bar:
        yield bar.update


if __name__ == "__main__":
    run_door(main)
