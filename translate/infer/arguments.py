"""The command line of `translate.infer`: its options, their help, and what cannot be combined."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Sequence
from dataclasses import fields

from translate.config.decode import FORMAL, FRENCH, INFORMAL, PRECISIONS, DecodeConfig
from translate.config.flags import add_flag, add_flags
from translate.infer.lines import decode_line

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
  python -m translate.infer --formality formal < letter.en > letter.fr
  python -m translate.infer --protect --terms terms.tsv "Dear {name}, see <b>https://example.org</b>."
  python -m translate.infer --score "She is a lawyer." "Elle est avocate."
  paste text.en text.fr | python -m translate.infer --score > log_probs.tsv
  python -m translate.infer --model FR_EN --pairs --input more.fr --output pairs.tsv
  python -m translate.infer --input 'data/*.txt.gz' --output-dir out/ --workers 8
  python -m translate.infer --input 'data/*.parquet' --column en --output-dir out/ --ray auto

Settings that are not given are those of the model directory. A line longer than the sources of training is cut at
sentence ends and translated piece by piece.

A file of any size streams: memory does not grow with it. A run with --input and --output that stopped (Ctrl-C, kill,
power) is continued by the same command with --resume: whole lines stay, what comes after them is redone. Until the
output is complete, OUTPUT.resume stands beside it with its settings and the checksum of its input; other ones are
refused. --device, --batch-tokens and --errors may change."""

