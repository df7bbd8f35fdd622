"""Places of a gold record: what a label stands for there, what gold has, and whether they are the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, TypeAlias

from msgspec import Struct

from fieldassay.paths import Step, field_of, join_path, split_path, value_at
from fieldassay.records.labels_file import Label, record_of

ILLEGIBLE_FIELDS, UNREVIEWED_FIELDS = "illegible_fields", "unreviewed_fields"
BESIDE = (ILLEGIBLE_FIELDS, UNREVIEWED_FIELDS)


class Nothing:
    """The type of NOTHING: no value at a place."""

    def __repr__(self) -> str:
        return "(absent)"


NOTHING: Final = Nothing()

Same: TypeAlias = Callable[[str, Any, Any], bool]
"""From the path of a field and two values to whether they mean the same."""


class UnfitError(Exception):
    """A label that gold has no place for; its text is the reason."""


class Place(Struct, frozen=True):
    """The content of a place: a value, and the illegible and the unreviewed places at it or below it."""

    value: Any
    beside: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())

    @classmethod
    def of(cls, record: Mapping[str, Any], path: str) -> Place:
        """Return what a record has at a path."""
        illegible, unreviewed = (
            frozenset(one for one in named_places(record, key) if is_at(one, path)) for key in BESIDE
        )
        return cls(filled_at(record, path), (illegible, unreviewed))

    @property
    def told(self) -> Any:
        """Return the value, or why there is none."""
        if self.value is not NOTHING or not any(self.beside):
            return self.value
        return "(illegible)" if self.beside[0] else "(not reviewed)"

    def put(self, record: dict[str, Any], path: str) -> None:
        """Write the content into a record. Raises UnfitError if it has no such place."""
        for above in named_places(record, UNREVIEWED_FIELDS):
            if is_at(path, above) and path != above:
                raise UnfitError(f"{UNREVIEWED_FIELDS} names {above}: name what is not reviewed in it")
        put(record, path, self.value)
        for key, new in zip(BESIDE, self.beside, strict=True):
            left = {one for one in named_places(record, key) if not is_at(one, path)} | new
            record[key] = sorted(left)
            if not left:
                del record[key]


def is_at(path: str, above: str) -> bool:
    """Return whether a path is another one, or below it."""
    return path == above or path.startswith((f"{above}.", f"{above}["))


def named_places(record: Mapping[str, Any], key: str) -> set[str]:
    """Return the places that a gold record names under a key, in a list or as a text."""
    given = record.get(key) or []
    return {str(one).strip() for one in (given if isinstance(given, list) else str(given).split("|"))}


def list_units(labels: Mapping[str, Label], record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the places that are written as one: values, and whole lists with all that is below them."""
    whole = {
        path
        for path, label in labels.items()
        if label.state == "value" and label.text is None
        and (isinstance(filled_at(record, path), list) or any(one.startswith(f"{path}[") for one in labels))
    }  # fmt: skip
    for path, label in labels.items():
        is_value = label.state != "value" or label.text is not None or path in whole
        is_below = any(is_at(path, one) and path != one for one in whole)
        if label.state != "skipped" and not is_below and is_value:
            yield path


def wanted_at(path: str, labels: Mapping[str, Label], record: Mapping[str, Any], same: Same) -> Place:
    """Return the content that a label stands for, in the kind of value that gold has there.

    Raises UnfitError for an item that the list in gold does not have.
    """
    label, steps, old = labels[path], split_path(path), filled_at(record, path)
    for at, step in enumerate(steps):
        held = filled_at(record, steps[:at])
        if isinstance(step, int) and not (isinstance(held, list) and step < len(held)):
            raise UnfitError("the list has other items than when it was labeled: label it whole")
    if label.state in ("illegible", "absent"):
        return Place(NOTHING, (frozenset([path] * (label.state == "illegible")), frozenset()))
    if label.text is not None:
        return Place(_alike(field_of(path), label.text, old, (set(), same)))
    return _whole_list(path, labels, old if isinstance(old, list) else [], same)


def _whole_list(path: str, labels: Mapping[str, Label], old: list[Any], same: Same) -> Place:
    """Return the labeled items; what means the same keeps its writing, and keys that no label names stay."""
    depth, cells = len(split_path(path)), dict[Step, dict[str, Label]]()
    beside: dict[str, set[str]] = {"illegible": set(), "skipped": set()}
    inside = {
        split_path(one)[depth:]: label for one, label in labels.items() if is_at(one, path) and one != path
    }
    for steps, label in inside.items():
        cells.setdefault(steps[0], {})[join_path(steps[1:])] = label
    rows = [cells[number] for number in sorted(number for number in cells if isinstance(number, int))]
    if len(rows) < len(cells):
        raise UnfitError(f"{path} is a list, and a label in it is of no item")
    for at, row in enumerate(rows):
        for rest, label in row.items():
            if label.state in beside:
                beside[label.state].add(join_path([*split_path(path), at, *split_path(rest)]))
    items = [(row[""].text if "" in row else None) or record_of(row) for row in rows]
    named = {step for steps in inside for step in steps if isinstance(step, str)}
    extra = sorted({key for item in old if isinstance(item, dict) for key in item} - named)
    if extra and len(items) != len(old):
        raise UnfitError(f"items in gold have keys that no label names ({', '.join(extra)[:100]})")
    value = _alike(field_of(path), items, old, (named, same)) or NOTHING
    return Place(value, (frozenset(beside["illegible"]), frozenset(beside["skipped"])))


def _alike(path: str, new: Any, old: Any, known: tuple[set[str], Same]) -> Any:
    """Return a labeled value as gold has written it, where they mean the same; keys not `named` stay."""
    named, same = known
    if isinstance(new, dict):
        members = old.items() if isinstance(old, dict) else ()
        kept = {key: value for key, value in members if key not in named - new.keys() or _is_blank(value)}
        return kept | {
            key: _alike(f"{path}.{key}", one, kept.get(key, NOTHING), known) for key, one in new.items()
        }
    if isinstance(new, list):
        held = [*(old if isinstance(old, list) else []), *[NOTHING] * len(new)]
        return [_alike(f"{path}[]", one, held[at], known) for at, one in enumerate(new)]
    typed = as_kind(new, old)
    return old if old is not NOTHING and same(path, old, typed) else typed


def as_kind(text: str, like: Any) -> Any:
    """Return a text as JSON of the kind that stood there before, if it can be written so; else the text.

    >>> as_kind("7.50", Decimal(5)), as_kind("true", False), as_kind("n/a", Decimal(5))
    (Decimal('7.50'), True, 'n/a')
    """
    kinds: tuple[type[Any], ...] = (type(like),) if isinstance(like, bool | list) else ()
    if isinstance(like, int | float | Decimal) and not kinds:
        kinds = (Decimal,)
    try:
        found = json.loads(text, parse_float=Decimal, parse_int=Decimal, parse_constant=str)
    except (ValueError, RecursionError):
        return text
    return found if isinstance(found, kinds) else text


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
        raise UnfitError(f"gold has no such place: {join_path(above)} is no list or object")


def same_text(_path: str, one: Any, two: Any) -> bool:
    """Return whether two values are written alike, numbers and texts compared as text.

    >>> same_text("total", Decimal("5"), "5"), same_text("total", "5.00", "5")
    (True, False)
    """
    is_text = not any(isinstance(side, bool | list | dict) for side in (one, two))
    return str(one).strip() == str(two).strip() if is_text else type(one) is type(two) and bool(one == two)


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
