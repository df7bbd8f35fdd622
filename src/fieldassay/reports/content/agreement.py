"""The agreement of reviewers for the terminal."""

from fieldassay.io.text.shown import clip, format_count, join_names
from fieldassay.metrics.estimate import NOTHING
from fieldassay.metrics.result.tables import Agreement, Confusion, FieldAgreement, Measure
from fieldassay.reports.writers.page import PageColumn, Screen, ScreenPage

_WIDE = 60
_MOST_CONFUSED = 10


def render_agreement(agreement: Agreement, screen: Screen) -> str:
    """Return the agreement of reviewers as text."""
    page = ScreenPage(screen)
    page.title(f"Agreement by {clip(agreement.spec, _WIDE)}")
    reviewers = join_names([f"{clip(name)} ({count:,})" for name, count in agreement.reviewers.items()])
    page.line(f"{format_count(agreement.documents, 'document')} labeled twice or more, by {reviewers}")
    if agreement.is_intra:
        page.line("Each document was labeled twice by one reviewer: this is intra-rater agreement.")
    if agreement.independent < agreement.documents:
        page.line(
            f"In {agreement.independent:,} of them two reviewers labeled a value without seeing a prediction."
        )
    if agreement.single:
        once = format_count(agreement.single, "document")
        page.line(f"{once} labeled once, which only the chance agreement of AC1 counts.")
    page.line()
    page.line(f"observed agreement over all values: {format_measure(agreement.overall['observed'])}")
    page.line()
    heads = ("observed", "interval", "alpha", "AC1", "values")
    columns = [PageColumn("field", is_name=True), *(PageColumn(head, True, is_name=True) for head in heads)]
    page.table(columns, [_row(field) for field in agreement.fields])
    _add_confusions(page, agreement.fields)
    measures = [measure for field in agreement.fields for measure in field.measures.values()]
    reasons = sorted({f"{NOTHING}: {measure.reason}" for measure in measures if measure.reason is not None})
    if reasons or agreement.notes:
        page.line()
    for line in (*reasons, *agreement.notes):
        page.line(line)
    return page.text()


def format_measure(measure: Measure) -> str:
    """Return a measure with its interval and number of values.

    >>> format_measure(Measure(0.75, 4, 4, (0.25, 1.0)))
    '0.750 [0.250, 1.000], 4 values'
    """
    if measure.value is None:
        return NOTHING
    interval = "" if measure.interval is None else f" [{measure.interval[0]:.3f}, {measure.interval[1]:.3f}]"
    return f"{measure.value:.3f}{interval}, {format_count(measure.n, 'value')}"


def _row(field: FieldAgreement) -> list[str]:
    observed = field.measures["observed"]
    low, high = observed.interval or (None, None)
    interval = NOTHING if low is None else f"{low:.2f}–{high:.2f}"
    numbers = [_cell(field.measures[name]) for name in ("observed", "alpha", "ac1")]
    return [clip(field.field, _WIDE), numbers[0], interval, *numbers[1:], f"{observed.n:,}"]


def _cell(measure: Measure) -> str:
    if measure.value is None:
        return NOTHING
    return f"{measure.value:.3f}" + ("~" if "sampled" in measure.marks else "")


def _add_confusions(page: ScreenPage, fields: tuple[FieldAgreement, ...]) -> None:
    confusions = [
        (confusion.count, field.field, confusion) for field in fields for confusion in field.confusions
    ]
    confusions.sort(key=lambda item: (-item[0], item[1], item[2].first, item[2].second))
    if not confusions:
        return
    page.line()
    page.title("Most frequent disagreements")
    rows = [
        [
            f"{count:,}",
            clip(path, _WIDE),
            clip(confusion.first),
            clip(confusion.second),
            _documents(confusion),
        ]
        for count, path, confusion in confusions[:_MOST_CONFUSED]
    ]
    heads = (PageColumn("one"), PageColumn("other"), PageColumn("in"))
    page.table([PageColumn("times", is_number=True), PageColumn("field", is_name=True), *heads], rows)


def _documents(confusion: Confusion) -> str:
    """Return the first document of a disagreement, and the number of others."""
    first, *others = confusion.documents
    return f"{clip(first)} and {len(others):,} more" if others else clip(first)
