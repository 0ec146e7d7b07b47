"""Connections: a request whose head is too long or does not come in time is refused, and every refusal is JSON."""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_MOST_HEAD = 65536  # bytes


class GuardedProtocol(HttpToolsProtocol):
    """HTTP/1.1 of uvicorn with limits for the head of a request, which uvicorn does not have.

    Without them clients that send a byte now and then ("slow loris") hold all connections that a process may have, and
    one that never ends its head all memory.
    """

    read_timeout = 30.0  # seconds for a head, from the opening of the connection or its first byte

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock."""
        self._in_head, self._head_bytes = True, 0
        self._clock: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        self._start_clock()

    def data_received(self, data: bytes) -> None:
        """Read on; refuse what is longer than any head."""
        was_in_head = self._in_head
        if was_in_head:
            self._start_clock()
        super().data_received(data)
        if was_in_head and self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > _MOST_HEAD:
                self._refuse(431, f"The head of the request exceeds {_MOST_HEAD} bytes")

    def on_headers_complete(self) -> None:
        """Stop the clock; what follows is the body."""
        self._in_head, self._head_bytes = False, 0
        self._stop_clock()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """End a request; what follows is the head of the next."""
        self._in_head = True
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop_clock()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP."""
        self._refuse(400, msg)

    def _refuse(self, status: int, message: str) -> None:
        if self.transport.is_closing():
            return
        body = json.dumps({"error": message})
        head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: application/json\r\n"
        self.transport.write(f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n{body}".encode())
        self.transport.close()

    def _start_clock(self) -> None:
        if self._clock is None:
            self._clock = self.loop.call_later(self.read_timeout, self.transport.close)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None


def with_read_timeout(seconds: float) -> type[GuardedProtocol]:
    """Return the protocol with another limit; uvicorn makes its instances itself."""
    return type("GuardedProtocol", (GuardedProtocol,), {"read_timeout": seconds})
