"""Lists judged as one value."""

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from fieldassay.io.json_value import fold_null_values, is_empty_text
from fieldassay.values.types.column import Column, Reader, Reading, objects
from fieldassay.values.types.text import json_text

_NO_SCALAR = (list, dict)


class ListReader(Reader, Struct, frozen=True):
    """Reads a list of values of one type as the `Column` of its items' readings, in order.

    A text is split at `separator` if there is one; any other scalar is a list of one item, flagged `coerced`.
    Empty items (null, white space, one of the field's `null_values`) are dropped; with `keep_empty` they stay
    as unreadable ones. An unreadable item leaves the list readable: its position is in the problems of the
    value. The canonical text is the JSON array of the items' canonical texts.

    >>> from fieldassay.values.types.text import TextReader
    >>> ListReader(TextReader(), separator="|").read("a | b || ç").canonical
    '["a", "b", "ç"]'
    """

    items: Reader
    separator: str | None = None
    keep_empty: bool = False
    null_values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.separator == "":
            raise ValueError("separator cannot be empty")

    def read(self, raw: Any) -> Reading:
        return self.read_column([raw]).reading(0)

    def read_column(self, raws: Sequence[Any]) -> Column:
        lists = [self._items(raw) for raw in raws]
        ends: list[int] = []
        flat: list[Any] = []
        for items in lists:
            flat.extend(items)
            ends.append(len(flat))
        column = _read_items(self.items, self._without_nulls(flat))
        values = _cut(column, ends)
        texts = objects([_text(raw) for raw in raws])
        canonical = objects([json.dumps(list(value.canonical), ensure_ascii=False) for value in values])
        flags = {
            index: ("coerced",)
            for index, raw in enumerate(raws)
            if not isinstance(raw, list) and not (isinstance(raw, str) and self.separator is not None)
        }
        return Column(texts, objects(values), canonical, flags)

    def _items(self, raw: Any) -> list[Any]:
        if isinstance(raw, str) and self.separator is not None:
            items: list[Any] = [item.strip() for item in raw.split(self.separator)]
        else:
            items = raw if isinstance(raw, list) else [raw]
        return (
            items if self.keep_empty else [item for item in self._without_nulls(items) if not _is_empty(item)]
        )

    def _without_nulls(self, items: list[Any]) -> list[Any]:
        """Return the items with null values replaced by null, whatever their letter case."""
        if not self.null_values:
            return items
        nulls = fold_null_values(self.null_values)
        return [None if isinstance(item, str) and is_empty_text(item, nulls) else item for item in items]


def _is_empty(item: Any) -> bool:
    return item is None or (isinstance(item, str) and is_empty_text(item)) or item in ([], {})


def _read_items(reader: Reader, items: list[Any]) -> Column:
    """Return the readings of the items in one call; each distinct readable item is read once."""
    positions: dict[Any, int] = {}
    distinct: list[Any] = []
    codes: list[int] = []
    odd: list[Reading] = []
    for item in items:
        if _is_empty(item) or isinstance(item, _NO_SCALAR):
            odd.append(_unfit(item))
            codes.append(-len(odd))
            continue
        key = (item.__class__, repr(item) if item.__class__ is float else item)
        if key not in positions:
            positions[key] = len(distinct)
            distinct.append(item)
        codes.append(positions[key])
    return _joined(reader.read_column(distinct), odd, codes)


def _unfit(item: Any) -> Reading:
    if _is_empty(item):
        return Reading("", None, "", problem="is empty")
    text = _text(item)
    return Reading(
        text, None, text, problem=f"is {'a list' if isinstance(item, list) else 'an object'}, not one value"
    )


def _joined(column: Column, odd: list[Reading], codes: list[int]) -> Column:
    import numpy as np

    if odd:
        column = Column.of([*map(column.reading, range(len(column))), *reversed(odd)])
    return column.take(np.array([code % len(column) for code in codes], dtype=np.int64))


def _cut(column: Column, ends: list[int]) -> list[Column]:
    flagged, problematic = sorted(column.flags), sorted(column.problems)
    pieces = []
    start = 0
    for end in ends:
        part = slice(start, end)
        flags = _between(column.flags, flagged, start, end)
        problems = _between(column.problems, problematic, start, end)
        pieces.append(
            Column(column.texts[part], column.values[part], column.canonical[part], flags, problems)
        )
        start = end
    return pieces


def _between(sparse: Mapping[int, Any], positions: list[int], start: int, end: int) -> dict[int, Any]:
    return {
        position - start: sparse[position]
        for position in positions[bisect_left(positions, start) : bisect_left(positions, end)]
    }


def _text(raw: Any) -> str:
    if not isinstance(raw, _NO_SCALAR):
        return json_text(raw)
    try:
        return json.dumps(raw, ensure_ascii=False)
    except (RecursionError, ValueError, TypeError):
        return "[…]" if isinstance(raw, list) else "{…}"
