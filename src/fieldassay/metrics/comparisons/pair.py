"""Two systems on the same documents, seen by one metric: in halves of them and in bootstrap replicates."""

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.metrics.catalogue.definitions import BoundMetric
from fieldassay.metrics.evidence import name_families
from fieldassay.metrics.result.documents import DocumentStatistics, PairedData, list_parts
from fieldassay.metrics.result.estimation import (
    UnseenDocument,
    are_few_large,
    highest_value,
    size_by_documents,
)
from fieldassay.metrics.statistics.statistics import (
    Coalesce,
    Form,
    Known,
    Ratio,
    Statistic,
    Sum,
    SumTable,
    Total,
    Unseen,
    join_fields,
    list_field_means,
    spread_rows,
)
from fieldassay.metrics.uncertainty.bootstrap import (
    FEW_DOCUMENTS,
    FEW_FAMILIES,
    are_too_few,
    count_table,
    document_keys,
    draw_sums,
    percentile_intervals,
    unseen_weights,
)
from fieldassay.metrics.uncertainty.paired import (
    DRAWS,
    MOST_ENUMERATED,
    Halves,
    Spread,
    Wins,
    are_grouped,
    count_wins,
    group_columns,
    mcnemar_mid_p,
    signed_sums,
    split_halves,
    sums_of_halves,
    widen,
)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SLACK = {"ratio": 1e-9, "percent": 1e-7}
"""How far apart rounding may put two values: of shares absolutely, of other units relatively."""

_LEAST_HALVES = 1 << 14
_MOST_SUMS = 1 << 22
"""Numbers that are held at once: sums in halves and in replicates of more fields are made in portions."""
_LOW = 8
"""Documents whose halves are added up once, for all halves of the others."""
_STEP = 12
"""Derivatives are differences over 2^-12 of a sum."""


class PairTest(NamedTuple):
    """The p value of a difference, and the test that gave it."""

    p: float
    method: str


class Draws(NamedTuple):
    """A metric or a difference in replicates: of the documents alone, and with the unseen document.

    `low` and `high` are with that document at its worst and at its best; both are empty where the metric has
    no bounds.
    """

    resampled: Floats
    low: Floats
    high: Floats


class Bounds(NamedTuple):
    """The intervals of a difference: of the verdict, and guarded by an unseen document; and their marks.

    None where they are not known: counts and totals have none, metrics without bounds no guarded one.
    """

    interval: tuple[float, float] | None = None
    guarded: tuple[float, float] | None = None
    marks: tuple[str, ...] = ()


class MatrixLayout(Struct, frozen=True):
    """Which rows of a matrix hold which statistic, field by field."""

    parts: tuple[tuple[Statistic, tuple[str | None, ...]], ...]
    repeats: int = 1
    """The number of runs that the sums of a document are of."""
    is_by_family: bool = False
    """Whether several documents are drawn as one."""

    @property
    def bits(self) -> list[int]:
        """Return the bits for fractions of each row."""
        return [statistic.bits for statistic, fields in self.parts for _ in fields]

    @classmethod
    def plan(cls, systems: Sequence[DocumentStatistics]) -> "MatrixLayout":
        """Return a layout with room for the fields of all systems."""
        fields: dict[Statistic, tuple[str | None, ...]] = {}
        for system in systems:
            for statistic, total in system.statistics.items():
                fields[statistic] = (
                    join_fields(fields[statistic], total.fields) if statistic in fields else total.fields
                )
        return cls(tuple(fields.items()))

    def stack(self, system: DocumentStatistics) -> Ints:
        """Return a system's statistics, rows x documents."""
        empty = Sum((), np.zeros((0, len(system.documents)), np.int64))
        rows = [
            spread_rows(fields, system.statistics.get(statistic, empty)) for statistic, fields in self.parts
        ]
        return np.concatenate([np.zeros((0, len(system.documents)), np.int64), *rows])

    def view(self, bound: BoundMetric) -> "View":
        """Return the rows that a metric is made of; of a metric of one field only those of that field."""
        wanted, rows, parts, first = set(list_parts(bound.recipe)), [], [], 0
        for statistic, fields in self.parts:
            if statistic in wanted:
                chosen = [
                    at for at, name in enumerate(fields) if bound.call.field in (None, name) or name is None
                ]
                rows += [first + at for at in chosen]
                parts.append((statistic, tuple(fields[at] for at in chosen)))
            first += len(fields)
        return View(bound, np.array(rows, np.int64), tuple(parts), self.repeats, self.is_by_family)


