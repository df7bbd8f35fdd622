"""Calibration, thresholds, plans and checked policies for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fieldassay.decisions.calibration.result import (
    Calibration,
    CalibrationPage,
    Certificate,
    Check,
    Group,
    LabelPlan,
    Point,
    PolicyCheck,
    PromiseStatus,
    Selection,
)
from fieldassay.decisions.calibration.sentences import (
    SHARES,
    describe_expected,
    describe_more,
    describe_promises,
)
from fieldassay.io.text.shown import clip, format_count
from fieldassay.metrics.notation import NOTHING, format_p, format_p_cell, format_share
from fieldassay.reports.writers.page import Column, Page, Screen

STYLES = {
    PromiseStatus.HELD: "green",
    PromiseStatus.UNDECIDED: "yellow",
    PromiseStatus.BROKEN: "red",
    PromiseStatus.EMPTY: "dim",
}
_POINTS, _FIELDS, _WIDE, _LONG = 10, 40, 200, 600


def render_calibration(found: CalibrationPage, words: str, screen: Screen) -> str:
    """Return the reliability of a system's confidences as text; `words` describe the promise."""
    page = Page(screen)
    page.title(f"Confidences of {clip(found.system, 60)} in {clip(found.run, _WIDE)}")
    census = found.pooled.census
    wrong = f"{census.wrong:,} wrong"
    page.line(
        f"{format_count(census.observed, 'value')} with a confidence in "
        f"{format_count(census.documents, 'document')}, {wrong}"
    )
    page.line()
    page.title("What may pass unseen")
    _add_promises(page, found)
    if found.pooled.calibration is not None:
        _add_calibration(page, found.pooled.calibration)
    if found.pooled.selection is not None:
        _add_selection(page, found.pooled.selection)
    _add_groups(page, "By field", found.fields)
    for key, groups in found.slices.items():
        _add_groups(page, f"By {clip(key)}", groups)
    _add_certificates(page, found, words)
    _add_remarks(page, found.remarks)
    return page.text()


def render_promises(found: CalibrationPage, screen: Screen) -> str:
    """Return what can be promised with these labels, and what more would bring, as text."""
    page = Page(screen)
    page.title(f"Promises for {clip(found.system, 60)} in {clip(found.run, _WIDE)}")
    _add_promises(page, found)
    _add_remarks(page, found.remarks)
    return page.text()


def render_plan(plan: LabelPlan, words: str, screen: Screen) -> str:
    """Return how many labels a promise takes as text."""
    page = Page(screen)
    page.title(f"Labels for a risk of {format_share(plan.promise.risk)}")
    page.line(words)
    if plan.families > 1:
        page.line(
            f"{plan.families} thresholds share that confidence: each is tested at {plan.delta:.4g}, so "
            "that all promises hold together"
        )
    page.line()
    needed = ", ".join(f"{number:,}" for number in plan.needed)
    page.line(f"accepted documents needed with 0, 1, 2 and 3 errors among them: {needed}")
    page.line()
    columns = [Column("labeled documents", is_number=True), *(Column(world) for world in plan.worlds)]
    rows = [
        [f"{row.labels:,}", *(describe_expected(one).partition(": ")[2] for one in row.expected)]
        for row in plan.rows
    ]
    page.table(columns, rows)
    page.line(
        "how likely anything is certified, and the mean share of values that passes unseen (in four fifths "
        f"of cases), from {plan.draws} certifications each: {plan.values} values a document, "
        f"{format_share(plan.accuracy, 1)} right. Which column yours is, only labels say: label "
        f"{plan.rows[0].labels:,} documents, then `calibrate RUN --plan`."
    )
    return page.text()


def render_check(found: PolicyCheck, words: str, screen: Screen) -> str:
    """Return the results of a policy on a run as text."""
    page = Page(screen)
    page.title(f"{clip(found.policy, _WIDE)} on {clip(found.system, 60)} in {clip(found.run, _WIDE)}")
    page.line(words)
    page.line()
    heads = [
        ("fields", False),
        ("threshold", True),
        ("accepted", True),
        ("coverage", True),
        ("wrong", True),
        ("risk", True),
        ("promise", False),
    ]
    rows = [_check_row(check) for check in found.checks]
    page.table(
        [Column(head, is_number) for head, is_number in heads],
        rows,
        [STYLES[check.standing] for check in found.checks],
    )
    page.line(
        f"risk: share of {SHARES[found.promise.kind]}; {format_share(found.level)} interval over documents"
    )
    for check in found.checks:
        if check.standing in (PromiseStatus.BROKEN, PromiseStatus.UNDECIDED):
            seen = (
                f"{check.wrong_documents:,} of {check.counted:,} documents have an accepted error: the risk "
                f"is at least {format_share(check.lower, 2)}"
            )
            page.line(
                f"{_names(check.fields)}: {seen}; promised: at most {format_share(found.promise.risk)}",
                STYLES[check.standing],
            )
    page.line()
    reviewed = ", ".join(f"{clip(reason)}: {count:,}" for reason, count in found.reviewed.items())
    page.line(f"to review: {reviewed or 'nothing'}")
    page.line(f"{found.caught:,} wrong values were among those reviewed (audits apart)")
    _add_remarks(page, found.remarks)
    return page.text()


