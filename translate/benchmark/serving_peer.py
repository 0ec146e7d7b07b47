"""CTranslate2 behind the plainest route, to compare our server with: each request is translated by itself.

python -m translate.benchmark.serving_peer EXPORTED TARGET
"""

from __future__ import annotations

import asyncio
import socket
import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from translate.translator.translator import Translator


def main() -> None:
    """Serve an exported model on a free port."""
    translator = Translator.load(sys.argv[1]).into(sys.argv[2])

    async def translate(request: Request) -> Response:
        values = await request.json()
        (found,) = await asyncio.to_thread(translator.translate, [values["q"]])
        return JSONResponse({"translatedText": found.text})

    app = Starlette(routes=[Route("/translate", translate, methods=["POST"])])
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as ours
        print(f"serving http://127.0.0.1:{listener.getsockname()[1]}", file=sys.stderr, flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run(sockets=[listener])


if __name__ == "__main__":
    main()
