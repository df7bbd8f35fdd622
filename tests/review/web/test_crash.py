"""A server that is killed loses no label that it acknowledged, and keeps none twice."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from tests.review.web.hammer import Client, Server, check, make_large, work


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_killed_under_load_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    store = make_large(tmp_path, 60, 3)
    clients, chance = [Client(number) for number in range(3)], random.Random(1)
    for _ in range(3):
        server = Server(tmp_path)
        work(clients, server.port, 0.2 + chance.random() * 0.6, server)
    server = Server(tmp_path)
    work(clients, server.port, 0.5)
    server.stop()
    acknowledged, faults = check(store, clients)
    assert faults == []
    assert acknowledged > 30


def test_clients_at_once_get_every_sheet_once_and_no_error(tmp_path: Path) -> None:
    store = make_large(tmp_path, 12, 4)
    clients = [Client(number) for number in range(4)]
    server = Server(tmp_path)
    work(clients, server.port, 30.0)
    server.stop()
    acknowledged, faults = check(store, clients)
    assert faults == []
    assert acknowledged == 120
    assert sorted(sheet for client in clients for sheet in client.sheets) == list(range(1, 13))
