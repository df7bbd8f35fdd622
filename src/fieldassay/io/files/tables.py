"""Tables as files: Parquet and spreadsheets."""

from __future__ import annotations

import errno
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from fieldassay.errors import problem

if TYPE_CHECKING:
    import polars as pl


# Parquet files that may be damaged; whatever Polars raises for a damaged one becomes one problem.


def write_parquet(frame: pl.DataFrame | pl.LazyFrame, path: Path, **options: Any) -> None:
    """Write a table to a file of any name; what Polars says of a full disk is an `OSError`."""
    import polars as pl

    write = frame.sink_parquet if isinstance(frame, pl.LazyFrame) else frame.write_parquet
    with path.open("wb") as stream:  # Polars takes no path that is not UTF-8
        try:
            write(stream, **options)
        except pl.exceptions.PolarsError as error:
            raise OSError(errno.EIO, " ".join(str(error).split())[:200], str(path)) from None


def stack(heads: Sequence[pl.DataFrame], tables: Iterable[pl.DataFrame]) -> pl.LazyFrame:
    """Return tables below one another, to be read once, few of them in memory; missing columns are null.

    `heads` are tables without rows that have all columns between them: at least one.
    """
    import polars as pl
    from polars.io.plugins import register_io_source

    empty = pl.concat(heads, how="diagonal")
    whole = (pl.concat([empty, table], how="diagonal") for table in chain([empty], tables))
    return register_io_source(lambda *_: whole, schema=empty.schema)


def scannable(path: Path) -> Path | bytes:
    """Return what Polars scans for a file: its path, or its bytes where the path is not UTF-8."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return path.read_bytes()
    return path


def read_parquet(
    source: Path | bytes, label: str, remedy: str = "write it again", kind: str = "bad_parquet"
) -> pl.DataFrame:
    """Return the table of a Parquet file. Raises `ProblemsError` if it is damaged or of another format.

    Rust writes the text of a panic to standard error before; only a redirection of the whole process could
    keep it off.
    """
    import polars as pl

    try:
        return pl.read_parquet(source if isinstance(source, bytes) else scannable(source), glob=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise problem(label, f"not a Parquet file that can be read ({reason})", remedy, kind) from None


# Tables for spreadsheets: CSV and Excel files whose texts are never taken for formulas.

_PLAIN_NUMBER = re.compile(r"[+-]?[0-9]{1,30}(?:\.[0-9]{1,30})?")
_OPENS_FORMULA = re.compile(
    r" *[\t\r\n=+\-@＝＋－＠]|[\s\x00-\x1f\x7f-\x9f\u200b\u2028\u2029\ufeff]*[=+\-@＝＋－＠]"
)
_NEEDS_QUOTES = re.compile(r'[",\x00-\x1f\x7f-\x9f\u2028\u2029]|\A\s|\s\Z')
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]")
_BYTES_AT_ONCE = 1 << 20

MOST_ROWS = 1_048_576
"""The maximum of rows in an Excel sheet; further rows go to another sheet."""
MOST_CHARACTERS = 32_767
"""The maximum of characters in an Excel cell; longer texts are cut and end with an ellipsis."""


class WorkbookTable(Struct, frozen=True):
    """A table of a workbook: its name, columns and rows; the rows are read once."""

    name: str
    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    r"""Return rows as lines of CSV.

    A cell with a control character is quoted, since some programs start a new row at any of them.

    >>> print(csv_text([("a", None, True, 0.5), ("=1+1", "a, b", "x", "-2")]), end="")
    a,,true,0.5
    '=1+1,"a, b",x,-2
    """
    return "".join(",".join(map(_csv_cell, row)) + "\n" for row in rows)


def _csv_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return repr(value)
    text = make_harmless(value)
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text


def make_harmless(text: str) -> str:
    """Return a cell's text made safe: never a formula in a spreadsheet, and without NUL.

    >>> make_harmless('=HYPERLINK("x")'), make_harmless("-12.50"), make_harmless("-2+3")
    ('\\'=HYPERLINK("x")', '-12.50', "'-2+3")
    """
    plain = text.replace("\0", "\\0")
    return f"'{plain}" if _OPENS_FORMULA.match(plain) and not _PLAIN_NUMBER.fullmatch(plain) else plain


def format_hidden(text: str) -> str:
    r"""Return a name, id or path with control characters and direction marks as escapes.

    Values of documents stay as they are.

    >>> print(format_hidden("a\x1b[31m\u202eb"))
    a\x1b[31m\u202eb
    """
    if text.isprintable():
        return text
    return _HIDDEN.sub(
        lambda match: f"\\x{ord(match[0]):02x}" if ord(match[0]) < 256 else f"\\u{ord(match[0]):04x}", text
    )


def show_names(row: Iterable[Any]) -> list[Any]:
    """Return a row of names and numbers for display."""
    return [format_hidden(cell) if isinstance(cell, str) else cell for cell in row]


def workbook_bytes(sheets: Iterable[WorkbookTable]) -> Iterator[bytes]:
    """Yield an Excel file, in bounded memory.

    Texts stay texts: none becomes a formula, a number or an address.
    """
    import xlsxwriter

    with tempfile.TemporaryDirectory(prefix="fieldassay-") as folder:
        file = Path(folder) / "book.xlsx"
        options = {
            "constant_memory": True,
            "strings_to_formulas": False,
            "strings_to_urls": False,
            "strings_to_numbers": False,
        }
        with xlsxwriter.Workbook(file, {**options, "tmpdir": folder}) as book:
            bold = book.add_format({"bold": True})
            for sheet in sheets:
                _write_sheet(book, sheet, bold)
        with file.open("rb") as stream:
            while portion := stream.read(_BYTES_AT_ONCE):
                yield portion


def _write_sheet(book: Any, sheet: WorkbookTable, bold: Any) -> None:
    part, at, page = 0, MOST_ROWS, None
    for row in sheet.rows:
        if at == MOST_ROWS:
            part, at = part + 1, 1
            page = _add_page(book, sheet, part, bold)
        for column, value in enumerate(row):
            _write_cell(page, at, column, value)
        at += 1
    if page is None:
        _add_page(book, sheet, 1, bold)


def _add_page(book: Any, sheet: WorkbookTable, part: int, bold: Any) -> Any:
    page = book.add_worksheet(sheet.name if part == 1 else f"{sheet.name} ({part})")
    page.freeze_panes(1, 0)
    for column, name in enumerate(sheet.columns):
        page.write_string(0, column, name, bold)
    return page


def _write_cell(page: Any, row: int, column: int, value: Any) -> None:
    if isinstance(value, bool):
        page.write_boolean(row, column, value)
    elif isinstance(value, int | float):
        page.write_number(row, column, value)
    elif value is not None:
        text = str(value).encode("utf-8", "backslashreplace").decode()
        page.write_string(
            row, column, text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"
        )
