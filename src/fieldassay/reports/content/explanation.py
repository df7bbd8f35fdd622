"""What is judged before there are numbers: the fit of data to a spec, and the steps of a judgement."""

import json
from collections.abc import Container, Mapping, Sequence
from typing import Any

from fieldassay.errors import list_names
from fieldassay.io.text.shown import clip, format_count, format_json, visible
from fieldassay.metrics.estimate import format_number, format_rounded
from fieldassay.metrics.evidence import REPEAT
from fieldassay.metrics.result.result import worst_first
from fieldassay.paths import describe_place, join_path, split_path
from fieldassay.reports.content.run.sections import describe_violation
from fieldassay.reports.wording import (
    DIAGNOSES,
    FLAGS,
    OUTCOMES,
    REASONS,
    SAID_BY,
    describe,
    describe_source,
)
from fieldassay.reports.writers.page import PageColumn, Screen, ScreenPage
from fieldassay.scoring.explain import (
    ComparisonStep,
    DocumentExplanation,
    ExplainedSide,
    Explanation,
    Validation,
)
from fieldassay.scoring.fit import DataProfile, ExampleValue, SideContent
from fieldassay.values.diagnosis.wording import find_parts

# The output of `fieldassay score --check`.

_MOST_LISTED = 20


def render_validation(validation: Validation, screen: Screen) -> str:
    """Return the effect of a spec and the content of the data as text, without the problems."""
    page = ScreenPage(screen)
    if validation.fields:
        _plan(page, validation)
    if validation.protocol is not None:
        page.title(f"What differs from the protocol {validation.protocol}")
        for line in validation.changes or ["nothing"]:
            page.line(visible(line))
    if validation.documents is not None:
        _data(page, validation)
    elif validation.surveys:
        _predictions(page, validation)
    if validation.counts:
        _violations(page, validation)
    page.line()
    page.title(_fitness(validation))
    return page.text().lstrip("\n")


def _fitness(validation: Validation) -> str:
    if validation.problems:
        return f"{format_count(len(validation.problems), 'problem')}:"
    violations = sum(count.violations for count in validation.counts)
    if violations:
        return f"{format_count(violations, 'violation')} of checks, and no other problem."
    return (
        f"No problem found, but {format_count(len(validation.warnings), 'warning')}: see above."
        if validation.warnings
        else "No problem found."
    )


def _plan(page: ScreenPage, validation: Validation) -> None:
    page.title("How each field is judged")
    is_narrow = page.width < 90
    rows = []
    for row in validation.fields:
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
    page.line(f"metrics: {', '.join(validation.metrics)}")
    if validation.checks:
        page.line()
        page.title("What is checked in predictions")
        page.table(
            [PageColumn("path", is_name=True), PageColumn("check")],
            [[clip(row["at"], 100), clip(row["check"], 300)] for row in validation.checks],
        )


def _data(page: ScreenPage, validation: Validation) -> None:
    page.line()
    page.title(f"The data: {format_count(validation.documents or 0, 'gold document')}")
    rows = []
    for name, survey in validation.surveys.items():
        if name:
            missing, unmatched = validation.missing.get(name, 0), validation.unmatched.get(name, ())
            matched = (validation.documents or 0) - missing
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
    _surveys(page, validation)


def _predictions(page: ScreenPage, validation: Validation) -> None:
    """Add the content of predictions without gold."""
    page.line()
    page.title("The predictions, without gold")
    rows = [
        [clip(name, 30), f"{survey.records:,}", f"{survey.invalid:,}"]
        for name, survey in validation.surveys.items()
    ]
    page.table(
        [
            PageColumn("system", is_name=True),
            PageColumn("records", is_number=True),
            PageColumn("not readable", is_number=True),
        ],
        rows,
    )
    _surveys(page, validation)


def _violations(page: ScreenPage, validation: Validation) -> None:
    """Add the checks that predictions violate, the worst first, with examples."""
    worst = worst_first(validation.counts)
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


def _surveys(page: ScreenPage, validation: Validation) -> None:
    """Add the values of gold or, without gold, of each system, with examples, and all remarks."""
    for name, survey in validation.surveys.items():
        _survey(page, name, survey, validation.documents)
    for warning in validation.warnings:
        page.line(f"warning: {clip(warning, 600)}", "yellow")
    for note in validation.notes:
        page.line(f"note: {clip(note, 600)}")


