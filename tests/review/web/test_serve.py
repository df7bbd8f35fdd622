"""Where a server for a team may listen, and what it takes to reach it."""

from __future__ import annotations

import http.client
import re
import signal
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
from tests.review.receipts import add, make_receipts

from fieldassay.commands.cli.main import main
from fieldassay.errors import ProblemsError
from fieldassay.review.web.serve import LOOPBACK, Address, listen, serve_team


@pytest.mark.parametrize(
    ("address", "told"),
    [
        (Address("10.0.0.5"), "passwords would be readable"),
        (Address("0.0.0.0", certificate=Path("c"), key=Path("k")), "stands for every address"),
        (Address(certificate=Path("c")), "goes with --key"),
        (Address(behind="review.example"), "is no address"),
    ],
    ids=["plain", "wildcard", "no key", "no address"],
)
def test_an_address_that_is_not_safe_is_refused(address: Address, told: str) -> None:
    with pytest.raises(ProblemsError, match=told):
        address.check()


@pytest.mark.parametrize(
    ("address", "origins"),
    [
        (Address(), {"http://127.0.0.1:8000"}),
        (Address(behind="https://review.example"), {"https://review.example"}),
        (
            Address("0.0.0.0", names=("Review.example",), certificate=Path("c"), key=Path("k")),
            {"https://review.example:8000"},
        ),
        (Address("::1"), {"http://[::1]:8000"}),
    ],
    ids=["loopback", "proxy", "named", "IPv6"],
)
def test_only_the_named_addresses_are_answered(address: Address, origins: set[str]) -> None:
    address.check()
    assert address.site(8000).origins == origins


def test_a_review_without_accounts_is_not_served(tmp_path: Path) -> None:
    store = make_receipts(tmp_path, 1)
    with pytest.raises(ProblemsError, match="has no accounts"):
        serve_team(store, Address(), print)


def test_answers_are_sent_without_waiting_for_the_acknowledgement_of_earlier_packets() -> None:
    """A socket that does not name its protocol keeps Nagle's delay under asyncio: 40 ms for every answer."""
    with listen(LOOPBACK, 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.proto == socket.IPPROTO_TCP


def test_open_is_for_one_person_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = make_receipts(tmp_path, 1)
    add(store, "anna", "reviewer", "a long password")
    assert main(["review", "open", str(tmp_path), "--no-browser"]) == 2
    assert "has accounts of a team" in capsys.readouterr().err


def test_people_have_aliases_and_no_name_is_in_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    make_receipts(tmp_path, 1)
    folder = str(tmp_path)
    for name in ("Anna Muster", "Ben"):
        monkeypatch.setattr(sys, "stdin", io.StringIO("a long password\n"))
        assert main(["review", "people", folder, "add", name, "--password-stdin"]) == 0
    assert main(["review", "people", folder, "role", "Ben", "--role", "lead"]) == 0
    assert main(["review", "people", folder, "disable", "Ben"]) == 0
    capsys.readouterr()
    assert main(["review", "people", folder, "list"]) == 0
    assert re.search(
        r"r1 +Anna Muster +reviewer +0 sheets\nr2 +Ben +lead +0 sheets  disabled", capsys.readouterr().out
    )
    assert main(["review", "log", folder, "--csv"]) == 0
    assert "Anna" not in capsys.readouterr().out
    assert main(["review", "verify", folder]) == 0
    monkeypatch.setattr(sys, "stdin", io.StringIO("short\n"))
    assert main(["review", "people", folder, "add", "Cleo", "--password-stdin"]) == 2
    assert "is too short" in capsys.readouterr().err


def test_the_command_serves_with_tls(tmp_path: Path) -> None:
    import shutil

    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-keyout", str(key), "-out", str(certificate), "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    store = make_receipts(tmp_path / "review", 1)
    add(store, "anna", "reviewer", "a long password")
    command = [
        sys.executable,
        "-m",
        "fieldassay.commands.cli.main",
        "review",
        "serve",
        str(tmp_path / "review"),
    ]
    process = subprocess.Popen(
        [*command, "--cert", str(certificate), "--key", str(key)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"https://127\.0\.0\.1:(\d+)", line)
        assert found, line
        trusted = ssl.create_default_context(cafile=str(certificate))
        connection = http.client.HTTPSConnection("127.0.0.1", int(found[1]), context=trusted, timeout=600)
        body = '{"name": "anna", "password": "a long password"}'
        origin = f"https://127.0.0.1:{found[1]}"
        connection.request("POST", "/sign-in", body, {"Content-Type": "application/json", "Origin": origin})
        answer = connection.getresponse()
        assert answer.status == 200
        cookie = answer.headers["Set-Cookie"]
        assert cookie.startswith("__Host-fieldassay=")
        assert "Secure" in cookie
        connection.close()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(600)
