"""Every route refuses what it must: a route without a row here fails the first test."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.review.receipts import add, make_receipts, take
from tests.review.web.served import Served, served

from fieldassay.errors import ProblemsError
from fieldassay.review.sheets.draw import Shares
from fieldassay.review.web import people
from fieldassay.review.web.app import PATHS
from fieldassay.review.web.guard import HEADERS, MOST_BYTES

pytest.importorskip("starlette")

NEW_LABEL = {"key": "k", "node": "shop", "state": "value", "text": "x", "expects": 0}

ROWS: dict[tuple[str, str], tuple[str, object, str | None]] = {
    # route: (address, body, who may not: the alias of a role that is refused)
    ("GET", "/"): ("/", None, None),
    ("GET", "/sheet/{sheet:int}"): ("/sheet/1", None, "r4"),
    ("GET", "/adjudicate"): ("/adjudicate", None, "r1"),
    ("GET", "/adjudicate/{document:int}"): ("/adjudicate/1", None, "r1"),
    ("GET", "/progress"): ("/progress", None, "r1"),
    ("GET", "/history/{document:int}"): ("/history/1", None, "r3"),
    ("GET", "/api/adjudicate"): ("/api/adjudicate", None, "r4"),
    ("GET", "/api/adjudicate/{document:int}"): ("/api/adjudicate/1", None, "r4"),
    ("POST", "/api/rulings"): (
        "/api/rulings",
        {"document": 1, "node": "shop", "choice": "first", "text": "", "note": ""},
        "r1",
    ),
    ("GET", "/api/progress"): ("/api/progress", None, "r1"),
    ("GET", "/api/history/{document:int}"): ("/api/history/1", None, "r1"),
    ("GET", "/help"): ("/help", None, None),
    ("GET", "/sign-in"): ("/sign-in", None, None),
    ("POST", "/sign-in"): ("/sign-in", {"name": "anna", "password": "not this one"}, None),
    ("POST", "/sign-out"): ("/sign-out", {}, None),
    ("GET", "/enter"): ("/enter?ticket=x", None, None),
    ("GET", "/assets/{digest}/{name}"): ("/assets/0/review.js", None, None),
    ("GET", "/favicon.ico"): ("/favicon.ico", None, None),
    ("GET", "/api/form"): ("/api/form", None, None),
    ("GET", "/api/head"): ("/api/head?head=1:00", None, None),
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
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
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


def test_every_route_has_a_row() -> None:
    assert {(one.method, one.path) for one in PATHS} == set(ROWS)


@pytest.mark.parametrize("row", [row for row in ROWS if row not in OPEN], ids=" ".join)
def test_without_a_session_nothing_is_answered(site: Served, row: tuple[str, str]) -> None:
    address, body, _ = ROWS[row]
    answer = site.ask(row[0], address, body)
    if answer.status == 303:
        assert answer.headers["location"] == "/sign-in"
    else:
        assert answer.status == 401
    forged = site.ask(row[0], address, body, Cookie=f"{site.room.cookie}=forged")
    assert forged.status == answer.status


@pytest.mark.parametrize("row", [row for row in ROWS if ROWS[row][2]], ids=" ".join)
def test_another_role_is_refused(site: Served, row: tuple[str, str]) -> None:
    address, body, who = ROWS[row]
    assert site.ask(row[0], address, body, who).status == 403


@pytest.mark.parametrize("row", OF_OTHERS, ids=" ".join)
def test_the_sheet_of_somebody_else_is_refused(site: Served, row: tuple[str, str]) -> None:
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


@pytest.mark.parametrize("case", FOREIGN)
@pytest.mark.parametrize("row", ROWS, ids=" ".join)
def test_what_comes_from_elsewhere_is_refused(site: Served, row: tuple[str, str], case: str) -> None:
    address, body, _ = ROWS[row]
    changed, status = FOREIGN[case]
    headers = {name.replace("-", "_"): text and text.format(port=site.port) for name, text in changed.items()}
    assert site.ask(row[0], address, body, "r1", **headers).status == status


@pytest.mark.parametrize("row", WRITING, ids=" ".join)
def test_only_json_of_a_page_of_this_server_is_taken(site: Served, row: tuple[str, str]) -> None:
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
def test_other_methods_are_refused(site: Served, method: str) -> None:
    assert site.ask(method, "/", None, "r1").status == 405


@pytest.mark.parametrize("path", ["//", "/..//x", "/api/../api/form", "/a\\b", "/%2e%2e/x", "/%00", "*"])
def test_other_paths_are_refused(site: Served, path: str) -> None:
    assert site.ask("GET", path, None, "r1").status in (400, 404)


def test_a_web_socket_is_refused(site: Served) -> None:
    answer = site.ask(
        "GET", "/", None, "r1", Upgrade="websocket", Connection="Upgrade", Sec_WebSocket_Version="13",
        Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==",
    )  # fmt: skip
    assert answer.status != 101


def test_a_body_without_an_end_is_cut_off(site: Served) -> None:
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


@pytest.mark.parametrize("row", ROWS, ids=" ".join)
def test_every_answer_has_the_headers(site: Served, row: tuple[str, str]) -> None:
    address, body, _ = ROWS[row]
    answer = site.ask(row[0], address, body)
    for name, value in HEADERS.items():
        assert answer.headers[name] == value or name in ("cache-control", "content-security-policy")
    assert "'unsafe" not in answer.headers["content-security-policy"]


def test_sign_in_gives_one_answer_for_every_failure_and_slows_down(site: Served) -> None:
    tries = [{"name": "anna", "password": "wrong one"}, {"name": "nobody", "password": "wrong one"}]
    told = {site.ask("POST", "/sign-in", one).data["problem"] for one in tries}
    assert told == {"name and password do not fit"}
    found = [site.ask("POST", "/sign-in", tries[0]).data["problem"] for _ in range(6)]
    assert "too many tries" in found[-1]
    site.room.failures.clear()
    answer = site.ask("POST", "/sign-in", {"name": "anna", "password": "password of anna"})
    assert answer.status == 200
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()


def test_failed_tries_while_the_clock_was_ahead_lock_nobody_out(
    site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = site.room.clock()
    monkeypatch.setattr(site.room, "clock", lambda: now + 365 * 86400.0)
    for _ in range(7):
        site.ask("POST", "/sign-in", {"name": "cleo", "password": "wrong one"})
    monkeypatch.setattr(site.room, "clock", lambda: now)
    answer = site.ask("POST", "/sign-in", {"name": "cleo", "password": "password of cleo"})
    site.room.failures.clear()
    assert answer.status == 200


def test_a_session_ends_with_sign_out_a_new_password_and_a_disabled_account(site: Served) -> None:
    for change in (
        lambda journal: people.set_password(journal, "ben", "another password"),
        lambda journal: people.change_person(journal, "ben", is_disabled=True),
        lambda journal: people.change_person(journal, "ben", is_disabled=False),
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


def test_an_idle_and_an_old_session_are_over(site: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    now = site.room.clock()
    site.tokens.pop("r3", None)
    assert site.ask("GET", "/api/form", None, "r3").status == 200
    monkeypatch.setattr(site.room, "clock", lambda: now + people.IDLE_SECONDS + 5)
    assert site.ask("GET", "/api/form", None, "r3").status == 401
    site.tokens.pop("r3")


def test_a_page_and_its_words_are_for_those_who_hold_a_sheet_of_it(site: Served) -> None:
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


def test_the_same_key_saves_a_label_once(site: Served) -> None:
    address, body = "/api/sheets/1/labels", NEW_LABEL | {"key": "only-once"}
    first = site.ask("PUT", address, body, "r1")
    again = site.ask("PUT", address, body, "r1")
    assert (first.status, again.status) == (200, 200)
    assert first.data["seq"] == again.data["seq"]
    assert site.ask("PUT", address, body | {"key": "another"}, "r1").status == 409


def test_the_one_time_link_works_once_and_only_when_it_is_opened_by_hand(tmp_path: Path) -> None:
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


def test_a_damaged_database_is_told_and_the_server_answers_on(tmp_path: Path) -> None:
    store = make_receipts(tmp_path, 3)
    add(store)
    with served(store) as alone:
        alone.room.writer.submit(lambda log: log.db.execute("DROP TABLE label")).result()
        sheet = alone.ask("POST", "/api/claim", {}, "r1").data["sheet"]
        answer = alone.ask("GET", f"/api/sheets/{sheet}", None, "r1")
        assert answer.status == 500
        assert "cannot be read (no such table: label)" in answer.data["problem"]
        assert alone.ask("GET", "/api/head?head=1:00", None, "r1").status == 200


def test_a_link_out_of_the_folder_of_documents_is_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("a secret")
    (folder / "other.txt").write_text("another document")
    (folder / "doc-001.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(ProblemsError, match="doc-001"):
        make_receipts(tmp_path / "review", 1, documents=folder)
