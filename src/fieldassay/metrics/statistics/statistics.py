"""Statistics of a document, their sums, and the recipes that make metrics of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, Union

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import astuple, replace

from fieldassay.errors import FieldassayError
from fieldassay.metrics.evidence import Outcome

# Statistics: addable quantities of a document, declared as values. The engine sums them; metrics are
# functions of the sums.

FRACTION_BITS = 32
"""Scores, weights and shares are integers in units of 2^-32."""

NUMBER_BITS = {"duration_ms": 20, "cost_usd": 36}
"""Binary digits after the point of document numbers; columns without an entry are whole numbers."""

VALUE_BITS = 36
"""Values of a formula in a document are integers in units of 2^-36: a mean times 100 is right to 1e-9."""

Conditions: TypeAlias = tuple[tuple[str, str], ...]
"""Further conditions on a row.

`critical` (`yes`), `type` (`money|number`), `fields` (paths, last names or patterns: `lines[].sku|total`),
`flag` and `without` (names of `FLAGS`), `reason` (names of reasons), `has` (an extra column that is not NaN),
`reaches` (a column and the least value: `similarity 0.5`).
"""

BOTH = (Outcome.MATCH, Outcome.PARTIAL, Outcome.MISMATCH)


class RowSum(Struct, frozen=True):
    """The sum of a column over the rows of a document, per field.

    `rows`: `leaf` (VALUE rows), `slot` (one row per declared top-level field), `item` (ITEM rows, and the
    values of lists of scalars), `node` (all rows). `value`: `one`, `score`, `weight`, `weighted_score`, or
    the name of an extra column. Scores count 0 wherever one side is empty.
    """

    rows: str
    outcomes: tuple[Outcome, ...]
    value: str = "one"
    where: Conditions = ()

    @property
    def bits(self) -> int:
        """Return the binary digits after the point."""
        return 0 if self.value == "one" else FRACTION_BITS


class Share(Struct, frozen=True):
    """A document's own ratio of two forms, such as the document accuracy; 0 where it is undefined."""

    numerator: Form
    denominator: Form
    bits = FRACTION_BITS


class Defined(Struct, frozen=True):
    """1 for each document with a positive form."""

    form: Form
    bits = 0


class FieldDefined(Struct, frozen=True):
    """1 for each document and field with a positive form."""

    form: Form
    bits = 0


class Squares(Struct, frozen=True):
    """The square of a form's value in a document."""

    form: Form
    bits = 0


class FieldSquares(Struct, frozen=True):
    """The square of a form's value in each field of a document."""

    form: Form
    bits = 0


class Reaches(Struct, frozen=True):
    """1 for each document with a share of at least `threshold`; undefined shares count 0."""

    share: Share
    threshold: float
    bits = 0


class OfDocument(Struct, frozen=True):
    """The value of a formula in each document, 0 where it is undefined.

    Only documents in which `over` is defined count.
    """

    recipe: Recipe
    over: Recipe | None = None
    bits = VALUE_BITS


class IsDefined(Struct, frozen=True):
    """1 for each document in which a formula is defined, and `over` too."""

    recipe: Recipe
    over: Recipe | None = None
    bits = 0


class Number(Struct, frozen=True):
    """A number of the document table, 0 if unknown."""

    column: str

    @property
    def bits(self) -> int:
        """Return the binary digits after the point."""
        return NUMBER_BITS.get(self.column, 0)


class Known(Struct, frozen=True):
    """1 for each document with a known number."""

    column: str
    bits = 0


class Claim(Struct, frozen=True):
    """1 for each document with a claim of the document table that is true (`is_wanted`) or false."""

    column: str
    is_wanted: bool = True
    bits = 0


class Documents(Struct, frozen=True):
    """1 for each document."""

    bits = 0


class InAnyRun(Struct, frozen=True):
    """1 for each document (and field) in which a statistic is positive in any of the repeated runs."""

    statistic: Statistic
    bits = 0


class OverRuns(Struct, frozen=True):
    """A quantity of a document, or of its gold values field by field, over the repeated runs of a system.

    `of`: `documents` (all values right: perfect) or `values`. `what`: `judged` (1 if there are at least
    `draws` runs), `all` and `any` (the chance that `draws` of the runs, drawn without replacement, are all
    right, or not all wrong), `majority` (1 if the most frequent answer is right; tied answers share it),
    `tied` and `flaky` (1 if the vote is tied, if the answers differ).
    """

    of: str
    what: str
    draws: int = 0
    """0: all runs."""

    @property
    def bits(self) -> int:
        """Return the binary digits after the point."""
        return FRACTION_BITS if self.what in ("all", "any", "majority") else 0


