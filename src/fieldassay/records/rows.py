"""Rows by position: lines and arrays of JSON, folders of files, sets of documents in one value."""

import json
import operator
import os
import re
import zipfile
import zlib
from abc import abstractmethod
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, ClassVar, Literal, NamedTuple

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, list_names, problem
from fieldassay.io.files.whole_files import (
    WRITTEN_FILE,
    FileListing,
    list_folder,
    note_left_out,
    read_portions,
)
from fieldassay.io.json_value import Json, id_text, is_written
from fieldassay.io.text.encoding import detect_encoding
from fieldassay.io.text.shown import format_count
from fieldassay.records.envelope import META_SHAPES, holds_tree
from fieldassay.records.files import Input, Spool, is_url, unpack_archive, unpack_plain
from fieldassay.records.keys import Positions, SourceOptions, cap_problems, find_id
from fieldassay.records.record import CASE_KEY, Row, decode_json, decode_rows
from fieldassay.records.services import ID_KEYS, is_log, read_response
from fieldassay.spec.language.names import ID_NAMES

# Rows of a source by position: slices of a file, held in memory, or one file each.


class SourceRows:
    """The rows of a source. They pickle small where they can: rows of files reopen them by path."""

    columns: ClassVar[tuple[str, ...]] = ()
    """The names of the members that have an element for each row."""
    kind: ClassVar[Literal["file", "folder", "table"]] = "file"
    """`table`: several rows may make one record; `folder`: each row has a file of its own."""

    @abstractmethod
    def place(self, position: int) -> str:
        """Return the place of the row, for messages."""

    @abstractmethod
    def read(self, positions: Sequence[int]) -> list[Row]:
        """Return the rows at the positions, in that order."""

    def take(self, positions: Positions) -> "SourceRows":
        """Return the rows at the positions as rows of their own."""
        parts = {name: _take(getattr(self, name), positions) for name in self.columns}
        return replace(self, **parts)  # type: ignore[type-var]

    def bytes(self, positions: Positions) -> Positions:
        """Return how many bytes of a file are read for each row; 0 for rows that are in memory."""
        return np.zeros(len(positions), dtype=np.int64)


def _take(column: Any, positions: Positions) -> Any:
    if isinstance(column, tuple):
        return tuple(column[position] for position in positions.tolist())
    return column[positions]


class Contents(Struct, frozen=True):
    """What is read of an input: its rows, the id of each (None: none), and what is wrong with some.

    `notes` are on how it was read.
    """

    rows: SourceRows
    ids: Sequence[str | None]
    problems: Sequence[Problem] = ()
    notes: Sequence[Problem] = ()


class SlicedRows(SourceRows, Struct, frozen=True, eq=False):
    """Rows that are slices of one plain file; in memory are only int64 offsets and line numbers."""

    path: Path
    label: str
    starts: Positions
    lengths: Positions
    numbers: Positions
    spool: Spool | None = None
    size: int = 0
    url: str | None = None
    """The object of which the file is a copy, byte for byte."""
    columns: ClassVar[tuple[str, ...]] = ("starts", "lengths", "numbers")

    def place(self, position: int) -> str:
        return f"{self.label}:{self.numbers[position]}"

    def read(self, positions: Sequence[int]) -> list[Row]:
        try:
            with self._open() as stream:
                self._check(stream.seek(0, 2))
                slices = []
                at = -1
                chosen = np.asarray(positions, dtype=np.int64)
                for start, length in zip(
                    self.starts[chosen].tolist(), self.lengths[chosen].tolist(), strict=True
                ):
                    if start != at:
                        stream.seek(start)
                    slices.append(stream.read(length))
                    at = start + length
        except OSError as error:
            raise problem(
                self.label, f"cannot be read ({error.strerror})", "check the path", "unreadable_file"
            ) from None
        return decode_rows(slices)

    def _open(self) -> BinaryIO:
        """Return the file; on a machine that does not have the copy of an object, the object itself."""
        if self.url is None or self.path.exists():
            return self.path.open("rb")
        from fieldassay.records.files import open_url

        return open_url(self.url)

    def bytes(self, positions: Positions) -> Positions:
        return self.lengths[positions].copy()

    def _check(self, size: int) -> None:
        if size < self.size:
            raise problem(
                self.label, "became shorter while it was read", "write it before it is scored", "changed_file"
            )


