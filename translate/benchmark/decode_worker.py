"""One engine in a separate process, which waits for its turn.

python -m translate.benchmark.decode_worker JOB.json

Reads requests from stdin, one JSON object a line, and answers each with a line of JSON on stdout.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from translate.benchmark.decode_engines import Engine, EngineSpec, import_framework, open_engine
from translate.common.memory import high_water
from translate.common.timer import Timer
from translate.config.decode import DecodeConfig

_FIRST_SINGLES = 5  # sentences that warm up latency


@dataclass(frozen=True)
class Job:
    """The work of a worker.

    Attributes:
        spec: The engine.
        decode: The search.
        texts: Clean sentences, none of them empty.
        singles: Those of them that are also translated one at a time.
    """

    spec: EngineSpec
    decode: DecodeConfig
    texts: list[str]
    singles: list[str]

    def to_json(self) -> str:
        """Return the job as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Job:
        """Read what `to_json` wrote."""
        values = json.loads(text)
        parts = {"spec": EngineSpec(**values["spec"]), "decode": DecodeConfig(**values["decode"])}
        return cls(**{**values, **parts})


class Worker:
    """Does what it is asked for: the names of its methods are the requests.

    Args:
        engine: Opened.
        job: Its texts.
    """

    def __init__(self, engine: Engine, job: Job) -> None:
        self.engine, self.job = engine, job

    def warm_up(self, beam_size: int, batch_size: int) -> list[str]:
        """Translate everything, then a few sentences one at a time; the translations of everything."""
        texts, _ = self.engine.translate(self.job.texts, beam_size, batch_size)
        for text in self.job.singles[:_FIRST_SINGLES]:
            self.engine.translate([text], beam_size, batch_size)
        return texts

    def batch(self, beam_size: int, batch_size: int) -> dict[str, Any]:
        """Measure the seconds for all texts, from strings to strings, and count their target tokens."""
        with Timer() as timer:
            _, tokens = self.engine.translate(self.job.texts, beam_size, batch_size)
        return {"seconds": timer.seconds, "tokens": tokens}

    def single(self, beam_size: int, batch_size: int) -> list[float]:
        """Measure the seconds for each of the sentences that are translated one at a time."""
        seconds = []
        for text in self.job.singles:
            with Timer() as timer:
                self.engine.translate([text], beam_size, batch_size)
            seconds.append(timer.seconds)
        return seconds

    def memory(self) -> int:
        """Return the largest resident size of the process so far."""
        return high_water()


def main() -> None:
    """Open the engine that the command line's job names, say so, and answer until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is not an answer
    job = Job.from_json(Path(sys.argv[1]).read_text(encoding="utf-8"))
    import_framework(job.spec)
    framework_bytes = high_water()
    try:
        engine = open_engine(job.spec, job.decode)
    except ValueError as error:
        _say(answers, {"refused": str(error)})
        return
    _say(answers, {"framework_bytes": framework_bytes, "description": engine.description})
    worker = Worker(engine, job)
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        method: Callable[..., Any] = getattr(worker, request.pop("do"))
        _say(answers, method(**request))


def _say(answers: TextIO, found: Any) -> None:
    answers.write(json.dumps(found) + "\n")
    answers.flush()


if __name__ == "__main__":
    signal.signal(
        signal.SIGINT, signal.SIG_DFL
    )  # Ctrl-C reaches whoever waits for us too, who says what there is to say
    main()
