"""Delimited text: CSV and its relatives, its delimiter found, its rows split."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from fieldassay.errors import Problem, ProblemsError

DELIMITERS = (",", ";", "\t", "|")
FIELD_LIMIT = 1 << 30


def find_delimiter(text: str) -> str:
    """Return the delimiter that splits the first rows of a text into equally many cells, most of them.

    >>> find_delimiter('id;amount\\n1;"2,5"\\n2;3,5\\n')
    ';'
    """
    sample = text[:65536]
    if len(text) > len(sample) and "\n" in sample:
        sample = sample[: sample.rindex("\n") + 1]
    best, delimiter = (0.0, 1), ","
    for candidate in DELIMITERS:
        widths = [len(cells) for _, (_, cells) in zip(range(50), split_rows(sample, candidate), strict=False)]
        if not widths or widths[0] < 2:
            continue
        agreement = sum(width == widths[0] for width in widths) / len(widths)
        if (agreement, widths[0]) > best:
            best, delimiter = (agreement, widths[0]), candidate
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
