"""A server that is killed loses no label that it acknowledged, and keeps none twice."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.review.receipts import NONE
from tests.review.web.hammer import Client, Server, check, make_large, review_command, work

from fieldassay.review.sheets.make import Request, make_review


def work_until(is_so: Callable[[], bool], clients: list[Client], server: Server) -> None:
    """Let the clients work until something is so, which on a busy machine takes longer."""
    ends = time.monotonic() + 600
    while not is_so() and time.monotonic() < ends:
        work(clients, server.port, 0.5)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.parametrize(
    "kills", [pytest.param(1, id="once"), pytest.param(3, id="three times", marks=pytest.mark.full)]
)
def test_killed_under_load_nothing_acknowledged_is_lost(tmp_path: Path, kills: int) -> None:
    store = make_large(tmp_path, 60, 3)
    clients, chance = [Client(number) for number in range(3)], random.Random(1)
    for _ in range(kills):
        server = Server(tmp_path)
        work(clients, server.port, 0.2 + chance.random() * 0.6, server)
    server = Server(tmp_path)
    work_until(lambda: sum(len(client.acknowledged) for client in clients) > 30, clients, server)
    server.stop()
    acknowledged, faults = check(store, clients)
    assert faults == []
    assert acknowledged > 30


LIMITED = pytest.mark.skipif(sys.platform == "win32", reason="no limit of a file's size")


@LIMITED
def test_on_a_full_disk_a_label_is_kept_or_its_client_is_told(tmp_path: Path) -> None:
    store = make_large(tmp_path, 60, 3)
    clients = [Client(number) for number in range(3)]
    server = Server(tmp_path, largest=store.file.stat().st_size + 50_000)
    work_until(lambda: any(client.errors for client in clients), clients, server)
    server.stop()
    told = [error for client in clients for error in client.errors]
    assert told
    assert all("500" in one and "cannot be written" in one for one in told if "/labels" in one)
    assert not any("Traceback" in one for one in told)
    for client in clients:
        client.errors.clear()
    server = Server(tmp_path)
    work_until(lambda: sum(len(client.acknowledged) for client in clients) > 30, clients, server)
    server.stop()
    acknowledged, faults = check(store, clients)
    assert faults == []
    assert acknowledged > 30


@LIMITED
def test_a_command_on_a_full_disk_says_so_and_changes_nothing(tmp_path: Path) -> None:
    rows = [{"id": "a", "shop": "x" * 60_000}]
    store = make_review(tmp_path, Request("{fields: {shop: text}}", {"a": rows}, shares=NONE)).store
    head = store.head()
    words = review_command("close", str(tmp_path), largest=1000)
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "review.sqlite: cannot be opened (" in ended.stderr
    assert store.head() == head


def test_clients_at_once_get_every_sheet_once_and_no_error(tmp_path: Path) -> None:
    store = make_large(tmp_path, 12, 4)
    clients = [Client(number) for number in range(4)]
    server = Server(tmp_path)
    work(clients, server.port, 600.0)
    server.stop()
    acknowledged, faults = check(store, clients)
    assert faults == []
    assert acknowledged == 120
    assert sorted(sheet for client in clients for sheet in client.sheets) == list(range(1, 13))
