"""Reading each distinct raw value of a column once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from fieldassay.values.types.column import Column, Reading


def read_distinct(
    read: Callable[[Any], Reading], raws: Sequence[Any], key: Callable[[Any], Hashable] | None = None
) -> Column:
    """Return the column of `read(raw)` for every raw value; equal values of one type are read once.

    `key` maps a value to its identity, for raw values that cannot be hashed; by default type and value.

    >>> column = read_distinct(lambda raw: Reading(str(raw), raw, str(raw)), [1, True, 1, "1"])
    >>> list(column.values)
    [1, True, 1, '1']
    """
    positions: dict[Hashable, int] = {}
    distinct: list[Any] = []
    codes = np.empty(len(raws), dtype=np.int64)
    for index, raw in enumerate(raws):
        same = (
            key(raw)
            if key is not None
            else raw
            if raw.__class__ is str
            else (raw.__class__, repr(raw) if raw.__class__ is float else raw)
        )
        position = positions.get(same)
        if position is None:
            position = positions[same] = len(distinct)
            distinct.append(raw)
        codes[index] = position
    column = Column.of([read(raw) for raw in distinct])
    return column if len(distinct) == len(raws) else column.take(codes)
