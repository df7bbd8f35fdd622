"""Repeated runs of a system: columns of their values, and what they tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.metrics.catalogue.grammar import MetricCall
from fieldassay.metrics.evidence import ANSWER_COLUMNS, DocumentTable
from fieldassay.metrics.statistics.columns import DocumentColumns, Ints
from fieldassay.metrics.statistics.statistics import (
    FRACTION_BITS,
    Claim,
    Defined,
    Documents,
    FieldDefined,
    FieldSquares,
    Form,
    InAnyRun,
    IsDefined,
    Known,
    OverRuns,
    Recipe,
    Share,
    Squares,
    Statistic,
    Sum,
    join_fields,
    spread_rows,
)

# Statistics of a batch of a system with repeated runs: sums over the runs of each document.

Floats = npt.NDArray[np.float64]
_UNIT = 2**FRACTION_BITS


class RepeatedValues(Struct, frozen=True, eq=False):
    """The v gold values of a batch, each judged once in every run.

    `right` counts the runs with the right value; `majority` is 1 if its most frequent answer is right (tied
    answers share it); `is_tied` and `is_flaky` mark tied votes and differing answers.
    """

    fields: tuple[str, ...]
    field: Ints
    doc: Ints
    right: Ints
    majority: Floats
    is_tied: npt.NDArray[np.bool_]
    is_flaky: npt.NDArray[np.bool_]


def counts_documents(statistic: Statistic) -> bool:
    """Return whether a statistic counts documents, and needs several statistics over several runs."""
    return isinstance(statistic, Defined | FieldDefined | IsDefined | Known | Claim | Documents | OverRuns)


def draw_chances(runs: int, draws: int, *, is_any: bool) -> Ints:
    """Return by the number of right runs, 0 to `runs`, the chance in units of 2^-32 that drawn runs pass.

    `draws` runs are drawn without replacement; they pass if all are right, or if any is. Unbiased for fresh
    runs (Chen et al. 2021, pass@k; Yao et al. 2024, pass^k).

    >>> (draw_chances(3, 2, is_any=False) / 2**32).round(3).tolist()
    [0.0, 0.0, 0.333, 1.0]
    >>> (draw_chances(3, 2, is_any=True) / 2**32).round(3).tolist()
    [0.0, 0.667, 1.0, 1.0]
    """
    ways = comb(runs, draws)
    right = [comb(count, draws) for count in range(runs + 1)]
    passed = [ways - count for count in reversed(right)] if is_any else right
    return np.array([(2 * _UNIT * count + ways) // (2 * ways) for count in passed], np.int64)


class RepeatedColumns(DocumentColumns, frozen=True, eq=False, dict=True):
    """Evaluates statistics on one batch, as sums over the runs of each document."""

    runs: tuple[DocumentColumns, ...] = ()
    repeated: RepeatedValues | None = None

    @classmethod
    def join(cls, runs: Sequence[DocumentColumns], values: RepeatedValues) -> RepeatedColumns:
        """Return the columns of the runs as one."""
        table = _join_tables([run.table for run in runs])
        return cls(runs[0].evidence, table, runs=tuple(runs), repeated=values)

    def fields(self, statistic: Statistic) -> tuple[str | None, ...]:
        """Return the labels of the rows of `values`."""
        if isinstance(statistic, InAnyRun):
            return self.fields(statistic.statistic)
        if isinstance(statistic, OverRuns):
            return self._values.fields if statistic.of == "values" else (None,)
        if _is_over_runs(statistic):
            return super().fields(statistic)
        return reduce(join_fields, (run.fields(statistic) for run in self.runs))

    def shares(self, share: Share) -> Floats:
        """Return the mean over runs of each document's own ratio, NaN where no run defines it."""
        return _mean([run.shares(share) for run in self.runs])

    def evaluate(self, recipe: Recipe, over: Recipe | None = None) -> Floats:
        """Return the mean over runs of a recipe's value in each document alone."""
        return _mean([run.evaluate(recipe, over) for run in self.runs])

    def number(self, column: str) -> Floats:
        """Return the mean over runs of a number of each document."""
        return _mean([run.number(column) for run in self.runs])

    def perfect(self) -> Floats:
        """Return the share of runs with all values of a document right; NaN if no run has any value."""
        return _mean([run.perfect() for run in self.runs])

    @property
    def _values(self) -> RepeatedValues:
        assert self.repeated is not None
        return self.repeated

    def _evaluate(self, statistic: Statistic) -> Ints:
        if isinstance(statistic, OverRuns):
            return self._count_values(statistic) if statistic.of == "values" else self._count_runs(statistic)
        if isinstance(statistic, InAnyRun):
            inner = statistic.statistic
            if _is_over_runs(inner):
                return (self.values(inner) > 0).astype(np.int64)
            return (
                self._add([(run.values(inner) > 0).astype(np.int64) for run in self.runs], inner) > 0
            ).astype(np.int64)
        if isinstance(statistic, Squares | FieldSquares) or _is_over_runs(statistic):
            return super()._evaluate(statistic)
        return self._add([run.values(statistic) for run in self.runs], statistic)

    def _add(self, values: Sequence[Ints], statistic: Statistic) -> Ints:
        fields = self.fields(statistic)
        total = spread_rows(fields, Sum(self.runs[0].fields(statistic), values[0]))
        for run, part in zip(self.runs[1:], values[1:], strict=True):
            total = total + spread_rows(fields, Sum(run.fields(statistic), part))
        return total

    def _count_runs(self, statistic: OverRuns) -> Ints:
        """Return a quantity of perfect documents; a run without any value is right if another has one."""
        perfect = np.array([run.perfect() for run in self.runs])
        draws = statistic.draws or len(self.runs)
        is_judged = ~np.isnan(perfect).all(axis=0) & (draws <= len(self.runs))
        if statistic.what == "judged":
            return np.asarray(is_judged[None, :], np.int64)
        if not is_judged.any():
            return np.zeros((1, len(is_judged)), np.int64)
        right = np.nan_to_num(perfect, nan=1.0).sum(axis=0).astype(np.int64)
        chances = draw_chances(len(self.runs), draws, is_any=statistic.what == "any")
        quantities: Ints = np.where(is_judged, chances[right], 0)[None, :]
        return quantities

    def _count_values(self, statistic: OverRuns) -> Ints:
        """Return a quantity of gold values, summed by field and document."""
        values, runs = self._values, len(self.runs)
        draws = statistic.draws or runs
        if draws > runs:
            quantities = np.zeros(len(values.doc), np.int64)
        elif statistic.what in ("all", "any"):
            quantities = draw_chances(runs, draws, is_any=statistic.what == "any")[values.right]
        else:
            quantities = {
                "judged": np.ones(len(values.doc), np.int64),
                "majority": np.rint(values.majority * _UNIT).astype(np.int64),
                "tied": values.is_tied.astype(np.int64),
                "flaky": values.is_flaky.astype(np.int64),
            }[statistic.what]
        summed = np.zeros((len(values.fields), len(self.evidence.documents)), np.int64)
        np.add.at(summed, (values.field, values.doc), quantities)
        return summed