def render_queue(
    system: str,
    counts: tuple[int, int, int],
    reasons: Mapping[str, int],
    rows: Sequence[tuple[Any, ...]],
    notes: Sequence[str],
    screen: Screen,
) -> str:
    """Return the queue for review as text.

    `counts` are documents, values and accepted ones, `rows` those of a queue (see `Queue`).
    """
    page = Page(screen)
    documents, values, accepted = counts
    page.title(f"Review of {clip(system, 60)}")
    page.line(
        f"{format_count(values, 'value')} in {format_count(documents, 'document')}; {accepted:,} accepted, "
        "audited ones among them"
    )
    page.line(
        "to review: "
        + (", ".join(f"{clip(reason)}: {count:,}" for reason, count in reasons.items()) or "nothing")
    )
    if rows:
        page.line()
        columns = [
            Column("document"),
            Column("path"),
            Column("value"),
            Column("confidence", is_number=True),
            Column("reason"),
        ]
        shown = [
            [
                clip(doc, 40),
                clip(path, 40),
                clip(value, 40),
                NOTHING if sure is None else f"{sure:.4g}",
                clip(reason),
            ]
            for _, doc, path, _, value, sure, reason, *_ in rows[:_FIELDS]
        ]
        page.table(columns, shown)
        if len(rows) > _FIELDS:
            page.line(f"and {len(rows) - _FIELDS:,} more; -o queue.csv writes them all", "dim")
    _add_remarks(page, notes)
    return page.text()


def _add_calibration(page: Page, found: Calibration) -> None:
    page.line()
    page.title("Calibration")
    columns = [
        Column("confidence"),
        Column("values", is_number=True),
        Column("mean confidence", is_number=True),
        Column("right", is_number=True),
    ]
    rows = [
        [_range(one.low, one.high), f"{one.n:,}", f"{one.confidence:.3f}", f"{one.accuracy:.3f}"]
        for one in found.bins
    ]
    page.table(columns, rows)
    brier = found.brier
    parts = (
        f"reliability {brier.reliability:.4f} - resolution {brier.resolution:.4f} + uncertainty "
        f"{brier.uncertainty:.4f}"
    )
    chance = (
        f"a calibrated scorer would show {found.ece_expected:.3f} here, 95% of the time below "
        f"{found.ece_limit:.3f}; {format_p(found.p_value)}"
    )
    page.pairs(
        [
            ("calibration error", f"{found.ece:.3f} ({chance})"),
            (
                "Brier score",
                f"{brier.score:.4f} = {parts} "
                f"{'-' if brier.within < 0 else '+'} {abs(brier.within):.4f} within bins",
            ),
            (
                "log loss",
                f"{found.log_loss:.4f}"
                + (f" ({found.clipped:,} confidences of 0 or 1 clipped)" if found.clipped else ""),
            ),
            ("AUROC", _auroc(found, has_interval=True)),
        ]
    )


def _add_selection(page: Page, found: Selection) -> None:
    page.line()
    page.title("Accepting without review")
    heads = (
        "confidence at least",
        "accepted",
        "coverage",
        "wrong",
        "risk of accepted",
        "undetected per value",
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
        for point in _by_coverage(found.points)
    ]
    page.table([Column(head, is_number=True) for head in heads], rows)
    page.line(f"areas under the curve: AURC {found.aurc:.4f}, AUGRC {found.augrc:.4f} (0 is best)")
    if all(one.share is not None for one in found.captures):
        told = ", ".join(
            f"{format_share(one.budget)} catches {format_share(one.share or 0.0, 1)}"
            for one in found.captures
        )
        page.line(f"reviewing the least sure {told} of the wrong values")


def _by_coverage(points: Sequence[Point]) -> list[Point]:
    """Return the points that first reach each tenth of the values."""
    found = {}
    for tenth in range(1, _POINTS + 1):
        point = next(point for point in points if point.coverage * _POINTS >= tenth - 1e-9)
        found[point.threshold] = point
    return list(found.values())


