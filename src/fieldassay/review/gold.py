"""Gold files with reviewed fields put in."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from fieldassay.errors import Problem, ProblemsError, problem
from fieldassay.io.files.whole_files import open_file, parse_json, stage_file
from fieldassay.io.json_value import as_kind
from fieldassay.io.text.encoding import detect_encoding, find_delimiter, read_rows
from fieldassay.paths import ITEM, Step, field_of, is_within, join_path, leaves_of, split_path, value_at
from fieldassay.records.keys import SourceOptions, find_id
from fieldassay.records.labels_file import Label, tree_of
from fieldassay.records.record import TOO_DEEP, is_too_deep
from fieldassay.records.rows import FolderRows, read_folder
from fieldassay.records.tables import Columns
from fieldassay.review.sheets.sheets import ReviewForm
from fieldassay.values.types.column import json_text
from fieldassay.values.types.text import AnyReader

# The places of a record: what a label stands for there, what gold has, and whether they are the same

ILLEGIBLE_FIELDS, UNREVIEWED_FIELDS = "illegible_fields", "unreviewed_fields"
BESIDE = (ILLEGIBLE_FIELDS, UNREVIEWED_FIELDS)


class Nothing:
    """The type of NOTHING: no value at a place."""

    def __repr__(self) -> str:
        return "(absent)"


NOTHING: Final = Nothing()


class Meaning(Struct, frozen=True):
    """What values of a field mean, by the readers of a spec; without one, by how they are written."""

    form: ReviewForm | None = None

    def is_same(self, path: str, first: Any, second: Any) -> bool:
        """Return whether two values of a field mean the same; those that cannot be read are compared as text.

        >>> Meaning().is_same("total", Decimal("5"), "5"), Meaning().is_same("total", "5.00", "5")
        (True, False)
        """
        leaf = None if self.form is None else self.form.leaf(path)
        is_plain = not any(isinstance(side, list | dict) for side in (first, second))
        if is_plain and self.form is not None and not (leaf is not None and leaf.is_list):
            reader = AnyReader() if leaf is None else leaf.reader
            plain = [json.loads(str(side)) if isinstance(side, Decimal) else side for side in (first, second)]
            sides = [reader.read(side) for side in plain]
            if all(side.problem is None for side in sides):
                attribute = (
                    "value" if leaf is not None and leaf.type == "text" else "canonical"
                )  # keeps letter case
                return bool(getattr(sides[0], attribute) == getattr(sides[1], attribute))
        texts = [json_text(side) if isinstance(side, bool) else str(side).strip() for side in (first, second)]
        return texts[0] == texts[1] if is_plain else type(first) is type(second) and bool(first == second)

    def typed(self, path: str, text: str, like: Any) -> Any:
        """Return a text in the kind of JSON of another value of its field, where it means the same in it."""
        value, leaf = as_kind(text, like), None if self.form is None else self.form.leaf(path)
        is_other = leaf is not None and leaf.type != "any" and isinstance(value, Decimal)
        return text if is_other and not self.is_same(path, text, value) else value


class UnfitError(Exception):
    """A label that gold has no place for; its text is the reason."""


class GoldPlace(Struct, frozen=True):
    """The content of a place: a value, and the illegible and the unreviewed places at it or below it."""

    value: Any
    beside: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())

    @classmethod
    def of(cls, record: Mapping[str, Any], path: str) -> "GoldPlace":
        """Return what a record has at a path."""
        illegible, unreviewed = (
            frozenset(place for place in _places_at(record, key, path) if is_within(place, path))
            for key in BESIDE
        )
        return cls(filled_at(record, path), (illegible, unreviewed))

    @property
    def content(self) -> Any:
        """Return the value, or why there is none."""
        if self.value is not NOTHING or not any(self.beside):
            return self.value
        return "(illegible)" if self.beside[0] else "(not reviewed)"

    def put(self, record: dict[str, Any], path: str) -> None:
        """Write the content into a record. Raises UnfitError if it has no such place."""
        places = {key: _places_at(record, key, path) for key in BESIDE}
        for above in places[UNREVIEWED_FIELDS]:
            if is_within(path, above) and path != above:
                raise UnfitError(f"{UNREVIEWED_FIELDS} names {above}: name what is not reviewed in it")
        put(record, path, self.value)
        for key, new in zip(BESIDE, self.beside, strict=True):
            left = {place for place in places[key] if not is_within(place, path)} | new
            record[key] = sorted(left)
            if not left:
                del record[key]


def named_places(record: Mapping[str, Any], key: str) -> set[str]:
    """Return the places that a gold record names under a key, in a list or as a text."""
    names = record.get(key) or []
    return {str(name).strip() for name in (names if isinstance(names, list) else str(names).split("|"))}


def _places_at(record: Mapping[str, Any], key: str, path: str) -> set[str]:
    """Return the places that a record names under a key; one of all rows, if a path is in it, row by row."""
    places = set[str]()
    for name in named_places(record, key):
        steps: list[tuple[Step, ...]] = [()]
        is_of_rows = "[]" in name and is_within(field_of(path), name)
        for step in split_path(name) if is_of_rows else ():
            rows = [range(len(value_at(record, above) or ())) if step == ITEM else [step] for above in steps]
            steps = [
                (*above, next_step) for above, some in zip(steps, rows, strict=True) for next_step in some
            ]
        places |= set(map(join_path, steps)) if is_of_rows else {name}
    return places


def list_units(labels: Mapping[str, Label], record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the places that are written as other: values, and whole lists with all that is below them."""
    whole = {
        path
        for path, label in labels.items()
        if label.state == "value" and label.text is None
        and (isinstance(filled_at(record, path), list) or any(name.startswith(f"{path}[") for name in labels))
    }  # fmt: skip
    for path, label in labels.items():
        is_value = label.state != "value" or label.text is not None or path in whole
        is_below = any(is_within(path, other) and path != other for other in whole)
        if label.state != "skipped" and not is_below and is_value:
            yield path


