"""A server that answers as its script says; what is asked of it; and one that answers like a provider."""

import argparse
import asyncio
import hashlib
import heapq
import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from fieldassay.extraction.endpoints.client import ChatChannel, Window
from fieldassay.extraction.endpoints.driver import Drive, DriveOptions
from fieldassay.extraction.endpoints.endpoint import Endpoint, SecretKey
from fieldassay.extraction.endpoints.exchange import (
    Channel,
    Finished,
    Job,
    Journal,
    ModelAnswer,
    Request,
    RunSummary,
)

# Small runs: documents that ask a scripted server one question each.

CANARY = "sk-canary-31415926535-Tau+2/x"


def ask(text: str, **fields: Any) -> Request:
    """Return a chat request."""
    return Request(
        "chat", "scripted", {"model": "m", "messages": [{"role": "user", "content": text}]}, **fields
    )


def one_question(text: str) -> Generator[tuple[Request, ...], tuple[ModelAnswer, ...], ModelAnswer]:
    """Ask one question; the answer is the value."""
    (answer,) = yield (ask(text),)
    return answer


def questions(count: int) -> list[Job[ModelAnswer]]:
    """Return documents that ask one different question each."""
    return [Job(f"doc-{at}", lambda at=at: one_question(f"question {at}")) for at in range(count)]


def channels(url: str, key: str = CANARY, **options: Any) -> dict[str, Channel]:
    """Return a channel to a scripted server."""
    return {"scripted": ChatChannel(Endpoint("scripted", url, **options), SecretKey(key))}


def drive(
    jobs: Iterable[Job[Any]], folder: Path, to: Mapping[str, Channel], options: DriveOptions | None = None
) -> tuple[dict[str, Finished[Any]], RunSummary]:
    """Return what a run finished, by document, and its summary."""
    with Journal(folder) as journal, Drive(jobs, journal, to, options) as run:
        found = {one.id: one for one in run}
    return found, run.summary


# A simulated provider with a limit that it does not tell, and clients that look for it: no thread, no
# clock.


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


# A server of chat completions that follows a script, and counts what it would have billed. `python -m
# tests.extraction.endpoints.scripted_server --delay 2` serves alone and prints its URL.

End = Literal["whole", "reset_before", "reset_after", "half_body", "hang"]


@dataclass(frozen=True)
class Reply:
    """What the server does with a request."""

    status: int = 200
    body: Any = None
    """JSON, or text that is sent as it is; None is a completion that repeats the end of the prompt."""
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drip_s: float = 0.0
    """The pause between single bytes of the body."""
    end: End = "whole"
    before: bytes = b""
    """What is sent ahead of the head of the answer."""


@dataclass
class Hit:
    """A request as the server saw it."""

    number: int
    """How many requests with this body came before."""
    body: dict[str, Any]
    headers: dict[str, str]
    in_flight: int = 0


Script = Callable[[Hit], Reply]


def completion(
    text: str, prompt_tokens: int = 100, completion_tokens: int = 20, **choice: Any
) -> dict[str, Any]:
    """Return the body of a chat completion."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "served-model",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message, **choice}],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def echo(hit: Hit) -> Reply:
    """Answer with the last message, as JSON."""
    return Reply(body=completion(json.dumps({"echo": hit.body["messages"][-1]["content"]})))


def error(message: str, **fields: Any) -> dict[str, Any]:
    """Return the body of an error."""
    return {"error": {"message": message, **fields}}


def gpt_5(hit: Hit, answer: Script = echo) -> Reply:
    """Answer as a model of OpenAI that thinks: another name of the limit, no temperature but its own."""
    if "max_tokens" in hit.body:
        said = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
        return Reply(400, error(said, param="max_tokens", code="unsupported_parameter"), delay_s=0.1)
    if hit.body.get("temperature", 1) != 1:
        said = "Unsupported value: 'temperature' does not support 0 with this model."
        return Reply(400, error(said, param="temperature", code="unsupported_value"), delay_s=0.1)
    return answer(hit)


class ScriptedServer:
    """The server on a thread of its own; a context manager."""

    def __init__(self, script: Script = echo) -> None:
        self.script = script
        self.hits: list[Hit] = []
        self.billed: Counter[str] = Counter()
        """Completions made, by digest of the body: also those that never reached the client."""
        self.seen: Counter[str] = Counter()
        self.most_in_flight = 0
        self._in_flight = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ready = threading.Event()
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> "ScriptedServer":
        self._thread.start()
        assert self._ready.wait(600)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(600)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1024, limit=2**26)
        )
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serve one request; return whether the connection goes on."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        digest = hashlib.sha256(raw).hexdigest()
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            hit = Hit(self.seen[digest], json.loads(raw), headers, self._in_flight)
            self.seen[digest] += 1
            self.hits.append(hit)
            reply = self.script(hit)
            if reply.end == "reset_before":
                writer.transport.abort()
                return False
            await asyncio.sleep(reply.delay_s)
            if reply.status == 200:
                self.billed[digest] += 1
            return await self._answer(reply, hit, writer)
        finally:
            self._in_flight -= 1

    async def _answer(self, reply: Reply, hit: Hit, writer: asyncio.StreamWriter) -> bool:
        body = echo(hit).body if reply.body is None else reply.body
        plain = body if isinstance(body, str | bytes) else json.dumps(body)
        raw = plain.encode() if isinstance(plain, str) else plain
        if reply.end == "reset_after":
            writer.transport.abort()
            return False
        if reply.end == "hang":
            await asyncio.sleep(3600)
        headers = {"content-type": "application/json", "content-length": str(len(raw)), **reply.headers}
        lines = [
            f"HTTP/1.1 {reply.status} Scripted",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        writer.write(reply.before + "\r\n".join([*lines, "", ""]).encode())
        if reply.end == "half_body":
            writer.write(raw[: len(raw) // 2])
            await writer.drain()
            writer.transport.abort()
            return False
        if reply.drip_s:
            for at in range(len(raw)):
                writer.write(raw[at : at + 1])
                await writer.drain()
                await asyncio.sleep(reply.drip_s)
        else:
            writer.write(raw)
        await writer.drain()
        return True


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0.0)
    delay = parser.parse_args().delay
    server = ScriptedServer(lambda hit: Reply(body=echo(hit).body, delay_s=delay))
    with server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
