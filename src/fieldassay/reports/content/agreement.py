"""The agreement of reviewers for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from fieldassay.io.text.shown import clip, format_count, join_names
from fieldassay.metrics.estimate import NOTHING
from fieldassay.metrics.result.agreement import Agreement, Confusion, FieldAgreement, Measure
from fieldassay.reports.writers.page import Column, Page, Screen

HEADS = {
    "observed": "observed",
    "alpha": "alpha",
    "alpha_soft": "alpha, soft",
    "ac1": "AC1",
    "presence": "presence",
    "both_found": "both found",
    "item_f1": "items F1",
}
_SECOND = frozenset(HEADS[name] for name in ("alpha_soft", "presence", "both_found", "item_f1"))
"""The heads of the second table, where one is too wide for the screen."""
_WIDE = 60
_MOST_CONFUSED = 10


def render_agreement(found: Agreement, screen: Screen) -> str:
    """Return the agreement of reviewers as text."""
    page = Page(screen)
    page.title(f"Agreement by {clip(found.spec, _WIDE)}")
    reviewers = join_names([f"{clip(name)} ({count:,})" for name, count in found.reviewers.items()])
    page.line(f"{format_count(found.documents, 'document')} labeled twice or more, by {reviewers}")
    for line in _qualify(found):
        page.line(line)
    page.line()
    page.line(f"observed agreement over all values: {format_measure(found.overall['observed'])}")
    if "assisted" in found.overall:
        page.line(
            "of pairs of which one reviewer had seen a value, which count nowhere else: "
            f"{format_measure(found.overall['assisted'])}"
        )
    page.line()
    _add_fields(page, found)
    _add_confusions(page, found.fields)
    reasons = sorted({reason for field in found.fields for reason in _reasons(field)})
    if reasons or found.notes:
        page.line()
    for line in (*reasons, *found.notes):
        page.line(line)
    return page.text()


def _qualify(found: Agreement) -> Iterator[str]:
    """Yield the limits of the numbers."""
    if found.is_intra:
        yield "Each document was labeled twice by one reviewer: this is intra-rater agreement."
    if found.independent < found.documents:
        yield f"In {found.independent:,} of them two labels of a value are independent (no value was shown)."
    if found.single:
        yield f"{format_count(found.single, 'document')} labeled once, in the chance agreement of AC1 only."


def format_measure(measure: Measure) -> str:
    """Return a measure with its interval and number of values.

    >>> format_measure(Measure(0.75, 4, 4, (0.25, 1.0)))
    '0.750 [0.250, 1.000], 4 values'
    """
    if measure.value is None:
        return NOTHING
    interval = "" if measure.interval is None else f" [{measure.interval[0]:.3f}, {measure.interval[1]:.3f}]"
    return f"{measure.value:.3f}{interval}, {format_count(measure.n, 'value')}"


def _add_fields(page: Page, found: Agreement) -> None:
    names = [name for name in HEADS if any(name in field.measures for field in found.fields)]
    heads = ["observed", "interval", *(HEADS[name] for name in names if name != "observed"), "values"]
    columns = [Column("field", is_name=True), *(Column(head, True, is_name=True) for head in heads)]
    rows = [_row(field, names) for field in found.fields]
    if page.has_room(columns, rows):
        page.table(columns, rows)
        return
    parts = [
        [at for at, one in enumerate(columns) if (one.head in _SECOND) == second] for second in (False, True)
    ]
    for number, places in enumerate([parts[0], [0, *parts[1]]]):
        if number:
            page.line()
        page.table([columns[at] for at in places], [[row[at] for at in places] for row in rows])


def _row(field: FieldAgreement, names: list[str]) -> list[str]:
    observed = field.measures.get("observed")
    others = [_cell(field.measures.get(name)) for name in names if name != "observed"]
    return [
        clip(field.field, _WIDE),
        _cell(observed),
        _interval(observed),
        *others,
        f"{max((one.n for one in field.measures.values()), default=0):,}",
    ]


def _interval(measure: Measure | None) -> str:
    if measure is None or measure.interval is None:
        return NOTHING
    return f"{measure.interval[0]:.2f}–{measure.interval[1]:.2f}"


def _cell(measure: Measure | None) -> str:
    if measure is None or measure.value is None:
        return NOTHING
    return f"{measure.value:.3f}" + ("~" if "sampled" in measure.marks else "")


def _reasons(field: FieldAgreement) -> Iterator[str]:
    """Yield why coefficients of a field have no value."""
    for measure in field.measures.values():
        if measure.reason is not None:
            yield f"{NOTHING}: {measure.reason}"


def _add_confusions(page: Page, fields: tuple[FieldAgreement, ...]) -> None:
    found = [(one.count, field.field, one) for field in fields for one in field.confusions]
    found.sort(key=lambda item: (-item[0], item[1], item[2].first, item[2].second))
    if not found:
        return
    page.line()
    page.title("Most frequent disagreements")
    rows = [
        [f"{count:,}", clip(path, _WIDE), clip(one.first), clip(one.second), _documents(one)]
        for count, path, one in found[:_MOST_CONFUSED]
    ]
    heads = (Column("one"), Column("other"), Column("in"))
    page.table([Column("times", is_number=True), Column("field", is_name=True), *heads], rows)


def _documents(confusion: Confusion) -> str:
    """Return the first document of a disagreement, and the number of others."""
    first, *others = confusion.documents
    return f"{clip(first)} and {len(others):,} more" if others else clip(first)
