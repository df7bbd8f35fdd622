"""Python values as JSON values: those of callers, data frames and Parquet files."""

from __future__ import annotations

import datetime
import enum
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import chain
from typing import Any

from fieldassay.json_value import Json
from fieldassay.records.decode import MAX_DEPTH, MAX_DIGITS


class UnplainError(ValueError):
    """A value without a JSON counterpart, described by the text."""


_SCALARS = frozenset({str, int, float, bool, type(None)})
_CONTAINERS = frozenset({dict, list})
_AT_ONCE = 100
"""Records checked together, few enough to be in the processor's cache from one look to the next."""


def are_json(records: Sequence[Any]) -> bool:
    """Return whether all values are objects of plain JSON types throughout, not too deeply nested.

    Such records need no conversion.

    >>> are_json([{"a": [1, None, {"b": "x"}]}]), are_json([{"a": (1, 2)}]), are_json([{1: "a"}])
    (True, False, False)
    """
    return all(_are_json(records[at : at + _AT_ONCE]) for at in range(0, len(records), _AT_ONCE))


def _are_json(objects: Sequence[Any]) -> bool:
    if set(map(type, objects)) - {dict}:
        return False
    lists = list[Any]()
    for _ in range(MAX_DEPTH):
        if set(map(type, set().union(*objects))) - {str}:
            return False
        members = [*chain.from_iterable(map(dict.values, objects)), *chain.from_iterable(lists)]
        kinds = set(map(type, members))
        if kinds <= _SCALARS:
            return True
        if not kinds <= _SCALARS | _CONTAINERS:
            return False
        objects = members if kinds == {dict} else [item for item in members if item.__class__ is dict]
        lists = [item for item in members if item.__class__ is list] if list in kinds else []
    return False


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
