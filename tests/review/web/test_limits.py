"""A stranger who sends half a request, many passwords or no number gets an answer, and takes nothing away."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from tests.review.receipts import add, make_receipts, take
from tests.review.web.served import Served, served
from uvicorn.server import ServerState

from fieldassay.review.web import guard
from fieldassay.review.web.guard import limited
from fieldassay.review.web.serve import LOOPBACK

HALF = {
    "nothing": b"",
    "half a head": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ",
    "half a body": b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\n"
    b'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name": ',
}


def begin(site: Served, text: bytes) -> socket.socket:
    made = socket.create_connection((LOOPBACK, site.port), timeout=60)
    made.sendall(text.replace(b"%d", str(site.port).encode()))
    return made


@pytest.mark.parametrize("text", HALF.values(), ids=HALF.keys())
def test_a_request_that_does_not_arrive_is_closed(tmp_path: Path, text: bytes) -> None:
    with served(make_receipts(tmp_path, 1), seconds=0.3) as site:
        made = begin(site, text)
        with contextlib.suppress(ConnectionResetError):
            assert made.recv(1) == b""


def test_one_byte_now_and_then_does_not_prolong_a_request(tmp_path: Path) -> None:
    with served(make_receipts(tmp_path, 1), seconds=0.3) as site:
        made = begin(site, b"GET / HTTP/1.1\r\n")
        with pytest.raises(OSError):
            for _ in range(10_000):
                made.sendall(b"X: 1\r\n")
                threading.Event().wait(0.01)


@pytest.mark.parametrize("text", HALF.values(), ids=HALF.keys())
def test_however_many_wait_the_next_one_is_answered(tmp_path: Path, text: bytes) -> None:
    store = make_receipts(tmp_path, 1)
    add(store)
    with served(store, most=8) as site:
        half = [begin(site, text) for _ in range(40)]
        for _ in range(3):
            assert site.ask("GET", "/help", who="r1").status == 200
        for made in half:
            made.close()


def test_connections_that_come_in_one_turn_are_as_few_as_any() -> None:
    class Transport(asyncio.Transport):
        aborted = False

        def abort(self) -> None:  # the connection is lost in a later turn
            self.aborted = True

    loop = asyncio.new_event_loop()
    config = uvicorn.Config(lambda: None, lifespan="off")
    config.load()
    state, kind = ServerState(), limited(2, 20.0)
    transports = [Transport() for _ in range(6)]
    for transport in transports:
        kind(config, state, {}, loop).connection_made(transport)
    loop.close()
    assert [one.aborted for one in transports] == [True] * 4 + [False] * 2


def test_a_connection_that_was_answered_may_ask_again(tmp_path: Path) -> None:
    with served(make_receipts(tmp_path, 1), seconds=0.5) as site:
        made = begin(site, b"")
        for _ in range(3):
            made.sendall(f"GET /sign-in HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\n\r\n".encode())
            found = b""
            while not found.endswith(b"</html>"):
                found += made.recv(65536)
            assert found.startswith(b"HTTP/1.1 200")


def test_passwords_are_hashed_one_at_a_time_and_counted_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_receipts(tmp_path, 1)
    add(store, "anna", "reviewer", "a long password")
    now, most, calls, lock = [0], [0], [0], threading.Lock()
    check = guard.check_password

    def counted(*given: Any) -> Any:
        with lock:
            now[0], calls[0] = now[0] + 1, calls[0] + 1
            most[0] = max(most[0], now[0])
        try:
            return check(*given)
        finally:
            with lock:
                now[0] -= 1

    monkeypatch.setattr(guard, "check_password", counted)
    body = {"name": "anna", "password": "another password"}
    with served(store) as site, ThreadPoolExecutor(24) as pool:
        answers = list(pool.map(lambda _: site.ask("POST", "/sign-in", body), range(24)))
        assert {one.status for one in answers} == {403}
        assert most[0] == 1
        assert calls[0] <= 6
        assert sum("too many tries" in one.data["problem"] for one in answers) >= 18


def test_the_right_password_counts_as_no_failure(tmp_path: Path) -> None:
    store = make_receipts(tmp_path, 1)
    add(store, "anna", "reviewer", "a long password")
    with served(store) as site:
        for _ in range(8):
            assert site.ask("POST", "/sign-in", {"name": "anna", "password": "a long password"}).status == 200


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    store = make_receipts(tmp_path_factory.mktemp("numbers"), 1)
    take(store, add(store))
    with served(store) as found:
        yield found


LABEL = '{"key": "k", "node": "shop", "state": "value", "text": "x", "expects": 0'
REGION = ', "regions": [{"page": %s, "box": [%s, 0.1, 0.2, 0.2], "text": ""}]}'
NUMBERS = {
    **{f"{name} {number}": f'{LABEL}, "{name}": {number}}}' for name in ("active_ms", "keys") for number in ("-5", "NaN")},
    **{f"expects {number}": LABEL.replace('"expects": 0', f'"expects": {number}') + "}" for number in ("-1", "1e400", "1.5")},
    **{f"page {number}": LABEL + REGION % (number, "0.1") for number in ("1e400", "-Infinity", "0", "1.5", "true", "9" * 30)},
    **{f"box {number[:9]}": LABEL + REGION % ("1", number) for number in ("1e400", "NaN", "-0.1", "9" * 400, "[]")},
    "a number nobody asked for": LABEL + ', "more": {"deep": [1e999]}}',
}  # fmt: skip


@pytest.mark.parametrize("body", NUMBERS.values(), ids=NUMBERS.keys())
def test_a_number_that_is_none_is_told_as_such(site: Served, body: str) -> None:
    assert site.ask("PUT", "/api/sheets/1/labels", body.encode(), who="r1").status == 422


@pytest.mark.parametrize(
    "path", ["/api/claim", "/api/read", "/api/rulings", "/api/sheets/1/finish", "/sign-in"]
)
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-1e999"])
def test_no_request_takes_what_is_no_number(site: Served, path: str, number: str) -> None:
    body = f'{{"document": {number}, "name": "a", "password": "b", "field": "shop", "text": "x"}}'
    assert site.ask("POST", path, body.encode(), who="r1").status == 422
