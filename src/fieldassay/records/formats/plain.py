"""Python values as JSON values: those of callers, data frames and Parquet files."""

from __future__ import annotations

import datetime
import enum
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import chain, repeat
from typing import Any

from fieldassay.io.json_value import Json
from fieldassay.records.decode import MAX_DEPTH, MAX_DIGITS
from fieldassay.records.record import CONFIDENCE, Row


class UnplainError(ValueError):
    """A value without a JSON counterpart, described by the text."""


_SCALARS = frozenset({str, int, float, bool, type(None)})
_CONTAINERS = frozenset({dict, list})
_AT_ONCE = 100
"""Records checked together, few enough to be in the processor's cache from one look to the next."""


def to_rows(records: Sequence[Any]) -> list[Row]:
    """Return values as rows of JSON values; one without a JSON counterpart has a problem instead.

    >>> [row.value for row in to_rows([{"a": [1, None]}, {"a": (1, 2)}])]
    [{'a': [1, None]}, {'a': [1, 2]}]
    """
    portions = (records[at : at + _AT_ONCE] for at in range(0, len(records), _AT_ONCE))
    return [row for portion in portions for row in _portion_to_rows(portion)]


def _portion_to_rows(records: Sequence[Any]) -> Iterable[Row]:
    keys = keys_of_json(records)
    if keys is None:
        return map(_to_row, records)
    may_name_confidence = any(CONFIDENCE in key for key in keys)
    return map(Row, records, repeat(()), repeat(None), repeat(may_name_confidence))


def _to_row(record: Any) -> Row:
    try:
        return Row(to_json(record))
    except UnplainError as error:
        return Row(None, problem=str(error))


def keys_of_json(objects: Sequence[Any]) -> set[str] | None:
    """Return the keys, at any depth, of objects of plain JSON types throughout, not too deeply nested.

    None for any others; plain objects need no conversion.

    >>> sorted(keys_of_json([{"a": [1, None, {"b": "x"}]}]))
    ['a', 'b']
    >>> keys_of_json([{"a": (1, 2)}]), keys_of_json([{1: "a"}])
    (None, None)
    """
    if set(map(type, objects)) - {dict}:
        return None
    found = set[str]()
    lists = list[Any]()
    for _ in range(MAX_DEPTH):
        keys = set[Any]().union(*objects)
        if set(map(type, keys)) - {str}:
            return None
        found |= keys
        members = [*chain.from_iterable(map(dict.values, objects)), *chain.from_iterable(lists)]
        kinds = set(map(type, members))
        if kinds <= _SCALARS:
            return found
        if not kinds <= _SCALARS | _CONTAINERS:
            return None
        objects = members if kinds == {dict} else [item for item in members if item.__class__ is dict]
        lists = [item for item in members if item.__class__ is list] if list in kinds else []
    return None


def to_json(value: Any, depth: int = 0) -> Json:
    """Return a Python value as JSON: ISO text for dates and times, digits for decimals, lists for tuples.

    Sets become lists too. Objects with a plain form (`model_dump`, `tolist`, `item`) are converted by it.
    Raises `UnplainError` for bytes, for unknown kinds and for data nested too deeply.

    >>> from decimal import Decimal
    >>> to_json({"total": Decimal("1.50"), "on": datetime.date(2025, 3, 4), "lines": ({"n": 1},)})
    {'total': '1.50', 'on': '2025-03-04', 'lines': [{'n': 1}]}
    """
    if value is None or type(value) in (bool, int, float):
        return value  # type: ignore[no-any-return]
    if isinstance(value, str):
        return _to_text(value)
    if depth >= MAX_DEPTH:
        raise UnplainError(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        return {_to_text(str(key)): to_json(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item, depth + 1) for item in value]
    if isinstance(value, set | frozenset):
        return [to_json(item, depth + 1) for item in sorted(value, key=repr)]
    return _convert(value, depth)


def _convert(value: Any, depth: int) -> Json:
    if isinstance(value, Decimal):
        is_long = (
            value.is_finite() and abs(value.adjusted()) > MAX_DIGITS
        )  # written out, its zeros could fill the memory
        return str(value) if is_long else format(value, "f") if value.is_finite() else float(value)
    if isinstance(value, enum.Enum):
        return to_json(value.value, depth + 1)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, int | float):
        return float(value) if isinstance(value, float) else int(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, bytes | bytearray | memoryview):
        raise UnplainError("holds bytes, which are no text")
    for name in ("model_dump", "tolist", "item"):
        method = getattr(value, name, None)
        if callable(method) and not isinstance(value, type):
            return to_json(method(), depth + 1)
    raise UnplainError(f"holds a {type(value).__name__}, which has no JSON counterpart")


def _to_text(text: str) -> str:
    if text.isascii():
        return str(text)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return str(text)