class HeldRows(SourceRows, Struct, frozen=True, eq=False):
    """Rows in memory: JSON texts as bytes, or values. `places` are the parts of places after the label."""

    label: str
    rows: tuple[Any, ...]
    places: tuple[str, ...]
    columns: ClassVar[tuple[str, ...]] = ("rows", "places")

    def place(self, position: int) -> str:
        return f"{self.label}{self.places[position]}"

    def read(self, positions: Sequence[int]) -> list[Row]:
        rows = [self.rows[position] for position in positions]
        if set(map(type, rows)) == {bytes}:
            return decode_rows(rows)
        return [
            decode_json(row) if isinstance(row, bytes) else row if isinstance(row, Row) else Row(row)
            for row in rows
        ]


def find_ids(rows: Sequence[Row], names: Sequence[str]) -> list[str | None]:
    """Return the id of each row under one of some names, None for a row without."""
    return [find_id(row.value, names) if isinstance(row.value, dict) else None for row in rows]


class FolderRows(SourceRows, Struct, frozen=True, eq=False):
    """Rows of one file each, read on demand: JSON or, if `takes_text`, a text where it is not JSON."""

    paths: tuple[str, ...]
    encoding: str | None = None
    takes_text: bool = False
    columns: ClassVar[tuple[str, ...]] = ("paths",)
    kind: ClassVar[Literal["file", "folder", "table"]] = "folder"

    def place(self, position: int) -> str:
        return self.paths[position].encode("utf-8", "replace").decode("utf-8")

    def read(self, positions: Sequence[int]) -> list[Row]:
        return read_json_files(
            [self.paths[position] for position in positions], self.encoding, takes_text=self.takes_text
        )

    def bytes(self, positions: Positions) -> Positions:
        return np.array([_size(self.paths[position]) for position in positions.tolist()], dtype=np.int64)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116 - a Path takes longer
    except (OSError, ValueError):  # it is told when it is read
        return 0


def read_json_files(paths: Sequence[str], encoding: str | None, *, takes_text: bool = False) -> list[Row]:
    """Return the one JSON value of each file or object; an unreadable one is a row with a problem.

    With `takes_text`, a file that is not JSON is a text.
    """
    contents = [_to_text(content, encoding) for content in _contents(paths)]
    rows = iter(decode_rows([text for text in contents if isinstance(text, bytes)]))
    return [_settle(text, next(rows), takes_text) if isinstance(text, bytes) else text for text in contents]


def _contents(paths: Sequence[str]) -> Iterable[bytes | Exception]:
    if not paths or not is_url(paths[0]):
        return map(_content, paths)
    from fieldassay.records.files import read_urls

    return read_urls(paths)


def _content(path: str) -> bytes | Exception:
    try:
        return b"".join(read_portions(path))
    except (OSError, EOFError, ValueError) as error:
        return error


def _to_text(data: bytes | Exception, encoding: str | None) -> bytes | Row:
    """Return the content of a file in UTF-8, or the problem of reading it."""
    if isinstance(data, Exception):
        return Row(None, problem=f"cannot be read ({data})")
    try:
        data = unpack_plain(data)
    except (OSError, EOFError, ValueError) as error:
        return Row(None, problem=f"cannot be read ({error})")
    if not data.strip(b"\0 \t\r\n\xef\xbb\xbf\xff\xfe"):
        return Row(None, problem="is empty")
    own_encoding = encoding or detect_encoding(data)
    if own_encoding is None:
        return Row(None, problem="its encoding cannot be recognized")
    return (
        data if own_encoding == "utf-8" else data.decode(own_encoding, "replace").encode("utf-8", "replace")
    )


def _settle(text: bytes, row: Row, takes_text: bool) -> Row:
    return Row(text.decode("utf-8", "replace")) if takes_text and row.problem is not None else row


# JSON lines: an index of ids and offsets, made in one pass that decodes nothing but ids.

_UNUSUAL = re.compile(r'[\\"\0-\x1f\ud800-\udfff]')
_NO_SERVICE = (None,) * len(ID_KEYS)
BLANK = b"\0 \t\r\n\xef\xbb\xbf"


