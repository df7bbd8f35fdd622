"""From sums to estimates, slices and the document that nobody has seen."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.metrics.catalogue.definitions import BoundMetric
from fieldassay.metrics.estimate import HIGHEST, Estimate
from fieldassay.metrics.statistics.columns import PackedInts
from fieldassay.metrics.statistics.statistics import (
    Coalesce,
    Combined,
    Constant,
    Evaluated,
    FieldMean,
    Floats,
    Form,
    Known,
    Means,
    Number,
    OfDocument,
    Quantile,
    Ratio,
    Recipe,
    RowSum,
    Statistic,
    Sum,
    Sums,
    SumTable,
    Threshold,
    Total,
    add_sums,
    divide,
    list_field_means,
    size_statistics,
)
from fieldassay.metrics.uncertainty.bootstrap import (
    BEYOND,
    FEW_DOCUMENTS,
    FEW_FAMILIES,
    Interval,
    are_too_few,
    document_keys,
    draw_sums,
    percentile_intervals,
    quantile_interval,
    quantile_replicates,
    unseen_weights,
)

# The unseen document: what the bounds of an interval allow for beside the documents that were drawn.
# Resampling can only rearrange seen documents. So each replicate holds one more document, which is all
# right or all wrong by a coin. For documents right or wrong as a whole the bounds are those of Clopper and
# Pearson by mid-p values; n documents without an error leave room for 3 / n of bad ones.

_AT_MOST_ONE = (
    *("one", "score", "weight", "weighted_score"),
    *("similarity", "coverage", "specificity", "chamfer", "sf1"),
)
"""Columns in which a row counts at most 1; other columns have no known bounds."""


FEW_EFFECTIVE = 30
"""Below this many effective documents, where a few are many times larger, no interval is wide enough."""

LONGER = 2.0
"""A time, a cost or a number of tokens that nobody saw is at most so many times the largest seen.

Measured for times that are log-normal, gamma or Pareto: see the page on statistics.
"""


class UnseenDocument(Struct, frozen=True, eq=False):
    """How much of the unseen document each column of sums holds, and its size by a ratio's label.

    `seen` are the least and the largest number seen, by column: that of the unseen document is the least, or
    `LONGER` times the largest.
    """

    weight: Floats
    size: Callable[[Ratio], Floats]
    seen: Mapping[str, tuple[float, float]] = {}

    def bound(self, ratio: Ratio, numerator: Floats, denominator: Floats) -> tuple[Floats, Floats] | None:
        """Return a ratio (labels x columns) with the unseen document at its least and its most, or None."""
        ends = find_ends(ratio, self.seen)
        if ends is None or numerator.shape[1] != len(self.weight):
            return None
        unseen = self.size(ratio)[:, None] * self.weight
        (least, whole), (most, rest) = ends
        low = divide(numerator + least * unseen, denominator + whole * unseen)
        if whole == rest:
            return low, low + divide((most - least) * unseen, denominator + whole * unseen)
        return low, divide(numerator + most * unseen, denominator + rest * unseen)


def find_ends(
    recipe: Recipe, seen: Mapping[str, tuple[float, float]]
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Return numerator and denominator of the least document and of the greatest, of size 1, or None.

    >>> from fieldassay.metrics.statistics.statistics import Known, Number, form
    >>> mean = Ratio(form(Number("duration_ms")), form(Known("duration_ms")), form(Known("duration_ms")))
    >>> find_ends(mean, {"duration_ms": (50.0, 700.0)}), find_ends(mean, {})
    (((50.0, 1), (1400.0, 1)), None)
    """
    if not isinstance(recipe, Ratio):
        return None
    highest = find_highest(recipe)
    if highest is not None:
        return (0.0, 1.0), (highest, 1.0)
    above, below = (_find_range(part, seen) for part in (recipe.numerator, recipe.denominator))
    return None if above is None or below is None else ((above[0], below[1]), (above[1], below[0]))


def _find_range(part: Form, seen: Mapping[str, tuple[float, float]]) -> tuple[float, float] | None:
    """Return the least and the most that a measured document has: of one number, or of measurements."""
    (factor, statistic), *others = part.terms
    if others or not isinstance(statistic, Known | Number) or statistic.column not in seen:
        return None
    if isinstance(statistic, Known):
        return factor, factor
    least, most = seen[statistic.column]
    return factor * least, LONGER * factor * most


