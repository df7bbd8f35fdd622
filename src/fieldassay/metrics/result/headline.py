"""The metric of a result that systems are ranked by."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from fieldassay.metrics.catalogue.grammar import parse_metric
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.result.result import Result

MAIN = ("overall_accuracy", "accuracy")
"""The preferred metrics where the spec names no score; without them it is the first ratio."""
POOLED = ("pooled_accuracy", "accuracy_pooled")
TIMES = {"latency_mean": "average", "latency_p50": "median"}
"""The metrics of the time of a document, the preferred first, and the word for each."""


def find_main(result: Result) -> Estimate | None:
    """Return the first system's estimate of the main metric; None without a candidate.

    It is the score of the spec. A score of single documents, which is not estimated, stands behind the first
    ratio of the spec's metrics.
    """
    whole = [estimate for estimate in result.estimates if estimate.field is None and not estimate.slice]
    score = result.run.get("score")
    scores = [] if score is None else [one for one in _select(result, score) if one in whole]
    named = [one for name in MAIN for one in whole if one.metric == name] if score is None else []
    ratios = (estimate for estimate in whole if estimate.unit in ("ratio", "percent"))
    return next(chain(scores, named, ratios), None)


def _select(result: Result, metric: str) -> tuple[Estimate, ...]:
    try:
        return tuple(result.select(parse_metric(metric)))
    except ValueError:  # of a run that was edited
        return ()


def find_headline(result: Result) -> tuple[Estimate, ...]:
    """Return each system's estimate of the main metric; () if there is none."""
    main = find_main(result)
    return tuple(by_system(result, main).values()) if main is not None else ()


def is_same_metric(estimate: Estimate, other: Estimate) -> bool:
    """Return whether two estimates are of one metric, regardless of system, field and slice."""
    return _identity(estimate) == _identity(other)


def _identity(estimate: Estimate) -> tuple[object, ...]:
    return estimate.metric, estimate.regime, estimate.granularity, tuple(sorted(estimate.parameters.items()))


def by_system(
    result: Result, metric: Estimate, slice_: Mapping[str, str] | None = None
) -> dict[str, Estimate]:
    """Return each system's estimate of a metric over all documents or one slice."""
    chosen = dict(slice_ or {})
    return {
        estimate.system: estimate
        for estimate in result.estimates
        if estimate.field is None and dict(estimate.slice) == chosen and is_same_metric(estimate, metric)
    }


def find_named(result: Result, system: str, names: tuple[str, ...]) -> Estimate | None:
    """Return a system's estimate of the first available of these metrics, over all documents."""
    for name in names:
        for estimate in result.estimates:
            if (
                estimate.metric == name
                and estimate.system == system
                and estimate.field is None
                and not estimate.slice
            ):
                return estimate
    return None


def list_fields(result: Result, system: str) -> dict[str, Estimate]:
    """Return a system's accuracy estimates by field, over all documents, in the order of the fields."""
    found: dict[str, Estimate] = {}
    for estimate in result.estimates:
        if (
            estimate.metric == "field_accuracy"
            and estimate.system == system
            and estimate.field is not None
            and not estimate.slice
        ):
            found.setdefault(estimate.field, estimate)
    return found


def tabulate_estimates(result: Result, system: str) -> dict[str, dict[str | None, Estimate]]:
    """Return a system's estimates over all documents by metric and field.

    Of several regimes or granularities the first.
    """
    table: dict[str, dict[str | None, Estimate]] = {}
    for estimate in result.estimates:
        if estimate.system == system and not estimate.slice and not estimate.parameters:
            table.setdefault(estimate.metric, {}).setdefault(estimate.field, estimate)
    return table
