"""Columns of statistics from rows of evidence, and how they are packed."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, reduce
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.errors import problem
from fieldassay.metrics.evidence import FLAG, BatchEvidence, DocumentTable, FieldInfo, Kind, Outcome
from fieldassay.metrics.statistics.statistics import (
    BOTH,
    FRACTION_BITS,
    NUMBER_BITS,
    Claim,
    Coalesce,
    Combined,
    Conditions,
    Constant,
    Defined,
    Documents,
    FieldDefined,
    FieldMean,
    FieldSquares,
    Form,
    IsDefined,
    Known,
    Number,
    OfDocument,
    OverRuns,
    Quantile,
    Ratio,
    Reaches,
    Recipe,
    Rows,
    RowSum,
    Share,
    Squares,
    Statistic,
    Sum,
    Threshold,
    Total,
    join_fields,
    join_values,
    settle,
    spread_rows,
)
from fieldassay.paths import Pattern, is_item_path

# Numbers of documents in the narrowest type that gives every one of them back to the bit.

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_FLOATS = (np.float16, np.float32)
_INTEGERS = (np.int8, np.int16, np.int32)


class PackedFloats(Struct, frozen=True, eq=False):
    """A column of float64 in a type of floats that holds each of its values, NaN and the sign of 0 too."""

    array: npt.NDArray[np.floating]

    @classmethod
    def pack(cls, values: Floats) -> "PackedFloats":
        """Return the column, packed.

        >>> [PackedFloats.pack(np.array([value, np.nan])).array.dtype.name for value in (0.75, 0.1)]
        ['float16', 'float64']
        """
        bits = np.ascontiguousarray(values).view(np.int64)
        for narrow in _FLOATS:
            with np.errstate(over="ignore", under="ignore"):
                array: npt.NDArray[np.floating] = values.astype(narrow)
            if np.array_equal(array.astype(np.float64).view(np.int64), bits):
                return cls(array)
        return cls(values.copy())

    @classmethod
    def join(cls, parts: Sequence["PackedFloats"]) -> "PackedFloats":
        """Return the columns below one another, in the widest of their types."""
        return cls(np.concatenate([part.array for part in parts]))

    def take(self, documents: Ints) -> "PackedFloats":
        """Return the values at these positions."""
        return PackedFloats(self.array[documents])

    def unpack(self) -> Floats:
        """Return the column as float64."""
        return self.array.astype(np.float64)


class PackedInts(Struct, frozen=True, eq=False):
    """A column or columns of int64: `array`, of a narrower type of integers, times 2^shift."""

    array: npt.NDArray[np.signedinteger]
    shift: int

    @classmethod
    def pack(cls, values: Ints) -> "PackedInts":
        """Return the column, packed.

        >>> PackedInts.pack(np.array([0, 3 << 32])).array
        array([0, 3], dtype=int8)
        """
        bits = int(np.bitwise_or.reduce(values, axis=None)) if values.size else 0
        shift = min((bits & -bits).bit_length() - 1, 62) if bits else 0
        array = values >> shift
        low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
        fitting = (dtype for dtype in _INTEGERS if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max)
        return cls(array.astype(next(fitting, np.int64)), shift)

    def unpack(self) -> Ints:
        """Return the column as int64."""
        return self.array.astype(np.int64) << self.shift


class PackedSum(Struct, frozen=True, eq=False, dict=True):
    """The sums of one statistic (fields x documents), each field packed by itself."""

    fields: tuple[str | None, ...]
    rows: tuple[PackedInts, ...]
    documents: int

    @classmethod
    def pack(cls, total: Sum) -> "PackedSum":
        """Return the sums, packed."""
        return cls(total.fields, tuple(map(PackedInts.pack, total.values)), total.values.shape[1])

    def unpack(self) -> Sum:
        """Return the sums as int64."""
        values = np.zeros((len(self.fields), self.documents), np.int64)
        for at, row in enumerate(self.rows):
            values[at] = row.unpack()
        return Sum(self.fields, values)

    @classmethod
    def join(cls, parts: Sequence["PackedSum"]) -> "PackedSum":
        """Return the sums of all parts, field by field, zeros where a part lacks a field."""
        fields = reduce(join_fields, (part.fields for part in parts))
        rows = (np.concatenate([part.row(name) for part in parts]) for name in fields)
        return cls(fields, tuple(map(PackedInts.pack, rows)), sum(part.documents for part in parts))

    def take(self, documents: Ints) -> "PackedSum":
        """Return the sums of the documents at these positions."""
        rows = tuple(PackedInts(row.array[documents], row.shift) for row in self.rows)
        return PackedSum(self.fields, rows, len(documents))

    def row(self, field: str | None) -> Ints:
        """Return the sums of one field, zeros for one that it does not have."""
        at = self._places.get(field)
        return np.zeros(self.documents, np.int64) if at is None else self.rows[at].unpack()

    @cached_property
    def _places(self) -> dict[str | None, int]:
        return {name: at for at, name in enumerate(self.fields)}


Key = TypeVar("Key")
Value = TypeVar("Value")


class Packed(Mapping[Key, Value]):
    """Columns by name, or sums by statistic, that are held packed; each lookup unpacks one."""

    def __init__(self, packed: Mapping[Key, Any]) -> None:
        self.packed = packed

    @classmethod
    def join(cls, parts: Sequence["Packed[Key, Value]"]) -> "Packed[Key, Value]":
        """Return the columns of parts that all have the same names, each below one another."""
        return cls(
            {
                key: type(column).join([part.packed[key] for part in parts])
                for key, column in parts[0].packed.items()
            }
        )

    def take(self, documents: Ints) -> "Packed[Key, Value]":
        """Return the values of the documents at these positions."""
        return Packed({key: column.take(documents) for key, column in self.packed.items()})

    def __getitem__(self, key: Key) -> Value:
        return self.packed[key].unpack()  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Key]:
        return iter(self.packed)

    def __len__(self) -> int:
        return len(self.packed)


# The rows that statistics sum over, at each granularity: values, slots, items, or all nodes.

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
            return np.isin(self.reason, [at for at, reason in enumerate(self.reasons) if reason in names])
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


def tabulate_rows(evidence: BatchEvidence, rows: str) -> RowTable:
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


def _select(evidence: BatchEvidence, chosen: npt.NDArray[np.bool_], kinds: set[Kind]) -> RowTable:
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


def _tabulate_slots(evidence: BatchEvidence) -> RowTable:
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
    cells = np.flatnonzero(outcome >= 0)
    union = np.maximum(counts[: int(Outcome.SPURIOUS) + 1].sum(axis=0), 1)
    score = per_slot.total("score", ()).ravel() / _UNIT / union
    declared = {info.path: info for info in reversed(evidence.fields)}
    slots = [
        declared.get(name) or FieldInfo(name, "any", Kind.OBJECT, number)
        for number, name in enumerate(evidence.slots)
    ]
    column = cells // max(documents, 1)
    return RowTable(
        columns=evidence.slots,
        documents=documents,
        cell=cells,
        types=tuple(info.type for info in slots),
        type=column,
        outcome=outcome[cells],
        score=score[cells],
        weight=np.array([info.weight for info in slots], np.float64)[column],
        critical=per_slot.counts((("critical", "yes"),)).sum(axis=0).ravel()[cells] > 0,
        extras={name: _slot_means(per_slot, name)[cells] for name in leaves.extras},
    )


def _count_structure(evidence: BatchEvidence) -> npt.NDArray[np.int64]:
    """Return the number of structure rows about presence, by outcome and slot cell.

    These are wrong kinds, absent containers and failures.
    """
    documents = len(evidence.documents)
    slot_of = np.array([info.slot for info in evidence.fields], np.int64)
    is_about_presence = ((evidence.flags & FLAG["wrong_kind"]) != 0) | (
        evidence.outcome >= int(Outcome.ABSENT)
    )
    rows = np.flatnonzero(is_about_presence & (evidence.kind != int(Kind.VALUE)))
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


# Statistics of one batch, document by document.


class DocumentColumns(Struct, frozen=True, eq=False, dict=True):
    """Evaluates statistics on one batch, each only once."""

    evidence: BatchEvidence
    table: DocumentTable
    _rows: dict[str, RowTable] = field(default_factory=dict)
    _counts: dict[tuple[str, Conditions], Ints] = field(default_factory=dict)
    _by_statistic: dict[Statistic, Ints] = field(default_factory=dict)
    _whole: dict[Statistic, Ints] = field(default_factory=dict)

    def fields(self, statistic: Statistic) -> tuple[str | None, ...]:
        """Return the labels of the rows of `values`: field paths, or `(None,)` for the whole document."""
        if isinstance(statistic, FieldDefined | FieldSquares):
            return reduce(join_fields, map(self.fields, statistic.form.statistics))
        if isinstance(statistic, RowSum):
            return self._table(statistic.rows).columns
        return (None,)

    def values(self, statistic: Statistic) -> Ints:
        """Return the statistic of each document, fields x documents, in units of 2^-bits."""
        if statistic not in self._by_statistic:
            self._by_statistic[statistic] = self._evaluate(statistic)
        return self._by_statistic[statistic]

    def shares(self, share: Share) -> npt.NDArray[np.float64]:
        """Return each document's own ratio, NaN for a denominator of 0."""
        numerator, denominator = self.per_document(share.numerator), self.per_document(share.denominator)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(denominator > 0, numerator / denominator, np.nan)

    def per_document(self, form: Form) -> npt.NDArray[np.float64]:
        """Return a form's value for each document as a whole."""
        return self._combine(form, by_field=False)

    def evaluate(self, recipe: Recipe, over: Recipe | None = None) -> npt.NDArray[np.float64]:
        """Return a recipe's value in each document alone, NaN where it (or `over`) is undefined."""
        if over is not None:
            return np.where(np.isnan(self.evaluate(over)), np.nan, self.evaluate(recipe))
        if isinstance(recipe, Ratio):
            first = recipe.numerator.statistics[0] if len(recipe.numerator.terms) == 1 else None
            if isinstance(first, OfDocument):
                return self.evaluate(first.recipe, first.over)
            if isinstance(first, Share) and recipe.documents is not None:
                return self.shares(first)
            return self.shares(Share(recipe.numerator, recipe.denominator))
        if isinstance(recipe, Combined):
            return join_values(recipe.operator, self.evaluate(recipe.left), self.evaluate(recipe.right))
        if isinstance(recipe, Coalesce | Threshold):
            return settle(recipe, self.evaluate(recipe.recipe))
        if isinstance(recipe, Constant):
            return np.full(len(self.evidence.documents), recipe.value)
        if isinstance(recipe, Quantile):
            return self.number(recipe.column)
        return self._own_mean(recipe) if isinstance(recipe, FieldMean) else self._own_total(recipe)

    def _own_total(self, recipe: Total) -> npt.NDArray[np.float64]:
        first = recipe.total.statistics[0] if len(recipe.total.terms) == 1 else None
        return (
            self.evaluate(first.recipe, first.over)
            if isinstance(first, OfDocument)
            else self.per_document(recipe.total)
        )

    def _own_mean(self, recipe: FieldMean) -> npt.NDArray[np.float64]:
        """Return the mean of the ratio over the fields with it in the document, with their weights there."""
        top, bottom = (
            self._combine(part, by_field=True) for part in (recipe.ratio.numerator, recipe.ratio.denominator)
        )
        is_there = bottom > 0
        weights = is_there.astype(np.float64)
        if recipe.weight is not None:
            weights = weights * self._combine(recipe.weight, by_field=True)
        values = (np.divide(top, bottom, out=np.zeros(bottom.shape), where=is_there) * weights).sum(axis=0)
        whole = weights.sum(axis=0)
        mean: npt.NDArray[np.float64] = np.divide(
            values, whole, out=np.full(len(whole), np.nan), where=whole > 0
        )
        return mean

    def _combine(self, form: Form, by_field: bool) -> npt.NDArray[np.float64]:
        total: npt.NDArray[np.float64] = np.zeros(1)
        fields = reduce(join_fields, map(self.fields, form.statistics)) if by_field else ()
        for factor, statistic in form.terms:
            values = (
                spread_rows(fields, Sum(self.fields(statistic), self.values(statistic)))
                if by_field
                else self._of_whole(statistic)
            )
            total = total + values * (factor * 2.0**-statistic.bits)
        return total

    def _of_whole(self, statistic: Statistic) -> Ints:
        """Return the statistic of each document, summed over its fields."""
        if statistic not in self._whole:
            self._whole[statistic] = self.values(statistic).sum(axis=0)
        return self._whole[statistic]

    def _table(self, rows: str) -> RowTable:
        if rows not in self._rows:
            self._rows[rows] = tabulate_rows(self.evidence, rows)
        return self._rows[rows]

    def _evaluate(self, statistic: Statistic) -> Ints:
        if isinstance(statistic, RowSum):
            return self._sum_rows(statistic)
        if isinstance(statistic, FieldDefined):
            return (self._combine(statistic.form, by_field=True) > 0).astype(np.int64)
        if isinstance(statistic, OverRuns):  # there is one run only
            return np.zeros((1, len(self.evidence.documents)), np.int64)
        if isinstance(statistic, FieldSquares):
            return np.rint(self._combine(statistic.form, by_field=True) ** 2).astype(np.int64)
        return self._evaluate_document(statistic)[None, :]

    def _evaluate_document(self, statistic: Statistic) -> Ints:
        values: npt.NDArray[np.generic]
        if isinstance(statistic, Share):
            values = _fix(self.shares(statistic), FRACTION_BITS)
        elif isinstance(statistic, Defined):
            values = self.per_document(statistic.form) > 0
        elif isinstance(statistic, Squares):
            values = np.rint(self.per_document(statistic.form) ** 2)
        elif isinstance(statistic, Reaches):
            values = self._reach(statistic)
        elif isinstance(statistic, OfDocument):
            values = _fix(self.evaluate(statistic.recipe, statistic.over), statistic.bits)
        elif isinstance(statistic, IsDefined):
            values = ~np.isnan(self.evaluate(statistic.recipe, statistic.over))
        elif isinstance(statistic, Number):
            values = _fix(self.number(statistic.column), statistic.bits)
        elif isinstance(statistic, Known):
            values = ~np.isnan(self.number(statistic.column))
        elif isinstance(statistic, Claim):
            values = self._claim(statistic)
        else:
            assert isinstance(statistic, Documents)
            values = np.ones(len(self.evidence.documents), np.int64)
        return values.astype(np.int64)

    def _claim(self, statistic: Claim) -> npt.NDArray[np.bool_]:
        nothing = np.zeros(len(self.evidence.documents), bool)
        claims = self.table.claims.get(statistic.column)
        return nothing if claims is None else claims == statistic.is_wanted

    def perfect(self) -> npt.NDArray[np.float64]:
        """Return 1 for each document with all values right, else 0; NaN without values."""
        rows = Rows()
        matches = self.per_document(rows.correct)
        leaves = matches + self.per_document(rows.wrong + rows.missing + rows.spurious)
        return np.where(leaves > 0, (matches == leaves).astype(np.float64), np.nan)

    def number(self, column: str) -> npt.NDArray[np.float64]:
        """Return a number of each document, NaN if unknown."""
        numbers = self.table.numbers.get(column)
        if numbers is None:
            return np.full(len(self.evidence.documents), np.nan)
        finite = np.where(np.isfinite(numbers), numbers, np.nan)
        too_large = np.flatnonzero(np.abs(finite) >= 2.0 ** (53 - NUMBER_BITS.get(column, 0)))
        if len(too_large):
            what = f"{column} is {finite[too_large[0]]:g}, which is too large to be true"
            where = f"document {self.table.documents[too_large[0]]!r}"
            raise problem(where, what, "correct it or leave it out", "bad_number")
        return finite

    def _reach(self, statistic: Reaches) -> npt.NDArray[np.bool_]:
        """Return a mask of the documents whose share reaches the threshold.

        A share is off by at most one unit of 2^-32, so that is the slack: 0.9 must reach a mean of 0.9.
        """
        shares = self.shares(statistic.share)
        wanted = np.rint(statistic.threshold * 2.0**FRACTION_BITS)
        reached: npt.NDArray[np.bool_] = (
            np.rint(np.nan_to_num(shares, nan=-1.0) * 2.0**FRACTION_BITS) + 1 >= wanted
        )
        return reached & ~np.isnan(shares)

    def _sum_rows(self, statistic: RowSum) -> Ints:
        table = self._table(statistic.rows)
        if statistic.value == "one":
            key = (statistic.rows, statistic.where)
            if key not in self._counts:
                self._counts[key] = table.counts(statistic.where)
            counts = self._counts[key]
            first, *others = (counts[int(outcome)] for outcome in statistic.outcomes)
            return first if not others else np.asarray(np.sum([first, *others], axis=0))
        if statistic.value == "weight":
            return table.total_weight(statistic.outcomes, statistic.where)
        assert statistic.outcomes == BOTH
        return table.total(statistic.value, statistic.where)


def _fix(values: npt.NDArray[np.float64], bits: int) -> Ints:
    return np.rint(np.nan_to_num(values, nan=0.0) * 2.0**bits).astype(np.int64)