def find_highest(recipe: Recipe) -> float | None:
    """Return the largest value of a recipe in a document, the smallest being 0; None if it is not known.

    >>> find_highest(Combined("*", Constant(100.0), Threshold(Constant(1.0), 0.5)))
    100.0
    """
    if isinstance(recipe, Ratio):
        return _highest_ratio(recipe)
    if isinstance(recipe, FieldMean):
        return _highest_ratio(recipe.ratio)
    if isinstance(recipe, Combined):
        return _highest_combined(recipe.operator, find_highest(recipe.left), find_highest(recipe.right))
    if isinstance(recipe, Coalesce):
        inner = find_highest(recipe.recipe)
        return None if inner is None else max(inner, recipe.value)
    if isinstance(recipe, Constant):
        return max(recipe.value, 0.0)
    return 1.0 if isinstance(recipe, Threshold) else None


def _highest_combined(operator: str, left: float | None, right: float | None) -> float | None:
    """Return the largest value of two parts joined; a quotient is a ratio, largest where both parts are."""
    if operator == "-":
        return left
    if left is None or right is None:
        return 1.0 if operator == "/" else None
    if operator == "/":
        return left / right if right else 1.0
    return left + right if operator == "+" else left * right


def _highest_ratio(ratio: Ratio) -> float | None:
    if ratio.is_proportion:
        return 1.0
    counted = ratio.numerator.statistics
    if any(isinstance(statistic, Number) for statistic in counted + ratio.denominator.statistics):
        return None
    if any(isinstance(statistic, RowSum) and statistic.value not in _AT_MOST_ONE for statistic in counted):
        return None
    inner = [find_highest(statistic.recipe) for statistic in counted if isinstance(statistic, OfDocument)]
    return None if None in inner else max((highest for highest in inner if highest is not None), default=1.0)


def is_bounded(recipe: Recipe) -> bool:
    """Return whether a recipe is made of ratios that all have a known largest value.

    >>> is_bounded(Combined("-", Constant(1.0), Constant(0.5)))
    False
    """
    ratios = list(_list_ratios(recipe))
    return bool(ratios) and all(find_highest(ratio) is not None for ratio in ratios)


def _list_ratios(recipe: Recipe) -> Iterator[Ratio]:
    if isinstance(recipe, Ratio):
        yield recipe
    elif isinstance(recipe, FieldMean):
        yield recipe.ratio
    elif isinstance(recipe, Combined):
        yield from _list_ratios(recipe.left)
        yield from _list_ratios(recipe.right)
    elif isinstance(recipe, Coalesce | Threshold):
        yield from _list_ratios(recipe.recipe)


def size_by_sums(table: SumTable, ratio: Ratio) -> Floats:
    """Return the size of the unseen document by label, sum of squares / sum of denominators (column 0).

    Documents of different size are resampled as a whole, so that large ones count for more. It is 0 without a
    denominator, and in a mean over documents 1, or the number of repeated runs that count. Families may be
    spread over batches, so that the sum of their squares is the variance of the denominator under weights,
    whose own variance is 1.
    """
    if table.is_by_family and (ratio.documents is not None or size_statistics(ratio)):
        sizes = table.combine(
            ratio.size_form, (None,) if ratio.documents else table.labels(ratio.denominator)
        )
        return np.nan_to_num(divide(sizes[:, 1:].var(axis=1), sizes[:, 0]))
    if ratio.documents is not None:
        if table.repeats == 1:
            return np.ones(1)
        once = table.count_once(ratio.documents, (None,)).astype(np.float64)
        return np.nan_to_num(divide(table.combine(ratio.size_form, (None,))[:, 0], once))
    if not size_statistics(ratio):
        return np.zeros(1)
    labels, squares = table.squares(ratio)
    return np.nan_to_num(divide(squares, table.combine(ratio.size_form, labels)[:, 0]))


def size_by_documents(table: SumTable, ratio: Ratio) -> Floats:
    """Return the same where each column of the table is a document, or a family."""
    if ratio.documents is not None and not table.is_by_family:
        if table.repeats == 1:
            return np.ones(1)
        counts = table.combine(ratio.denominator, (None,))
        return np.nan_to_num(divide(counts.sum(axis=1), np.count_nonzero(counts, axis=1).astype(np.float64)))
    if ratio.documents is None and not size_statistics(ratio):
        return np.zeros(1)
    values = table.combine(ratio.size_form, (None,) if ratio.documents else table.labels(ratio.denominator))
    return np.nan_to_num(divide((values**2).sum(axis=1), values.sum(axis=1)))


# The sums of a slice: drawn batch by batch where they are small, else later, in portions of fields.

