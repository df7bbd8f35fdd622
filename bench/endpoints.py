"""Measures the cost of driving requests, beside bare httpx2, against a server of known latency on this machine.

`python bench/endpoints.py [--quick] [--publish]` prints a table; `--publish` renews it in docs/benchmarks.md. Every
measurement is a process of its own, as is the server; both sides of a ratio run one after the other.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import resource
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from published import publish

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- endpoints: written by bench/endpoints.py -->", "<!-- end of endpoints -->"
ANSWER_BYTES = 6000


def completion() -> bytes:
    """Return the body of a chat completion of about 6 kB."""
    message = {"role": "assistant", "content": json.dumps({"text": "x" * (ANSWER_BYTES - 300)})}
    usage = {"prompt_tokens": 900, "completion_tokens": 300, "total_tokens": 1200}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return json.dumps({"model": "m", "choices": [choice], "usage": usage}).encode()


def serve(delay: float) -> None:
    """Answer every request after a delay, until killed; print the URL."""
    body = completion()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                asked = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(asked.split(b"content-length:")[1].split(b"\r\n")[0]))
                await asyncio.sleep(delay)
                writer.write(head.encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(one, "127.0.0.1", 0, backlog=1024)
        print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
        await server.serve_forever()

    asyncio.run(run())


def request_body(number: int) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": f"{number}: " + "text of a page " * 60}]}


def drive_raw(url: str, documents: int, in_flight: int) -> list[float]:
    """Return the milliseconds of each request of bare httpx2, in threads."""
    import httpx2

    numbers, found = itertools.count(), []
    tls = ssl.SSLContext(
        ssl.PROTOCOL_TLS_CLIENT
    )  # one for all, or reading certificates would be all the time

    def work() -> None:
        client = httpx2.Client(timeout=60, trust_env=False, verify=tls)
        while (number := next(numbers)) < documents:
            begun = time.monotonic()
            client.post(f"{url}/chat/completions", json=request_body(number)).json()
            found.append((time.monotonic() - begun) * 1000)

    threads = [threading.Thread(target=work) for _ in range(in_flight)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def drive_ours(url: str, documents: int, in_flight: int, folder: Path) -> list[float]:
    """Return the milliseconds of each document, driven with a journal."""
    from fieldassay.extraction.endpoints.client import ChatChannel
    from fieldassay.extraction.endpoints.driver import Drive
    from fieldassay.extraction.endpoints.endpoint import Endpoint, SecretKey
    from fieldassay.extraction.endpoints.exchange import Job, Journal, Request

    def steps(number: int) -> Any:
        return (yield (Request("chat", "bench", request_body(number)),))[0].finish_reason

    def jobs() -> Iterator[Job[Any]]:
        for number in range(documents):
            yield Job(f"doc-{number}", lambda number=number: steps(number))

    channel = ChatChannel(Endpoint("bench", url, max_in_flight=in_flight), SecretKey(""))
    channel._window.limit = float(in_flight)  # measured is the driver, not the search for the limit
    with Journal(folder) as journal, Drive(jobs(), journal, {"bench": channel}) as run:
        return [one.timing.model_ms for one in run]


def write_journal(folder: Path, answers: int) -> None:
    """Write a journal of so many answers of 6 kB."""
    from fieldassay.extraction.endpoints.exchange import Journal

    body = json.loads(completion())
    with Journal(folder) as journal:
        for number in range(answers):
            key = f"{number:064x}"
            journal.write("send", {"key": key, "document": f"doc-{number}", "body": request_body(number)})
            journal.write("answer", {"key": key, "document": f"doc-{number}", "status": 200, "body": body})


def read_journal(folder: Path, answers: int) -> list[float]:
    """Return the milliseconds of reading each answer again, after the index was made."""
    from fieldassay.extraction.endpoints.exchange import Journal

    found = []
    with Journal(folder) as journal:
        for number in range(answers):
            begun = time.monotonic()
            assert journal.find(f"{number:064x}")
            found.append((time.monotonic() - begun) * 1000)
    return found


def measure(options: argparse.Namespace) -> None:
    """Print what one process measured, as JSON."""
    url, documents, in_flight, folder = options.url, options.documents, options.in_flight, options.folder
    if options.measure == "raw":
        import httpx2  # noqa: F401
    else:
        import fieldassay.extraction.endpoints.client as client
        import fieldassay.extraction.endpoints.driver  # noqa: F401

        client.import_client()
    before, begun = time.process_time(), time.monotonic()
    if options.measure == "raw":
        times = drive_raw(url, documents, in_flight)
    elif options.measure == "ours":
        times = drive_ours(url, documents, in_flight, folder)
    else:
        times = read_journal(folder, documents)
    seconds = time.monotonic() - begun
    found = {
        "seconds": seconds,
        "cpu_ms": (time.process_time() - before) * 1000 / documents,
        "p50_ms": statistics.median(times),
        "per_minute": documents / seconds * 60,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(found))


def child(kind: str, url: str, documents: int, in_flight: int, folder: Path) -> dict[str, Any]:
    """Return what a process of its own measured."""
    command = [sys.executable, __file__, "--measure", kind, "--url", url, "--documents", str(documents)]
    command += ["--in-flight", str(in_flight), "--folder", str(folder)]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def rows(quick: bool) -> Iterator[tuple[str, str, str]]:
    """Yield what was measured, its value and its target."""
    part = 4 if quick else 1
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with Server(2.0) as url:
            raw = child("raw", url, 512 // part, 64, folder)
            ours = child("ours", url, 512 // part, 64, folder / "a")
            yield "processor time of a request, bare httpx2", f"{raw['cpu_ms']:.2f} ms", ""
            yield "processor time of a request, driven, 64 in flight", f"{ours['cpu_ms']:.2f} ms", "3 ms"
            yield "processor time, ratio of the two", f"{ours['cpu_ms'] / raw['cpu_ms']:.2f}", "1.5"
            yield "median of answers that take 2,000 ms, bare httpx2", f"{raw['p50_ms']:,.0f} ms", ""
            yield "median of answers that take 2,000 ms, driven", f"{ours['p50_ms']:,.0f} ms", "2,020 ms"
            yield "documents a minute, 64 in flight, 2 s each", f"{ours['per_minute']:,.0f}", "1,800 of 1,920"
            ours = child("ours", url, 2048 // part, 256, folder / "b")
            yield (
                "documents a minute, 256 in flight, 2 s each",
                f"{ours['per_minute']:,.0f}",
                "6,500 of 7,680",
            )
        with Server(0.0) as url:
            for documents in (1000, 10_000 // part):
                found = child("ours", url, documents, 64, folder / f"c{documents}")
                yield f"memory, {documents:,} documents", f"{found['megabytes']:.0f} MB", "150 MB"
        answers = 100_000 // part
        write_journal(folder / "d", answers)
        found = child("resume", "", answers, 0, folder / "d")
        spent = found["cpu_ms"] * answers / 1000
        yield f"resume of {answers:,} answers of 6 kB", f"{found['seconds']:.1f} s", "10 s"
        yield "processor time of that resume", f"{spent:.1f} s", ""
        yield "memory of that resume", f"{found['megabytes']:.0f} MB", "150 MB"


class Server:
    """The server, in a process of its own."""

    def __init__(self, delay: float) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--serve", str(delay)], stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


def main() -> None:
    """Measure, print, and publish if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a quarter of the documents")
    parser.add_argument("--publish", action="store_true", help="renew the table of docs/benchmarks.md")
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--url", default="", help=argparse.SUPPRESS)
    parser.add_argument("--documents", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--in-flight", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, default=Path(), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve)
    elif options.measure:
        measure(options)
    else:
        lines = ["| measured | | target |", "|---|---:|---:|"]
        for what, value, target in rows(options.quick):
            lines.append(f"| {what.strip()} | {value} | {target} |")
            print(f"{what:55} {value:>12}   {target}", flush=True)
        if options.publish:
            publish(PAGE, BEGIN, END, "\n".join(lines))


if __name__ == "__main__":
    main()
