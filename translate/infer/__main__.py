"""Translate from the command line: `python -m translate.infer "My brother is reading a book in the garden."`."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import fields
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from translate.common.command import run_command
from translate.common.files import is_gzip
from translate.common.timer import Timer
from translate.config.decode import DecodeConfig
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
from translate.infer.arguments import SCORE_SETTINGS, parse
from translate.infer.lines import aligned_lines, argument_lines, count_lines, lines_at_once, open_lines, read_chunks
from translate.infer.model import model_directory, model_paths, open_translator, recorded_settings, translate_settings
from translate.infer.resume import Record, open_output

if TYPE_CHECKING:
    from translate.translator.recognition import Recognizer
    from translate.translator.translator import Translator

logger = logging.getLogger("translate.infer")


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, then translate; returns the exit status."""
    args = parse(arguments)
    logging.basicConfig(stream=sys.stderr, format="%(message)s")
    logging.getLogger("translate").setLevel(logging.DEBUG if args.verbose else logging.WARNING)
    if args.output_dir:
        from translate.infer.bulk.job import translate_files

        print(translate_files(args), file=sys.stderr)
        return 0
    with ExitStack() as stack:
        _check_output(args)
        source, total = _open_input(args, stack)
        record = _record(args, source)
        done, size = _answered(args, record, total)
        chunks = _chunks(args, source, done)
        translator = open_translator(args)
        if translator.recognizer is not None and (args.to or args.score or args.pairs):
            chunks = _watched(args, chunks, translator, done + 1)
        for path in model_paths(args):
            logger.info("model %s", model_directory(path))
        logger.info("%s", translator.describe())
        prefixes = _prefixes(args, stack, total, done)
        settings = translate_settings(args, translator)
        _refuse_bad_settings(args, translator, settings)
        output: BinaryIO = sys.stdout.buffer
        if args.output:
            output = stack.enter_context(open_output(Path(args.output), size, record))
        if args.pairs and not size:
            output.write(pairs_header(translator))
        progress = stack.enter_context(_progress(args, total, done))
        try:
            _run(_answer(args, translator, settings, prefixes, progress), chunks, output, done)
        except KeyboardInterrupt:
            if record is not None:
                logger.warning("stopped: the same command with --resume goes on where %s ends", args.output)
            raise
    return 0


def _refuse_bad_settings(args: argparse.Namespace, translator: Translator, settings: Settings) -> None:
    """Raise ValueError for a setting that cannot work, before a file is emptied or a line is awaited."""
    prefixes = None if args.prefix is None and not args.prefixes else lambda count: [""] * count
    list(_answer(args, translator, settings, prefixes, None)([], 1))
    if args.attention:
        translator.cross_attention("", "")
    if args.prefix:
        decode = translator.config.decode.changed(
            {field.name: getattr(args, field.name) for field in fields(DecodeConfig)}
        )
        translator.check_prefix(args.prefix, decode)


def _check_output(args: argparse.Namespace) -> None:
    """Raise ValueError where the output is one of the files that are read, or would not be what its name says."""
    if args.output and is_gzip(Path(args.output)):
        raise ValueError(
            f"--output ({args.output}) is written as plain text: leave out .gz, or instead of --output pack what is "
            f"printed: | gzip > {args.output}"
        )
    if not args.input and not args.sentences:
        _check_stdin(args.output)
    if not args.output or not Path(args.output).exists():
        return
    for option in ("input", "prefixes", "terms"):
        path = getattr(args, option)
        if path and Path(path).exists() and Path(path).samefile(args.output):
            raise ValueError(f"--output ({args.output}) is the file of --{option}; writing it would destroy it")


def _check_stdin(output: str | None) -> None:
    """Raise ValueError where standard input is the file that is written."""
    try:
        source, target = os.fstat(sys.stdin.fileno()), os.stat(output) if output else os.fstat(sys.stdout.fileno())
    except (OSError, ValueError):  # no file, or none yet
        return
    if stat.S_ISREG(source.st_mode) and os.path.samestat(source, target):
        raise ValueError("standard input and the output are the same file; writing it would destroy it")


def _open_input(args: argparse.Namespace, stack: ExitStack) -> tuple[BufferedReader, int | None]:
    """Open the stream of lines; return it with their number, where that is known."""
    if not args.input:
        given = len(args.sentences) // 2 if args.score else len(args.sentences)  # --score makes one line of two
        return cast("BufferedReader", sys.stdin.buffer), given or None
    file = stack.enter_context(open_lines(Path(args.input)))
    return file, count_lines(file) if file.seekable() else None


