"""Excel workbooks: typed cells, the sheet that is taken, and hostile files."""

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


def write(path: Path, sheets: Sheets, merged: dict[str, str] | None = None) -> Path:
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
                    elif isinstance(cell, tuple):  # with its format
                        sheet.write(at, column, cell[0], book.add_format({"num_format": cell[1]}))
                    elif cell is not None:
                        sheet.write(at, column, cell)
            for cells, value in (merged or {}).items():
                sheet.merge_range(cells, value)
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


SHOWN = {
    "percentage": (0.19, "0%", "19%"),
    "decimals of a percentage": (0.075, "0.0#%", "7.5%"),
    "leading zeros": (221602, "0000000000", "0000221602"),
    "money": (1234.5, '"€" #,##0.00', 1234.5),
    "money below nothing": (-7.5, "#,##0.00;[Red](#,##0.00)", -7.5),
    "digits of the computer": (0.1 + 0.2, "General", 0.3),
    "a fraction": (7.5, "# ?/?", 7.5),
    "a telephone number": (1234567, "000-0000", 1234567),
    "thousands": (1234567.0, "#,##0,", 1234567),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_number_is_what_excel_shows(tmp_path: Path, name: str) -> None:
    number, shown_by, expected = SHOWN[name]
    source = open_source(write(tmp_path / "a.xlsx", {"S": [["id", "x"], ["a", (number, shown_by)]]}))
    assert ([record.data for record in source], source.notes) == ([{"x": expected}], ())


def test_digits_that_excel_does_not_show_are_left_out_with_a_note(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", {"S": [["id", "x"], ["a", (19.2603, "0.00")], ["b", (7.5, "0.00")]]})
    source = open_source(path)
    assert [record.data for record in source] == [{"x": 19.26}, {"x": 7.5}]
    assert [str(note).partition(": ")[2] for note in source.notes] == [
        "1 number with more digits than Excel shows: read as shown (19.2603 in row 2 is shown as 19.26); "
        "show all digits in Excel if they count"
    ]


NAMES = ["id", "vendor", "net", "gross"]
PLAIN = [["i1", "Oak", 10.5, 12.5], ["i2", "Elm", 20.25, 24.1], ["i3", "Ash", 5, 5.95]]
SUMS = [35.75, 42.55]
LAID_OUT: dict[str, tuple[list[list[Any]], dict[str, str], list[str]]] = {
    "a title": ([["Gold, checked by Anna"], [], NAMES, *PLAIN], {}, ["title_rows"]),
    "a title of two rows": ([["Gold", "2025"], ["by Anna"], NAMES, *PLAIN], {}, ["title_rows"]),
    "a merged title": ([[], NAMES, *PLAIN], {"A1:D1": "Gold"}, ["title_rows"]),
    "names in two rows": (
        [["id", "vendor", "Amounts"], [None, None, "net", "gross"], *PLAIN],
        {},
        ["title_rows"],
    ),
    "merged names in two rows": (
        [[], [None, None, "net", "gross"], *PLAIN],
        {"A1:A2": "id", "B1:B2": "vendor", "C1:D1": "Amounts"},
        ["merged_cells", "title_rows"],
    ),
    "sums without a word": ([NAMES, *PLAIN, [None, None, *SUMS]], {}, ["total_row"]),
    "a total without an id": ([NAMES, *PLAIN, [None, "Total:", *SUMS]], {}, ["total_row"]),
    "a total in place of an id": ([NAMES, *PLAIN, [], ["Gesamt", None, *SUMS]], {}, ["total_row"]),
    "two totals": (
        [NAMES, *PLAIN, ["Subtotal", None, *SUMS], [None, "Grand total", 40, 50]],
        {},
        ["total_row"],
    ),
}


@pytest.mark.parametrize("suffix", ["xlsx", "csv"])
@pytest.mark.parametrize("name", LAID_OUT)
def test_a_table_with_titles_and_totals_is_the_plain_one_with_a_note(
    tmp_path: Path, name: str, suffix: str
) -> None:
    rows, merged, kinds = LAID_OUT[name]
    if suffix == "csv" and not merged:
        texts = [[str("" if cell is None else cell).replace(".", ",") for cell in row] for row in rows]
        path = tmp_path / "a.csv"
        path.write_text("".join(";".join([*row, *[""] * (4 - len(row))]) + "\n" for row in texts))
    else:
        path = write(tmp_path / "a.xlsx", {"S": rows}, merged)
    source = open_source(path, SourceOptions(is_gold=True))
    read = [[record.id, *(record.data or {}).values()] for record in source]
    cells = [[str(cell).replace(",", ".") for cell in row] for row in read]
    assert (cells, [note.kind for note in source.notes]) == ([[*map(str, row)] for row in PLAIN], kinds)


UNCERTAIN: dict[str, tuple[Any, ...]] = {
    "names or values": ([["id", None, "x"], ["a", "b", "c"], ["d", "e", "f"]], "column 2 has no name"),
    "a last column without a name": ([["id", "x"], ["a", 1, 2]], "column 3 has no name"),
    "a total that is no sum": (
        [NAMES, *PLAIN, ["Total", "Fir", 3, 4]],
        r"#S:5: 'Total' may be a total or a record: it is not the sum of the rows above; delete the row, or give it",
    ),
    "no id, no word, no sum": ([NAMES, *PLAIN, [None, "Fir", 3, 4]], "#S:5: has no id"),
    "a sheet that is not there": ([NAMES, *PLAIN], "has no sheet 'T'; one of: S", "#T"),
}


@pytest.mark.parametrize("name", UNCERTAIN)
def test_a_table_that_is_not_certain_is_refused(tmp_path: Path, name: str) -> None:
    rows, message, *sheets = UNCERTAIN[name]
    with pytest.raises(ProblemsError, match=message):
        open_source(
            f"{write(tmp_path / 'a.xlsx', {'S': rows})}{''.join(sheets)}", SourceOptions(is_gold=True)
        )


CERTAIN: dict[str, tuple[Sheets, list[dict[str, Any]], list[str]]] = {
    "blank rows before the header and blank columns": (
        {"S": [[], [], [None, "id", None, "x"], [], [None, "a", None, "1"]]},
        [{"x": "1"}],
        ["blank_rows"],
    ),
    "a name in two lines": ({"S": [["id", "Vendor\nName"], ["a", "Oak"]]}, [{"Vendor Name": "Oak"}], []),
    "names that repeat stand under those above": (
        {
            "S": [
                ["id", "seller", None, "buyer"],
                [None, "name", "rate", "name", "rate"],
                ["a", "S", 1, "B", 2],
            ]
        },
        [{"seller": {"name": "S", "rate": 1}, "buyer": {"name": "B", "rate": 2}}],
        ["title_rows"],
    ),
    "a record that looks like a total": (
        {"S": [["id", "vendor", "net"], ["a", "Oak", 1], ["b", "Elm", 2], ["c", "Total", 3]]},
        [{"vendor": "Oak", "net": 1}, {"vendor": "Elm", "net": 2}, {"vendor": "Total", "net": 3}],
        [],
    ),
    "a sheet of remarks gives way to a table": (
        {"Read me": [["About"], ["by Anna"]], "Gold": [["id", "x"], ["a", 1]]},
        [{"x": 1}],
        ["sheet"],
    ),
}


@pytest.mark.parametrize("name", CERTAIN)
def test_a_table_is_read_as_it_is_meant(tmp_path: Path, name: str) -> None:
    sheets, records, kinds = CERTAIN[name]
    source = open_source(write(tmp_path / "a.xlsx", sheets), SourceOptions(is_gold=True))
    assert ([record.data for record in source], [note.kind for note in source.notes]) == (records, kinds)


ITEMS = {
    "ids in each row": ([["i1", "Oak", "A", 2], ["i1", "Oak", "B", 3], ["i2", "Elm", "C", 4]], {}),
    "ids in the first row": ([["i1", "Oak", "A", 2], [None, None, "B", 3], ["i2", "Elm", "C", 4]], {}),
    "merged ids": (
        [[None, None, "A", 2], [None, None, "B", 3], ["i2", "Elm", "C", 4]],
        {"A2:A3": "i1", "B2:B3": "Oak"},
    ),
    "a total": (
        [["i1", "Oak", "A", 2], [None, None, "B", 3], ["i2", "Elm", "C", 4], ["Total", None, None, 9]],
        {},
    ),
}


@pytest.mark.parametrize("name", ITEMS)
def test_rows_of_items_are_scored_without_a_spec(tmp_path: Path, name: str) -> None:
    rows, merged = ITEMS[name]
    gold = write(tmp_path / "gold.xlsx", {"S": [["id", "vendor", "sku", "quantity"], *rows]}, merged)
    predictions = [
        {"id": "i1", "vendor": "Oak", "lines": [{"sku": "A", "quantity": 2}, {"sku": "B", "quantity": 3}]},
        {"id": "i2", "vendor": "Elm", "lines": [{"sku": "C", "quantity": 5}]},
    ]
    assert score(gold, predictions, bootstrap=0).value("accuracy") == pytest.approx((1 + 2 / 3) / 2)


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
