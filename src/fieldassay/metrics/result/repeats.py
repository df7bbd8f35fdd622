"""What repeated runs of one system show: how far its answers vary from run to run, and which do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.metrics.catalogue.grammar import MetricCall
from fieldassay.metrics.statistics.repeated_columns import RepeatedValues

if TYPE_CHECKING:
    import polars as pl

MOST_FLAKY = 200
"""The most flaky values that a result lists; all of them are counted by the metric `flaky_values`."""

VARIANCES = {"accuracy": "accuracy_variance", "perfect_documents": "perfect_variance"}
"""The metrics with variance parts, and the columns of documents with the variance over runs."""
_COLUMNS = {"accuracy": "accuracy", "perfect_documents": "perfect"}
_ALL_DRAWS = 10
_MORE_DRAWS = (20, 50, 100)


class AnswerCount(Struct, frozen=True):
    """An answer to a value (None: no answer), the number of runs that gave it, and whether it is right."""

    answer: str | None
    runs: int
    is_right: bool


class FlakyValue(Struct, frozen=True):
    """A gold value that the runs of a system answer differently.

    `right` counts the runs that have it right; `vote` is the outcome of the majority vote: `right`, `wrong`
    or `tied`.
    """

    document: str
    field: str
    path: str
    right: int
    vote: str
    answers: tuple[AnswerCount, ...] = ()


class VarianceParts(Struct, frozen=True):
    """The variance of a mean over documents with several runs each, by where it comes from.

    `within` is the variance of one run of a document, `between` that of the means of documents over all runs
    that could be made; the variance of the mean is between/documents + within/(documents x runs).
    """

    metric: str
    documents: int
    runs: int
    value: float
    within: float
    between: float

    def variance(self, documents: int, runs: int) -> float:
        """Return the variance that the mean would have with so many documents and runs of each.

        >>> round(VarianceParts("accuracy", 60, 5, 0.9, 0.06, 0.02).variance(60, 5), 6)
        0.000533
        """
        return self.between / documents + self.within / (documents * runs)

    @property
    def error(self) -> float:
        """Return the standard error of the mean."""
        return math.sqrt(self.variance(self.documents, self.runs))

    @property
    def share_within(self) -> float | None:
        """Return the share of the variance of the mean that comes from the runs; None without variance."""
        whole = self.variance(self.documents, self.runs)
        return self.within / (self.documents * self.runs) / whole if whole > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """Return the parts in the form of `metrics.json`."""
        plain = {name: getattr(self, name) for name in self.__struct_fields__}
        return {**plain, "error": self.error, "share_within": self.share_within}


class Repeats(Struct, frozen=True):
    """The repeated runs of one system; `flaky` has the values that vary most, `MOST_FLAKY` at most."""

    system: str
    runs: int
    variances: tuple[VarianceParts, ...]
    flaky: tuple[FlakyValue, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the repeats in the form of `metrics.json`."""
        flaky = [
            {
                "document": one.document,
                "field": one.field,
                "path": one.path,
                "right": one.right,
                "vote": one.vote,
                "answers": [
                    {"answer": each.answer, "runs": each.runs, "is_right": each.is_right}
                    for each in one.answers
                ],
            }
            for one in self.flaky
        ]
        variances = [one.to_dict() for one in self.variances]
        return {"system": self.system, "runs": self.runs, "variances": variances, "flaky": flaky}


def list_draws(runs: int) -> tuple[int, ...]:
    """Return the numbers k for which pass^k and pass@k are reported: all up to 10, then fewer.

    >>> list_draws(3), list_draws(30)
    ((1, 2, 3), (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30))
    """
    more = {*(draws for draws in _MORE_DRAWS if draws < runs), runs}
    return tuple(sorted({*range(1, min(runs, _ALL_DRAWS) + 1), *more}))


def list_repeat_metrics(runs: int) -> tuple[MetricCall, ...]:
    """Return the metrics that are computed for a system with so many runs of each document."""
    drawn = [
        MetricCall(name, (("k", draws),))
        for name in ("pass_hat", "pass_at", "value_pass_hat", "value_pass_at")
        for draws in list_draws(runs)
    ]
    return (*drawn, *map(MetricCall, ("majority_accuracy", "majority_ties", "flaky_values")))


def rank_flaky(values: Iterable[FlakyValue], runs: int) -> tuple[FlakyValue, ...]:
    """Return the values that vary most: right in about half of the runs first."""
    return tuple(
        sorted(values, key=lambda one: (-min(one.right, runs - one.right), one.document, one.path))[
            :MOST_FLAKY
        ]
    )


def split_variance(
    metric: str, means: npt.NDArray[np.float64], variances: npt.NDArray[np.float64], runs: int
) -> VarianceParts | None:
    """Return the parts of the variance of a mean over documents, by each document's mean and variance.

    Both are over its runs.

    None for fewer than two documents. The part between documents is the rest of the variance of the means; at
    least 0.
    """
    known = ~(np.isnan(means) | np.isnan(variances))
    count = int(known.sum())
    if count < 2:
        return None
    means, variances = means[known], variances[known]
    within = float(variances.mean())
    between = max(0.0, float(means.var(ddof=1)) - within / runs)
    return VarianceParts(metric, count, runs, float(means.mean()), within, between)


def split_variances(documents: pl.DataFrame, system: str, runs: int) -> tuple[VarianceParts, ...]:
    """Return the variance parts of a system from the table of documents."""
    own = documents.filter(documents["system"] == system)
    found: Sequence[VarianceParts | None] = [
        split_variance(
            metric,
            own[_COLUMNS[metric]].fill_null(np.nan).to_numpy(),
            own[column].fill_null(np.nan).to_numpy(),
            runs,
        )
        for metric, column in VARIANCES.items()
        if column in own.columns
    ]
    return tuple(one for one in found if one is not None)


class Votes(Struct, frozen=True, eq=False):
    """The gold values of a batch over all runs, and those whose answers differ."""

    values: RepeatedValues
    flaky: tuple[FlakyValue, ...]
