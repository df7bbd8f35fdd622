"""Documents made to exhaust a machine: each fails alone, within the limits of its child, and the server answers on."""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.documents.making import make_pdf
from tests.review.receipts import add, make_receipts
from tests.review.web.served import served

from fieldassay.review.web.room import LIMITS

pytest.importorskip("starlette")
pytest.importorskip("pypdfium2")
resource = pytest.importorskip("resource", reason="no measure of memory")


def zipped(name: str, start: bytes, end: bytes) -> bytes:
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


def docx() -> bytes:
    return zipped("word/document.xml", b"<w:document>", b"</w:document>")


def entities() -> bytes:
    """Return a Word document whose entities name ten others each, nine times over."""
    kinds = "".join(f'<!ENTITY e{at} "{f"&e{at - 1};" * 10}">' for at in range(1, 10))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        text = f'<!DOCTYPE w [<!ENTITY e0 "lol">{kinds}]><w xmlns="x">&e9;</w>'
        archive.writestr("word/document.xml", text)
    return stream.getvalue()


def xlsx() -> bytes:
    return zipped("xl/workbook.xml", b"<workbook>", b"</workbook>")


def png() -> bytes:
    """Return a picture of 2,500 megapixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
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


def deep_pdf() -> bytes:
    return make_pdf([""], extra=[b"[" * 200_000 + b"]" * 200_000]).replace(b"/Root 1 0 R", b"/Root 4 0 R")


def nested_pages() -> bytes:
    """Return a PDF whose tree of pages contains itself."""
    return make_pdf(["BT /F1 18 Tf 120 500 Td (1) Tj ET"]).replace(b"/Kids [4 0 R]", b"/Kids [2 0 R]")


def huge_page() -> bytes:
    wide = b"/MediaBox [0 0 14400000 14400000]"
    return make_pdf(["BT /F1 18 Tf 120 500 Td (1) Tj ET"]).replace(b"/MediaBox [0 0 612 792]", wide)


def long_content() -> bytes:
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


def test_a_document_that_exhausts_its_child_fails_alone_and_the_server_answers_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
