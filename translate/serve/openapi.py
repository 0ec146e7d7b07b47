"""The description of the interface as OpenAPI 3, which `/spec` gives."""

from __future__ import annotations

from typing import Any

from translate import __version__
from translate.config.decode import FORMALITIES

_TEXT = {"type": "string"}
_Q = {"description": "Text, or a list of them.", "oneOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}]}
_KEY = {"type": ["string", "null"], "description": "API key, where the server asks for one; also as `apiKey`."}
_GUESS = {
    "type": "object",
    "required": ["confidence", "language"],
    "properties": {"confidence": {"type": "number", "minimum": 0, "maximum": 100}, "language": _TEXT},
}
_SOURCE = {**_TEXT, "description": "Language code, or `auto`.", "examples": ["en"]}
_TARGET = {**_TEXT, "description": "Language code.", "examples": ["fr"]}
_ALTERNATIVES = {"type": "integer", "minimum": 0, "default": 0, "description": "More translations."}
_FORMALITY = {
    **_TEXT,
    "enum": list(FORMALITIES),
    "description": "Whether French says vous (formal) or tu (informal); `consistent`: one of them throughout a text. "
    "Default: that of the model.",
}
_TRANSLATE = {
    "type": "object",
    "required": ["q", "source", "target"],
    "properties": {
        "q": _Q,
        "source": _SOURCE,
        "target": _TARGET,
        "format": {**_TEXT, "enum": ["text", "html"], "default": "text"},
        "alternatives": _ALTERNATIVES,
        "formality": _FORMALITY,
        "api_key": _KEY,
    },
    "examples": [{"q": "Thank you very much.", "source": "auto", "target": "fr", "alternatives": 2}],
}
_TRANSLATED = {
    "type": "object",
    "required": ["translatedText"],
    "properties": {
        "translatedText": _Q,
        "detectedLanguage": {
            "description": "With source `auto`; a list for a list of texts.",
            "oneOf": [_GUESS, {"type": "array", "items": _GUESS}],
        },
        "alternatives": {
            "description": "If asked for; a list of lists for a list of texts.",
            "type": "array",
            "items": {"oneOf": [_TEXT, {"type": "array", "items": _TEXT}]},
        },
    },
}
_SUGGEST = {
    "type": "object",
    "required": ["q", "s", "source", "target"],
    "properties": {**dict.fromkeys(("q", "s", "source", "target"), _TEXT), "api_key": _KEY},
    "examples": [{"q": "Thank you.", "s": "Merci bien.", "source": "en", "target": "fr"}],
}
_SUCCESS = {"type": "object", "properties": {"success": {"const": True}}}
_DETECT = {
    "type": "object",
    "required": ["q"],
    "properties": {"q": _Q, "api_key": _KEY},
    "examples": [{"q": "Merci beaucoup."}],
}
_DETECTED = {"type": "array", "items": {"oneOf": [_GUESS, {"type": "array", "items": _GUESS}]}}
_LANGUAGE = {
    "type": "object",
    "required": ["code", "name", "targets"],
    "properties": {"code": _TEXT, "name": _TEXT, "targets": {"type": "array", "items": _TEXT}},
}
_ERRORS = {
    400: "A field is missing or wrong.",
    403: "The API key is wrong.",
    408: "The body did not come in time.",
    413: "The body is too long.",
    415: "The body is neither JSON nor a form.",
    429: "Too many requests; Retry-After says when to ask again.",
    503: "Too many sentences wait; Retry-After says when to ask again.",
    504: "The translation took too long.",
}


def _content(schema: object, *kinds: str) -> dict[str, Any]:
    return {"content": {kind: {"schema": schema} for kind in kinds or ("application/json",)}}


def _errors() -> dict[str, Any]:
    error = {"type": "object", "required": ["error"], "properties": {"error": _TEXT}}
    return {str(status): {"description": text, **_content(error)} for status, text in _ERRORS.items()}


_BODIES = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")


def _asks(summary: str, body: object, answer: object, kinds: tuple[str, ...] = _BODIES) -> dict[str, Any]:
    return {
        "summary": summary,
        "requestBody": {"required": True, **_content(body, *kinds)},
        "responses": {"200": {"description": "Done.", **_content(answer)}, **_errors()},
    }


def _gives(summary: str, answer: object) -> dict[str, Any]:
    return {"summary": summary, "responses": {"200": {"description": "Done.", **_content(answer)}}}


_FILE = {
    "type": "object",
    "required": ["file", "source", "target"],
    "properties": {
        "file": {"type": "string", "contentMediaType": "application/octet-stream"},
        **dict.fromkeys(("source", "target", "api_key"), _TEXT),
        "formality": _FORMALITY,
    },
    "examples": [{"file": "@letter.txt", "source": "en", "target": "fr"}],
}
_ADDRESS = {"type": "object", "properties": {"translatedFileUrl": {"type": "string", "format": "uri"}}}
_V1 = {
    "type": "object",
    "required": ["text", "source", "target"],
    "properties": {
        "text": _TEXT,
        "source": _SOURCE,
        "target": _TARGET,
        "alternatives": _ALTERNATIVES,
        "formality": _FORMALITY,
        "alignments": {
            "type": "boolean",
            "description": "Link words, which are what spaces separate; not with `protect` or `terms`.",
        },
        "protect": {"type": "boolean", "description": "Keep tags, addresses, placeholders and quantities."},
        "terms": {
            "type": "object",
            "additionalProperties": _TEXT,
            "description": "What is to be translated how; JSON alone.",
        },
        "api_key": _KEY,
    },
    "examples": [{"text": "Hello {name}. My cat sleeps.", "source": "en", "target": "fr", "protect": True}],
}
_TRANSLATION = {
    "type": "object",
    "required": ["text", "score", "log_prob"],
    "properties": {
        "text": _TEXT,
        "score": {"type": "number"},
        "log_prob": {"type": "number", "description": "Natural logarithm."},
        "alignment": {
            "type": "array",
            "items": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
            "description": "Source word and target word, from 0.",
        },
    },
}
_SEGMENTS = {
    "type": "object",
    "required": ["source", "target", "segments"],
    "properties": {
        "source": _TEXT,
        "target": _TEXT,
        "confidence": {"type": "number"},
        "segments": {
            "type": "array",
            "description": "Sentences and what is between them; their texts together are the text.",
            "items": {
                "type": "object",
                "required": ["text", "translations"],
                "properties": {"text": _TEXT, "translations": {"type": "array", "items": _TRANSLATION}},
            },
        },
    },
}
_PAIR = {
    "type": "object",
    "required": ["text", "translation", "source", "target"],
    "properties": {**dict.fromkeys(("text", "translation", "source", "target"), _TEXT), "api_key": _KEY},
    "examples": [{"text": "Thank you.", "translation": "Merci.", "source": "en", "target": "fr"}],
}
_ATTENTION = {
    "type": "object",
    "properties": {
        "source_pieces": {"type": "array", "items": _TEXT},
        "target_pieces": {"type": "array", "items": _TEXT},
        "weights": {"type": "array", "description": "[layers][heads][target pieces][source pieces]", "items": {}},
    },
}


SPECIFICATION: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {
        "title": "translate",
        "version": __version__,
        "description": "Machine translation, for clients of LibreTranslate. Fields may also stand in the address.",
    },
    "paths": {
        "/translate": {"post": _asks("Translate a text or several", _TRANSLATE, _TRANSLATED)},
        "/translate_file": {"post": _asks("Translate a file (txt, html or srt)", _FILE, _ADDRESS, _BODIES[2:])},
        "/download_file/{name}": {
            "get": {
                "summary": "Fetch a translated file",
                "parameters": [{"name": "name", "in": "path", "required": True, "schema": _TEXT}],
                "responses": {"200": {"description": "The file."}, "400": _errors()["400"]},
            }
        },
        "/suggest": {"post": _asks("Propose a better translation, where the server keeps them", _SUGGEST, _SUCCESS)},
        "/detect": {"post": _asks("Tell the languages that a text may be in", _DETECT, _DETECTED)},
        "/v1/translate": {
            "post": _asks("Translate sentence by sentence; as server-sent events if they are accepted", _V1, _SEGMENTS)
        },
        "/v1/attention": {"post": _asks("Give the weights of cross-attention", _PAIR, _ATTENTION)},
        "/languages": {"get": _gives("List the languages", {"type": "array", "items": _LANGUAGE})},
        "/frontend/settings": {"get": _gives("Tell what the server allows", {"type": "object"})},
        "/health": {
            "get": _gives("Say that the server answers", {"type": "object", "properties": {"status": {"const": "ok"}}})
        },
        "/spec": {"get": _gives("Give this description as OpenAPI 3", {"type": "object"})},
    },
}