Statistic: TypeAlias = Union[
    RowSum,
    InAnyRun,
    OverRuns,
    Share,
    Defined,
    FieldDefined,
    Squares,
    FieldSquares,
    Reaches,
    OfDocument,
    IsDefined,
    Number,
    Known,
    Claim,
    Documents,
]


class Form(Struct, frozen=True):
    """A linear form over statistics with integer coefficients.

    >>> correct = form(RowSum("leaf", (Outcome.MATCH,)))
    >>> (2 * correct + correct).terms[0][0], len((2 * correct + correct).terms)
    (3, 1)
    """

    terms: tuple[tuple[int, Statistic], ...]

    def __add__(self, other: Form) -> Form:
        merged: dict[Statistic, int] = {}
        for factor, statistic in self.terms + other.terms:
            merged[statistic] = merged.get(statistic, 0) + factor
        return Form(tuple((factor, statistic) for statistic, factor in merged.items()))

    def __rmul__(self, factor: int) -> Form:
        return Form(tuple((factor * old, statistic) for old, statistic in self.terms))

    def __sub__(self, other: Form) -> Form:
        return self + (-1) * other

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """Return the statistics of the form."""
        return tuple(statistic for _, statistic in self.terms)


def form(statistic: Statistic) -> Form:
    """Return the form of one statistic with the coefficient 1."""
    return Form(((1, statistic),))


class Rows(Struct, frozen=True):
    """The row statistics of one granularity under one condition.

    Their names in the formulas are C, W, M, S, A and the sum of scores.
    """

    rows: str = "leaf"
    where: Conditions = ()

    def count(self, *outcomes: Outcome) -> Form:
        """Return the number of rows with one of these outcomes."""
        return form(RowSum(self.rows, outcomes, "one", self.where))

    def total(self, value: str) -> Form:
        """Return the sum of a column over the rows with both sides."""
        return form(RowSum(self.rows, BOTH, value, self.where))

    @property
    def correct(self) -> Form:
        """Return C: both sides, a match."""
        return self.count(Outcome.MATCH)

    @property
    def wrong(self) -> Form:
        """Return W: both sides, no match."""
        return self.count(Outcome.PARTIAL, Outcome.MISMATCH)

    @property
    def missing(self) -> Form:
        """Return M: gold only."""
        return self.count(Outcome.MISSING)

    @property
    def spurious(self) -> Form:
        """Return S: prediction only."""
        return self.count(Outcome.SPURIOUS)

    @property
    def absent(self) -> Form:
        """Return A: neither side."""
        return self.count(Outcome.ABSENT)

    @property
    def failed(self) -> Form:
        """Return the number of rows not judged."""
        return self.count(Outcome.FAILED)


# Sums of statistics: exact integers that add in any order.

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
    rows = [row for row, name in enumerate(total.fields) if name in place]
    spread[[place[total.fields[row]] for row in rows]] = total.values[rows]
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


