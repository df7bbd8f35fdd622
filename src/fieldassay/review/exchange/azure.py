"""Labels as Azure Document Intelligence keeps them: `fields.json`, and a `*.labels.json` per document.

The `*.ocr.json` beside it, what the service recognized, is read for the text of the page in each region.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace

from fieldassay.atomic.typed_json import parse_json
from fieldassay.errors import Problem, ProblemsError
from fieldassay.paths import Step, join_path, split_path
from fieldassay.records.ids import cap_problems
from fieldassay.records.labels_file import Label, Region, Sheet
from fieldassay.review.exchange.exchanged import Exported, Imported, list_lost
from fieldassay.wording.numbers import format_count

_SCHEMA = "https://schema.cognitiveservices.azure.com/formrecognizer/2021-03-01/{}.json"
_ENDING, _OCR = ".labels.json", ".ocr.json"


def export_azure(sheets: Iterable[Sheet]) -> Exported:
    """Return `fields.json` and a file of labels per document.

    A document has one set of labels there: several sheets of one document raise `ProblemsError`.
    """
    found = sorted(sheets, key=lambda one: (one.document, one.slot))
    often = Counter(one.document for one in found)
    problems = [
        Problem(
            name, f"has {count} sheets", "Azure holds one: choose a reviewer with --reviewer", "labels_file"
        )
        for name, count in often.items()
        if count > 1
    ]
    unsafe = "is no path within a folder, so no file can have its name"
    problems += [Problem(name, unsafe, "rename it", "labels_file") for name in often if _unsafe(name)]
    if problems:
        raise ProblemsError(cap_problems(problems))
    files = {f"{sheet.document}{_ENDING}": _text(_labels_file(sheet)) for sheet in found}
    paths = [path for sheet in found for path, label in sheet.labels.items() if label.text is not None]
    labels = [label for sheet in found for label in sheet.labels.values()]
    whole = sum(label.state == "value" and label.text is None for label in labels)
    lost = [*list_lost(labels, states=True, regions=True)]
    lost += [f"that {whole:,} lists or objects were labeled as a whole"] if whole else []
    lost += ["who labeled, on which sheet, and whether blind"]
    lost += ["all words of the page: *.ocr.json is not written, run the layout in the studio"]
    return Exported({"fields.json": _text(_fields_file(paths)), **files}, tuple(lost))


def _unsafe(name: str) -> bool:
    return "\0" in name or name.startswith("/") or ".." in Path(name).parts


def _text(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def _fields_file(paths: Sequence[str]) -> dict[str, Any]:
    """Return the declaration of the fields: texts, and tables of texts for lists of objects."""
    fields: dict[str, dict[str, Any]] = {}
    definitions: dict[str, dict[str, Any]] = {}
    for path in paths:
        steps = split_path(path)
        name = _pointer(steps[:1])
        if len(steps) > 2 and isinstance(steps[1], int):
            item = f"{name}_object"
            members = definitions.setdefault(item, _field(item, "object") | {"fields": []})["fields"]
            member = _field(_pointer(steps[2:]), "string")
            if member not in members:
                members.append(member)
            fields[name] = _field(name, "array") | {"itemType": f"#/definitions/{item}"}
        else:
            key = _pointer(steps[:-1] if isinstance(steps[-1], int) else steps)
            fields.setdefault(key, _field(key, "array" if isinstance(steps[-1], int) else "string"))
    return {"$schema": _SCHEMA.format("fields"), "fields": list(fields.values()), "definitions": definitions}


def _field(key: str, kind: str) -> dict[str, Any]:
    return {
        "fieldKey": key,
        "fieldType": kind,
        "fieldFormat": "not-specified",
        "itemType": None,
        "fields": None,
    }


def _labels_file(sheet: Sheet) -> dict[str, Any]:
    labels = [
        {"label": _pointer(split_path(path)), "value": list(_values(label))}
        for path, label in sheet.labels.items()
        if label.text is not None
    ]
    return {"$schema": _SCHEMA.format("labels"), "document": sheet.document, "labels": labels}


def _values(label: Label) -> Iterator[dict[str, Any]]:
    """Yield the text with the first region, the other regions without one."""
    if not label.regions:
        yield {"page": 1, "text": label.text, "boundingBoxes": []}
    for number, one in enumerate(label.regions):
        left, top, right, bottom = one.box
        corners = [left, top, right, top, right, bottom, left, bottom]
        yield {"page": one.page, "text": "" if number else label.text, "boundingBoxes": [corners]}


def _pointer(steps: Sequence[Step]) -> str:
    """Return steps as `lines/0/sku`; slashes and tildes in keys are escaped as in JSON pointers.

    >>> _pointer(["lines", 0, "net/gross"])
    'lines/0/net~1gross'
    """
    return "/".join(str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def _steps(pointer: str) -> list[Step]:
    """Return the steps of a pointer: a whole number after the first step is the place of an item.

    >>> _steps("lines/0/net~1gross"), _steps("2024")
    (['lines', 0, 'net/gross'], ['2024'])
    """
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")]
    return [int(part) if at and part.isascii() and part.isdigit() else part for at, part in enumerate(parts)]


def import_azure(folder: Path, reviewer: str) -> Imported:
    """Return the labels of a folder as sheets of one reviewer. Raises `ProblemsError` with each bad file."""
    places = sorted(folder.rglob(f"*{_ENDING}")) if folder.is_dir() else []
    if not places:
        raise ProblemsError(
            [Problem(str(folder), f"has no {_ENDING} files", "name a folder with some", "labels_file")]
        )
    sheets, problems, recognized = [], [], 0
    for place in places:
        try:
            data = parse_json(place.read_bytes())
            name = place.relative_to(folder).as_posix().removesuffix(_ENDING)
            beside = place.with_name(place.name.removesuffix(_ENDING) + _OCR)
            words = read_words(parse_json(beside.read_bytes())) if beside.is_file() else {}
            recognized += bool(words)
            sheets.append(Sheet(name, reviewer, labels=_read_labels(data, words)))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError) as error:
            what = f"is no file of labels, or the result beside it is none ({str(error)[:100]})"
            problems.append(Problem(str(place), what, "export it again", "labels_file"))
    if problems:
        raise ProblemsError(problems[:20])
    notes = ["what has no label may be absent, illegible or not asked: it is not asked here"]
    if recognized < len(sheets):
        without = format_count(len(sheets) - recognized, "document")
        notes.append(
            f"{without} without words in *{_OCR}: the text of the page in their regions is not known"
        )
    return Imported(tuple(sheets), tuple(notes))


Words: TypeAlias = Mapping[int, Sequence[tuple[str, tuple[float, float, float, float]]]]
"""The words of each page with their boxes, in shares of the page."""


def read_words(data: Mapping[str, Any]) -> Words:
    """Return the words of a result of the service: `pages` (from 2022 on), or `readResults` (2.0 and 2.1).

    Raises KeyError, TypeError or ValueError for another file.

    >>> word = {"content": "5.00", "polygon": [1, 2, 2, 2, 2, 3, 1, 3]}
    >>> page = {"pageNumber": 1, "width": 4, "height": 8, "words": [word]}
    >>> read_words({"analyzeResult": {"pages": [page]}})
    {1: [('5.00', (0.25, 0.25, 0.5, 0.375))]}
    """
    result = data["analyzeResult"]
    found: dict[int, list[tuple[str, tuple[float, float, float, float]]]] = {}
    for page in result["pages"] if "pages" in result else result["readResults"]:
        number = int(page["pageNumber"] if "pageNumber" in page else page["page"])
        width, height = float(page["width"]), float(page["height"])
        words = page.get("words") or [word for line in page.get("lines") or () for word in line["words"]]
        held = found.setdefault(number, [])
        for word in words:
            corners = word["polygon"] if "polygon" in word else word["boundingBox"]
            shares = [float(one) / (height if at % 2 else width) for at, one in enumerate(corners)]
            held.append(
                (str(word["content"] if "content" in word else word["text"]), _region(number, shares).box)
            )
    return found


def _text_in(words: Words, region: Region) -> str | None:
    """Return the words whose middle is in a region; None without any."""
    left, top, right, bottom = region.box
    inside = [
        text
        for text, (x0, y0, x1, y1) in words.get(region.page, ())
        if left <= (x0 + x1) / 2 <= right and top <= (y0 + y1) / 2 <= bottom
    ]
    return " ".join(inside) or None


def _read_labels(data: Mapping[str, Any], words: Words) -> dict[str, Label]:
    labels: dict[str, Label] = {}
    for one in data["labels"]:
        texts = [str(value["text"]) for value in one["value"] or () if value.get("text")]
        regions = [
            _region(int(value["page"]), box)
            for value in one["value"] or ()
            for box in value.get("boundingBoxes") or ()
        ]
        path = join_path(_steps(str(one["label"])))
        known = tuple(replace(region, text=_text_in(words, region)) for region in regions)
        labels[path] = Label("value", " ".join(texts), known)
    return labels


def _region(page: int, corners: Sequence[float]) -> Region:
    """Return the box around the corners of a polygon, cut off at the page."""
    across, down = ([min(max(float(one), 0.0), 1.0) for one in corners[first::2]] for first in (0, 1))
    return Region(page, (min(across), min(down), max(across), max(down)))
