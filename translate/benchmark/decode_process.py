"""The other end of `decode_worker`: an engine in a separate process, asked to do one thing after the other."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from translate.benchmark.decode_worker import Job

_LAST_SECONDS = 10.0


class RefusedError(ValueError):
    """An engine cannot be opened here; the message says why."""


class EngineProcess:
    """An engine that runs beside us; a context that ends it.

    Args:
        job: The engine and its texts.
        folder: Takes a file for it.

    Attributes:
        framework_bytes: Most resident bytes before the engine was opened.
        description: Description of the engine.

    Raises:
        RefusedError: If the engine cannot be opened.
        ValueError: If its process ends by itself.
    """

    def __init__(self, job: Job, folder: Path) -> None:
        self.name = job.spec.name
        path = folder / "job.json"
        path.write_text(job.to_json(), encoding="utf-8")
        command = [sys.executable, "-m", "translate.benchmark.decode_worker", str(path)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        try:
            opened = self._answer()
        except BaseException:
            self.close()
            raise
        if "refused" in opened:
            self.close()
            raise RefusedError(opened["refused"])
        self.framework_bytes: int = opened["framework_bytes"]
        self.description: str = opened["description"]

    def ask(self, do: str, **values: int) -> Any:
        """Have the process do something, see `Worker`, and wait for the result.

        Raises:
            ValueError: If the process ends instead.
        """
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # the missing answer tells
            self._process.stdin.write(json.dumps({"do": do, **values}) + "\n")
            self._process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        """End it: when it can read no more it goes, and is killed if it does not."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> EngineProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            status = self._process.wait()
            raise ValueError(f"the process of {self.name} ended with status {status}; see above")
        return json.loads(line)
