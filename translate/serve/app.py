"""The application: all routes, its errors as JSON, its counts and headers."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from translate.config.serve import ServeConfig
from translate.serve.api import Api
from translate.serve.errors import ApiError
from translate.serve.metrics import Metrics
from translate.serve.models import Models
from translate.serve.page import page_routes
from translate.serve.v1 import V1
from translate.serve.work import busy_error

logger = logging.getLogger("translate.serve")

_TRANSLATING = {"/translate", "/translate_file", "/v1/translate"}
_CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Expose-Headers": "Authorization",
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Max-Age": "1728000",
}
_CORS_HEADERS = [(name.lower().encode(), value.encode()) for name, value in _CORS.items()]


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
        *V1(api).routes,
        *(page_routes() if config.page else ()),
    ]
    if config.metrics:
        routes.append(Route("/metrics", api.prometheus))

    handlers: dict[Any, Any] = {ApiError: _api_error, HTTPException: _http_error, Exception: _server_error}
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=api.running)
    app.add_middleware(
        _Watch,
        metrics=api.metrics,
        cors=config.cors,
        routes={route.path for route in routes},
        is_full=lambda: api.models.pool.queued >= config.queue_limit,
    )
    if config.trust_forwarded_for:
        app.add_middleware(ProxyHeadersMiddleware, trusted_hosts="*")
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

    While too many sentences wait, requests to translate are refused here, before anything is spent on reading them.

    Args:
        app: What answers.
        metrics: Counts.
        cors: Whether pages of other sites may use the server.
        routes: Paths that have a label of their own.
        is_full: Whether no more sentences may wait.
    """

    def __init__(
        self, app: ASGIApp, metrics: Metrics, *, cors: bool, routes: set[str], is_full: Callable[[], bool]
    ) -> None:
        self.app, self.metrics, self.cors, self.routes, self.is_full = app, metrics, cors, routes, is_full

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
                    message["headers"] += _CORS_HEADERS
            await send(message)

        if self.cors and scope["method"] == "OPTIONS":
            await Response(status_code=204)(scope, receive, answer)
            return
        with self.metrics.in_flight.track_inprogress():
            try:
                if scope["path"] in _TRANSLATING and self.is_full():
                    refusal = busy_error()
                    await JSONResponse({"error": refusal.message}, 503, refusal.headers)(scope, receive, answer)
                else:
                    await self.app(scope, receive, answer)
            finally:
                seconds = time.perf_counter() - start
                path = scope["path"] if scope["path"] in self.routes else "other"
                self.metrics.duration.labels(path, str(status)).observe(seconds)
                if logger.isEnabledFor(logging.INFO):
                    logger.info(json.dumps({"path": path, "status": status, "seconds": round(seconds, 4)}))
