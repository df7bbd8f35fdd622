"""The rows that statistics sum over, at each granularity: values, slots, items, or all nodes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.metrics.evidence import FLAG, Evidence, FieldInfo, Kind, Outcome
from fieldassay.metrics.statistics.statistics import BOTH, FRACTION_BITS, Conditions
from fieldassay.paths import Pattern, is_item_path

OUTCOMES = len(Outcome)
_UNIT = float(2**FRACTION_BITS)

REACH_SLACK = 1e-12
"""The accepted distance below a threshold, for the rounding of one subtraction."""


class RowTable(Struct, frozen=True, eq=False, dict=True):
    """Rows of d documents in f columns, one for each path (or slot).

    `cell` = column * d + document; `type` indexes `types`.
    """

    columns: tuple[str, ...]
    documents: int
    cell: npt.NDArray[np.int64]
    types: tuple[str, ...]
    type: npt.NDArray[np.int64]
    outcome: npt.NDArray[np.int64]
    score: npt.NDArray[np.float64]
    weight: npt.NDArray[np.float64]
    critical: npt.NDArray[np.bool_]
    flags: npt.NDArray[np.int64] | None = None
    reason: npt.NDArray[np.int32] | None = None
    reasons: tuple[str, ...] = ()
    extras: Mapping[str, npt.NDArray[np.float64]] = field(default_factory=dict)
    _masks: dict[Conditions, npt.NDArray[np.bool_]] = field(default_factory=dict)

    @cached_property
    def is_paired(self) -> npt.NDArray[np.bool_]:
        """Return a mask of the rows with both sides."""
        return self.outcome <= int(max(BOTH))

    def counts(self, where: Conditions) -> npt.NDArray[np.int64]:
        """Return the number of rows by outcome, column and document (7 x f x d) under the conditions."""
        cells = len(self.columns) * self.documents
        keys = self.outcome * cells + self.cell
        if where:
            keys = keys[self._satisfies(where)]
        counted = np.bincount(keys, minlength=OUTCOMES * cells)
        return counted.reshape(OUTCOMES, len(self.columns), self.documents)

    def total(self, value: str, where: Conditions) -> npt.NDArray[np.int64]:
        """Return the sum of a value column over rows with both sides (f x d), in units of 2^-32.

        The sums are by column and document.
        """
        return self._sum(self._values(value), self.is_paired, where)

    def total_weight(self, outcomes: tuple[Outcome, ...], where: Conditions) -> npt.NDArray[np.int64]:
        """Return the sum of the weights of the rows with these outcomes (f x d), in units of 2^-32.

        The sums are by column and document.
        """
        return self._sum(self.weight, np.isin(self.outcome, [int(outcome) for outcome in outcomes]), where)

    def _sum(
        self, values: npt.NDArray[np.float64], chosen: npt.NDArray[np.bool_], where: Conditions
    ) -> npt.NDArray[np.int64]:
        if where:
            chosen = chosen & self._satisfies(where)
        fixed = np.rint(np.where(chosen, values, 0.0) * _UNIT)
        np.nan_to_num(fixed, copy=False, nan=0.0)
        cells = len(self.columns) * self.documents
        summed = np.bincount(self.cell, weights=fixed, minlength=cells)
        return summed.astype(np.int64).reshape(len(self.columns), self.documents)

    def _values(self, value: str) -> npt.NDArray[np.float64]:
        if value == "score":
            return self.score
        if value == "weighted_score":
            return self.score * self.weight
        return self.extras.get(value, np.full(len(self.cell), np.nan))

    def _satisfies(self, where: Conditions) -> npt.NDArray[np.bool_]:
        if where not in self._masks:
            self._masks[where] = np.all([self._condition(name, wanted) for name, wanted in where], axis=0)
        return self._masks[where]

    def _condition(self, name: str, wanted: str) -> npt.NDArray[np.bool_]:
        if name == "critical":
            return self.critical
        if name == "type":
            is_wanted = np.array([name in wanted.split("|") for name in self.types], bool)
            return np.asarray(is_wanted[self.type])
        if name in ("flag", "without"):
            flags = self.flags if self.flags is not None else np.zeros(len(self.cell), np.int64)
            bits = sum(FLAG[flag] for flag in wanted.split("|"))
            return np.asarray(((flags & bits) != 0) == (name == "flag"))
        if name == "reason":
            if self.reason is None:
                return np.zeros(len(self.cell), bool)
            names = wanted.split("|")
            return np.isin(self.reason, [at for at, one in enumerate(self.reasons) if one in names])
        if name == "fields":
            is_wanted = np.array([is_field(path, wanted) for path in self.columns], bool)
            return np.asarray(is_wanted[self.cell // max(self.documents, 1)])
        if name == "has":
            return ~np.isnan(self._values(wanted))
        if name == "reaches":
            column, _, least = wanted.rpartition(" ")
            return np.asarray(np.nan_to_num(self._values(column), nan=-np.inf) >= float(least) - REACH_SLACK)
        raise ValueError(f"no condition {name!r} on rows")


def is_field(path: str, wanted: str) -> bool:
    """Return whether a field's path is one of `wanted`, joined by `|`.

    A field is given by its full path, its last name, or a pattern with stars.

    >>> is_field("lines[].sku", "total|sku"), is_field("lines[].sku", "**.sk*"), is_field("risk", "k")
    (True, True, False)
    """
    return any(
        Pattern(name).matches(path) if "*" in name else path == name or path.endswith(f".{name}")
        for name in wanted.split("|")
    )


def tabulate_rows(evidence: Evidence, rows: str) -> RowTable:
    """Return the rows of a batch at the granularity `leaf`, `slot`, `item` or `node`."""
    if rows == "slot":
        return _tabulate_slots(evidence)
    is_value = evidence.kind == int(Kind.VALUE)
    chosen: npt.NDArray[np.bool_]
    if rows == "leaf":
        chosen, names = is_value, {Kind.VALUE}
    elif rows == "item":
        # Items that are objects or lists have ITEM rows of their own.
        in_list = np.array(
            [is_item_path(info.path) and info.kind == Kind.VALUE for info in evidence.fields], bool
        )
        chosen = (evidence.kind == int(Kind.ITEM)) | (is_value & in_list[evidence.field])
        names = {Kind.ITEM}
    else:
        chosen, names = np.ones(len(evidence), bool), set(Kind)
    return _select(evidence, chosen, names)


def _select(evidence: Evidence, chosen: npt.NDArray[np.bool_], kinds: set[Kind]) -> RowTable:
    """Return the chosen rows.

    Columns are the paths of the fields of these kinds, and of any other fields with a chosen row. A tree
    without a schema may have one path under several types or kinds; it is one column.

    A tree without a schema may have one path under several types or kinds; it is one column.
    """
    fields = evidence.field[chosen]
    used = np.array([info.kind in kinds for info in evidence.fields], bool)
    used |= np.bincount(fields, minlength=len(used)) > 0
    paths = dict.fromkeys(info.path for info, is_used in zip(evidence.fields, used, strict=True) if is_used)
    place = {path: number for number, path in enumerate(paths)}
    position = np.array([place.get(info.path, -1) for info in evidence.fields], np.int64)
    documents = len(evidence.documents)
    is_all = bool(chosen.all())

    def pick(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return values if is_all else values[chosen]

    return RowTable(
        columns=tuple(paths),
        documents=documents,
        cell=position[fields] * documents + pick(evidence.doc),
        types=tuple(info.type for info in evidence.fields),
        type=fields.astype(np.int64),
        outcome=pick(evidence.outcome).astype(np.int64),
        score=pick(evidence.score),
        weight=pick(evidence.weight),
        critical=pick(evidence.critical),
        flags=pick(evidence.flags),
        reason=pick(evidence.reason),
        reasons=evidence.reasons,
        extras={name: pick(values) for name, values in evidence.extras.items()},
    )


def _tabulate_slots(evidence: Evidence) -> RowTable:
    """Return one row per (slot, document) with any row: leaf scores / union of leaves.

    It is a match if every leaf of the union is one.
    """
    slot_of = np.array([info.slot for info in evidence.fields], np.int64)
    in_slot = (evidence.kind == int(Kind.VALUE)) & (slot_of[evidence.field] >= 0)
    leaves, documents = _select(evidence, in_slot, {Kind.VALUE}), len(evidence.documents)
    cell = slot_of[leaves.type] * documents + leaves.cell % max(documents, 1)
    per_slot = replace(leaves, columns=evidence.slots, cell=cell, _masks={})
    counts = per_slot.counts(()).reshape(OUTCOMES, -1)
    outcome = _slot_outcomes(counts, _count_structure(evidence))
    found = np.flatnonzero(outcome >= 0)
    union = np.maximum(counts[: int(Outcome.SPURIOUS) + 1].sum(axis=0), 1)
    score = per_slot.total("score", ()).ravel() / _UNIT / union
    declared = {info.path: info for info in reversed(evidence.fields)}
    slots = [
        declared.get(name) or FieldInfo(name, "any", Kind.OBJECT, number)
        for number, name in enumerate(evidence.slots)
    ]
    column = found // max(documents, 1)
    return RowTable(
        columns=evidence.slots,
        documents=documents,
        cell=found,
        types=tuple(info.type for info in slots),
        type=column,
        outcome=outcome[found],
        score=score[found],
        weight=np.array([info.weight for info in slots], np.float64)[column],
        critical=per_slot.counts((("critical", "yes"),)).sum(axis=0).ravel()[found] > 0,
        extras={name: _slot_means(per_slot, name)[found] for name in leaves.extras},
    )


def _count_structure(evidence: Evidence) -> npt.NDArray[np.int64]:
    """Return the number of structure rows about presence, by outcome and slot cell.

    These are wrong kinds, absent containers and failures.
    """
    documents = len(evidence.documents)
    slot_of = np.array([info.slot for info in evidence.fields], np.int64)
    told = ((evidence.flags & FLAG["wrong_kind"]) != 0) | (evidence.outcome >= int(Outcome.ABSENT))
    rows = np.flatnonzero(told & (evidence.kind != int(Kind.VALUE)))
    rows = rows[slot_of[evidence.field[rows]] >= 0]
    cells = slot_of[evidence.field[rows]] * documents + evidence.doc[rows]
    size = len(evidence.slots) * documents
    return np.bincount(evidence.outcome[rows] * np.int64(size) + cells, minlength=OUTCOMES * size).reshape(
        OUTCOMES, size
    )


def _slot_outcomes(leaves: npt.NDArray[np.int64], structure: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the outcome of each slot cell, -1 without any row."""
    match, partial, mismatch, missing, spurious, absent, failed = leaves
    pairs = match + partial + mismatch
    wrong_pairs = structure[: int(Outcome.MISMATCH) + 1].sum(axis=0)
    has_gold = pairs + missing + wrong_pairs + structure[Outcome.MISSING] > 0
    has_pred = pairs + spurious + wrong_pairs + structure[Outcome.SPURIOUS] > 0
    is_match = (match > 0) & (match == pairs + missing + spurious) & (wrong_pairs == 0)
    cases = [
        is_match,
        has_gold & has_pred,
        has_gold,
        has_pred,
        (failed + structure[Outcome.FAILED]) > 0,
        (absent + structure[Outcome.ABSENT]) > 0,
    ]
    wanted = [
        Outcome.MATCH,
        Outcome.MISMATCH,
        Outcome.MISSING,
        Outcome.SPURIOUS,
        Outcome.FAILED,
        Outcome.ABSENT,
    ]
    return np.select(cases, [int(outcome) for outcome in wanted], default=-1).astype(np.int64)


def _slot_means(per_slot: RowTable, name: str) -> npt.NDArray[np.float64]:
    """Return the mean of an extra column over a slot's leaves, NaN without any.

    The leaves are those of the union that have the extra or lack a side.
    """
    where: Conditions = (("has", name),)
    having = per_slot.counts(where)[: int(Outcome.MISMATCH) + 1].sum(axis=0).ravel()
    everything = per_slot.counts(())
    one_sided = everything[Outcome.MISSING].ravel() + everything[Outcome.SPURIOUS].ravel()
    total = per_slot.total(name, where).ravel() / _UNIT
    return np.where(having > 0, total / np.maximum(having + one_sided, 1), np.nan)
