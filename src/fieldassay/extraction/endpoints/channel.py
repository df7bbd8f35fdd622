"""A channel: what answers requests of one name; an endpoint, a command or a Python function."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from msgspec import Struct, field

from fieldassay.extraction.endpoints.exchange import Failure, Request
from fieldassay.io.json_value import Json


class Call(Struct, frozen=True):
    """A request on its way: its key, the document it is for, and the attempts of earlier runs."""

    request: Request
    key: str
    document: str
    queued_at: float
    """By the monotonic clock: waiting is counted from here."""
    reserved_usd: float | None = None
    attempts: int = 0
    possibly_billed: int = 0
    answered_before: int = 0
    """Answers that the journal holds and that are asked for again."""


class Log(Protocol):
    """What writes lines of a journal."""

    def write(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Append a line."""
        ...


class Channel(Protocol):
    """A channel for requests. `ask` blocks, in up to `capacity` threads, and first writes an answer."""

    @property
    def capacity(self) -> int:
        """How many requests it may be asked at once."""
        ...

    @property
    def identity(self) -> str:
        """What makes equal requests the same request: the URL, or the command."""
        ...

    @property
    def waits(self) -> Waits:
        """Who waits, and for what."""
        ...

    def ask(self, call: Call, log: Log) -> dict[str, Any]:
        """Return the line of the journal that answers a request. Raises `StopRunError`, `ClosedError`."""
        ...

    def stop(self) -> None:
        """Begin nothing new; what waits raises `ClosedError`."""
        ...

    def close(self) -> None:
        """Break off what is still in flight and free everything."""
        ...


class StopRunError(Exception):
    """A failure that every further request would meet: the run stops."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class ClosedError(Exception):
    """The channel was closed while a request waited."""


class Waiting(Struct, frozen=True):
    """How many requests wait for a reason, and how long the last of them will wait."""

    reason: str
    count: int
    remaining_s: float | None = None


class Waits(Struct):
    """The requests that wait now, by thread."""

    _by_thread: dict[int, tuple[str, float | None]] = field(default_factory=dict)

    @contextmanager
    def noted(self, reason: str, until: float | None = None) -> Iterator[None]:
        """Count the thread as waiting for a reason, until a time of the monotonic clock if it is known."""
        me = threading.get_ident()
        self._by_thread[me] = (reason, until)
        try:
            yield
        finally:
            self._by_thread.pop(me, None)

    def now(self) -> tuple[Waiting, ...]:
        """Return what is waited for, most first."""
        time_now = time.monotonic()
        grouped: dict[str, list[float | None]] = {}
        for reason, until in list(self._by_thread.values()):
            grouped.setdefault(reason, []).append(until)
        found = []
        for reason, ones in grouped.items():
            ends = [until for until in ones if until is not None]
            remaining = max(max(ends) - time_now, 0.0) if ends else None
            found.append(Waiting(reason, len(ones), remaining))
        return tuple(sorted(found, key=lambda one: (-one.count, one.reason)))


def request_key(identity: str, request: Request) -> str:
    """Return the digest that makes two requests the same: address, body with images by digest, repeat.

    >>> one = Request("chat", "local", {"model": "m", "seed": 1})
    >>> other = Request("chat", "elsewhere", {"seed": 1, "model": "m"}, step="reask")
    >>> request_key("http://x", one) == request_key("http://x", other)
    True
    """
    body = json.dumps(request.body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    text = json.dumps([identity, request.repeat]) + body
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def body_bytes(body: Mapping[str, Json]) -> bytes:
    """Return a body as it is sent: its own order of properties, attachments by digest."""
    return json.dumps(body, separators=(",", ":"), ensure_ascii=True).encode("ascii")
