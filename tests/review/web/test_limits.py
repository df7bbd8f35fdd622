"""The limits of the server of a review, and pictures that are bombs."""

import io
import struct
import threading
import zipfile
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec.structs import replace
from tests.documents.making import make_pdf
from tests.review.receipts import add, make_receipts, take
from tests.review.web.served import served

from fieldassay.review.web import guard
from fieldassay.review.web.routes import LIMITS

# Documents made to exhaust a machine: each fails alone, within the limits of its child, and the server
# answers on.

pytest.importorskip("starlette")
pytest.importorskip("pypdfium2")
resource = pytest.importorskip("resource", reason="no measure of memory")


def zipped(name, start, end):
    """Return an archive with a file of 600 MB, in three megabytes."""
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(name, "w") as part,
    ):
        part.write(start)
        for _ in range(600):
            part.write(b" " * 1_000_000)
        part.write(end)
    return stream.getvalue()


def docx():
    return zipped("word/document.xml", b"<w:document>", b"</w:document>")


def entities():
    """Return a Word document whose entities name ten others each, nine times over."""
    kinds = "".join(f'<!ENTITY e{at} "{f"&e{at - 1};" * 10}">' for at in range(1, 10))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        text = f'<!DOCTYPE w [<!ENTITY e0 "lol">{kinds}]><w xmlns="x">&e9;</w>'
        archive.writestr("word/document.xml", text)
    return stream.getvalue()


def xlsx():
    return zipped("xl/workbook.xml", b"<workbook>", b"</workbook>")


def png():
    """Return a picture of 2,500 megapixels."""

    def chunk(kind, data):
        return (
            struct.pack(">I", len(data))
            + kind
            + data
            + struct.pack(">I", zlib.crc32(kind + data) & 0xFFFFFFFF)
        )

    head = struct.pack(">IIBBBBB", 50_000, 50_000, 1, 0, 0, 0, 0)
    packed = zlib.compressobj(1)
    rows = b"".join([*(packed.compress(bytes(6251)) for _ in range(50_000)), packed.flush()])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def deep_pdf():
    return make_pdf([""], extra=[b"[" * 200_000 + b"]" * 200_000]).replace(b"/Root 1 0 R", b"/Root 4 0 R")


def nested_pages():
    """Return a PDF whose tree of pages contains itself."""
    return make_pdf(["BT /F1 18 Tf 120 500 Td (1) Tj ET"]).replace(b"/Kids [4 0 R]", b"/Kids [2 0 R]")


def huge_page():
    wide = b"/MediaBox [0 0 14400000 14400000]"
    return make_pdf(["BT /F1 18 Tf 120 500 Td (1) Tj ET"]).replace(b"/MediaBox [0 0 612 792]", wide)


def long_content():
    """Return a PDF with a page that draws a million paths."""
    return make_pdf(["0 0 m 600 700 l S\n" * 1_000_000])


BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "zip bomb": (".docx", docx),
    "entities": (".docx", entities),
    "workbook": (".xlsx", xlsx),
    "picture": (".png", png),
    "deep PDF": (".pdf", deep_pdf),
    "pages in themselves": (".pdf", nested_pages),
    "huge page": (".pdf", huge_page),
    "long content": (".pdf", long_content),
}


def test_a_document_that_exhausts_its_child_fails_alone_and_the_server_answers_on(tmp_path, monkeypatch):
    monkeypatch.setattr("fieldassay.review.web.serve.LIMITS", replace(LIMITS, memory=600 << 20, seconds=4.0))
    folder = tmp_path / "documents"
    folder.mkdir()
    for number, (suffix, make) in enumerate(BOMBS.values(), 1):
        (folder / f"doc-{number:03d}{suffix}").write_bytes(make())
    last = len(BOMBS) + 1
    (folder / f"doc-{last:03d}.txt").write_text("Total 11.50\n")
    store = make_receipts(tmp_path / "review", last, documents=folder)
    add(store)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with served(store) as alone:
        for number, name in enumerate(BOMBS, 1):
            for path in ("", "/1"):
                answer = alone.ask("GET", f"/api/pages/{number}{path}", None, "r1")
                assert answer.status in (200, 404), name
                assert answer.status == 200 or "this document" in answer.data["problem"], name
            assert alone.ask("GET", "/api/form", None, "r1").status == 200
        assert alone.ask("GET", f"/api/pages/{last}/1/words", None, "r1").data["words"][0][0] == "Total"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000


# A stranger who sends many passwords or no number gets an answer, and takes nothing away.


def test_passwords_are_hashed_one_at_a_time_and_counted_before(tmp_path, monkeypatch):
    store = make_receipts(tmp_path, 1)
    add(store, "anna", "reviewer", "a long password")
    now, most, calls, lock = [0], [0], [0], threading.Lock()
    check = guard.check_password

    def counted(*given):
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


def test_the_right_password_counts_as_no_failure(tmp_path):
    store = make_receipts(tmp_path, 1)
    add(store, "anna", "reviewer", "a long password")
    with served(store) as site:
        for _ in range(8):
            assert site.ask("POST", "/sign-in", {"name": "anna", "password": "a long password"}).status == 200


@pytest.fixture(scope="module")
def site(tmp_path_factory):
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
def test_a_number_that_is_none_is_told_as_such(site, body):
    assert site.ask("PUT", "/api/sheets/1/labels", body.encode(), who="r1").status == 422


@pytest.mark.parametrize(
    "path", ["/api/claim", "/api/read", "/api/rulings", "/api/sheets/1/finish", "/sign-in"]
)
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-1e999"])
def test_no_request_takes_what_is_no_number(site, path, number):
    body = f'{{"document": {number}, "name": "a", "password": "b", "field": "shop", "text": "x"}}'
    assert site.ask("POST", path, body.encode(), who="r1").status == 422
