"""Statistics of one batch, document by document."""

from __future__ import annotations

from functools import reduce

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from fieldassay.errors import problem
from fieldassay.metrics.evidence import DocumentTable, Evidence
from fieldassay.metrics.statistics.recipes import (
    Coalesce,
    Combined,
    Constant,
    FieldMean,
    Quantile,
    Ratio,
    Recipe,
    Threshold,
    Total,
    join_values,
    settle,
)
from fieldassay.metrics.statistics.rows import RowTable, tabulate_rows
from fieldassay.metrics.statistics.statistics import (
    BOTH,
    FRACTION_BITS,
    NUMBER_BITS,
    Claim,
    Conditions,
    Defined,
    Documents,
    FieldDefined,
    FieldSquares,
    Form,
    IsDefined,
    Known,
    Number,
    OfDocument,
    OverRuns,
    Reaches,
    Rows,
    RowSum,
    Share,
    Squares,
    Statistic,
)
from fieldassay.metrics.statistics.sums import Sum, join_fields, spread_rows

Ints = npt.NDArray[np.int64]


class DocumentColumns(Struct, frozen=True, eq=False, dict=True):
    """Evaluates statistics on one batch, each only once."""

    evidence: Evidence
    table: DocumentTable
    _rows: dict[str, RowTable] = field(default_factory=dict)
    _counts: dict[tuple[str, Conditions], Ints] = field(default_factory=dict)
    _known: dict[Statistic, Ints] = field(default_factory=dict)
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
        if statistic not in self._known:
            self._known[statistic] = self._evaluate(statistic)
        return self._known[statistic]

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
            return self._own_ratio(recipe)
        if isinstance(recipe, Combined):
            return join_values(recipe.operator, self.evaluate(recipe.left), self.evaluate(recipe.right))
        if isinstance(recipe, Coalesce | Threshold):
            return settle(recipe, self.evaluate(recipe.recipe))
        if isinstance(recipe, Constant):
            return np.full(len(self.evidence.documents), recipe.value)
        if isinstance(recipe, Quantile):
            return self.number(recipe.column)
        return self._own_mean(recipe) if isinstance(recipe, FieldMean) else self._own_total(recipe)

    def _own_ratio(self, recipe: Ratio) -> npt.NDArray[np.float64]:
        """Return the ratio; for a mean over documents, the document's own share, unrounded."""
        first = recipe.numerator.statistics[0] if len(recipe.numerator.terms) == 1 else None
        if isinstance(first, OfDocument):
            return self.evaluate(first.recipe, first.over)
        if isinstance(first, Share) and recipe.documents is not None:
            return self.shares(first)
        return self.shares(Share(recipe.numerator, recipe.denominator))

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
        found: npt.NDArray[np.generic]
        if isinstance(statistic, Share):
            found = _fix(self.shares(statistic), FRACTION_BITS)
        elif isinstance(statistic, Defined):
            found = self.per_document(statistic.form) > 0
        elif isinstance(statistic, Squares):
            found = np.rint(self.per_document(statistic.form) ** 2)
        elif isinstance(statistic, Reaches):
            found = self._reach(statistic)
        elif isinstance(statistic, OfDocument):
            found = _fix(self.evaluate(statistic.recipe, statistic.over), statistic.bits)
        elif isinstance(statistic, IsDefined):
            found = ~np.isnan(self.evaluate(statistic.recipe, statistic.over))
        elif isinstance(statistic, Number):
            found = _fix(self.number(statistic.column), statistic.bits)
        elif isinstance(statistic, Known):
            found = ~np.isnan(self.number(statistic.column))
        elif isinstance(statistic, Claim):
            found = self._claim(statistic)
        else:
            assert isinstance(statistic, Documents)
            found = np.ones(len(self.evidence.documents), np.int64)
        return found.astype(np.int64)

    def _claim(self, statistic: Claim) -> npt.NDArray[np.bool_]:
        nothing = np.zeros(len(self.evidence.documents), bool)
        told = self.table.claims.get(statistic.column)
        return nothing if told is None else told == statistic.is_wanted

    def perfect(self) -> npt.NDArray[np.float64]:
        """Return 1 for each document with all values right, else 0; NaN without values."""
        rows = Rows()
        matches = self.per_document(rows.correct)
        leaves = matches + self.per_document(rows.wrong + rows.missing + rows.spurious)
        return np.where(leaves > 0, (matches == leaves).astype(np.float64), np.nan)

    def number(self, column: str) -> npt.NDArray[np.float64]:
        """Return a number of each document, NaN if unknown."""
        found = self.table.numbers.get(column)
        if found is None:
            return np.full(len(self.evidence.documents), np.nan)
        known = np.where(np.isfinite(found), found, np.nan)
        too_large = np.flatnonzero(np.abs(known) >= 2.0 ** (53 - NUMBER_BITS.get(column, 0)))
        if len(too_large):
            what = f"{column} is {known[too_large[0]]:g}, which is too large to be true"
            where = f"document {self.table.documents[too_large[0]]!r}"
            raise problem(where, what, "correct it or leave it out", "bad_number")
        return known

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
