"""Every error of every document, with the totals, as Markdown: for improving an extractor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from fieldassay.io.text.shown import format_count, format_json, format_markdown, format_pair
from fieldassay.metrics.estimate import NOTHING, format_both, format_number
from fieldassay.metrics.result.decision import UNGATED, Decision, GateOutcome, Verdict
from fieldassay.metrics.result.result import Result
from fieldassay.reports.export.error_lines import KINDS, ErrorLine
from fieldassay.scoring.provenance import recorded_spec

if TYPE_CHECKING:
    import polars as pl

MOST_CASES = 200
"""The most documents with listed errors."""

MOST_ERRORS = 100
"""Errors that are listed of one document."""

_WIDTH = 60
_NOTED = ("difficulty", "type", "variant")
_OF_CASES = (
    *("score", "critical_field_accuracy", "unit_parsing_accuracy", "value_parsing_accuracy"),
    *("structure_accuracy", "critical_complete_accuracy"),
)


def render_error_report(
    result: Result, errors: Sequence[ErrorLine], decisions: Sequence[Decision] = ()
) -> str:
    """Return the error report of a result as GitHub-flavored Markdown.

    It has, per system, the figures, the errors by kind, gates, and each document. `errors` are those of the
    result's evidence; gates on slices are side by side by the slice's values.
    """
    spec = result.run.get("spec")
    name = str(spec.get("name") or "") if isinstance(spec, Mapping) else ""
    documents = result.counts.get("documents")
    parts = [f"# {format_markdown(name or 'Extraction')}: error report"]
    if isinstance(documents, int):
        parts.append(f"**Cases**: {documents:,}")
    found = {decision.system: decision for decision in decisions}
    for system in result.systems:
        own = [error for error in errors if error.system == system]
        parts += [f"## {format_markdown(system)}", *_statistics(result, system), *_breakdown(own)]
        parts += _thresholds(found[system]) if system in found else []
        parts += _cases(result.documents, system, own)
    parts += _remarks(result)
    return "\n\n".join(parts) + "\n"


def _statistics(result: Result, system: str) -> list[str]:
    """Return the figures over all documents; a pooled one follows the mean of its name.

    What the spec says of its own metrics stands beside them, and so do its own counts.
    """
    every = {
        estimate.metric: estimate
        for estimate in result.estimates
        if estimate.system == system and estimate.field is None and not estimate.slice
    }
    whole = {name: one for name, one in every.items() if one.unit in ("ratio", "percent")}
    named = [metric for metric in whole if not metric.startswith("pooled_")]
    has_pooled = any(f"pooled_{metric}" in whole for metric in named)
    meanings = _meanings(result)
    rows = []
    for metric in named:
        pooled = [format_both(whole.get(f"pooled_{metric}"))] if has_pooled else []
        meaning = [format_markdown(meanings.get(metric, ""), 200)] if meanings else []
        rows.append(
            [metric.replace("_", " "), *meaning, format_both(whole[metric]), *pooled, f"{whole[metric].n:,}"]
        )
    if not rows:
        return []
    heads = [
        "",
        *(["meaning"] if meanings else []),
        "value",
        *(["over all leaves"] if has_pooled else []),
        "n",
    ]
    counts = [
        [name.replace("_", " "), format_markdown(meanings[name], 200), format_both(one)]
        for name, one in every.items()
        if one.unit == "count" and name in meanings
    ]
    return [
        "### Summary statistics",
        _table(heads, rows),
        *([_table(["count", "meaning", ""], counts)] if counts else []),
    ]


def _meanings(result: Result) -> dict[str, str]:
    """Return what the spec says of each metric that it defines."""
    spec = recorded_spec(result.run)
    return {} if spec is None else {one.name: one.description for one in spec.definitions if one.description}


def _breakdown(errors: Sequence[ErrorLine]) -> list[str]:
    places = _marked(errors)
    rows = []
    for kind in KINDS:
        of_kind = [error for error in places if error.kind == kind]
        critical = sum(error.is_critical for error in of_kind)
        rows.append(
            [kind, f"{len(of_kind):,}", f"{len({error.document for error in of_kind}):,}", f"{critical:,}"]
        )
    return ["### Error breakdown", _table(["", "errors", "cases", "of them critical"], rows)]


def _is_below(error: ErrorLine) -> bool:
    """Return whether a line is about a critical value below a structure error, which is counted there."""
    return error.kind == "structure" and error.actual is None


def _marked(errors: Sequence[ErrorLine]) -> list[ErrorLine]:
    """Return one line for each error; a place of another kind with critical values is critical for them."""
    below: dict[str, list[str]] = {}
    for error in errors:
        if _is_below(error):
            below.setdefault(error.document, []).append(error.path)
    return [
        replace(
            error,
            is_critical=error.is_critical
            or any(_holds(error, path) for path in below.get(error.document, ())),
        )
        for error in errors
        if not _is_below(error)
    ]


def _holds(error: ErrorLine, path: str) -> bool:
    return error.kind == "structure" and path.startswith((f"{error.path}.", f"{error.path}["))


def _thresholds(decision: Decision) -> list[str]:
    """Return the gates: those on slices in a table per slice key with a column per value, else in a list."""
    keys = dict.fromkeys(
        outcome.gate.metric.slice[0] for outcome in decision.outcomes if outcome.gate.metric.slice is not None
    )
    parts = []
    for key in keys:
        cells: dict[str, dict[str, list[str]]] = {}
        for outcome in decision.outcomes:
            chosen = outcome.gate.metric.slice
            if chosen is not None and chosen[0] == key:
                name = "cases" if outcome.title == UNGATED else outcome.gate.metric.name
                cells.setdefault(name, {}).setdefault(chosen[1] or "none", []).append(_cell(outcome))
        values = list(dict.fromkeys(value for row in cells.values() for value in row))
        rows = [
            [name.replace("_", " "), *("; ".join(row.get(value, [NOTHING])) for value in values)]
            for name, row in cells.items()
        ]
        parts += [f"### Thresholds by {format_markdown(key)}", _table(["", *values], rows)]
    others = [outcome for outcome in decision.outcomes if outcome.gate.metric.slice is None]
    if others:
        rows = [[str(outcome.gate), outcome.value_text, str(outcome.verdict)] for outcome in others]
        parts += ["### Thresholds", _table(["", "value", ""], rows)]
    return [*parts, f"**{decision.answer}**: {format_markdown('; '.join(decision.reasons), 600)}"]


def _cell(outcome: GateOutcome) -> str:
    if outcome.verdict is Verdict.SKIPPED:
        return "no case"
    if outcome.title == UNGATED:
        return f"{outcome.value_text} without a threshold"
    return f"{outcome.value_text} {outcome.threshold_text} {outcome.verdict}"


def _cases(documents: pl.DataFrame | None, system: str, errors: Sequence[ErrorLine]) -> list[str]:
    if documents is None:
        return []
    rows = [row for row in documents.iter_rows(named=True) if row["system"] == system]
    by_document: dict[str, list[ErrorLine]] = {}
    for error in errors:
        by_document.setdefault(error.document, []).append(error)
    rows.sort(key=lambda row: (row["score"] is not None, row["score"], row["doc"]))
    columns = [name for name in _OF_CASES if any(row.get(name) is not None for row in rows)]
    noted = next((name for name in _NOTED if any(row.get(name) for row in rows)), None)
    lines = [_case_row(row, columns, noted, by_document.get(row["doc"], ())) for row in rows[:MOST_CASES]]
    head = ["case", *([noted] if noted else []), *(name.replace("_", " ") for name in columns), *KINDS]
    more = [f"And {len(rows) - MOST_CASES:,} more."] if len(rows) > MOST_CASES else []
    parts = ["### Cases", "The worst come first.", _table(head, lines), *more]
    for row in rows[:MOST_CASES]:
        parts += _case(row["doc"], by_document.get(row["doc"], ()))
    return parts


def _case_row(
    row: Mapping[str, Any], columns: Sequence[str], noted: str | None, errors: Sequence[ErrorLine]
) -> list[str]:
    counts = Counter(error.kind for error in _marked(errors))
    numbers = [NOTHING if row[name] is None else format_number(row[name]) for name in columns]
    return [
        row["doc"],
        *([row[noted] or ""] if noted else []),
        *numbers,
        *(str(counts[kind]) for kind in KINDS),
    ]


def _case(document: str, errors: Sequence[ErrorLine]) -> list[str]:
    if not errors:
        return []
    ordered = sorted(_marked(errors), key=lambda error: (KINDS.index(error.kind), not error.is_critical))
    rows = []
    for error in ordered[:MOST_ERRORS]:
        expected, actual = _values(error)
        rows.append(
            [
                error.kind,
                error.path,
                expected,
                actual,
                error.diagnosis.replace("_", " "),
                "critical" if error.is_critical else "",
            ]
        )
    parts = [
        f"#### {format_markdown(document)}",
        _table(["error", "path", "expected", "actual", "most likely", ""], rows),
    ]
    if len(ordered) > MOST_ERRORS:
        parts.append(f"And {format_count(len(ordered) - MOST_ERRORS, 'more error')}.")
    lacking = [
        error.path for error in errors if error.is_critical and (error.kind == "missing" or _is_below(error))
    ]
    if lacking:
        parts.append(
            "Critical values that are not there: "
            + ", ".join(format_markdown(path, 120) for path in lacking[:MOST_ERRORS])
            + "."
        )
    return parts


def _values(error: ErrorLine) -> tuple[str, str]:
    if error.kind == "structure":
        return error.expected or NOTHING, format_json(error.actual, _WIDTH)
    return format_pair(error.expected, error.actual, _WIDTH)


def _remarks(result: Result) -> list[str]:
    lines = [f"- **warning:** {format_markdown(text, 600)}" for text in result.warnings] + [
        f"- {format_markdown(text, 600)}" for text in result.notes
    ]
    return ["## Remarks", "\n".join(lines)] if lines else []


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [
        [format_markdown(cell) for cell in head],
        ["---"] * len(head),
        *([format_markdown(cell, 200) for cell in row] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
