"""The routes under /v1, which tell more than LibreTranslate's: sentences, scores, alignments, attention."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from translate.serve.api import Api
from translate.serve.documents import Part
from translate.serve.errors import ApiError
from translate.serve.fields import Fields
from translate.serve.pool import Sentence
from translate.serve.work import Task, cut_tasks, queued, translate_texts
from translate.translator.translation import TranslatedHypothesis, Translation
from translate.translator.translator import Translator

_MOST_CHARACTERS = 1000  # of a sentence whose attention is asked for
_MOST_TOKENS = 400  # of it: the weights grow with their square
_STREAM = "text/event-stream"


class V1:
    """Answers requests under /v1.

    Args:
        api: The other routes, whose models, limits and checks it shares.
    """

    def __init__(self, api: Api) -> None:
        self.api = api

    @property
    def routes(self) -> list[Route]:
        """Its routes."""
        return [
            Route("/v1/translate", self.translate, methods=["POST"]),
            Route("/v1/attention", self.attention, methods=["POST"]),
        ]

    async def translate(self, request: Request) -> Response:
        """Translate a text sentence by sentence; as server-sent events if the client accepts them."""
        fields = await self.api.read(request)
        text = fields.text("text")
        self.api.check_length([text])
        (source,), target, guesses = self.api.languages_of(fields, [text])
        options = self._options(fields, source, target)
        (parts,) = await cut_tasks([Task(text, source, target)])
        sentences = [Sentence(part.text, source, target, *options) for part in parts if part.translated]
        head: dict[str, Any] = {"source": source, "target": target}
        if guesses:
            head["confidence"] = guesses[0].confidence
        if _STREAM in request.headers.get("accept", ""):
            futures = queued(self.api.models.pool, sentences)
            return StreamingResponse(self._events(head, parts, futures), media_type=_STREAM)
        found = iter(
            await translate_texts(lambda: self.api.models.pool, [sentences], request, self.api.config.deadline)
        )
        segments = [_segment(part, next(found) if part.translated else None) for part in parts]
        return JSONResponse({**head, "segments": segments})

    async def attention(self, request: Request) -> Response:
        """Give the weights of cross-attention between a sentence and its translation."""
        fields = await self.api.read(request)
        texts = [fields.text("text"), fields.text("translation")]
        self.api.check_length(texts)
        if max(map(len, texts)) > _MOST_CHARACTERS:
            raise ApiError(400, f"Invalid request: attention is shown for {_MOST_CHARACTERS} characters at most")
        (source,), target, _ = self.api.languages_of(fields, texts[:1])
        translator = self.api.models.translators.get((source, target))
        if translator is None:
            raise ApiError(400, f"Invalid request: {source} is not translated into {target}")
        try:
            return await asyncio.to_thread(_attention, translator, *texts)
        except ValueError as error:
            raise ApiError(400, f"Invalid request: {error}") from error

    def _options(self, fields: Fields, source: str, target: str) -> tuple[Any, ...]:
        """Return what a `Sentence` has behind its languages."""
        terms = fields.mapping("terms")
        alignments, protect = fields.flag("alignments"), fields.flag("protect")
        if alignments and (protect or terms):
            raise ApiError(400, "Invalid request: alignments cannot be combined with protect or terms")
        count = 1 + self.api.alternatives(fields)
        formality = self.api.formality(fields, source, target)
        return count, protect, alignments, tuple(sorted(terms.items())), formality

    async def _events(
        self, head: Mapping[str, Any], parts: Sequence[Part], futures: Sequence[asyncio.Future[Translation]]
    ) -> AsyncIterator[str]:
        """Yield each part as soon as it is there, with its number; one that fails ends the stream."""
        yield _event("start", {**head, "segments": len(parts)})
        try:
            waiting = {}
            own = iter(futures)
            for number, part in enumerate(parts):
                if part.translated:
                    waiting[next(own)] = number
                else:
                    yield _event("segment", {"number": number, **_segment(part, None)})
            deadline = asyncio.get_running_loop().time() + self.api.config.deadline
            while waiting:
                left = deadline - asyncio.get_running_loop().time()
                done, _ = await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                if not done:
                    yield _event("error", {"error": "The translation took too long"})
                    return
                for future in sorted(done, key=lambda one: waiting[one]):
                    number = waiting.pop(future)
                    if future.exception():
                        yield _event("error", {"error": str(future.exception())})
                        return
                    yield _event("segment", {"number": number, **_segment(parts[number], future.result())})
            yield _event("end", {})
        finally:
            for future in futures:
                future.cancel()


def _attention(translator: Translator, text: str, translation: str) -> Response:
    """Return the weights of cross-attention as JSON, which takes long to write.

    Raises:
        ValueError: If a text has too many tokens, or the model gives no weights.
    """
    for ids in (translator.tokenizer.encode_src(text), translator.tokenizer.encode_tgt(translation)):
        if len(ids) > _MOST_TOKENS:
            raise ValueError(f"attention is shown for {_MOST_TOKENS} tokens at most, not {len(ids)}")
    found = translator.cross_attention(text, translation)
    pieces = {"source_pieces": found.src_pieces, "target_pieces": found.tgt_pieces}
    return JSONResponse({**pieces, "weights": found.weights.astype(float).round(4).tolist()})


def _segment(part: Part, translation: Translation | None) -> dict[str, Any]:
    if translation is None:
        return {"text": part.text, "translations": []}
    return {"text": part.text, "translations": [_described(one) for one in translation.hypotheses]}


def _described(hypothesis: TranslatedHypothesis) -> dict[str, Any]:
    found: dict[str, Any] = {
        "text": hypothesis.text,
        "score": round(hypothesis.score, 4),
        "log_prob": round(hypothesis.log_prob, 4),
    }
    if hypothesis.alignment is not None:
        found["alignment"] = [list(link) for link in hypothesis.alignment]
    return found


def _event(kind: str, values: Mapping[str, Any]) -> str:
    return f"event: {kind}\ndata: {json.dumps(values, ensure_ascii=False)}\n\n"
