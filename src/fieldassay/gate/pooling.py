"""Shares of several runs as one share: successes and runs are added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fieldassay.result.compared import is_number, show_plain
from fieldassay.result.estimate import Estimate

_SCALES = {"ratio": 1, "percent": 100}
_NEAR_WHOLE = 1e-6


@dataclass(frozen=True, slots=True)
class Pooled:
    """The pooled estimate, or why there is none, and what it was made of."""

    estimate: Estimate | None = None
    why: str = ""
    evidence: tuple[str, ...] = ()


def pool_shares(parts: Sequence[tuple[str, Estimate]]) -> Pooled:
    """Return the share over all parts (label and estimate): the sum of successes, which each value and n give exactly, over the sum of n.

    A part that is undefined, or no share of its n, leaves the pooled value undefined.

    >>> rates = [Estimate("rate", "a", None, {}, None, value, n, n, 0, None, unit="percent") for value, n in ((50, 2), (100, 3))]
    >>> pool_shares([("x", rates[0]), ("y", rates[1])]).estimate.value
    80.0
    """
    successes, runs, documents, failed = 0, 0, 0, 0
    told = []
    for label, estimate in parts:
        found = _count_successes(estimate)
        if isinstance(found, str):
            return Pooled(why=f"{label}: {estimate.metric} {found}, so it cannot be pooled")
        told.append(f"{label}: {found} of {estimate.n} ({show_plain(estimate.value or 0.0, estimate.unit)})")
        successes, runs = successes + found, runs + estimate.n
        documents, failed = documents + estimate.documents, failed + estimate.failed
    first = parts[0][1]
    if any(estimate.unit != first.unit for _, estimate in parts):
        return Pooled(why=f"{first.metric} has different units in the runs, so it cannot be pooled")
    value = _SCALES[first.unit] * successes / runs
    made = replace(first, value=value, n=runs, documents=documents, failed=failed, interval=None, level=None, marks=("pooled",))
    return Pooled(made, evidence=(*told, f"together {successes} of {runs}"))


def _count_successes(estimate: Estimate) -> int | str:
    """Return how many of n the value stands for, or what keeps that from being said."""
    scale = _SCALES.get(estimate.unit)
    if scale is None:
        return f"is in {estimate.unit}, which is no share"
    if estimate.value is None or not is_number(estimate.value) or not is_number(estimate.n) or estimate.n <= 0:
        return "is undefined"
    exact = estimate.value / scale * estimate.n
    if abs(exact - round(exact)) > _NEAR_WHOLE * max(1, estimate.n) or not 0 <= round(exact) <= estimate.n:
        return f"is no share of {estimate.n}"
    return round(exact)
