"""A process that lives long does not grow: what it does again takes no more memory than before."""

import inspect
import math
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from tests.long_lives import PUBLIC, resident
from tests.review.web.hammer import Client, Server, make_large

import fieldassay as fa

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc, which says the memory"),
]

LIMIT = 5_000_000
"""The bytes by which a process may grow."""

PLUGIN_TESTS = """
from pathlib import Path

import pytest
from tests.long_lives import GOLD, SPEC, settled

readings = []


@pytest.mark.parametrize("number", range(500))
def test_one(assert_extraction, number):
    gold = GOLD[number % len(GOLD)]
    if number % 2:
        assert_extraction(gold, gold, SPEC)
    else:
        with pytest.raises(AssertionError):
            assert_extraction(gold, {**gold, "shop": "another"}, SPEC, "accuracy >= 0.99")
    if number in (49, 499):
        readings.append(settled())


def test_end():
    Path("growth").write_text(str(readings[1] - readings[0]))
"""


def run_apart(*arguments: str | Path, folder: Path | None = None) -> str:
    """Return what Python prints in a process of its own.

    Its C library gives large blocks back when they are freed: else a heap in pieces holds up to 8 MB more.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "MALLOC_MMAP_THRESHOLD_": "131072"}
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def growth_of(name: str) -> int:
    return int(run_apart(Path(__file__).parent / "long_lives.py", name))


def test_every_public_function_has_a_case() -> None:
    assert set(PUBLIC) == {name for name in fa.__all__ if inspect.isfunction(getattr(fa, name))}


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_function_called_again_keeps_no_memory(name: str) -> None:
    assert growth_of(name) <= LIMIT


def test_documents_extracted_again_keep_no_memory() -> None:
    assert growth_of("extract 300 documents") <= LIMIT


def test_a_call_that_keeps_what_it_makes_is_noticed() -> None:
    assert growth_of("keep what is made") > LIMIT


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


def test_assertions_of_the_plugin_keep_no_memory(tmp_path: Path) -> None:
    (tmp_path / "test_many.py").write_text(PLUGIN_TESTS)
    options = ("-p", "no:cacheprovider", "--rootdir", tmp_path)
    run_apart("-m", "pytest", *options, folder=tmp_path)
    assert int((tmp_path / "growth").read_text()) <= LIMIT