def read_lines(source: Input, options: SourceOptions) -> Contents:
    """Return the contents of a file with one JSON value per line. Blank lines are skipped."""
    path = source.as_utf8()
    starts, lengths, numbers = array("q"), array("q"), array("q")
    ids: list[str | None] = []
    problems: list[Problem] = []
    read_id = id_reader(options.names)
    size = 0
    for start, number, line in _walk(path):
        size = start + len(line)
        name, problem = read_id(line)
        starts.append(start)
        lengths.append(len(line))
        numbers.append(number)
        ids.append(name)
        if problem is not None and (options.is_gold or name is None):
            problems.append(
                Problem(f"{source.label}:{number}", problem, "correct or remove the line", "not_json")
            )
    if problems and len(problems) == len(ids):
        raise ProblemsError(cap_problems(problems))
    of_starts, of_lengths, of_numbers = (np.array(column, np.int64) for column in (starts, lengths, numbers))
    rows = SlicedRows(path, source.label, of_starts, of_lengths, of_numbers, source.spool, size, source.url)
    return Contents(rows, ids, problems)


def _walk(path: Path) -> Iterator[tuple[int, int, bytes]]:
    offset = 0
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.isspace() and line.lstrip(BLANK):
                mark = 3 if offset == 0 and line.startswith(b"\xef\xbb\xbf") else 0
                yield offset + mark, number, line[mark:]
            offset += len(line)


def id_reader(names: Sequence[str]) -> Callable[[bytes], tuple[str | None, str | None]]:
    """Return a function from a JSON text to its id (None: no id) and its problem (None: no problem).

    >>> id_reader(["doc_id"])(b'{"doc_id": 7, "x": [1, 2]}')
    ('7', None)
    """
    if any(_UNUSUAL.search(name) for name in names):  # no struct can have such a field
        return lambda line: _read_slowly(line, names)
    keys = [*dict.fromkeys((*names, *sorted(ID_KEYS)))]
    fields: list[Any] = [
        (f"n{at}", Any, msgspec.field(default=None, name=key)) for at, key in enumerate(keys)
    ]
    decode = msgspec.json.Decoder(msgspec.defstruct("Ids", fields, gc=False)).decode
    of_names = [f"n{keys.index(name)}" for name in names]
    of_services = operator.attrgetter(*(f"n{keys.index(key)}" for key in ID_KEYS))
    may_have_more = "id" not in names or any("." in name for name in names)

    def read(line: bytes) -> tuple[str | None, str | None]:
        try:
            row = decode(line)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return _read_slowly(line, names)
        if of_services(row) != _NO_SERVICE:  # a response of a service has ids of its own
            return _read_slowly(line, names)
        for attribute in of_names:
            name = id_text(getattr(row, attribute))
            if name is not None:
                return name, None
        return _read_slowly(line, names) if may_have_more else (None, None)

    return read


def _read_slowly(line: bytes, names: Sequence[str]) -> tuple[str | None, str | None]:
    row = decode_json(line)
    if row.problem is None:
        return (find_id(row.value, names), None) if isinstance(row.value, dict) else (None, None)
    return recover_id(line, names), row.problem


def recover_id(line: bytes, names: Sequence[str]) -> str | None:
    """Return the id in a line that is not JSON, if it can be seen near either end of it.

    >>> recover_id(b'{"id": "a7", "x": [1, 2', ["id"])
    'a7'
    """
    for part in (line[:10_000], line[-10_000:]):
        for name in names:
            pattern = rb'"%s"\s{0,20}:\s{0,20}("[^"\\]{0,1000}"|-?\d{1,30}(?=[,}\s]))' % re.escape(
                name.encode("utf-8", "replace")
            )
            match = re.search(pattern, part)
            if match:
                return id_text(decode_json(match[1]).value)
    return None


# All documents in one JSON value: records under their ids, a list under a key, the columns of a table.

_NAMES = frozenset((
    "data", "docs", "documents", "examples", "extractions", "gold", "predictions", "records", "results",
    "samples",
))  # fmt: skip
"""Keys whose value is a set of records, where no spec says what a record has."""
_DEEPEST = 3
_MANY = 5
"""Objects that are alike and so many are records, whatever their keys look like."""


class DocumentSet(Struct, frozen=True):
    """The records of a JSON value and their ids (None: none), with how it was read and the place in it."""

    form: str
    names: Sequence[str | None]
    records: Sequence[Json]
    place: str = ""


