"""The routes of the server: LibreTranslate's, by its documentation and what its clients send."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import signal
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response

from translate.config.decode import FORMAL, FORMALITIES, FRENCH, INFORMAL
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


class Api:
    """Answers requests.

    Args:
        open_models: Opens the models; called again at SIGHUP.
        config: Settings of the server.

    Raises:
        ValueError: If the file of the keys cannot be used.
        OSError: If the file of the suggestions cannot be written.
    """

    def __init__(self, open_models: Callable[[], Models], config: ServeConfig) -> None:
        if config.suggestions:
            Path(config.suggestions).open("a", encoding="utf-8").close()  # one that cannot be written is refused now
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
        fields = await self.read(request)
        texts, alone = self._texts(fields)
        cut, count = self._format(fields), self.alternatives(fields)
        found, guesses = await self._translate(request, fields, texts, cut, count)
        answer: dict[str, Any] = {"translatedText": [one[0] for one in found]}
        if guesses:
            answer["detectedLanguage"] = [guess._asdict() for guess in guesses]
        if count:
            answer["alternatives"] = [one[1:] for one in found]
        return JSONResponse({name: value[0] for name, value in answer.items()} if alone else answer)

    async def translate_file(self, request: Request) -> Response:
        """Translate a file, and say where to fetch it."""
        fields = await self.read(request)
        upload = fields.file("file")
        name = upload.filename or ""
        suffix, text = read_file(name, await upload.read())
        self.check_length([text])
        (found,), _ = await self._translate(request, fields, [text], FORMATS[suffix], 0)
        kept = await asyncio.to_thread(self.files.add, name, found[0])
        return JSONResponse({"translatedFileUrl": str(request.base_url.replace(path=f"/download_file/{kept}"))})

    async def download_file(self, request: Request) -> Response:
        """Give a translated file."""
        name = request.path_params["name"]
        return FileResponse(self.files.find(name), filename=name.partition(".")[2])

    async def suggest(self, request: Request) -> Response:
        """Keep a better translation that a user proposes."""
        fields = await self.read(request)
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
        sources, target, guesses = self.languages_of(fields, texts)
        tasks = [
            Task(text, one, target, cut, alternatives, self.formality(fields, one, target))
            for text, one in zip(texts, sources, strict=True)
        ]
        return await translate_tasks(lambda: self.models.pool, tasks, request, self.config.deadline), guesses

    def languages_of(self, fields: Fields, texts: list[str]) -> tuple[list[str], str, list[Guess]]:
        """Return the language of each text, the one to translate into, and the guesses where nobody says the first.

        Raises:
            ApiError: If one of them is missing, or they are not translated so.
        """
        source, target = (self._language(fields.text(name), name) for name in ("source", "target"))
        guesses = [self.models.guess(text)[0] for text in texts] if source == AUTO else []
        sources = [guess.language for guess in guesses] or [source] * len(texts)
        for one in dict.fromkeys(sources):
            self._check_pair(one, target)
        self.metrics.characters.inc(sum(map(len, texts)))
        if self.config.log_texts:
            logger.info(json.dumps({"source": source, "target": target, "texts": texts}, ensure_ascii=False))
        return sources, target, guesses

    async def detect(self, request: Request) -> Response:
        """Tell the languages that a text may be in."""
        fields = await self.read(request)
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

    async def read(self, request: Request) -> Fields:
        """Return the fields of a request that may be answered.

        Raises:
            ApiError: As `read_fields` and `Gate.check`.
        """
        fields = await read_fields(request, body_limit=self.config.body_limit, read_timeout=self.config.read_timeout)
        self.gate.check(request, fields)
        return fields

    def _texts(self, fields: Fields) -> tuple[list[str], bool]:
        """Return the texts of a request, and whether there is one that is not in a list."""
        given = fields.texts("q")
        texts = [given] if isinstance(given, str) else given
        self.check_length(texts)
        return texts, isinstance(given, str)

    def check_length(self, texts: list[str]) -> None:
        """Raise ApiError if texts are too many or too long."""
        sizes = (sum(map(len, texts)), self.config.char_limit), (len(texts), self.config.batch_limit)
        for size, limit in sizes:
            if 0 <= limit < size:
                raise ApiError(400, f"Invalid request: request ({size}) exceeds text limit ({limit})")

    def _language(self, code: str, name: str) -> str:
        code = code.strip().lower()
        if code == AUTO and name == "source":
            return code
        known = {one.lower(): one for one in self.models.languages}
        if code not in known:
            raise ApiError(400, f"{code} is not supported")
        return known[code]

    def _check_pair(self, source: str, target: str) -> None:
        if target not in self.models.targets(source):
            names = [f"{NAMES.get(code, code)} ({code})" for code in (target, source)]
            raise ApiError(400, f"{names[0]} is not available as a target language from {names[1]}")

    def _format(self, fields: Fields) -> Cut:
        kind = fields.get("format") or "text"
        if kind not in ("text", "html"):
            raise ApiError(400, f"{kind} format is not supported")
        return html_parts if kind == "html" else text_parts

    def formality(self, fields: Fields, source: str, target: str) -> str:
        """Return what is asked for, or what the model has; raise ApiError if it cannot be had."""
        asked = fields.choice("formality", FORMALITIES)
        if target != FRENCH:
            if asked in (FORMAL, INFORMAL):
                raise ApiError(400, f"Invalid request: formality ({asked}) is for translations into {FRENCH}")
            return "any"
        return asked or self.models.formality(source, target)

    def alternatives(self, fields: Fields) -> int:
        """Return how many alternatives are asked for, or raise ApiError if they are too many."""
        count, limit = fields.number("alternatives", 0), self.config.alternatives_limit
        if count < 0 or 0 <= limit < count:
            raise ApiError(400, f"Invalid request: alternatives parameter must be <= {limit} and at least 0")
        return count
