"""Sums -> estimates: every value with its n, its interval and its marks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fieldassay.metrics.recipes import Constant, Evaluated, Otherwise, Quantile, Ratio, SumTable, Total
from fieldassay.metrics.selection import BoundMetric
from fieldassay.metrics.statistics import Statistic
from fieldassay.metrics.sums import Sum, add_sums
from fieldassay.result.estimate import Estimate
from fieldassay.stats.intervals import (
    FEW_DOCUMENTS,
    are_too_few,
    percentile_intervals,
    quantile_interval,
    wilson_interval,
)

Floats = npt.NDArray[np.float64]
SliceKey: TypeAlias = tuple[str, str] | None

_HIGHEST = {"ratio": 1.0, "percent": 100.0}
"""The largest value of metrics by unit, 0 being the smallest; other units have no bounds."""


@dataclass(frozen=True, slots=True, eq=False)
class SliceSums:
    """The sums of one slice, the document numbers for its quantiles, and its number of documents.

    The document numbers are the known ones, part by part.
    """

    sums: Mapping[Statistic, Sum]
    numbers: Mapping[str, tuple[Floats, ...]]
    documents: int

    def merge(self, other: SliceSums) -> SliceSums:
        """Return the sums of both."""
        names = dict.fromkeys([*self.numbers, *other.numbers])
        numbers = {name: self.numbers.get(name, ()) + other.numbers.get(name, ()) for name in names}
        return SliceSums(add_sums(self.sums, other.sums), numbers, self.documents + other.documents)


@dataclass(frozen=True, slots=True, eq=False)
class _Draft:
    """An estimate without its interval.

    `replicates` is empty if there are none, `ordered` are the values behind a quantile.
    """

    bound: BoundMetric
    key: SliceKey
    field: str | None
    value: float | None = None
    n: int = 0
    documents: int = 0
    failed: int = 0
    replicates: Floats | None = None
    ordered: Floats | None = None


@dataclass(frozen=True, slots=True)
class _Bounds:
    """An interval, if any, and its marks."""

    interval: tuple[float, float] | None = None
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EstimationPlan:
    """The metrics, the slice keys, the level of intervals, and whether there are intervals."""

    metrics: Sequence[BoundMetric]
    keys: Sequence[str] = ()
    level: float = 0.95
    has_intervals: bool = True


def estimate_slices(
    system: str, plan: EstimationPlan, slices: Mapping[SliceKey, SliceSums]
) -> tuple[Estimate, ...]:
    """Return every metric's estimates: all documents first, then by slice; the whole first, then by field.

    A metric that names a slice is estimated in that slice only, others in all documents and in every slice of
    the plan's keys.
    """
    order = {key: position for position, key in enumerate(plan.keys)}
    asked = {bound.call.slice for bound in plan.metrics if bound.call.slice is not None}
    chosen = {key for key in (*slices, *asked) if key is None or key[0] in order or key in asked}
    drafts: list[_Draft] = []
    for key in sorted(
        chosen, key=lambda key: (-1, "", "") if key is None else (order.get(key[0], len(order)), *key)
    ):
        is_listed = key is None or key[0] in order
        wanted = [
            bound
            for bound in plan.metrics
            if bound.call.slice == key or (bound.call.slice is None and is_listed)
        ]
        drafts += _draft_slice(wanted, key, slices.get(key, SliceSums({}, {}, 0)))
    bounds = _bound_all(drafts, plan.level) if plan.has_intervals else [_Bounds()] * len(drafts)
    return tuple(
        _finish(system, draft, plan.level, bound) for draft, bound in zip(drafts, bounds, strict=True)
    )


def _draft_slice(metrics: Sequence[BoundMetric], key: SliceKey, table: SliceSums) -> list[_Draft]:
    sums = SumTable(table.sums)
    drafts: list[_Draft] = []
    for bound in metrics:
        if isinstance(bound.recipe, Constant):
            drafts.append(_Draft(bound, key, None, bound.recipe.value, table.documents, table.documents))
        elif isinstance(bound.recipe, Quantile):
            drafts.append(_draft_quantile(bound, bound.recipe, key, table))
        else:
            drafts += _draft_sums(bound, key, sums.evaluate(bound.recipe))
    return drafts


def _draft_sums(bound: BoundMetric, key: SliceKey, found: Evaluated) -> list[_Draft]:
    is_count, has_draws = (
        bound.metric.unit == "count",
        not isinstance(bound.recipe, Total) and found.values.shape[1] > 1,
    )
    rows = {label: row for row, label in enumerate(found.labels)}
    values, n, documents, failed = (
        found.values[:, 0].tolist(),
        found.n.tolist(),
        found.documents.tolist(),
        found.failed.tolist(),
    )
    drafts = []
    for label in _choose_labels(bound, found.labels):
        if label not in rows:
            drafts.append(_Draft(bound, key, label))
            continue
        row = rows[label]
        is_settled = is_count or isinstance(bound.recipe, Otherwise)
        is_undefined = math.isnan(values[row]) or (n[row] == 0 and not is_settled)
        value = None if is_undefined else round(values[row]) if is_count else values[row]
        replicates = found.values[row, 1:] if has_draws and value is not None else None
        drafts.append(_Draft(bound, key, label, value, n[row], documents[row], failed[row], replicates))
    return drafts


def _choose_labels(bound: BoundMetric, labels: tuple[str | None, ...]) -> Sequence[str | None]:
    if bound.call.field is not None:
        return [bound.call.field]
    fields = labels[:-1] if bound.metric.scope != "overall" else ()
    return fields if bound.metric.scope == "field" else (None, *fields)


def _draft_quantile(bound: BoundMetric, recipe: Quantile, key: SliceKey, table: SliceSums) -> _Draft:
    ordered = np.sort(np.concatenate([np.zeros(0), *table.numbers.get(recipe.column, ())]))
    value = float(np.quantile(ordered, recipe.share)) if len(ordered) else None
    return _Draft(bound, key, None, value, len(ordered), len(ordered), ordered=ordered)


def _bound_all(drafts: Sequence[_Draft], level: float) -> list[_Bounds]:
    """Return the interval of each draft, with one computation of the percentiles of all replicates."""
    drawn = [draft.replicates for draft in drafts if draft.replicates is not None]
    found = percentile_intervals(np.stack(drawn), level) if drawn else None
    triples = iter(
        zip(found.low.tolist(), found.high.tolist(), found.dropped.tolist(), strict=True)
        if found is not None
        else ()
    )
    return [
        _bound_one(draft, level, next(triples) if draft.replicates is not None else None) for draft in drafts
    ]


def _bound_one(draft: _Draft, level: float, drawn: tuple[float, float, int] | None) -> _Bounds:
    few = ("few_documents",) if draft.documents < FEW_DOCUMENTS else ()
    if isinstance(draft.bound.recipe, Quantile):
        return _bound_quantile(draft, draft.bound.recipe, level, few)
    if drawn is None or draft.value is None:
        return _Bounds()
    recipe = draft.bound.recipe
    is_proportion = isinstance(recipe, Ratio) and recipe.is_proportion and draft.n == draft.documents
    highest = highest_value(draft.bound) or float(is_proportion)
    is_extreme = highest > 0 and draft.value in (0.0, highest) and draft.documents > 0
    if is_extreme or (is_proportion and few):
        low, high = wilson_interval(round(draft.value / highest * draft.documents), draft.documents, level)
        return _Bounds((low * highest, high * highest), ("wilson",) if is_proportion else ("wilson", *few))
    low, high, dropped = drawn
    known = 0 if draft.replicates is None else len(draft.replicates) - dropped
    marks = (*few, "few_replicates") if are_too_few(known, level) else few
    marks = (*marks, f"undefined_replicates={dropped}") if dropped else marks
    return _Bounds(None if math.isnan(low) else (low, high), marks)


def highest_value(bound: BoundMetric) -> float:
    """Return the maximum of a metric with a minimum of 0; 0 for a metric without such bounds.

    >>> from fieldassay.metrics.grammar import parse_metric
    >>> from fieldassay.metrics.selection import bind_metric
    >>> [highest_value(bind_metric(parse_metric(name))) for name in ("f1", "latency_mean")]
    [1.0, 0.0]
    """
    return 0.0 if bound.metric.group == "extras" else _HIGHEST.get(bound.metric.unit, 0.0)


def _bound_quantile(draft: _Draft, recipe: Quantile, level: float, few: tuple[str, ...]) -> _Bounds:
    if draft.ordered is None or not len(draft.ordered) or not 0.0 < recipe.share < 1.0:
        return _Bounds()
    interval = quantile_interval(draft.ordered, recipe.share, level)
    return (
        _Bounds() if interval is None else _Bounds((interval.low, interval.high), ("order_statistics", *few))
    )


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
    )
