"""How many labels a promise takes, said before anyone labels."""

from __future__ import annotations

from fieldassay.calibration.certify import chance_to_pass, needed_labels
from fieldassay.calibration.result import LabelPlan, PlanRow, Promise
from fieldassay.calibration.thresholds import split_delta

ERRORS = (0, 1, 2, 3)
SHARES = (0.1, 0.2, 0.5)
"""True risks that chances are given for, as shares of the promised risk."""


def plan_labels(promise: Promise, families: int = 1) -> LabelPlan:
    """Return the accepted labels that a promise takes with 0, 1, 2 and 3 errors among them.

    >>> [(row.errors, row.needed) for row in plan_labels(Promise(0.01, 0.95)).rows]
    [(0, 299), (1, 473), (2, 628), (3, 773)]
    """
    delta = split_delta(promise, families)
    rows = []
    for errors in ERRORS:
        needed = needed_labels(promise.risk, delta, errors)
        risks = (promise.risk * share for share in SHARES)
        rows.append(
            PlanRow(errors, needed, tuple((risk, chance_to_pass(errors, needed, risk)) for risk in risks))
        )
    return LabelPlan(promise, families, delta, tuple(rows))
