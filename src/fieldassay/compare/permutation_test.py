"""Metrics of systems on the same documents: observed, under random exchanges, and in bootstrap replicates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.engine.bootstrap import draw_sums
from fieldassay.metrics.recipes import Coalesce, Ratio, SumTable, Total, Unseen
from fieldassay.metrics.selection import BoundMetric
from fieldassay.metrics.statistics import Form, Statistic
from fieldassay.metrics.sums import Sum, join_fields, spread_rows
from fieldassay.metrics.unseen_document import UnseenDocument, size_by_documents
from fieldassay.result.estimation import highest_value
from fieldassay.result.pairing import DocumentStatistics, PairedData, list_parts
from fieldassay.stats.paired import Wins, count_wins, mcnemar_mid_p, mcnemar_mid_ps, rank_tails, tail_share
from fieldassay.stats.poisson import unseen_weights
from fieldassay.stats.power import detectable_difference
from fieldassay.stats.signs import MOST_ENUMERATED, are_grouped, enumerate_sums, group_columns, signed_sums

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SLACK = {"ratio": 1e-9, "percent": 1e-7}
"""How far apart rounding may put two values: of shares absolutely, of other units relatively."""


class PairTest(NamedTuple):
    """The p value of a difference, and the test that gave it."""

    p: float
    method: str


class Draws(NamedTuple):
    """A metric or difference in replicates: without the unseen document, and with its worst and best."""

    resampled: Floats
    low: Floats
    high: Floats


class Layout(Struct, frozen=True):
    """Which rows of a matrix hold which statistic, field by field."""

    parts: tuple[tuple[Statistic, tuple[str | None, ...]], ...]
    repeats: int = 1
    """The number of runs that the sums of a document are of."""

    @classmethod
    def plan(cls, systems: Sequence[DocumentStatistics]) -> Layout:
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

    def view(self, bound: BoundMetric) -> View:
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
        return View(bound, np.array(rows, np.int64), tuple(parts), self.repeats)


class View(Struct, frozen=True, eq=False):
    """A metric as a function of its own rows of a layout."""

    bound: BoundMetric
    rows: npt.NDArray[np.int64]
    parts: tuple[tuple[Statistic, tuple[str | None, ...]], ...]
    repeats: int = 1

    def table(self, sums: Ints, unseen: Unseen | None = None) -> SumTable:
        """Return the sums (own rows x columns) as recipes take them."""
        ends = np.cumsum([len(fields) for _, fields in self.parts])
        starts = ends - [len(fields) for _, fields in self.parts]
        return SumTable(
            {
                statistic: Sum(fields, sums[start:end])
                for (statistic, fields), start, end in zip(self.parts, starts, ends, strict=True)
            },
            unseen,
            self.repeats,
        )

    def evaluate(self, sums: Ints) -> Floats:
        """Return the metric of each column of sums, NaN where it is undefined."""
        found: Floats = self.table(sums).evaluate(self.bound.recipe).values[-1]
        return found

    def bound_by(self, sums: Ints, documents: Ints, weight: Floats) -> Draws:
        """Return the metric of each column of sums; an unseen document has a size by `documents`."""
        unseen = UnseenDocument(weight, partial(size_by_documents, self.table(documents)))
        return Draws(*np.split(self.table(sums, unseen).evaluate(self.bound.recipe).values[-1], 3))

    def value(self, total: Ints) -> float | None:
        """Return the metric of one column of sums, None where it is undefined."""
        found = self.table(total[:, None]).evaluate(self.bound.recipe)
        value, unit = float(found.values[-1, 0]), self.bound.metric.unit
        is_settled = unit == "count" or isinstance(self.bound.recipe, Coalesce)
        return None if np.isnan(value) or (found.n[-1] == 0 and not is_settled) else value

    def slack(self, first: float, second: float) -> float:
        """Return how far two values of the metric may be apart for rounding alone."""
        return SLACK.get(self.bound.metric.unit, 1e-9 * (abs(first) + abs(second)))


class PairedMatrix(Struct, frozen=True, eq=False, dict=True):
    """The systems of a comparison on some of their documents; draws are made on first use."""

    data: PairedData
    names: tuple[str, ...]
    documents: tuple[str, ...]
    matrices: tuple[Ints, ...]
    """Each system's statistics, rows x documents."""
    layout: Layout
    is_grouped: bool = False
    """Whether documents share signs in groups; a part of the documents has the signs of the whole."""

    @classmethod
    def open(cls, data: PairedData) -> PairedMatrix:
        """Return the arena of all documents. Raises ValueError if the systems do not have the same ones."""
        documents = data.systems[0].documents
        if any(system.documents != documents for system in data.systems):
            raise ValueError("the systems were not scored on the same documents")
        layout = Layout.plan(data.systems)
        repeats, matrices = _scale_alike(data.systems, [layout.stack(one) for one in data.systems])
        layout, names = replace(layout, repeats=repeats), tuple(one.system for one in data.systems)
        return cls(data, names, documents, matrices, layout, are_grouped(len(documents)))

    def narrow(self, rows: npt.NDArray[np.int64]) -> PairedMatrix:
        """Return the arena of the documents at these positions."""
        documents = tuple(self.documents[at] for at in rows.tolist())
        matrices = tuple(matrix[:, rows] for matrix in self.matrices)
        return PairedMatrix(self.data, self.names, documents, matrices, self.layout, self.is_grouped)

    @cached_property
    def replicates(self) -> tuple[Ints, ...]:
        """Return each system's sums in every bootstrap replicate; weights are common to all systems."""
        stacked = np.concatenate(self.matrices)
        sums = draw_sums(
            stacked, self.documents, self.data.seed, self.data.replicates, [np.arange(len(self.documents))]
        )[0]
        return tuple(np.split(sums, len(self.names)))

    def left_out(self, rows: npt.NDArray[np.int64]) -> tuple[Ints, ...]:
        """Return each system's sums of these rows over the documents of weight 0 in each replicate."""
        stacked = np.concatenate([matrix[rows] for matrix in self.matrices])
        everything = [np.arange(len(self.documents))]
        [sums] = draw_sums(
            stacked, self.documents, self.data.seed, self.data.replicates, everything, is_left_out=True
        )
        return tuple(np.split(sums, len(self.names)))

    @cached_property
    def signed(self) -> tuple[Ints, ...]:
        """Return each system's excess over the first one, summed under every random pattern of signs.

        The signs of a document are the same for all systems.
        """
        first, *others = self.matrices
        more = np.concatenate(
            [np.zeros((0, len(self.documents)), np.int64), *(matrix - first for matrix in others)]
        )
        differing = np.flatnonzero(more.any(axis=0))  # the others add nothing, whatever their signs
        distinct, places = np.unique(
            more[:, differing], axis=0, return_inverse=True
        )  # rows often agree: a field is right or wrong in several statistics
        documents = [self.documents[at] for at in differing.tolist()]
        grouped, keys = group_columns(distinct, documents, self.data.seed, is_grouped=self.is_grouped)
        sums = signed_sums(grouped, keys)[places.reshape(-1)]
        return (
            np.zeros((len(first), sums.shape[1]), np.int64),
            *(np.split(sums, len(others)) if others else ()),
        )

    def pair(self, first: str, second: str, view: View) -> Pair:
        """Return two of the systems, seen by one metric."""
        return Pair(self, self.names.index(first), self.names.index(second), view)


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

    arena: PairedMatrix
    first: int
    second: int
    view: View

    @cached_property
    def sides(self) -> tuple[Ints, Ints]:
        """Return the metric's statistics of both, rows x documents."""
        return self.arena.matrices[self.first][self.view.rows], self.arena.matrices[self.second][
            self.view.rows
        ]

    @cached_property
    def values(self) -> tuple[float | None, float | None]:
        """Return the metric of both."""
        first, second = self.sides
        return self.view.value(first.sum(axis=1)), self.view.value(second.sum(axis=1))

    @cached_property
    def in_documents(self) -> tuple[Floats, Floats]:
        """Return the metric of both in each document alone, NaN where it is undefined."""
        first, second = self.sides
        return self.view.evaluate(first), self.view.evaluate(second)

    @cached_property
    def wins(self) -> Wins:
        """Return in how many documents the second has the higher value, the lower, and neither."""
        first, second = self.values
        return count_wins(*self.in_documents, slack=self.view.slack(first or 0.0, second or 0.0))

    @property
    def documents(self) -> int:
        """Return the documents in which the metric is defined for one of the two systems at least."""
        return sum(self.wins)

    @cached_property
    def differing(self) -> npt.NDArray[np.int64]:
        """Return the positions of the documents in which any statistic differs."""
        first, second = self.sides
        return np.flatnonzero((first != second).any(axis=0))

    @cached_property
    def replicates(self) -> Draws | None:
        """Return the difference in every bootstrap replicate, second minus first; None without draws.

        Where the metric has bounds, the unseen document is right in the first system only, or in the second
        only.
        """
        if (
            not self.arena.data.replicates
            or self.view.bound.metric.unit == "count"
            or isinstance(self.view.bound.recipe, Total)
        ):
            return None
        sums = [self.arena.replicates[at][self.view.rows] for at in (self.first, self.second)]
        if not self.is_bounded:
            there, here = map(self.view.evaluate, sums)
            return Draws(here - there, here - there, here - there)
        weight = unseen_weights(self.arena.data.seed, self.arena.data.replicates)
        before, after = (
            self.view.bound_by(each, side, weight) for each, side in zip(sums, self.sides, strict=True)
        )
        return Draws(after.resampled - before.resampled, after.low - before.high, after.high - before.low)

    @cached_property
    def spread(self) -> float:
        """Return the standard error of the difference, from the documents alone; 0 where nothing is drawn."""
        if self.replicates is None or not len(self.differing):
            return 0.0
        drawn = self.replicates.resampled
        known = drawn[~np.isnan(drawn)]
        return float(known.std(ddof=1)) if len(known) > 1 else 0.0

    def detectable(self, level: float) -> float | None:
        """Return the true difference found at a level with probability 0.8; None if it is not known."""
        there, here = self.in_documents
        return detectable_difference(here - there, self.spread, level, is_mid_p=self.discordant is not None)

    @property
    def is_bounded(self) -> bool:
        """Return whether both metrics lie between 0 and a largest value: the bounds of an unseen document."""
        highest = highest_value(self.view.bound) * (1.0 + 1e-9)
        return highest > 0 and all(value is not None and 0.0 <= value <= highest for value in self.values)

    def exchanged(self, *, is_exact: bool = False) -> Floats:
        """Return the difference under every pattern of exchanges: all of them, or random ones."""
        first, second = self.sides
        if is_exact:
            flipped = enumerate_sums((second - first)[:, self.differing])
        else:
            flipped = (self.arena.signed[self.second] - self.arena.signed[self.first])[self.view.rows]
        total = (first + second).sum(axis=1, keepdims=True)
        return self.view.evaluate((total + flipped) // 2) - self.view.evaluate((total - flipped) // 2)

    @cached_property
    def test(self) -> PairTest:
        """Return the two-sided test that the systems are equally good; both values must be defined."""
        if not len(self.differing):
            return PairTest(1.0, "identical")
        if self.discordant is not None:
            return PairTest(mcnemar_mid_p(*self.discordant), "mcnemar_mid_p")
        first, second = (float(value) for value in self.values if value is not None)
        is_exact = len(self.differing) <= MOST_ENUMERATED
        share = tail_share(
            second - first, self.exchanged(is_exact=is_exact), is_exact, self.view.slack(first, second)
        )
        name = "sign_flip" if self._is_mean() else "exchange"
        return PairTest(share, f"{name}_exact" if is_exact else name)

    def draw_p_values(self) -> Floats:
        """Return the p value that the same test gives under each random pattern of exchanges.

        A document is exchanged, or not, in all metrics at once, for joint draws of the p values of several
        metrics.
        """
        first, second = (float(value) for value in self.values if value is not None)
        drawn, recipe = self.exchanged(), self.view.bound.recipe
        if self.discordant is not None and isinstance(recipe, Ratio):
            size = float(self._forms(recipe.denominator)[0].sum())
            return mcnemar_mid_ps(np.rint(np.abs(drawn) * size).astype(np.int64), sum(self.discordant))
        is_exact = len(self.differing) <= MOST_ENUMERATED
        known = self.exchanged(is_exact=True) if is_exact else np.append(drawn, second - first)
        return rank_tails(drawn, known, self.view.slack(first, second))

    @cached_property
    def discordant(self) -> tuple[int, int] | None:
        """Return the documents right in the first system only and in the second only, of a yes/no metric."""
        recipe = self.view.bound.recipe
        if not isinstance(recipe, Ratio) or not self._is_mean():
            return None
        (top, other), (bottom, _) = (self._forms(part) for part in (recipe.numerator, recipe.denominator))
        if any(((part != 0) & (part != 1)).any() for part in (top, other, bottom)):
            return None
        return int(np.count_nonzero(top > other)), int(np.count_nonzero(other > top))

    def _is_mean(self) -> bool:
        """Return whether exchanging statistics is flipping signs: both denominators are the same."""
        recipe = self.view.bound.recipe
        if not isinstance(recipe, Ratio):
            return False
        first, second = self._forms(recipe.denominator)
        return bool((first == second).all())

    def _forms(self, form: Form) -> tuple[Floats, Floats]:
        """Return a form's value in each document, of both systems."""
        first, second = (self.view.table(side).combine(form, (None,))[0] for side in self.sides)
        return first, second