# Recipes: the definitions of metrics over summed statistics, as values.

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of two forms; undefined for a denominator of 0.

    `documents`, for ratios of document statistics, counts the documents behind the ratio; without it they are
    those with a positive denominator. `is_proportion` means that the numerator counts some of the
    denominator's rows. `failed` counts the rows not judged. `size` is what a document
    counts in the denominator, if the denominator itself depends on what is wrong.
    """

    numerator: Form
    denominator: Form
    documents: Form | None = None
    is_proportion: bool = False
    failed: Form | None = None
    size: Form | None = field(default=None, repr=False)

    @property
    def size_form(self) -> Form:
        """Return what a document counts."""
        return self.denominator if self.size is None else self.size


class FieldMean(Struct, frozen=True):
    """The mean of a ratio over the fields in which it is defined, optionally weighted by a form per field."""

    ratio: Ratio
    weight: Form | None = None


class Total(Struct, frozen=True):
    """A plain sum with its population; it has no interval."""

    total: Form
    population: Form
    failed: Form | None = None


class Quantile(Struct, frozen=True):
    """A quantile of a document number, by linear interpolation; shares 0 and 1 are minimum and maximum."""

    column: str
    share: float


class Constant(Struct, frozen=True):
    """A number."""

    value: float


class Combined(Struct, frozen=True):
    """Two recipes joined by `+`, `-`, `*` or `/`.

    Undefined where either is, and for a divisor of 0.
    """

    operator: str
    left: Recipe
    right: Recipe


class Coalesce(Struct, frozen=True):
    """A recipe, and its value where it is undefined."""

    recipe: Recipe
    value: float


class Threshold(Struct, frozen=True):
    """1 where a recipe is at least `threshold` (within 1e-9), 0 where it is less, undefined where it is."""

    recipe: Recipe
    threshold: float


Recipe: TypeAlias = Union[Ratio, FieldMean, Total, Quantile, Constant, Combined, Coalesce, Threshold]


def pooled_divisor(recipe: Recipe) -> Form | None:
    """Return the divisor of a ratio that divides sums of judged values; None for any other recipe."""
    if not isinstance(recipe, Ratio):
        return None
    of_values = (isinstance(statistic, RowSum) for statistic in recipe.denominator.statistics)
    return recipe.denominator if any(of_values) else None


def list_field_means(recipe: Recipe) -> tuple[FieldMean, ...]:
    """Return the means over fields that are parts of a recipe."""
    if isinstance(recipe, Combined):
        return list_field_means(recipe.left) + list_field_means(recipe.right)
    if isinstance(recipe, Coalesce | Threshold):
        return list_field_means(recipe.recipe)
    return (recipe,) if isinstance(recipe, FieldMean) else ()


SLACK = 1e-9
"""The accepted distance below a threshold, for the rounding of a value's parts."""


class Needs(Struct, frozen=True):
    """The statistics of a recipe: `resampled` with bootstrap sums, `plain` without.

    `numbers` are document columns.
    """

    resampled: tuple[Statistic, ...] = ()
    plain: tuple[Statistic, ...] = ()
    numbers: tuple[str, ...] = ()
    sizes: tuple[Statistic, ...] = ()
    """Those that say how large a document is: families are as large as these under weights say."""


def list_needs(recipe: Recipe) -> Needs:
    """Return the statistics of a recipe."""
    if isinstance(recipe, Quantile):
        return Needs(numbers=(recipe.column,))
    if isinstance(recipe, Total):
        return Needs(
            plain=recipe.total.statistics
            + recipe.population.statistics
            + _support(recipe.population)
            + _terms(recipe.failed)
        )
    if isinstance(recipe, Constant):
        return Needs()
    if isinstance(recipe, Combined):
        return _join(_drawn_needs(recipe.left), _drawn_needs(recipe.right))
    if isinstance(recipe, Coalesce | Threshold):
        return _drawn_needs(recipe.recipe)
    ratio = recipe.ratio if isinstance(recipe, FieldMean) else recipe
    support = ratio.documents.statistics if ratio.documents is not None else _support(ratio.denominator)
    support += size_statistics(ratio)
    weight = _terms(recipe.weight) if isinstance(recipe, FieldMean) else ()
    return Needs(
        resampled=ratio.numerator.statistics + ratio.denominator.statistics + weight,
        plain=support + _terms(ratio.failed),
        numbers=tuple(
            statistic.column
            for statistic in (*ratio.numerator.statistics, *ratio.denominator.statistics)
            if isinstance(statistic, Number)
        ),
        sizes=() if ratio.documents is not None else ratio.size_form.statistics,
    )


def _drawn_needs(recipe: Recipe) -> Needs:
    """Return the needs of a part of a formula, where even a plain sum needs draws for its interval."""
    needs = list_needs(recipe)
    return replace(needs, resampled=recipe.total.statistics) if isinstance(recipe, Total) else needs


def _join(first: Needs, second: Needs) -> Needs:
    return Needs(*(here + there for here, there in zip(astuple(first), astuple(second), strict=True)))


def _terms(optional: Form | None) -> tuple[Statistic, ...]:
    return optional.statistics if optional is not None else ()


def _support(population: Form) -> tuple[Statistic, ...]:
    if all(isinstance(statistic, RowSum | OverRuns) for statistic in population.statistics):
        return (FieldDefined(population), Defined(population))
    return ()


