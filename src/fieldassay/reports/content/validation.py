"""The output of `fieldassay score --check`."""

from fieldassay.errors import list_names
from fieldassay.io.text.shown import clip, format_count, format_json, visible
from fieldassay.metrics.result.result import worst_first
from fieldassay.reports.content.run.sections import describe_violation
from fieldassay.reports.writers.page import PageColumn, Screen, ScreenPage
from fieldassay.scoring.fit import DataProfile, ExampleValue, SideContent
from fieldassay.scoring.validate import Validation

_MOST_LISTED = 20


def render_validation(found: Validation, screen: Screen) -> str:
    """Return the effect of a spec and the content of the data as text, without the problems."""
    page = ScreenPage(screen)
    if found.fields:
        _plan(page, found)
    if found.documents is not None:
        _data(page, found)
    elif found.surveys:
        _predictions(page, found)
    if found.counts:
        _violations(page, found)
    page.line()
    page.title(_verdict(found))
    return page.text().lstrip("\n")


def _verdict(found: Validation) -> str:
    if found.problems:
        return f"{format_count(len(found.problems), 'problem')}:"
    violations = sum(count.violations for count in found.counts)
    if violations:
        return f"{format_count(violations, 'violation')} of checks, and no other problem."
    return (
        f"No problem found, but {format_count(len(found.warnings), 'warning')}: see above."
        if found.warnings
        else "No problem found."
    )


def _plan(page: ScreenPage, found: Validation) -> None:
    page.title("How each field is judged")
    is_narrow = page.width < 90
    rows = []
    for row in found.fields:
        judged = ", ".join(
            part
            for part in (row["compared"], row["aligned"] and f"items aligned by {row['aligned']}")
            if part
        )
        reading = f"{row['type']}({row['read']})" if row["read"] else row["type"]
        marks = [row["critical"] and "critical", row["weight"] not in ("1", "") and f"weight {row['weight']}"]
        marks.append(row["applies_to"] and f"only in {row['applies_to']}")
        cells = [
            clip(row["field"], 100),
            visible(reading),
            visible(judged),
            row["accept"],
            ", ".join(mark for mark in marks if mark),
        ]
        rows.append([*cells[:2], " ".join(cells[2:]).strip()] if is_narrow else cells)
    columns = [PageColumn("field", is_name=True), PageColumn("type, as read")]
    columns += (
        [PageColumn("compared, match if")]
        if is_narrow
        else [PageColumn("compared"), PageColumn("match if"), PageColumn("")]
    )
    page.table(columns, rows)
    page.line(f"metrics: {', '.join(found.metrics)}")
    if found.checks:
        page.line()
        page.title("What is checked in predictions")
        page.table(
            [PageColumn("path", is_name=True), PageColumn("check")],
            [[clip(row["at"], 100), clip(row["check"], 300)] for row in found.checks],
        )


def _data(page: ScreenPage, found: Validation) -> None:
    page.line()
    page.title(f"The data: {format_count(found.documents or 0, 'gold document')}")
    rows = []
    for name, survey in found.surveys.items():
        if name:
            missing, unmatched = found.missing.get(name, 0), found.unmatched.get(name, ())
            matched = (found.documents or 0) - missing
            rows.append(
                [
                    clip(name, 30),
                    f"{matched:,}",
                    f"{missing:,}",
                    f"{len(unmatched):,}",
                    f"{survey.invalid:,}",
                ]
            )
    if rows:
        heads = ("matched", "missing", "without gold", "not readable")
        page.table(
            [PageColumn("system", is_name=True), *(PageColumn(head, is_number=True) for head in heads)], rows
        )
    _surveys(page, found)


def _predictions(page: ScreenPage, found: Validation) -> None:
    """Add the content of predictions without gold."""
    page.line()
    page.title("The predictions, without gold")
    rows = [
        [clip(name, 30), f"{survey.records:,}", f"{survey.invalid:,}"]
        for name, survey in found.surveys.items()
    ]
    page.table(
        [
            PageColumn("system", is_name=True),
            PageColumn("records", is_number=True),
            PageColumn("not readable", is_number=True),
        ],
        rows,
    )
    _surveys(page, found)


def _violations(page: ScreenPage, found: Validation) -> None:
    """Add the checks that predictions violate, the worst first, with examples."""
    worst = worst_first(found.counts)
    page.line()
    page.title("Checks that predictions violate" if worst else "No prediction violates a check.")
    for count in worst[:_MOST_LISTED]:
        number, where = format_count(count.violations, "violation"), format_count(count.documents, "document")
        values = format_count(count.values, "value")
        page.line(
            f"{clip(count.system, 30)}: {clip(count.at, 50)}: {count.check}: {number} in {where} ({values} "
            "looked at), such as"
        )
        for example in count.examples:
            page.line(f"    {describe_violation(example, 160)}")
    if len(worst) > _MOST_LISTED:
        page.line(f"and {len(worst) - _MOST_LISTED:,} more; --json lists every violation")


def _surveys(page: ScreenPage, found: Validation) -> None:
    """Add the values of gold or, without gold, of each system, with examples, and all remarks."""
    for name, survey in found.surveys.items():
        _survey(page, name, survey, found.documents)
    for warning in found.warnings:
        page.line(f"warning: {clip(warning, 600)}", "yellow")
    for note in found.notes:
        page.line(f"note: {clip(note, 600)}")


def _survey(page: ScreenPage, name: str, survey: DataProfile, documents: int | None) -> None:
    findings = list(survey.findings.values())
    if not name or documents is None:
        page.line()
        page.title(f"Values of {clip(name, 30)}" if name else "Gold values")
        rows = [
            [clip(one.field, 100), f"{one.present:,}", _count(one.unreadable), _count(one.ambiguous)]
            for one in findings
        ]
        page.table(
            [
                PageColumn("field", is_name=True),
                *(PageColumn(head, is_number=True) for head in ("present", "unreadable", "ambiguous")),
            ],
            rows,
        )
        empty = [clip(one.field) for one in findings if not one.present]
        if empty and documents:
            page.line(f"warning: no gold value at all in {', '.join(empty[:_MOST_LISTED])}", "yellow")
    side = clip(name, 30) if name else "gold"
    for example in survey.examples:
        page.line(f"{side}: {clip(example.document, 60)}: {clip(example.why, 200)}")
    listed = [one for one in findings if one.unreadable]
    for one in listed[:_MOST_LISTED]:
        page.line(
            f"{side}: {clip(one.field, 50)}: {format_count(one.unreadable, 'value')} of {one.present:,} "
            "do not fit the type, such as"
        )
        _examples(page, one.examples)
    for one in [one for one in findings if one.ambiguous][:_MOST_LISTED]:
        page.line(f"{side}: {clip(one.field, 50)}: {_ambiguous(one)}")
        _examples(page, one.unclear)
    if survey.undeclared:
        keys = [f"{clip(path)} ({count:,})" for path, count in survey.undeclared.most_common()]
        page.line(f"{side}: keys that the spec lacks: {list_names(keys, _MOST_LISTED)}")


def _ambiguous(finding: SideContent) -> str:
    return (
        f"{format_count(finding.ambiguous, 'value')} of {finding.present:,} could be read in two ways, "
        "and the settings decided, such as"
    )


def _examples(page: ScreenPage, examples: list[ExampleValue]) -> None:
    for example in examples:
        page.line(
            f"    {format_json(example.value, 60)} in {clip(example.document, 40)}: {clip(example.why, 160)}"
        )


def _count(number: int) -> str:
    return f"{number:,}" if number else "·"
