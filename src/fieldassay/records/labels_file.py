"""Labels files: JSON lines, one line per document and reviewer, with the labels by path."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, problem
from fieldassay.io.files.whole_files import RepeatedKeyError, convert, open_file, parse_json
from fieldassay.io.json_value import Json
from fieldassay.io.text.shown import make_printable
from fieldassay.paths import ITEM, Step, field_of, join_path, split_path
from fieldassay.records.keys import cap_problems

State = Literal["value", "absent", "illegible", "skipped"]
Origin = Literal["blind", "confirmed", "corrected", "adjudicated", "imported"]
Shown = Literal["nothing", "prediction"]

VERSION = 1
_BAD = "labels_file"
_NAMES = {"document": "id", "slot": "sheet", "is_blind": "blind"}
"""The keys of a line of the file, by the names that a sheet has for them."""

T = TypeVar("T")


class Region(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A place of a value: the page, from 1, and a box as shares of the page as displayed.

    `box` is left, top, right, bottom, from 0 to 1. `text` is the text that stands there, if known.
    """

    page: int
    box: tuple[float, float, float, float]
    text: str | None = None


class Label(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The answer of one reviewer for one place.

    `text` is the value as it is written on the document: with the state `value` at a leaf, None at a list or
    an object. `value` is the same as JSON where that is no text: a number, a truth value or an object, as it
    was shown and confirmed. `skipped` is no answer. `origin` and `shown` are None if unknown.
    """

    state: State
    text: str | None = None
    regions: tuple[Region, ...] = ()
    origin: Origin | None = None
    shown: Shown | None = None
    value: Any = None

    @property
    def content(self) -> Json:
        """Return the value as JSON, else its text; None without a value."""
        return self.text if self.value is None else self.value


class Sheet(Struct, frozen=True, forbid_unknown_fields=True, rename=_NAMES):
    """One document labeled by one reviewer: the labels by concrete path (`lines[0].amount`).

    A place without a label was not asked. A label at a list (`lines`: `value` without a text, or `absent`)
    says that the list was labeled as a whole. `slot` tells the sheets of a document apart; `is_blind` means
    that no prediction was shown on the whole sheet.
    """

    document: str
    reviewer: str
    slot: int = 0
    is_blind: bool = False
    labels: Mapping[str, Label] = field(default_factory=dict)

    def is_independent(self, path: str) -> bool:
        """Return whether the label at a path was made without seeing a value.

        >>> shown = Label("value", "5", shown="prediction")
        >>> Sheet("a", "ada", labels={"total": shown}).is_independent("total")
        False
        """
        return self.is_blind or self.labels[path].shown in (None, "nothing")


_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def is_labels_line(row: object) -> bool:
    """Return whether a JSON value is a line of a labels file, rather than a plain record.

    >>> is_labels_line({"id": "a", "reviewer": "ada", "labels": {}}), is_labels_line({"id": "a", "total": 5})
    (True, False)
    """
    return isinstance(row, dict) and {"id", "reviewer", "labels"} <= row.keys()


def is_labels_file(path: Path) -> bool:
    """Return whether the first line of a file is a line of a labels file. Raises OSError if unreadable."""
    with open_file(path) as stream:
        first = next((line for line in stream if line.strip(b"\xef\xbb\xbf \t\r\n")), b"")
    if first.startswith(_UTF_16):  # `read_labels` says that it is not UTF-8
        first = first.decode("utf-16", "ignore").encode()
    try:
        return is_labels_line(parse_json(first))
    except ValueError:
        return False


def read_labels(path: Path) -> tuple[Sheet, ...]:
    """Return the sheets of a labels file, in order. Raises `ProblemsError` with every problem of every line.

    A document may have several sheets, but each reviewer only one in each slot.
    """
    try:
        with open_file(path) as stream:
            lines = list(stream)
    except OSError as error:
        raise problem(
            path, f"cannot be read ({error.strerror or error})", "name a labels file", "unreadable_file"
        ) from None
    return parse_labels(lines, str(path))


def parse_labels(lines: Iterable[bytes], name: str) -> tuple[Sheet, ...]:
    """Return the sheets in the lines of a labels file; `name` is the file in messages.

    >>> lines = [b'{"id": "a", "reviewer": "ada", "labels": {"total": {"state": "value", "text": "5"}}}']
    >>> parse_labels(lines, "labels.jsonl")[0].labels["total"].text
    '5'
    """
    sheets: list[Sheet] = []
    problems: list[Problem] = []
    first: dict[tuple[str, str, int], int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip(b"\xef\xbb\xbf \t\r\n"):
            continue
        where = f"{name}:{number}"
        try:
            sheet = _read_line(line, where, problems)
        except UnicodeDecodeError:
            raise problem(where, "is not UTF-8", "save the file as UTF-8", _BAD) from None
        if sheet is None:
            continue
        earlier = first.setdefault((sheet.document, sheet.reviewer, sheet.slot), number)
        if earlier != number:
            what = (
                f"sheet {sheet.slot} of {sheet.document!r} by {sheet.reviewer!r} is in line {earlier} already"
            )
            problems.append(
                Problem(where, what, "keep one of the lines, or give them different sheets", _BAD)
            )
        sheets.append(sheet)
    if problems:
        raise ProblemsError(cap_problems(problems))
    return tuple(sheets)


def _read_line(line: bytes, where: str, problems: list[Problem]) -> Sheet | None:
    """Return the sheet in a line, None after a problem."""
    before = len(problems)
    try:
        row = parse_json(line, once=True)
    except UnicodeDecodeError:  # a fault of the file, not of its lines
        raise
    except ValueError as error:
        is_repeated = isinstance(error, RepeatedKeyError)
        what = str(error) if is_repeated else f"not JSON ({str(error)[:200]})"
        remedy = "keep one of the two" if is_repeated else "correct or remove the line"
        problems.append(Problem(where, what, remedy, _BAD))
        return None
    if not is_labels_line(row):
        what = "is not a line of a labels file: `id`, `reviewer` and `labels` are required"
        problems.append(Problem(where, what, "see docs/review.md", _BAD))
        return None
    version = row.pop("version", VERSION)
    if version != VERSION:
        what = f"version {version!r} of the labels file; this program reads version {VERSION}"
        problems.append(Problem(f"{where}: $.version", what, "upgrade fieldassay", _BAD))
        return None
    sheet = _convert({**row, "labels": {}}, Sheet, f"{where}: $", problems)
    members = _convert(row["labels"], dict[str, Any], f"{where}: $.labels", problems) or {}
    labels: dict[str, Label] = {}
    for path, member in members.items():
        here = f"{where}: $.labels[{json.dumps(path[:80], ensure_ascii=False)}]"
        label = _convert(member, Label, here, problems)
        if label is not None:
            labels[path] = label
            problems += _check_label(path, label, members, here)
    if sheet is not None and not (sheet.document.strip() and sheet.reviewer.strip()):
        key = "reviewer" if sheet.document.strip() else "id"
        problems.append(Problem(f"{where}: $.{key}", "is empty", "name the document and the reviewer", _BAD))
    return None if sheet is None or len(problems) > before else replace(sheet, labels=labels)


_OPEN = ((None, "value"), (None, "skipped"))
"""Text and state of a label that leaves room for labels below its place."""


def _check_label(path: str, label: Label, labels: Mapping[str, Any], where: str) -> Iterator[Problem]:
    """Yield what is wrong with a label: its path, what it says, and labels above it that leave no room."""
    try:
        steps = split_path(path)
    except ValueError as error:
        yield Problem(where, str(error), "write it as `lines[0].amount`", _BAD)
        return
    if not steps or ITEM in steps or join_path(steps) != path:
        right = join_path(steps) if steps and ITEM not in steps else "lines[0].amount"
        yield Problem(where, "is not the path of one value", f"write it as `{right}`", _BAD)
    if label.state != "value" and label.text is not None:
        yield Problem(where, f"has a text, and the state {label.state!r}", "leave out one of them", _BAD)
    elif label.value is not None and label.text is None:
        yield Problem(where, "has a value without its text", "add the text", _BAD)
    if label.text is not None and make_printable(label.text) != label.text:
        yield Problem(where, "its text has half of a character", "write the text again", _BAD)
    for number, region in enumerate(label.regions):
        left, top, right_edge, bottom = region.box
        if not (0 <= left <= right_edge <= 1 and 0 <= top <= bottom <= 1 and region.page >= 1):
            what = "the box is left, top, right, bottom from 0 to 1, and pages count from 1"
            yield Problem(f"{where}.regions[{number}]", what, "correct the region", _BAD)
    for above in (join_path(steps[:end]) for end in range(1, len(steps))):
        other = labels.get(above)
        if isinstance(other, dict) and (other.get("text"), other.get("state")) not in _OPEN:
            what = f"is below {above!r}, which has a text or no value"
            yield Problem(where, what, "keep one of the two labels", _BAD)


def _convert(data: Any, kind: type[T], where: str, problems: list[Problem]) -> T | None:
    """Return plain data as an object of a type, None after a problem."""
    try:
        return convert(data, kind)
    except ValueError as error:
        place, what = map(str, error.args)
        states = {"state": get_args(State), "origin": get_args(Origin), "shown": get_args(Shown)}
        key = place.removeprefix("$.")
        remedy = f"one of: {', '.join(states[key])}" if key in states else "see docs/review.md"
        problems.append(Problem(f"{where}{place.removeprefix('$')}", what, remedy, _BAD))
        return None


def check_texts(sheets: Iterable[Sheet], leaves: Collection[str], name: str) -> Iterator[Problem]:
    """Yield a problem for each label `value` without a text at one of the `leaves`, paths of single values.

    >>> sheet = Sheet("a", "ada", labels={"total": Label("value"), "lines": Label("value")})
    >>> [problem.where for problem in check_texts([sheet], {"total"}, "x.jsonl")]
    ["x.jsonl: 'a' by 'ada': total"]
    """
    for sheet in sheets:
        for path, label in sheet.labels.items():
            if label.state == "value" and label.text is None and field_of(path) in leaves:
                where = f"{name}: {sheet.document!r} by {sheet.reviewer!r}: {path}"
                what = "has the state 'value' and no text; only a list or an object is labeled as a whole"
                yield Problem(where, what, "give the text, or the state 'absent' or 'skipped'", _BAD)


def record_of(labels: Mapping[str, Label]) -> Any:
    """Return the labeled values as a record, or as a list where paths begin with an index.

    Items keep their order, and gaps in a list are closed.

    >>> record_of({"[0]": Label("value", "A"), "[1][0]": Label("value", "5", value=5)})
    ['A', [5]]
    >>> labels = {"lines[2].sku": Label("value", "B"), "lines[0].sku": Label("value", "A")}
    >>> record_of(labels | {"total": Label("absent")})
    {'lines': [{'sku': 'A'}, {'sku': 'B'}]}
    """
    value = tree_of({path: label for path, label in labels.items() if label.state == "value"})[0]
    return {} if value is None else value


def tree_of(labels: Mapping[str, Label], at: str = "") -> tuple[Any, Mapping[str, set[str]]]:
    """Return the value that labels below a place make, None if nothing, and what is unknown in it by state.

    A row of which nothing is known but that it is there is null, or an object without keys; one of which all
    is absent is none. Raises ValueError for a place that is both a list and an object.

    >>> some = {"x[0][1]": Label("value", "a"), "x[2][0]": Label("illegible"), "x[2][4]": Label("value", "b")}
    >>> tree_of({**some, "x[1][0]": Label("absent")}, "x")
    ([['a'], [None, 'b']], {'illegible': {'x[1][0]'}, 'skipped': set()})
    """
    tree: dict[Step, Any] = {}
    depth, unknown = len(split_path(at)), {"illegible": set[str](), "skipped": set[str]()}
    for path, label in labels.items():
        *above, last = split_path(path)[depth:]
        if label.state != "value" or label.text is not None:
            node = tree
            for step in above:
                inner = node.get(step)
                node[step] = node = inner if isinstance(inner, dict) else {}
            node.setdefault(last, label)
    value = _close_gaps(tree, at, unknown)
    return None if value is _NOTHING else value, unknown


_NOTHING, _UNKNOWN = object(), object()


def _close_gaps(node: dict[Step, Any] | Label, at: str, unknown: Mapping[str, set[str]]) -> Any:
    if isinstance(node, Label):
        if node.state in unknown:
            unknown[node.state].add(at)
        return node.content if node.state == "value" else _UNKNOWN if node.state in unknown else _NOTHING
    items: list[Any] = []
    members: dict[str, Any] = {}
    for step in sorted(node) if all(isinstance(step, int) for step in node) else node:
        place = len(items) if isinstance(step, int) else step
        inner = _close_gaps(node[step], join_path((*split_path(at), place)), unknown)
        if inner is not _NOTHING and isinstance(step, int):
            items.append(None if inner is _UNKNOWN else inner)
        elif inner is not _NOTHING:
            members[str(step)] = inner
    if items and any(isinstance(step, str) for step in node):
        raise ValueError(at)
    value = items or {key: inner for key, inner in members.items() if inner is not _UNKNOWN}
    return value if items or members else _NOTHING


def labels_lines(sheets: Iterable[Sheet]) -> Iterator[str]:
    """Yield the lines of a labels file: sheets by document, slot and reviewer, paths as given.

    >>> print(*labels_lines([Sheet("a", "ada")]), end="")
    {"version": 1, "id": "a", "reviewer": "ada", "sheet": 0, "blind": false, "labels": {}}
    """
    for sheet in sorted(sheets, key=lambda sheet: (sheet.document, sheet.slot, sheet.reviewer)):
        row = {"version": VERSION, **msgspec.to_builtins(sheet)}
        yield json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace").decode() + "\n"
