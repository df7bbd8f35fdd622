"""Half documents: beside the drawn documents every replicate holds half of one that is all right and half of one that is all wrong.

Resampling can only rearrange documents that were seen. The half documents stand for those that were not: for documents that are right or wrong as a
whole the interval is that of Jeffreys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from fieldassay.metrics.recipes import (
    Coalesce,
    Combined,
    Constant,
    FieldMean,
    Floats,
    Ratio,
    Recipe,
    SumTable,
    Threshold,
    size_statistics,
)
from fieldassay.metrics.statistics import Form, Number, OfDocument, RowSum

_ONE = ("one", "score", "weight", "weighted_score")
"""What a row can count at most once; other columns have no bounds that are known."""


@dataclass(frozen=True, slots=True, eq=False)
class HalfDocuments:
    """How much of the all right and of the all wrong document each column of sums holds, and the size of a document by form and field."""

    right: Floats
    wrong: Floats
    sizes: Mapping[tuple[Form, str | None], float]

    def add(
        self, ratio: Ratio, labels: tuple[str | None, ...], numerator: Floats, denominator: Floats
    ) -> tuple[Floats, Floats]:
        """Return a ratio's numerator and denominator (labels x columns) with the half documents; as they are if it has no bounds."""
        highest = find_highest(ratio)
        if highest is None or numerator.shape[1] != len(self.right):
            return numerator, denominator
        is_mean = ratio.documents is not None
        sizes = np.array(
            [1.0 if is_mean else self.sizes.get((ratio.size_form, label), 0.0) for label in labels]
        )[:, None]
        return numerator + highest * sizes * self.right, denominator + sizes * (self.right + self.wrong)


def find_highest(recipe: Recipe) -> float | None:
    """Return the largest value that a recipe can have in a document, the smallest being 0; None where that is not known.

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
    """Return the largest value of two parts joined; a quotient is a ratio, which is largest where both parts are."""
    if operator == "-":
        return left
    if left is None or right is None:
        return 1.0 if operator == "/" else None
    if operator == "/":
        return left / right if right else 1.0
    return left + right if operator == "+" else left * right


def _highest_ratio(ratio: Ratio) -> float | None:
    statistics = ratio.numerator.statistics + ratio.denominator.statistics
    if any(isinstance(one, Number) for one in statistics):
        return None
    inner = [find_highest(one.recipe) for one in statistics if isinstance(one, OfDocument)]
    if inner:
        return None if None in inner else max(one for one in inner if one is not None)
    is_known = all(one.value in _ONE for one in statistics if isinstance(one, RowSum))
    return 1.0 if is_known or ratio.is_proportion else None


def list_ratios(recipe: Recipe) -> Iterator[Ratio]:
    """Yield the ratios that a recipe is made of."""
    if isinstance(recipe, Combined):
        yield from list_ratios(recipe.left)
        yield from list_ratios(recipe.right)
    elif isinstance(recipe, Coalesce | Threshold):
        yield from list_ratios(recipe.recipe)
    elif isinstance(recipe, FieldMean):
        yield recipe.ratio
    elif isinstance(recipe, Ratio):
        yield recipe


def size_by_sums(table: SumTable, recipe: Recipe) -> dict[tuple[Form, str | None], float]:
    """Return the size of a document, sum of squares / sum, in each ratio of a recipe, from plain sums (column 0).

    Documents of unlike size are resampled as a whole, so that the large ones count for more.
    """
    found: dict[tuple[Form, str | None], float] = {}
    for ratio in list_ratios(recipe):
        if size_statistics(ratio):
            labels, squares = table.squares(ratio)
            found |= _divide(ratio, labels, squares, table.combine(ratio.size_form, labels)[:, 0])
    return found


def size_by_documents(table: SumTable, recipe: Recipe) -> dict[tuple[Form, str | None], float]:
    """Return the same where each column of the table is a document."""
    found: dict[tuple[Form, str | None], float] = {}
    for ratio in list_ratios(recipe):
        if size_statistics(ratio):
            labels = table.labels(ratio.denominator)
            values = table.combine(ratio.size_form, labels)
            found |= _divide(ratio, labels, (values**2).sum(axis=1), values.sum(axis=1))
    return found


def _divide(
    ratio: Ratio, labels: tuple[str | None, ...], squares: Floats, sums: Floats
) -> dict[tuple[Form, str | None], float]:
    pairs = zip(labels, squares.tolist(), sums.tolist(), strict=True)
    return {(ratio.size_form, label): square / total for label, square, total in pairs if total > 0}
