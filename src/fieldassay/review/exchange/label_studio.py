"""Labels as tasks of Label Studio: one task a sheet, regions as rectangles with their texts."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fieldassay.errors import problem
from fieldassay.io.files.typed_json import parse_json
from fieldassay.io.text.shown import format_count
from fieldassay.paths import ITEM, field_of, join_path, split_path
from fieldassay.records.labels_file import Label, Region, Sheet
from fieldassay.review.exchange.exchanged import Exported, Imported, list_lost

_RECTANGLES, _TEXT, _STATE, _IMAGE = "field", "text", "state", "document"


def export_label_studio(sheets: Iterable[Sheet]) -> Exported:
    """Return tasks with one annotation each: `data` says which sheet it is, `meta` of a result its path.

    Values without a region are texts with the field's name, states without a value are choices.
    """
    found = sorted(sheets, key=lambda one: (one.document, one.slot, one.reviewer))
    tasks = [_task(number, sheet) for number, sheet in enumerate(found, 1)]
    labels = [label for sheet in found for label in sheet.labels.values()]
    lost = list_lost(labels)
    text = json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"
    return Exported(text, (*lost, "`data.document` is the id: put the address of the page there"))


def _task(number: int, sheet: Sheet) -> dict[str, Any]:
    data = {
        "document": sheet.document,
        "reviewer": sheet.reviewer,
        "sheet": sheet.slot,
        "blind": sheet.is_blind,
    }
    results = [
        result
        for at, (path, label) in enumerate(sheet.labels.items())
        for result in _results(f"{number}-{at}", path, label)
    ]
    return {"id": number, "data": data, "annotations": [{"result": results, "was_cancelled": False}]}


def _results(name: str, path: str, label: Label) -> Iterator[dict[str, Any]]:
    base = {"to_name": _IMAGE, "meta": {"text": [path]}}
    if label.state != "value" or label.text is None:
        choice = label.state if label.state != "value" else "present"
        yield {**base, "id": name, "from_name": _STATE, "type": "choices", "value": {"choices": [choice]}}
    elif not label.regions:
        yield {**base, "id": name, "from_name": _TEXT, "type": "textarea", "value": {"text": [label.text]}}
    for number, region in enumerate(label.regions):
        left, top, right, bottom = (100.0 * edge for edge in region.box)
        box = {"x": left, "y": top, "width": right - left, "height": bottom - top, "rotation": 0}
        here = {**base, "id": f"{name}-{number}", "item_index": region.page - 1}
        value = {**box, "rectanglelabels": [field_of(path)]}
        yield {**here, "from_name": _RECTANGLES, "type": "rectanglelabels", "value": value}
        if not number and label.text is not None:
            yield {**here, "from_name": _TEXT, "type": "textarea", "value": {**box, "text": [label.text]}}


def import_label_studio(path: Path) -> Imported:
    """Return the sheets in exported tasks: one per annotation that was not cancelled.

    Reviewers are `data.reviewer`, else `annotator N` by the number of the account. Raises `ProblemsError` for
    anything but tasks.
    """
    try:
        tasks = parse_json(path.read_bytes())
        if not isinstance(tasks, list):
            raise ValueError("no list of tasks")
        left = Counter[str]()
        sheets = [sheet for task in tasks for sheet in _sheets(task, left)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        what = f"is no export of Label Studio ({type(error).__name__}: {str(error)[:100]})"
        raise problem(path, what, "export the tasks as JSON", "labels_file") from None
    notes = [f"{format_count(count, what)} left out" for what, count in left.items()]
    return Imported(_numbered(sheets), tuple(notes))


def _numbered(sheets: list[Sheet]) -> tuple[Sheet, ...]:
    """Return the sheets, those of one document by one reviewer under different numbers."""
    often = Counter[tuple[str, str, int]]()
    found = []
    for sheet in sheets:
        key = (sheet.document, sheet.reviewer, sheet.slot)
        found.append(Sheet(*key[:2], sheet.slot + often[key], sheet.is_blind, sheet.labels))
        often[key] += 1
    return tuple(found)


def _sheets(task: Mapping[str, Any], left: Counter[str]) -> Iterator[Sheet]:
    data = task["data"]
    left["prediction"] += len(task.get("predictions") or ())
    document = next(
        (str(data[key]) for key in ("document", "id", "image", "pdf", "ocr") if data.get(key)), None
    )
    if document is None:
        raise ValueError(f"task {task.get('id')} does not say which document it is")
    for annotation in task.get("annotations") or ():
        if annotation.get("was_cancelled"):
            left["cancelled annotation"] += 1
            continue
        who = annotation.get("completed_by")
        who = who.get("id") if isinstance(who, dict) else who
        reviewer = data.get("reviewer") or f"annotator {who if isinstance(who, int) else 0}"
        labels = _read_results(annotation["result"], left)
        yield Sheet(document, str(reviewer), int(data.get("sheet") or 0), bool(data.get("blind")), labels)
    for unused in [name for name, count in left.items() if not count]:
        del left[unused]


def _read_results(results: list[Mapping[str, Any]], left: Counter[str]) -> dict[str, Label]:
    """Return the labels of an annotation; results with one id are one region."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for number, one in enumerate(results):
        groups.setdefault(str(one.get("id") or f"#{number}"), []).append(one)
    labels: dict[str, Label] = {}
    used = Counter[str]()
    for parts in groups.values():
        path = _path(parts, used)
        if path is None:
            left["result without a field"] += 1
            continue
        text, state, region = _content(parts)
        known = labels.get(path)
        regions = (*(known.regions if known else ()), *([region] if region else ()))
        if state is not None:
            labels[path] = (
                Label("value", None, regions) if state == "present" else Label(_state(state), None, regions)
            )
        elif known is None:
            labels[path] = Label("value", text or "", regions)
        else:
            labels[path] = Label(known.state, known.text or text, regions)
    return labels


