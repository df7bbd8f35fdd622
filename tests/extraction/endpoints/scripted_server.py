"""A server of chat completions that follows a script, and counts what it would have billed.

`python -m tests.extraction.endpoints.scripted_server --delay 2` serves alone and prints its URL.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal

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

    def __enter__(self) -> ScriptedServer:
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
