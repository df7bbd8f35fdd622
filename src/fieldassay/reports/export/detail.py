"""A run's results by field: the classification report."""

from __future__ import annotations

from typing import Any

from fieldassay.errors import problem
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.result.result import tabulate_estimates
from fieldassay.reports.export.tables import Listing, check_system
from fieldassay.runs.run import Run

MEASURES = ("precision", "recall", "f1", "support")
AVERAGES = {"micro avg": "", "macro avg": "macro_", "weighted avg": "weighted_"}
"""The lines below the fields, and how the names of their metrics begin."""


def list_classification_of_run(run: Run, system: str | None = None) -> Listing:
    """Return precision, recall, F1 and support of each field, and their averages, as in scikit-learn.

    The numbers are those of the run's metrics; raises `ProblemsError` where it lacks one.
    """
    result = run.result
    check_system(run, system)
    rows: list[tuple[Any, ...]] = []
    for name in result.systems if system is None else (system,):
        table = tabulate_estimates(result, name)
        lacking = [metric for metric in MEASURES if not any(table.get(metric, {}))]
        lacking += [
            f"{prefix}{metric}"
            for prefix in ("macro_", "weighted_")
            for metric in MEASURES[:3]
            if f"{prefix}{metric}" not in table
        ]
        if lacking:
            raise problem(
                run.folder,
                f"has no {', '.join(lacking)}",
                "score again with --metrics default,f1",
                "missing_part",
            )
        fields = dict.fromkeys(field for metric in MEASURES for field in table[metric] if field is not None)
        rows += [
            (name, field, *(_value(table[metric].get(field)) for metric in MEASURES)) for field in fields
        ]
        support = _value(table["support"].get(None))
        rows += [
            (name, label, *(_value(table[f"{prefix}{metric}"].get(None)) for metric in MEASURES[:3]), support)
            for label, prefix in AVERAGES.items()
        ]
    return Listing(
        "Classification report",
        ("system", "field", "precision", "recall", "f1-score", "support"),
        tuple(rows),
    )


def _value(estimate: Estimate | None) -> float | int | None:
    if estimate is None or estimate.value is None:
        return None
    return round(estimate.value) if estimate.unit == "count" else estimate.value
