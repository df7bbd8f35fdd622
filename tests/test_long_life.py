"""A process that lives long does not grow: what it does again takes no more memory than before."""

import math
import resource
import urllib.request
from pathlib import Path

import pytest
from tests.review.web.hammer import Client, Server, make_large

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc, which says the memory"),
]

LIMIT = 5_000_000
"""The bytes by which a process may grow."""


def test_a_served_review_keeps_no_memory_of_2000_requests(tmp_path: Path) -> None:
    make_large(tmp_path, 200, 1)
    server, client = Server(tmp_path), Client(0)
    try:
        client.sign_in(server.port)
        send(client, 200)
        before = resident(server.pid)
        send(client, 1800)
        grown = resident(server.pid) - before
    finally:
        server.stop()
    assert (client.errors, grown <= LIMIT) == ([], True), grown


def resident(pid: int) -> int:
    """Return the resident memory of a process in bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()


def send(client: Client, requests: int) -> None:
    """Label sheet after sheet, and look at the pages around them, until that many requests are sent."""
    sent = 0
    while sent < requests:
        labels = client.made
        assert client._sheet(math.inf), "no sheet is left"
        for path in ("/", "/help", "/api/form"):
            look_at(client, path)
        sent += client.made - labels + len(("claim", "view", "finish", "/", "/help", "/api/form"))


def look_at(client: Client, path: str) -> None:
    request = urllib.request.Request(
        f"http://127.0.0.1:{client.port}{path}", headers={"Cookie": client.cookie}
    )
    with urllib.request.urlopen(request) as answer:
        answer.read()
