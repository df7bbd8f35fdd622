"""Labels in the form of another program: Label Studio."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import problem
from fieldassay.io.files.typed_json import parse_json
from fieldassay.io.files.whole_files import write_file
from fieldassay.io.text.shown import format_count
from fieldassay.paths import ITEM, field_of, join_path, split_path
from fieldassay.records.labels_file import Label, Region, Sheet, labels_lines, read_labels

# What a form of labels holds, and what it cannot hold.


class Imported(Struct, frozen=True):
    """The sheets that files hold, and remarks on what was left out."""

    sheets: tuple[Sheet, ...]
    notes: tuple[str, ...] = ()


def list_lost(labels: Sequence[Label]) -> tuple[str, ...]:
    """Return what a form loses of labels without origins, kinds, texts of regions, and what was shown.

    >>> list_lost([Label("absent"), Label("value", "5", origin="blind")])
    ('the origin, or what was shown, of 1 label',)
    """
    known = sum(one.origin is not None or one.shown is not None for one in labels)
    texts = sum(region.text is not None for one in labels for region in one.regions)
    kinds = sum(one.value is not None for one in labels)
    told = [
        (known, f"the origin, or what was shown, of {format_count(known, 'label')}"),
        (kinds, f"the kind of JSON of {format_count(kinds, 'label')}"),
        (texts, f"the text of the page in {format_count(texts, 'region')}"),
    ]
    return tuple(sentence for count, sentence in told if count)


# Labels as tasks of Label Studio: one task a sheet, regions as rectangles with their texts.

_RECTANGLES, _TEXT, _STATE, _IMAGE = "field", "text", "state", "document"


def export_label_studio(sheets: Iterable[Sheet]) -> tuple[str, tuple[str, ...]]:
    """Return tasks with one annotation each, and what they do not hold.

    `data` says which sheet it is, `meta` of a result its path. Values without a region are texts with the
    field's name, states without a value are choices.
    """
    ordered = sorted(sheets, key=lambda sheet: (sheet.document, sheet.slot, sheet.reviewer))
    tasks = []
    for number, sheet in enumerate(ordered, 1):
        origin = {"document": sheet.document, "reviewer": sheet.reviewer}
        data = {**origin, "sheet": sheet.slot, "blind": sheet.is_blind}
        results = [
            result
            for at, (path, label) in enumerate(sheet.labels.items())
            for result in _results(f"{number}-{at}", path, label)
        ]
        annotation = {"result": results, "was_cancelled": False}
        tasks.append({"id": number, "data": data, "annotations": [annotation]})
    lost = list_lost([label for sheet in ordered for label in sheet.labels.values()])
    text = json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"
    return text, (*lost, "the address of the page: put it beside `data.document`")


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
        left, often = Counter[str](), Counter[tuple[str, str, int]]()
        sheets: dict[tuple[str, str, int], Sheet] = {}
        for sheet in (sheet for task in tasks for sheet in _sheets(task, left)):
            key = (sheet.document, sheet.reviewer, sheet.slot)
            slot = sheet.slot + often[key]
            while (sheet.document, sheet.reviewer, slot) in sheets:
                slot += 1
            often[key] = slot - sheet.slot + 1
            sheets[sheet.document, sheet.reviewer, slot] = replace(sheet, slot=slot)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        what = f"is no export of Label Studio ({type(error).__name__}: {str(error)[:100]})"
        raise problem(path, what, "export the tasks as JSON", "labels_file") from None
    notes = [f"{format_count(count, what)} left out" for what, count in left.items() if count]
    return Imported(tuple(sheets.values()), tuple(notes))


def _sheets(task: Mapping[str, Any], left: Counter[str]) -> Iterator[Sheet]:
    data = task["data"]
    left["prediction"] += len(task.get("predictions") or ())
    names = [str(data[key]) for key in ("document", "id", "image", "pdf", "ocr") if data.get(key)]
    if not names:
        raise ValueError(f"task {task.get('id')} does not say which document it is")
    for annotation in task.get("annotations") or ():
        if annotation.get("was_cancelled"):
            left["cancelled annotation"] += 1
            continue
        who = annotation.get("completed_by")
        who = who.get("id") if isinstance(who, dict) else who
        reviewer = data.get("reviewer") or f"annotator {who if isinstance(who, int) else 0}"
        labels = _read_results(annotation["result"], left)
        yield Sheet(names[0], str(reviewer), int(data.get("sheet") or 0), bool(data.get("blind")), labels)


def _read_results(results: list[Mapping[str, Any]], left: Counter[str]) -> dict[str, Label]:
    """Return the labels of an annotation; results with one id are one region."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for number, result in enumerate(results):
        groups.setdefault(str(result.get("id") or f"#{number}"), []).append(result)
    labels: dict[str, Label] = {}
    used = Counter[str]()
    for parts in groups.values():
        path = _path(parts, used)
        if path is None:
            left["result without a field"] += 1
            continue
        label = labels.get(path, Label("value", ""))
        boxes = [part for part in parts if "width" in part["value"]]
        regions = [Region(int(part.get("item_index") or 0) + 1, _box(part)) for part in boxes[:1]]
        label = replace(label, regions=(*label.regions, *regions))
        filled = {
            (part["type"], key): value for part in parts for key, value in part["value"].items() if value
        }
        choices, text = filled.get(("choices", "choices")), filled.get(("textarea", "text"))
        if choices and choices[0] not in ("present", "absent", "illegible", "skipped"):
            raise ValueError(f"the choice {str(choices[0])[:40]!r} is no state")
        if choices:
            state = "value" if choices[0] == "present" else choices[0]
            label = replace(label, state=state, text=None)
        elif text and not label.text:
            label = replace(label, text=text if isinstance(text, str) else "\n".join(map(str, text)))
        labels[path] = label
    return labels