def _is_over_runs(statistic: Statistic) -> bool:
    """Return whether a statistic is of all runs at once, or is made of such."""
    inner: Form | None = getattr(statistic, "form", None)
    return isinstance(statistic, OverRuns) or (
        inner is not None and any(isinstance(part, OverRuns) for part in inner.statistics)
    )


def _mean(parts: Sequence[Floats]) -> Floats:
    stacked = np.array(parts)
    is_known = ~np.isnan(stacked)
    count = is_known.sum(axis=0)
    total = np.where(is_known, stacked, 0.0).sum(axis=0)
    mean: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return mean


def _join_tables(tables: Sequence[DocumentTable]) -> DocumentTable:
    """Return what the table of documents says of all runs together.

    Numbers are means. A claim is true if it is for any run, `has_prediction` if it is for every run.
    """
    first = tables[0]
    claims = {
        name: (np.logical_and if name == "has_prediction" else np.logical_or).reduce(
            [table.claims[name] for table in tables]
        )
        for name in first.claims
    }
    groups = {
        key: tuple(
            tuple(dict.fromkeys(name for names in runs for name in names))
            for runs in zip(*(table.groups[key] for table in tables), strict=True)
        )
        for key in first.groups
    }
    texts = {
        name: tuple(
            next(filter(None, runs), "")
            for runs in zip(*(table.texts[name] for table in tables), strict=True)
        )
        for name in ANSWER_COLUMNS
        if name in first.texts
    }
    numbers = {name: _mean([table.numbers[name] for table in tables]) for name in first.numbers}
    return DocumentTable(first.documents, numbers, claims, groups, texts)


# What repeated runs of one system show: how far its answers vary from run to run, and which do.

MOST_FLAKY = 200
"""The most flaky values that a result lists; all of them are counted by the metric `flaky_values`."""

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


class Repeats(Struct, frozen=True):
    """The repeated runs of one system; `flaky` has the values that vary most, `MOST_FLAKY` at most."""

    system: str
    runs: int
    flaky: tuple[FlakyValue, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the repeats in the form of `metrics.json`."""
        flaky = [
            {
                "document": value.document,
                "field": value.field,
                "path": value.path,
                "right": value.right,
                "vote": value.vote,
                "answers": [
                    {"answer": each.answer, "runs": each.runs, "is_right": each.is_right}
                    for each in value.answers
                ],
            }
            for value in self.flaky
        ]
        return {"system": self.system, "runs": self.runs, "flaky": flaky}


def list_draws(runs: int) -> tuple[int, ...]:
    """Return the numbers k for which pass^k and pass@k are reported: all up to 10, then fewer.

    >>> list_draws(3), list_draws(30)
    ((1, 2, 3), (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30))
    """
    more = {*(draws for draws in _MORE_DRAWS if draws < runs), runs}
    return tuple(sorted({*range(1, min(runs, _ALL_DRAWS) + 1), *more}))


def list_repeat_metrics(runs: int) -> tuple[MetricCall, ...]:
    """Return the metrics that are computed for a system with so many runs of each document."""
    calls = [
        MetricCall(name, (("k", draws),))
        for name in ("pass_hat", "pass_at", "value_pass_hat", "value_pass_at")
        for draws in list_draws(runs)
    ]
    return (*calls, *map(MetricCall, ("majority_accuracy", "majority_ties", "flaky_values")))


def rank_flaky(values: Iterable[FlakyValue], runs: int) -> tuple[FlakyValue, ...]:
    """Return the values that vary most: right in about half of the runs first."""
    return tuple(
        sorted(values, key=lambda value: (-min(value.right, runs - value.right), value.document, value.path))[
            :MOST_FLAKY
        ]
    )


class Votes(Struct, frozen=True, eq=False):
    """The gold values of a batch over all runs, and those whose answers differ."""

    values: RepeatedValues
    flaky: tuple[FlakyValue, ...]
