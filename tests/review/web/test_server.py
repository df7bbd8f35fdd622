"""The server of a review: routes, limits, pages, crashes."""

import http.client
import itertools
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.review.receipts import NONE, add, make_receipts, take
from tests.review.small_review import count_events
from tests.review.web.hammer import Client, Server, check, make_large, review_command, work
from tests.review.web.served import served
from tests.review.web.test_limits import png

from fieldassay.commands.cli.main import main
from fieldassay.documents.sources import DocumentPool, list_documents
from fieldassay.errors import ProblemsError
from fieldassay.review.log import Store
from fieldassay.review.sheets.make import ReviewRequest, Shares, make_review
from fieldassay.review.sheets.sheets import RefusedError
from fieldassay.review.web import guard
from fieldassay.review.web.guard import HEADERS, MOST_BYTES
from fieldassay.review.web.routes import Pages, read_pages
from fieldassay.review.web.serve import LOOPBACK, PATHS, Address, listen, open_room, serve_team

# Every route refuses what it must: a route without a row here fails the first test

pytest.importorskip("starlette")

NEW_LABEL = {"key": "k", "node": "shop", "state": "value", "text": "x", "expects": 0}

ROWS: dict[tuple[str, str], tuple[str, object, str | None]] = {
    # route: (address, body, who may not: the alias of a role that is refused)
    ("GET", "/"): ("/", None, None),
    ("GET", "/sheet/{sheet:int}"): ("/sheet/1", None, "r4"),
    ("GET", "/adjudicate"): ("/adjudicate", None, "r1"),
    ("GET", "/adjudicate/{document:int}"): ("/adjudicate/1", None, "r1"),
    ("GET", "/progress"): ("/progress", None, "r1"),
    ("GET", "/api/adjudicate"): ("/api/adjudicate", None, "r4"),
    ("GET", "/api/adjudicate/{document:int}"): ("/api/adjudicate/1", None, "r4"),
    ("POST", "/api/rulings"): (
        "/api/rulings",
        {"document": 1, "node": "shop", "choice": "first", "text": "", "note": ""},
        "r1",
    ),
    ("GET", "/api/progress"): ("/api/progress", None, "r1"),
    ("GET", "/help"): ("/help", None, None),
    ("GET", "/sign-in"): ("/sign-in", None, None),
    ("POST", "/sign-in"): ("/sign-in", {"name": "anna", "password": "not this one"}, None),
    ("POST", "/sign-out"): ("/sign-out", {}, None),
    ("GET", "/enter"): ("/enter?ticket=x", None, None),
    ("GET", "/assets/{digest}/{name}"): ("/assets/0/review.js", None, None),
    ("GET", "/favicon.ico"): ("/favicon.ico", None, None),
    ("GET", "/api/form"): ("/api/form", None, None),
    ("POST", "/api/claim"): ("/api/claim", {}, "r4"),
    ("GET", "/api/sheets/{sheet:int}"): ("/api/sheets/1", None, "r4"),
    ("PUT", "/api/sheets/{sheet:int}/labels"): ("/api/sheets/1/labels", NEW_LABEL, "r4"),
    ("PUT", "/api/sheets/{sheet:int}/items"): ("/api/sheets/1/items", {"list": "lines", "nodes": []}, "r4"),
    ("POST", "/api/sheets/{sheet:int}/renew"): ("/api/sheets/1/renew", {}, "r4"),
    ("POST", "/api/sheets/{sheet:int}/release"): ("/api/sheets/1/release", {}, "r4"),
    ("POST", "/api/sheets/{sheet:int}/decline"): ("/api/sheets/1/decline", {"note": ""}, "r4"),
    ("POST", "/api/sheets/{sheet:int}/finish"): ("/api/sheets/1/finish", {}, "r4"),
    ("POST", "/api/sheets/{sheet:int}/undo"): ("/api/sheets/1/undo", {}, "r4"),
    ("POST", "/api/read"): ("/api/read", {"field": "total", "text": "1"}, "r4"),
    ("GET", "/api/pages/{document:int}"): ("/api/pages/1", None, "r4"),
    ("GET", "/api/pages/{document:int}/{page:int}"): ("/api/pages/1/1", None, "r4"),
    ("GET", "/api/pages/{document:int}/{page:int}/words"): ("/api/pages/1/1/words", None, "r4"),
    ("POST", "/api/pages/{document:int}/find"): ("/api/pages/1/find", {"field": "total", "text": "1"}, "r4"),
}
OF_OTHERS = [row for row in ROWS if "{sheet:int}" in row[1] and row[1].startswith("/api")] + [
    row for row in ROWS if row[1].startswith("/api/pages")
]
OPEN = {(one.method, one.path) for one in PATHS if not one.roles}
WRITING = [row for row in ROWS if row[0] != "GET"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return a review of a team: anna holds sheet 1, ben holds nothing, dora observes."""
    folder = tmp_path_factory.mktemp("routes")
    documents = folder / "documents"
    documents.mkdir()
    (documents / "doc-001.txt").write_text("Shop 1\n\nTotal 11.50\n")
    store = make_receipts(folder / "review", 1, Shares(1.0, 0.0, 0.0), documents=documents)
    roles = {"anna": "reviewer", "ben": "reviewer", "cleo": "adjudicator", "dora": "observer"}
    persons = [add(store, name, role, f"password of {name}") for name, role in roles.items()]
    assert take(store, persons[0]) == 1
    with served(store) as running:
        yield running


def test_every_route_has_a_row():
    assert {(one.method, one.path) for one in PATHS} == set(ROWS)


@pytest.mark.parametrize("row", [row for row in ROWS if row not in OPEN], ids=" ".join)
def test_without_a_session_nothing_is_answered(site, row):
    address, body, _ = ROWS[row]
    answer = site.ask(row[0], address, body)
    if answer.status == 303:
        assert answer.headers["location"] == "/sign-in"
    else:
        assert answer.status == 401
    forged = site.ask(row[0], address, body, Cookie=f"{site.room.cookie}=forged")
    assert forged.status == answer.status


@pytest.mark.parametrize("row", [row for row in ROWS if ROWS[row][2]], ids=" ".join)
def test_another_role_is_refused(site, row):
    address, body, who = ROWS[row]
    assert site.ask(row[0], address, body, who).status == 403


@pytest.mark.parametrize("row", OF_OTHERS, ids=" ".join)
def test_the_sheet_of_somebody_else_is_refused(site, row):
    address, body, _ = ROWS[row]
    answer = site.ask(row[0], address, body, "r2")
    assert answer.status == 403
    assert "yours" in answer.data["problem"]


FOREIGN = {
    "foreign host": ({"Host": "evil.example"}, 421),
    "rebinding host": ({"Host": "evil.example:{port}"}, 421),
    "host without port": ({"Host": "127.0.0.1"}, 421),
    "no host": ({"Host": ""}, 421),
    "foreign origin": ({"Origin": "https://evil.example"}, 403),
    "another port": ({"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": "same-site"}, 403),
    "null origin": ({"Origin": "null"}, 403),
    "cross-site": ({"Sec-Fetch-Site": "cross-site", "Origin": None}, 403),
    "same-site": ({"Sec-Fetch-Site": "same-site", "Origin": None}, 403),
}


@pytest.mark.parametrize("row", ROWS, ids=" ".join)
def test_what_comes_from_elsewhere_is_refused(site, row):
    address, body, _ = ROWS[row]
    for case, (changed, status) in FOREIGN.items():
        headers = {
            name.replace("-", "_"): text and text.format(port=site.port) for name, text in changed.items()
        }
        assert site.ask(row[0], address, body, "r1", **headers).status == status, case


@pytest.mark.parametrize("row", WRITING, ids=" ".join)
def test_only_json_of_a_page_of_this_server_is_taken(site, row):
    address, body, refused = ROWS[row]
    who = "r3" if refused == "r1" else "r1"
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None):
        assert site.ask(row[0], address, body, who, Content_Type=kind).status == 415
    assert site.ask(row[0], address, body, who, Origin=None, Sec_Fetch_Site=None).status == 403
    assert site.ask(row[0], address, body, who, Origin=None, Sec_Fetch_Site="none").status == 403
    assert site.ask(row[0], address, b" " * (MOST_BYTES + 1), who).status == 413
    assert site.ask(row[0], address, b"{", who).status == 422
    assert site.ask(row[0], address, b"[]", who).status == 422


@pytest.mark.parametrize("method", ["DELETE", "PATCH", "TRACE", "OPTIONS", "CONNECT"])
def test_other_methods_are_refused(site, method):
    assert site.ask(method, "/", None, "r1").status == 405


@pytest.mark.parametrize("path", ["//", "/..//x", "/api/../api/form", "/a\\b", "/%2e%2e/x", "/%00", "*"])
def test_other_paths_are_refused(site, path):
    assert site.ask("GET", path, None, "r1").status in (400, 404)


def test_a_body_without_an_end_is_cut_off(site):
    head = f"POST /api/claim HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\nOrigin: {site.origin}\r\n"
    head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", site.port), 30) as connection:
        connection.sendall(head.encode())
        block = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        try:
            for _ in range(40):
                connection.sendall(block)
        except OSError:
            return
        assert b" 413 " in connection.recv(100)


def test_a_large_body_is_refused_unread_where_nobody_is_signed_in(site):
    head = f"PUT /api/sheets/1/labels HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\nOrigin: {site.origin}\r\n"
    with socket.create_connection(("127.0.0.1", site.port), 30) as connection:
        connection.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 900000\r\n\r\n".encode())
        assert b" 413 " in connection.recv(100)


def test_a_number_of_any_length_names_nothing(site):
    paths = [re.sub(r"\{\w+:int\}", "9" * 5000, path) for _, path in ROWS if ":int}" in path]
    assert {site.ask("GET", path, None, "r1").status for path in paths} == {404}


@pytest.mark.parametrize("row", ROWS, ids=" ".join)
def test_every_answer_has_the_headers(site, row):
    address, body, _ = ROWS[row]
    answer = site.ask(row[0], address, body)
    for name, value in HEADERS.items():
        assert answer.headers[name] == value or name in ("cache-control", "content-security-policy")
    assert "'unsafe" not in answer.headers["content-security-policy"]


def test_sign_in_gives_one_answer_for_every_failure_and_slows_down(site):
    tries = [{"name": "anna", "password": "wrong one"}, {"name": "nobody", "password": "wrong one"}]
    told = {site.ask("POST", "/sign-in", one).data["problem"] for one in tries}
    assert told == {"wrong name or password"}
    found = [site.ask("POST", "/sign-in", tries[0]).data["problem"] for _ in range(6)]
    assert "too many tries" in found[-1]
    site.room.failures.clear()
    answer = site.ask("POST", "/sign-in", {"name": "anna", "password": "password of anna"})
    assert answer.status == 200
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()


def test_failed_tries_while_the_clock_was_ahead_lock_nobody_out(site, monkeypatch):
    now = site.room.clock()
    monkeypatch.setattr(site.room, "clock", lambda: now + 365 * 86400.0)
    for _ in range(7):
        site.ask("POST", "/sign-in", {"name": "cleo", "password": "wrong one"})
    monkeypatch.setattr(site.room, "clock", lambda: now)
    answer = site.ask("POST", "/sign-in", {"name": "cleo", "password": "password of cleo"})
    site.room.failures.clear()
    assert answer.status == 200


def test_a_session_ends_with_sign_out_a_new_password_and_a_disabled_account(site):
    for change in (
        lambda journal: guard.set_password(journal, "ben", "another password"),
        lambda journal: guard.change_person(journal, "ben", is_disabled=True),
        lambda journal: guard.change_person(journal, "ben", is_disabled=False),
    ):
        site.tokens.pop("r2", None)
        before = site.ask("GET", "/api/form", None, "r2").status
        site.room.write(change)
        after = site.ask("GET", "/api/form", None, "r2").status
        assert (before, after) in ((200, 401), (401, 401))
    site.tokens.pop("r2")
    assert site.ask("POST", "/sign-out", {}, "r2").status == 200
    assert site.ask("GET", "/api/form", None, "r2").status == 401
    site.tokens.pop("r2")


def test_an_idle_and_an_old_session_are_over(site, monkeypatch):
    now = site.room.clock()
    site.tokens.pop("r3", None)
    assert site.ask("GET", "/api/form", None, "r3").status == 200
    monkeypatch.setattr(site.room, "clock", lambda: now + guard.IDLE_SECONDS + 5)
    assert site.ask("GET", "/api/form", None, "r3").status == 401
    site.tokens.pop("r3")


def test_a_page_and_its_words_are_for_those_who_hold_a_sheet_of_it(site):
    [page] = site.ask("GET", "/api/pages/1", None, "r1").data["pages"]
    assert (page["number"], page["words"]) == (1, [])
    words = site.ask("GET", "/api/pages/1/1/words", None, "r1").data["words"]
    assert [word[0] for word in words] == ["Shop", "1", "Total", "11.50"]
    picture = site.ask("GET", "/api/pages/1/1", None, "r1")
    assert picture.body.startswith(b"\x89PNG")
    assert "sandbox" in picture.headers["content-security-policy"]
    found = site.ask("POST", "/api/pages/1/find", {"field": "total", "text": "$11.50"}, "r1").data["places"]
    assert [one["text"] for one in found] == ["11.50"]
    assert site.ask("GET", "/api/pages/1/2", None, "r1").status == 404
    assert site.ask("GET", f"/api/pages/{1 << 70}", None, "r1").status == 404


def test_the_same_key_saves_a_label_once(site):
    address, body = "/api/sheets/1/labels", NEW_LABEL | {"key": "only-once"}
    first = site.ask("PUT", address, body, "r1")
    again = site.ask("PUT", address, body, "r1")
    assert (first.status, again.status) == (200, 200)
    assert first.data["seq"] == again.data["seq"]
    assert site.ask("PUT", address, body | {"key": "another"}, "r1").status == 409


def test_rows_are_not_changed_by_who_saw_others(tmp_path):
    store = make_receipts(tmp_path / "review", 1, Shares(1.0, 0.0, 0.0))
    assert take(store, add(store)) == 1

    def order(*nodes, expects):
        return site.ask(
            "PUT", "/api/sheets/1/items", {"list": "lines", "nodes": nodes, "expects": expects}, "r1"
        )

    with served(store) as site:
        statuses = [order(None, expects=0).status, order(None, expects=0).status]
        seen = site.ask("GET", "/api/sheets/1", None, "r1").data
        statuses += [order(*seen["items"]["lines"], None, expects=seen["orders"]["lines"]).status]
    assert statuses == [200, 409, 200]


def test_the_one_time_link_works_once_and_only_when_it_is_opened_by_hand(tmp_path):
    store = make_receipts(tmp_path, 1)
    add(store)
    with served(store) as alone:
        link = alone.ticket_link().removeprefix(alone.origin)
        opened = {"Origin": None, "Content_Type": None}
        assert alone.ask("GET", link, Sec_Fetch_Site="same-origin", **opened).status == 403
        unsaid = alone.ask("GET", link, Sec_Fetch_Site=None, **opened)
        assert unsaid.status == 403
        assert "Sec-Fetch-Site" in str(unsaid.data)
        link = alone.ticket_link().removeprefix(alone.origin)
        first = alone.ask("GET", link, Sec_Fetch_Site="none", **opened)
        assert (first.status, first.headers["location"]) == (303, "/")
        assert alone.ask("GET", link, Sec_Fetch_Site="none", **opened).status == 403
        now = alone.room.clock()
        late = alone.ticket_link().removeprefix(alone.origin)
        alone.room.clock = lambda: now + 61
        assert alone.ask("GET", late, Sec_Fetch_Site="none", **opened).status == 403


def test_a_damaged_database_is_told_and_the_server_answers_on(tmp_path):
    store = make_receipts(tmp_path, 3)
    add(store)
    with served(store) as alone:
        alone.room.write(lambda log: log.db.execute("DROP TABLE label"))
        sheet = alone.ask("POST", "/api/claim", {}, "r1").data["sheet"]
        answer = alone.ask("GET", f"/api/sheets/{sheet}", None, "r1")
        assert answer.status == 500
        assert "cannot be read (no such table: label)" in answer.data["problem"]
        assert alone.ask("GET", "/help", None, "r1").status == 200


def test_a_link_out_of_the_folder_of_documents_is_not_followed(tmp_path):
    folder = tmp_path / "documents"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("a secret")
    (folder / "other.txt").write_text("another document")
    (folder / "doc-001.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(ProblemsError, match="doc-001"):
        make_receipts(tmp_path / "review", 1, documents=folder)


# Where a server for a team may listen, and what it takes to reach it


@pytest.mark.parametrize(
    ("address", "told"),
    [
        (Address("10.0.0.5"), "passwords would be readable"),
        (Address(behind="review.example"), "is not an address"),
    ],
    ids=["plain", "no address"],
)
def test_an_address_that_is_not_safe_is_refused(address, told):
    with pytest.raises(ProblemsError, match=told):
        address.site(8000)


@pytest.mark.parametrize(
    ("address", "origins"),
    [
        (Address(), {"http://127.0.0.1:8000"}),
        (Address(behind="https://review.example"), {"https://review.example"}),
        (Address("0.0.0.0", behind="https://Review.example:8443"), {"https://review.example:8443"}),
        (Address("::1"), {"http://[::1]:8000"}),
    ],
    ids=["loopback", "proxy", "port", "IPv6"],
)
def test_only_its_own_address_is_answered(address, origins):
    assert address.site(8000).origins == origins


def test_a_review_without_accounts_is_not_served(tmp_path):
    store = make_receipts(tmp_path, 1)
    with pytest.raises(ProblemsError, match="has no accounts"):
        serve_team(store, Address(), print)


def test_answers_are_sent_without_waiting_for_the_acknowledgement_of_earlier_packets():
    """A socket that does not name its protocol keeps Nagle's delay under asyncio: 40 ms for every answer."""
    with listen(LOOPBACK, 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.proto == socket.IPPROTO_TCP


def test_open_is_for_one_person_alone(tmp_path, capsys):
    store = make_receipts(tmp_path, 1)
    add(store, "anna", "reviewer", "a long password")
    assert main(["review", "open", str(tmp_path), "--no-browser"]) == 2
    assert "belongs to a team" in capsys.readouterr().err


def test_people_have_aliases_and_no_name_is_in_the_log(tmp_path, capsys, monkeypatch):
    import io

    make_receipts(tmp_path, 1)
    folder = str(tmp_path)
    for name in ("Anna Muster", "Ben"):
        monkeypatch.setattr(sys, "stdin", io.StringIO("a long password\n"))
        assert main(["review", "team", folder, "add", name, "--password-stdin"]) == 0
    assert main(["review", "team", folder, "role", "Ben", "--role", "lead"]) == 0
    assert main(["review", "team", folder, "disable", "Ben"]) == 0
    capsys.readouterr()
    assert main(["review", "team", folder, "list"]) == 0
    assert re.search(
        r"r1 +Anna Muster +reviewer +0 sheets\nr2 +Ben +lead +0 sheets  disabled", capsys.readouterr().out
    )
    with Store(tmp_path).reading() as db:
        assert not any("Anna" in str(event) for event in db.execute("SELECT * FROM event"))
    monkeypatch.setattr(sys, "stdin", io.StringIO("short\n"))
    assert main(["review", "team", folder, "add", "Cleo", "--password-stdin"]) == 2
    assert "is too short" in capsys.readouterr().err


def test_the_command_serves_behind_a_proxy(tmp_path):
    store = make_receipts(tmp_path / "review", 1)
    add(store, "anna", "reviewer", "a long password")
    command = [
        sys.executable,
        "-m",
        "fieldassay.commands.cli.main",
        "review",
        "team",
        str(tmp_path / "review"),
    ]
    with listen(LOOPBACK, 0) as free:
        port = free.getsockname()[1]
    proxy = ["--behind", "https://review.example", "--port", str(port)]
    process = subprocess.Popen([*command, *proxy], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "serving at https://review.example\n"
        body = '{"name": "anna", "password": "a long password"}'
        head = {
            "Content-Type": "application/json",
            "Origin": "https://review.example",
            "Host": "review.example",
        }
        for _ in range(600):  # the address is told before the server answers
            try:
                connection = http.client.HTTPConnection(LOOPBACK, port, timeout=600)
                connection.request("POST", "/sign-in", body, head)
                break
            except ConnectionRefusedError:
                time.sleep(0.1)
        answer = connection.getresponse()
        assert answer.status == 200
        cookie = answer.headers["Set-Cookie"]
        assert cookie.startswith("__Host-fieldassay=")
        assert "Secure" in cookie
        connection.close()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(600)


# Pages of documents: read once for all who wait, failed once, and only of the file the review was made with

pytest.importorskip("starlette")
pytest.importorskip("pypdfium2")


class CountingPool(DocumentPool):
    """A pool that counts what it is given to do, and does it when `may_run` is set."""

    def __init__(self):
        super().__init__(0)
        self.count = 0
        self.may_run = threading.Event()
        self.may_run.set()

    def submit(self, function, *arguments):
        self.count += 1
        return super().submit(self._when_it_may, function, *arguments)

    def _when_it_may(self, function, *arguments):
        self.may_run.wait(600)
        return function(*arguments)


def test_an_expensive_failure_is_remembered_until_the_file_changes(tmp_path):
    name = "a.png"
    (tmp_path / name).write_bytes(png())
    with CountingPool() as pool:
        pages = Pages(tmp_path, pool)
        for _ in range(3):
            with pytest.raises(RefusedError, match="this document "):
                pages.draw(name, 1)
        assert pool.count == 1
        os.utime(tmp_path / name, ns=(1, 1))
        with pytest.raises(RefusedError):
            pages.draw(name, 1)
        assert pool.count == 2


def test_a_document_is_read_once_for_all_who_wait_for_it(tmp_path):
    (tmp_path / "a.txt").write_text("Total 11.50\n")
    with CountingPool() as pool, ThreadPoolExecutor(4) as threads:
        pages = Pages(tmp_path, pool)
        pool.may_run.clear()
        started = threading.Barrier(5)
        waiting = [threads.submit(lambda: started.wait(600) >= 0 and pages.read("a.txt")) for _ in range(4)]
        started.wait(600)
        time.sleep(0.2)
        pool.may_run.set()
        assert {one.result(600)[0]["words"][0][0] for one in waiting} == {"Total"}
        pages.read("a.txt")
        assert pool.count == 1


def test_a_file_that_is_another_one_now_is_not_shown(tmp_path):
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "doc-001.txt").write_text("Total 11.50\n")
    store = make_receipts(tmp_path / "review", 1, documents=folder)
    add(store)
    (folder / "doc-001.txt").write_text("Total 99.50\n")
    with served(store) as alone:
        alone.ask("POST", "/api/claim", {}, "r1")
        answer = alone.ask("GET", "/api/pages/1", None, "r1")
    assert answer.status == 404
    assert "is not the file that the review was made with" in answer.data["problem"]


def test_documents_that_were_moved_are_named_anew(tmp_path, capsys):
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "doc-001.txt").write_text("Total 11.50\n")
    store = make_receipts(tmp_path / "review", 1, documents=folder)
    moved = folder.rename(tmp_path / "moved")
    assert main(["review", "open", str(store.folder), "--no-browser"]) == 2
    assert "documents are not there; say with --documents where they are now" in capsys.readouterr().err
    with open_room(store, "a cookie", documents=moved) as room:
        assert room.pages.read("doc-001.txt")[0]["words"][0][0] == "Total"


RIGHT_TO_LEFT = {
    "words": ("שלום עולם 12", ["12", "עולם", "שלום"]),
    "a run from left to right": ("מחיר ACME Pty Ltd 12", ["12", "ACME", "Pty", "Ltd", "מחיר"]),
    "digits within the run": ("מחיר ACME 3 Ltd", ["ACME", "3", "Ltd", "מחיר"]),
    "Arabic": ("متجر الرياض 5", ["5", "الرياض", "متجر"]),
    "from left to right": ("Total שלום עולם", ["Total", "שלום", "עולם"]),
}


@pytest.mark.parametrize(("text", "seen"), RIGHT_TO_LEFT.values(), ids=RIGHT_TO_LEFT)
def test_a_line_of_text_from_right_to_left_begins_at_the_right(tmp_path, text, seen):
    (tmp_path / "a.txt").write_text(f"{text}\nTotal 5.00\n", encoding="utf-8")
    [page] = json.loads(read_pages(list_documents(tmp_path).files[0]))
    line = [word for word in page["words"] if word[2] < 0.5][: len(seen)]
    assert [word[0] for word in line] == text.split()
    assert [word[0] for word in sorted(line, key=lambda word: word[1])] == seen
    ends = sorted(line, key=lambda word: word[1])
    assert all(one[3] <= other[1] for one, other in itertools.pairwise(ends))
    assert all(0 <= word[1] < word[3] <= 1 for word in line)


# A server that is killed loses no label that it acknowledged, and keeps none twice


def work_until(is_so, clients, server):
    """Let the clients work until something is so, which on a busy machine takes longer."""
    ends = time.monotonic() + 600
    while not is_so() and time.monotonic() < ends:
        work(clients, server.port, 0.5)


def work_on(store, clients):
    """Assert that a new server takes more labels, and that none that was acknowledged is lost."""
    server = Server(store.folder)
    work_until(lambda: sum(len(client.acknowledged) for client in clients) > 30, clients, server)
    server.stop()
    acknowledged, faults = check(store, clients)
    assert faults == []
    assert acknowledged > 30


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.parametrize(
    "kills", [pytest.param(1, id="once"), pytest.param(3, id="three times", marks=pytest.mark.full)]
)
def test_killed_under_load_nothing_acknowledged_is_lost(tmp_path, kills):
    store = make_large(tmp_path, 60, 3)
    clients, chance = [Client(number) for number in range(3)], random.Random(1)
    for _ in range(kills):
        server = Server(tmp_path)
        work(clients, server.port, 0.2 + chance.random() * 0.6, server)
    work_on(store, clients)


LIMITED = pytest.mark.skipif(sys.platform == "win32", reason="no limit of a file's size")


@LIMITED
def test_on_a_full_disk_a_label_is_kept_or_its_client_is_told(tmp_path):
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
    work_on(store, clients)


@LIMITED
def test_a_command_on_a_full_disk_says_so_and_changes_nothing(tmp_path):
    rows = [{"id": "a", "shop": "x" * 60_000}]
    store = make_review(tmp_path, ReviewRequest("{fields: {shop: text}}", {"a": rows}, shares=NONE)).store
    before = count_events(store)
    words = review_command("status", str(tmp_path), "--close", "--yes", largest=1000)
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "review.sqlite: cannot be opened (" in ended.stderr
    assert count_events(store) == before


def test_clients_at_once_get_every_sheet_once_and_no_error(tmp_path):
    store = make_large(tmp_path, 12, 4)
    clients = [Client(number) for number in range(4)]
    server = Server(tmp_path)
    work(clients, server.port, 600.0)
    server.stop()
    acknowledged, faults = check(store, clients)
    assert faults == []
    assert acknowledged == 120
    assert sorted(sheet for client in clients for sheet in client.sheets) == list(range(1, 13))
