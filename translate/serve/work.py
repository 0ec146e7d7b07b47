"""Texts of a request through the pool: cut, translated together with those of others, put together again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NamedTuple

from starlette.requests import Request

from translate.serve.documents import Part, text_parts
from translate.serve.errors import ApiError
from translate.serve.formality import in_one_formality
from translate.serve.pool import Pool, QueueFullError, Sentence
from translate.translator.translation import Translation

_RETRY_AFTER = "1"  # seconds
_LARGE = 20_000  # characters that take so long to cut that other requests should not wait


Cut = Callable[[str], list[Part]]


class Task(NamedTuple):
    """A text to translate.

    Attributes:
        text: Plain text, or HTML.
        src_lang: Language that it is in.
        tgt_lang: Language to translate it into.
        cut: Cuts it into parts, by its format.
        alternatives: How many translations beyond the best one.
        formality: As `decode.formality`.
    """

    text: str
    src_lang: str
    tgt_lang: str
    cut: Cut = text_parts
    alternatives: int = 0
    formality: str = "any"


async def translate_tasks(
    pool: Callable[[], Pool], tasks: Sequence[Task], request: Request, deadline: float
) -> list[list[str]]:
    """Return the translations of each text, the best first.

    Args:
        pool: Returns that of the server, which may change while texts are cut.
        tasks: The texts.
        request: Where it ends before they are done, they are given up.
        deadline: Seconds that they may take.

    Raises:
        ApiError: 503 if too many sentences wait, 504 after the deadline.
    """
    parts = await cut_tasks(tasks)
    texts = [
        [
            Sentence(
                part.text,
                *(task.src_lang, task.tgt_lang),
                num_hypotheses=1 + task.alternatives,
                protect=part.protect,
                formality=task.formality,
            )
            for part in own
            if part.translated
        ]
        for task, own in zip(tasks, parts, strict=True)
    ]
    found = iter(await translate_texts(pool, texts, request, deadline))
    return [
        _joined(own, [next(found) for part in own if part.translated], 1 + task.alternatives)
        for task, own in zip(tasks, parts, strict=True)
    ]


async def translate_texts(
    pool: Callable[[], Pool], texts: Sequence[Sequence[Sentence]], request: Request, deadline: float
) -> list[Translation]:
    """Return the translations of the sentences of texts, one text after the other.

    Where they cannot be translated again in time, those of a text may say tu and vous.

    Args:
        pool: Returns that of the server.
        texts: The sentences of each text.
        request: Where it ends before they are done, they are given up.
        deadline: Seconds that they may take.

    Raises:
        ApiError: 503 if too many sentences wait, 504 after the deadline.
    """
    now = asyncio.get_running_loop().time
    end = now() + deadline

    async def again(sentences: list[Sentence]) -> list[Translation]:
        return await finished(queued(pool(), sentences), request, end - now())

    found = await finished(queued(pool(), list(chain.from_iterable(texts))), request, deadline)
    try:
        return await in_one_formality(texts, found, again)
    except ApiError as error:
        if error.status not in (503, 504):
            raise
        return found


async def cut_tasks(tasks: Sequence[Task]) -> list[list[Part]]:
    """Return the parts of each text; long ones are cut in a thread."""
    if sum(len(task.text) for task in tasks) > _LARGE:
        return await asyncio.to_thread(_all_parts, tasks)
    return _all_parts(tasks)


def _all_parts(tasks: Sequence[Task]) -> list[list[Part]]:
    return [_parts(task) for task in tasks]


def _parts(task: Task) -> list[Part]:
    if task.src_lang == task.tgt_lang:
        return [Part(task.text, translated=False)]
    return task.cut(task.text)


def queued(pool: Pool, sentences: Sequence[Sentence]) -> list[asyncio.Future[Translation]]:
    """Queue sentences.

    Raises:
        ApiError: 503 if too many wait.
    """
    try:
        return pool.submit(sentences)
    except QueueFullError as error:
        raise busy_error() from error


def busy_error() -> ApiError:
    """Return what a request is refused with while too many sentences wait."""
    return ApiError(503, "The server is busy: too many sentences wait", {"Retry-After": _RETRY_AFTER})


async def finished(
    futures: Sequence[asyncio.Future[Translation]], request: Request, deadline: float
) -> list[Translation]:
    """Wait for translations; they are given up when the client leaves.

    Raises:
        ApiError: 504 after the deadline, 400 where a text cannot be translated so.
    """
    together: asyncio.Future[list[Translation]] = asyncio.gather(*futures)
    gone: asyncio.Future[None] = asyncio.ensure_future(_disconnected(request))
    try:
        waited: list[asyncio.Future[Any]] = [together, gone]
        await asyncio.wait(waited, timeout=deadline, return_when=asyncio.FIRST_COMPLETED)
        if together.done():
            return together.result()
        raise ApiError(499 if gone.done() else 504, f"The translation took more than {deadline:g} seconds")
    except ValueError as error:
        raise ApiError(400, f"Invalid request: {error}") from error
    finally:
        gone.cancel()
        together.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _joined(parts: Sequence[Part], translations: Sequence[Translation], count: int) -> list[str]:
    """Put a text together, once for each number of a hypothesis; a sentence that has fewer repeats its best one."""
    texts = []
    for number in range(count):
        own = iter(translations)
        pieces = []
        for part in parts:
            if part.translated:
                hypotheses = next(own).hypotheses
                best = hypotheses[number if number < len(hypotheses) else 0].text if hypotheses else ""
                pieces.append(part.restore(best))
            else:
                pieces.append(part.text)
        texts.append("".join(pieces))
    return list(dict.fromkeys(texts))
