"""Labels as CSV for people: one row per label, or per region of a label; it holds everything."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from fieldassay.errors import Problem, ProblemsError, problem
from fieldassay.io.files.tables import csv_text, make_harmless
from fieldassay.io.text.shown import format_count
from fieldassay.records.labels_file import Sheet, parse_labels
from fieldassay.review.exchange.exchanged import Exported, Imported

COLUMNS = (
    "document", "reviewer", "sheet", "blind", "path", "state", "text", "origin", "shown",
    "page", "left", "top", "right", "bottom", "region_text", "value",
)  # fmt: skip
_BOX = ("left", "top", "right", "bottom")


def export_table(sheets: Iterable[Sheet]) -> Exported:
    """Return labels as a table; a sheet without labels has no row.

    Texts that a spreadsheet would take for a formula begin with an apostrophe, and so do those that have one.
    """
    found = sorted(sheets, key=lambda one: (one.document, one.slot, one.reviewer))
    empty = sum(not one.labels for one in found)
    lost = (f"{format_count(empty, 'sheet')} without labels",) if empty else ()
    rows = (row for sheet in found for row in _rows(sheet))
    return Exported(csv_text([COLUMNS, *rows]), lost)


def _rows(sheet: Sheet) -> Iterator[list[Any]]:
    for path, label in sheet.labels.items():
        head = [
            _guarded(sheet.document),
            _guarded(sheet.reviewer),
            sheet.slot,
            sheet.is_blind,
            _guarded(path),
        ]
        told = [*head, label.state, _guarded(label.text), label.origin, label.shown]
        value = None if label.value is None else _guarded(json.dumps(label.value))
        if not label.regions:
            yield [*told, *[None] * 6, value]
        for one in label.regions:
            yield [*told, one.page, *one.box, _guarded(one.text), value]


def _guarded(text: str | None) -> str | None:
    """Return a text that stays what it is in a spreadsheet and here; empty texts differ from none.

    >>> _guarded("=1+1"), _guarded("'a"), _guarded("-5"), _guarded("")
    ("'=1+1", "''a", '-5', "'")
    """
    if text is None:
        return None
    return f"'{text}" if not text or text.startswith("'") or make_harmless(text) != text else text


def _opened(cell: str) -> str | None:
    return None if not cell else cell.removeprefix("'")


def import_table(path: Path) -> Imported:
    """Return the sheets of a table of labels. Raises `ProblemsError` with every row that is no label."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise problem(path, f"cannot be read ({error})", "give a table of labels", "labels_file") from None
    rows = csv.DictReader(io.StringIO(text, newline=""))
    missing = [name for name in COLUMNS[:7] if name not in (rows.fieldnames or ())]
    if missing:
        what = f"has no column {', '.join(missing)}"
        raise problem(path, what, "give a table of labels", "labels_file")
    sheets: dict[tuple[str, ...], dict[str, Any]] = {}
    problems: list[Problem] = []
    for number, row in enumerate(rows, 2):
        try:
            _add(sheets, row)
        except ValueError as error:
            problems.append(Problem(f"{path}:{number}", str(error), "correct the row", "labels_file"))
    if problems:
        raise ProblemsError(problems[:20])
    return Imported(parse_labels([json.dumps(sheet).encode() for sheet in sheets.values()], str(path)))


def _add(sheets: dict[tuple[str, ...], dict[str, Any]], row: dict[str, str]) -> None:
    cells = {name: row.get(name) or "" for name in COLUMNS}
    key = tuple(cells[name] for name in COLUMNS[:4])
    if cells["blind"] not in ("true", "false", ""):
        raise ValueError(f"blind is true or false, not {cells['blind'][:20]!r}")
    sheet = sheets.setdefault(
        key,
        {
            "id": _opened(cells["document"]) or "",
            "reviewer": _opened(cells["reviewer"]) or "",
            "sheet": int(cells["sheet"] or 0),
            "blind": cells["blind"] == "true",
            "labels": {},
        },
    )
    label = {
        "state": cells["state"],
        **{
            name: value for name in ("text", "origin", "shown") if (value := _opened(cells[name])) is not None
        },
    }
    if value := _opened(cells["value"]):
        label["value"] = json.loads(value)
    held = sheet["labels"].setdefault(_opened(cells["path"]) or "", label)
    if {name: value for name, value in held.items() if name != "regions"} != label:
        raise ValueError(f"another label of {cells['path'][:80]!r} than an earlier row")
    if cells["page"]:
        region = {"page": int(cells["page"]), "box": [float(cells[name]) for name in _BOX]}
        text = _opened(cells["region_text"])
        held.setdefault("regions", []).append(region if text is None else {**region, "text": text})
