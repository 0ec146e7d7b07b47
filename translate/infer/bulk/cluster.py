"""The same job on a Ray cluster: Ray Data hands the shards to a pool of actors, each with the model."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from translate.common.errors import first_line
from translate.infer.bulk.shards import Shard
from translate.infer.bulk.worker import Outcome, Worker, as_values

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere unless the user asks for it


class _Actor:
    """Translates shards, one at a time; Ray starts another one where it dies, and hands its shard to that."""

    def __init__(self, args: argparse.Namespace) -> None:
        os.environ["OMP_NUM_THREADS"] = str(args.cpus_per_worker)  # which `available_cores` goes by
        self._worker = Worker(args)

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        outcomes = []
        for text in batch["shard"]:
            shard = json.loads(text)
            shard |= {name: Path(shard[name]) for name in ("source", "target")}
            outcomes.append(json.dumps(as_values(self._worker.work(Shard(**shard)))))
        return {"outcome": outcomes}


def on_ray(args: argparse.Namespace, shards: Sequence[Shard]) -> Iterator[Outcome]:
    """Yield what became of each shard, in any order.

    Args:
        args: The command line.
        shards: Files that all machines see under the same paths.

    Raises:
        ValueError: If there is no such cluster, or it has not enough for one worker.
    """
    import ray.data

    quiet = not (args.verbose or sys.stderr.isatty())
    logging.getLogger("ray.data").setLevel(logging.WARNING if quiet else logging.INFO)
    cpus, gpus = args.cpus_per_worker, args.gpus_per_worker or 0
    address = args.ray or os.environ.get("RAY_ADDRESS")
    if address:
        _check_address(address)
    before = signal.getsignal(signal.SIGTERM)  # which Ray replaces
    try:
        ray.init(
            address,
            log_to_driver=args.verbose,
            logging_level=logging.INFO if args.verbose else logging.ERROR,
            include_dashboard=None if address else False,
        )
    except (ConnectionError, ValueError) as error:
        raise ValueError(f"--ray ({address}) cannot be reached: {first_line(error)}") from error
    try:
        there = ray.cluster_resources()
        room = int(there.get("CPU", 0) // cpus)
        if gpus:
            room = min(room, int(there.get("GPU", 0) // gpus))
        if room < 1:
            raise ValueError(
                f"the Ray cluster has {there.get('CPU', 0):g} CPUs and {there.get('GPU', 0):g} GPUs, too little for "
                f"one worker of {cpus} and {gpus:g}; change --cpus-per-worker or --gpus-per-worker"
            )
        data = ray.data.from_items(
            [{"shard": json.dumps(as_values(_absolute(shard)))} for shard in shards], override_num_blocks=len(shards)
        )
        pool = ray.data.ActorPoolStrategy(
            size=min(args.workers or room, len(shards)), max_tasks_in_flight_per_actor=1
        )  # a shard that waits in an actor is one that no idle one can take
        kind: dict[str, Any] = {"num_cpus": cpus, "num_gpus": gpus or None, "batch_size": 1, "compute": pool}
        for row in data.map_batches(_Actor, fn_constructor_args=(args,), **kind).iter_rows():
            outcome = json.loads(row["outcome"])
            yield Outcome(**outcome | {"failed": [(line, error) for line, error in outcome["failed"]]})
    finally:
        ray.shutdown()
        signal.signal(signal.SIGTERM, before)


def _check_address(address: str) -> None:
    """Raise ValueError where nobody listens at HOST:PORT, which Ray would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (colon and port.isdigit()):
        return  # "auto", which Ray knows at once
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except OSError as error:
        raise ValueError(f"--ray ({address}) cannot be reached: {error.strerror or error}") from error


def _absolute(shard: Shard) -> Shard:
    """Return a shard whose paths do not depend on the current folder."""
    return Shard(shard.name, shard.source.absolute(), shard.target.absolute())
