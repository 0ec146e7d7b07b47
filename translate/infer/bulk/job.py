"""A job: translate each file that a pattern names into one of the same name, and go on where an earlier job stopped.

    --input 'data/*.gz'  ->  shards  ->  workers, each with the model  ->  parts  ->  OUTPUT_DIR/NAME
                                                                                 OUTPUT_DIR/errors.jsonl

Workers write parts, which only this process renames, and only after it has recorded the rows that failed. So a shard
that is there is whole, whoever is killed, and a worker that outlives its job changes nothing.
"""

from __future__ import annotations

import argparse
import json
import logging
import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import fields
from pathlib import Path
from typing import Any

from tqdm import tqdm

from translate.common.cores import available_cores
from translate.common.files import free_lock, move_file, remove_leftovers, write_text
from translate.common.timer import Timer
from translate.config.decode import DecodeConfig
from translate.infer.bulk.shards import Shard, find_shards
from translate.infer.bulk.worker import Outcome, Worker
from translate.infer.model import model_decode, recorded_settings

logger = logging.getLogger(__name__)

# in the output folder, beside the outputs
ERRORS, DONE, SETTINGS, LOCK = "errors.jsonl", "shards.jsonl", "job.json", "job.lock"
_DEATHS = 3  # of workers one after another, without a shard done in between, after which the job ends


def translate_files(args: argparse.Namespace, *, here: bool = False) -> str:
    """Translate the files that a command line names.

    Args:
        args: The command line.
        here: Whether this process does it all, with its threads.

    Returns:
        What was done, in one line.

    Raises:
        ValueError: If the settings do not suit, another process does the same job, or shards could not be translated,
            after all others were.
    """
    model_decode(args).changed({field.name: getattr(args, field.name) for field in fields(DecodeConfig)})
    output = Path(args.output_dir)
    shards = find_shards(args.input, output)
    _check_names(shards, output)
    output.mkdir(parents=True, exist_ok=True)
    with free_lock(output / LOCK) as free:
        if not free:
            raise ValueError(f"--output-dir ({output}): another process translates into it; wait for it or end it")
        return _translate_shards(args, output, shards, here=here)


def _translate_shards(args: argparse.Namespace, output: Path, shards: Sequence[Shard], *, here: bool) -> str:
    settings = json.dumps(recorded_settings(args), indent=1, default=str) + "\n"
    _check_settings(output, settings)
    ledger = _Ledger(output, shards)
    waiting = ledger.waiting
    lines = failed = 0
    errors: list[Outcome] = []
    with Timer() as timer:
        for outcome in _outcomes(args, waiting, here=here):
            if outcome.error:
                logger.warning("%s could not be translated: %s", outcome.name, outcome.error)
                errors.append(outcome)
                continue
            if not (output / SETTINGS).is_file():  # with the first output, so that what never worked binds nobody
                write_text(output / SETTINGS, settings)
            ledger.commit(outcome)
            lines, failed = lines + outcome.lines, failed + len(outcome.failed)
    ledger.remove_leftovers()
    if errors:
        raise ValueError(
            f"{len(errors)} of {len(shards)} files could not be translated, the first one {errors[0].name}: "
            f"{errors[0].error}; the same command tries them again"
        )
    there = f", {len(shards) - len(waiting)} there already" if len(waiting) < len(shards) else ""
    lost = f"; {failed:,} lines without a translation, see {output / ERRORS}" if failed else ""
    speed = lines / timer.seconds
    return f"{len(waiting)} files{there}, {lines:,} lines in {timer.seconds:.1f} s, {speed:,.0f} lines/s{lost}"


class _Ledger:
    """What is done in an output folder, in files that say so.

    `shards.jsonl` has a record of each finished shard: its name, lines, the sizes of input and output in bytes and the
    time of the input in ns, by which a file that was changed since, or cut off, is known. `errors.jsonl` has one of
    each row without a translation.
    """

    def __init__(self, output: Path, shards: Sequence[Shard]) -> None:
        self.output, self.shards = output, {shard.name: shard for shard in shards}
        records = {record["shard"]: record for record in _read_records(output / DONE)}
        self.waiting = [shard for shard in shards if not _is_whole(shard, records.get(shard.name))]
        self.remove_leftovers()
        names = {shard.name for shard in self.waiting}
        kept = [record for name, record in records.items() if name not in names]
        _write_records(output / DONE, kept)
        errors = _read_records(output / ERRORS)
        _write_records(output / ERRORS, [record for record in errors if record["shard"] not in names])

    def remove_leftovers(self) -> None:
        """Remove the parts that killed workers left."""
        for shard in self.waiting:
            remove_leftovers(shard.target)

    def commit(self, outcome: Outcome) -> None:
        """Make the part of a shard its output, after its failed rows were recorded."""
        shard = self.shards[outcome.name]
        failed = [{"shard": shard.name, "line": line, "error": error} for line, error in outcome.failed]
        _append(self.output / ERRORS, failed)
        move_file(Path(outcome.part), shard.target)
        _append(self.output / DONE, [{"shard": shard.name, "lines": outcome.lines, **_sizes(shard)}])