def find_set(
    values: Sequence[Json], options: SourceOptions, is_named: bool = False, depth: int = 0
) -> DocumentSet | None:
    """Return the documents in the values of a file of which none has an id; None if these are the records.

    `is_named` says that the values stand under a key of `_NAMES`.

    >>> documents = find_set([{"results": {"inv-1": {"total": 5}, "inv-2": {"total": 6}}}], SourceOptions())
    >>> documents.form, documents.names
    ("records under their ids, in 'results'", ['inv-1', 'inv-2'])
    """
    couples = [value for value in values if isinstance(value, list) and len(value) == 2]
    if couples and len(couples) == len(values) and options.wrap is None:
        return _keyed([(id_text(key) or "", record) for key, record in couples], options, is_named)
    objects = [value for value in values if isinstance(value, dict)]
    if len(objects) < len(values) or not objects:
        return None
    documents = _keyed([pair for value in objects for pair in value.items()], options, is_named)
    if documents is not None or len(objects) > 1:
        return documents
    [value] = objects
    documents = _in_columns(value, options)
    if documents is not None or depth == _DEEPEST or not _own_keys(options).isdisjoint(value):
        return documents
    sets = {key: inner for key in value if (inner := _under(value, key, options, depth)) is not None}
    lists = {key: inner for key, inner in sets.items() if isinstance(value[key], list)}
    answers = {key: inner for key, inner in sets.items() if _are_answers(inner.records, options)}
    chosen = list((answers or lists or sets).items())
    if len(chosen) != 1:
        return None
    [(key, inner)] = chosen
    return DocumentSet(f"{inner.form}, in {key!r}", inner.names, inner.records, f".{key}{inner.place}")


def _under(value: dict[str, Json], key: str, options: SourceOptions, depth: int) -> DocumentSet | None:
    """Return the documents in the value of one of an object's keys."""
    inside, is_named = value[key], key.casefold() in _NAMES
    if isinstance(inside, dict):
        return find_set([inside], options, is_named, depth + 1)
    records = [record for record in inside if isinstance(record, dict)] if isinstance(inside, list) else []
    if not records or not isinstance(inside, list) or len(records) < len(inside):
        return None
    schema = value.get("schema")
    if isinstance(schema, dict) and schema.get("primaryKey") == ["index"]:  # of pandas, not of the records
        records = [{name: member for name, member in record.items() if name != "index"} for record in records]
    names = [find_id(record, options.names or ID_NAMES) for record in records]
    if _fields(options):
        is_set = _are_alike(records, options)
    elif options.is_tree:
        is_set = is_named and None not in names
    else:
        has_ids = None not in names and any(name != "id" for name in ID_NAMES if name in records[0])
        is_set = is_named or has_ids or len(value) == 1
    return DocumentSet("a list of records", names, records) if is_set else None


def _keyed(pairs: Sequence[tuple[str, Json]], options: SourceOptions, is_named: bool) -> DocumentSet | None:
    """Return records under their ids; numbers of rows give way to ids that all records have."""
    keys, records = [key for key, _ in pairs], [record for _, record in pairs]
    kinds: tuple[type, ...] = (dict, type(None)) if options.wrap is None else (dict, type(None), list)
    has_texts = bool(_fields(options)) and not options.is_gold
    are_records = (
        isinstance(record, kinds) or (has_texts and isinstance(record, str) and "{" in record)
        for record in records
    )
    is_set = len(set(keys)) * 2 > len(keys) and all(are_records) and _are_alike(records, options)
    if not is_set or not (_own_keys(options) | META_SHAPES.keys()).isdisjoint(keys):
        return None
    is_sure = bool(_fields(options)) or ((is_named or len(keys) >= _MANY) and not options.is_tree)
    if (options.is_tree and not is_named) or not ((is_sure and len(keys) > 1) or _look_like_ids(keys)):
        return None
    own = [
        find_id(record, options.names or ID_NAMES) if isinstance(record, dict) else None for record in records
    ]
    is_numbered = None not in own and all(key.isdigit() for key in keys)
    return DocumentSet("records under their ids", own if is_numbered else list(map(id_text, keys)), records)


