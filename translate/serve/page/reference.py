"""The interface as a page to read: the OpenAPI description as HTML, with an example of each request."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape
from typing import Any

_JSON = "application/json"
_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>{title}: API</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="page/page.css">
</head>
<body class="reference">
<header><h1>{title} {version}: API</h1><a href="spec">OpenAPI</a></header>
<main>
<p>{description}</p>
"""


def reference_page(specification: Mapping[str, Any], address: str) -> str:
    """Return the page.

    Args:
        specification: OpenAPI 3 description.
        address: Where the server answers, for the examples; ends with a slash.
    """
    head = _HEAD.format(**{name: escape(specification["info"][name]) for name in ("title", "version", "description")})
    sections = [
        "".join(_section(method.upper(), path, operation, address))
        for path, methods in specification["paths"].items()
        for method, operation in methods.items()
    ]
    return f"{head}{''.join(sections)}</main>\n</body>\n</html>\n"


def _section(method: str, path: str, operation: Mapping[str, Any], address: str) -> Iterator[str]:
    yield f"<section>\n<h2><code>{method} {escape(path)}</code></h2>\n<p>{escape(operation['summary'])}.</p>\n"
    kinds = operation.get("requestBody", {}).get("content", {})
    for kind, content in [*kinds.items()][:1]:
        yield _example(path, kind, content["schema"], address)
        yield _fields("Request", content["schema"], content["schema"].get("required", ()))
    answers = operation["responses"]
    for content in answers["200"].get("content", {}).values():
        schema = content["schema"]
        yield _fields("Answer" if "properties" in schema else "Answer, a list", schema.get("items", schema))
    rows = [
        (f"<code>{status}</code>", escape(one["description"])) for status, one in answers.items() if status != "200"
    ]
    if rows:
        yield f"<details>\n<summary>Errors</summary>\n{_table(rows)}</details>\n"
    yield "</section>\n"


def _example(path: str, kind: str, schema: Mapping[str, Any], address: str) -> str:
    example = schema["examples"][0]
    if kind == _JSON:
        options = f"-H 'Content-Type: {_JSON}' -d '{json.dumps(example, ensure_ascii=False)}'"
    else:
        options = " ".join(f"-F {name}={value}" for name, value in example.items())
    command = f"curl {address}{path.lstrip('/')} {options}"
    return f"<pre>{escape(command)}</pre>\n"


def _fields(title: str, schema: Mapping[str, Any], required: Collection[str] = ()) -> str:
    rows = [
        (f"<code>{name}</code>", escape(_kind(one)), escape(_explained(one, name in required)))
        for name, one in schema.get("properties", {}).items()
    ]
    return f"<h3>{title}</h3>\n{_table(rows)}" if rows else ""


def _kind(schema: Mapping[str, Any]) -> str:
    if "oneOf" in schema:
        return " or ".join(dict.fromkeys(map(_kind, schema["oneOf"])))
    if "enum" in schema:
        return " or ".join(schema["enum"])
    kind = schema.get("type", "")
    return kind if isinstance(kind, str) else " or ".join(kind)


def _explained(schema: Mapping[str, Any], required: bool) -> str:
    said = [schema.get("description", "")]
    if "default" in schema:
        said.append(f"Default: {schema['default']}.")
    elif required:
        said.append("Required.")
    return " ".join(filter(None, said))


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    lines = ("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f"<table>\n{''.join(lines)}</table>\n"
