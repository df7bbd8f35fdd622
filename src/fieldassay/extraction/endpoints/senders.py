"""The threads that send requests, and what they tell the driver."""

from __future__ import annotations

import heapq
import queue
import threading
import time
from typing import Any

from msgspec import Struct

from fieldassay.extraction.endpoints.channel import Call, Channel, StopRunError
from fieldassay.extraction.endpoints.jobs import Job
from fieldassay.extraction.endpoints.journal import Journal


class Event(Struct, frozen=True):
    """What a thread tells the driver: a job that was drawn, an answer, or an error."""

    job: Job[Any] | None = None
    key: str = ""
    line: dict[str, Any] | None = None
    error: BaseException | None = None
    is_end: bool = False


class Senders:
    """The threads that send the requests of one channel, those of earlier documents first."""

    def __init__(self, channel: Channel, journal: Journal, events: queue.SimpleQueue[Event]) -> None:
        self._channel, self._journal, self._events = channel, journal, events
        self._waiting: list[tuple[float, int, Call | None]] = []
        """A heap; `_ready` has an entry for each of its entries."""
        self._ready: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._guard = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._count = 0

    def submit(self, number: int, call: Call) -> None:
        """Send a request as soon as a thread is free."""
        self._count += 1
        self._put(number, self._count, call)
        if len(self._threads) < min(self._channel.capacity, self._count):
            thread = threading.Thread(target=self._work, daemon=True, name="requests")
            self._threads.append(thread)
            thread.start()

    def _put(self, number: float, count: int, call: Call | None) -> None:
        with self._guard:
            heapq.heappush(self._waiting, (number, count, call))
        self._ready.put(None)

    def _take(self) -> Call | None:
        self._ready.get()
        with self._guard:
            return heapq.heappop(self._waiting)[2]

    def _work(self) -> None:
        while (call := self._take()) is not None:
            try:
                self._events.put(Event(key=call.key, line=self._channel.ask(call, self._journal)))
            except BaseException as error:  # told to whoever iterates
                if isinstance(error, StopRunError):  # before the next request of this thread
                    self._channel.stop()
                self._events.put(Event(key=call.key, error=error))

    def close(self, until: float) -> None:
        """Wait until the threads are done, or until a time."""
        for at in range(len(self._threads)):
            self._put(float("inf"), at, None)
        for thread in self._threads:
            thread.join(max(until - time.monotonic(), 0.0))
