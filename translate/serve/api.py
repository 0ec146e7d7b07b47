"""The routes of the server: LibreTranslate's, by its documentation and what its clients send."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from translate.config.serve import ServeConfig
from translate.serve.documents import html_parts, text_parts
from translate.serve.errors import ApiError
from translate.serve.fields import Fields, read_fields
from translate.serve.files import FORMATS, TranslatedFiles, read_file
from translate.serve.limits import Gate
from translate.serve.metrics import Metrics
from translate.serve.models import NAMES, Guess, Models
from translate.serve.openapi import SPECIFICATION
from translate.serve.work import Cut, Task, translate_tasks

logger = logging.getLogger("translate.serve")

AUTO = "auto"
_CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Expose-Headers": "Authorization",
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Max-Age": "1728000",
}


class Api:
    """Answers requests.

    Args:
        open_models: Opens the models; called again at SIGHUP.
        config: Settings of the server.
    """

    def __init__(self, open_models: Callable[[], Models], config: ServeConfig) -> None:
        self._open_models, self.config = open_models, config
        self.models = open_models()
        self.gate, self.metrics = Gate(config), Metrics(lambda: self.models.pool)
        self.files = TranslatedFiles()
        self._reloading: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def running(self, app: Starlette) -> AsyncIterator[None]:
        """Open the models again at SIGHUP; end the threads that translate in the end."""
        if threading.current_thread() is threading.main_thread():
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._begin_reload)
        yield
        await asyncio.to_thread(self.models.pool.stop)
        self.files.remove()

    def _begin_reload(self) -> None:
        if self._reloading is None or self._reloading.done():
            self._reloading = asyncio.create_task(self._reload())

    async def _reload(self) -> None:
        """Open the models anew beside the old ones, which finish what they have begun."""
        try:
            new = await asyncio.to_thread(self._open_models)
        except (ValueError, OSError) as error:
            logger.error("the models were not opened again, the old ones go on: %s", error)
            return
        old, self.models = self.models, new
        await asyncio.to_thread(old.pool.stop)

    async def translate(self, request: Request) -> Response:
        """Translate one text or several."""
        fields = await self._fields(request)
        texts, alone = self._texts(fields)
        cut, count = self._format(fields), self._alternatives(fields)
        found, guesses = await self._translate(request, fields, texts, cut, count)
        answer: dict[str, Any] = {"translatedText": [one[0] for one in found]}
        if guesses:
            answer["detectedLanguage"] = [guess._asdict() for guess in guesses]
        if count:
            answer["alternatives"] = [one[1:] for one in found]
        return JSONResponse({name: value[0] for name, value in answer.items()} if alone else answer)

    async def translate_file(self, request: Request) -> Response:
        """Translate a file, and say where to fetch it."""
        fields = await self._fields(request)
        upload = fields.file("file")
        name = upload.filename or ""
        suffix, text = read_file(name, await upload.read())
        self._check_length([text])
        (found,), _ = await self._translate(request, fields, [text], FORMATS[suffix], 0)
        kept = await asyncio.to_thread(self.files.add, name, found[0])
        return JSONResponse({"translatedFileUrl": str(request.base_url.replace(path=f"/download_file/{kept}"))})

    async def download_file(self, request: Request) -> Response:
        """Give a translated file."""
        name = request.path_params["name"]
        return FileResponse(self.files.find(name), filename=name.partition(".")[2])

    async def suggest(self, request: Request) -> Response:
        """Keep a better translation that a user proposes."""
        fields = await self._fields(request)
        if not self.config.suggestions:
            raise ApiError(403, "Suggestions are disabled on this server.")
        line = json.dumps({name: fields.text(name) for name in ("q", "s", "source", "target")}, ensure_ascii=False)
        with Path(self.config.suggestions).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        return JSONResponse({"success": True})

    async def _translate(
        self, request: Request, fields: Fields, texts: list[str], cut: Cut, alternatives: int
    ) -> tuple[list[list[str]], list[Guess]]:
        """Return the translations of texts, and the languages that they are in where nobody says so."""
        source, target = (self._language(fields.text(name), name) for name in ("source", "target"))
        guesses = [self.models.guess(text)[0] for text in texts] if source == AUTO else []
        sources = [guess.language for guess in guesses] or [source] * len(texts)
        for one in dict.fromkeys(sources):
            self._check_pair(one, target)
        self.metrics.characters.inc(sum(map(len, texts)))
        if self.config.log_texts:
            logger.info(json.dumps({"source": source, "target": target, "texts": texts}, ensure_ascii=False))
        tasks = [Task(text, one, target, cut, alternatives) for text, one in zip(texts, sources, strict=True)]
        return await translate_tasks(lambda: self.models.pool, tasks, request, self.config.deadline), guesses

    async def detect(self, request: Request) -> Response:
        """Tell the languages that a text may be in."""
        fields = await self._fields(request)
        texts, alone = self._texts(fields)
        guesses = [[guess._asdict() for guess in self.models.guess(text)] for text in texts]
        return JSONResponse(guesses[0] if alone else guesses)

    async def languages(self, request: Request) -> Response:
        """List the languages and what each can be translated into."""
        rows = [
            {"code": code, "name": NAMES.get(code, code), "targets": self.models.targets(code)}
            for code in self.models.languages
        ]
        return JSONResponse(rows)

    async def frontend_settings(self, request: Request) -> Response:
        """Tell a page what the server allows."""
        config, (source, target) = self.config, next(iter(self.models.translators))
        return JSONResponse(
            {
                "charLimit": config.char_limit,
                "frontendTimeout": 500,
                "apiKeys": config.api_keys,
                "keyRequired": config.api_keys,
                "suggestions": bool(config.suggestions),
                "filesTranslation": True,
                "supportedFilesFormat": [*FORMATS],
                "language": {
                    "source": {"code": source, "name": NAMES.get(source, source)},
                    "target": {"code": target, "name": NAMES.get(target, target)},
                },
            }
        )

    async def health(self, request: Request) -> Response:
        """Say that the server answers."""
        return JSONResponse({"status": "ok"})

    async def prometheus(self, request: Request) -> Response:
        """Give the metrics, to whoever has the token."""
        token = self.config.metrics_token
        given = request.headers.get("authorization", "")
        if token and not secrets.compare_digest(given.encode(), f"Bearer {token}".encode()):
            raise ApiError(401, "Unauthorized", {"WWW-Authenticate": "Bearer"})
        return Response(self.metrics.text(), media_type="text/plain; version=0.0.4")

    async def specification(self, request: Request) -> Response:
        """Give the description of this interface."""
        return JSONResponse(SPECIFICATION)

    async def _fields(self, request: Request) -> Fields:
        fields = await read_fields(request, self.config.body_limit)
        self.gate.check(request, fields)
        return fields

    def _texts(self, fields: Fields) -> tuple[list[str], bool]:
        """Return the texts of a request, and whether there is one that is not in a list."""
        given = fields.texts("q")
        texts = [given] if isinstance(given, str) else given
        self._check_length(texts)
        return texts, isinstance(given, str)

    def _check_length(self, texts: list[str]) -> None:
        sizes = (sum(map(len, texts)), self.config.char_limit), (len(texts), self.config.batch_limit)
        for size, limit in sizes:
            if 0 <= limit < size:
                raise ApiError(400, f"Invalid request: request ({size}) exceeds text limit ({limit})")

    def _language(self, code: str, name: str) -> str:
        code = code.strip().lower()
        if code not in self.models.languages and not (code == AUTO and name == "source"):
            raise ApiError(400, f"{code} is not supported")
        return code

    def _check_pair(self, source: str, target: str) -> None:
        if target not in self.models.targets(source):
            names = [f"{NAMES.get(code, code)} ({code})" for code in (target, source)]
            raise ApiError(400, f"{names[0]} is not available as a target language from {names[1]}")

    def _format(self, fields: Fields) -> Cut:
        kind = fields.get("format") or "text"
        if kind not in ("text", "html"):
            raise ApiError(400, f"{kind} format is not supported")
        return html_parts if kind == "html" else text_parts

    def _alternatives(self, fields: Fields) -> int:
        count, limit = fields.number("alternatives", 0), self.config.alternatives_limit
        if count < 0 or 0 <= limit < count:
            raise ApiError(400, f"Invalid request: alternatives parameter must be <= {limit} and at least 0")
        return count


def make_app(open_models: Callable[[], Models], config: ServeConfig) -> Starlette:
    """Return the application that a server such as uvicorn runs; arguments as of `Api`."""
    api = Api(open_models, config)
    routes = [
        Route("/translate", api.translate, methods=["POST"]),
        Route("/translate_file", api.translate_file, methods=["POST"]),
        Route("/download_file/{name}", api.download_file),
        Route("/suggest", api.suggest, methods=["POST"]),
        Route("/detect", api.detect, methods=["POST"]),
        Route("/languages", api.languages, methods=["GET", "POST"]),
        Route("/frontend/settings", api.frontend_settings, methods=["GET", "POST"]),
        Route("/health", api.health),
        Route("/spec", api.specification),
    ]
    if config.metrics:
        routes.append(Route("/metrics", api.prometheus))

    handlers: dict[Any, Any] = {ApiError: _api_error, HTTPException: _http_error, Exception: _server_error}
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=api.running)
    app.add_middleware(_Watch, metrics=api.metrics, cors=config.cors, routes={route.path for route in routes})
    return app


async def _api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return JSONResponse({"error": error.message}, error.status, error.headers)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


async def _server_error(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": "The server failed; its log says why"}, 500)


class _Watch:
    """Counts and times requests, logs them, and lets pages of other sites read the answers.

    Args:
        app: What answers.
        metrics: Counts.
        cors: Whether pages of other sites may use the server.
        routes: Paths that have a label of their own.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, *, cors: bool, routes: set[str]) -> None:
        self.app, self.metrics, self.cors, self.routes = app, metrics, cors, routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 500

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if self.cors:
                    message["headers"] += [(name.lower().encode(), value.encode()) for name, value in _CORS.items()]
            await send(message)

        if self.cors and scope["method"] == "OPTIONS":
            await Response(status_code=204)(scope, receive, answer)
            return
        with self.metrics.in_flight.track_inprogress():
            try:
                await self.app(scope, receive, answer)
            finally:
                seconds = time.perf_counter() - start
                path = scope["path"] if scope["path"] in self.routes else "other"
                self.metrics.duration.labels(path, str(status)).observe(seconds)
                logger.info(json.dumps({"path": path, "status": status, "seconds": round(seconds, 4)}))