def wanted_at(
    path: str, labels: Mapping[str, Label], record: Mapping[str, Any], meaning: Meaning
) -> GoldPlace:
    """Return the content that a label stands for, in the kind of value that gold has there.

    Raises UnfitError for an item that the list in gold does not have.
    """
    label, steps, old = labels[path], split_path(path), filled_at(record, path)
    for at, step in enumerate(steps):
        items = filled_at(record, steps[:at])
        if isinstance(step, int) and not (isinstance(items, list) and step < len(items)):
            raise UnfitError("the list has other items than when it was labeled: label it whole")
    if label.state in ("illegible", "absent"):
        return GoldPlace(NOTHING, (frozenset([path] * (label.state == "illegible")), frozenset()))
    if label.text is not None:
        return GoldPlace(_alike(field_of(path), label.content, old, (set(), meaning)))
    return _whole_list(path, labels, old if isinstance(old, list) else [], meaning)


def _whole_list(path: str, labels: Mapping[str, Label], old: list[Any], meaning: Meaning) -> GoldPlace:
    """Return the labeled items; what means the same keeps its writing, and keys that no label names stay."""
    inside, depth = (
        {other: label for other, label in labels.items() if is_within(other, path) and other != path},
        len(split_path(path)),
    )
    if any(isinstance(split_path(other)[depth], str) for other in inside):
        raise UnfitError(f"{path} is a list, and a label in it names no item")
    try:
        items, unknown = tree_of(inside, path)
    except ValueError as error:
        raise UnfitError(f"{error} has labels of a list and of an object") from None
    named = {step for other in inside for step in split_path(other)[depth:] if isinstance(step, str)}
    extra = sorted({key for item in old if isinstance(item, dict) for key in item} - named)
    if extra and len(items or ()) != len(old):
        raise UnfitError(f"items in gold have keys that no label names ({', '.join(extra)[:100]})")
    value = NOTHING if items is None else _alike(field_of(path), items, old, (named, meaning))
    return GoldPlace(value, (frozenset(unknown["illegible"]), frozenset(unknown["skipped"])))


def _alike(path: str, new: Any, old: Any, context: tuple[set[str], Meaning]) -> Any:
    """Return a labeled value as gold has written it, where they mean the same; keys not `named` stay."""
    named, meaning = context
    if isinstance(new, dict):
        members = old.items() if isinstance(old, dict) else ()
        members_now = {
            key: value for key, value in members if key not in named - new.keys() or _is_blank(value)
        }
        return members_now | {
            key: _alike(f"{path}.{key}", value, members_now.get(key, NOTHING), context)
            for key, value in new.items()
        }
    if isinstance(new, list):
        items = [*(old if isinstance(old, list) else []), *[NOTHING] * len(new)]
        return [_alike(f"{path}[]", value, items[at], context) for at, value in enumerate(new)]
    typed = meaning.typed(path, new, old) if isinstance(new, str) else new
    return old if old is not NOTHING and meaning.is_same(path, old, typed) else typed


def filled_at(record: Mapping[str, Any], path: str | Iterable[Step]) -> Any:
    """Return the value at a path; NOTHING where there is none, and for null and empty texts."""
    value = value_at(record, path)
    return NOTHING if _is_blank(value) else value


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip()) or value in ([], {})


