"""A connection to a translation server, as light as can be, since client and server share the machine."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import urlsplit


class Connection:
    """Sends a server one sentence after the other; opened with the first, and again if the server closes it.

    Args:
        url: Address of the server.
        source: Language of the sentences.
        target: Language to translate them into.
    """

    def __init__(self, url: str, source: str, target: str) -> None:
        self.host, self.port = urlsplit(url).hostname, urlsplit(url).port
        self.source, self.target = source, target
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def translate(self, text: str) -> int:
        """Have a sentence translated; return the status of the answer.

        Raises:
            OSError, EOFError: If the server cannot be reached or breaks off.
        """
        body = json.dumps({"q": text, "source": self.source, "target": self.target}).encode()
        head = f"POST /translate HTTP/1.1\r\nHost: {self.host}\r\nContent-Type: application/json\r\n"
        request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
        if self._streams:
            try:
                return await self._ask(*self._streams, request)
            except (OSError, EOFError):  # it had idled too long
                self.close()
        self._streams = await asyncio.open_connection(self.host, self.port)
        return await self._ask(*self._streams, request)

    async def _ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> int:
        writer.write(request)
        answer = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(answer.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]))
        return int(answer.split(maxsplit=2)[1])

    def close(self) -> None:
        """Close the connection."""
        if self._streams:
            self._streams[1].close()
            self._streams = None