def _survey(page: ScreenPage, name: str, survey: DataProfile, documents: int | None) -> None:
    findings = list(survey.findings.values())
    if not name or documents is None:
        page.line()
        page.title(f"Values of {clip(name, 30)}" if name else "Gold values")
        rows = [
            [
                clip(finding.field, 100),
                f"{finding.present:,}",
                _count(finding.unreadable),
                _count(finding.ambiguous),
            ]
            for finding in findings
        ]
        page.table(
            [
                PageColumn("field", is_name=True),
                *(PageColumn(head, is_number=True) for head in ("present", "unreadable", "ambiguous")),
            ],
            rows,
        )
        empty = [clip(finding.field) for finding in findings if not finding.present]
        if empty and documents:
            page.line(f"warning: no gold value at all in {', '.join(empty[:_MOST_LISTED])}", "yellow")
    side = clip(name, 30) if name else "gold"
    for example in survey.examples:
        page.line(f"{side}: {clip(example.document, 60)}: {clip(example.why, 200)}")
    listed = [finding for finding in findings if finding.unreadable]
    for finding in listed[:_MOST_LISTED]:
        page.line(
            f"{side}: {clip(finding.field, 50)}: {format_count(finding.unreadable, 'value')} "
            f"of {finding.present:,} {'does' if finding.unreadable == 1 else 'do'} not fit the type, such as"
        )
        _examples(page, finding.examples)
    for finding in [finding for finding in findings if finding.ambiguous][:_MOST_LISTED]:
        page.line(f"{side}: {clip(finding.field, 50)}: {_ambiguous(finding)}")
        _examples(page, finding.ambiguous_examples)
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


# The output of `fieldassay explain`.

_STRUCTURE = ("list", "object")
_PATH, _VALUE, _LONG, _QUOTE = 300, 300, 2000, 60
"""The most characters shown of a path, of a value among others, of the explained value, of a quote."""


def render_steps(steps: Sequence[Explanation], screen: Screen) -> str:
    """Return the steps of judgements, one block each."""
    page = ScreenPage(screen)
    for position, step in enumerate(steps):
        if position:
            page.line()
        _step(page, step, len(steps) > 1)
    if not steps:
        page.line("both are empty: nothing to judge")
    return page.text()


def render_document(explanation: DocumentExplanation, screen: Screen, has_all: bool = False) -> str:
    """Return the wrong rows of a document, system by system; with a field all of its, with the steps.

    With `has_all` the right rows are shown, too.
    """
    page = ScreenPage(screen)
    for system in explanation.systems:
        rows = [row for row in explanation.rows if row["system"] == system]
        steps = [
            (step, row.get("source", ()))
            for row, step in zip(_values(explanation.rows), explanation.steps, strict=False)
            if row["system"] == system
        ]
        page.line()
        page.title(
            f"{clip(explanation.document, _PATH)}, "
            f"{clip(system, 40)}{'' if explanation.field is None else f', {clip(explanation.field, _PATH)}'}"
        )
        for remark in _list_remarks(explanation, system):
            page.line(f"note: {clip(remark, 400)}", "yellow")
        if not rows:
            page.line("gold and prediction are both empty here")
            continue
        _rows(page, rows, has_all or explanation.field is not None)
        for step, source in _list_distinct(steps):
            page.line()
            _step(page, step, True, source)
    return page.text().lstrip("\n")


def _list_remarks(explanation: DocumentExplanation, system: str) -> list[str]:
    """Return the remarks on the answer of a system, or on those of its repeated runs."""
    of_runs = (
        f"{name.removeprefix(system).strip(' ()')}: {remark}"
        for name, remarks in explanation.remarks.items()
        if name.startswith(f"{system} (run ")
        for remark in remarks
    )
    return [*explanation.remarks.get(system, ()), *of_runs]


def _list_distinct(steps: Sequence[tuple[Explanation, Any]]) -> list[tuple[Explanation, Any]]:
    """Return the steps of different judgements, with their sources; repeated runs often share one."""
    distinct: list[tuple[Explanation, Any]] = []
    for step in steps:
        if step not in distinct:
            distinct.append(step)
    return distinct


def _values(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["kind"] == "value"]


