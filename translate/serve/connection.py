"""Connections whose client does not send a request in time are closed, as are those that idle too long."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class TimedProtocol(H11Protocol):
    """HTTP/1.1 of uvicorn with a limit of time for the head of a request, which uvicorn does not have.

    Without one, clients that send a byte now and then ("slow loris") hold all connections that a process may have.
    """

    seconds = 30.0  # for the head of a request, from the first byte of the connection or the last answer

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock."""
        self._clock: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        self._set_clock()

    def data_received(self, data: bytes) -> None:
        """Read on; stop the clock once a head is complete."""
        super().data_received(data)
        self._set_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop_clock()
        super().connection_lost(exc)

    def _set_clock(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop_clock()
        elif self._clock is None:
            self._clock = self.loop.call_later(self.seconds, self.transport.close)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None


def with_read_timeout(seconds: float) -> type[TimedProtocol]:
    """Return the protocol with another limit; uvicorn makes its instances itself."""
    return type("TimedProtocol", (TimedProtocol,), {"seconds": seconds})