def put(record: dict[str, Any], path: str, value: Any) -> None:
    """Set a value at a path; NOTHING removes it. Raises UnfitError if there is no such place."""
    *above, last = split_path(path)
    node: Any = record
    for step in above:
        if isinstance(node, dict) and node.get(step) is None:
            if value is NOTHING:
                return
            node[step] = {}
        is_there = isinstance(node, dict) or (isinstance(node, list) and isinstance(step, int))
        node = node[step] if is_there else None
    if isinstance(node, dict) and isinstance(last, str):
        node[last] = value
        if value is NOTHING:
            del node[last]
    elif isinstance(node, list) and isinstance(last, int):
        node[last] = None if value is NOTHING else value
    else:
        raise UnfitError(f"gold has no such place: {join_path(above)} is neither a list nor an object")


def shown(value: Any) -> str:
    """Return a value as text for a message."""
    if value is NOTHING:
        return "absent"
    text = (
        json.dumps(value, ensure_ascii=False, default=str)
        if isinstance(value, dict | list)
        else repr(str(value))
    )
    return text if len(text) <= 60 else f"{text[:59]}…"


# The files: read whole, written canonically; the one before stays beside it until the next promotion

_BLANK = "\ufeff\0 \t\r\n"
_KIND = "gold_file"
_TABLES = (".csv", ".tsv", ".tab", ".txt")
_NEW = ("", ".jsonl", ".ndjson", ".json")
_ENCODER = msgspec.json.Encoder(decimal_format="number")


