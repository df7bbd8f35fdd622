"""The error report of a result, and of a run on disk."""

from __future__ import annotations

from msgspec.structs import replace

from fieldassay.decisions.gate import decide_result
from fieldassay.errors import nearest, problem
from fieldassay.reports.export.error_lines import list_errors
from fieldassay.reports.export.error_report import render_error_report
from fieldassay.runs.run import Run

_AGAIN = "score again with --evidence all, or errors"


def error_report_of_run(run: Run, system: str | None = None) -> str:
    """Return the error report of a run, of all its systems or of one.

    Raises `ProblemsError` if the run kept no evidence.
    """
    import polars as pl

    result, evidence = run.result, run.evidence
    folder = run.folder
    if evidence is None:
        raise problem(folder, "kept no judged values", _AGAIN, "missing_part")
    if system is not None and system not in result.systems:
        raise problem(
            folder, f"no system {system[:100]!r}", nearest(system[:100], result.systems), "unknown_name"
        )
    if system is not None:
        result = replace(
            result, estimates=tuple(estimate for estimate in result.estimates if estimate.system == system)
        )
        evidence = evidence.filter(pl.col("system") == system)
    return render_error_report(result, list_errors(evidence), decide_result(result))