class View(Struct, frozen=True, eq=False):
    """A metric as a function of its own rows of a layout."""

    bound: BoundMetric
    rows: npt.NDArray[np.int64]
    parts: tuple[tuple[Statistic, tuple[str | None, ...]], ...]
    repeats: int = 1
    is_by_family: bool = False

    def table(self, sums: Ints, unseen: Unseen | None = None, *, is_weighted: bool = False) -> SumTable:
        """Return the sums (own rows x columns) for a recipe: of all fields, unless a mean is over them."""
        own, first, is_by_field = {}, 0, bool(list_field_means(self.bound.recipe))
        for statistic, fields in self.parts:
            rows = sums[first : first + len(fields)]
            first += len(fields)
            own[statistic] = (
                Sum(fields, rows) if is_by_field else Sum((None,), rows.sum(axis=0, keepdims=True))
            )
        return SumTable(own, unseen, self.repeats, is_weighted, is_by_family=self.is_by_family)

    def evaluate_all(self, portions: Iterable[Ints]) -> Floats:
        """Return the metric of each column of all portions of sums."""
        return np.concatenate([self.evaluate(sums) for sums in portions])

    def evaluate(self, sums: Ints) -> Floats:
        """Return the metric of each column of sums, NaN where it is undefined."""
        if not sums.shape[1]:
            return np.zeros(0)
        values: Floats = self.table(sums).evaluate(self.bound.recipe).values[-1]
        return values

    def redraw(self, sums: Ints) -> Floats:
        """Return the metric of sums under bootstrap weights, from the second column on."""
        values = self.table(sums, is_weighted=True).evaluate(self.bound.recipe).values[-1]
        return np.asarray(values[1:])

    def redraw_bounded(self, sums: Ints, documents: Ints, weight: Floats) -> Draws:
        """Return the same with an unseen document of these weights; its size is measured by `documents`."""
        unseen = UnseenDocument(np.append(0.0, weight), partial(size_by_documents, self.table(documents)))
        values = self.table(sums, unseen, is_weighted=True).evaluate(self.bound.recipe).values[-1]
        return Draws(*(block[1:] for block in np.split(values, 3)))

    def value(self, total: Ints) -> float | None:
        """Return the metric of one column of sums, None where it is undefined."""
        evaluated = self.table(total[:, None]).evaluate(self.bound.recipe)
        value, unit = float(evaluated.values[-1, 0]), self.bound.metric.unit
        is_settled = unit == "count" or isinstance(self.bound.recipe, Coalesce)
        return None if np.isnan(value) or (evaluated.n[-1] == 0 and not is_settled) else value

    def combine(self, form: Form, sums: Ints) -> Floats:
        """Return the value of a form in each column of sums."""
        return np.asarray(self.table(sums).combine(form, (None,))[0])

    def slopes(self, total: Ints) -> Floats:
        """Return the derivatives of the metric by its sums, by central differences; 0 where undefined."""
        largest = int(total.max(initial=0)).bit_length()
        shift = max(0, min(_STEP, 61 - largest))
        point = total << shift
        steps = np.maximum(point >> _STEP, 1) * (point > 0)
        width = max(1, _MOST_SUMS // max(1, len(point)))

        def shifted(sign: int) -> Iterator[Ints]:
            for first in range(0, len(point), width):
                at = np.arange(first, min(first + width, len(point)))
                sums = np.repeat(point[:, None], len(at), axis=1)
                sums[at, at - first] += sign * steps[at]
                yield sums

        up, down = (self.evaluate_all(shifted(sign)) for sign in (1, -1))
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = (up - down) / (2.0 * steps) * 2.0**shift
        return np.asarray(np.nan_to_num(slopes, nan=0.0, posinf=0.0, neginf=0.0))

    def slack(self, first: float, second: float) -> float:
        """Return how far two values of the metric may be apart for rounding alone."""
        return SLACK.get(self.bound.metric.unit, 1e-9 * (abs(first) + abs(second)))

    def is_total(self, total: Ints) -> bool:
        """Return whether the metric grows with the documents, so that a half of them has half of it."""
        if self.bound.metric.unit == "count" or isinstance(self.bound.recipe, Total):
            return True
        once, twice = self.evaluate(np.stack([total, 2 * total], axis=1)).tolist()
        return bool(once == once and abs(twice - once) > 1e-9 * max(abs(once), abs(twice)))

    @property
    def measured(self) -> npt.NDArray[np.intp]:
        """Return the rows that say whether a document has a measurement: a time, a cost, tokens."""
        kinds = [isinstance(statistic, Known) for statistic, fields in self.parts for _ in fields]
        return np.flatnonzero(kinds)


class PairedMatrix(Struct, frozen=True, eq=False, dict=True):
    """The systems of a comparison on some of their documents; draws are made on first use."""

    data: PairedData
    names: tuple[str, ...]
    documents: tuple[str, ...]
    matrices: tuple[Ints, ...]
    """Each system's statistics, rows x documents."""
    layout: MatrixLayout
    is_grouped: bool = False
    """Whether documents share signs in groups; a part of the documents has the signs of the whole."""
    families: tuple[str, ...] = ()
    """What each document is drawn with; () for each by itself."""

    @classmethod
    def open(cls, data: PairedData) -> "PairedMatrix":
        """Return the arena of all documents. Raises ValueError if the systems do not have the same ones."""
        documents = data.systems[0].documents
        if any(system.documents != documents for system in data.systems):
            raise ValueError("the systems were not scored on the same documents")
        layout = MatrixLayout.plan(data.systems)
        repeats, matrices = _scale_alike(data.systems, [layout.stack(system) for system in data.systems])
        names = tuple(system.system for system in data.systems)
        groups = (system.groups.get(data.cluster or "") for system in reversed(data.systems))
        families = name_families(documents, next(filter(None, groups), None))
        if len(set(families)) == len(documents):
            families = ()
        layout = replace(layout, repeats=repeats, is_by_family=bool(families))
        is_grouped = are_grouped(len(set(families or documents)))
        return cls(data, names, documents, matrices, layout, is_grouped, families)

    @property
    def units(self) -> "PairedMatrix":
        """Return the arena of what is drawn as a whole: of families, or this one of documents."""
        return self._families_added if self.families else self  # kept only where it is another one: no cycle

    @cached_property
    def _families_added(self) -> "PairedMatrix":
        names, place = np.unique(self.families, return_inverse=True)
        order = np.argsort(place, kind="stable")
        starts = np.searchsorted(place[order], np.arange(len(names)))
        added = tuple(np.add.reduceat(matrix[:, order], starts, axis=1) for matrix in self.matrices)
        return replace(self, documents=tuple(names.tolist()), matrices=added, families=())

    def narrow(self, rows: npt.NDArray[np.intp]) -> "PairedMatrix":
        """Return the arena of the documents at these positions."""
        if len(rows) == len(self.documents):
            return self
        key = rows.tobytes()
        if key not in self._parts:
            documents = tuple(self.documents[at] for at in rows.tolist())
            matrices = tuple(matrix[:, rows] for matrix in self.matrices)
            families = tuple(self.families[at] for at in rows.tolist() if self.families)
            self._parts[key] = replace(self, documents=documents, matrices=matrices, families=families)
        return self._parts[key]

    @cached_property
    def _parts(self) -> "dict[bytes, PairedMatrix]":
        return {}

    @cached_property
    def _halved(self) -> dict[Hashable, Floats]:
        return {}

    @cached_property
    def _redrawn(self) -> dict[Hashable, Draws]:
        return {}

    @cached_property
    def replicates(self) -> tuple[Ints, ...]:
        """Return each system's sums, and those in every bootstrap replicate under common weights."""
        return self._draw(np.arange(len(self.matrices[0])), self.data.replicates)

    def _portions(self, rows: int, draws: int) -> list[range]:
        """Return the draws in portions whose sums of so many rows are few enough to be held."""
        width = max(64, _MOST_SUMS // max(1, rows) // 64 * 64)
        return [range(first, min(first + width, draws)) for first in range(0, draws, width)]

    def redraw(self, system: int, rows: npt.NDArray[np.int64]) -> Iterator[tuple[range, Ints]]:
        """Yield a system's sums of these rows, and those in every replicate of a portion of them."""
        if len(self.names) * len(self.matrices[0]) * self.data.replicates <= _MOST_SUMS:
            yield range(self.data.replicates), self.replicates[system][rows]
            return
        matrix, bits = self.matrices[system][rows], self.layout.bits
        for draws in self._portions(len(rows), self.data.replicates):
            [sums] = draw_sums(
                matrix,
                document_keys(self.documents, self.data.seed),
                draws,
                [np.arange(len(self.documents))],
                bits=[bits[row] for row in rows],
            )
            yield draws, np.column_stack([matrix.sum(axis=1), sums])

    def sign(
        self, system: int, rows: npt.NDArray[np.int64], most: int = DRAWS
    ) -> Iterator[tuple[range, Ints]]:
        """Yield a system's sums of these rows under the first random signs, in portions of the patterns."""
        if len(self.names) * len(self.matrices[0]) * DRAWS <= _MOST_SUMS:
            yield range(most), self.signed[system][rows][:, :most]
            return
        grouped, keys = group_columns(
            self.matrices[system][rows], self.documents, self.data.seed, is_grouped=self.is_grouped
        )
        for draws in self._portions(len(rows), most):
            yield draws, signed_sums(grouped, keys, draws)

    def counted(self, rows: npt.NDArray[np.int64], *, is_left_out: bool) -> Iterator[tuple[Ints, ...]]:
        """Yield each system's sums of these rows in replicates that hold documents 0 to 8 times, in portions.

        `is_left_out`: the sums over the documents that a replicate does not hold.
        """
        table = count_table(np.float32)
        if is_left_out:
            table = (table == 0).astype(np.float32)
        for draws in self._portions(len(rows) * len(self.names), self.data.replicates):
            yield self._draw(rows, draws, table)

    def _draw(
        self, rows: npt.NDArray[np.int64], draws: int | range, table: npt.NDArray[np.generic] | None = None
    ) -> tuple[Ints, ...]:
        bits = self.layout.bits
        stacked = np.concatenate([matrix[rows] for matrix in self.matrices])
        [sums] = draw_sums(
            stacked,
            document_keys(self.documents, self.data.seed),
            draws,
            [np.arange(len(self.documents))],
            bits=[bits[row] for row in rows] * len(self.names) if table is None else (),
            table=table,
        )
        if table is None:
            sums = np.column_stack([stacked.sum(axis=1), sums])
        return tuple(np.split(sums, len(self.names)))

    @cached_property
    def signed(self) -> tuple[Ints, ...]:
        """Return each system's sums under every random pattern of signs, which all systems share."""
        stacked = np.concatenate(self.matrices)
        grouped, keys = group_columns(stacked, self.documents, self.data.seed, is_grouped=self.is_grouped)
        distinct, places = np.unique(
            grouped, axis=0, return_inverse=True
        )  # rows often agree: gold is the same for all, a field right or wrong in several statistics
        return tuple(np.split(signed_sums(distinct, keys)[places.reshape(-1)], len(self.names)))

    def in_halves(self, system: int, view: View) -> Floats:
        """Return a system's metric on all documents, in random halves, in what is left, and on none."""
        key = (system, view.bound.call)
        if key not in self._halved:
            total = self.matrices[system][view.rows].sum(axis=1, keepdims=True)
            halves = (
                np.concatenate([(total + signed) // 2, (total - signed) // 2], axis=1)
                for _, signed in self.sign(system, view.rows)
            )
            ends = np.concatenate([total, 0 * total], axis=1)
            self._halved[key] = view.evaluate_all(chain([ends], halves))
        return self._halved[key]

    def in_replicates(self, system: int, view: View, *, is_bounded: bool) -> Draws:
        """Return a system's metric in every replicate, bounded by an unseen document."""
        key = (system, view.bound.call, is_bounded)
        if key not in self._redrawn:
            own, none = self.matrices[system][view.rows], np.zeros(0)
            weight = np.abs(unseen_weights(self.data.seed, self.data.replicates))
            parts = [
                view.redraw_bounded(sums, own, weight[draws.start : draws.stop])
                if is_bounded
                else Draws(view.redraw(sums), none, none)
                for draws, sums in self.redraw(system, view.rows)
            ]
            self._redrawn[key] = Draws(*map(np.concatenate, zip(*parts, strict=True)))
        return self._redrawn[key]

    def bound_together(self, view: View, draws: int, alpha: float) -> Floats:
        """Return the lower and the upper bounds of a metric of each system, which hold for all at once.

        They are percentiles of replicates with an unseen document (min-P over the systems): the chance that
        any system is truly below its lower bound is alpha, and above its upper bound as much.
        """
        unseen, replicates = unseen_weights(self.data.seed, draws), np.empty((len(self.names), draws))
        for part in self._portions(len(view.rows) * len(self.names), draws):
            weight = unseen[part.start : part.stop]
            for at, sums in enumerate(self._draw(view.rows, part)):
                if highest_value(view.bound):
                    own = view.redraw_bounded(sums, self.matrices[at][view.rows], np.abs(weight))
                    replicates[at, part.start : part.stop] = np.where(weight > 0, own.high, own.low)
                else:
                    replicates[at, part.start : part.stop] = view.redraw(sums)
        ranks = replicates.argsort(axis=1, kind="stable").argsort(axis=1)
        sides = (np.sort(ranks.min(axis=0)), np.sort((draws - 1 - ranks).min(axis=0)))
        low, high = (float(side[int(alpha * draws)]) / draws for side in sides)
        return np.stack([np.nanquantile(replicates, share, axis=1) for share in (low, 1.0 - high)])

    def pair(self, first: str, second: str, view: View) -> "Pair":
        """Return two of the systems by one metric, on the documents that both have measured."""
        at = self.names.index(first), self.names.index(second)
        if len(view.measured):
            shares = [self.matrices[system][view.rows[view.measured]] > 0 for system in at]
            is_shared = (shares[0] == shares[1]).all(axis=0)
            if not is_shared.all():
                return Pair(self.narrow(np.flatnonzero(is_shared)), *at, view)
        return Pair(self, *at, view)


def _scale_alike(
    systems: Sequence[DocumentStatistics], matrices: Sequence[Ints]
) -> tuple[int, tuple[Ints, ...]]:
    """Return a number of runs, and the sums of each system for so many, so that documents can be exchanged.

    It is the smallest by which all sums stay whole: copies of one run are that run.
    """
    common = math.lcm(*(system.repeats for system in systems))
    if common == 1:
        return 1, tuple(matrices)
    scaled = [matrix * (common // system.repeats) for system, matrix in zip(systems, matrices, strict=True)]
    divisor = math.gcd(common, *(int(np.gcd.reduce(matrix, axis=None)) for matrix in scaled if matrix.size))
    return common // divisor, tuple(matrix // divisor for matrix in scaled)


class Pair(Struct, frozen=True, eq=False, dict=True):
    """Two systems of an arena, by their positions, seen by one metric."""

    whole: PairedMatrix
    first: int
    second: int
    view: View

    @property
    def arena(self) -> PairedMatrix:
        """Return the arena of what is drawn as a whole: documents, or families."""
        return self.whole.units

    @cached_property
    def sides(self) -> tuple[Ints, Ints]:
        """Return the metric's statistics of both, rows x what is drawn."""
        first, second = (self.arena.matrices[at][self.view.rows] for at in (self.first, self.second))
        return first, second

    @cached_property
    def values(self) -> tuple[float | None, float | None]:
        """Return the metric of both."""
        first, second = self.sides
        return self.view.value(first.sum(axis=1)), self.view.value(second.sum(axis=1))

    @cached_property
    def in_documents(self) -> tuple[Floats, Floats]:
        """Return the metric of both in each document alone, NaN where it is undefined."""
        return self._evaluate(self.whole)

    def _evaluate(self, arena: PairedMatrix) -> tuple[Floats, Floats]:
        first, second = (arena.matrices[at][self.view.rows] for at in (self.first, self.second))
        return self.view.evaluate(first), self.view.evaluate(second)

    @cached_property
    def is_drawn(self) -> npt.NDArray[np.bool_]:
        """Return which documents or families have the metric in one of the two systems at least."""
        there, here = self._evaluate(self.arena)
        return ~(np.isnan(there) & np.isnan(here))

    @cached_property
    def units(self) -> int:
        """Return the documents in which the metric is defined for one of both, or the families."""
        return int(np.count_nonzero(self.is_drawn))

    @property
    def slack(self) -> float:
        first, second = self.values
        return self.view.slack(first or 0.0, second or 0.0)

    @cached_property
    def wins(self) -> Wins:
        """Return in how many documents the second has the higher value, the lower, and neither."""
        return count_wins(*self.in_documents, slack=self.slack)

    @property
    def documents(self) -> int:
        """Return the documents in which the metric is defined for one of the two systems at least."""
        return sum(self.wins)

    @property
    def families(self) -> int | None:
        """Return the families in which the metric is defined for one of both; None: documents are drawn."""
        return self.units if self.whole.families else None

    def count_documents(self, units: int | None) -> int | None:
        """Return the documents in so many families of the size of these, or so many documents."""
        return None if units is None else math.ceil(units * self.documents / max(self.units, 1))

    @cached_property
    def differing(self) -> npt.NDArray[np.int64]:
        """Return the positions of the documents or families in which any statistic differs."""
        first, second = self.sides
        return np.flatnonzero((first != second).any(axis=0))

    @cached_property
    def is_same(self) -> bool:
        """Return whether no document differs in any statistic."""
        first, second = (self.whole.matrices[at][self.view.rows] for at in (self.first, self.second))
        return bool((first == second).all())

    @cached_property
    def is_total(self) -> bool:
        """Return whether the metric is no mean and no ratio; it has no interval."""
        return any(self.view.is_total(side.sum(axis=1)) for side in self.sides)

    @cached_property
    def is_bounded(self) -> bool:
        """Return whether both metrics lie between 0 and a largest value: the bounds of an unseen document."""
        highest = highest_value(self.view.bound) * (1.0 + 1e-9)
        return highest > 0 and all(value is not None and 0.0 <= value <= highest for value in self.values)

    @cached_property
    def halves(self) -> Halves:
        """Return the difference, second minus first, in halves of the documents.

        Up to 16 differing documents are halved in every way, the others at random, so that p is exact.
        """
        if len(self.differing) > MOST_ENUMERATED:
            first, second = (self.arena.in_halves(at, self.view) for at in (self.first, self.second))
        else:
            first, second = (self._enumerate(at) for at in (self.first, self.second))
        return Halves.of(second - first, self.slack)

    def _enumerate(self, system: int) -> Floats:
        """Return a system's metric with all halves of the differing documents, random ones of the rest."""
        matrix = self.arena.matrices[system][self.view.rows]
        if len(self.arena.documents) <= MOST_ENUMERATED:
            return self.view.evaluate_all(split_halves(matrix, _MOST_SUMS))
        names = [self.arena.documents[at] for at in self.differing.tolist()]
        own, total = matrix[:, self.differing], matrix.sum(axis=1, keepdims=True)
        grouped, keys = group_columns(own, names, self.arena.data.seed, is_grouped=self.arena.is_grouped)
        rest = total - own.sum(axis=1, keepdims=True)
        low, high = (sums_of_halves(part) for part in np.split(own, [_LOW], axis=1))
        count = max(_LEAST_HALVES, 1 << own.shape[1])

        def portions() -> Iterator[Ints]:
            for start in range(0, count, DRAWS):
                for draws, signed in self.arena.sign(system, self.view.rows, min(DRAWS, count - start)):
                    at = np.arange(start + draws.start, start + draws.stop) % (1 << own.shape[1])
                    half = low[:, at & ((1 << _LOW) - 1)] + high[:, at >> _LOW]
                    half += (rest + signed - signed_sums(grouped, keys, draws)) // 2
                    yield np.concatenate([half, total - half], axis=1)

        return self.view.evaluate_all(portions())

    @cached_property
    def replicates(self) -> Draws | None:
        """Return the difference in every bootstrap replicate, second minus first; None without draws.

        Where the metric has bounds, the unseen document is right in the first system only, or in the second
        only.
        """
        if not self.arena.data.replicates or self.is_total:
            return None
        before, after = (
            self.arena.in_replicates(at, self.view, is_bounded=self.is_bounded)
            for at in (self.first, self.second)
        )
        return Draws(after.resampled - before.resampled, after.low - before.high, after.high - before.low)

    def bounds(self, alpha: float, p: float) -> Bounds:
        """Return the intervals at `alpha`; the verdict's excludes 0 exactly if `p` is at most that.

        It is the wider of the interval of the halves and of the resampled one, which knows skewness. The
        guarded one is the wider of it and of the resampled one with the unseen document, which only one
        system has right, by a coin.
        """
        replicates, documents = self.replicates, self.units
        marks: tuple[str, ...] = (
            ("few_documents",) if documents < FEW_DOCUMENTS and not self.is_bounded else ()
        )
        if replicates is None:
            return Bounds(marks=marks)
        if self.whole.families and documents < FEW_FAMILIES:
            return Bounds(marks=(*marks, "few_families"))
        count, level = int(np.count_nonzero(~np.isnan(replicates.resampled))), 1.0 - alpha
        dropped = len(replicates.resampled) - count
        marks = (*marks, "few_replicates") if are_too_few(count, self.arena.data.level) else marks
        marks = (*marks, f"undefined_replicates={dropped}") if dropped else marks
        if are_few_large(self.effective, documents):
            marks = (*marks, "few_large_documents")
        if len(self.differing):
            verdict = self.halves.interval(alpha, p)
            if count > 1:
                verdict = widen(
                    verdict, _percentiles(replicates.resampled, level), is_shown=p <= alpha + 1e-9
                )
        else:
            verdict = (0.0, 0.0)
        if not self.is_bounded:
            return Bounds(verdict, None, marks)
        # Both sides of the coin, so that no order shows.
        either = np.concatenate([replicates.low, replicates.high])
        return Bounds(verdict, widen(verdict, _percentiles(either, level)), marks)

    def is_guarded(self, alpha: float) -> bool:
        """Return whether a difference that the test shows at `alpha` is shown for unseen documents, too.

        It is where the guarded interval of `bounds` excludes 0, which this says without that of the halves.
        """
        replicates, (first, second) = self.replicates, self.values
        if replicates is None or not self.is_bounded or (self.whole.families and self.units < FEW_FAMILIES):
            return False
        few = are_too_few(int(np.count_nonzero(~np.isnan(replicates.resampled))), self.arena.data.level)
        low, high = _percentiles(np.concatenate([replicates.low, replicates.high]), 1.0 - alpha)
        return not few and (low > 0.0 if (second or 0.0) > (first or 0.0) else high < 0.0)

    @cached_property
    def linear(self) -> Floats:
        """Return each document's part in the difference, to first order: they add up to it, about.

        It is the derivative of the metric at the sums of both systems, times what the document differs by.
        """
        first, second = self.sides
        slopes = self.view.slopes(first.sum(axis=1) + second.sum(axis=1))
        return _weighed(2.0 * slopes, second - first)

    @cached_property
    def effective(self) -> float:
        """Return the effective number of documents, (sum of sizes)^2 / sum of squared sizes."""
        return self.units / max(self._size, 1e-9) if self._size else float(self.units)

    @cached_property
    def _size(self) -> float:
        """Return the size of the unseen document in mean documents, 0 where it has none."""
        highest, weight = highest_value(self.view.bound), np.array([2.0**-20])
        if not self.is_bounded or not self.units:
            return 0.0
        sizes = []
        for side in self.sides:
            total = np.repeat(side.sum(axis=1, keepdims=True), 2, axis=1)
            unseen = UnseenDocument(np.append(0.0, weight), partial(size_by_documents, self.view.table(side)))
            values = self.view.table(total, unseen).evaluate(self.view.bound.recipe).values[-1]
            sizes.append(float(values[5] - values[3]) / highest * self.units * 2.0**20)
        return float(np.nan_to_num(np.mean(sizes)))

    def spread(self, alpha: float) -> Spread:
        """Return how documents differ, from which the power at `alpha` follows."""
        (first, second), n = self.sides, self.units
        own = [_weighed(self.view.slopes(side.sum(axis=1)), side) for side in (first, second)]
        centered = n * (own[1] - own[0])
        is_defined = self.is_drawn
        whole = highest_value(self.view.bound) * self._size if self.is_bounded else 0.0
        spread = Spread.measure(n * self.linear[is_defined], centered[is_defined], whole, self.effective)
        return replace(
            spread, alpha=alpha, highest=highest_value(self.view.bound) if self.is_bounded else math.inf
        )

    @cached_property
    def test(self) -> PairTest:
        """Return the two-sided test that the systems are equally good; both values must be defined."""
        if not len(self.differing):
            return PairTest(1.0, "identical" if self.is_same else "halves_exact")
        if self.discordant is not None:
            return PairTest(mcnemar_mid_p(*self.discordant), "mcnemar_mid_p")
        is_exact = len(self.differing) <= MOST_ENUMERATED
        return PairTest(self.halves.p_value(), "halves_exact" if is_exact else "halves")

    @cached_property
    def discordant(self) -> tuple[int, int] | None:
        """Return the documents right in the first system only and in the second only, of a yes/no metric."""
        recipe = self.view.bound.recipe
        if not isinstance(recipe, Ratio):
            return None
        (top, other), (bottom, below) = (self._forms(part) for part in (recipe.numerator, recipe.denominator))
        is_mean = (bottom == below).all()
        if not is_mean or any(((part != 0) & (part != 1)).any() for part in (top, other, bottom)):
            return None
        return int(np.count_nonzero(top > other)), int(np.count_nonzero(other > top))

    def _forms(self, form: Form) -> tuple[Floats, Floats]:
        """Return a form's value in each document, of both systems."""
        first, second = (self.view.combine(form, side) for side in self.sides)
        return first, second


def _weighed(slopes: Floats, sums: Ints) -> Floats:
    """Return `slopes @ sums` to the same digits on every machine, as BLAS does not promise."""
    return np.asarray((slopes[:, None] * sums).sum(axis=0))


def _percentiles(replicates: Floats, level: float) -> tuple[float, float]:
    percentiles = percentile_intervals(replicates[None, :], level)
    return float(percentiles.low[0]), float(percentiles.high[0])
