"""The translating door: `python -m translate.infer "My brother is reading a book in the garden."`."""

from __future__ import annotations

import argparse
import contextlib
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import fields
from functools import partial
from hashlib import sha256
from io import BufferedReader
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, BinaryIO, cast

from translate.common.command import run_door
from translate.config.decode import PRECISIONS, DecodeConfig
from translate.infer.answers import (
    Answer,
    Settings,
    lines_per_source,
    pair_lines,
    pairs_header,
    scored_lines,
    translated_lines,
    write_answers,
)
from translate.infer.lines import LINES, aligned_lines, argument_lines, count_lines, read_chunks
from translate.infer.resume import Record, open_output
from translate.markup.terminology import Terminology, read_terms
from translate.translator.bundle import LATEST, find_model, fingerprint
from translate.translator.engines.directory import exported_format

if TYPE_CHECKING:
    from translate.translator.translator import Translator

logger = logging.getLogger("translate.infer")

_DESCRIPTION = """\
Translate sentences with a trained model.

Sentences are given as arguments; without any, each line of stdin (or of --input) becomes one line of stdout (or of
--output), in order, an empty line for an empty line. Only translations go to stdout."""

_EXAMPLES = """\
examples:
  python -m translate.infer "My brother is reading a book in the garden."
  python -m translate.infer < text.en > text.fr
  python -m translate.infer --input text.en --output text.fr --greedy
  python -m translate.infer --input text.en --output text.fr --greedy --resume
  python -m translate.infer --model runs/my/2026-01-31_12-00-00 --beam-size 10 --num-hypotheses 3 "She is a lawyer."
  python -m translate.infer --json "She is a lawyer." | jq .score
  python -m translate.infer --prefix "Une femme" "A woman is reading."
  python -m translate.infer --beam-size 6 --beam-groups 3 --num-hypotheses 3 "She is a lawyer."
  python -m translate.infer --sample --top-p 0.9 --num-hypotheses 5 --seed 2 "She is a lawyer."
  python -m translate.infer --sample-distinct --num-hypotheses 5 "She is a lawyer."
  python -m translate.infer --sample --num-hypotheses 32 --mbr chrf < text.en > text.fr
  python -m translate.infer --model RUN1 --model RUN2 < text.en > text.fr
  python -m translate.infer --to en < text.fr > text.en
  python -m translate.infer --protect --terms terms.tsv "Dear {name}, see <b>https://example.org</b>."
  python -m translate.infer --score "She is a lawyer." "Elle est avocate."
  paste text.en text.fr | python -m translate.infer --score > log_probs.tsv
  python -m translate.infer --model FR_EN --pairs --input more.fr --output pairs.tsv

Settings that are not given are those of the model directory. A line longer than the sources of training is cut at
sentence ends and translated piece by piece.

A file of any size streams: memory does not grow with it. A run with --input and --output that stopped (Ctrl-C, kill,
power) is continued by the same command with --resume: whole lines stay, what comes after them is redone. Until the
output is complete, OUTPUT.resume stands beside it with its settings and the checksum of its input; other ones are
refused. --device, --batch-tokens and --errors may change."""