def _add_groups(page: Page, title: str, groups: Sequence[Group]) -> None:
    if not groups:
        return
    page.line()
    page.title(title)
    heads = ("values", "right", "confidence", "error", "by chance", "p", "AUROC", "omitted")
    rows = [[clip(group.name, 48), *_group_cells(group)] for group in groups[:_FIELDS]]
    page.table([Column(""), *(Column(head, is_number=True) for head in heads)], rows)
    if len(groups) > _FIELDS:
        page.line(f"and {len(groups) - _FIELDS:,} more", "dim")


def _group_cells(group: Group) -> list[str]:
    found, omitted = group.calibration, f"{group.census.omitted:,}"
    if found is None:
        return ["0", *[NOTHING] * 6, omitted]
    p = format_p_cell(found.p_value)
    numbers = (found.accuracy, found.confidence, found.ece, found.ece_expected)
    return [
        f"{found.n:,}",
        *(f"{number:.3f}" for number in numbers),
        p,
        _auroc(found, has_interval=False),
        omitted,
    ]


def _add_promises(page: Page, found: CalibrationPage) -> None:
    """Add what can be promised of each kind, side by side."""
    heads = [("at most " + format_share(found.promise.risk) + " of the", False), ("accept from", True)]
    heads += [("pass unseen", True), ("reviewed", True), ("with more labels", False)]
    rows = []
    for one in found.promises:
        threshold = "nothing yet" if one.threshold is None else f"{one.threshold:.6g}"
        more = describe_more(one) or NOTHING
        shares = [format_share(share, 1) for share in (one.coverage, 1.0 - one.coverage)]
        rows.append([SHARES[one.kind], threshold, *shares, more])
    page.table([Column(head, is_number) for head, is_number in heads], rows)
    for sentence in describe_promises(found.promises, found.promise):
        page.line(sentence)
    errs = format_share(1.0 - found.promise.confidence)
    page.line(
        f"each of the three is a method of its own that errs in at most {errs} of cases, if new documents "
        "are like these: choose one before you look",
        "dim",
    )


def _add_certificates(page: Page, found: CalibrationPage, words: str) -> None:
    page.line()
    page.title("Review threshold")
    page.line(words)
    heads = [
        ("fields", False),
        ("accept from", True),
        ("coverage", True),
        ("labels", True),
        ("tested", True),
        ("with errors", True),
        ("bound", True),
    ]
    page.table(
        [Column(head, is_number) for head, is_number in heads],
        [_certificate_row(one) for one in found.certificates],
    )
    for one in found.certificates:
        if one.threshold is None:
            page.line(f"{_names(one.fields)}: review everything: {clip(one.reason, _LONG)}", "yellow")
        elif not one.steps[-1].passed:
            step = one.steps[-1]
            bound = format_share(step.bound, 2)
            what = f"{step.errors:,} of {step.labels:,} tested have errors, a bound of {bound}"
            page.line(f"{_names(one.fields)}: stopped at {step.threshold:.6g}: {what}", "dim")


def _certificate_row(one: Certificate) -> list[str]:
    if one.threshold is None:
        return [_names(one.fields), "review all", format_share(0.0, 1), f"{one.labels:,}", *[NOTHING] * 3]
    numbers = (f"{one.labels:,}", f"{one.support:,}", f"{one.errors:,}")
    return [
        _names(one.fields),
        f"{one.threshold:.6g}",
        format_share(one.coverage, 1),
        *numbers,
        format_share(one.upper, 2),
    ]


def _check_row(check: Check) -> list[str]:
    threshold = "review all" if check.threshold is None else f"{check.threshold:.6g}"
    coverage = NOTHING if check.coverage is None else format_share(check.coverage, 1)
    risk = NOTHING if check.risk is None else format_share(check.risk, 2)
    if check.interval is not None:
        risk += f" [{', '.join(format_share(bound, 2).removesuffix('%') for bound in check.interval)}]"
    return [
        _names(check.fields),
        threshold,
        f"{check.accepted:,}",
        coverage,
        f"{check.errors:,}",
        risk,
        str(check.standing),
    ]


def _add_remarks(page: Page, remarks: Sequence[str]) -> None:
    if remarks:
        page.line()
    for remark in remarks:
        page.line(f"note: {clip(remark, _LONG)}")


def _names(fields: Sequence[str]) -> str:
    return clip(fields[0], 48) if len(fields) == 1 else format_count(len(fields), "field")


def _range(low: float, high: float) -> str:
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


def _auroc(found: Calibration, *, has_interval: bool) -> str:
    if found.auroc is None:
        return "undefined: all values are right, or all are wrong" if has_interval else NOTHING
    if not has_interval:
        return f"{found.auroc:.3f}"
    if found.auroc_interval is None:
        return f"{found.auroc:.3f} ({found.auroc_note})"
    low, high = found.auroc_interval
    return (
        f"{found.auroc:.3f} [{low:.3f}, {high:.3f}] (how well confidence tells right from wrong; "
        f"{found.documents:,} documents)"
    )
