"""Sums of statistics: exact integers that add in any order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.errors import FieldassayError
from fieldassay.metrics.statistics.statistics import Statistic

LIMIT = 2**62
"""The bound of sums: adding two of them cannot overflow 64 bits."""

WEIGHT_BITS = 4
"""The fraction of bootstrap weights: sums of counts under weights are in sixteenths."""


class Sum(Struct, frozen=True, eq=False):
    """The sums of one statistic: `values[i]` is of field `fields[i]` (`None`: the document as a whole).

    `values` is int64, fields x (1 + replicates): first the plain sum, then the sum under each replicate's
    weights; only the plain sum without replicates. Units are 2^-bits of the statistic; those of sums under
    weights are sixteenths of that for counts, which have fewer than 4 bits.
    """

    fields: tuple[str | None, ...]
    values: npt.NDArray[np.int64]


Sums: TypeAlias = Mapping[Statistic, Sum]


def add_sums(first: Sums, second: Sums) -> dict[Statistic, Sum]:
    """Return the sums of both by statistic and field; missing ones count as zero."""
    added = {
        statistic: _add(total, second[statistic]) if statistic in second else total
        for statistic, total in first.items()
    }
    return added | {statistic: total for statistic, total in second.items() if statistic not in first}


def join_fields(first: tuple[str | None, ...], second: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """Return the fields of both sides.

    Equal sequences stay as they are; others are sorted, so that the order of merging has no effect.

    >>> join_fields(("b", "a"), ("b", "a")), join_fields(("b", "a"), ("c",))
    (('b', 'a'), ('a', 'b', 'c'))
    """
    if first == second:
        return first
    return tuple(sorted({*first, *second}, key=lambda name: name or ""))


def spread_rows(fields: tuple[str | None, ...], total: Sum) -> npt.NDArray[np.int64]:
    """Return the rows of a sum in the order of `fields`, zero for missing ones, without other fields."""
    if total.fields == fields:
        return total.values
    place = {name: position for position, name in enumerate(fields)}
    spread = np.zeros((len(fields), *total.values.shape[1:]), np.int64)
    known = [row for row, name in enumerate(total.fields) if name in place]
    spread[[place[total.fields[row]] for row in known]] = total.values[known]
    return spread


def _add(first: Sum, second: Sum) -> Sum:
    fields = join_fields(first.fields, second.fields)
    values = spread_rows(fields, first) + spread_rows(fields, second)
    if values.size and (values.max() >= LIMIT or values.min() <= -LIMIT):
        raise FieldassayError(
            "the sums are too large to add exactly (more than about a billion judged values); "
            "score in several runs"
        )
    return Sum(fields, values)