Ints = npt.NDArray[np.int64]
SliceKey: TypeAlias = tuple[str, str] | None
Fields: TypeAlias = tuple[str | None, ...]
Name = TypeVar("Name")
Part = TypeVar("Part")
Families: TypeAlias = dict[str | None, tuple[npt.NDArray[np.uint64], ...]]


def list_members(
    groups: Mapping[str, Sequence[tuple[str, ...]]], keys: Iterable[str]
) -> dict[tuple[str, str], Ints]:
    """Return the positions of the documents by slice key and value; one with several values is in each.

    >>> list_members({"tag": [("a", "b"), (), ("a",)]}, ["tag"])
    {('tag', 'a'): array([0, 2]), ('tag', 'b'): array([0])}
    """
    members: dict[tuple[str, str], list[int]] = {}
    for key in keys:
        for position, values in enumerate(groups.get(key, ())):
            for value in dict.fromkeys(values):
                members.setdefault((key, value), []).append(position)
    return {key: np.array(rows, np.int64) for key, rows in members.items()}


SMALL_SUMS = 1 << 25
"""Bytes of bootstrap sums that are drawn at once; larger ones only where the documents take more."""

PORTION = 1 << 24
"""Bytes of the bootstrap sums of one portion of fields: metrics of them take some ten times as much."""


class UndrawnDocuments(Struct, frozen=True, eq=False):
    """Documents before their bootstrap sums are drawn: the keys of their weights, and their statistics."""

    keys: npt.NDArray[np.uint64]
    statistics: Mapping[Statistic, tuple[Fields, PackedInts]]
    """The fields of each statistic, and its values, fields x documents."""

    @classmethod
    def hold(
        cls, documents: Sequence[str], seed: int, statistics: Mapping[Statistic, Sum]
    ) -> "UndrawnDocuments":
        """Return the documents with their statistics, fields x documents, packed."""
        packed = {
            statistic: (total.fields, PackedInts.pack(total.values))
            for statistic, total in statistics.items()
        }
        return cls(document_keys(documents, seed), packed)

    def list_families(self, rows: Ints) -> "Families":
        """Return the families of the documents at these positions, and those with each field."""
        keys = self.keys[rows]
        families: Families = {None: (np.unique(keys),)}
        for fields, packed in self.statistics.values():
            for at, name in enumerate(fields):
                if name is not None:
                    own = np.unique(keys[packed.array[at, rows] != 0])
                    families[name] = (*families.get(name, ()), own)
        return _shorten(families)

    @property
    def nbytes(self) -> int:
        """Return the bytes of the values."""
        return sum(values.array.nbytes for _, values in self.statistics.values())

    def take(self, rows: Ints) -> "UndrawnDocuments":
        """Return the documents at these positions."""
        if len(rows) == len(self.keys):
            return self
        own = {
            statistic: (fields, PackedInts(values.array[:, rows], values.shift))
            for statistic, (fields, values) in self.statistics.items()
        }
        return UndrawnDocuments(self.keys[rows], own)

    def choose(self, names: frozenset[str | None]) -> "UndrawnDocuments":
        """Return the documents with the fields that have these names."""
        chosen = {}
        for statistic, (fields, packed) in self.statistics.items():
            rows = [at for at, name in enumerate(fields) if name in names]
            chosen[statistic] = (
                tuple(fields[at] for at in rows),
                PackedInts(packed.array[rows], packed.shift),
            )
        return UndrawnDocuments(self.keys, chosen)

    def sum_each(
        self, subsets: Sequence[Ints], replicates: int, names: frozenset[str | None] | None = None
    ) -> list[dict[Statistic, Sum]]:
        """Return the sums over each subset of the documents, of all fields or of those with these names."""
        named, parts, bits = [], [np.zeros((0, len(self.keys)), np.int64)], []
        for statistic, (fields, packed) in self.statistics.items():
            rows = [at for at, name in enumerate(fields) if names is None or name in names]
            named.append((statistic, tuple(fields[at] for at in rows)))
            parts.append(PackedInts(packed.array[rows], packed.shift).unpack())
            bits += [statistic.bits] * len(rows)
        stacked = np.concatenate(parts)
        totals = [stacked[:, rows].sum(axis=1, keepdims=True) for rows in subsets]
        if replicates:
            draws = draw_sums(stacked, self.keys, replicates, subsets, bits=bits)
            totals = [np.concatenate(both, axis=1) for both in zip(totals, draws, strict=True)]
        ends = np.cumsum([len(fields) for _, fields in named])
        return [
            {
                statistic: Sum(fields, total[end - len(fields) : end])
                for (statistic, fields), end in zip(named, ends, strict=True)
            }
            for total in totals
        ]