def size_statistics(ratio: Ratio) -> tuple[Statistic, ...]:
    """Return the sums behind the size of a document: () where each counts once, or by a measurement."""
    statistics = ratio.size_form.statistics
    if ratio.documents is not None or any(isinstance(statistic, Number) for statistic in statistics):
        return ()
    return (FieldSquares(ratio.size_form), Squares(ratio.size_form))


class Evaluated(Struct, frozen=True, eq=False):
    """A metric per field and overall: value with replicates, denominator, documents and failures.

    The label of the overall row is None; it always comes last.
    """

    labels: tuple[str | None, ...]
    values: Floats
    """labels x (1 + replicates), NaN where undefined, the value first; thrice with an unseen document."""
    n: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int64]
    failed: npt.NDArray[np.int64]


Means: TypeAlias = dict[FieldMean, Floats]
"""Of means over fields: the sums of values, of weights and of defined fields, 3 x columns."""


class Unseen(Protocol):
    """A document that nobody saw."""

    def bound(self, ratio: Ratio, numerator: Floats, denominator: Floats) -> tuple[Floats, Floats] | None:
        """Return a ratio with that document all wrong, and all right; None if the ratio has no bounds."""


def divide(numerator: Floats, denominator: Floats) -> Floats:
    """Return a quotient, NaN where the denominator is not positive.

    >>> divide(np.array([1.0, 1.0]), np.array([2.0, 0.0])).tolist()
    [0.5, nan]
    """
    is_positive = denominator > 0
    if is_positive.all():
        return np.asarray(numerator / denominator)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(is_positive, numerator / denominator, np.nan)