class GoldTable(Struct, frozen=True, eq=False):
    """What a table has besides records: how it is written, its columns, and the cells of each document."""

    encoding: str
    mark: str
    delimiter: str
    end: str
    columns: Columns
    id_at: int
    cells: Mapping[str, Sequence[str]]
    separators: Mapping[str, str]
    """The separator of lists in cells, by column."""

    def record(self, cells: Sequence[str]) -> dict[str, Any]:
        """Return the record in the cells of a row, lists with a separator as lists."""
        record: dict[str, Any] = self.columns.nest(cells)
        for path, separator in self.separators.items():
            text = filled_at(record, path)
            if isinstance(text, str):
                put(record, path, [part.strip() for part in text.split(separator)])
        return record

    def row(self, columns: Columns, name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
        """Return the cells of a document; those whose value did not change stay as they are."""
        before = self.cells.get(name, ())
        cells = [*before, *[""] * (len(columns.names) - len(before))]
        if not before:
            cells[self.id_at] = name
        for at, (column, steps) in enumerate(zip(columns.names, columns.steps, strict=True)):
            values = [filled_at(side, steps) for side in (old, new)]
            if column in BESIDE:
                values = ["|".join(sorted(named_places(side, column))) or NOTHING for side in (old, new)]
            if values[0] != values[1] and at != self.id_at:
                cells[at] = self._text(column, values[1], cells[at])
        return cells

    def _text(self, column: str, value: Any, before: str) -> str:
        separator = self.separators.get(column, "")
        is_joined = isinstance(value, list) and separator and before.lstrip()[:1] != "["
        if is_joined and all(isinstance(item, str) and separator not in item for item in value):
            return separator.join(value)
        return "" if value is NOTHING else value if isinstance(value, str) else _json(value)


class GoldFile(Struct, frozen=True, eq=False):
    """Gold on disk: the row of each document, and the bytes of its files as they were read."""

    path: Path
    form: str
    """`lines`, `array`, `folder` or `table`."""
    rows: Mapping[str, dict[str, Any]]
    before: Mapping[Path, bytes]
    id_key: str = "id"
    places: Mapping[str, Path] = {}
    """The file of each document, in a folder."""
    table: GoldTable | None = None

    def rewritten(self, changed: Mapping[str, dict[str, Any]]) -> dict[Path, bytes]:
        """Return the files with the new rows of known and of new documents.

        Raises ProblemsError with every row that the form cannot hold.
        """
        if not changed:
            return {}
        try:
            if self.form == "folder":
                return dict(self._in_folder(changed))
            if self.table is not None:
                return {self.path: self._in_table(self.table, changed)}
            new = [{self.id_key: name, **row} for name, row in changed.items() if name not in self.rows]
            rows = [*(changed.get(name, row) for name, row in self.rows.items()), *new]
            if self.form == "lines":
                return {self.path: "".join(f"{_json(row)}\n" for row in rows).encode()}
            return {self.path: f"{_json(rows, 2)}\n".encode()}
        except UnicodeEncodeError as error:
            encoding, character = error.encoding, error.object[error.start]
            what = f"is in {encoding}, which has no {character!r}"
            raise problem(self.path, what, "save it as UTF-8, and promote again", "encoding") from None

    def _in_folder(self, changed: Mapping[str, dict[str, Any]]) -> Iterator[tuple[Path, bytes]]:
        for name, row in changed.items():
            place = self.places.get(name) or self.path / f"{name}.json"
            is_unfit = place.exists() or place.parent != self.path or name.startswith(".")
            if is_unfit and name not in self.places:
                what = f"the document {name[:100]!r} cannot be the name of a new file"
                raise problem(self.path, what, "add its file by hand", _KIND)
            yield place, f"{_json(row, 2)}\n".encode()

    def _in_table(self, table: GoldTable, changed: Mapping[str, dict[str, Any]]) -> bytes:
        is_longer = any(UNREVIEWED_FIELDS in row for row in changed.values())
        names = dict.fromkeys([*table.columns.names, *[UNREVIEWED_FIELDS] * is_longer])
        columns = _columns(list(names))
        problems = []
        for name, row in changed.items():
            for path, value in leaves_of(row):
                if value not in (None, "", [], {}) and not any(
                    path[: len(steps)] == steps for steps in columns.steps
                ):
                    where = ".".join(map(str, path))
                    remedy = f"add a column {ILLEGIBLE_FIELDS if path[0] == ILLEGIBLE_FIELDS else path[0]!r}"
                    what = f"there is no column for {where}"
                    problems.append(Problem(f"{self.path}: {name}", what, remedy, _KIND))
        if problems:
            raise ProblemsError(problems[:20])
        out = io.StringIO(newline="")
        writer = csv.writer(out, delimiter=table.delimiter, lineterminator=table.end)
        writer.writerow(columns.names)
        for name in dict.fromkeys([*self.rows, *changed]):
            old = self.rows.get(name, {})
            writer.writerow(table.row(columns, name, old, changed.get(name, old)))
        return (table.mark + out.getvalue()).encode(table.encoding)


def write_gold(gold: Path, files: Mapping[Path, bytes], before: Mapping[Path, bytes]) -> None:
    """Write all files, each beside its place first; what they held before is saved in `old_place`.

    Raises ProblemsError if a file changed since it was read.
    """
    for path in files:
        if read_gold(path) != before.get(path, b""):
            raise problem(path, "has changed while labels went into it", "promote again", "changed_file")
    old = old_place(gold)
    saved = {old / path.relative_to(gold) if path != gold else old: before.get(path) for path in files}
    staged: list[tuple[Path, Path]] = []
    try:
        for path, data in [*saved.items(), *files.items()]:
            if data:
                path.parent.mkdir(parents=True, exist_ok=True)
                staged.append((stage_file(path.resolve(), [data]), path.resolve()))
        for left in (old.rglob("*.json") if old.is_dir() else [old]) if files else ():
            left.unlink(missing_ok=True)
        for new, path in staged:
            new.replace(path)
    finally:
        for new, _ in staged:
            new.unlink(missing_ok=True)


def old_place(gold: Path) -> Path:
    """Return where gold as it was before the last promotion is: a file, or a folder of files that changed.

    >>> old_place(Path("data/gold.csv")).name
    'gold.csv.before'
    """
    return gold.with_name(f"{gold.resolve().name}.before")


def open_gold(
    path: Path, id_names: Sequence[str], are_named: bool, separators: Mapping[str, str]
) -> GoldFile:
    """Return the gold at a path; without documents where there is none yet.

    Raises ProblemsError with every row that has no id of its own.
    """
    if path.is_dir():
        return _open_folder(path, tuple(id_names) if are_named else None)
    data, problems = read_gold(path), list[Problem]()
    if path.suffix.lower() in _TABLES:
        return _open_table(path, data, id_names, separators)
    if not data and path.suffix.lower() not in _NEW:
        what = f"is new, and no {path.suffix} can be written"
        raise problem(path, what, "name it .jsonl, .json, or make a .csv with its header", _KIND)
    text = _decode(path, data, "utf-8").strip(_BLANK)
    form = "array" if text.startswith("[") or path.suffix.lower() == ".json" else "lines"
    lines = [text] if form == "array" else text.split("\n")
    values = [
        _parse(line, f"{path}:{number}", problems)
        for number, line in enumerate(lines, 1)
        if line.strip(_BLANK)
    ]
    rows = values[0] if form == "array" and values and isinstance(values[0], list) else values
    records = _by_id(path, zip(count(1), rows, rows), id_names, problems)
    first: Mapping[str, Any] = next(iter(records.values()), {})
    id_key = next((key for key in id_names if key in first), id_names[0])
    return GoldFile(path, form, records, {path: data}, id_key)


def _decode(path: Path, data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        what = f"is not {encoding.upper()} (byte {error.start + 1})"
        raise problem(path, what, "save it as UTF-8", "encoding") from None


def _parse(text: bytes | str, where: str, problems: list[Problem]) -> Any:
    """Return a value of JSON; None for anything else, with a problem."""
    try:
        value = parse_json(text.strip(_BLANK) if isinstance(text, str) else text, once=True, number=Decimal)
        if is_too_deep(value):
            raise ValueError(TOO_DEEP)
        return value
    except ValueError as error:
        what = f"not JSON ({str(error)[:200]})"
        problems.append(Problem(where, what, "correct the record", "not_json"))
        return None


def _by_id(
    path: Path, rows: Iterable[tuple[int, Any, Any]], id_names: Sequence[str], problems: list[Problem]
) -> dict[str, Any]:
    """Return what is held of each row by its id. Raises ProblemsError for rows without one of their own."""
    values: dict[str, Any] = {}
    for number, row, value in rows:
        name = find_id(row, id_names) if isinstance(row, dict) else None
        if row is not None and (name is None or name in values):
            what = "has no id" if name is None else f"has the id {name!r} of an earlier record"
            kind = "no_id" if name is None else "duplicate_id"
            problems.append(Problem(f"{path}:{number}", what, "give each record its own id", kind))
        values[str(name)] = value
    if problems:
        raise ProblemsError(problems[:20])
    return values


def _open_folder(folder: Path, names: tuple[str, ...] | None) -> GoldFile:
    contents = read_folder(folder, SourceOptions(is_gold=True, id_names=names))
    assert isinstance(contents.rows, FolderRows)
    records, before, places = dict[str, Any](), dict[Path, bytes](), dict[str, Path]()
    faults = list(contents.problems)
    for name, path in zip(map(str, contents.ids), map(Path, contents.rows.paths), strict=True):
        before[path], places[name] = read_gold(path), path
        value = _parse(before[path], str(path), faults)
        if name in records or not isinstance(value, dict | None):
            what = f"the id {name!r} is in two files" if name in records else "is not a record"
            kind = "duplicate_id" if name in records else _KIND
            faults.append(Problem(str(path), what, "keep one record in one file", kind))
        records[name] = value
    if faults:
        raise ProblemsError(faults[:20])
    return GoldFile(folder, "folder", records, before, places=places)


def _open_table(path: Path, data: bytes, id_names: Sequence[str], separators: Mapping[str, str]) -> GoldFile:
    encoding = detect_encoding(data) or "utf-8"
    text = _decode(path, data, encoding)
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text.removeprefix(mark)
    delimiter = "\t" if path.suffix.lower() in (".tsv", ".tab") else find_delimiter(text)
    lines = read_rows(text, delimiter, str(path))
    if not lines:
        raise problem(path, "is empty", "write its header", "empty_input")
    header = [cell.strip() for cell in lines[0][1]]
    id_at = next((header.index(name) for name in id_names if name in header), None)
    if id_at is None:
        raise problem(path, "has no column of ids", "name it: `data: {id_key: NAME}`", "no_id")
    ids = ((number, {"id": [*cells, *[""] * id_at][id_at]}, cells) for number, cells in lines[1:])
    cells = _by_id(path, ids, ["id"], [])
    end = "\r\n" if "\r\n" in text else "\n"
    table = GoldTable(encoding, mark, delimiter, end, _columns(header), id_at, cells, separators)
    rows = {name: table.record(row) for name, row in cells.items()}
    return GoldFile(path, "table", rows, {path: data}, table=table)


def read_gold(path: Path) -> bytes:
    """Return the bytes of a gold file; none of one that is not there yet. Raises ProblemsError."""
    try:
        with open_file(path) as stream:
            data = stream.read()
    except FileNotFoundError:
        return b""
    except OSError as error:
        what = f"cannot be read ({error.strerror or error})"
        raise problem(path, what, "check the path", "unreadable_file") from None
    if data[:2] == b"\x1f\x8b" or data[:4] in (b"\x28\xb5\x2f\xfd", b"PAR1", b"PK\x03\x04"):
        what = "is packed or binary: labels go into CSV, JSON lines, JSON, and folders of JSON files"
        raise problem(path, what, "convert it first", _KIND)
    return data


def _json(value: Any, indent: int = 0) -> str:
    return msgspec.json.format(_ENCODER.encode(value), indent=indent).decode()


def _columns(header: Sequence[str]) -> Columns:
    return Columns.of(header, SourceOptions(nested=frozenset(name.partition(".")[0] for name in header)))