SCORE_SETTINGS = ("length_penalty", "batch_tokens")  # the settings of the search that --score takes


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; exit with a message if it is wrong."""
    parser = make_parser()
    args = parser.parse_args(arguments)
    for name in ("input", "output", "output_dir", "prefixes", "terms"):
        if getattr(args, name) == "":
            parser.error(f"--{name.replace('_', '-')} is empty; name a file, or leave it out")
    if args.sentences and args.input:
        parser.error("give sentences or --input, not both")
    if args.resume and not (args.input and args.output):
        parser.error("--resume needs --input FILE and --output FILE, to see what is done and what is not")
    if args.attention and not args.json:
        parser.error("--attention needs --json")
    if args.attention and (args.protect or args.terms):
        parser.error("--attention cannot be combined with --protect or --terms, where the model reads stand-ins")
    if (args.prefix is not None or args.prefixes) and (args.protect or args.terms):
        parser.error("--prefix and --prefixes cannot be combined with --protect or --terms; leave one of them out")
    _check_formality(parser, args)
    if args.prefix is not None:
        args.prefix = decode_line(os.fsencode(args.prefix), "--prefix", args.errors)
    for name in ("score", "json", "alignments"):
        if args.pairs and getattr(args, name):
            parser.error(f"--pairs writes source and translation and nothing else; leave out --{name}")
    if args.score:
        _check_score(parser, args)
    _check_files(parser, args)
    return args


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, its options in groups by subject."""
    parser = argparse.ArgumentParser(
        prog="python -m translate.infer",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("sentences", nargs="*", metavar="SENTENCE", help="what to translate; none reads lines")
    parser.add_argument("-v", "--verbose", action="store_true", help="log and progress on stderr, tracebacks of errors")
    _add_model_flags(parser)
    _add_file_flags(parser)
    _add_job_flags(parser)
    _add_output_flags(parser)
    _add_text_flags(parser)
    group = parser.add_argument_group("search", "Settings that are not given are those of the model directory.")
    search = {field.name: field for field in fields(DecodeConfig)}
    width = group.add_mutually_exclusive_group()
    add_flag(width, search["beam_size"])
    width.add_argument("--greedy", dest="beam_size", action="store_const", const=1, help="same as --beam-size 1")
    for name in ("sample", "sample_distinct"):
        flag, help_text = f"--{name.replace('_', '-')}", f"same as search={name}: draw outputs at random"
        width.add_argument(flag, dest="search", action="store_const", const=name, help=help_text)
    add_flags(group, DecodeConfig, leave_out=("search", "beam_size"))
    return parser


def _add_model_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("model").add_argument
    add(
        "--model",
        action="append",
        metavar="PATH",
        help="run, model directory or exported one; runs/latest is the newest run, en-fr (default) comes with the "
        "package; given again: an ensemble",
    )
    add(
        "--to",
        metavar="LANG",
        help="language to translate into, of a model that knows both directions; default: the other one than a line "
        "is in, where a line of a word or two that could be either goes with those that are read together with it",
    )
    add("--device", default="auto", metavar="D", help="cpu, cuda, cuda:1 …; auto (default) takes a GPU if there is one")
    add(
        "--precision",
        choices=PRECISIONS,
        default="auto",
        help="type of weights and matmuls; int8 needs a CPU, 16 a GPU; auto (default): 16 on a GPU, int8 on a CPU with "
        "the C kernels, else 32",
    )


def _add_file_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("files").add_argument
    add("--input", metavar="FILE", help="read lines from this file, UTF-8, or .gz of it")
    add("--output", metavar="FILE", help="write lines to this file, as they get ready")
    add("--resume", action="store_true", help="go on where the lines in --output end; begin it where it is missing")
    add("--errors", choices=("strict", "replace"), default="strict", help="at invalid UTF-8: stop there, or put U+FFFD")


def _add_job_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group(
        "many files",
        "Each file that --input matches becomes one in --output-dir, line by line. The same command goes on after a "
        "stop; what cannot be translated gets an empty line there and a record in errors.jsonl.",
    ).add_argument
    add(
        "--output-dir",
        metavar="DIR",
        help="write here, under the same names; reads text, .gz, .jsonl and .parquet, --input 'data/*.txt.gz'",
    )
    add(
        "--column", default="text", help="of .jsonl and .parquet: what holds the text; translations go to `translation`"
    )
    add("--workers", type=_number, metavar="N", help="processes, each with the model; default: one for each core")
    add("--cpus-per-worker", type=_number, metavar="N", help="cores of each; default 1")
    add("--gpus-per-worker", type=_share, metavar="N", help="with --ray: GPUs of each, a part of one too; default 0")
    add(
        "--ray",
        nargs="?",
        const="",
        metavar="ADDRESS",
        help="work on a Ray cluster, whose machines all see the files; without ADDRESS the one that this machine "
        "belongs to, or else a new one on this machine",
    )


def _number(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number") from None
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} must be at least 1")
    return number


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a number") from None
    if not 0 <= share < math.inf:
        raise argparse.ArgumentTypeError(f"{text} must be at least 0, and finite")
    return share


def _add_output_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("what is written").add_argument
    add("--json", action="store_true", help="one JSON object per input: src, text, score, hypotheses")
    add("--alignments", action="store_true", help="one more column: links SOURCE_WORD-TARGET_WORD, counted from 0")
    add("--attention", action="store_true", help="with --json: cross-attention weights of each layer and head")
    add(
        "--score",
        action="store_true",
        help="input is SOURCE, tab, TARGET: write its log-probability and score; exact with --precision 32",
    )
    add("--pairs", action="store_true", help="TSV of the input and its translation, headed by languages: training data")


def _add_text_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what translations must contain")
    begin = group.add_mutually_exclusive_group()
    begin.add_argument("--prefix", metavar="TEXT", help="what every translation begins with")
    begin.add_argument("--prefixes", metavar="FILE", help="a line for each input: what its translation begins with")
    add = group.add_argument
    add("--protect", action="store_true", help="code, tags, URLs, e-mail addresses, {placeholders}, 5 kg, $5 stay")
    add("--terms", metavar="FILE", help="lines of SOURCE, tab, TARGET: words that must be translated this way")


def _check_formality(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    asked = args.formality
    if asked not in (FORMAL, INFORMAL):
        return
    if args.to not in (None, FRENCH):
        parser.error(f"--formality {asked} is for translations into {FRENCH}; leave it or --to {args.to} out")
    if args.prefix is not None or args.prefixes:
        parser.error(f"--formality {asked} cannot be combined with --prefix and --prefixes; leave one of them out")


def _check_files(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Refuse what does not go with --output-dir, or does nothing without it; fill in its defaults."""
    if not args.output_dir:
        for name in ("workers", "cpus_per_worker", "gpus_per_worker", "ray"):
            if getattr(args, name) is not None:
                parser.error(f"--{name.replace('_', '-')} needs --output-dir, for many files")
        if args.column != "text":
            parser.error("--column needs --output-dir, for many files")
        return
    if not args.input:
        parser.error("--output-dir needs --input: a file or a pattern like 'data/*.txt.gz'")
    for name in ("output", "resume", "json", "score", "pairs", "attention", "alignments", "prefixes"):
        if getattr(args, name):
            parser.error(f"--output-dir writes one translation for each line and nothing else; leave out --{name}")
    if args.errors != "strict":
        parser.error("--output-dir goes on at invalid UTF-8 and records it; leave out --errors")
    if (args.num_hypotheses or 1) > 1 and args.mbr in (None, "none"):
        parser.error("--output-dir writes one translation for each line; leave out --num-hypotheses")
    if args.gpus_per_worker is not None and args.ray is None:
        parser.error("--gpus-per-worker needs --ray, which shares out the GPUs; else all workers use --device")
    args.cpus_per_worker = args.cpus_per_worker or 1


def _check_score(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    if len(args.sentences) not in (0, 2):
        parser.error(f"--score needs SOURCE and TARGET, or no argument to read lines, not {len(args.sentences)}")
    for field in fields(DecodeConfig):
        if field.name not in SCORE_SETTINGS and getattr(args, field.name) is not None:
            parser.error(f"--{field.name.replace('_', '-')} does nothing with --score")
    for name in ("prefix", "prefixes", "protect", "terms", "alignments", "attention"):
        if getattr(args, name):
            parser.error(f"--{name} is for translations; it does nothing with --score")
