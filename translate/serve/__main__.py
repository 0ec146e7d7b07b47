"""Serve translations over HTTP: `python -m translate.serve`."""

from __future__ import annotations

import argparse
import logging
import signal
import socket
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from translate.common.command import run_command
from translate.common.files import allow_open_files
from translate.common.resources import SHIPPED
from translate.config.serve import ServeConfig
from translate.serve.arguments import parse
from translate.serve.keys import ApiKeys

_SECONDS_TO_END = 10  # after SIGTERM


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, then serve until SIGTERM or Ctrl-C; returns the exit status."""
    args = parse(list(sys.argv[1:] if arguments is None else arguments))
    if args.action != "serve":
        _manage_keys(args)
        return 0
    names = [one.name for one in fields(ServeConfig)]
    config = ServeConfig(**{name: value for name in names if (value := getattr(args, name)) is not None})
    logging.basicConfig(stream=sys.stderr, format="%(message)s")
    logging.getLogger("translate.serve").setLevel(logging.INFO if args.verbose else logging.WARNING)
    import uvicorn

    from translate.serve.app import make_app
    from translate.serve.connection import with_read_timeout
    from translate.serve.models import Models

    paths = args.model or [SHIPPED]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # to which uvicorn comes back once it has finished
    allow_open_files()
    with _listen(config.host, config.port) as listener:
        app = make_app(lambda: Models(paths, config), config)
        print(f"serving {_url(config.host, listener.getsockname()[1])}", file=sys.stderr)
        settings = uvicorn.Config(
            app,
            http=with_read_timeout(config.read_timeout),
            log_level="warning",
            access_log=False,
            proxy_headers=False,  # `make_app` reads them, if `trust_forwarded_for`
            timeout_graceful_shutdown=_SECONDS_TO_END,
        )
        uvicorn.Server(settings).run(sockets=[listener])
    return 0


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise ValueError(f"port {port} of {host} is not free: {error.strerror}; choose another with --port") from error
    # Connections inherit it. Without it the body of an answer waits for the client to acknowledge its head: 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _manage_keys(args: argparse.Namespace) -> None:
    """Make a key, revoke one, or list them."""
    keys = ApiKeys(Path(args.keys_file))
    if args.action == "add":
        print(keys.add(args.name, args.req_limit))
    elif args.action == "revoke":
        keys.revoke(args.number)
    else:
        for key in keys.list():
            limit = "" if key.req_limit is None else f"  {key.req_limit} a minute"
            print(f"{key.number}  {key.name}  {key.made}{limit}")


if __name__ == "__main__":
    run_command(main)
