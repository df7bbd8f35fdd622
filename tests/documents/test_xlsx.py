"""Workbooks as a person sees them: formats, merged and hidden cells, comments, limits."""

from __future__ import annotations

import datetime
import io
import zipfile

import pytest
import xlsxwriter

from fieldassay.documents.layout.text import page_text
from fieldassay.documents.load import load_bytes
from fieldassay.documents.loaders.number_formats import format_number
from fieldassay.documents.options import LoadOptions
from fieldassay.documents.transcript import DocumentError

FORMATS = {
    "thousands": (1234567.891, "#,##0.00", "1,234,567.89"),
    "half up": (2.345, "0.00", "2.35"),
    "no digit": (0.4, "#", ""),
    "optional decimals": (1.5, "0.0##", "1.5"),
    "leading zeros": (42, "00000", "00042"),
    "in parentheses": (-12.5, "#,##0.00;(#,##0.00)", "(12.50)"),
    "minus": (-12.5, "0.0", "-12.5"),
    "zero by name": (0, '0;-0;"none"', "none"),
    "hidden": (5, ";;;", ""),
    "percent": (0.175, "0.0%", "17.5%"),
    "currency after": (99.9, '#,##0.00\\ "€"', "99.90 €"),
    "currency of a locale": (99.9, "[$£-809]#,##0.00", "£99.90"),
    "accounting": (1234.5, '_-* #,##0.00\\ "kr"_-', "1,234.50 kr"),
    "thousands scaled": (1234567, '0.0,"k"', "1234.6k"),
    "scientific": (12345, "0.00E+00", "1.23E+04"),
    "fraction": (1.25, "# ?/?", "1 1/4"),
    "condition": (1500, '[>=1000]0.0,"k";0', "1.5k"),
    "below the condition": (15, '[>=1000]0.0,"k";0', "15"),
    "phone": (5551234, "000-0000", "555-1234"),
    "color": (-3, "0;[Red]-0", "-3"),
    "date": (45351.5, "dd.mm.yyyy", "29.02.2024"),
    "date and time": (45351.75, "d mmm yy h:mm AM/PM", "29 Feb 24 6:00 PM"),
    "minutes": (0.5 + 61 / 86400, "h:mm:ss", "12:01:01"),
    "elapsed": (1.5, "[h]:mm", "36:00"),
    "weekday": (45351, "dddd, mmmm d", "Thursday, February 29"),
    "early": (1, "yyyy-mm-dd", "1900-01-01"),
    "impossible date": (-5, "yyyy-mm-dd", "1899-12-26"),
    "text": (12, "@", "12"),
    "general": (1e15, "General", "1E+15"),
}  # fmt: skip


@pytest.mark.parametrize(("value", "code", "shown"), FORMATS.values(), ids=FORMATS.keys())
def test_a_number_shows_as_its_format_says(value: float, code: str, shown: str) -> None:
    assert format_number(value, code) == shown


def workbook() -> bytes:
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as book:
        money, day = (
            book.add_format({"num_format": '#,##0.00 "EUR"'}),
            book.add_format({"num_format": "dd/mm/yyyy"}),
        )
        sheet = book.add_worksheet("Order")
        sheet.merge_range("A1:C1", "Order 17")
        sheet.write_row("A3", ["Item", "Qty", "Price"])
        sheet.write_row("A4", ["Bolt", 10])
        sheet.write_number("C4", 1234.5, money)
        sheet.write_formula("C5", "=SUM(C4:C4)", money, 1234.5)
        sheet.write_datetime("B5", datetime.datetime(2024, 2, 29), day)
        sheet.write_row("A6", ["secret", 1])
        sheet.set_row(5, None, None, {"hidden": True})
        sheet.write("E4", "also secret")
        sheet.set_column("E:E", None, None, {"hidden": True})
        sheet.write_comment("A4", "see drawing")
        sheet.write_rich_string("A7", "rich ", book.add_format({"bold": True}), "text")
        sheet.write_boolean("B7", True)
        book.add_worksheet("Notes").write("B2", "second sheet")
        hidden = book.add_worksheet("Prices")
        hidden.write("A1", "hidden sheet")
        hidden.hide()
    return stream.getvalue()


def test_a_workbook_reads_as_a_person_sees_it() -> None:
    found = load_bytes(workbook(), "a.xlsx")
    assert [(page.number, page.name) for page in found.pages] == [(1, "Order"), (2, "Notes"), (3, "Prices")]
    assert page_text(found.pages[0]).text.split("\n") == [
        "Order 17", "Item | Qty | Price", "Bolt | 10 | 1,234.50 EUR", " | 29/02/2024 | 1,234.50 EUR", "rich text | TRUE"
    ]  # fmt: skip
    assert [page_text(page).text for page in found.pages[1:]] == ["second sheet", ""]
    assert "secret" in page_text(found.pages[0], hidden=True).text
    assert found.notes == ("comments", "hidden_columns", "hidden_rows", "hidden_sheets")
    cells = {(cell.row, cell.column): cell for cell in found.pages[0].tables[0].cells}
    assert (cells[0, 0].rows, cells[0, 0].columns) == (1, 3)
    assert cells[3, 0].note == "comment: see drawing"
    assert cells[4, 2].note == 'formula: =SUM(C4:C4); format: #,##0.00 "EUR"; value: 1234.5'


def test_the_values_are_those_of_another_reader() -> None:
    from python_calamine import CalamineWorkbook

    expected = (
        CalamineWorkbook.from_filelike(io.BytesIO(workbook()))
        .get_sheet_by_index(0)
        .to_python(skip_empty_area=False)
    )
    cells = load_bytes(workbook(), "a.xlsx").pages[0].tables[0].cells
    texts = {
        (row, column): value
        for row, held in enumerate(expected)
        for column, value in enumerate(held)
        if value != ""
    }
    assert {(cell.row, cell.column) for cell in cells} == set(texts)
    assert all(
        cell.text == texts[cell.row, cell.column]
        for cell in cells
        if isinstance(texts[cell.row, cell.column], str)
    )


def changed(data: bytes, part: str, old: bytes, new: bytes) -> bytes:
    """Return an archive with one part changed."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as source,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            held = source.read(name)
            target.writestr(name, held.replace(old, new) if name == part else held)
    return out.getvalue()


ENTITIES = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]><workbook'
BAD = {
    "too many cells": (workbook(), LoadOptions(max_cells=5), "too_large"),
    "unpacks to too much": (
        changed(workbook(), "xl/styles.xml", b"</styleSheet>", b"<x>" + b" " * 9_000_000 + b"</x></styleSheet>"),
        LoadOptions(max_bytes=5_000_000), "too_large",
    ),
    "entities": (changed(workbook(), "xl/workbook.xml", b"<workbook", ENTITIES), LoadOptions(), "unreadable"),
    "no XML": (changed(workbook(), "xl/workbook.xml", b"<sheets>", b"<sheets"), LoadOptions(), "unreadable"),
    "cut": (workbook()[:-200], LoadOptions(), "unreadable"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "options", "kind"), BAD.values(), ids=BAD.keys())
def test_a_bad_workbook_fails_with_its_kind(data: bytes, options: LoadOptions, kind: str) -> None:
    with pytest.raises(DocumentError) as caught:
        load_bytes(data, "a.xlsx", options)
    assert caught.value.kind == kind
