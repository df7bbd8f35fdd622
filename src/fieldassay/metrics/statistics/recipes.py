"""Recipes: the definitions of metrics over summed statistics, as values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, Union

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.metrics.statistics.statistics import (
    Defined,
    FieldDefined,
    FieldSquares,
    Form,
    InAnyRun,
    Number,
    OverRuns,
    RowSum,
    Squares,
    Statistic,
)
from fieldassay.metrics.statistics.sums import WEIGHT_BITS, Sum, Sums, join_fields, spread_rows

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
    """The statistics of a recipe: `drawn` with bootstrap sums, `plain` without.

    `numbers` are document columns.
    """

    drawn: tuple[Statistic, ...] = ()
    plain: tuple[Statistic, ...] = ()
    numbers: tuple[str, ...] = ()


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
        drawn=ratio.numerator.statistics + ratio.denominator.statistics + weight,
        plain=support + _terms(ratio.failed),
    )


def _drawn_needs(recipe: Recipe) -> Needs:
    """Return the needs of a part of a formula, where even a plain sum needs draws for its interval."""
    needs = list_needs(recipe)
    return Needs(recipe.total.statistics, needs.plain, needs.numbers) if isinstance(recipe, Total) else needs


def _join(first: Needs, second: Needs) -> Needs:
    return Needs(first.drawn + second.drawn, first.plain + second.plain, first.numbers + second.numbers)


def _terms(optional: Form | None) -> tuple[Statistic, ...]:
    return optional.statistics if optional is not None else ()


def _support(population: Form) -> tuple[Statistic, ...]:
    if all(isinstance(statistic, RowSum | OverRuns) for statistic in population.statistics):
        return (FieldDefined(population), Defined(population))
    return ()


def size_statistics(ratio: Ratio) -> tuple[Statistic, ...]:
    """Return the sums behind the size of a document: () where each counts once, or by a measurement."""
    statistics = ratio.size_form.statistics
    if ratio.documents is not None or any(isinstance(one, Number) for one in statistics):
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
            found = self.evaluate(recipe.recipe)
            return replace(found, values=settle(recipe, found.values))
        assert isinstance(recipe, Ratio), "quantiles are not made of sums, and constants have no rows"
        return self._evaluate_ratio(recipe)

    def _combine_two(self, recipe: Combined) -> Evaluated:
        """Return both sides joined for their common fields, with the smaller n and number of documents."""
        if isinstance(recipe.right, Constant):
            found = self.evaluate(recipe.left)
            return replace(
                found, values=self._join(recipe.operator, found.values, np.full((1, 1), recipe.right.value))
            )
        if isinstance(recipe.left, Constant):
            found = self.evaluate(recipe.right)
            return replace(
                found, values=self._join(recipe.operator, np.full((1, 1), recipe.left.value), found.values)
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
            parts = [np.concatenate([one[None], part]) for one, part in zip(before, parts, strict=True)]
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
                known = self.sums[statistic].fields
                if known == (None,):  # summed over fields already
                    continue
                fields = known if fields is None else join_fields(fields, known)
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
