"""What each process of a job does: open the model once, then translate shards, whatever single rows hold."""

from __future__ import annotations

import argparse
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from translate.common.errors import first_line
from translate.common.extras import explain_missing
from translate.data.cleaning import clean_text
from translate.infer.answers import Settings, lines_per_source, pair_lines
from translate.infer.bulk.shards import Chunk, Shard, format_of
from translate.infer.model import open_translator, translate_settings

if TYPE_CHECKING:
    from translate.translator.translator import Translator


@dataclass(frozen=True)
class Outcome:
    """What became of a shard, as plain values, which pass between processes.

    Attributes:
        name: Its name.
        part: File with the translations, to be renamed; "" if there is none.
        lines: How many rows it has.
        failed: Rows without a translation: their numbers, from 1, and why.
        error: Why the whole shard could not be translated; "" if it could.
    """

    name: str
    part: str = ""
    lines: int = 0
    failed: list[tuple[int, str]] = field(default_factory=list)
    error: str = ""


class Worker:
    """A process with a model.

    Args:
        args: The command line of `translate.infer`; with `pairs`, of text files, each line becomes its training pairs.
    """

    def __init__(self, args: argparse.Namespace) -> None:
        self.column = args.column
        translator = open_translator(args)
        settings = translate_settings(args, translator)
        if args.pairs:
            self._lines_each = lines_per_source(settings)
            self._answer: Callable[[list[str]], list[str]] = partial(self._pairs, translator, settings)
        else:
            self._lines_each = 0
            self._answer = partial(_translations, translator, settings, args.prefix)

    def work(self, shard: Shard) -> Outcome:
        """Translate a shard into a new file beside its output, which whoever asked for it renames.

        Only a shard of which nothing can be translated fails as a whole.
        """
        part = shard.target.with_name(f".{shard.target.name}.{uuid.uuid4().hex}.tmp")
        rows = _Rows()
        try:
            form = format_of(shard.source, self.column)
            part.parent.mkdir(parents=True, exist_ok=True)
            with part.open("wb") as file:
                form.write(file, shard.target, self._translated(form.read(shard.source), rows))
        except Exception as error:  # whatever it is, the other shards go on
            with suppress(FileNotFoundError):
                part.unlink()
            return Outcome(shard.name, error=what_failed(error))
        return Outcome(shard.name, str(part), rows.lines, rows.failed)

    def _translated(self, chunks: Iterator[Chunk], rows: _Rows) -> Iterator[tuple[Chunk, list[str]]]:
        for chunk in chunks:
            outputs = self._outputs(chunk.texts, 0, chunk.problems)
            rows.failed += [(rows.lines + place + 1, problem) for place, problem in sorted(chunk.problems.items())]
            rows.lines += len(outputs)
            yield chunk, outputs

    def _outputs(self, texts: list[str], first: int, problems: dict[int, str]) -> list[str]:
        """Translate texts; where that fails, each half by itself, down to the text that is to blame.

        Args:
            texts: Sources.
            first: Place of the first one in its chunk.
            problems: Gets the places of those that cannot be translated.

        Raises:
            Exception: As the model does, where none of several texts can be translated: it is the model that fails.
        """
        before = len(problems)
        try:
            return self._answer(texts)
        except Exception as error:
            if len(texts) == 1:
                problems[first] = what_failed(error)
                return ["\n".join([f"{clean_text(texts[0])}\t"] * self._lines_each)]
            middle = len(texts) // 2
            found = self._outputs(texts[:middle], first, problems)
            found += self._outputs(texts[middle:], first + middle, problems)
            if len(problems) - before == len(texts):
                raise
            return found

    def _pairs(self, translator: Translator, settings: Settings, texts: list[str]) -> list[str]:
        """Return the lines of the training pairs of each text in one string."""
        lines, each = list(pair_lines(translator, settings, texts, 1)), self._lines_each
        return ["\n".join(lines[place : place + each]) for place in range(0, len(lines), each)]


def _translations(translator: Translator, settings: Settings, prefix: str | None, texts: list[str]) -> list[str]:
    prefixes = None if prefix is None else [prefix] * len(texts)
    return [one.text for one in translator.translate(texts, prefixes=prefixes, **settings)]


@dataclass
class _Rows:
    lines: int = 0
    failed: list[tuple[int, str]] = field(default_factory=list)


def as_values(found: Shard | Outcome) -> dict[str, Any]:
    """Return a shard or an outcome as values that JSON can hold."""
    return {name: str(value) if hasattr(value, "__fspath__") else value for name, value in asdict(found).items()}


def what_failed(error: Exception) -> str:
    """Return in a line why a file or a line has no translation, and for a missing package what brings it."""
    if isinstance(error, ModuleNotFoundError) and (hint := explain_missing(error)):
        return hint
    text = first_line(error)
    return text if isinstance(error, ValueError | OSError) else f"{type(error).__name__}: {text}"
