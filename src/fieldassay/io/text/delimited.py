"""Delimited text: CSV and its relatives, its delimiter found, its rows split."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator

from fieldassay.errors import Problem, ProblemsError
from fieldassay.regex import lazy_regex

DELIMITERS = (",", ";", "\t", "|")
FIELD_LIMIT = 1 << 30
MOST_ABOVE = 20
"""Rows among which the names of the columns are looked for."""
_DECIMAL = lazy_regex(r"(?<![0-9,])[0-9]{1,12},[0-9]{1,4}(?![0-9,])")


def find_delimiter(text: str) -> str:
    """Return the delimiter that splits the rows of a text into equally many cells, most of them.

    A row of names near the top speaks for a delimiter more than anything else, so that the commas of decimal
    numbers cut nothing, whatever stands above the names and below the rows.

    >>> find_delimiter('id;amount\\n1;"2,5"\\n2;3,5\\n')
    ';'
    >>> find_delimiter('Sales, March\\nid;net;gross\\n1;2,50;2,98\\n2;3,50;4,17\\n;6,00;7,15\\n')
    ';'
    """
    best: tuple[bool, float, bool, int] | None = None
    delimiter = ","
    for candidate in filter(text.__contains__, DELIMITERS):
        widths, names = Counter[int](), set[int]()
        for number, (_, cells) in enumerate(split_rows(text, candidate)):
            widths[len(cells)] += 1
            if number < MOST_ABOVE and all(any(map(str.isalpha, cell)) for cell in cells if cell.strip()):
                names.add(len(cells))
        if not widths or (width := widths.most_common(1)[0][0]) < 2:
            continue
        cuts_numbers = candidate == "," and text.count("\n") <= 2 * len(_DECIMAL.findall(text))
        key = (width in names, widths[width] / widths.total(), not cuts_numbers, width)
        if best is None or key > best:
            best, delimiter = key, candidate
    return delimiter


def split_rows(text: str, delimiter: str, broken: list[int] | None = None) -> Iterator[tuple[int, list[str]]]:
    r"""Yield the physical line number at which each row starts, and its cells; empty lines are passed over.

    A quotation mark that is never closed takes the rows below into its cell. `broken` gets the first lines of
    the rows that go on over several lines, and end in no closing mark or in text behind one.

    >>> broken = []
    >>> list(split_rows('1,"a\n2,b\n', ",", broken)), broken
    ([(1, ['1', 'a\n2,b\n'])], [1])
    """
    csv.field_size_limit(max(csv.field_size_limit(), FIELD_LIMIT))
    lines = _Lines(io.StringIO(text.replace("\0", ""), newline=""))
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        number = reader.line_num + 1
        lines.of_row.clear()
        try:
            cells = next(reader, None)
        except csv.Error:
            yield number, []
            continue
        if cells is None:
            return
        if broken is not None and (lines.is_over or len(lines.of_row) > 1):
            try:
                next(csv.reader(lines.of_row, delimiter=delimiter, strict=True))
            except csv.Error:
                broken.append(number)
        if any(cell.strip() for cell in cells):
            yield number, cells


def read_rows(text: str, delimiter: str, label: str) -> list[tuple[int, list[str]]]:
    """Return the rows as `split_rows` yields them. Raises `ProblemsError` with the lines of broken ones."""
    broken: list[int] = []
    rows = list(split_rows(text, delimiter, broken))
    what = "a quotation mark opens a cell, and none closes it before the next delimiter"
    remedy = "remove it; or put the whole cell in quotation marks, and double each one inside"
    if broken:
        raise ProblemsError([Problem(f"{label}:{line}", what, remedy, "open_quote") for line in broken[:20]])
    return rows


class _Lines:
    """The lines of a text, those of the row that is read, and whether it asks for more than there are."""

    def __init__(self, stream: io.StringIO) -> None:
        self._stream = stream
        self.of_row: list[str] = []
        self.is_over = False

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._stream.readline()
        self.is_over = not line
        if self.is_over:
            raise StopIteration
        self.of_row.append(line)
        return line