def _in_columns(value: dict[str, Any], options: SourceOptions) -> DocumentSet | None:
    """Return the rows of a table: names of columns beside rows of cells, or columns of lists or objects."""
    names, cells = options.names or ID_NAMES, list(value.values())
    columns, data = value.get("columns"), value.get("data")
    labels: Sequence[Any] = ()
    if isinstance(columns, list) and isinstance(data, list):
        labels = value.get("index") or ()
        is_table = bool(data) and all(isinstance(row, list) and len(row) == len(columns) for row in data)
        rows = [dict(zip(map(str, columns), row, strict=True)) for row in data] if is_table else []
    elif cells and all(isinstance(cell, list) and len(cell) == len(cells[0]) for cell in cells):
        is_table = not set(names).isdisjoint(value)
        rows = [dict(zip(value, row, strict=True)) for row in zip(*cells, strict=True)]
    elif cells and all(isinstance(cell, dict) and cell.keys() == cells[0].keys() for cell in cells):
        labels = list(cells[0])
        fields = _fields(options)
        are_rows = labels == list(map(str, range(len(labels)))) or not all(map(str.isdigit, labels))
        holds_objects = any(isinstance(member, dict) for cell in cells for member in cell.values())
        is_table = are_rows and not (holds_objects or options.is_tree or _look_like_ids(list(value)))
        if fields:
            is_table = not (fields - options.nested).isdisjoint(value)
        is_table = is_table and _look_like_ids(labels)
        rows = [{column: cell[label] for column, cell in value.items()} for label in labels]
    else:
        return None
    own = [find_id(row, names) for row in rows]
    if len(labels) == len(rows) and None in own:
        own = list(map(id_text, labels))
    return DocumentSet("the columns of a table", own, rows) if is_table and rows else None


def _are_alike(records: Sequence[Json], options: SourceOptions) -> bool:
    """Return whether most objects have a key in common: with a spec, one that its records have."""
    filled = [record for record in records if isinstance(record, dict) and record]
    if _are_answers(records, options):
        return True
    counts = Counter(key for record in filled for key in record)
    common = {key for key, count in counts.items() if 2 * count > len(filled)}
    if _fields(options):
        return not common.isdisjoint(_own_keys(options) | META_SHAPES.keys()) or (not filled and any(records))
    return bool(common)


def _are_answers(records: Sequence[Json], options: SourceOptions) -> bool:
    return not options.is_gold and any(read_response(record) is not None for record in records[:1])


def _fields(options: SourceOptions) -> frozenset[str]:
    """Return the names of the fields of a record, where the spec has them."""
    return frozenset() if options.is_tree else options.declared


def _own_keys(options: SourceOptions) -> frozenset[str]:
    """Return the keys of which a row has one: fields, ids, the places of records."""
    places = (*options.data_keys, *filter(None, (options.data_key, options.systems_key)))
    return frozenset(
        (*_fields(options), *(options.names or ID_NAMES), *(key.partition(".")[0] for key in places), "raw")
    )


def _look_like_ids(keys: Sequence[str]) -> bool:
    """Return whether most keys look like no names of fields: with a digit, a dot, a slash or a dash."""
    return 2 * sum(any(char.isdigit() or char in "./\\-" for char in key) for key in keys) > len(keys)


# Files of JSON: a value per line, an array, or objects behind one another.

PROBED = 20
"""Rows that are looked at to see whether the key of the data exists at all."""

_GAP = re.compile(r"[\s,\0\x1e]*")


def read_records(source: Input, options: SourceOptions) -> Contents:
    """Return the contents of a file of JSON: a value per line, an array, or objects behind one another.

    Where no row has an id, all documents may stand in one value, or each under its id: see `find_set`.
    """
    has_lines = source.format == "jsonl" and _has_lines(source)
    contents = (read_lines if has_lines else read_array)(source, options)
    count = len(contents.ids)
    if count and not options.is_gold and is_log(contents.rows.read([0])[0].value):
        events = enumerate(contents.rows.read(range(count)))
        positions = [at for at, row in events if read_response(row.value) is not None]
        rows_of_log = contents.rows.take(np.array(positions, np.int64))
        return Contents(rows_of_log, [contents.ids[at] for at in positions], contents.problems)
    documents: DocumentSet | None = None
    rows: list[Row] = []
    for most in (min(PROBED, count), count) if set(contents.ids) == {None} else ():
        rows = contents.rows.read(range(most))
        documents = find_set([row.value for row in rows], options)
        if documents is None:
            break
    if documents is None:
        return contents
    _note_form(source, documents.form)
    repairs = tuple(dict.fromkeys(repair for row in rows for repair in row.repairs))
    places = [f"{documents.place}[{at if name is None else name}]" for at, name in enumerate(documents.names)]
    record_rows = [Row(record, repairs) for record in documents.records]
    return Contents(
        HeldRows(source.label, tuple(record_rows), tuple(places)), documents.names, contents.problems
    )