def _rows(page: ScreenPage, rows: Sequence[dict[str, Any]], has_all: bool) -> None:
    """Add the rows that say something: wrong values and items, or all that a side has."""
    lost: dict[Any, list[Mapping[str, Any]]] = {_key(row): [] for row in rows if _is_lost_item(row)}
    for row in _values(rows):
        for key in _keys_around(row):
            lost.get(key, []).append(row)
    shown = [
        row
        for row in rows
        if row["outcome"] != "absent"
        and row["kind"] not in _STRUCTURE  # the values inside say it
        and (row["kind"] == "item" or _key(row) not in lost)
        and (has_all or _is_wrong(row, lost))
    ]
    right, absent = (sum(row["outcome"] == name for row in _values(rows)) for name in ("match", "absent"))
    styles = ["" if row["outcome"] == "match" else "dim" if row["kind"] == "item" else "red" for row in shown]
    columns = [PageColumn("outcome", is_name=True), PageColumn("value", is_name=True)]
    columns += [PageColumn("gold → predicted"), PageColumn("why")]
    values = _values(rows)
    cells = [
        _cells(row, lost[_key(row)] if _is_lost_item(row) else (), _describe_joined(row, values))
        for row in shown
    ]
    if shown and page.width < 90:
        columns = [*columns[:2], PageColumn("gold → predicted, and why")]
        cells = [[*head, "\n".join(filter(None, (pair, why)))] for *head, pair, why in cells]
    if shown:
        page.table(columns, cells, styles)
    else:
        page.line("nothing wrong here")
    hidden = [] if has_all or not right else [f"{format_count(right, 'right value')} (--all shows them)"]
    hidden += [f"{format_count(absent, 'value')} empty on both sides"] if absent else []
    if hidden:
        page.line(f"and {' and '.join(hidden)}", "dim")


def _is_lost_item(row: Mapping[str, Any]) -> bool:
    return row["kind"] == "item" and row["outcome"] in ("missing", "spurious")


def _key(row: Mapping[str, Any], path: str | None = None) -> tuple[Any, ...]:
    """Return the key of a row, or of a path around it, by its sides: an index alone is of two items."""
    own = path or row["gold_path"] or row["pred_path"] or row["field"]
    return row.get(REPEAT), row["gold_path"] is None, row["pred_path"] is None, own


