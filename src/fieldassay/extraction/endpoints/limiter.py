"""How many requests, and how many bytes, may be in flight: places given in order of arrival."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

Clock = Callable[[], float]


class Room(Protocol):
    """A rule of how much fits."""

    def wait(self, now: float, weight: int, inside: int) -> float:
        """Return the seconds until it may fit: 0 if it does now, infinity if something has to leave first."""
        ...


class Gate:
    """Lets in what fits, in order of arrival, so that nobody starves."""

    def __init__(self, room: Room, clock: Clock = time.monotonic) -> None:
        self._room, self._clock = room, clock
        self._guard = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._inside = 0
        self._is_closed = False

    def enters_now(self, weight: int) -> bool:
        """Take a place if nobody waits and it fits; return whether it was taken."""
        with self._guard:
            is_free = not self._waiting and not self._is_closed
            if not is_free or self._room.wait(self._clock(), weight, self._inside) > 0:
                return False
            self._inside += weight
            return True

    def enter(self, weight: int, until: float) -> bool:
        """Wait for a place; return whether there is one, False at `until` and when the gate closes."""
        if self.enters_now(weight):
            return True
        me = threading.Event()
        with self._guard:
            self._waiting.append(me)
        while True:
            me.clear()
            with self._guard:
                now = self._clock()
                wait = float("inf")
                if self._waiting[0] is me:
                    wait = self._room.wait(now, weight, self._inside)
                if self._is_closed or now >= until or wait <= 0:
                    has_place = not self._is_closed and wait <= 0
                    self._waiting.remove(me)
                    self._inside += weight if has_place else 0
                    self._wake()
                    return has_place
            me.wait(min(wait, until - now, threading.TIMEOUT_MAX))

    @property
    def inside(self) -> int:
        """What is inside now."""
        return self._inside

    def leave(self, weight: int) -> None:
        """Give a place back."""
        with self._guard:
            self._inside -= weight
            self._wake()

    def resize(self, weight: int, actual: int) -> None:
        """Correct what something inside weighs, even beyond what fits."""
        with self._guard:
            self._inside += actual - weight

    def close(self) -> None:
        """Let nobody in any more."""
        with self._guard:
            self._is_closed = True
            for one in self._waiting:
                one.set()

    def _wake(self) -> None:
        if self._waiting:
            self._waiting[0].set()


class ByteRoom:
    """A limit of bytes; what is larger than the limit goes alone."""

    def __init__(self, most: int) -> None:
        self.most = most

    def wait(self, now: float, weight: int, inside: int) -> float:  # noqa: ARG002
        """Return 0 if the bytes fit."""
        return 0.0 if inside == 0 or inside + weight <= self.most else float("inf")


class Window:
    """The number of requests in flight that a server bears: grown while it answers, cut when it refuses.

    It starts at `start` and doubles per round of answers without a refusal. An episode of refusals cuts it to
    0.8; from then on it grows fast to 0.9 of where it was refused, slowly beyond, and fast again where that
    was clearly too low. It grows only while at least 80 % of it are in use, for answers to requests sent
    since the cut.
    """

    def __init__(self, most: int, start: int = 20) -> None:
        self.most = most
        self.limit = float(min(start, most))
        self.blocked_until = 0.0
        self._refused_at = float("inf")
        """The window at which the server refused last."""
        self._cut_at = float("-inf")
        self._clean = 0

    def wait(self, now: float, weight: int, inside: int) -> float:
        """Return 0 if one more request fits, the seconds of the server's pause, or infinity."""
        if now < self.blocked_until:
            return self.blocked_until - now
        return 0.0 if inside + weight <= max(int(self.limit), 1) else float("inf")

    def succeeded(self, sent_at: float, inside: int) -> None:
        """Count an answer; `inside` is the number in flight on arrival. A round of them grows the window."""
        if sent_at < self._cut_at or inside < 0.8 * int(self.limit):
            return
        self._clean += 1
        if self._clean >= int(self.limit):
            self._clean = 0
            self.limit = min(self._grown(), self.most)

    def _grown(self) -> float:
        if self._refused_at == float("inf"):
            return self.limit * 2
        if self.limit < 0.9 * self._refused_at:
            return min(self.limit * 1.25 + 0.5, 0.95 * self._refused_at + 0.5)
        if self.limit > 1.1 * self._refused_at + 1:  # the limit has moved
            return self.limit * 1.5
        return self.limit + max(0.34, 0.02 * self.limit)

    def refused(self, now: float, sent_at: float, retry_after_s: float | None) -> None:
        """Cut once for all the refusals of requests that were in flight together."""
        self._clean = 0
        if sent_at <= self._cut_at:
            return
        if retry_after_s is not None:
            self.blocked_until = max(self.blocked_until, now + retry_after_s)
        self._cut_at = now
        self._refused_at = self.limit
        self.limit = max(self.limit * 0.8, 1.0)
