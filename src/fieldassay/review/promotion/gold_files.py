"""Gold as JSON on disk: lines, an array, or a folder of files; only what changes is written anew."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from fieldassay.errors import Problem, ProblemsError, problem
from fieldassay.io.files.typed_json import parse_json
from fieldassay.io.files.whole_files import open_file
from fieldassay.records.formats.folders import read_folder
from fieldassay.records.ids import find_id
from fieldassay.records.options import SourceOptions
from fieldassay.review.promotion.literals import Layout, Number, find_layout

_BLANK = "\ufeff\0 \t\r\n"
_KIND = "gold_file"


class GoldFile(Protocol):
    """Gold on disk: its records by document, and the bytes of its files with some of them changed."""

    @property
    def records(self) -> Mapping[str, dict[str, Any]]: ...

    @property
    def before(self) -> Mapping[Path, bytes]:
        """Return the bytes of the files as they were read."""
        ...

    def rewritten(self, changed: Mapping[str, dict[str, Any]]) -> dict[Path, bytes]:
        """Return the files that differ with these records, of known and of new documents.

        Raises ProblemsError with every record that the form cannot hold.
        """
        ...


class _Slice(Struct, frozen=True):
    """The place of one record in a text, its value, and the line break and indentation before its members."""

    start: int
    end: int
    value: dict[str, Any]
    line: str

    def write(self, text: str, value: dict[str, Any]) -> str:
        """Return another value in the layout of this one."""
        return _layout(text[self.start : self.end], self).write(value, self.line)


def _layout(text: str, one: _Slice) -> Layout:
    return find_layout(text, one.value, one.line) or Layout()


class JsonText(Struct, frozen=True, eq=False):
    """A file of JSON records, one a line or in an array, or a single record."""

    path: Path
    data: bytes
    text: str
    slices: Mapping[str, _Slice]
    id_key: str
    form: str
    """`lines`, `array` or `single`."""

    @property
    def records(self) -> Mapping[str, dict[str, Any]]:
        return {name: one.value for name, one in self.slices.items()}

    @property
    def before(self) -> Mapping[Path, bytes]:
        return {self.path: self.data}

    def rewritten(self, changed: Mapping[str, dict[str, Any]]) -> dict[Path, bytes]:
        parts, at = [], 0
        for name, one in sorted(self.slices.items(), key=lambda item: item[1].start):
            if name in changed:
                parts += [self.text[at : one.start], one.write(self.text, changed[name])]
                at = one.end
        added = [{self.id_key: name, **row} for name, row in changed.items() if name not in self.slices]
        last = max((one.end for one in self.slices.values()), default=0)
        head, tail = self.text[at : max(at, last)], self.text[max(at, last) :]
        text = "".join([*parts, head, self._add(added, tail) if added else tail])
        return {} if text == self.text else {self.path: text.encode("utf-8", "surrogatepass")}

    def _add(self, rows: Sequence[dict[str, Any]], tail: str) -> str:
        """Return the end of the text, after the last record, with records added."""
        if self.form == "single":
            what = f"is one record, and {len(rows):,} documents with labels are not in it"
            raise problem(self.path, what, "use JSON lines", _KIND)
        last = max(self.slices.values(), key=lambda one: one.start, default=None)
        layout = Layout() if last is None else _layout(self.text[last.start : last.end], last)
        line = "\n" if last is None else last.line
        texts = [layout.write(row, line) for row in rows]
        if self.form == "lines":
            end = "\r\n" if "\r\n" in self.text else "\n"
            start = end if last is not None and not tail.strip(_BLANK) and "\n" not in tail else ""
            return (tail if start == "" else tail + start) + "".join(text + end for text in texts)
        between = line if layout.indent is not None else ("\n" if "\n" in self.text else " ")
        if last is None:
            return tail.replace("[", "[" + f",{between}".join(texts), 1)
        return "".join(f",{between}{text}" for text in texts) + tail


class JsonFolder(Struct, frozen=True, eq=False):
    """A folder with one JSON file per document."""

    folder: Path
    files: Mapping[str, JsonText]

    @property
    def records(self) -> Mapping[str, dict[str, Any]]:
        return {name: one.records[name] for name, one in self.files.items()}

    @property
    def before(self) -> Mapping[Path, bytes]:
        return {path: data for one in self.files.values() for path, data in one.before.items()}

    def rewritten(self, changed: Mapping[str, dict[str, Any]]) -> dict[Path, bytes]:
        found: dict[Path, bytes] = {}
        problems = []
        for name, row in changed.items():
            if name in self.files:
                found |= self.files[name].rewritten({name: row})
                continue
            place = self.folder / f"{name}.json"
            if Path(name).name != name or name.startswith(".") or place.exists():
                what = f"the document {name[:100]!r} cannot be the name of a new file"
                problems.append(Problem(str(self.folder), what, "add its file by hand", _KIND))
            found[place] = (Layout(indent="  ").write(row) + "\n").encode("utf-8", "surrogatepass")
        if problems:
            raise ProblemsError(problems)
        return found


def open_json_folder(folder: Path, id_names: Sequence[str], are_named: bool) -> JsonFolder:
    """Return the gold in a folder. Raises ProblemsError with every file that cannot be kept as it is."""
    names = tuple(id_names) if are_named else None
    rows, problems, _ = read_folder(folder, SourceOptions(is_gold=True, id_names=names))
    if problems:
        raise ProblemsError(problems)
    files: dict[str, JsonText] = {}
    found: list[Problem] = []
    for name, path in zip(rows.ids, rows.paths, strict=True):
        try:
            one = open_json(Path(path), id_names, name)
        except ProblemsError as error:
            found += error.problems
            continue
        if name in files:
            found.append(
                Problem(path, f"the id {name!r} is in two files", "keep one of them", "duplicate_id")
            )
        files[name] = one
    if found:
        raise ProblemsError(found)
    return JsonFolder(folder, files)


def open_json(path: Path, id_names: Sequence[str], document: str | None = None) -> JsonText:
    """Return the gold in a file of JSON; `document` is the id of a single record in a folder.

    Raises ProblemsError with every line that cannot be kept as it is.
    """
    data = read_gold(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise problem(
            path, f"is not UTF-8 (byte {error.start + 1})", "save it as UTF-8", "encoding"
        ) from None
    form, spans = _spans(text, path)
    problems: list[Problem] = []
    slices: dict[str, _Slice] = {}
    id_key = id_names[0]
    for number, (start, end, line) in enumerate(spans, 1):
        where = f"{path}:{number}"
        try:
            value = parse_json(text[start:end], once=True, number=Number)
        except ValueError as error:
            problems.append(
                Problem(where, f"not JSON ({str(error)[:200]})", "correct the record", "not_json")
            )
            continue
        name = document or (find_id(value, id_names) if isinstance(value, dict) else None)
        if name is None or name in slices:
            what = "has no id" if name is None else f"has the id {name!r} of an earlier record"
            problems.append(
                Problem(where, what, "give each record its own id", "duplicate_id" if name else "no_id")
            )
            continue
        id_key = next((key for key in id_names if key in value), id_key) if not slices else id_key
        slices[name] = _Slice(start, end, value, line)
    if problems:
        raise ProblemsError(problems[:20])
    return JsonText(path, data, text, slices, id_key, "single" if document else form)


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
        what = "is packed or binary: labels are merged into CSV, JSON lines, JSON, and folders of JSON files"
        raise problem(path, what, "convert it first", _KIND)
    return data


def _spans(text: str, path: Path) -> tuple[str, list[tuple[int, int, str]]]:
    """Return the form of a text and the places of its records, each with its line break and indentation."""
    start = len(text) - len(text.lstrip(_BLANK))
    if text[start : start + 1] == "[":
        return "array", list(_items(text, start + 1, path))
    end = len(text.rstrip(_BLANK))
    if start < end and "\n" in text[start:end] and _is_json(text[start:end]):
        return "single", [(start, end, "\n")]
    spans, at = [], 0
    for line in text.split("\n"):
        held = line.strip(_BLANK)
        if held:
            first = at + line.index(held)
            spans.append((first, first + len(held), "\n"))
        at += len(line) + 1
    return "lines", spans


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _items(text: str, at: int, path: Path) -> Iterator[tuple[int, int, str]]:
    decoder = json.JSONDecoder()
    while True:
        at += len(text[at:]) - len(text[at:].lstrip(_BLANK + ","))
        if text[at : at + 1] in ("]", ""):
            return
        try:
            end = decoder.raw_decode(text, at)[1]
        except (ValueError, RecursionError) as error:
            what = f"not JSON ({str(error)[:200]})"
            raise problem(path, what, "correct the file", "not_json") from None
        before = text[text.rfind("\n", 0, at) + 1 : at]
        yield at, end, "\n" + (before if not before.strip() else "")
        at = end
