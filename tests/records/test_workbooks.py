"""Excel workbooks: typed cells, the sheet that is taken, and hostile files."""

from __future__ import annotations

import contextlib
import datetime
import io
import zipfile
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from fieldassay import score
from fieldassay.errors import ProblemsError
from fieldassay.records.keys import SourceOptions
from fieldassay.records.source import open_source

Sheets = dict[str, list[list[Any]]]


def write(path: Path, sheets: Sheets) -> Path:
    with xlsxwriter.Workbook(path) as book:
        formats = {
            datetime.date: "yyyy-mm-dd",
            datetime.datetime: "yyyy-mm-dd hh:mm",
            datetime.time: "hh:mm",
            datetime.timedelta: "[h]:mm",
        }
        made = {kind: book.add_format({"num_format": text}) for kind, text in formats.items()}
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for at, row in enumerate(rows):
                for column, cell in enumerate(row):
                    if type(cell) in made:
                        sheet.write_datetime(at, column, cell, made[type(cell)])
                    elif cell == "#N/A":
                        sheet.write_formula(at, column, "=NA()", None, "#N/A")
                    elif cell is not None:
                        sheet.write(at, column, cell)
    return path


CELLS = {
    "text": ("a b", "a b"),
    "digits as text": ("007", "007"),
    "whole number": (7.0, 7),
    "number": (1.25, 1.25),
    "large number": (1e20, 1e20),
    "true": (True, True),
    "date": (datetime.date(2025, 3, 1), "2025-03-01"),
    "date and time": (datetime.datetime(2025, 3, 1, 13, 5), "2025-03-01T13:05:00"),
    "time": (datetime.time(8, 30), "08:30:00"),
    "duration": (datetime.timedelta(hours=30), "30:00:00"),
    "nothing": (None, ""),
    "error": ("#N/A", "#N/A"),
}


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_is_what_is_stored(tmp_path: Path, name: str) -> None:
    cell, expected = CELLS[name]
    path = write(tmp_path / "a.xlsx", {"Gold": [["id", "x", "y"], ["a", cell, 1]]})
    value = open_source(path).fetch([0])[0].data["x"]  # type: ignore[index]
    assert (value, type(value)) == (expected, type(expected))


def test_an_id_that_is_a_number_equals_its_digits(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.xlsx", {"Gold": [["id", "total"], [7.0, 5]]})
    assert (
        score(str(gold), [{"id": "7", "total": "5.00"}], "fields: {total: number}").value("accuracy") == 1.0
    )


@pytest.mark.parametrize(
    ("suffix", "sheet", "expected"),
    [("", "A", True), ("#B", "B", False), ("#A", "A", False)],
    ids=["first", "named", "first named"],
)
def test_the_sheet_that_is_named_is_read_else_the_first_filled_one_with_a_note(
    tmp_path: Path, suffix: str, sheet: str, expected: bool
) -> None:
    path = write(
        tmp_path / "a.xlsx", {"Empty": [], "A": [["id", "x"], ["1", "A"]], "B": [["id", "x"], ["1", "B"]]}
    )
    source = open_source(f"{path}{suffix}")
    assert source.fetch([0])[0].data == {"x": sheet}
    assert source.place(0) == f"{path}#{sheet}:2"
    assert [note.kind for note in source.notes] == (["sheet"] if expected else [])


def test_an_unknown_sheet_is_an_error_with_the_near_one(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", {"Gold": [["id"], ["1"]]})
    with pytest.raises(ProblemsError, match=r"has no sheet 'Golt'; did you mean 'Gold'\?"):
        open_source(f"{path}#Golt")


def test_blank_rows_before_the_header_and_blank_columns_are_passed_over_with_a_note(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", {"S": [[], [], [None, "id", None, "x"], [], [None, "a", None, "1"]]})
    source = open_source(path)
    assert source.fetch([0])[0].data == {"x": "1"}
    assert source.place(0).endswith("#S:5")
    assert [(note.kind, "row 3" in note.what) for note in source.notes] == [("blank_rows", True)]


def test_a_column_that_has_values_and_no_name_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", {"S": [["id", None, "x"], ["a", "b", "c"]]})
    with pytest.raises(ProblemsError, match="column 2 has no name"):
        open_source(path)


def bomb(path: Path) -> Path:
    write(path, {"S": [["id"], ["a"]]})
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/x.bin", b"\0" * 3_000_000)
    return path


def edited(path: Path, changes: dict[bytes, bytes]) -> Path:
    """Write a small workbook with other bytes in its parts."""
    write(path, {"S": [["id", "x"], ["a", "#N/A"]]})
    data = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(data, "w") as new:
        for info in old.infolist():
            text = reduce(lambda text, change: text.replace(*change), changes.items(), old.read(info))
            new.writestr(info, text)
    path.write_bytes(data.getvalue())
    return path


def far(path: Path) -> Path:
    return edited(
        path, {b'<row r="2"': b'<row r="1048576"', b'r="A2"': b'r="A1048576"', b'r="B2"': b'r="XFD1048576"'}
    )


def without_value(path: Path) -> Path:
    return edited(path, {b"<v>#N/A</v>": b"<v></v>", b' t="e"': b""})


def cut(path: Path) -> Path:
    path.write_bytes(write(path, {"S": [["id"], ["a"]]}).read_bytes()[:-2000])
    return path


def old_office(path: Path) -> Path:
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 2000)
    return path


BROKEN = {
    "bomb": (bomb, "too_large", "max_unpacked: SIZE"),
    "far cell": (far, "too_large", "1,048,576 rows and 16,384 columns"),
    "formula that was never computed": (without_value, "bad_workbook", "row 2: a formula was never computed"),
    "cut off": (cut, "bad_workbook", "not an Excel workbook that can be read"),
    "old format or password": (old_office, "unknown_format", "save it as .xlsx without a password"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_hostile_workbook_is_one_clear_problem(
    tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    make, kind, told = BROKEN[name]
    with pytest.raises(ProblemsError) as caught:
        open_source(make(tmp_path / "a.xlsx"), SourceOptions(unpacked=2_000_000 if name == "bomb" else None))
    [problem] = caught.value.problems
    assert problem.kind == kind and told in str(problem)
    assert capfd.readouterr().err == ""


def test_whatever_byte_is_damaged_a_table_or_problems_come_out(tmp_path: Path) -> None:
    data = write(tmp_path / "a.xlsx", {"S": [["id", "x"], ["a", 1], ["b", "c"]]}).read_bytes()
    for at in range(0, len(data), 61):
        damaged = bytearray(data)
        damaged[at] ^= 0xFF
        (tmp_path / "b.xlsx").write_bytes(damaged)
        try:
            open_source(tmp_path / "b.xlsx")
        except ProblemsError as error:
            assert error.problems


@pytest.mark.parametrize(
    "part", ["xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/worksheets/sheet1.xml"]
)
@pytest.mark.parametrize(
    "encoding", ["nope", "rot13", "hex", "base64", "zip", "idna", "utf-7", "undefined", "punycode"]
)
def test_an_encoding_that_is_none_is_refused_in_a_sentence(tmp_path: Path, part: str, encoding: str) -> None:
    book = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(book) as file:
        file.add_worksheet().write_row(0, 0, ["id", "total"])
    with zipfile.ZipFile(book) as source, zipfile.ZipFile(tmp_path / "bad.xlsx", "w") as target:
        for name in source.namelist():
            data = source.read(name)
            target.writestr(name, data.replace(b"UTF-8", encoding.encode(), 1) if name == part else data)
    with contextlib.suppress(ProblemsError):
        open_source(tmp_path / "bad.xlsx", SourceOptions())
