"""Text, Markdown, CSV and HTML to transcripts, and which kind a file is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fieldassay.documents.kinds import find_kind
from fieldassay.documents.layout.text import page_text, transcript_text
from fieldassay.documents.load import load, load_bytes
from fieldassay.documents.options import LoadOptions
from fieldassay.documents.transcript import DocumentError


def text_of(name: str, data: bytes | str, hidden: bool = False) -> str:
    found = load_bytes(data.encode() if isinstance(data, str) else data, name)
    return "\f".join(page_text(page, hidden).text for page in found.pages)


PLAIN = "Invoice 17\n\nItem          Qty    Price\nBolt M8       10      2.50\nNut           200    12.00\n\nTotal: 14.50\n"


def test_plain_text_keeps_its_lines_and_aligned_columns_are_a_table() -> None:
    assert text_of("a.txt", PLAIN).split("\n") == [
        "Invoice 17", "Item | Qty | Price", "Bolt M8 | 10 | 2.50", "Nut | 200 | 12.00", "Total: 14.50"
    ]  # fmt: skip


def test_a_form_feed_begins_a_page() -> None:
    pages = load_bytes(b"one\n\ftwo\n", "a.txt").pages
    assert [(page.number, page.lines[0].text) for page in pages] == [(1, "one"), (2, "two")]


CSVS = {
    "semicolons, decimal commas": ("id;amount\n1;1.234,00\n2;3,50\n", "id | amount\n1 | 1.234,00\n2 | 3,50"),
    "quotes and line breaks": ('a,b\n"x, y","two\nlines"\n', "a | b\nx, y | two lines"),
    "tabs": ("a\tb\n1\t2\n", "a | b\n1 | 2"),
    "lines in UTF-8 and in cp1252": (b"Tolu\xe8ne;1\nAc\xc3\xa9tone;2\n", "Toluène | 1\nAcétone | 2"),
    "cp1252": ("Straße;Größe\nÄ;1,5 µm\n".encode("cp1252"), "Straße | Größe\nÄ | 1,5 µm"),
    "utf-16": ("a;b\n1;é\n".encode("utf-16"), "a | b\n1 | é"),
    "one column": ("name\nAda\n", "name\nAda"),
    "ragged": ("a,b,c\n1,2\n", "a | b | c\n1 | 2"),
}


@pytest.mark.parametrize(("data", "expected"), CSVS.values(), ids=CSVS.keys())
def test_delimited_text_is_a_table(data: bytes | str, expected: str) -> None:
    assert text_of("a.csv", data) == expected


def test_markdown_keeps_lines_and_its_tables() -> None:
    text = "# Title\n\nSome *text*\n\n| a | b |\n|---|:-:|\n| 1 | x\\|y |\n\nEnd | not a table\n"
    assert text_of("a.md", text) == "# Title\nSome *text*\na | b\n1 | x|y\nEnd | not a table"


HTMLS = {
    "blocks": ("<html><title>T</title><p>One <b>two</b><br>three<div>four</div>five", "One two\nthree\nfour\nfive"),
    "data table": ("<html><p>a<table><tr><th>k<th>v</tr><tr><td>x<td>1</tr></table>b", "a\nk | v\nx | 1\nb"),
    "layout table": (
        "<html><table><tr><td>left<td><table><tr><td>k<td>v</tr></table></tr></table>", "left\nk | v"
    ),
    "spans": (
        "<html><table><tr><td colspan=2>head<td>c</tr><tr><td rowspan=2>a<td>b<td>c</tr><tr><td>d<td>e</tr></table>",
        "head |  | c\na | b | c\n | d | e",
    ),
    "scripts and styles": ("<html><style>p{}</style><script>alert(1)</script><p>x<noscript>y</noscript>z", "xz"),
    "hidden": ('<html><p>seen<span style="display:none">secret</span><p hidden>more</p>', "seen"),
    "form fields": ('<html><p>Name: <input value="Ada"> <input type=hidden value="x">', "Name: Ada"),
    "entities": ("<html><p>1&nbsp;234,50 &euro; &amp; more", "1 234,50 € & more"),
    "charset": ('<html><meta charset="windows-1252"><p>caf\xe9'.encode("cp1252"), "café"),
    "no external entities": ('<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]><html><p>a&x;b', "]>\na&x;b"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "expected"), HTMLS.values(), ids=HTMLS.keys())
def test_html_reads_as_a_browser_shows_it(data: bytes | str, expected: str) -> None:
    assert text_of("a.html", data) == expected


def test_hidden_html_is_there_when_asked_for() -> None:
    data = b'<html><p>seen <span style="display: none">secret</span></p>'
    assert text_of("a.html", data, hidden=True) == "seen secret"
    assert load_bytes(data, "a.html").notes == ("hidden_text",)


def test_offsets_lead_to_boxes_and_pieces() -> None:
    found = transcript_text(load_bytes(PLAIN.encode(), "a.txt"), 1)
    start = found.text.index("12.00")
    (piece,) = found.pieces(start, start + 5)
    assert (piece.table, found.text[piece.start : piece.end]) == (0, "12.00")
    assert found.box(start, start + 5) == piece.box
    start = found.text.index("Total")
    assert [piece.index for piece in found.pieces(start, start + 12)] == [0, 1]
    assert found.box(0, 0) is None


KINDS = {
    "a pdf by another name": ("a.txt", b"%PDF-1.7 x", "pdf"),
    "an image without a suffix": ("a", b"\x89PNG\r\n\x1a\n", "image"),
    "mail without a suffix": ("a", b"From: a@b\nTo: c@d\nSubject: x\n\nhello", "eml"),
    "text like mail": ("a.txt", b"From: a@b\nTo: c@d\nSubject: x\n\nhello", "text"),
    "markup without a suffix": ("a", b"<!DOCTYPE html><p>x", "html"),
}


@pytest.mark.parametrize(("name", "data", "kind"), KINDS.values(), ids=KINDS.keys())
def test_content_goes_before_the_suffix(name: str, data: bytes, kind: str) -> None:
    assert find_kind(name, data) == kind


UNREADABLE = {
    "empty": ("a.txt", b" \n"), "named like a pdf": ("a.pdf", b"hello"), "rtf": ("a.rtf", b"{\\rtf1 x}"),
    "a zip archive": ("a.zip", b"PK\x03\x04 broken"), "an image's name": ("a.png", b"hello"),
    "bytes": ("a.bin", bytes(range(8)) + b"\0" * 900),
}  # fmt: skip


@pytest.mark.parametrize(("name", "data"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_no_loader_reads_is_refused_with_a_sentence(name: str, data: bytes) -> None:
    with pytest.raises(DocumentError) as caught:
        load_bytes(data, name)
    assert caught.value.kind == "unreadable"


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x" * 100)
    with pytest.raises(DocumentError) as caught:
        load(tmp_path / "a.txt", LoadOptions(max_bytes=99))
    assert caught.value.kind == "too_large"


@pytest.mark.slow
def test_importing_the_package_loads_no_library() -> None:
    code = (
        "import sys, pkgutil, importlib, fieldassay.documents as d\n"
        "for m in pkgutil.walk_packages(d.__path__, 'fieldassay.documents.'): importlib.import_module(m.name)\n"
        "print([m for m in ('pypdfium2', 'lxml', 'PIL', 'numpy', 'rapidocr') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
