"""The unseen document: what the bounds of an interval allow for beside the documents that were drawn.

Resampling can only rearrange seen documents. So each replicate holds one more document, which is all right or
all wrong by a coin. For documents right or wrong as a whole the bounds are those of Clopper and Pearson by
mid-p values; n documents without an error leave room for 3 / n of bad ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from msgspec import Struct

from fieldassay.metrics.statistics.recipes import (
    Coalesce,
    Combined,
    Constant,
    FieldMean,
    Floats,
    Ratio,
    Recipe,
    SumTable,
    Threshold,
    divide,
    size_statistics,
)
from fieldassay.metrics.statistics.statistics import Number, OfDocument, RowSum

_AT_MOST_ONE = (
    *("one", "score", "weight", "weighted_score"),
    *("similarity", "coverage", "specificity", "chamfer", "sf1"),
)
"""Columns in which a row counts at most 1; other columns have no known bounds."""


class UnseenDocument(Struct, frozen=True, eq=False):
    """How much of the unseen document each column of sums holds, and its size by a ratio's label."""

    weight: Floats
    size: Callable[[Ratio], Floats]

    def bound(self, ratio: Ratio, numerator: Floats, denominator: Floats) -> tuple[Floats, Floats] | None:
        """Return a ratio (labels x columns) with the unseen document all wrong, and all right; or None."""
        highest = find_highest(ratio)
        if highest is None or numerator.shape[1] != len(self.weight):
            return None
        unseen = self.size(ratio)[:, None] * self.weight
        whole = denominator + unseen
        low = divide(numerator, whole)
        return low, low + divide(highest * unseen, whole)


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
    if any(isinstance(one, Number) for one in counted + ratio.denominator.statistics):
        return None
    if any(isinstance(one, RowSum) and one.value not in _AT_MOST_ONE for one in counted):
        return None
    inner = [find_highest(one.recipe) for one in counted if isinstance(one, OfDocument)]
    return None if None in inner else max((one for one in inner if one is not None), default=1.0)


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
    denominator, and in a mean over documents 1, or the number of repeated runs that count.
    """
    if ratio.documents is not None:
        if table.repeats == 1:
            return np.ones(1)
        once = table.count_once(ratio.documents, (None,)).astype(np.float64)
        return np.nan_to_num(divide(table.combine(ratio.denominator, (None,))[:, 0], once))
    if not size_statistics(ratio):
        return np.zeros(1)
    labels, squares = table.squares(ratio)
    return np.nan_to_num(divide(squares, table.combine(ratio.size_form, labels)[:, 0]))


def size_by_documents(table: SumTable, ratio: Ratio) -> Floats:
    """Return the same where each column of the table is a document."""
    if ratio.documents is not None:
        if table.repeats == 1:
            return np.ones(1)
        counts = table.combine(ratio.denominator, (None,))
        return np.nan_to_num(divide(counts.sum(axis=1), np.count_nonzero(counts, axis=1).astype(np.float64)))
    if not size_statistics(ratio):
        return np.zeros(1)
    values = table.combine(ratio.size_form, table.labels(ratio.denominator))
    return np.nan_to_num(divide((values**2).sum(axis=1), values.sum(axis=1)))
