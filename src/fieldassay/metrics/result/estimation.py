"""Sums -> estimates: every value with its n, its interval and its marks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.metrics.catalogue.selection import BoundMetric
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.notation import HIGHEST
from fieldassay.metrics.result.slice_sums import Portion, SliceKey, SliceSums
from fieldassay.metrics.statistics.recipes import (
    Coalesce,
    Constant,
    Evaluated,
    Means,
    Quantile,
    SumTable,
    Total,
    list_field_means,
)
from fieldassay.metrics.statistics.unseen_document import UnseenDocument, is_bounded, size_by_sums
from fieldassay.metrics.uncertainty.intervals import (
    FEW_DOCUMENTS,
    Interval,
    are_too_few,
    percentile_intervals,
    quantile_interval,
)
from fieldassay.metrics.uncertainty.weights import unseen_weights

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
_Drawn: TypeAlias = tuple[float, float, int]

_ROUNDING = 1e-9


class _Draft(Struct, frozen=True, eq=False):
    """An estimate without its interval.

    `ordered` are the values behind a quantile. `replicates` are those of the documents alone and, if the
    metric has bounds, with an unseen document, right or wrong by a coin; () if there are none.
    """

    bound: BoundMetric
    key: SliceKey
    field: str | None
    value: float | None = None
    n: int = 0
    documents: int = 0
    failed: int = 0
    replicates: tuple[Floats, ...] = ()
    ordered: Floats | None = None
    repeats: int = 1


class _Bounds(Struct, frozen=True):
    """An interval, if any, and its marks; `resampled` is that of the documents alone."""

    interval: tuple[float, float] | None = None
    marks: tuple[str, ...] = ()
    resampled: tuple[float, float] | None = None


MOST_EMPTY = 2_000
"""Slices times fields up to which a slice has an undefined estimate of each field that it lacks."""


class EstimationPlan(Struct, frozen=True):
    """The metrics, the slice keys, the level of intervals, and the number of replicates (0: no intervals)."""

    metrics: Sequence[BoundMetric]
    keys: Sequence[str] = ()
    level: float = 0.95
    replicates: int = 2000
    seed: int = 0


def estimate_slices(
    system: str, plan: EstimationPlan, slices: Mapping[SliceKey, SliceSums]
) -> tuple[Estimate, ...]:
    """Return every metric's estimates: all documents first, then by slice; the whole first, then by field.

    A metric that names a slice is estimated in that slice only, others in all documents and in every slice of
    the plan's keys. Beyond `MOST_EMPTY` slices times fields, a slice has the fields that occur in it.
    """
    order = {key: position for position, key in enumerate(plan.keys)}
    asked = {bound.call.slice for bound in plan.metrics if bound.call.slice is not None}
    chosen = {key for key in (*slices, *asked) if key is None or key[0] in order or key in asked}
    unseen = unseen_weights(plan.seed, plan.replicates)
    is_large = None in slices and len(chosen) * slices[None].count_fields() > MOST_EMPTY
    estimates: list[Estimate] = []
    for key in sorted(
        chosen, key=lambda key: (-1, "", "") if key is None else (order.get(key[0], len(order)), *key)
    ):
        is_listed = key is None or key[0] in order
        wanted = [
            bound
            for bound in plan.metrics
            if bound.call.slice == key or (bound.call.slice is None and is_listed)
        ]
        table = slices.get(key, SliceSums({}, {}, 0))
        table = table.of_own_fields() if key is not None and is_large else table
        drafts = _draft_slice(replace(plan, metrics=wanted), key, table, unseen)
        estimates += [_finish(system, draft, plan.level, bounds) for draft, bounds in drafts]
    return tuple(estimates)


def _draft_slice(
    plan: EstimationPlan, key: SliceKey, table: SliceSums, unseen: Floats
) -> list[tuple[_Draft, _Bounds]]:
    """Return the drafts of every metric with their intervals, which are made portion by portion of fields."""
    made: dict[tuple[int, str | None], tuple[_Draft, _Bounds]] = {}
    means: tuple[Means, Means] = {}, {}
    is_split = False
    for portion in table.portions(plan.replicates):
        is_split = is_split or not portion.of_whole
        numbered = list(_draft_portion(plan.metrics, key, table, portion, (unseen, means)))
        drafts = [draft for _, draft in numbered]
        bounds = _bound_all(drafts, plan.level) if plan.replicates else [_Bounds()] * len(drafts)
        for (number, draft), bound in zip(numbered, bounds, strict=True):
            made[number, draft.field] = replace(draft, replicates=()), bound
    if not is_split:
        return list(made.values())
    plain = SumTable(table.sum_plain(), repeats=table.repeats)
    return [
        made.get((number, label), (_Draft(bound, key, label), _Bounds()))
        for number, bound in enumerate(plan.metrics)
        for label in (
            (None,)
            if isinstance(bound.recipe, Constant | Quantile)
            else _choose_labels(bound, plain.evaluate(bound.recipe).labels)
        )
    ]


def _draft_portion(
    metrics: Sequence[BoundMetric],
    key: SliceKey,
    table: SliceSums,
    portion: Portion,
    drawing: tuple[Floats, tuple[Means, Means]],
) -> Iterator[tuple[int, _Draft]]:
    """Yield the number of a metric and its draft, for the fields of a portion, or the whole."""
    unseen, means = drawing
    weight = np.concatenate([np.zeros(1), np.abs(unseen)])  # the value itself holds none
    sums = SumTable(portion.sums, repeats=table.repeats, means=means[0])
    unseen_document = UnseenDocument(weight, partial(size_by_sums, sums))
    with_unseen = replace(sums, unseen=unseen_document, means=means[1], _ratios={})
    for number, bound in enumerate(metrics):
        recipe = bound.recipe
        if isinstance(recipe, Constant | Quantile):
            if portion.of_whole:
                yield number, _draft_number(bound, key, table)
            continue
        own = with_unseen if len(unseen) > 0 and value_bounds(bound) is not None else sums
        averaged = list_field_means(recipe)
        if not portion.of_whole:
            own.add_means(averaged)
        if portion.of_whole or not (averaged or bound.metric.scope == "overall"):
            for draft in _draft_sums(bound, key, own.evaluate(recipe), unseen > 0):
                if portion.holds(draft.field):
                    yield number, draft


def _draft_sums(bound: BoundMetric, key: SliceKey, found: Evaluated, is_right: Bools) -> list[_Draft]:
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
    blocks, limits = [found.values[:, 1:]], value_bounds(bound)
    if has_draws and limits is not None:
        resampled, worst, best = (block[:, 1:] for block in np.split(found.values, 3, axis=1))
        blocks = [resampled, np.where(is_right, best, worst)]
    drafts = []
    for label in _choose_labels(bound, found.labels):
        if label not in rows:
            drafts.append(_Draft(bound, key, label))
            continue
        row = rows[label]
        is_settled = is_count or isinstance(bound.recipe, Coalesce)
        is_undefined = math.isnan(values[row]) or (n[row] == 0 and not is_settled)
        value = None if is_undefined else _whole(values[row]) if is_count else values[row]
        has_replicates = has_draws and value is not None and documents[row] > 0
        is_within = value is not None and limits is not None and _is_within(value, limits)
        drawn = blocks if is_within else blocks[:1]  # what a spec calls a ratio can be any number
        replicates = tuple(block[row] for block in drawn) if has_replicates else ()
        drafts.append(_Draft(bound, key, label, value, n[row], documents[row], failed[row], replicates))
    return drafts


def _whole(count: float) -> float:
    """Return a count as a whole number, unless it is a mean over repeated runs that is none."""
    return round(count) if abs(count - round(count)) < _ROUNDING else count


def _choose_labels(bound: BoundMetric, labels: tuple[str | None, ...]) -> Sequence[str | None]:
    if bound.call.field is not None:
        return [bound.call.field]
    fields = labels[:-1] if bound.metric.scope != "overall" else ()
    return fields if bound.metric.scope == "field" else (None, *fields)


def _draft_number(bound: BoundMetric, key: SliceKey, table: SliceSums) -> _Draft:
    recipe = bound.recipe
    if isinstance(recipe, Constant):
        return _Draft(bound, key, None, recipe.value, table.documents, table.documents)
    assert isinstance(recipe, Quantile)
    ordered = np.sort(np.concatenate([np.zeros(0), *table.numbers.get(recipe.column, ())]))
    value = float(np.quantile(ordered, recipe.share)) if len(ordered) else None
    documents = -(-len(ordered) // table.repeats)
    return _Draft(bound, key, None, value, len(ordered), documents, ordered=ordered, repeats=table.repeats)


def _bound_all(drafts: Sequence[_Draft], level: float) -> list[_Bounds]:
    """Return the interval of each draft, with one computation of the percentiles of all replicates."""
    drawn = [each for draft in drafts for each in draft.replicates]
    found = percentile_intervals(np.stack(drawn), level) if drawn else None
    triples: Iterator[_Drawn] = iter(
        zip(found.low.tolist(), found.high.tolist(), found.dropped.tolist(), strict=True)
        if found is not None
        else ()
    )
    return [_bound_one(draft, level, [next(triples) for _ in draft.replicates]) for draft in drafts]


def _bound_one(draft: _Draft, level: float, drawn: Sequence[_Drawn]) -> _Bounds:
    if isinstance(draft.bound.recipe, Quantile):
        return _bound_quantile(draft, draft.bound.recipe, level)
    if not drawn or draft.value is None:
        return _Bounds()
    (lowest, highest, _), (low, high, dropped) = drawn[0], drawn[-1]
    limits = value_bounds(draft.bound)
    if limits is not None and not _is_within(draft.value, limits):
        limits = None
    few = () if limits is not None else _mark_few(draft)
    marks = (*few, "few_replicates") if are_too_few(len(draft.replicates[0]) - dropped, level) else few
    marks = (*marks, f"undefined_replicates={dropped}") if dropped else marks
    resampled = None if math.isnan(lowest) else (lowest, highest)
    if math.isnan(low):
        return _Bounds(None, marks, resampled)
    if limits is not None:  # sums of rounded parts may exceed them in the last digit
        low, high = max(low, limits[0]), min(high, limits[1])
    return _Bounds((min(low, draft.value), max(high, draft.value)), marks, resampled)


def _mark_few(draft: _Draft) -> tuple[str, ...]:
    return ("few_documents",) if draft.documents < FEW_DOCUMENTS else ()


def value_bounds(bound: BoundMetric) -> tuple[float, float] | None:
    """Return the smallest and the largest value of a metric, which an unseen document has; None without both.

    Shares lie between 0 and their largest value, a difference of two shares between -1 and 1.

    >>> from fieldassay.metrics.catalogue.grammar import parse_metric
    >>> from fieldassay.metrics.catalogue.selection import bind_metric
    >>> [value_bounds(bind_metric(parse_metric(name))) for name in ("f1", "latency_mean")]
    [(0.0, 1.0), None]
    """
    unit = bound.metric.unit
    if unit not in (*HIGHEST, "difference") or not is_bounded(bound.recipe):
        return None
    return (-1.0, 1.0) if unit == "difference" else (0.0, HIGHEST[unit])


def highest_value(bound: BoundMetric) -> float:
    """Return the maximum of a metric with a minimum of 0; 0 for a metric without such bounds.

    >>> from fieldassay.metrics.catalogue.grammar import parse_metric
    >>> from fieldassay.metrics.catalogue.selection import bind_metric
    >>> [highest_value(bind_metric(parse_metric(name))) for name in ("f1", "latency_mean")]
    [1.0, 0.0]
    """
    low, high = value_bounds(bound) or (0.0, 0.0)
    return high if low == 0.0 else 0.0


def _is_within(value: float, limits: tuple[float, float]) -> bool:
    return limits[0] <= value <= limits[1] * (1.0 + 1e-9)


def _bound_quantile(draft: _Draft, recipe: Quantile, level: float) -> _Bounds:
    if draft.ordered is None or not len(draft.ordered) or not 0.0 < recipe.share < 1.0:
        return _Bounds()
    interval = _bound_repeated(draft.ordered, draft.repeats, recipe.share, level)
    return (
        _Bounds()
        if interval is None
        else _Bounds((interval.low, interval.high), ("order_statistics", *_mark_few(draft)))
    )


def _bound_repeated(ordered: Floats, repeats: int, share: float, level: float) -> Interval | None:
    """Return the interval of a quantile of several numbers a document, as if those of one were all alike.

    That is the widest one: only the documents are taken to be independent.
    """
    if repeats == 1:
        return quantile_interval(ordered, share, level)
    whole = ordered[: len(ordered) // repeats * repeats].reshape(-1, repeats)
    low, high = (quantile_interval(side, share, level) for side in (whole[:, 0], whole[:, -1]))
    return None if low is None or high is None else Interval(low.low, high.high)


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
        interval_resampled=bounds.resampled,
    )
