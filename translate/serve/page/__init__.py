"""The page to translate on (three files, no framework, nothing from elsewhere) and the one that tells the interface."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from translate.serve.openapi import SPECIFICATION
from translate.serve.page.reference import reference_page

_FOLDER = Path(__file__).parent
_KINDS = {"index.html": "text/html", "page.css": "text/css", "page.js": "text/javascript"}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def page_routes() -> list[Route]:
    """Return the routes of the page and its files."""
    return [Route("/", _index), Route("/page/{name}", _file), Route("/docs", _docs)]


async def _index(request: Request) -> Response:
    return _answer("index.html")


async def _file(request: Request) -> Response:
    return _answer(request.path_params["name"])


async def _docs(request: Request) -> Response:
    return HTMLResponse(reference_page(SPECIFICATION, str(request.base_url)), headers=_HEADERS)


def _answer(name: str) -> Response:
    if name not in _KINDS:
        raise HTTPException(404)
    return Response(_read(name), media_type=_KINDS[name], headers=_HEADERS)


@cache
def _read(name: str) -> bytes:
    return (_FOLDER / name).read_bytes()
