"""Gold as CSV: single cells are written anew, with the delimiter, quotes, marks and line ends of the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, problem
from fieldassay.io.files.typed_json import parse_json
from fieldassay.io.text.delimited import find_delimiter
from fieldassay.io.text.encoding import detect_encoding
from fieldassay.paths import Step, split_path
from fieldassay.records.ids import find_id
from fieldassay.review.promotion.gold_files import read_gold
from fieldassay.review.promotion.literals import Layout, Number
from fieldassay.review.promotion.merge import (
    ILLEGIBLE_FIELDS,
    NOTHING,
    UNREVIEWED_FIELDS,
    filled_at,
    named_places,
)

_KIND = "gold_file"


class _Line(Struct):
    """The cells of a row as they stand in the file, with quotes; and its line end."""

    cells: list[str]
    end: str


class Table(Struct, frozen=True, eq=False):
    """A table with one record a row."""

    path: Path
    data: bytes
    encoding: str
    delimiter: str
    lines: tuple[_Line, ...]
    header: tuple[str, ...]
    steps: tuple[tuple[Step, ...], ...]
    """The place of each column in the record."""
    places: Mapping[str, int]
    """The line of each document."""
    id_at: int
    separators: Mapping[str, str]
    """The separator of lists in cells, by column."""

    @property
    def records(self) -> Mapping[str, dict[str, Any]]:
        return {name: self._record(self.lines[at]) for name, at in self.places.items()}

    @property
    def before(self) -> Mapping[Path, bytes]:
        return {self.path: self.data}

    def _record(self, line: _Line) -> dict[str, Any]:
        record: dict[str, Any] = {}
        for name, steps, cell in zip(self.header, self.steps, line.cells, strict=False):
            value = self._read(name, unquote(cell))
            if value is not NOTHING:
                put(record, steps, value)
        return {key: _settle(value) for key, value in record.items()}

    def _read(self, column: str, cell: str) -> Any:
        if not cell.strip():
            return NOTHING
        if cell.lstrip()[:1] in ("[", "{"):
            try:
                return parse_json(cell, once=True, number=Number)
            except ValueError:
                return cell
        separator = self.separators.get(column)
        return cell if separator is None else [part.strip() for part in cell.split(separator)]

    def rewritten(self, changed: Mapping[str, dict[str, Any]]) -> dict[Path, bytes]:
        if UNREVIEWED_FIELDS not in self.header and any(UNREVIEWED_FIELDS in one for one in changed.values()):
            return self._with_column(UNREVIEWED_FIELDS).rewritten(changed)
        problems: list[Problem] = []
        lines = [_Line(list(line.cells), line.end) for line in self.lines]
        end = next((line.end for line in self.lines if line.end), "\n")
        for name, record in changed.items():
            if name not in self.places:
                lines[-1].end = lines[-1].end or end
                lines.append(_Line([""] * len(self.header), end))
                lines[-1].cells[self.id_at] = self._quote(name, "")
            at = self.places.get(name, len(lines) - 1)
            old = self.records[name] if name in self.places else {}
            problems += self._change(lines[at], old, record, name)
        if problems:
            raise ProblemsError(problems)
        text = "".join(self.delimiter.join(line.cells) + line.end for line in lines)
        try:
            data = text.encode(self.encoding)
        except UnicodeEncodeError as error:
            what = f"is in {self.encoding}, which has no {text[error.start]!r}"
            remedy = "save it as UTF-8, and promote again"
            raise problem(self.path, what, remedy, "encoding") from None
        return {} if data == self.data else {self.path: data}

    def _with_column(self, name: str) -> Table:
        """Return the table with one more column, empty."""
        first = next(at for at, line in enumerate(self.lines) if _is_filled(line))
        width = len(self.header)
        lines = tuple(
            _Line([*line.cells, *[""] * (width - len(line.cells)), name if at == first else ""], line.end)
            if _is_filled(line)
            else line
            for at, line in enumerate(self.lines)
        )
        return replace(self, lines=lines, header=(*self.header, name), steps=(*self.steps, (name,)))

    def _change(
        self, line: _Line, old: Mapping[str, Any], new: Mapping[str, Any], name: str
    ) -> Iterator[Problem]:
        """Change the cells of a row to a record; yield a problem for each value without a column."""
        line.cells += [""] * (len(self.header) - len(line.cells))
        for at, (column, steps) in enumerate(zip(self.header, self.steps, strict=True)):
            if at == self.id_at:
                continue
            before, after = filled_at(old, steps), filled_at(new, steps)
            if column in (ILLEGIBLE_FIELDS, UNREVIEWED_FIELDS):
                before, after = (
                    "|".join(sorted(named_places(side, column))) or NOTHING for side in (old, new)
                )
            if before != after:
                line.cells[at] = self._quote(
                    self._text(column, after, unquote(line.cells[at])), line.cells[at]
                )
        for path in _leaves(new, ()):
            if not any(path[: len(steps)] == steps for steps in self.steps):
                where = ".".join(map(str, path))
                remedy = f"add a column {where if path[0] == ILLEGIBLE_FIELDS else path[0]!r}"
                yield Problem(f"{self.path}: {name}", f"there is no column for {where}", remedy, _KIND)

    def _text(self, column: str, value: Any, before: str) -> str:
        if value is NOTHING:
            return ""
        if isinstance(value, list) and before.lstrip()[:1] != "[":
            separator = self.separators.get(column)
            texts = [one for one in value if isinstance(one, str) and (not separator or separator not in one)]
            if separator is not None and len(texts) == len(value):
                return separator.join(texts)
        return value if isinstance(value, str) else Layout().write(value)

    def _quote(self, text: str, like: str) -> str:
        """Return a cell for a text, quoted if the cell before was or if it must be."""
        needs = any(mark in text for mark in (self.delimiter, '"', "\r", "\n")) or text != text.strip()
        return f'"{text.replace(chr(34), chr(34) * 2)}"' if needs or like.startswith('"') else text


def open_table(path: Path, id_names: Sequence[str], separators: Mapping[str, str]) -> Table:
    """Return the gold in a CSV file. Raises ProblemsError if it cannot be kept as it is."""
    data = read_gold(path)
    encoding = detect_encoding(data) or "utf-8"
    text = data.decode(encoding, "strict")
    if text.encode(encoding) != data:
        what = "its bytes cannot be written again as they are"
        raise problem(path, what, "save it as UTF-8", "encoding")
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    delimiter = "\t" if path.suffix.lower() in (".tsv", ".tab") else find_delimiter(text.removeprefix(mark))
    lines = tuple(split_cells(text, delimiter))
    first = next((at for at, line in enumerate(lines) if _is_filled(line)), None)
    if first is None:
        raise problem(path, "is empty", "write its header", "empty_input")
    header = tuple(unquote(cell.removeprefix(mark)).strip() for cell in lines[first].cells)
    id_at = next((header.index(name) for name in id_names if name in header), None)
    if id_at is None:
        raise problem(path, "has no column of ids", "name it with --id-key", "no_id")
    places: dict[str, int] = {}
    problems: list[Problem] = []
    for at, line in enumerate(lines[first + 1 :], first + 1):
        if not _is_filled(line):
            continue
        name = find_id({"id": unquote(line.cells[id_at])} if len(line.cells) > id_at else {}, ["id"])
        if name is None or name in places:
            what = "has no id" if name is None else f"has the id {name!r} of an earlier row"
            problems.append(Problem(f"{path}:{at + 1}", what, "give each document one row", "duplicate_id"))
        else:
            places[name] = at
    if problems:
        raise ProblemsError(problems[:20])
    steps = tuple(_steps(name) for name in header)
    return Table(path, data, encoding, delimiter, lines, header, steps, places, id_at, separators)


def _is_filled(line: _Line) -> bool:
    return any(cell.strip("\ufeff \t") for cell in line.cells)


def split_cells(text: str, delimiter: str) -> Iterator[_Line]:
    """Yield the rows of a text, each cell as it stands there; joined again they are the text.

    >>> [(line.cells, line.end) for line in split_cells('a;"b"";c"\\r\\n1;2', ";")]
    [(['a', '"b"";c"'], '\\r\\n'), (['1', '2'], '')]
    """
    cells, start, at, is_quoted = [], 0, 0, False
    while at < len(text):
        char = text[at]
        if is_quoted and text[at : at + 2] == '""':
            at += 1
        elif char == '"' and (is_quoted or text[start:at].strip("\ufeff") == ""):
            is_quoted = not is_quoted
        elif not is_quoted and char == delimiter:
            cells.append(text[start:at])
            start = at + 1
        elif not is_quoted and char in "\r\n":
            end = "\r\n" if text[at : at + 2] == "\r\n" else char
            yield _Line([*cells, text[start:at]], end)
            cells, at = [], at + len(end) - 1
            start = at + 1
        at += 1
    if cells or start < len(text):
        yield _Line([*cells, text[start:]], "")


def unquote(cell: str) -> str:
    """Return the text of a cell.

    >>> unquote('"b;""c"'), unquote("x")
    ('b;"c', 'x')
    """
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"')
    return cell


def _steps(name: str) -> tuple[Step, ...]:
    try:
        return split_path(name) or (name,)
    except ValueError:
        return (name,)


def put(record: dict[str, Any], steps: Sequence[Step], value: Any) -> None:
    """Set a value at a place; lists are objects with numbers as keys for now."""
    node: Any = record
    for step in steps[:-1]:
        held = node.setdefault(step, {})
        if not isinstance(held, dict):
            return
        node = held
    node[steps[-1]] = value


def _settle(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if value and all(isinstance(key, int) for key in value):
        return [_settle(value[key]) for key in sorted(value)]
    return {key: _settle(inner) for key, inner in value.items()}


def _leaves(value: Any, above: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, (*above, key))
    elif isinstance(value, list) and value:
        for at, inner in enumerate(value):
            yield from _leaves(inner, (*above, at))
    elif value not in (None, "", [], {}):
        yield above
