"""The metric of a result that systems are ranked by."""

from __future__ import annotations

from collections.abc import Mapping

from fieldassay.result.estimate import Estimate
from fieldassay.result.result import Result

MAIN = ("overall_accuracy", "accuracy")
"""The preferred metrics; without them it is the first ratio over all documents."""
POOLED = ("pooled_accuracy", "accuracy_pooled")
PER_FIELD = ("field_accuracy",)


def find_main(result: Result) -> Estimate | None:
    """Return the first system's estimate of the main metric; None without a candidate."""
    whole = [estimate for estimate in result.estimates if estimate.field is None and not estimate.slice]
    named = [estimate for name in MAIN for estimate in whole if estimate.metric == name]
    ratios = [estimate for estimate in whole if estimate.unit in ("ratio", "percent")]
    return next(iter(named or ratios), None)


def find_headline(result: Result) -> tuple[Estimate, ...]:
    """Return each system's estimate of the headline metric; () if there is none.

    It is the first metric defined by the spec, else the main one.
    """
    own = [name for name in result.run.get("definitions", ()) if isinstance(name, str)]
    whole = [one for one in result.estimates if one.field is None and not one.slice]
    main = next((one for name in own for one in whole if one.metric == name), None) or find_main(result)
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
            estimate.metric in PER_FIELD
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