def read_log(source: Input, options: SourceOptions) -> Contents:
    """Return the samples in a packed log of Inspect, in the order of their names."""
    try:
        with zipfile.ZipFile(source.path) as archive:
            parts: dict[zipfile.ZipInfo, list[bytes]] = {
                info: []
                for info in sorted(archive.infolist(), key=operator.attrgetter("filename"))
                if re.fullmatch(r"samples/.+\.json", info.filename)
            }
            for info, chunk in unpack_archive(archive, source):
                if info in parts:
                    parts[info].append(chunk)
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError) as error:
        raise problem(
            source.label, f"cannot be unpacked ({error})", "save the log again", "unreadable_file"
        ) from None
    rows = decode_rows(list(map(b"".join, parts.values())))
    places = tuple(f"/{info.filename}" for info in parts)
    return Contents(HeldRows(source.label, tuple(rows), places), find_ids(rows, options.names))


def _note_form(source: Input, form: str) -> None:
    source.notes.append(Problem(source.label, f"was read as {form}", kind="document_set"))


def _has_lines(source: Input) -> bool:
    """Return whether a file has a JSON value per line, judged by its first; broken lines are lines, too."""
    text = source.head.decode(source.encoding, "replace").lstrip("\ufeff\0 \t\r\n")
    first, _, rest = text.partition("\n")
    is_value = decode_json(first.encode("utf-8", "replace")).problem is None
    if is_value or text.startswith("["):
        return is_value and (bool(rest.strip()) or not text.startswith("["))
    return _values_of(text, 1) is None


def _values_of(text: str, most: int | None = None) -> list[bytes] | None:
    """Return the objects that stand behind one another in a text, the first ones only if there is a limit."""
    decoder, at = json.JSONDecoder(), 0
    objects: list[bytes] = []
    try:
        while at < len(text) and len(objects) != most:
            value, end = decoder.raw_decode(text, at)
            if not isinstance(value, dict):
                return None
            objects.append(text[at:end].encode("utf-8", "replace"))
            at = _GAP.match(text, end).end()  # type: ignore[union-attr]
    except (ValueError, RecursionError):
        return None
    return objects


def read_array(source: Input, options: SourceOptions) -> Contents:
    """Return the contents of a file that is a JSON array of records, one record, or several values.

    A single record without an id is a source of one numbered row.
    """
    data = source.as_utf8().read_bytes().removeprefix(b"\xef\xbb\xbf").strip(b"\0 \t\r\n")
    items = _items_of(data)
    row = decode_json(data) if items is None else Row(None)
    if row.problem is not None:
        if b"\n" in data and decode_json(data.partition(b"\n")[0]).problem is None:
            return read_lines(source, options)
        items = _values_of(data.decode("utf-8", "replace"))
        if items is not None:
            _note_form(source, "objects behind one another")
    elif source.format == "jsonl" and (items is not None or isinstance(row.value, list)):
        _note_form(source, "one JSON array")
    if items is None:
        is_list = isinstance(row.value, list)
        if row.problem is not None or not isinstance(row.value, dict | list):
            raise problem(
                source.label,
                row.problem or "is neither a list of records nor a record",
                "write an array of objects, or one object per line",
                "not_json",
            )
        rows = [Row(item, row.repairs) for item in row.value] if is_list else [row]
        places = [f"[{at}]" for at in range(len(rows))] if is_list else [""]
        return Contents(HeldRows(source.label, tuple(rows), tuple(places)), find_ids(rows, options.names))
    named = list(map(id_reader(options.names), items))
    problems = [
        Problem(f"{source.label}[{at}]", why, "correct or remove the item", "not_json")
        for at, (_, why) in enumerate(named)
        if why is not None and options.is_gold
    ]
    item_rows = HeldRows(source.label, tuple(items), tuple(f"[{at}]" for at in range(len(items))))
    return Contents(item_rows, [name for name, _ in named], problems)


def _items_of(data: bytes) -> list[bytes] | None:
    """Return the items of an array by the standard as texts."""
    if not data.startswith(b"["):
        return None
    try:
        return [bytes(raw) for raw in msgspec.json.decode(data, type=list[msgspec.Raw])]
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


# A directory with one file per document: JSON, or (predictions) a raw answer.

SUFFIXES = (".json",)
TEXTS = (".txt",)
"""Endings of gold files in a folder without any of the others; beside them they are texts of documents."""
ANSWERS = (".json", ".txt", ".md")
"""Endings of the names of prediction files; content that is not JSON is a raw answer."""