def _sizes(shard: Shard) -> dict[str, int]:
    """Return the sizes of both files of a shard and when the input was changed; nothing where there is no output."""
    if not shard.target.is_file():
        return {}
    source = shard.source.stat()
    return {"bytes_in": source.st_size, "changed_in": source.st_mtime_ns, "bytes_out": shard.target.stat().st_size}


def _is_whole(shard: Shard, record: dict[str, Any] | None) -> bool:
    """Return whether the output of a shard is what its record says, and the input has not changed since."""
    sizes = _sizes(shard)
    return bool(record and sizes) and {**(record or {}), **sizes} == record


def _outcomes(args: argparse.Namespace, shards: Sequence[Shard], *, here: bool) -> Iterator[Outcome]:
    """Yield what became of each shard, in any order."""
    if not shards:
        return
    if args.ray is not None:
        from translate.infer.bulk.cluster import on_ray

        yield from on_ray(args, shards)
        return
    sizes = {shard.name: shard.source.stat().st_size for shard in shards}
    shown: dict[str, Any] = {"unit": "B", "unit_scale": True, "smoothing": 0, "dynamic_ncols": True, "disable": None}
    with tqdm(total=sum(sizes.values()), **shown) as bar:
        for outcome in map(Worker(args).work, shards) if here else _on_this_machine(args, shards):
            yield outcome
            bar.update(sizes[outcome.name])
            bar.set_postfix_str(f"{outcome.name} done", refresh=False)


def _on_this_machine(args: argparse.Namespace, shards: Sequence[Shard]) -> Iterator[Outcome]:
    """Work with processes here; where one dies, with new ones on what is not done."""
    workers = args.workers or max(1, available_cores() // args.cpus_per_worker)
    waiting = {shard.name: shard for shard in shards}
    deaths = 0
    while waiting:
        pool = ProcessPoolExecutor(
            min(workers, len(waiting)), multiprocessing.get_context("spawn"), _start, (args, os.getpid())
        )
        try:
            for future in as_completed([pool.submit(_work, shard) for shard in waiting.values()]):
                outcome = future.result()
                del waiting[outcome.name]
                deaths = 0
                yield outcome
        except BrokenProcessPool:
            deaths += 1
            if deaths == _DEATHS:
                raise ValueError(
                    f"workers died {_DEATHS} times, on one of {len(waiting)} files such as {next(iter(waiting))}; is "
                    "there enough memory? --workers takes fewer; the same command goes on"
                ) from None
        finally:
            for process in list((pool._processes or {}).values()):  # no method ends those that are at work
                process.terminate()
            pool.shutdown(cancel_futures=True)


_worker: Worker | Exception | None = None  # of this process, where it is one of a pool, or why there is none


def _start(args: argparse.Namespace, parent: int) -> None:
    """Begin a process of the pool; Ctrl-C is for the process that started it."""
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with(parent)
    os.environ["OMP_NUM_THREADS"] = str(args.cpus_per_worker)  # which `available_cores` goes by
    try:
        _worker = Worker(args)
    except (ValueError, OSError, ModuleNotFoundError) as error:  # what a user can cause is for the job to say
        _worker = error


def _work(shard: Shard) -> Outcome:
    if isinstance(_worker, Exception):
        raise _worker
    assert _worker is not None
    return _worker.work(shard)


def _die_with(parent: int) -> None:
    """End this process when the one that started it is gone, which a killed one cannot ask for."""
    import threading
    import time

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _check_names(shards: Sequence[Shard], output: Path) -> None:
    for shard in shards:
        if shard.name in (ERRORS, DONE, SETTINGS, LOCK):
            raise ValueError(f"--input matches {shard.source}, and {output / shard.name} is a file of the job itself")
        if shard.target.exists() and not (output / DONE).is_file():
            raise ValueError(f"--output-dir would replace {shard.target}, which no job wrote; choose another folder")


def _check_settings(output: Path, settings: str) -> None:
    """Compare the settings of a job, as JSON, with those that its outputs were made with, if there are some."""
    path = output / SETTINGS
    if not path.is_file():
        return
    try:
        before, now = dict(json.loads(path.read_text(encoding="utf-8"))), json.loads(settings)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} is damaged; choose another --output-dir, or delete it to go on anyway") from error
    if changed := [name for name in {**before, **now} if before.get(name) != now.get(name)]:
        named = ", ".join(f"{name} {now.get(name)}, before {before.get(name)}" for name in changed)
        raise ValueError(
            f"--output-dir ({output}) was begun with other settings: {named}; give the same, or choose another folder"
        )


def _read_records(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file, but for a last one that a killed process left unfinished."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return [json.loads(line) for line in lines]


def _write_records(path: Path, records: Sequence[dict[str, Any]]) -> None:
    write_text(path, "".join(f"{json.dumps(record)}\n" for record in records))


def _append(path: Path, records: Sequence[dict[str, Any]]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(record)}\n" for record in records)
        file.flush()
        os.fsync(file.fileno())
