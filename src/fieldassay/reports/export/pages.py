"""The executive page and the report of errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.decisions.gate import decide_result
from fieldassay.decisions.losses import Loss
from fieldassay.errors import problem
from fieldassay.io.text.shown import clip, format_count, format_json, format_markdown, format_pair
from fieldassay.metrics.catalogue.grammar import parse_metric
from fieldassay.metrics.estimate import (
    NOTHING,
    Estimate,
    format_both,
    format_cost,
    format_in_unit,
    format_number,
    format_value,
)
from fieldassay.metrics.result.result import TIMES, Result, by_system, find_main, find_named
from fieldassay.metrics.result.verdicts import UNGATED, Decision, GateOutcome, Verdict
from fieldassay.paths import describe_place, is_unit_key
from fieldassay.reports.content.run.parts import remarks_part
from fieldassay.reports.content.run.sections import describe_rest, fields_table, tabulate_by_system
from fieldassay.reports.content.run.summary import is_whole
from fieldassay.reports.findings.recommendation import (
    Recommendation,
    Standing,
    describe_loss,
    describe_order,
    list_standings,
    name_lost,
    order_systems,
    recommend,
)
from fieldassay.reports.wording import describe_estimate, name_call
from fieldassay.reports.writers.tables import Marked, Part, ReportTable, render_markdown
from fieldassay.runs.run import Run
from fieldassay.scoring.provenance import recorded_spec

if TYPE_CHECKING:
    import polars as pl


# Every error of every document, with the totals, as Markdown: for improving an extractor.

KINDS = ("unit", "value", "structure", "missing", "extra")
"""The kinds of an error: wrong unit, other wrong value, other kind of JSON, missing, unexpected."""

_COLUMNS = (
    "system",
    "doc",
    "gold_path",
    "pred_path",
    "kind",
    "type",
    "gold",
    "pred",
    "outcome",
    "diagnoses",
    "flags",
    "critical",
)
_CONTAINERS = {"list": "a list", "object": "an object", "item": "an object"}


class ErrorLine(Struct, frozen=True):
    """One error. `expected` and `actual` are JSON texts (None: nothing).

    For a container in gold, `expected` is its description in words.
    """

    system: str
    document: str
    kind: str
    path: str
    expected: str | None
    actual: str | None
    diagnosis: str = ""
    is_critical: bool = False


def list_errors(evidence: pl.LazyFrame) -> tuple[ErrorLine, ...]:
    """Return the errors of an evidence table in its order.

    A place of another kind of JSON is one error; gold values below it are none, but for critical values:
    those are lines of the kind `structure` too, with their paths, and without an actual value.
    """
    import polars as pl

    is_wrong = pl.col("outcome").is_in(["partial", "mismatch", "missing", "spurious"])
    is_leaf, is_structure = pl.col("kind") == "value", pl.col("flags").list.contains("wrong_kind")
    table = evidence.filter(is_wrong & (is_leaf | is_structure)).select(_COLUMNS).collect()
    beside = {
        (row["system"], row["doc"], row["pred_path"]): row["pred"]
        for row in table.filter(
            (table["outcome"] == "spurious") & table["flags"].list.contains("wrong_kind")
        ).iter_rows(named=True)
    }
    return tuple(_lines(table, beside))


def _lines(table: pl.DataFrame, beside: Mapping[tuple[str, str, str], str | None]) -> Iterator[ErrorLine]:
    for row in table.iter_rows(named=True):
        kind = error_kind(row)
        if kind is None:
            continue
        expected, actual = row["gold"], row["pred"]
        if row["kind"] != "value":
            expected, actual = (
                _CONTAINERS[row["kind"]],
                beside.get((row["system"], row["doc"], row["pred_path"])),
            )
        path = describe_place(row["gold_path"], None if row["gold_path"] else row["pred_path"])
        main = row["diagnoses"][0] if row["diagnoses"] and kind in KINDS[:2] else ""
        yield ErrorLine(row["system"], row["doc"], kind, path, expected, actual, main, row["critical"])


def error_kind(row: Mapping[str, Any]) -> str | None:
    """Return the kind of error of a wrong row of evidence; None for rows counted with another row.

    >>> row = {"kind": "value", "type": "text", "outcome": "mismatch", "flags": [],
    ...     "gold_path": "flow.unit", "critical": False}
    >>> error_kind(row), error_kind({**row, "gold_path": "flow.name"})
    ('unit', 'value')
    """
    flags, outcome = row["flags"], row["outcome"]
    if outcome == "spurious":
        return None if "wrong_kind" in flags else "extra"
    if "wrong_kind" in flags:
        return "structure"
    if outcome == "missing":
        is_counted_above = "under_wrong_kind" in flags
        return "missing" if not is_counted_above else "structure" if row["critical"] else None
    if row["kind"] != "value":
        return None
    return (
        "unit"
        if row["type"] == "unit" or (row["type"] == "text" and is_unit_key(row["gold_path"] or ""))
        else "value"
    )


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


def find_kept(run: Run) -> pl.LazyFrame:
    """Return the judged values that a run kept; raise `ProblemsError` if it kept none."""
    if run.evidence is None:
        again = "score again with --evidence all, or errors"
        raise problem(run.folder, "kept no judged values", again, "missing_part")
    return run.evidence


def render_error_report(run: Run, system: str | None = None) -> str:
    """Return the error report of a run, of all its systems or of one, as GitHub-flavored Markdown.

    It has, per system, the figures, the errors by kind, gates, and each document; gates on slices are side
    by side by the slice's values. Raises `ProblemsError` if the run kept no evidence.
    """
    result = run.result
    errors = list_errors(find_kept(run))
    decisions = {decision.system: decision for decision in decide_result(result)}
    spec, documents = result.run.get("spec"), result.counts.get("documents")
    name = str(spec.get("name") or "") if isinstance(spec, Mapping) else ""
    counted = [Marked(f"**Cases**: {documents:,}")] if isinstance(documents, int) else []
    has_units = any(map(is_unit_key, result.fields)) or any(error.kind == "unit" for error in errors)
    kinds = KINDS if has_units else KINDS[1:]
    parts = [Part(f"{clip(name or 'Extraction', 100)}: error report", lead=counted, level=1)]
    for each in result.systems if system is None else (system,):
        own = [error for error in errors if error.system == each]
        parts += [Part(clip(each, 100)), *_statistics(result, each), _breakdown(own, kinds)]
        parts += _thresholds(decisions[each]) if each in decisions else []
        parts += _cases(result.documents, each, own, kinds)
    return render_markdown([*parts, *remarks_part(result.warnings, result.notes)])


def _statistics(result: Result, system: str) -> list[Part]:
    """Return the figures over all documents; a pooled one follows the mean of its name.

    What the spec says of its own metrics stands beside them, and so do its own counts.
    """
    calls = [call for call in map(parse_metric, result.run.get("metrics", ())) if is_whole(call)]
    every = {
        call: estimate for call in calls for estimate in result.select(call) if estimate.system == system
    }
    whole = {call: estimate for call, estimate in every.items() if estimate.unit in ("ratio", "percent")}
    named = [call for call in whole if not call.name.startswith("pooled_")]
    pooled = {call: whole.get(replace(call, name=f"pooled_{call.name}")) for call in named}
    has_pooled = any(pooled.values())
    meanings = _meanings(result)
    rows = [
        [
            name_call(call, result.run).replace("_", " "),
            *([meanings.get(call.name, "")] if meanings else []),
            format_both(whole[call]),
            *([format_both(over_all)] if has_pooled else []),
            f"{whole[call].n:,}",
        ]
        for call, over_all in pooled.items()
    ]
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
        [name_call(call, result.run).replace("_", " "), meanings[call.name], format_both(estimate)]
        for call, estimate in every.items()
        if estimate.unit == "count" and call.name in meanings
    ]
    tables = [_table(heads, rows), *([_table(["count", "meaning", ""], counts)] if counts else [])]
    return [Part("Summary statistics", tables=tables, level=3)]


def _meanings(result: Result) -> dict[str, str]:
    """Return what the spec says of each metric that it defines."""
    spec = recorded_spec(result.run)
    return (
        {}
        if spec is None
        else {
            definition.name: definition.description
            for definition in spec.definitions
            if definition.description
        }
    )


def _breakdown(errors: Sequence[ErrorLine], kinds: Sequence[str]) -> Part:
    places = _marked(errors)
    rows = []
    for kind in kinds:
        of_kind = [error for error in places if error.kind == kind]
        critical = sum(error.is_critical for error in of_kind)
        rows.append(
            [kind, f"{len(of_kind):,}", f"{len({error.document for error in of_kind}):,}", f"{critical:,}"]
        )
    table = _table(["", "errors", "cases", "of them critical"], rows)
    return Part("Error breakdown", tables=[table], level=3)


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
            or (
                error.kind == "structure"
                and any(
                    path.startswith((f"{error.path}.", f"{error.path}["))
                    for path in below.get(error.document, ())
                )
            ),
        )
        for error in errors
        if not _is_below(error)
    ]


def _thresholds(decision: Decision) -> list[Part]:
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
        parts.append(Part(f"Thresholds by {clip(key, 100)}", tables=[_table(["", *values], rows)], level=3))
    others = [outcome for outcome in decision.outcomes if outcome.gate.metric.slice is None]
    if others:
        rows = [[str(outcome.gate), outcome.value_text, str(outcome.verdict)] for outcome in others]
        parts.append(Part("Thresholds", tables=[_table(["", "value", ""], rows)], level=3))
    reasons = format_markdown("; ".join(decision.reasons), 600)
    return [*parts, Part("", lead=[Marked(f"**{decision.answer}**: {reasons}")])]


def _cell(outcome: GateOutcome) -> str:
    if outcome.verdict is Verdict.SKIPPED:
        return "no case"
    if outcome.title == UNGATED:
        return f"{outcome.value_text} without a threshold"
    return f"{outcome.value_text} {outcome.threshold_text} {outcome.verdict}"


def _cases(
    documents: pl.DataFrame | None, system: str, errors: Sequence[ErrorLine], kinds: Sequence[str]
) -> list[Part]:
    if documents is None:
        return []
    rows = [row for row in documents.iter_rows(named=True) if row["system"] == system]
    by_document: dict[str, list[ErrorLine]] = {}
    for error in errors:
        by_document.setdefault(error.document, []).append(error)
    rows.sort(key=lambda row: (row["score"] is not None, row["score"], row["doc"]))
    columns = [name for name in _OF_CASES if any(row.get(name) is not None for row in rows)]
    noted = next((name for name in _NOTED if any(row.get(name) for row in rows)), None)
    lines = [
        [*_case_row(row, columns, noted), *(f"{counts[kind]:,}" for kind in kinds)]
        for row in rows[:MOST_CASES]
        for counts in [Counter(error.kind for error in _marked(by_document.get(row["doc"], ())))]
    ]
    head = ["case", *([noted] if noted else []), *(name.replace("_", " ") for name in columns), *kinds]
    more = [f"and {len(rows) - MOST_CASES:,} more"] if len(rows) > MOST_CASES else []
    parts = [Part("Cases", lead=["The worst come first."], tables=[_table(head, lines)], end=more, level=3)]
    for row in rows[:MOST_CASES]:
        parts += _case(row["doc"], by_document.get(row["doc"], ()))
    return parts


def _case_row(row: Mapping[str, Any], columns: Sequence[str], noted: str | None) -> list[str]:
    numbers = [NOTHING if row[name] is None else format_number(row[name]) for name in columns]
    return [row["doc"], *([row[noted] or ""] if noted else []), *numbers]


def _case(document: str, errors: Sequence[ErrorLine]) -> list[Part]:
    if not errors:
        return []
    ordered = sorted(_marked(errors), key=lambda error: (KINDS.index(error.kind), not error.is_critical))
    rows = []
    for error in ordered[:MOST_ERRORS]:
        expected, actual = _both_values(error)
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
    end = (
        [f"and {format_count(len(ordered) - MOST_ERRORS, 'more error')}"]
        if len(ordered) > MOST_ERRORS
        else []
    )
    lacking = [
        error.path for error in errors if error.is_critical and (error.kind == "missing" or _is_below(error))
    ]
    if lacking:
        paths = ", ".join(format_markdown(path, 120) for path in lacking[:MOST_ERRORS])
        end.append(Marked(f"Critical values that are not there: {paths}."))
    table = _table(["error", "path", "expected", "actual", "most likely", ""], rows)
    return [Part(clip(document, 100), tables=[table], end=end, level=4)]


def _both_values(error: ErrorLine) -> tuple[str, str]:
    if error.kind == "structure":
        return error.expected or NOTHING, format_json(error.actual, _WIDTH)
    return format_pair(error.expected, error.actual, _WIDTH)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> ReportTable:
    return ReportTable("", head, rows, ())


# The comparison of several systems for decisions: accuracy, speed, slices and advice, as Markdown.

_FAILURES = {
    "missing": "no prediction for {}",
    "invalid": "an unreadable answer for {}",
    "error": "an error instead of an answer for {}",
    "timeout": "a timeout for {}",
}

MOST_REPAIRS = 3
"""How many of the costliest kinds of error are recommended for repair."""


def render_executive(
    result: Result,
    generated: str = "",
    losses: Mapping[str, Sequence[Loss]] | None = None,
    decisions: Sequence[Decision] = (),
) -> str:
    """Return the comparison as GitHub-flavored Markdown. `generated` is the time of the run.

    `losses` are the costliest of each system, the costliest first. A system leads only if the difference to
    every other one is beyond chance; otherwise it is `highest`. The recommendation is that of all reports, by
    the gates' `decisions`.
    """
    spec, documents = result.run.get("spec"), result.counts.get("documents")
    name = str(spec.get("name") or "") if isinstance(spec, Mapping) else ""
    counted = format_count(documents if isinstance(documents, int) else 0, "document")
    head = [f"**Run**: {generated}"] if generated else []
    head.append(f"**Spec**: {format_markdown(name or 'unnamed')}, {counted}")
    standings = list_standings(result, decisions)
    advice = recommend(result, decisions, standings)
    fields = tabulate_by_system(result, [standing.system for standing in standings], ())
    main = find_main(result)
    keys = [] if main is None else list(map(str, result.run.get("slices", ())))
    return render_markdown(
        [
            Part("Executive comparison", lead=[Marked("  \n".join(head))], level=1),
            Part("Summary"),
            *(Part(clip(system, 100), _facts(result, main, system), level=3) for system in result.systems),
            *(part for key in keys if main is not None for part in _slice_parts(result, main, key)),
            *(
                [Part("Accuracy by field", tables=[fields_table(fields)], end=describe_rest(fields))]
                if fields.rows
                else []
            ),
            *(Part("Key findings", lines) for lines in [_findings(result, main, advice.comparison)] if lines),
            *_advice(standings, advice, losses or {}, name_lost(result)),
            *remarks_part(result.warnings, result.notes),
        ]
    )


def _fact(label: str, text: str) -> Marked:
    return Marked(f"**{format_markdown(label)}**: {format_markdown(text, 600)}")


def _facts(result: Result, main: Estimate | None, system: str) -> list[str]:
    accuracy = None if main is None else by_system(result, main).get(system)
    seconds, throughput = (find_named(result, system, names) for names in (tuple(TIMES), ("throughput",)))
    perfect, cost = (find_named(result, system, (name,)) for name in ("perfect_documents", "cost_usd"))
    lines: list[str] = [
        _fact("Average accuracy", NOTHING if accuracy is None else describe_estimate(accuracy))
    ]
    if seconds is not None and seconds.value is not None:
        kind = TIMES[seconds.metric].capitalize()
        lines.append(_fact(f"{kind} processing time", f"{format_value(seconds)} (n = {seconds.n:,})"))
    if throughput is not None and throughput.value is not None:
        rate = format_value(throughput).removesuffix("/min")
        lines.append(_fact("Throughput", f"{rate} documents per minute"))
    if perfect is not None and perfect.value is not None:
        shown = (
            f"{perfect.value:,.0f} of {perfect.n:,}"
            if perfect.unit == "count"
            else format_in_unit(perfect.value, perfect.unit)
        )
        lines.append(_fact("Perfect documents", shown))
    if cost is not None and cost.value is not None:
        lines.append(_fact("Cost of 1,000 documents", f"{format_cost(cost.value)} (n = {cost.documents:,})"))
    systems = result.counts.get("systems")
    counts: Any = systems.get(system, {}) if isinstance(systems, Mapping) else {}
    failures = [
        text.format(format_count(counts[name], "document"))
        for name, text in _FAILURES.items()
        if counts.get(name)
    ]
    lines += [_fact("Failures", "; ".join(failures))] if failures else []
    return lines


def _values(result: Result, key: str) -> list[str]:
    return list(dict.fromkeys(estimate.slice[key] for estimate in result.estimates if key in estimate.slice))


def _slice_parts(result: Result, main: Estimate, key: str) -> Iterator[Part]:
    """Yield the main metric by the values of a slice key, if there are any."""
    rows = []
    for value in _values(result, key):
        estimates = by_system(result, main, {key: value})
        documents = max((estimate.documents for estimate in estimates.values()), default=0)
        rows.append(
            [value, f"{documents:,}", *(format_value(estimates.get(system)) for system in result.systems)]
        )
    if rows:
        title = "Document type performance" if key == "type" else f"Performance by {clip(key, 100)}"
        yield Part(title, tables=[ReportTable("", [key, "documents", *result.systems], rows)])


def _findings(result: Result, main: Estimate | None, compared: str) -> list[str]:
    if main is None:
        return ["The run has no metric that compares systems."]
    lines: list[str] = [_fact("Accuracy", sentence) for sentence in [compared] if sentence]
    for key in result.run.get("slices", ()):
        for value in _values(result, str(key)):
            slice_ = {str(key): value}
            order = order_systems(result, by_system(result, main, slice_), slice_)
            lines += [_fact(f"Best for {value}", describe_order(order))] if order is not None else []
    return lines


def _advice(
    standings: Sequence[Standing],
    recommendation: Recommendation,
    losses: Mapping[str, Sequence[Loss]],
    lost: str,
) -> Iterator[Part]:
    """Yield the recommendation, and the costliest losses: most of the system to use, else of the best."""
    if not standings or standings[0].main is None:
        return
    best = next(iter(recommendation.systems), standings[0].system)
    said = ". ".join(format_markdown(text, 600) for text in (recommendation.answer, *recommendation.reasons))
    lines: list[str] = [Marked(f"**{said}.**")]
    for system in sorted((standing.system for standing in standings), key=lambda name: name != best):
        repairs = list(losses.get(system, ()))[: MOST_REPAIRS if system == best else 1]
        lines += [_fact(f"Repair first in {system}", describe_loss(loss, lost)) for loss in repairs]
    yield Part("Recommendations", lines)