_PACKED = ("", ".gz", ".zst")
CHUNK = 500
"""Files whose ids are read together."""


def read_folder(folder: Path | str, options: SourceOptions, listing: FileListing | None = None) -> Contents:
    """Return the files under a directory, sorted by name, as rows.

    `listing` are its files, for one that no file system has.

    Gold is JSON; predictions may be texts. The id is the record's value under one of `id_names` if they were
    given; otherwise, and where it has none, the path in the directory without its suffix.
    """
    files: list[tuple[str, str]] = []
    others = Counter[str]()
    listing = listing or list_folder(folder)
    has_json = any(_stem(inner, SUFFIXES) is not None for inner, _ in listing.files)
    endings = ANSWERS if not options.is_gold else SUFFIXES if has_json else TEXTS
    for inner, path in listing.files:
        stem = _stem(inner, endings)
        if stem is None:
            others[PurePosixPath(inner).suffix.lower() or "no ending"] += 1
        else:
            files.append((stem, path))
    heads = _read_heads([path for _, path in files], options)
    written = [path for (_, path), head in zip(files, heads, strict=True) if head.is_written]
    rows = [
        (head.name or stem, path, head.problem)
        for (stem, path), head in zip(files, heads, strict=True)
        if not head.is_written
    ]
    problems = [
        Problem(path, what, "correct or remove the file", "not_json")
        for _, path, what in rows
        if what is not None and options.is_gold
    ]
    if not rows:
        what, ending = (
            ("JSON files", ".json")
            if options.is_gold
            else ("files of answers", " or ".join((", ".join(ANSWERS[:-1]), ANSWERS[-1])))
        )
        raise problem(
            folder, f"has no {what}", f"give a directory with one {ending} file per document", "empty_input"
        )
    if others and not options.is_gold:
        problems.append(_other_files(folder, others))
    notes = (*listing.notes, note_left_out(folder, written, WRITTEN_FILE)) if written else listing.notes
    paths = tuple(path for _, path, _ in rows)
    return Contents(
        FolderRows(paths, options.encoding, takes_text=not options.is_gold),
        [name for name, _, _ in rows],
        problems,
        notes,
    )


def _other_files(folder: Path | str, others: Counter[str]) -> Problem:
    """Return the note on files with other endings than those of answers."""
    count = others.total()
    ranked = sorted(others.items(), key=lambda item: (-item[1], item[0]))
    named = list_names([f"{ending[:20]} ({each:,})" for ending, each in ranked], 5)
    what = (
        f"{format_count(count, 'file')} with other endings "
        f"{'was' if count == 1 else 'were'} not read: {named}"
    )
    return Problem(
        str(folder),
        what,
        f"answers end in {' or '.join((', '.join(ANSWERS[:-1]), ANSWERS[-1]))}",
        "other_files",
    )


def _stem(inner: str, suffixes: Sequence[str]) -> str | None:
    name = inner.rpartition("/")[2].lower()
    for suffix in suffixes:
        for packed in _PACKED:
            if name.endswith(suffix + packed):
                stem = inner[: -len(suffix + packed)]
                plain = stem if stem.isascii() else stem.encode("utf-8", "replace").decode("utf-8")
                return plain.strip() or None
    return None


class _Head(NamedTuple):
    """What a file tells before its record is read: its id, if it has one, and why it cannot be read."""

    name: str | None = None
    problem: str | None = None
    is_written: bool = False


def _read_heads(paths: Sequence[str], options: SourceOptions) -> list[_Head]:
    if options.id_names is None and not options.is_gold:
        return [_Head()] * len(paths)
    return [
        _read_head(row, options)
        for start in range(0, len(paths), CHUNK)
        for row in read_json_files(paths[start : start + CHUNK], options.encoding)
    ]


def _read_head(row: Row, options: SourceOptions) -> _Head:
    if options.is_gold and is_written(row.value):
        return _Head(is_written=True)
    is_named = options.id_names is not None or (isinstance(row.value, dict) and CASE_KEY in row.value)
    if not is_named or not isinstance(row.value, dict):
        return _Head(None, row.problem)
    if (
        options.data_keys
        and options.is_tree
        and not options.is_gold
        and options.key_of(row.value) is None
        and holds_tree(row.value, options)
    ):
        return _Head(None, row.problem)  # the file is the tree itself: what a tree calls its id is a value
    return _Head(find_id(row.value, options.names), row.problem)