def _path(parts: list[Mapping[str, Any]], used: Counter[str]) -> str | None:
    """Return the path in the meta text, else the label's name; items of a list are numbered as they come."""
    for part in parts:
        meta = (part.get("meta") or {}).get("text") or ()
        if meta and _is_path(str(meta[0])):
            return str(meta[0])
    names = [name for part in parts for name in part["value"].get("rectanglelabels") or ()]
    fields = [part["from_name"] for part in parts if part["type"] in ("textarea", "choices")]
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


def _box(part: Mapping[str, Any]) -> tuple[float, float, float, float]:
    """Return the box around a rectangle turned about its top left corner, cut off at the page."""
    x, y, wide, high = (float(part["value"][name]) / 100.0 for name in ("x", "y", "width", "height"))
    turn = math.radians(float(part["value"].get("rotation") or 0))
    sizes = (part.get("original_width"), part.get("original_height"))
    across, down = (float(size or 1) if turn else 1.0 for size in sizes)
    corners = [
        (
            x + (right * math.cos(turn) - below * math.sin(turn)) / across,
            y + (right * math.sin(turn) + below * math.cos(turn)) / down,
        )
        for right in (0.0, wide * across)
        for below in (0.0, high * down)
    ]
    edges = [[min(max(corner[axis], 0.0), 1.0) for corner in corners] for axis in (0, 1)]
    return min(edges[0]), min(edges[1]), max(edges[0]), max(edges[1])


# The forms in which labels are written and read, by the endings of files.


def export_labels(sheets: Sequence[Sheet], target: Path) -> tuple[str, ...]:
    """Write labels to a labels file or as tasks of Label Studio; return what the form cannot hold.

    Raises `ProblemsError` for another ending.
    """
    ending = target.suffix.lower()
    if ending not in (".jsonl", ".json"):
        what = "the ending is that of no form of labels"
        remedy = "use one of: .jsonl (a labels file), .json (tasks of Label Studio)"
        raise problem(target, what, remedy, "unknown_format")
    is_file = ending == ".jsonl"
    text, lost = ("".join(labels_lines(sheets)), ()) if is_file else export_label_studio(sheets)
    write_file(target, [text.encode("utf-8", "backslashreplace")])
    return lost


def import_labels(path: Path) -> Imported:
    """Return the labels in a file: in tasks of Label Studio if it ends in .json, else in a labels file.

    Raises `ProblemsError` with everything that is wrong with it.
    """
    if path.suffix.lower() == ".json":
        return import_label_studio(path)
    return Imported(read_labels(path))
