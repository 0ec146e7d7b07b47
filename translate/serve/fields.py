"""Reads the fields of a request, however the client sends them: as JSON, a form, several parts or in the address."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from starlette.datastructures import FormData, QueryParams, UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request

from translate.serve.errors import ApiError

_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
_DEEPEST = 20  # lists and objects of a JSON body inside each other


class Fields:
    """The fields of a request.

    Args:
        values: Of a JSON object; or of a form and the address, where a name may come several times.
    """

    def __init__(self, values: dict[str, Any] | None, *forms: FormData | QueryParams) -> None:
        self._values, self._forms = values, forms

    def get(self, name: str) -> Any:
        """Return a field; None if it is missing, null or an empty text."""
        value = self._values.get(name) if self._values is not None else next(iter(self._all(name)), None)
        return None if value == "" else value

    def texts(self, name: str) -> str | list[str]:
        """Return a text or several; several of a form are a field that comes several times.

        Raises:
            ApiError: If the field is missing or no text.
        """
        if self._values is None:
            given = ["\n".join(text.splitlines()) for text in self._all(name) if isinstance(text, str)]
            value: Any = given[0] if len(given) == 1 else given
        else:
            value = self._values.get(name)
        if value is None or value in ("", []):
            raise ApiError(400, f"Invalid request: missing {name} parameter")
        if isinstance(value, str):
            return value
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise ApiError(400, f"Invalid request: {name} parameter is neither a text nor a list of texts")
        return value

    def text(self, name: str) -> str:
        """Return a text that must be there.

        Raises:
            ApiError: If it is missing or no text.
        """
        value = self.get(name)
        if value is None:
            raise ApiError(400, f"Invalid request: missing {name} parameter")
        if not isinstance(value, str):
            raise ApiError(400, f"Invalid request: {name} parameter is not a text")
        return value

    def file(self, name: str) -> UploadFile:
        """Return a file.

        Raises:
            ApiError: If it is missing, or has no name.
        """
        found = next((one for one in self._all(name) if isinstance(one, UploadFile) and one.filename), None)
        if found is None:
            raise ApiError(400, f"Invalid request: missing {name} parameter")
        return found

    def number(self, name: str, default: int) -> int:
        """Return a whole number, as such or as a text.

        Raises:
            ApiError: If it is none.
        """
        value = self.get(name)
        if value is None:
            return default
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str) and value.strip().removeprefix("-").isdecimal() and len(value) < 20:
            return int(value)
        raise ApiError(400, f"Invalid request: {name} parameter is not a number")

    def flag(self, name: str) -> bool:
        """Return whether something is wanted.

        Raises:
            ApiError: If the field is neither true nor false.
        """
        value = self.get(name)
        if value in (None, False, "false", "0", True, "true", "1"):
            return value in (True, "true", "1")
        raise ApiError(400, f"Invalid request: {name} parameter is neither true nor false")

    def choice(self, name: str, choices: Sequence[str]) -> str | None:
        """Return a text that is one of several; None if it is missing.

        Raises:
            ApiError: If it is something else.
        """
        value = self.get(name)
        if value is not None and value not in choices:
            raise ApiError(400, f"Invalid request: {name} parameter must be one of {', '.join(choices)}")
        return None if value is None else str(value)

    def mapping(self, name: str) -> dict[str, str]:
        """Return texts by texts, of JSON alone.

        Raises:
            ApiError: If the field is something else.
        """
        value = self.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
            raise ApiError(400, f"Invalid request: {name} parameter is no object of texts")
        return value

    def _all(self, name: str) -> list[str | UploadFile]:
        return [value for form in self._forms for value in form.getlist(name)]


async def read_fields(request: Request, *, body_limit: int, read_timeout: float) -> Fields:
    """Read the fields of a request.

    Args:
        request: What came.
        body_limit: Most bytes of its body.
        read_timeout: Seconds that the body may take.

    Raises:
        ApiError: If the body is too long, takes too long, or is not what its content type says.
    """
    try:
        async with asyncio.timeout(read_timeout):
            body = await _read_body(request, body_limit)
    except TimeoutError as error:
        text = f"Invalid request: its body took more than {read_timeout:g} seconds"
        raise ApiError(408, text, {"Connection": "close"}) from error
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind == "application/json" or kind.endswith("+json"):
        return Fields(_read_json(body))
    if kind in _FORMS:
        request._body = body
        try:
            form = await request.form(max_files=1, max_fields=10_000, max_part_size=body_limit)
            texts = (one if isinstance(one, str) else one.filename or "" for _, one in form.multi_items())
            "".join(texts).encode()  # half of a surrogate pair is no text, and some charsets let it through
        except (MultiPartException, ValueError) as error:
            raise ApiError(400, f"Invalid request: the form cannot be read: {error}") from error
        return Fields(None, form, request.query_params)
    if body and not request.query_params:
        raise ApiError(415, f"Content type {kind or '(none)'} is not supported: send JSON or a form")
    return Fields(None, request.query_params)


async def _read_body(request: Request, limit: int) -> bytes:
    declared = request.headers.get("content-length", "0")
    too_long = ApiError(413, f"Invalid request: its body exceeds {limit} bytes")
    if declared.isdecimal() and int(declared) > limit:
        raise too_long
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > limit:
                raise too_long
    except ClientDisconnect as error:
        raise ApiError(400, "Invalid request: its body is not complete") from error
    return bytes(body)


def _read_json(body: bytes) -> dict[str, Any]:
    try:
        if body.count(b"[") + body.count(b"{") > _DEEPEST and _depth(body) > _DEEPEST:
            raise ValueError("too deep")
        text = body.decode("utf-8-sig")  # of bytes, json.loads takes other encodings too, and half of a surrogate pair
        values = json.loads(text)
        if "\\ud" in text.lower():  # half of a surrogate pair is no text
            json.dumps(values, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise ApiError(400, "Invalid JSON format") from error
    if not isinstance(values, dict):
        raise ApiError(400, "Invalid JSON format")
    return values


def _depth(body: bytes) -> int:
    """Return how deep brackets outside of texts lie inside each other."""
    depth = deepest = 0
    in_text = escaped = False
    for byte in body:
        if in_text:
            in_text, escaped = escaped or byte != 0x22, not escaped and byte == 0x5C
        elif byte == 0x22:
            in_text = True
        elif byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest
