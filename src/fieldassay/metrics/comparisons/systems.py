"""Comparisons of all systems of a result, and of pooled results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, nearest, problem
from fieldassay.metrics.catalogue.definitions import BoundMetric, bind_metric, select_metrics
from fieldassay.metrics.catalogue.grammar import MetricCall, parse_metric
from fieldassay.metrics.comparisons.pair import PairedMatrix
from fieldassay.metrics.comparisons.pairwise import (
    FIELD_METRICS,
    MOST_VALUES,
    choose_by_field,
    compare_pairs,
    compare_slices,
    contest,
    remark_ranking,
    slice_values,
)
from fieldassay.metrics.fold import FoldPlan, Partial, pair_systems
from fieldassay.metrics.result.documents import PairedData, is_comparable
from fieldassay.metrics.result.verdicts import Comparison, Comparisons

if TYPE_CHECKING:
    from fieldassay.metrics.result.result import Result


# Comparing systems at the front door: by which metrics, against which system, and afterwards any pair.

USUAL = ("accuracy", "f1")
"""The default metrics of comparisons, as far as they are among the chosen ones."""

BY_FIELD = ("accuracy", "field_accuracy", "field_accuracy_strict", "precision", "recall", "f1")
"""The metrics kept for later comparisons, also field by field."""

MOST_METRICS = 3
"""How many metrics replace the usual ones at most: with more of them each comparison can show less."""


def with_compared(plan: FoldPlan, names: Sequence[str] | None) -> FoldPlan:
    """Return the plan with the metrics of comparisons: those named, the usual, or the score and the first.

    What compares fields is kept, too. Raises `ProblemsError` for a name that no systems can be compared by.
    """
    by_field = tuple(choose_by_field(FIELD_METRICS, plan.vocabulary)[:1])
    return replace(plan, compared=_usual(plan) if names is None else _named(plan, names), also_kept=by_field)


def with_kept(plan: FoldPlan, gates: Iterable[MetricCall]) -> FoldPlan:
    """Return the plan with the metrics of later comparisons: the usual ones, by field, and those of gates."""
    able = [call for call in gates if is_comparable(bind_metric(call, plan.vocabulary))]
    by_field = choose_by_field(BY_FIELD, plan.vocabulary)
    return replace(plan, also_kept=tuple(dict.fromkeys((*by_field, *able))))


def _usual(plan: FoldPlan) -> tuple[MetricCall, ...]:
    able = [
        bound
        for bound in plan.bound
        if is_comparable(bound) and bound.call.field is None and bound.call.slice is None
    ]
    shares = [
        bound
        for bound in able
        if bound.metric.unit != "count" and bound.metric.group not in ("latency", "cost")
    ]
    score = [plan.score_of.call] if plan.score is not None and is_comparable(plan.score_of) else []
    usual = [bound.call for bound in shares if bound.call.name in USUAL and not bound.is_own]
    if score or not usual:
        return tuple(dict.fromkeys((*score, *(bound.call for bound in shares))))[:MOST_METRICS]
    return tuple(usual[:MOST_METRICS])


def _named(plan: FoldPlan, names: Sequence[str]) -> tuple[MetricCall, ...]:
    try:
        bound = [bind_metric(call, plan.vocabulary) for name in names for call in _expand(plan, name)]
    except ValueError as error:
        raise problem("compare", str(error), kind="unknown_name") from None
    refused = [metric for metric in bound if not is_comparable(metric)]
    if refused:
        raise ProblemsError([_refusal(metric) for metric in refused])
    return tuple(dict.fromkeys(metric.call for metric in bound))


def _expand(plan: FoldPlan, name: str) -> list[MetricCall]:
    """Return the metric of a name that is also a group's; else the comparable members of the group."""
    calls = select_metrics([name], plan.vocabulary)
    same_name = [call for call in calls if call.name == parse_metric(name).name]
    return (
        same_name
        or [call for call in calls if is_comparable(bind_metric(call, plan.vocabulary))]
        or list(calls)
    )


def _refusal(bound: BoundMetric) -> Problem:
    if bound.metric.scope == "field" and bound.call.field is None:
        return Problem(
            "compare",
            f"{bound.call} exists field by field only",
            f"name one: {bound.call.name}[FIELD]",
            "not_comparable",
        )
    return Problem(
        "compare",
        f"systems cannot be compared by {bound.call}: it is not made of sums",
        "name a mean or a ratio",
        "not_comparable",
    )


def check_reference(reference: str | None, systems: Iterable[str]) -> str:
    """Return the reference system: the given or the first one. Raises `ProblemsError` for an unknown one."""
    names = tuple(systems)
    if reference is None:
        return names[0]
    if reference not in names:
        shown = reference[:100]
        raise problem("reference", f"there is no system {shown!r}", nearest(shown, names), "unknown_name")
    return reference


def compare_partials(
    plan: FoldPlan, partials: Mapping[str, Partial], reference: str
) -> tuple[PairedData | None, Comparisons]:
    """Return the paired statistics of a run's systems, and comparisons with the reference system.

    Nothing at all where nothing was kept, as for one system that nobody wants to compare later.
    """
    if not plan.kept_statistics:
        return None, Comparisons()
    data = pair_systems(plan, partials.values())
    if len(partials) < 2 or not plan.compared:
        return data, Comparisons()

    return data, contest(data, reference, is_brief=True)


def compare(
    result: Result, a: str, b: str, metrics: Sequence[str] | None = None, slices: Sequence[str] = ()
) -> tuple[Comparison, ...]:
    """Return the comparison of system `b` with system `a`, by metric, on all documents and by slice key.

    `metrics` are among those with statistics kept by the run (`ScoreOptions.compare`; the usual ones by
    default). p values are adjusted over the metrics, and over the values of each slice key. Raises
    `ProblemsError` for names that the result does not have.

    >>> from fieldassay.scoring.score import score
    >>> gold = [{"id": at, "total": at} for at in range(6)]
    >>> right, wrong = gold, [{"id": at, "total": at + 1} for at in range(6)]
    >>> result = score(gold, {"llama": wrong, "qwen": right}, "fields: {total: number}")
    >>> [comparison, _] = compare(result, "llama", "qwen")
    >>> comparison.metric, comparison.difference, comparison.p, comparison.p_adjusted, comparison.verdict
    ('accuracy', 1.0, 0.015625, 0.015625, 'better')
    """
    data = result.paired
    if data is None:
        raise problem(
            "result",
            "it keeps no documents of two systems to compare",
            "score them in one call",
            "not_comparable",
        )
    names = [system.system for system in data.systems]
    for name in (a, b):
        check_reference(name, names)
    arena = PairedMatrix.open(
        replace(data, systems=tuple(system for system in data.systems if system.system in (a, b)))
    )
    chosen = data.metrics if metrics is None else tuple(_find(data, name) for name in metrics)
    comparisons = list(compare_pairs(arena, [(a, b)], chosen))
    for key in slices:
        values = slice_values(arena, key)
        if not values:
            raise problem(
                "slices",
                f"no document has a value for the slice {key!r}",
                "ask for it when scoring",
                "unknown_name",
            )
        comparisons += compare_slices(arena, [(a, b)], chosen, key)
    return tuple(comparisons)


def _find(data: PairedData, name: str) -> BoundMetric:
    metrics = {str(bound.call): bound for bound in data.metrics}
    try:
        bound = metrics.get(name) or bind_metric(parse_metric(name), data.vocabulary)
    except ValueError as error:
        raise problem("metrics", str(error), kind="unknown_name") from None
    if data.can_compare(bound):
        return bound
    remedy = f"{nearest(name, metrics)}; or score with ScoreOptions(compare=({name!r},))"
    raise problem("metrics", f"nothing was kept to compare systems by {name!r}", remedy, "unknown_name")


def remark_comparisons(data: PairedData | None) -> tuple[str, ...]:
    """Return remarks on comparisons not made: too many systems or values, or other documents."""
    if data is None or (len(data.systems) < 2 and not data.slices):
        return ()

    arena = PairedMatrix.open(data)
    whole = sum(bound.call.slice is None and bound.call.field is None for bound in data.metrics)
    remarks = list(remark_ranking(data, whole))
    for key in data.slices:
        count = len(slice_values(arena, key))
        values = {value for system in data.systems for names in system.groups.get(key, ()) for value in names}
        if count > MOST_VALUES:
            most = f"systems are compared within the values of at most {MOST_VALUES}"
            remarks.append(f"the slice {key!r} has {count:,} values; {most}")
        elif len(values) > count:
            left = f"{len(values) - count:,} more values, which not all systems have for the same documents"
            remarks.append(f"the slice {key!r} has {left}")
    return tuple(remarks)
