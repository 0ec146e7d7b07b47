"""Sends a server requests that are broken in many ways; each must be answered without a status of 500 or above.

Usage: python malformed.py URL COUNT SEED
"""

import asyncio
import json
import random
import string
import sys
from collections import Counter
from urllib.parse import quote, urlsplit

_PATIENCE = 0.5  # seconds until the client ends its half of the connection
_SECONDS = 20  # for an answer after that
_PATHS = (
    "/translate",
    "/detect",
    "/v1/translate",
    "/v1/attention",
    "/translate_file",
    "/suggest",
    "/languages",
    "/docs",
)
_FIELDS = (
    "q",
    "text",
    "translation",
    "source",
    "target",
    "format",
    "alternatives",
    "api_key",
    "terms",
    "protect",
    "file",
)
_TEXTS = (
    "Hello.",
    "",
    " \n\n ",
    "é\u0000\u202e",
    "\ud800",
    "<b>no</i> &amp",
    "a" * 3000,
    "]]>",
    "🙂" * 40,
    "\r\n",
    "<!--",
)
_KINDS = (
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain",
    "é",
    "",
)


def any_value(rng: random.Random, depth: int = 0) -> object:
    kind = rng.randrange(10 if depth < 3 else 7)
    if kind < 3:
        return rng.choice((*_TEXTS, "en", "fr", "auto", "html", "text"))
    simple = (
        rng.choice([None, True, False]),
        rng.choice([0, -1, 2**70, 3.5, 1e400]),
        "".join(rng.sample(string.printable, 9)),
    )
    if kind < 7:
        return simple[kind % 3]
    if kind < 9:
        return [any_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(_FIELDS): any_value(rng, depth + 1) for _ in range(rng.randrange(4))}


def any_fields(rng: random.Random) -> dict[str, object]:
    fields: dict[str, object] = {"q": "Thank you.", "text": "Thank you.", "source": "en", "target": "fr"}
    for name in rng.sample(_FIELDS, rng.randrange(4)):
        fields[name] = any_value(rng)
    return fields


def json_body(rng: random.Random) -> bytes:
    return json.dumps(any_fields(rng)).encode() if rng.random() < 0.8 else b"[" * rng.randrange(2000)


def form_body(rng: random.Random) -> bytes:
    pairs = (f"{name}={quote(str(value), errors='replace')}" for name, value in any_fields(rng).items())
    return "&".join(pairs).encode() + rng.choice([b"", b"&&&=", b"%zz%", b"&q=%ff"])


def multipart_body(rng: random.Random) -> bytes:
    parts = []
    for name, value in any_fields(rng).items():
        file = f'; filename="{rng.choice(["a.txt", "a.html", "a.srt", "../a", ""])}"' if name == "file" else ""
        head = f'--x\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'
        parts.append(f"{head}{value}\r\n".encode(errors="replace"))
    return b"".join(parts) + rng.choice([b"--x--\r\n", b"--x", b""])


def any_request(rng: random.Random) -> bytes:
    """Return a request that is more or less broken."""
    if rng.random() < 0.05:
        return rng.randbytes(rng.randrange(1, 300))
    body = rng.choice([json_body, form_body, multipart_body])(rng)
    kind, path = rng.choice(_KINDS), rng.choice(_PATHS)
    if rng.random() < 0.2:
        path += "?" + form_body(rng).decode(errors="replace").replace(" ", "+")
    length = len(body) + rng.choice([0] * 8 + [-5, 7])
    sizes = f"Content-Length: {length}" if rng.random() < 0.9 else "Transfer-Encoding: chunked"
    method = rng.choice(["POST"] * 8 + ["GET", "PUT", "OPTIONS", "nonsense"])
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: {kind}\r\n{sizes}\r\n\r\n"
    request = bytearray(head.encode(errors="replace") + body)
    if rng.random() < 0.2:
        for _ in range(rng.randrange(1, 6)):
            request[rng.randrange(len(request))] = rng.randrange(256)
    return bytes(request)


async def status_of(host: str, port: int, request: bytes) -> str:
    """Send a request, whose end the server may wait for in vain; return the status, or that there was no answer."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(request)
        try:
            answer = await asyncio.wait_for(reader.read(), _PATIENCE)
        except TimeoutError:
            writer.write_eof()
            answer = await asyncio.wait_for(reader.read(), _SECONDS)
    except ConnectionError:
        return "closed"
    finally:
        writer.close()
    return answer.split(maxsplit=2)[1].decode() if answer.startswith(b"HTTP/1.1 ") else "closed"


async def send_all(url: str, count: int, seed: int) -> Counter[str]:
    """Send requests, some at a time; return how many had each status.

    Raises:
        AssertionError: If an answer is a failure of the server, or does not come; the message has the request.
    """
    host, port = urlsplit(url).hostname or "", urlsplit(url).port or 80
    found, numbers = Counter[str](), iter(range(count))

    async def client() -> None:
        for number in numbers:
            request = any_request(random.Random(seed * 1_000_003 + number))
            try:
                status = await status_of(host, port, request)
            except TimeoutError:
                status = "no answer"
            assert status < "5" or status == "closed", f"{status} for {request!r}"
            found[status] += 1

    await asyncio.gather(*(client() for _ in range(16)))
    return found


if __name__ == "__main__":
    print(json.dumps(asyncio.run(send_all(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))))
