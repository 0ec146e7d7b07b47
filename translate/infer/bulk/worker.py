"""What each process of a job does: open the model once, then translate shards, whatever single rows hold."""

from __future__ import annotations

import argparse
import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from translate.infer.bulk.shards import Chunk, Shard, format_of
from translate.infer.model import open_translator, translate_settings
from translate.translator.translation import Translation


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
        args: The command line of `translate.infer`.
    """

    def __init__(self, args: argparse.Namespace) -> None:
        os.environ["OMP_NUM_THREADS"] = str(args.cpus_per_worker)  # which `available_cores` goes by
        self.column = args.column
        translator = open_translator(args)
        settings = translate_settings(args, translator)
        self._prefix = args.prefix
        self._translate: Callable[..., list[Translation]] = partial(translator.translate, **settings)

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
            return Outcome(shard.name, error=_first_line(error))
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
            prefixes = None if self._prefix is None else [self._prefix] * len(texts)
            return [one.text for one in self._translate(texts, prefixes=prefixes)]
        except Exception as error:
            if len(texts) == 1:
                problems[first] = _first_line(error)
                return [""]
            middle = len(texts) // 2
            found = self._outputs(texts[:middle], first, problems)
            found += self._outputs(texts[middle:], first + middle, problems)
            if len(problems) - before == len(texts):
                raise
            return found


@dataclass
class _Rows:
    lines: int = 0
    failed: list[tuple[int, str]] = field(default_factory=list)


def as_values(found: Shard | Outcome) -> dict[str, Any]:
    """Return a shard or an outcome as values that JSON can hold."""
    return {name: str(value) if hasattr(value, "__fspath__") else value for name, value in asdict(found).items()}


def _first_line(error: Exception) -> str:
    text = (str(error) or type(error).__name__).splitlines()[0]
    return text if isinstance(error, ValueError | OSError) else f"{type(error).__name__}: {text}"