def _state(text: str) -> Any:
    if text not in ("absent", "illegible", "skipped"):
        raise ValueError(f"the choice {text[:40]!r} is no state")
    return text


def _path(parts: list[Mapping[str, Any]], used: Counter[str]) -> str | None:
    """Return the path in the meta text, else the label's name; items of a list are numbered as they come."""
    for one in parts:
        told = (one.get("meta") or {}).get("text") or ()
        if told and _is_path(str(told[0])):
            return str(told[0])
    names = [name for one in parts for name in one["value"].get("rectanglelabels") or ()]
    fields = [one["from_name"] for one in parts if one["type"] in ("textarea", "choices")]
    if not names and (not fields or fields[0] in (_TEXT, _STATE)):
        return None
    name = str(names[0] if names else fields[0])
    if "[]" not in name:
        return name if _is_path(name) else join_path([name])
    used[name] += 1
    return join_path(used[name] - 1 if step == ITEM else step for step in split_path(name))


def _is_path(text: str) -> bool:
    try:
        steps = split_path(text)
    except ValueError:
        return False
    return bool(steps) and ITEM not in steps and join_path(steps) == text


def _content(parts: list[Mapping[str, Any]]) -> tuple[str | None, str | None, Region | None]:
    text = state = region = None
    for one in parts:
        value = one["value"]
        if one["type"] == "textarea" and value.get("text"):
            given = value["text"]
            text = given if isinstance(given, str) else "\n".join(map(str, given))
        if one["type"] == "choices" and value.get("choices"):
            state = str(value["choices"][0])
        if region is None and "width" in value:
            region = Region(int(one.get("item_index") or 0) + 1, _box(one, value))
    return text, state, region


def _box(one: Mapping[str, Any], value: Mapping[str, Any]) -> tuple[float, float, float, float]:
    """Return the box around a rectangle turned about its top left corner, cut off at the page."""
    across, down = float(one.get("original_width") or 1), float(one.get("original_height") or 1)
    x, y, wide, high = (float(value[name]) / 100.0 for name in ("x", "y", "width", "height"))
    turn = math.radians(float(value.get("rotation") or 0))
    if not turn:
        corners = [(x, y), (x + wide, y + high)]
    else:
        sides = [(0.0, 0.0), (wide * across, 0.0), (0.0, high * down), (wide * across, high * down)]
        corners = [
            (
                x + (right * math.cos(turn) - below * math.sin(turn)) / across,
                y + (right * math.sin(turn) + below * math.cos(turn)) / down,
            )
            for right, below in sides
        ]
    edges = [[min(max(corner[axis], 0.0), 1.0) for corner in corners] for axis in (0, 1)]
    return min(edges[0]), min(edges[1]), max(edges[0]), max(edges[1])
