"""Calibration, thresholds, plans and queues for the terminal."""

from collections.abc import Mapping, Sequence

from fieldassay.decisions.calibration.certificate import (
    Certificate,
    Guarantee,
    describe_certificate,
    describe_guarantee,
    needed_labels,
)
from fieldassay.decisions.calibration.observations import Calibration, Group, Point, Selection
from fieldassay.decisions.calibration.policy import CalibrationPage, Queue
from fieldassay.io.text.shown import clip, format_count
from fieldassay.metrics.estimate import NOTHING, format_share
from fieldassay.reports.writers.page import PageColumn, Screen, ScreenPage

_POINTS, _FIELDS, _WIDE, _LONG = 10, 40, 200, 600


def render_calibration(calibration: CalibrationPage, screen: Screen) -> str:
    """Return the reliability of a system's confidences as text."""
    page = ScreenPage(screen)
    page.title(f"Confidences of {clip(calibration.system, 60)} in {clip(calibration.run, _WIDE)}")
    census = calibration.pooled.census
    wrong = f"{census.wrong:,} wrong"
    page.line(
        f"{format_count(census.observed, 'value')} with a confidence in "
        f"{format_count(census.documents, 'document')}, {wrong}"
    )
    _add_certificate(page, calibration.certificate, calibration.guarantee)
    if calibration.pooled.calibration is not None:
        _add_calibration(page, calibration.pooled.calibration)
    if calibration.pooled.selection is not None:
        _add_selection(page, calibration.pooled.selection)
    _add_fields(page, calibration.fields)
    _add_remarks(page, calibration.remarks)
    return page.text()


def render_plan(guarantee: Guarantee, screen: Screen) -> str:
    """Return how many labels a guarantee takes at the least as text."""
    page = ScreenPage(screen)
    page.title(f"Labels for a risk of {format_share(guarantee.risk)}")
    page.line(describe_guarantee(guarantee))
    page.line()
    needed = ", ".join(f"{needed_labels(guarantee.risk, guarantee.delta, errors):,}" for errors in range(4))
    page.line(f"accepted documents needed with 0, 1, 2 and 3 errors among them: {needed}")
    least = needed_labels(guarantee.risk, guarantee.delta)
    page.line(
        f"label {least:,} documents with an accepted value, then `calibrate RUN` says how many more you "
        "need: that depends on how well confidences tell right from wrong"
    )
    return page.text()


def render_queue(queue: Queue, screen: Screen, *, has_rows: bool) -> str:
    """Return the queue for review as text."""
    page = ScreenPage(screen)
    page.title(f"Review of {clip(queue.system, 60)}")
    values, documents = format_count(queue.values, "value"), format_count(queue.documents, "document")
    page.line(f"{values} in {documents}; {queue.accepted:,} accepted")
    _add_reasons(page, queue.count_reasons())
    if queue.rows and has_rows:
        page.line()
        heads = [("document", False), ("path", False), ("value", False), ("confidence", True)]
        cells = [
            [
                *(clip(text, 40) for text in (doc, path, value)),
                NOTHING if confidence is None else f"{confidence:.4g}",
                clip(reason),
            ]
            for doc, path, _, value, confidence, reason in queue.rows[:_FIELDS]
        ]
        page.table([*(PageColumn(*head) for head in heads), PageColumn("reason")], cells)
        if len(queue.rows) > _FIELDS:
            page.line(f"and {len(queue.rows) - _FIELDS:,} more; -o queue.csv writes them all", "dim")
    _add_remarks(page, queue.notes)
    return page.text()


def _add_reasons(page: ScreenPage, reasons: Mapping[str, int]) -> None:
    counts = ", ".join(f"{clip(reason)}: {count:,}" for reason, count in reasons.items())
    page.line(f"to review: {counts or 'nothing'}")


def _add_calibration(page: ScreenPage, calibration: Calibration) -> None:
    page.line()
    page.title("Calibration")
    columns = [
        PageColumn("confidence"),
        PageColumn("values", is_number=True),
        PageColumn("mean confidence", is_number=True),
        PageColumn("right", is_number=True),
    ]
    rows = [
        [
            f"{bin_.low:.4g}" if bin_.low == bin_.high else f"{bin_.low:.4g} to {bin_.high:.4g}",
            f"{bin_.n:,}",
            f"{bin_.confidence:.3f}",
            f"{bin_.accuracy:.3f}",
        ]
        for bin_ in calibration.bins
    ]
    page.table(columns, rows)
    page.pairs(
        [
            ("calibration error (ECE)", f"{calibration.ece:.3f}"),
            ("AUROC", _auroc(calibration, has_interval=True)),
        ]
    )


