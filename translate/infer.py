"""The translating door: `python -m translate.infer "A man is riding a horse."`."""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import fields
from io import BufferedReader
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from translate.config import DecodeConfig
from translate.doors import run_door
from translate.lines import argument_lines, count_lines, read_chunks

if TYPE_CHECKING:
    from translate.translator import Translation, Translator

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

Settings that are not given are those of the model directory. A line longer than the sources of training is cut at
sentence ends and translated piece by piece."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, then translate; returns the exit status."""
    args = parse(arguments)
    logging.basicConfig(stream=sys.stderr, format="%(message)s")
    logging.getLogger("translate").setLevel(logging.DEBUG if args.verbose else logging.WARNING)
    with ExitStack() as stack:
        chunks, total = _open_input(args, stack)
        from translate.translator import Translator  # torch is loaded here, after the command line proved right

        translator = Translator.load(args.model, device=args.device, precision=args.precision)
        logger.info("%d parameters, device %s, precision %s", *_describe(translator))
        output = stack.enter_context(Path(args.output).open("wb")) if args.output else sys.stdout.buffer
        _translate(args, translator, chunks, output, stack.enter_context(_progress(args, total)))
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
    add("--model", metavar="PATH", help="run directory or model directory (default: runs/latest, the newest run)")
    add("--input", metavar="FILE", help="read lines from this file, UTF-8")
    add("--output", metavar="FILE", help="write lines to this file, as they get ready")
    add("--errors", choices=("strict", "replace"), default="strict", help="at invalid UTF-8: stop there, or put U+FFFD")
    width = parser.add_mutually_exclusive_group()
    width.add_argument("--beam-size", type=int, metavar="N", help="hypotheses followed at once; 1 is greedy")
    width.add_argument("--greedy", dest="beam_size", action="store_const", const=1, help="the same as --beam-size 1")
    add("--length-penalty", type=float, metavar="A", help="scores are log_prob / length^A; 0 is off")
    add("--num-hypotheses", type=int, metavar="K", help="K lines per input: its number, score and text, tab-separated")
    add("--min-output-len", type=int, metavar="T", help="fewest tokens of a translation, its end counted")
    add("--max-output-len", type=int, metavar="T", help="most tokens of a translation, its end counted")
    add("--max-output-ratio", type=float, metavar="R", help="most tokens per source token, plus 10; 0 is off")
    add("--json", action="store_true", help="one JSON object per input: src, text, score, hypotheses")
    add("--device", default="auto", metavar="D", help="cpu, cuda, cuda:1 …; auto (default) takes a GPU if there is one")
    add("--precision", choices=("32", "bf16", "16"), default="32", help="of weights and matmuls; 16 needs a GPU")
    add("--batch-tokens", type=int, metavar="T", help="limit of sentences * beam size * longest source in a batch")
    add("-v", "--verbose", action="store_true", help="log and progress on stderr, tracebacks of errors")
    args = parser.parse_args(arguments)
    if args.sentences and args.input:
        parser.error("give sentences or --input, not both")
    return args


def _open_input(args: argparse.Namespace, stack: ExitStack) -> tuple[Iterator[list[str]], int | None]:
    """Chunks of lines and, where it is known, the number of lines."""
    if args.sentences:
        return iter([argument_lines(args.sentences, errors=args.errors)]), len(args.sentences)
    if not args.input:
        stdin = cast("BufferedReader", sys.stdin.buffer)
        return read_chunks(stdin, "stdin", errors=args.errors), None
    file = stack.enter_context(Path(args.input).open("rb"))  # noqa: SIM115 - the stack closes it
    if args.output and Path(args.output).exists() and Path(args.input).samefile(args.output):
        raise ValueError(f"--output ({args.output}) is the file of --input; writing it would destroy it")
    total = count_lines(file) if file.seekable() else None
    return read_chunks(file, args.input, errors=args.errors), total


def _translate(
    args: argparse.Namespace,
    translator: Translator,
    chunks: Iterator[list[str]],
    output: BinaryIO,
    progress: Callable[[int], object],
) -> None:
    """Translate chunk by chunk and write each as soon as it is ready."""
    settings: dict[str, Any] = {field.name: getattr(args, field.name) for field in fields(DecodeConfig)}

    def translate(texts: list[str]) -> list[Translation]:
        return translator.translate(texts, **settings, progress=progress)

    translate([])  # refuses a bad setting before the first line is waited for
    start, done = perf_counter(), 0
    for texts in chunks:
        for number, (text, translation) in enumerate(zip(texts, translate(texts), strict=True), done + 1):
            output.write(_format(args, number, text, translation).encode() + b"\n")
        output.flush()
        done += len(texts)
    seconds = perf_counter() - start
    logger.info("%d lines in %.1f s, %.1f lines/s", done, seconds, done / seconds)


def _format(args: argparse.Namespace, number: int, src: str, translation: Translation) -> str:
    if args.json:
        hypotheses = [hypothesis._asdict() for hypothesis in translation.hypotheses]
        return json.dumps({"src": src, **translation._asdict(), "hypotheses": hypotheses}, ensure_ascii=False)
    wanted = args.num_hypotheses or 1
    if wanted == 1:
        return translation.text
    pairs = [(hypothesis.score, hypothesis.text) for hypothesis in translation.hypotheses] or [(0.0, "")] * wanted
    return "\n".join(f"{number}\t{score:.4f}\t{text}" for score, text in pairs)


@contextlib.contextmanager
def _progress(args: argparse.Namespace, total: int | None) -> Iterator[Callable[[int], object]]:
    """What to call with the number of lines done: a bar on stderr where one can be seen and disturbs nothing."""
    visible = args.verbose or (sys.stderr.isatty() and not args.sentences and (args.output or not sys.stdout.isatty()))
    if not visible:
        yield lambda lines: None
        return
    from tqdm import tqdm

    with tqdm(total=total, unit="line", file=sys.stderr, dynamic_ncols=True) as bar:
        yield bar.update


def _describe(translator: Translator) -> tuple[int, str, str]:
    from translate.bundle import num_parameters

    return num_parameters(translator.model), str(translator.device), translator.precision


if __name__ == "__main__":
    run_door(main)