_SCORE_SETTINGS = ("length_penalty", "batch_tokens")  # the settings that --score takes
_NOT_RECORDED = (  # options that may change when a run is continued
    *("input", "output", "resume", "sentences", "errors", "device", "batch_tokens", "verbose"),
)
_FILES = ("prefixes", "terms")  # options whose files are recorded with their checksum


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, then translate; returns the exit status."""
    args = parse(arguments)
    logging.basicConfig(stream=sys.stderr, format="%(message)s")
    logging.getLogger("translate").setLevel(logging.DEBUG if args.verbose else logging.WARNING)
    with ExitStack() as stack:
        source, total = _open_input(args, stack)
        record = _record(args, source)
        done, size = _answered(args, record, total)
        chunks = _chunks(args, source, done)
        from translate.translator.translator import (
            Translator,  # torch is loaded here, after the command line proved right
        )

        models = [Translator.load(path, device=args.device, precision=args.precision) for path in args.model or [None]]
        translator = Translator.ensemble(models) if len(models) > 1 else models[0]
        translator = translator.into(args.to) if args.to else translator
        logger.info("%s", translator.describe())
        prefixes = _prefixes(args, stack, total, done)
        # refuses a bad setting before a file is emptied or a line is awaited
        list(_answer(args, translator, None, None)([], 1))
        output: BinaryIO = sys.stdout.buffer
        if args.output:
            output = stack.enter_context(open_output(Path(args.output), size, record))
        if args.pairs and not size:
            output.write(pairs_header(translator))
        progress = stack.enter_context(_progress(args, total, done))
        try:
            _run(_answer(args, translator, prefixes, progress), chunks, output, done)
        except KeyboardInterrupt:
            if record is not None:
                logger.warning("stopped: the same command with --resume goes on where %s ends", args.output)
            raise
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
    add("--to", metavar="LANG", help="language to translate into, of a model that knows both directions")
    add("--input", metavar="FILE", help="read lines from this file, UTF-8")
    add("--output", metavar="FILE", help="write lines to this file, as they get ready")
    add("--resume", action="store_true", help="go on where the lines in --output end; begins it where it is missing")
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
    add("--min-output-ratio", type=float, metavar="R", help="fewest tokens per source token; 0 is off")
    add("--max-output-ratio", type=float, metavar="R", help="most tokens per source token, plus 10; 0 is off")
    add("--beam-groups", type=int, metavar="G", help="groups of the beam that keep clear of each other")
    add("--diversity-penalty", type=float, metavar="P", help="how clear: nats per token that an earlier group took")
    switch = argparse.BooleanOptionalAction
    add("--repetition-guard", action=switch, help="search again where an output says the same again and again")
    add("--length-guard", action=switch, help="search again where an output finds no end, far longer than its source")
    begin = parser.add_mutually_exclusive_group()
    begin.add_argument("--prefix", metavar="TEXT", help="what every translation begins with")
    begin.add_argument("--prefixes", metavar="FILE", help="a line for each input: what its translation begins with")
    add("--protect", action="store_true", help="tags, URLs, e-mail addresses, {placeholders}, 5 kg, $5 stay so")
    add("--terms", metavar="FILE", help="lines of SOURCE, tab, TARGET: words that are to be translated so")
    add("--alignments", action="store_true", help="one more column: links SOURCE_WORD-TARGET_WORD, counted from 0")
    add("--score", action="store_true", help="input is SOURCE, tab, TARGET: write log-probability and score of each")
    add("--attention", action="store_true", help="with --json: cross-attention weights of each layer and head")
    add("--pairs", action="store_true", help="TSV of the input and its translation, headed by languages: training data")
    add("--json", action="store_true", help="one JSON object per input: src, text, score, hypotheses")
    add("--device", default="auto", metavar="D", help="cpu, cuda, cuda:1 …; auto (default) takes a GPU if there is one")
    add(
        "--precision",
        choices=PRECISIONS,
        default="32",
        help="of weights and matmuls; int8 needs a CPU, 16 a GPU; auto tries which is the fastest here",
    )
    add("--batch-tokens", type=int, metavar="T", help="limit of sentences * beam size * longest source in a batch")
    add("-v", "--verbose", action="store_true", help="log and progress on stderr, tracebacks of errors")
    args = parser.parse_args(arguments)
    if args.sentences and args.input:
        parser.error("give sentences or --input, not both")
    if args.resume and not (args.input and args.output):
        parser.error("--resume needs --input FILE and --output FILE, to see what is done and what is not")
    if args.attention and not args.json:
        parser.error("--attention needs --json")
    if args.attention and (args.protect or args.terms):
        parser.error("--attention cannot be had with --protect or --terms, where the model reads stand-ins")
    for name in ("score", "json", "alignments"):
        if args.pairs and getattr(args, name):
            parser.error(f"--pairs writes source and translation and nothing else; leave out --{name}")
    if args.score:
        _check_score(parser, args)
    return args


def _check_score(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    if len(args.sentences) not in (0, 2):
        parser.error(f"--score needs SOURCE and TARGET, or no argument to read lines, not {len(args.sentences)}")
    for field in fields(DecodeConfig):
        if field.name not in _SCORE_SETTINGS and getattr(args, field.name) is not None:
            parser.error(f"--{field.name.replace('_', '-')} does nothing with --score")
    for name in ("prefix", "prefixes", "protect", "terms", "alignments", "attention"):
        if getattr(args, name):
            parser.error(f"--{name} is of translations; it does nothing with --score")


def _open_input(args: argparse.Namespace, stack: ExitStack) -> tuple[BufferedReader, int | None]:
    """The stream of lines and, where it is known, their number."""
    if not args.input:
        return cast("BufferedReader", sys.stdin.buffer), (1 if args.score else len(args.sentences)) or None
    file = stack.enter_context(Path(args.input).open("rb"))  # noqa: SIM115 - the stack closes it
    if args.output and Path(args.output).exists() and Path(args.input).samefile(args.output):
        raise ValueError(f"--output ({args.output}) is the file of --input; writing it would destroy it")
    return file, count_lines(file) if file.seekable() else None


def _chunks(args: argparse.Namespace, source: BufferedReader, skip: int) -> Iterator[list[str]]:
    """Chunks of input lines, the first `skip` left out."""
    if args.sentences:
        texts = argument_lines(args.sentences, errors=args.errors)
        return iter([["\t".join(text.replace("\t", " ") for text in texts)] if args.score else texts])
    most = max(1, LINES // (args.num_hypotheses or 1))  # memory goes with the hypotheses
    return read_chunks(source, args.input or "stdin", errors=args.errors, skip=skip, most=most)


def _record(args: argparse.Namespace, source: BufferedReader) -> Record | None:
    """What makes the output, where that can be continued: from a file to a file."""
    if not (args.input and args.output):
        return None
    output = Path(args.output)
    if not source.seekable() or (output.exists() and not output.is_file()):
        if args.resume:
            raise ValueError(f"--resume goes from a file to a file; {args.input} or {args.output} is none")
        return None
    settings = {name: value for name, value in vars(args).items() if name not in _NOT_RECORDED}
    settings["model"] = [_identity(path) for path in args.model or [LATEST]]
    for name in _FILES:
        if settings[name] and Path(settings[name]).is_file():
            settings[name] = f"{settings[name]} (sha256 {sha256(Path(settings[name]).read_bytes()).hexdigest()[:16]})"
    return Record(output, settings, source)


def _identity(path: Path | str) -> str:
    """Return where a model is and what it is, so that one that was trained anew in the same place is another."""
    directory = Path(path) if exported_format(path) else find_model(path)
    return f"{directory.resolve()} (sha256 {fingerprint(directory)})"


def _answered(args: argparse.Namespace, record: Record | None, total: int | None) -> tuple[int, int]:
    """Lines of input that are done already, and the bytes of their output."""
    if record is None or total is None or not args.resume:
        return 0, 0
    several = lines_per_source(vars(args))
    if args.pairs:
        done, size = record.answered(total, lines_each=several, header=True)
    else:
        done, size = record.answered(total, numbered=several > 1 and not (args.json or args.score))
    logger.info("%d of %d lines are done in %s", done, total, args.output)
    return done, size


def _prefixes(
    args: argparse.Namespace, stack: ExitStack, total: int | None, skip: int
) -> Callable[[int], list[str]] | None:
    """What gives the beginnings of the next so many translations, if there are any."""
    if args.prefixes:
        file = stack.enter_context(Path(args.prefixes).open("rb"))  # noqa: SIM115 - the stack closes it
        return aligned_lines(file, args.prefixes, total, errors=args.errors, skip=skip)
    return None if args.prefix is None else lambda count: [args.prefix] * count


def _answer(
    args: argparse.Namespace,
    translator: Translator,
    prefixes: Callable[[int], list[str]] | None,
    progress: Callable[[int], object] | None,
) -> Answer:
    """What makes the output lines."""
    settings: Settings = {field.name: getattr(args, field.name) for field in fields(DecodeConfig)}
    settings["progress"] = progress
    settings["alignments"], settings["protect"] = args.alignments, args.protect
    settings["terms"] = Terminology(read_terms(args.terms)) if args.terms else None
    if args.score:
        settings = {name: settings[name] for name in (*_SCORE_SETTINGS, "progress")}
        name = "arguments" if args.sentences else args.input or "stdin"
        return partial(scored_lines, translator, settings, name=name, as_json=args.json)
    if args.pairs:
        return partial(pair_lines, translator, settings, prefixes=prefixes)
    more = {"prefixes": prefixes, "as_json": args.json, "attention": args.attention}
    return partial(translated_lines, translator, settings, **more)


def _run(answer: Answer, chunks: Iterator[list[str]], output: BinaryIO, before: int) -> None:
    """Answer all chunks, behind the lines that were done before."""
    start = perf_counter()
    number = write_answers(answer, chunks, output, before) - before
    seconds = perf_counter() - start
    logger.info("%d lines in %.1f s, %.1f lines/s", number, seconds, number / seconds)


@contextlib.contextmanager
def _progress(args: argparse.Namespace, total: int | None, done: int) -> Iterator[Callable[[int], object]]:
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
    # smoothing 0, the mean of the whole run: lines get shorter in the course of each chunk
    with tqdm(total=total, initial=done, unit="line", smoothing=0, file=sys.stderr, dynamic_ncols=True) as bar:
        yield bar.update


if __name__ == "__main__":
    run_door(main)