def _keys_around(row: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return the keys of the items that a row of one side may be in; a value may stand in place of one."""
    steps = split_path(_key(row)[-1])
    most = len(steps) + (row["kind"] == "value")
    return [_key(row, join_path(steps[:length])) for length in range(1, most)]


def _is_wrong(row: Mapping[str, Any], lost: Container[tuple[Any, ...]]) -> bool:
    """Return whether a row is wrong and news: no pair of items, and not inside a lost one."""
    if row["outcome"] == "match" or (row["kind"] == "item" and not _is_lost_item(row)):
        return False
    return not any(key in lost for key in _keys_around(row))


_MARKS = {"match": "✓ match", "partial": "~ partial"}


def _describe_joined(row: Mapping[str, Any], values: Sequence[Mapping[str, Any]]) -> str:
    """Return which items of gold are one in the prediction, or the reverse; empty for none."""
    if "list_split_or_joined" not in (row["diagnoses"] or ()):
        return ""
    gold, pred = (
        [
            value[f"{side}_value"]
            for value in values
            if value["field"] == row["field"] and value[f"{side}_value"]
        ]
        for side in ("gold", "pred")
    )
    if parts := find_parts(row["pred_value"], gold):
        return f"{len(parts)} gold items in one: {clip(', '.join(parts), _VALUE)}"
    wholes = (parts for whole in gold if row["pred_value"] in (parts := find_parts(whole, pred)))
    return next((f"one gold item in {len(parts)}: {clip(', '.join(parts), _VALUE)}" for parts in wholes), "")


def _cells(row: Mapping[str, Any], values: Sequence[Mapping[str, Any]], joined: str) -> list[str]:
    """Return the outcome of a row, with the score of a part, its path, both sides, and the reason.

    A whole item that is missing or spurious is shown by its values.
    """
    outcome, path = _MARKS.get(row["outcome"], f"✗ {row['outcome']}"), _path(row)
    if row["outcome"] == "partial" and row["score"] is not None:
        outcome += f" {format_number(row['score'])}"
    source = describe_source(row.get("source", ()), _QUOTE)
    gold, pred = _value(row, "gold"), f"{_value(row, 'pred')}\n{source}" if source else _value(row, "pred")
    if values:
        side = "gold" if row["outcome"] == "missing" else "pred"
        text = clip(", ".join(_value(value, side) for value in values if value[side] is not None), _VALUE)
        gold, pred = (text or gold, pred) if side == "gold" else (gold, text or pred)
    return [outcome, path, f"{gold} → {pred}", joined or _why(row)]


def _path(row: Mapping[str, Any]) -> str:
    run = f"run {row[REPEAT]}: " if row.get(REPEAT) else ""
    return run + clip(describe_place(row["gold_path"], row["pred_path"]) or row["field"], 2 * _PATH)


def _value(row: Mapping[str, Any], side: str) -> str:
    """Return a value as given, and as read where that adds information."""
    raw, read = row[side], row[f"{side}_value"]
    if row["kind"] != "value":
        return "(item)" if row["kind"] == "item" and row[f"{side}_path"] else format_json(raw, _VALUE)
    if (
        raw is None
        or read is None
        or row["outcome"] not in ("mismatch", "partial")
        or read == raw
        or json.dumps(read, ensure_ascii=False) == raw
    ):
        return format_json(raw, _VALUE)
    return f"{format_json(raw, _VALUE)} (read: {clip(read, _VALUE)})"


def _why(row: Mapping[str, Any]) -> str:
    """Return reason and main diagnoses in words; nothing where the outcome says it."""
    if row["kind"] == "item" and row["outcome"] not in ("missing", "spurious"):
        return f"{format_rounded(100 * (row['score'] or 0), 0, 100.0)}% alike"
    names = [name for name in row["diagnoses"] or () if name not in ("different", row["outcome"])]
    is_plain = row["reason"] in ("equal", "missing", "spurious", "present") or (
        (row["reason"] == "different" and names) or SAID_BY.get(row["reason"]) in names
    )
    said = [] if is_plain else [describe(REASONS, row["reason"])]
    said += [describe(DIAGNOSES, name) for name in names]
    return visible("; ".join(list(dict.fromkeys(said))[:3]))


def _step(
    page: ScreenPage, step: Explanation, has_path: bool, source: Sequence[Mapping[str, Any]] = ()
) -> None:
    if has_path:
        page.title(clip(describe_place(step.gold_path, step.pred_path) or step.field, 2 * _PATH))
    rows = [
        ["as given", clip(step.gold.raw, _LONG), clip(step.pred.raw, _LONG)],
        [
            f"read as {step.type}{f' ({step.read})' if step.read else ''}",
            _reading(step.gold),
            _reading(step.pred),
        ],
    ]
    if any(_remark(side) for side in (step.gold, step.pred)):
        rows.append(["remarks", _remark(step.gold), _remark(step.pred)])
    if source:
        rows.append(["source", "", describe_source(source, _LONG, has_place=True)])
    page.table([PageColumn("step"), PageColumn("gold"), PageColumn("predicted")], rows)
    page.pairs(_verdict(step))


def _reading(side: ExplainedSide) -> str:
    if side.raw is None:
        return "no value"
    if side.problem is not None:
        return f"unreadable: {clip(side.problem, _LONG)}"
    return clip(side.value, _LONG)


def _remark(side: ExplainedSide) -> str:
    return "; ".join(describe(FLAGS, flag) for flag in side.flags)


def _tried(trials: Sequence[ComparisonStep]) -> list[tuple[str, str]]:
    """Return the steps of a cascade and the items of lists, each with its result."""
    lines, number = [], 0
    for trial in trials:
        said = f"{json.dumps(round(trial.score, 6))}, {describe(REASONS, trial.reason)}"
        if trial.is_item:
            lines.append(
                (
                    f"  {trial.what}",
                    f"{clip(trial.gold, 60) or '—'} ↔ {clip(trial.pred, 60) or '—'}: {said}",
                )
            )
            continue
        number += 1
        lines.append((f"step {number}", f"{trial.what}: {said}"))
    return lines


def _verdict(step: Explanation) -> list[tuple[str, str]]:
    """Return the steps from the comparison on, each with its name."""
    lines = []
    if step.gold.raw is not None and step.pred.raw is not None:
        score = "no score" if step.score is None else f"score {json.dumps(round(step.score, 6))}"
        is_text = step.gold.problem is not None or step.pred.problem is not None
        how = "as text" if is_text else f"by {step.compared or 'its kind'}"
        if not all(trial.is_item for trial in step.trials):
            how = "decided by the last step"
        lines += _tried(step.trials)
        lines.append(
            (
                "compared",
                f"{how}: {score}, {describe(REASONS, step.reason)}",
            )
        )
        lines.append(
            ("accepted", f"a match needs {step.accept}") if step.accept else ("accepted", "not asked")
        )
    lines.append(("outcome", f"{step.outcome}: {describe(OUTCOMES, step.outcome)}"))
    lines += [("flag", describe(FLAGS, flag)) for flag in step.flags if flag not in ("ambiguous",)]
    lines += [("diagnosis", f"{name}: {describe(DIAGNOSES, name)}") for name in step.diagnoses]
    return lines