class SumTable(Struct, frozen=True, eq=False, dict=True):
    """Evaluates recipes on the sums of one slice.

    With an unseen document, values have three times the columns: without it, with its worst, and with its
    best. The sums are those of `repeats` runs of each document; plain sums are divided by that. Columns after
    the first are sums under bootstrap weights (`is_weighted`), or plain ones.
    """

    sums: Sums
    unseen: Unseen | None = None
    repeats: int = 1
    is_weighted: bool = True
    means: Means = {}
    """Means over fields that are not in the sums any more."""
    is_by_family: bool = False
    """Whether several documents are drawn as one."""
    _floats: dict[tuple[Statistic, tuple[str | None, ...]], Floats] = {}
    _ratios: dict[Ratio, Evaluated] = {}

    def evaluate(self, recipe: Recipe) -> Evaluated:
        """Return the recipe's values; a field mean has only the overall row."""
        if isinstance(recipe, Total):
            return self._evaluate_total(recipe)
        if isinstance(recipe, FieldMean):
            return self._average(recipe)
        if isinstance(recipe, Combined):
            return self._combine_two(recipe)
        if isinstance(recipe, Coalesce | Threshold):
            evaluated = self.evaluate(recipe.recipe)
            return replace(evaluated, values=settle(recipe, evaluated.values))
        assert isinstance(recipe, Ratio), "quantiles are not made of sums, and constants have no rows"
        return self._evaluate_ratio(recipe)

    def _combine_two(self, recipe: Combined) -> Evaluated:
        """Return both sides joined for their common fields, with the smaller n and number of documents."""
        if isinstance(recipe.right, Constant):
            evaluated = self.evaluate(recipe.left)
            return replace(
                evaluated,
                values=self._join(recipe.operator, evaluated.values, np.full((1, 1), recipe.right.value)),
            )
        if isinstance(recipe.left, Constant):
            evaluated = self.evaluate(recipe.right)
            return replace(
                evaluated,
                values=self._join(recipe.operator, np.full((1, 1), recipe.left.value), evaluated.values),
            )
        left, right = self.evaluate(recipe.left), self.evaluate(recipe.right)
        place = {label: row for row, label in enumerate(right.labels)}
        labels = tuple(label for label in left.labels if label in place)
        here = [row for row, label in enumerate(left.labels) if label in place]
        there = [place[label] for label in labels]
        return Evaluated(
            labels,
            self._join(recipe.operator, left.values[here], right.values[there]),
            np.minimum(left.n[here], right.n[there]),
            np.minimum(left.documents[here], right.documents[there]),
            np.maximum(left.failed[here], right.failed[there]),
        )

    def _join(self, operator: str, left: Floats, right: Floats) -> Floats:
        """Return values joined by an operator; the upper bound subtracts the lower one, and vice versa."""
        if self.unseen is None or max(left.shape[1], right.shape[1]) == 1:
            return join_values(operator, left, right)
        if operator == "-" and right.shape[1] > 1:
            resampled, low, high = np.split(right, 3, axis=1)
            right = np.concatenate([resampled, high, low], axis=1)
        resampled, first, second = np.split(join_values(operator, left, right), 3, axis=1)
        return np.concatenate([resampled, np.minimum(first, second), np.maximum(first, second)], axis=1)

    def _evaluate_ratio(self, ratio: Ratio) -> Evaluated:
        if ratio not in self._ratios:  # a mean over fields has the ratio of another metric
            self._ratios[ratio] = self._divide_sums(ratio)
        return self._ratios[ratio]

    def _divide_sums(self, ratio: Ratio) -> Evaluated:
        labels = self.labels(ratio.denominator)
        numerator, denominator = (
            self.combine(ratio.numerator, labels),
            self.combine(ratio.denominator, labels),
        )
        values = divide(numerator, denominator)
        bounds = None if self.unseen is None else self.unseen.bound(ratio, numerator, denominator)
        values = self._repeat(values) if bounds is None else np.concatenate([values, *bounds], axis=1)
        if ratio.documents is None:
            n, documents = _whole(denominator[:, 0]), self._count_documents(ratio.denominator, labels)
        else:
            n = _whole(self.combine(ratio.documents, labels)[:, 0])
            documents = self.count_once(ratio.documents, labels)
        return Evaluated(labels, values, n, documents, self._count(ratio.failed, labels))

    def _average(self, mean: FieldMean) -> Evaluated:
        by_field = self._evaluate_ratio(mean.ratio)
        total, whole, defined = self._sum_fields(mean)
        values = np.full(defined.shape, np.nan)
        np.divide(total, whole, out=values, where=whole > 0)
        return Evaluated(
            (None,),
            values[None, :],
            defined[:1].astype(np.int64),
            by_field.documents[-1:],
            by_field.failed[-1:],
        )

    def add_means(self, means: Iterable[FieldMean]) -> None:
        """Add the fields of these sums to the means over fields."""
        self.means.update({mean: self._sum_fields(mean) for mean in dict.fromkeys(means)})

    def _sum_fields(self, mean: FieldMean) -> Floats:
        """Return the sums of a mean over fields, 3 x columns, field by field by name: adding rounds."""
        by_field, before = self._evaluate_ratio(mean.ratio), self.means.get(mean)
        by_name = sorted(range(len(by_field.labels) - 1), key=lambda at: by_field.labels[at] or "")
        values = by_field.values[by_name]  # in an order independent of batches
        is_defined = ~np.isnan(values)
        weights = (
            is_defined.astype(np.float64)
            if mean.weight is None
            else self._repeat(self.combine(mean.weight, by_field.labels)[by_name]) * is_defined
        )
        parts: list[Floats] = [np.where(is_defined, values, 0.0) * weights, weights, 1.0 * is_defined]
        if before is not None:
            parts = [
                np.concatenate([earlier[None], part]) for earlier, part in zip(before, parts, strict=True)
            ]
        return np.stack([part.sum(axis=0) for part in parts])

    def _evaluate_total(self, recipe: Total) -> Evaluated:
        labels = self.labels(recipe.population)
        values, n = self.combine(recipe.total, labels), _whole(self.combine(recipe.population, labels)[:, 0])
        values = values if self.repeats == 1 else values / self.repeats
        documents = (
            self._count_documents(recipe.population, labels)
            if _support(recipe.population)
            else self.count_once(recipe.population, labels)
        )
        return Evaluated(labels, self._repeat(values), n, documents, self._count(recipe.failed, labels))

    def _repeat(self, values: Floats) -> Floats:
        """Return values that do not depend on an unseen document, with as many columns as those that do."""
        return values if self.unseen is None or values.shape[1] == 1 else np.tile(values, 3)

    def combine(self, linear: Form, labels: tuple[str | None, ...]) -> Floats:
        """Return the form's sums, labels x (1 + replicates).

        It is labels x 1 if one of its statistics has no replicates.
        """
        parts = [self._scale(statistic, labels) for statistic in linear.statistics]
        width = min((part.shape[1] for part in parts), default=1)
        total = np.zeros((len(labels), width))
        for (factor, _), part in zip(linear.terms, parts, strict=True):
            total += part[:, :width] if factor == 1 else factor * part[:, :width]
        return total

    def squares(self, ratio: Ratio) -> tuple[tuple[str | None, ...], Floats]:
        """Return the labels of a ratio, and for each the sum over documents of the squared denominator."""
        labels = self.labels(ratio.denominator)
        by_field, overall = (self._scale(kind(ratio.size_form), labels) for kind in (FieldSquares, Squares))
        return labels, np.concatenate([by_field[:-1, 0], overall[-1:, 0]])

    def labels(self, linear: Form) -> tuple[str | None, ...]:
        """Return the fields of a form's rows, and `None` for the whole."""
        fields: tuple[str | None, ...] | None = None
        for statistic in linear.statistics:
            if isinstance(statistic, RowSum | OverRuns) and statistic in self.sums:
                own_fields = self.sums[statistic].fields
                if own_fields == (None,):  # summed over fields already
                    continue
                fields = own_fields if fields is None else join_fields(fields, own_fields)
        return (*(fields or ()), None)

    def _scale(self, statistic: Statistic, labels: tuple[str | None, ...]) -> Floats:
        """Return a statistic's sums as numbers; the row of the document is the exact sum over its fields."""
        key = (statistic, labels)
        if key not in self._floats:
            total = self.sums.get(statistic, Sum((), np.zeros((0, 1), np.int64)))
            is_by_field = len(labels) > 1 and total.fields != (None,)
            spread = (
                spread_rows(labels[:-1], total)
                if is_by_field
                else np.zeros((len(labels) - 1, total.values.shape[1]), np.int64)
            )
            whole = np.concatenate([spread, total.values.sum(axis=0, keepdims=True)])
            values = whole * 2.0**-statistic.bits
            if self.is_weighted and statistic.bits < WEIGHT_BITS:
                values[:, 1:] *= 2.0**-WEIGHT_BITS
            self._floats[key] = values
        return self._floats[key]

    def _count(self, linear: Form | None, labels: tuple[str | None, ...]) -> npt.NDArray[np.int64]:
        return (
            np.zeros(len(labels), np.int64) if linear is None else _whole(self.combine(linear, labels)[:, 0])
        )

    def _count_documents(self, population: Form, labels: tuple[str | None, ...]) -> npt.NDArray[np.int64]:
        by_field = self._scale(self._once(FieldDefined(population)), labels)[:-1, 0]
        overall = self._scale(self._once(Defined(population)), labels)[-1:, 0]
        return _whole(np.concatenate([by_field, overall]))

    def count_once(self, population: Form, labels: tuple[str | None, ...]) -> npt.NDArray[np.int64]:
        """Return a count of documents in which each counts once, however many runs there are of it."""
        if self.repeats > 1:
            population = Form(
                tuple((factor, self._once(statistic)) for factor, statistic in population.terms)
            )
        return _whole(self.combine(population, labels)[:, 0])

    def _once(self, statistic: Statistic) -> Statistic:
        if self.repeats == 1:
            return statistic
        in_any = InAnyRun(statistic)
        return in_any if in_any in self.sums else statistic


def _whole(values: Floats) -> npt.NDArray[np.int64]:
    return np.rint(values).astype(np.int64)


def join_values(operator: str, left: Floats, right: Floats) -> Floats:
    """Return the values joined by an operator; NaN where either is undefined or the divisor is 0.

    >>> join_values("/", np.array([1.0, 1.0]), np.array([2.0, 0.0])).tolist()
    [0.5, nan]
    """
    if operator == "/":
        quotient = np.full(np.broadcast_shapes(left.shape, right.shape), np.nan)
        np.divide(left, right, out=quotient, where=np.broadcast_to(right != 0, quotient.shape))
        return quotient
    operation = {"+": np.add, "-": np.subtract, "*": np.multiply}[operator]
    return np.asarray(operation(left, right), dtype=np.float64)


def settle(recipe: Coalesce | Threshold, values: Floats) -> Floats:
    """Return the inner values after the recipe's own rule.

    >>> settle(Coalesce(Constant(1), 0.0), np.array([0.5, np.nan])).tolist()
    [0.5, 0.0]
    """
    if isinstance(recipe, Coalesce):
        return np.where(np.isnan(values), recipe.value, values)
    return np.where(np.isnan(values), np.nan, (values >= recipe.threshold - SLACK).astype(np.float64))