_MOST_KEPT = 1024
"""So many families with a field are counted: the first by key, in any part of the documents."""


def _shorten(families: Families) -> Families:
    return {
        name: parts if name is None else (np.unique(np.concatenate(parts))[:_MOST_KEPT],)
        for name, parts in families.items()
    }


class Portion(Struct, frozen=True, eq=False):
    """Sums of some fields (None: all), or of all added up (`of_whole`), or both."""

    sums: Sums
    fields: frozenset[str | None] | None = None
    of_whole: bool = True

    def holds(self, field: str | None) -> bool:
        """Return whether estimates of a field, or of the whole (None), are made of these sums."""
        return self.of_whole if field is None else self.fields is None or field in self.fields


class SliceSums(Struct, frozen=True, eq=False):
    """The sums of one slice, the document numbers for its quantiles, and its number of documents.

    The document numbers are the known ones, part by part. `undrawn` are documents that are in no sum yet, and
    the positions of those in the slice.
    """

    sums: Mapping[Statistic, Sum]
    numbers: Mapping[str, tuple[Floats, ...]]
    documents: int
    repeats: int = 1
    """The number of runs of each document, whose statistics are added up."""
    undrawn: tuple[tuple[UndrawnDocuments, Ints], ...] = ()
    families: Families = {}
    """The keys of the families, part by part, and of those with each field; {}: nothing is grouped."""
    owners: Mapping[str, tuple[npt.NDArray[np.uint64], ...]] = {}
    """The keys of the families of the document numbers; {}: nothing is grouped."""

    def count_families(self, field: str | None) -> int:
        """Return the families of the slice, or of those with a field if they are not very many."""
        parts = self.families.get(field, ())
        count = len(np.unique(np.concatenate(parts))) if parts else 0
        return count if field is None or count < _MOST_KEPT else self.count_families(None)

    def merge(self, other: "SliceSums") -> "SliceSums":
        """Return the sums of both."""
        return SliceSums(
            add_sums(self.sums, other.sums),
            _join(self.numbers, other.numbers),
            self.documents + other.documents,
            self.repeats,
            self.undrawn + other.undrawn,
            _shorten(_join(self.families, other.families)),
            _join(self.owners, other.owners),
        )

    def portions(self, replicates: int) -> Iterator[Portion]:
        """Yield all sums if they are small; else those of some fields by name at a time, then the whole."""
        count = -(-self.size(replicates) // PORTION)
        names = sorted({name for _, fields in self._resampled() for name in fields if name is not None})
        if not replicates or count <= 1 or len(names) < 2:
            yield Portion(self.sum_fields(replicates))
            return
        whole: Sums = {}
        width = -(-len(names) // count)
        for first in range(0, len(names), width):
            part = frozenset((None, *names[first : first + width]))
            sums = self.sum_fields(replicates, part)
            yield Portion(sums, part, of_whole=False)
            whole = add_sums(
                whole,
                {
                    statistic: Sum((None,), total.values.sum(axis=0, keepdims=True))
                    for statistic, total in sums.items()
                    if first == 0 or total.fields != (None,)
                },
            )
        yield Portion(whole, frozenset())

    def of_own_fields(self) -> "SliceSums":
        """Return the sums of the fields that occur in any of the documents: other slices may have others."""
        present = frozenset(
            name
            for total in self.sum_plain().values()
            for name, row in zip(total.fields, total.values, strict=True)
            if row.any() or name is None
        )
        return replace(
            self,
            sums={statistic: _choose(total, present) for statistic, total in self.sums.items()},
            undrawn=tuple((documents.choose(present), rows) for documents, rows in self.undrawn),
        )

    def count_fields(self) -> int:
        """Return how many fields the statistic with most of them has."""
        names: defaultdict[Statistic, set[str | None]] = defaultdict(set)
        parts = (documents.statistics.items() for documents, _ in self.undrawn)
        undrawn = ((statistic, fields) for part in parts for statistic, (fields, _) in part)
        for statistic, fields in (
            *((statistic, total.fields) for statistic, total in self.sums.items()),
            *undrawn,
        ):
            names[statistic].update(fields)
        return max(map(len, names.values()), default=0)

    def size(self, replicates: int) -> int:
        """Return the bytes of the sums when all are drawn."""
        return (
            len({(statistic, name) for statistic, fields in self._resampled() for name in fields})
            * (1 + replicates)
            * 8
        )

    def sum_fields(self, replicates: int, names: frozenset[str | None] | None = None) -> Sums:
        """Return the sums of all documents, of all fields or of those with these names."""
        sums: Sums = self.sums
        if names is not None:
            sums = {statistic: _choose(total, names) for statistic, total in sums.items()}
        for documents, rows in self.undrawn:
            own = documents.take(rows)
            sums = add_sums(sums, own.sum_each([np.arange(len(rows))], replicates, names)[0])
        return sums

    def sum_plain(self) -> Sums:
        """Return the sums without replicates."""
        sums = {statistic: Sum(total.fields, total.values[:, :1]) for statistic, total in self.sums.items()}
        return replace(self, sums=sums).sum_fields(0)

    def _resampled(self) -> Iterator[tuple[Statistic, Fields]]:
        """Yield the statistics with replicates and their fields, some of them several times."""
        yield from (
            (statistic, total.fields) for statistic, total in self.sums.items() if total.values.shape[1] > 1
        )
        for documents, _ in self.undrawn:
            yield from ((statistic, fields) for statistic, (fields, _) in documents.statistics.items())


def _join(
    first: Mapping[Name, tuple[Part, ...]], second: Mapping[Name, tuple[Part, ...]]
) -> dict[Name, tuple[Part, ...]]:
    """Return the parts of both by name."""
    return {name: first.get(name, ()) + second.get(name, ()) for name in dict.fromkeys([*first, *second])}


def _choose(total: Sum, names: frozenset[str | None]) -> Sum:
    rows = [at for at, name in enumerate(total.fields) if name in names]
    return Sum(tuple(total.fields[at] for at in rows), total.values[rows])


def settle_slices(slices: Mapping[SliceKey, SliceSums], replicates: int) -> dict[SliceKey, SliceSums]:
    """Return the slices with the sums of their documents drawn, if these are small beside the documents.

    So they take at most as many bytes as the documents, or `SMALL_SUMS`.
    """
    undrawn = {id(documents): documents for table in slices.values() for documents, _ in table.undrawn}
    nbytes = sum(documents.nbytes for documents in undrawn.values())
    if not undrawn or len(slices) * slices[None].size(replicates) > max(SMALL_SUMS, nbytes):
        return dict(slices)
    settled = {key: replace(table, undrawn=()) for key, table in slices.items()}
    for documents in undrawn.values():
        own = {
            key: rows for key, table in slices.items() for each, rows in table.undrawn if each is documents
        }
        for key, sums in zip(own, documents.sum_each(list(own.values()), replicates), strict=True):
            settled[key] = replace(settled[key], sums=add_sums(settled[key].sums, sums))
    return settled


# Sums -> estimates: every value with its n, its interval and its marks.

_Interval: TypeAlias = tuple[float, float, int]

_ROUNDING = 1e-9


_TRACE = 2.0**-20
"""The weight of an unseen document beside the sums themselves, which shows its size."""


class _Draft(Struct, frozen=True, eq=False):
    """An estimate without its interval.

    `ordered` are the values behind a quantile. `replicates` are those of the documents alone and, if the
    metric has bounds, with an unseen document, right or wrong by a coin; () if there are none.
    """

    bound: BoundMetric
    key: SliceKey
    field: str | None
    value: float | None = None
    n: int = 0
    documents: int = 0
    failed: int = 0
    replicates: tuple[Floats, ...] = ()
    ordered: Floats | None = None
    repeats: int = 1
    families: int | None = None
    effective: float = math.inf


class _Bounds(Struct, frozen=True):
    """An interval, if any, and its marks; `resampled` is that of the documents alone."""

    interval: tuple[float, float] | None = None
    marks: tuple[str, ...] = ()
    resampled: tuple[float, float] | None = None


MOST_EMPTY = 2_000
"""Slices times fields up to which a slice has an undefined estimate of each field that it lacks."""


class EstimationPlan(Struct, frozen=True):
    """The metrics, the slice keys, the level of intervals, and the number of replicates (0: no intervals)."""

    metrics: Sequence[BoundMetric]
    keys: Sequence[str] = ()
    level: float = 0.95
    replicates: int = 2000
    seed: int = 0


def estimate_slices(
    system: str, plan: EstimationPlan, slices: Mapping[SliceKey, SliceSums]
) -> tuple[Estimate, ...]:
    """Return every metric's estimates: all documents first, then by slice; the whole first, then by field.

    A metric that names a slice is estimated in that slice only, others in all documents and in every slice of
    the plan's keys. Beyond `MOST_EMPTY` slices times fields, a slice has the fields that occur in it.
    """
    order = {key: position for position, key in enumerate(plan.keys)}
    named_slices = {bound.call.slice for bound in plan.metrics if bound.call.slice is not None}
    chosen = {
        key for key in (*slices, *named_slices) if key is None or key[0] in order or key in named_slices
    }
    unseen = unseen_weights(plan.seed, plan.replicates)
    is_large = None in slices and len(chosen) * slices[None].count_fields() > MOST_EMPTY
    estimates: list[Estimate] = []
    for key in sorted(
        chosen, key=lambda key: (-1, "", "") if key is None else (order.get(key[0], len(order)), *key)
    ):
        is_listed = key is None or key[0] in order
        wanted = [
            bound
            for bound in plan.metrics
            if bound.call.slice == key or (bound.call.slice is None and is_listed)
        ]
        table = slices.get(key, SliceSums({}, {}, 0))
        table = table.of_own_fields() if key is not None and is_large else table
        drafts = _draft_slice(replace(plan, metrics=wanted), key, table, unseen)
        estimates += [_finish(system, draft, plan.level, bounds) for draft, bounds in drafts]
    return tuple(estimates)


def _draft_slice(
    plan: EstimationPlan, key: SliceKey, table: SliceSums, unseen: Floats
) -> list[tuple[_Draft, _Bounds]]:
    """Return the drafts of every metric with their intervals, which are made portion by portion of fields."""
    bounded: dict[tuple[int, str | None], tuple[_Draft, _Bounds]] = {}
    means: tuple[Means, Means] = {}, {}
    is_split = False
    for portion in table.portions(plan.replicates):
        is_split = is_split or not portion.of_whole
        numbered = list(_draft_portion(plan.metrics, key, table, portion, (unseen, means)))
        drafts = [draft for _, draft in numbered]
        bounds = _bound_all(drafts, plan.level) if plan.replicates else [_Bounds()] * len(drafts)
        for (number, draft), bound in zip(numbered, bounds, strict=True):
            bounded[number, draft.field] = replace(draft, replicates=()), bound
    if not is_split:
        return list(bounded.values())
    plain = SumTable(table.sum_plain(), repeats=table.repeats)
    return [
        bounded.get((number, label), (_Draft(bound, key, label), _Bounds()))
        for number, bound in enumerate(plan.metrics)
        for label in (
            (None,)
            if isinstance(bound.recipe, Constant | Quantile)
            else _choose_labels(bound, plain.evaluate(bound.recipe).labels)
        )
    ]


def _draft_portion(
    metrics: Sequence[BoundMetric],
    key: SliceKey,
    table: SliceSums,
    portion: Portion,
    drawing: tuple[Floats, tuple[Means, Means]],
) -> Iterator[tuple[int, _Draft]]:
    """Yield the number of a metric and its draft, for the fields of a portion, or the whole."""
    unseen, means = drawing
    weight = np.concatenate([np.full(1, _TRACE), np.abs(unseen)])
    is_by_family = 0 < table.count_families(None) < table.documents
    sums = SumTable(portion.sums, repeats=table.repeats, means=means[0], is_by_family=is_by_family)
    numbers = {name: np.concatenate(parts) for name, parts in table.numbers.items()}
    seen = {name: (float(each.min()), float(each.max())) for name, each in numbers.items() if len(each)}
    unseen_document = UnseenDocument(weight, partial(size_by_sums, sums), seen)
    with_unseen = replace(sums, unseen=unseen_document, means=means[1], _ratios={})
    for number, bound in enumerate(metrics):
        recipe = bound.recipe
        if isinstance(recipe, Constant | Quantile):
            if portion.of_whole:
                yield number, _draft_number(bound, key, table, unseen)
            continue
        limits = value_bounds(bound)
        if limits is None and find_ends(recipe, seen) is not None:
            limits = (0.0, math.inf)
        own = with_unseen if len(unseen) > 0 and limits is not None else sums
        averaged = list_field_means(recipe)
        if not portion.of_whole:
            own.add_means(averaged)
        if portion.of_whole or not (averaged or bound.metric.scope == "overall"):
            for draft in _draft_sums(bound, key, own.evaluate(recipe), unseen, limits):
                if portion.holds(draft.field):
                    families = table.count_families(draft.field) if is_by_family else None
                    yield number, replace(draft, families=families)


def _draft_sums(
    bound: BoundMetric,
    key: SliceKey,
    evaluated: Evaluated,
    unseen: Floats,
    limits: tuple[float, float] | None,
) -> list[_Draft]:
    is_count, has_draws = (
        bound.metric.unit == "count",
        not isinstance(bound.recipe, Total) and evaluated.values.shape[1] > 1,
    )
    rows = {label: row for row, label in enumerate(evaluated.labels)}
    values, n, documents, failed = (
        evaluated.values[:, 0].tolist(),
        evaluated.n.tolist(),
        evaluated.documents.tolist(),
        evaluated.failed.tolist(),
    )
    blocks, effective = [evaluated.values[:, 1:]], np.full(len(values), math.inf)
    if has_draws and limits is not None:
        resampled, worst, best = np.split(evaluated.values, 3, axis=1)
        blocks = [resampled[:, 1:], np.where(unseen > 0, best[:, 1:], worst[:, 1:])]
        if isinstance(bound.recipe, Ratio):
            effective = _TRACE * limits[1] / np.where(best > worst, best - worst, np.nan)[:, 0]
    drafts = []
    for label in _choose_labels(bound, evaluated.labels):
        if label not in rows:
            drafts.append(_Draft(bound, key, label))
            continue
        row = rows[label]
        is_settled = is_count or isinstance(bound.recipe, Coalesce)
        is_undefined = math.isnan(values[row]) or (n[row] == 0 and not is_settled)
        value = None if is_undefined else _whole(values[row]) if is_count else values[row]
        has_replicates = has_draws and value is not None and documents[row] > 0
        is_within = value is not None and limits is not None and _is_within(value, limits)
        used_blocks = blocks if is_within else blocks[:1]  # what a spec calls a ratio can be any number
        replicates = tuple(block[row] for block in used_blocks) if has_replicates else ()
        draft = _Draft(bound, key, label, value, n[row], documents[row], failed[row], replicates)
        drafts.append(replace(draft, effective=float(effective[row])))
    return drafts


def are_few_large(effective: float, units: int, share: float = 0.8) -> bool:
    """Return whether a few of the documents, or families, are many times larger than the others.

    That is by their effective number, (sum of sizes)^2 / sum of squared sizes.

    >>> are_few_large(12.0, 50), are_few_large(12.0, 13), are_few_large(40.0, 200)
    (True, False, False)
    """
    return effective < min(FEW_EFFECTIVE, share * units)


def _whole(count: float) -> float:
    """Return a count as a whole number, unless it is a mean over repeated runs that is none."""
    return round(count) if abs(count - round(count)) < _ROUNDING else count


def _choose_labels(bound: BoundMetric, labels: tuple[str | None, ...]) -> Sequence[str | None]:
    if bound.call.field is not None:
        return [bound.call.field]
    fields = labels[:-1] if bound.metric.scope != "overall" else ()
    return fields if bound.metric.scope == "field" else (None, *fields)


def _draft_number(bound: BoundMetric, key: SliceKey, table: SliceSums, unseen: Floats) -> _Draft:
    recipe = bound.recipe
    if isinstance(recipe, Constant):
        return _Draft(bound, key, None, recipe.value, table.documents, table.documents)
    assert isinstance(recipe, Quantile)
    numbers = np.concatenate([np.zeros(0), *table.numbers.get(recipe.column, ())])
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    value = float(np.quantile(ordered, recipe.share)) if len(ordered) else None
    documents, families = -(-len(ordered) // table.repeats), table.count_families(None)
    draft = _Draft(bound, key, None, value, len(ordered), documents, ordered=ordered, repeats=table.repeats)
    if not 0 < families < table.documents:
        return draft
    owners = np.concatenate([np.zeros(0, np.uint64), *table.owners.get(recipe.column, ())])
    has_draws = len(owners) and len(unseen) and 0.0 < recipe.share < 1.0
    replicates = quantile_replicates(ordered, owners[order], recipe.share, unseen) if has_draws else ()
    return replace(draft, families=families, replicates=tuple(replicates))


def _bound_all(drafts: Sequence[_Draft], level: float) -> list[_Bounds]:
    """Return the interval of each draft, with one computation of the percentiles of all replicates."""
    replicates = [each for draft in drafts for each in draft.replicates]
    percentiles = percentile_intervals(np.stack(replicates), level) if replicates else None
    intervals: Iterator[_Interval] = iter(
        zip(percentiles.low.tolist(), percentiles.high.tolist(), percentiles.dropped.tolist(), strict=True)
        if percentiles is not None
        else ()
    )
    return [_bound_one(draft, level, [next(intervals) for _ in draft.replicates]) for draft in drafts]


def _bound_one(draft: _Draft, level: float, intervals: Sequence[_Interval]) -> _Bounds:
    if isinstance(draft.bound.recipe, Quantile) and draft.families is None:
        return _bound_quantile(draft, draft.bound.recipe, level)
    if not intervals or draft.value is None:
        return _Bounds()
    if draft.families is not None and draft.families < min(FEW_FAMILIES, draft.documents):
        return _Bounds(marks=("few_families",))
    (lowest, highest, _), (low, high, dropped) = intervals[0], intervals[-1]
    limits = value_bounds(draft.bound)
    if limits is not None and not _is_within(draft.value, limits):
        limits = None
    few = () if limits is not None else _mark_few(draft)
    if limits is not None and are_few_large(draft.effective, draft.families or draft.documents, 0.5):
        few = ("few_large_documents",)
    marks = (*few, "few_replicates") if are_too_few(len(draft.replicates[0]) - dropped, level) else few
    marks = (*marks, f"undefined_replicates={dropped}") if dropped else marks
    resampled = None if math.isnan(lowest) else (lowest, highest)
    if math.isnan(low) or max(-low, high) >= BEYOND:
        return _Bounds(None, marks, resampled)
    if limits is not None:  # sums of rounded parts may exceed them in the last digit
        low, high = max(low, limits[0]), min(high, limits[1])
    return _Bounds((min(low, draft.value), max(high, draft.value)), marks, resampled)


def _mark_few(draft: _Draft) -> tuple[str, ...]:
    return ("few_documents",) if (draft.families or draft.documents) < FEW_DOCUMENTS else ()


def value_bounds(bound: BoundMetric) -> tuple[float, float] | None:
    """Return the smallest and the largest value of a metric, which an unseen document has; None without both.

    Shares lie between 0 and their largest value, a difference of two shares between -1 and 1.

    >>> from fieldassay.metrics.catalogue.grammar import parse_metric
    >>> from fieldassay.metrics.catalogue.definitions import bind_metric
    >>> [value_bounds(bind_metric(parse_metric(name))) for name in ("f1", "latency_mean")]
    [(0.0, 1.0), None]
    """
    unit = bound.metric.unit
    if unit not in (*HIGHEST, "difference") or not is_bounded(bound.recipe):
        return None
    return (-1.0, 1.0) if unit == "difference" else (0.0, HIGHEST[unit])


def highest_value(bound: BoundMetric) -> float:
    """Return the maximum of a metric with a minimum of 0; 0 for a metric without such bounds.

    >>> from fieldassay.metrics.catalogue.grammar import parse_metric
    >>> from fieldassay.metrics.catalogue.definitions import bind_metric
    >>> [highest_value(bind_metric(parse_metric(name))) for name in ("f1", "latency_mean")]
    [1.0, 0.0]
    """
    low, high = value_bounds(bound) or (0.0, 0.0)
    return high if low == 0.0 else 0.0


def _is_within(value: float, limits: tuple[float, float]) -> bool:
    return limits[0] <= value <= limits[1] * (1.0 + 1e-9)


def _bound_quantile(draft: _Draft, recipe: Quantile, level: float) -> _Bounds:
    if draft.ordered is None or not len(draft.ordered) or not 0.0 < recipe.share < 1.0:
        return _Bounds()
    interval = _bound_repeated(draft.ordered, draft.repeats, recipe.share, level)
    return (
        _Bounds()
        if interval is None
        else _Bounds((interval.low, interval.high), ("order_statistics", *_mark_few(draft)))
    )


def _bound_repeated(ordered: Floats, repeats: int, share: float, level: float) -> Interval | None:
    """Return the interval of a quantile of several numbers a document, as if those of one were all alike.

    That is the widest one: only the documents are taken to be independent.
    """
    if repeats == 1:
        return quantile_interval(ordered, share, level)
    whole = ordered[: len(ordered) // repeats * repeats].reshape(-1, repeats)
    low, high = (quantile_interval(side, share, level) for side in (whole[:, 0], whole[:, -1]))
    return None if low is None or high is None else Interval(low.low, high.high)


def _finish(system: str, draft: _Draft, level: float, bounds: _Bounds) -> Estimate:
    metric = draft.bound.metric
    return Estimate(
        metric=metric.name,
        system=system,
        field=draft.field,
        slice={} if draft.key is None else {draft.key[0]: draft.key[1]},
        regime=draft.bound.regime,
        value=draft.value,
        n=draft.n,
        documents=draft.documents,
        failed=draft.failed,
        granularity=draft.bound.granularity,
        parameters=draft.bound.parameters,
        interval=bounds.interval,
        level=None if bounds.interval is None else level,
        marks=bounds.marks,
        unit=metric.unit,
        better=metric.better,
        interval_resampled=bounds.resampled,
        families=draft.families,
    )
