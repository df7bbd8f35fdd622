"""The connections of a server: so many at once, and each sends its request in time or is closed."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 256
REQUEST_SECONDS = 20.0
"""How long the head and the body of a request may take together, from its first byte or the connection."""
_SPARE_FILES = 64
"""Files that the server itself may have open: databases, documents, pipes to its child processes."""


def most_connections() -> int:
    """Return how many connections are open at once, by the files that this process may have open."""
    try:
        import resource
    except ImportError:  # not on Windows
        return MOST_CONNECTIONS
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MOST_CONNECTIONS if files < 0 else max(8, min(MOST_CONNECTIONS, (files - _SPARE_FILES) // 2))


def limited(most: int, seconds: float) -> type[H11Protocol]:
    """Return the protocol of connections of which at most so many are open at once.

    A request that takes longer than `seconds` to arrive is closed. Where another connection comes than may
    be open, the one makes room for it that has been without a whole request for longest.
    """
    waiting: dict[_Limited, None] = {}

    class _Limited(H11Protocol):
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait()
            if len(self.connections) > most:
                oldest = next(iter(waiting))
                del waiting[oldest]  # it is lost in a later turn of the loop: the next one makes other room
                oldest.transport.abort()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
                self._wait()
            else:
                self._end_wait()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if not self.transport.is_closing():
                waiting[self] = None

        def connection_lost(self, exc: Exception | None) -> None:
            self._end_wait()
            super().connection_lost(exc)

        def _wait(self) -> None:
            if self._timer is None:
                self._timer = self.loop.call_later(seconds, self.transport.abort)
                waiting[self] = None

        def _end_wait(self) -> None:
            waiting.pop(self, None)
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    return _Limited
