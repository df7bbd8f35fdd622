"""Values predicted as objects with a confidence, or with a confidence in a column beside them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from decimal import Decimal
from itertools import chain, repeat
from typing import Any, TypeAlias

from msgspec import Struct, field

from fieldassay.io.json_value import Json
from fieldassay.records.decode import read_number
from fieldassay.regex import lazy_regex

Scalars: TypeAlias = Mapping[str, Any]
"""The fields of an object by name: None for values and lists of values, else the fields of its objects."""

SUFFIX = "_confidence"
_PERCENTAGE = lazy_regex(r"\s*(\d{1,3}(?:[.,]\d{1,15})?)\s?%\s*", re.ASCII)
_TYPED = tuple(f"value{letter}" for letter in "ABCDINOPST")
"""The beginnings of Azure's keys of values by type: `valueString`, `valueNumber`, `valueDate`."""
_CONTAINERS = frozenset({dict, list})
_VALUES = ("value", "content")
_MARKS = frozenset({"confidence", "citations"})
"""Keys of which a value object has one; `citations` are Reducto's, with a confidence each."""
_BESIDE = frozenset({
    *_VALUES, *_MARKS, "text", "elements", "type", "page", "pages", "page_number", "pageNumber", "bbox",
    "box",    "bounding_box", "boundingBox", "polygon",
    "bounding_regions", "boundingRegions", "spans", "span", "source", "source_text",
})  # fmt: skip
"""The keys of an object with only a value, its confidence and the place where the value was found."""


class Taken(Struct):
    """The yield of the value objects of one record: confidences by path, and the names of the steps."""

    confidences: dict[str, float] = field(default_factory=dict)
    repairs: set[str] = field(default_factory=set)


def may_hold_confidences(objects: Sequence[dict[str, Json]], scalars: Scalars) -> bool:
    """Return whether any of the objects at one place has anything that `take_values` may take.

    Quick, since most have not: their keys and values are looked at together.
    """
    return _may_hold(objects, set().union(*objects), scalars)


def _may_hold(objects: Sequence[dict[str, Json]], names: Set[str], scalars: Scalars) -> bool:
    if _has_column(names, scalars):
        return True
    if _CONTAINERS.isdisjoint(map(type, chain.from_iterable(map(dict.values, objects)))):
        return False
    for name in scalars.keys() & names:
        inner = _objects_in(list(map(dict.get, objects, repeat(name))))
        keys = set().union(*inner)
        if (
            not _MARKS.isdisjoint(keys)
            or any(key.startswith(_TYPED) for key in keys)
            or (scalars[name] and _may_hold(inner, keys, scalars[name]))
        ):
            return True
    return False


def _objects_in(values: list[Any]) -> list[dict[str, Json]]:
    """Return the objects among values, those in lists included."""
    found: list[dict[str, Json]] = []
    while (kinds := set(map(type, values))) - {dict}:
        found += [value for value in values if value.__class__ is dict] if dict in kinds else []
        values = [*chain.from_iterable(value for value in values if value.__class__ is list)]
    return found + values


def _has_column(names: Set[str], scalars: Scalars) -> bool:
    return not names <= scalars.keys() and any(name.endswith(SUFFIX) for name in names)


def take_values(data: dict[str, Json], scalars: Scalars, taken: Taken, path: str = "") -> dict[str, Json]:
    """Return a record with plain values in place of objects such as `{"value": 5, "confidence": 0.9}`.

    Only at fields that have a single value in the spec.

    >>> taken = Taken()
    >>> take_values({"total": {"value": 5, "confidence": 0.9}}, {"total": None}, taken), taken.confidences
    ({'total': 5}, {'total': 0.9})
    """
    found = data
    for name, value in data.items():
        here = f"{path}.{name}" if path else name
        kind = value.__class__
        if (
            name.endswith(SUFFIX)
            and name not in scalars
            and scalars.get(name.removesuffix(SUFFIX), "") is None
        ):
            if _note_confidence(value, here.removesuffix(SUFFIX), taken):
                taken.repairs.add("confidence_beside")
                found = {key: member for key, member in found.items() if key != name}
        elif (kind is dict or kind is list) and name in scalars:
            inner = _take(value, scalars[name], taken, here)
            if inner is not value:
                found = {**found, name: inner}
    return found


def _take(value: Any, scalars: Scalars | None, taken: Taken, path: str) -> Json:
    if isinstance(value, list):
        items = [_take(item, scalars, taken, f"{path}[{at}]") for at, item in enumerate(value)]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if not isinstance(value, dict):
        return value  # type: ignore[no-any-return]
    key = _value_key(value, scalars)
    if key is None:
        return value if scalars is None else take_values(value, scalars, taken, path)
    inner: Json = value[key]
    taken.repairs.add("value_object")
    _note_confidence(_confidence_of(value), path, taken)
    return inner if scalars is None else _take(inner, scalars, taken, path)


def _confidence_of(value: Mapping[str, Any]) -> Any:
    """Return the confidence of a value object, or that of the first place that it cites."""
    if "citations" not in value:
        return value.get("confidence")
    first = next((cited for cited in value["citations"] or () if isinstance(cited, dict)), {})
    granular = first.get("granular_confidence")
    number = granular.get("extract_confidence") if isinstance(granular, dict) else None
    return first.get("confidence") if number is None else number


def _value_key(value: Mapping[str, Json], scalars: Scalars | None) -> str | None:
    """Return the key of the value in an object of only a value, its confidence and its place; else None.

    A typed value that is itself an object (`valueCurrency`) gives way to the text that it was read from.
    """
    typed = [key for key in value if key.startswith(_TYPED)]
    keys = typed or [key for key in _VALUES if key in value] or [key for key in ("text",) if key in value]
    has_mark = not _MARKS.isdisjoint(value) or (bool(typed) and "type" in value)
    if not has_mark or len(keys) != 1 or not value.keys() <= {*_BESIDE, *typed}:
        return None
    is_container = isinstance(value[keys[0]], dict | list)
    if scalars is not None:  # not if a key of the object itself is declared
        return keys[0] if is_container and scalars.keys().isdisjoint(value) else None
    if typed and is_container:
        return next((key for key in ("content", "text") if isinstance(value.get(key), str)), None)
    return None if isinstance(value[keys[0]], dict) else keys[0]


def _note_confidence(value: Json, path: str, taken: Taken) -> bool:
    """Return whether a value is a confidence in numbers, which is then kept; one in words is only noted."""
    number = read_confidence(value)
    if number is not None:
        taken.confidences[path] = number
    elif isinstance(value, str) and value.strip():
        taken.repairs.add("confidence_in_words")
    return number is not None


def read_confidence(value: Json) -> float | None:
    """Return the number that a confidence is, of a percentage its fraction; None if it is none.

    >>> read_confidence("95 %"), read_confidence("0.95"), read_confidence(95), read_confidence("high")
    (0.95, 0.95, 95.0, None)
    """
    percentage = _PERCENTAGE.fullmatch(value) if isinstance(value, str) else None
    if percentage is None:
        return read_number(value)
    return float(Decimal(percentage[1].replace(",", ".")) / 100)