def _chunks(args: argparse.Namespace, source: BufferedReader, skip: int) -> Iterator[list[str]]:
    """Read chunks of input lines, without the first `skip`."""
    if args.sentences:
        texts = argument_lines(args.sentences, errors=args.errors)
        return iter([["\t".join(text.replace("\t", " ") for text in texts)] if args.score else texts])
    most = lines_at_once(args.num_hypotheses)
    return read_chunks(source, args.input or "stdin", errors=args.errors, skip=skip, most=most)


def _watched(
    args: argparse.Namespace, chunks: Iterator[list[str]], translator: Translator, number: int
) -> Iterator[list[str]]:
    """Pass chunks of lines on; the first line that is in the language of the translations already is said to be."""
    config, recognizer = translator.config, cast("Recognizer", translator.recognizer)
    advice = f"--to {config.src_lang} is the other way"
    if not (args.score or args.pairs):
        advice = "without --to each line is translated out of the language that it is in"
    warned = False
    for texts in chunks:
        for line, text in enumerate(texts, number):
            source = text.split("\t")[0] if args.score else text
            if not warned and recognizer.clearly(source) == config.tgt_lang:
                logger.warning(
                    "warning: line %d seems to be in %s already, and the model reads it as %s; %s",
                    *(line, config.tgt_lang, config.src_lang, advice),
                )
                warned = True
        number += len(texts)
        yield texts


def _record(args: argparse.Namespace, source: BufferedReader) -> Record | None:
    """Return the record of an output that can be continued: one from a file to a file."""
    if not (args.input and args.output):
        return None
    output = Path(args.output)
    if not source.seekable() or (output.exists() and not output.is_file()):
        if args.resume:
            raise ValueError(f"--resume goes from a file to a file; {args.input} or {args.output} is not a file")
        return None
    return Record(output, recorded_settings(args), source)


def _answered(args: argparse.Namespace, record: Record | None, total: int | None) -> tuple[int, int]:
    """Return how many lines of the input are done already, and how many bytes of the output they have."""
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
    """Return a function that gives the prefixes of the next `count` translations; None without prefixes."""
    if args.prefixes:
        file = stack.enter_context(open_lines(Path(args.prefixes)))
        return aligned_lines(file, args.prefixes, total, errors=args.errors, skip=skip)
    return None if args.prefix is None else lambda count: [args.prefix] * count


def _answer(
    args: argparse.Namespace,
    translator: Translator,
    settings: Settings,
    prefixes: Callable[[int], list[str]] | None,
    progress: Callable[[int], object] | None,
) -> Answer:
    """Choose the function that makes the output lines, with its settings."""
    settings = {**settings, "progress": progress}
    if args.score:
        settings = {name: settings[name] for name in (*SCORE_SETTINGS, "progress")}
        name = "arguments" if args.sentences else args.input or "stdin"
        return partial(scored_lines, translator, settings, name=name, as_json=args.json)
    if args.pairs:
        return partial(pair_lines, translator, settings, prefixes=prefixes)
    more = {"prefixes": prefixes, "as_json": args.json, "attention": args.attention}
    return partial(translated_lines, translator, settings, **more)


def _run(answer: Answer, chunks: Iterator[list[str]], output: BinaryIO, before: int) -> None:
    """Write the output lines of all chunks, after the lines that were done before."""
    with Timer() as timer:
        number = write_answers(answer, chunks, output, before) - before
    logger.info("%d lines in %.1f s, %.1f lines/s", number, timer.seconds, number / timer.seconds)


@contextlib.contextmanager
def _progress(args: argparse.Namespace, total: int | None, done: int) -> Iterator[Callable[[int], object]]:
    """Give a function to call with the number of lines done: a bar on stderr where it is seen and disturbs nothing."""
    visible = args.verbose or (sys.stderr.isatty() and not args.sentences and (args.output or not sys.stdout.isatty()))
    if not visible:
        yield lambda lines: None
        return
    try:
        from tqdm import tqdm
    except ModuleNotFoundError:  # nothing else needs it beside an exported model
        yield lambda lines: None
        return
    # smoothing 0, the mean of the whole run: lines get shorter in the course of each chunk
    with tqdm(total=total, initial=done, unit="line", smoothing=0, file=sys.stderr, dynamic_ncols=True) as bar:
        yield bar.update


if __name__ == "__main__":
    run_command(main)