def _add_selection(page: ScreenPage, selection: Selection) -> None:
    page.line()
    page.title("Accepting without review")
    heads = (
        "confidence at least",
        "accepted",
        "coverage",
        "wrong",
        "wrong / accepted",
        "wrong / all",
    )
    rows = [
        [
            f"{point.threshold:.4g}",
            f"{point.accepted:,}",
            format_share(point.coverage, 1),
            f"{point.errors:,}",
            format_share(point.selective_risk, 2),
            format_share(point.joint_risk, 2),
        ]
        for point in _by_coverage(selection.points)
    ]
    page.table([PageColumn(head, is_number=True) for head in heads], rows)


def _by_coverage(points: Sequence[Point]) -> list[Point]:
    """Return the points that first reach each tenth of the values with a confidence."""
    by_threshold, most = {}, points[-1].accepted
    for tenth in range(1, _POINTS + 1):
        point = next(point for point in points if point.accepted * _POINTS >= tenth * most)
        by_threshold[point.threshold] = point
    return list(by_threshold.values())


def _add_fields(page: ScreenPage, groups: Sequence[Group]) -> None:
    if not groups:
        return
    page.line()
    page.title("By field")
    heads = ("values", "right", "conf.", "ECE", "AUROC", "omitted")
    rows = [[clip(group.name, 48), *_group_cells(group)] for group in groups[:_FIELDS]]
    page.table([PageColumn("", is_name=True), *(PageColumn(head, is_number=True) for head in heads)], rows)
    if len(groups) > _FIELDS:
        page.line(f"and {len(groups) - _FIELDS:,} more", "dim")


def _group_cells(group: Group) -> list[str]:
    calibration, omitted = group.calibration, f"{group.census.omitted:,}"
    if calibration is None:
        return ["0", *[NOTHING] * 4, omitted]
    numbers = (f"{number:.3f}" for number in (calibration.accuracy, calibration.confidence, calibration.ece))
    return [f"{calibration.n:,}", *numbers, _auroc(calibration, has_interval=False), omitted]


def _add_certificate(page: ScreenPage, certificate: Certificate, guarantee: Guarantee) -> None:
    page.line()
    page.title("Review threshold")
    page.line(describe_guarantee(guarantee))
    page.line(
        clip(describe_certificate(certificate, guarantee), _LONG),
        "" if certificate.threshold is not None else "yellow",
    )
    if certificate.threshold is None:
        return
    heads = ("accept from", "coverage", "labels", "tested", "with errors", "bound")
    cells = [
        f"{certificate.threshold:.6g}",
        format_share(certificate.coverage, 1),
        *(f"{number:,}" for number in (certificate.labels, certificate.support, certificate.errors)),
        format_share(certificate.upper, 2),
    ]
    page.table([PageColumn(head, is_number=True) for head in heads], [cells])
    step = certificate.steps[-1]
    if not step.passed:
        bound = format_share(step.bound, 2)
        what = f"{step.errors:,} of {step.labels:,} tested documents have errors, so the bound is {bound}"
        page.line(f"stopped at {step.threshold:.6g}: {what}", "dim")


def _add_remarks(page: ScreenPage, remarks: Sequence[str]) -> None:
    if remarks:
        page.line()
    for remark in remarks:
        page.line(f"note: {clip(remark, _LONG)}")


def _auroc(calibration: Calibration, *, has_interval: bool) -> str:
    if calibration.auroc is None:
        return "undefined: all values are right, or all are wrong" if has_interval else NOTHING
    if not has_interval:
        return f"{calibration.auroc:.3f}"
    if calibration.auroc_interval is None:
        return f"{calibration.auroc:.3f} ({calibration.auroc_note})"
    low, high = calibration.auroc_interval
    return (
        f"{calibration.auroc:.3f} [{low:.3f}, {high:.3f}] (how well confidence tells right from wrong; "
        f"{calibration.documents:,} documents)"
    )
