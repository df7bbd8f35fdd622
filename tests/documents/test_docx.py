"""Word documents: order, changes, hidden text, tables in tables, notes."""

from __future__ import annotations

import pytest
from tests.documents.offices import make_docx, p, r, tbl, tc

from fieldassay.documents.layout.text import page_text
from fieldassay.documents.load import load_bytes
from fieldassay.documents.transcript import DocumentError


def text_of(body: str, hidden: bool = False, **parts: str) -> str:
    found = load_bytes(make_docx(body, parts), "a.docx")
    return "\f".join(page_text(page, hidden).text for page in found.pages)


BOX = (
    "<w:r><mc:AlternateContent><mc:Choice><wps:txbx><w:txbxContent>{0}</w:txbxContent></wps:txbx></mc:Choice>"
    "<mc:Fallback><v:textbox><w:txbxContent>{0}</w:txbxContent></v:textbox></mc:Fallback></mc:AlternateContent></w:r>"
)
CASES = {
    "paragraphs": (p("One ", "two") + p("three"), "One two\nthree"),
    "words in pieces": (p("Inv", "oice"), "Invoice"),
    "tabs and breaks": (p("a", "<w:r><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r>"), "a b\nc"),
    "deletion and insertion": (
        p("Total ", '<w:del><w:r><w:delText>100</w:delText></w:r></w:del>', "<w:ins><w:r><w:t>120</w:t></w:r></w:ins>"),
        "Total 120",
    ),
    "moved": (p("<w:moveFrom><w:r><w:t>old</w:t></w:r></w:moveFrom>", "<w:moveTo><w:r><w:t>new</w:t></w:r></w:moveTo>"), "new"),
    "text box": (p("before", BOX.format(p("in the box"))) + p("after"), "before\nin the box\nafter"),
    "hidden": (p("seen ", r("secret", "<w:vanish/>")), "seen"),
    "white": (p("seen ", r("secret", '<w:color w:val="FFFFFF"/>')), "seen"),
    "tiny": (p("seen ", r("secret", '<w:sz w:val="2"/>')), "seen"),
    "white on a shaded cell": (tbl(tc(p(r("Head", '<w:color w:val="ffffff"/>'))) + tc("b")), "Head | b"),
    "field": (p("<w:r><w:instrText>PAGE</w:instrText></w:r>", "7"), "7"),
    "check box": (p('<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>', " yes"), "☑ yes"),
    "content control": (f"<w:sdt><w:sdtContent>{p('held')}</w:sdtContent></w:sdt>", "held"),
    "table": (p("a") + tbl(tc("k") + tc("v"), tc("x") + tc("1")) + p("b"), "a\nk | v\nx | 1\nb"),
    "merged cells": (
        tbl(
            tc("head", '<w:gridSpan w:val="2"/>') + tc("c"),
            tc("tall", '<w:vMerge w:val="restart"/>') + tc("1") + tc("2"),
            tc("<w:p/>", "<w:vMerge/>") + tc("3") + tc("4"),
        ),
        "head |  | c\ntall | 1 | 2\n | 3 | 4",
    ),
    "table in a table": (
        tbl(tc("outer") + tc(p("with") + tbl(tc("in") + tc("ner")))), "outer | with\nin | ner",
    ),
    "page break": (p("one") + p('<w:r><w:br w:type="page"/></w:r>', "two"), "one\ftwo"),
    "removed row": (
        "<w:tbl><w:tr><w:trPr><w:del/></w:trPr>" + tc("gone") + "</w:tr><w:tr>" + tc("a") + tc("b") + "</w:tr></w:tbl>", "a | b",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), CASES.values(), ids=CASES.keys())
def test_a_document_reads_as_word_shows_it(body: str, expected: str) -> None:
    assert text_of(body) == expected


def test_hidden_text_is_there_when_asked_for() -> None:
    assert text_of(CASES["hidden"][0], hidden=True) == "seen secret"


def test_headers_footers_and_footnotes_are_read() -> None:
    notes = p("1 see below")
    assert text_of(
        p("body"), header=p("Letterhead"), footer=p("Page 1"), footnotes=f"<w:footnote>{notes}</w:footnote>"
    ) == ("Letterhead\nbody\nPage 1\n1 see below")


def test_notes_say_what_was_found() -> None:
    body = CASES["deletion and insertion"][0] + CASES["hidden"][0]
    assert load_bytes(make_docx(body, {"comments": p("why?")}), "a.docx").notes == (
        "comments", "hidden_text", "tracked_changes"
    )  # fmt: skip


def test_cells_know_how_many_they_span() -> None:
    (table,) = load_bytes(make_docx(CASES["merged cells"][0]), "a.docx").pages[0].tables
    assert [(cell.text, cell.rows, cell.columns) for cell in table.cells][:3] == [
        ("head", 1, 2), ("c", 1, 1), ("tall", 2, 1)
    ]  # fmt: skip


BAD = {
    "deeply nested": (tbl(tc("x")), 500, "unreadable"),
    "nested": (tbl(tc("x")), 70, "too_large"),
    "nothing": ("<w:p/>", 0, "no_text"),
}


@pytest.mark.parametrize(("body", "depth", "kind"), BAD.values(), ids=BAD.keys())
def test_a_bad_document_fails_with_its_kind(body: str, depth: int, kind: str) -> None:
    for _ in range(depth):
        body = tbl(tc(body))
    with pytest.raises(DocumentError) as caught:
        text_of(body)
    assert caught.value.kind == kind
