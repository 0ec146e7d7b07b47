"""The same server as replicas of Ray Serve, on as many machines as a Ray cluster has.

    serve run translate.serve.ray:build model=runs/latest max_replicas=8

Each replica is the whole application with its own models, queue, batches and cache. Ray Serve hands each request to one
of two replicas, the one with fewer requests in progress, and starts or stops replicas by how many of these there are.
"""

from __future__ import annotations

import os
from dataclasses import fields
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere unless the user asks for it

from ray import serve

from translate.config.serve import ReplicaConfig, ServeConfig
from translate.serve.app import make_app
from translate.serve.models import Models


def build(arguments: dict[str, Any]) -> serve.Application:
    """Return the application that `serve run` and `serve deploy` start.

    Args:
        arguments: Settings of `ReplicaConfig` and of `ServeConfig`, host and port excepted, which are Ray's.

    Raises:
        ValueError: If a setting does not exist or its value cannot be.
    """
    replicas = ReplicaConfig(**_of(ReplicaConfig, arguments))
    config = ServeConfig(**{"workers": replicas.cpus, **_of(ServeConfig, arguments)})
    names = {one.name for kind in (ReplicaConfig, ServeConfig) for one in fields(kind)}
    if unknown := arguments.keys() - names | arguments.keys() & {"host", "port"}:
        raise ValueError(f"unknown setting {', '.join(sorted(unknown))}; there are {', '.join(sorted(names))}")
    paths = replicas.model.split(",")

    @serve.deployment(
        name="translate",
        ray_actor_options={"num_cpus": replicas.cpus},
        autoscaling_config={
            "min_replicas": replicas.min_replicas,
            "max_replicas": replicas.max_replicas,
            "target_ongoing_requests": replicas.target_requests,
        },
        max_ongoing_requests=config.queue_limit,
    )
    @serve.ingress(lambda: make_app(lambda: Models(paths, config), config))
    class Replica:
        """The application; Ray Serve runs it as it is."""

    return Replica.bind()  # type: ignore[attr-defined]


def _of(kind: type, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that are settings of a kind, as their types: the command line gives text."""
    types = {one.name: type(one.default) for one in fields(kind)}
    return {name: _value(types[name], value) for name, value in arguments.items() if name in types}


def _value(kind: type, value: Any) -> Any:
    if not isinstance(value, str) or kind is str:
        return value
    if kind is bool:
        return value.lower() in ("true", "1", "yes")
    return (float if kind is float else int)(value)
