"""Documents made wrong fail with a kind, and nothing that a document names is fetched."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest
from lxml import etree
from tests.documents.offices import make_docx, p
from tests.documents.pdfs import make_pdf, text
from tests.effort import costs_at_most
from tests.fuzz.documents import run, seeds

from fieldassay.documents.geometry import page_text
from fieldassay.documents.load import load_bytes
from fieldassay.documents.loaders.docx import attribute
from fieldassay.documents.sources import LoadOptions
from fieldassay.documents.transcript import DocumentError


def test_documents_made_wrong_end_in_a_transcript_or_a_kind_of_failure() -> None:
    outcomes = list(run(4 * len(seeds()), seed=7))
    assert not [outcome for outcome in outcomes if outcome[2].startswith("DEFECT")]


@pytest.fixture
def address() -> Iterator[tuple[str, list[object]]]:
    """Yield the address of a server, and who has called it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        called: list[object] = []

        def listen() -> None:
            while True:
                try:
                    called.append(server.accept())
                except OSError:
                    return

        threading.Thread(target=listen, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/x", called


def test_nothing_is_fetched(address: tuple[str, list[object]]) -> None:
    url, called = address
    html = f'<!DOCTYPE html SYSTEM "{url}"><html><link rel=stylesheet href="{url}"><img src="{url}"><iframe src="{url}"></iframe><p>x'
    entity = f'<!DOCTYPE x [<!ENTITY % a SYSTEM "{url}"> %a;<!ENTITY b SYSTEM "{url}">]>'
    docx = make_docx(p("x"), link=url)
    pdf = make_pdf(
        [text(72, 100, "x")],
        page_entries=f"/AA << /O << /S /URI /URI ({url}) >> >> /Annots [<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] "
        f"/A << /S /URI /URI ({url}) >> >>]",
    )
    documents = {
        "a.html": html.encode(),
        "a.docx": docx,
        "a.pdf": pdf,
        "b.html": entity.encode() + b"<html>&b;x",
    }
    for name, data in documents.items():
        try:
            load_bytes(data, name, LoadOptions(ocr="off"))
        except DocumentError as error:
            assert error.kind == "unreadable"
    assert not called


@pytest.mark.parametrize("depth", [200, 256, 260, 2000])
def test_deep_html_is_read_whole(depth: int) -> None:
    page = "<p>Invoice</p>" + "<div>" * depth + "Total: 5" + "</div>" * depth + "<p>IBAN DE1</p>"
    transcript = load_bytes(page.encode(), "a.html", LoadOptions(ocr="off"))
    assert [page_text(each).text.split("\n") for each in transcript.pages] == [
        ["Invoice", "Total: 5", "IBAN DE1"]
    ]


@pytest.mark.parametrize("depth", [2100, 50_000])
@pytest.mark.parametrize("tag", ["div", "span", "b"])
def test_html_deeper_than_its_reader_takes_is_refused_and_never_cut(depth: int, tag: str) -> None:
    page = "<p>Invoice</p>" + f"<{tag}>" * depth + "Total: 5" + f"</{tag}>" * depth + "<p>IBAN DE1</p>"
    mail = f"Subject: x\nContent-Type: text/html; charset=utf-8\n\n{page}"
    for name, data in (("a.html", page), ("a.eml", mail)):
        try:
            pages = load_bytes(data.encode(), name, LoadOptions(ocr="off")).pages
        except DocumentError as error:
            assert "depth" in str(error)
        else:
            assert "IBAN DE1" in page_text(pages[-1]).text


_MANY = " ".join(f"a{number}=1" for number in range(40_000))


@pytest.mark.parametrize(
    ("page", "is_read"),
    [
        (f"<p>x<b {_MANY}>Total</b>", False),
        (f"<p>x<b title='>' {_MANY.replace(' ', '/').replace('=1', '')}>Total", False),
        (f"<!--><b {_MANY}>Total", False),
        (f'<script><!-- <script></script> <b x=" --></script><b {_MANY}>Total', False),
        (f"<style/><b {_MANY}>Total", False),
        (f"<!-- <b {_MANY}> --><script>if (a <b {_MANY})</script><p title='{_MANY}'>Total", True),
        (f"<p>Total</b {_MANY}>", True),
        (f"<meta charset=punycode><p>a-{'9' * 200_000} Total", True),
    ],
)
def test_many_attributes_and_codecs_of_no_text_take_no_time(page: str, is_read: bool) -> None:
    for name, data in (
        ("a.html", page),
        ("a.eml", f"Subject: x\nContent-Type: text/html; charset=punycode\n\n{page}"),
    ):
        with costs_at_most(20):
            try:
                pages = load_bytes(data.encode(), name, LoadOptions(ocr="off")).pages
            except DocumentError as error:
                assert "attributes" in str(error)
                assert not is_read
            else:
                assert is_read
                assert page_text(pages[-1]).text.endswith("Total")


def test_an_attribute_is_looked_up_in_time() -> None:
    element = etree.fromstring("<a xmlns:r='u' r:x='y' " + _MANY.replace("=1", "=''") + "/>")
    with costs_at_most(5):
        assert (attribute(element, "x"), attribute(element, "none")) == ("y", None)
