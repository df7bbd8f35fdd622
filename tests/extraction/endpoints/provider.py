"""A simulated provider with a limit that it does not tell, and clients that look for it: no thread, no clock."""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass, field

from fieldassay.extraction.endpoints.client import Window


@dataclass
class Provider:
    """At most `places` requests at once, at most `per_second` on average; 0 is no limit."""

    places: int = 0
    per_second: float = 0.0
    tells: bool = True
    """Whether a refusal says how long to wait."""
    seconds: float = 2.0
    away: tuple[float, float] = (0.0, 0.0)
    """The time during which everything is refused."""
    inside: int = 0
    tokens: float = 0.0
    at: float = 0.0

    def accepts(self, now: float) -> bool:
        burst = max(self.per_second * 5, 1.0)
        self.tokens = min(self.tokens + (now - self.at) * self.per_second, burst)
        self.at = now
        if self.away[0] <= now < self.away[1]:
            return False
        if self.places and self.inside >= self.places:
            return False
        if self.per_second and self.tokens < 1:
            return False
        self.tokens -= 1
        self.inside += 1
        return True

    @property
    def retry_after(self) -> float | None:
        if not self.tells:
            return None
        return max(1.0, (1 - self.tokens) / self.per_second) if self.per_second else 1.0

    def best(self) -> float:
        """Return the most answers per second."""
        limits = [self.places / self.seconds] if self.places else []
        return min([*limits, *([self.per_second] if self.per_second else [])])


@dataclass
class Seen:
    """What a simulation saw."""

    answers_per_second: float
    refused: int
    answered: int
    longest_wait: float
    windows: list[float] = field(default_factory=list)


def simulate(
    provider: Provider, window: Window, seconds: float = 1200.0, warm: float = 200.0, seed: int = 0
) -> Seen:
    """Return what came of an endless queue of requests, not counting the time until the limit is found."""
    chance = random.Random(seed)
    events: list[tuple[float, int, str, tuple[float, float, int]]] = []
    waiting: list[tuple[float, int]] = []
    seen, number, inside, next_new, now = Seen(0.0, 0, 0, 0.0), 0, 0, 0, 0.0

    def schedule(at: float, kind: str, what: tuple[float, float, int]) -> None:
        nonlocal number
        number += 1
        heapq.heappush(events, (at, number, kind, what))

    schedule(0.0, "look", (0, 0, 0))
    while now < seconds:
        now, _, kind, (sent, born, fails) = heapq.heappop(events)
        if kind == "answer":
            provider.inside -= 1
            window.succeeded(sent, inside)
            inside -= 1
            if now > warm:
                seen.answered += 1
                seen.longest_wait = max(seen.longest_wait, now - born)
        elif kind == "refusal":
            retry = provider.retry_after
            window.refused(now, sent, retry)
            inside -= 1
            seen.refused += now > warm
            pause = retry if retry is not None else min(0.5 * 2**fails, 30.0) * chance.uniform(0.5, 1.0)
            schedule(now + pause, "again", (0, born, fails + 1))
        elif kind == "again":
            heapq.heappush(waiting, (born, fails))
        while True:
            wait = window.wait(now, 1, inside)
            if wait > 0:
                if wait != float("inf"):
                    schedule(now + wait, "look", (0, 0, 0))
                break
            if waiting:
                born, fails = heapq.heappop(waiting)
            else:
                fails, born, next_new = 0, now, next_new + 1
            inside += 1
            if provider.accepts(now):
                schedule(
                    now + provider.seconds * chance.lognormvariate(-0.02, 0.2), "answer", (now, born, fails)
                )
            else:
                schedule(now + 0.05, "refusal", (now, born, fails))
        seen.windows.append(window.limit)
    seen.answers_per_second = seen.answered / (seconds - warm)
    return seen
