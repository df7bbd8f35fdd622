"""The page of confidences: the values that could go through unseen, the risk, and the reliability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fieldassay.reports.html.source import ReportSource

if TYPE_CHECKING:
    from fieldassay.decisions.calibration.result import CalibrationPage

MOST_POINTS = 200
"""The points of a curve on the page at most."""

MOST_SYSTEMS = 8
"""The systems with confidences that the page has at most."""


def describe_confidences(source: ReportSource) -> list[dict[str, Any]]:
    """Return, by system that gives confidences, the curve, the bins and the promise of `calibrate`, in words.

    Systems that cannot be calibrated have the reason only.
    """
    import polars as pl

    evidence = source.evidence
    if evidence is None or source.result.documents is None or "confidence" not in evidence.collect_schema():
        return []
    is_sure = (pl.col("kind") == "value") & pl.col("confidence").is_not_null()
    found = set(evidence.filter(is_sure).select(pl.col("system").unique()).collect()["system"])
    return [
        _describe(source, system)
        for system in [name for name in source.systems if name in found][:MOST_SYSTEMS]
    ]


def _describe(source: ReportSource, system: str) -> dict[str, Any]:
    from fieldassay.decisions.calibration.calibrate import CalibrationOptions, calibrate
    from fieldassay.decisions.calibration.confidences import choose_confidences
    from fieldassay.errors import ProblemsError

    assert source.evidence is not None
    assert source.result.documents is not None
    options = CalibrationOptions(system=system, is_brief=True)
    try:
        given = choose_confidences(source.evidence, source.result.documents, system, source.kept)
        page = calibrate(given, options).page
    except ProblemsError as error:
        return {"system": system, "reason": "; ".join(one.what for one in error.problems)}
    return {"system": system, **_shown(page)}


def _shown(page: CalibrationPage) -> dict[str, Any]:
    from fieldassay.decisions.calibration.policy import describe_promise
    from fieldassay.decisions.calibration.result import thin
    from fieldassay.decisions.calibration.sentences import describe_promises

    selection, calibration = page.pooled.selection, page.pooled.calibration
    return {
        "sentences": describe_promises(page.promises, page.promise),
        "promise": describe_promise(page.promise),
        "threshold": page.certificates[0].threshold,
        "points": []
        if selection is None
        else [
            [point.coverage, point.selective_risk, point.threshold, point.accepted, point.errors]
            for point in thin(selection.points, MOST_POINTS)
        ],
        "bins": []
        if calibration is None
        else [[one.confidence, one.accuracy, one.n, one.low, one.high] for one in calibration.bins],
        "remarks": list(page.remarks),
    }
