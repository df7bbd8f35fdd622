"""GitHub: annotations, step summaries and comments."""

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from fieldassay.decisions.diff.result import Diff
from fieldassay.io.text.shown import break_commands, clip, format_count, format_markdown, format_pair
from fieldassay.metrics.estimate import Estimate, format_value
from fieldassay.metrics.result.decision import Decision, GateOutcome, Verdict
from fieldassay.reports.content.diff import describe_diff
from fieldassay.reports.content.run.fields import worst_fields
from fieldassay.reports.content.run.parts import answer_part, describe_answers, detail_parts, remarks_part
from fieldassay.reports.content.run.summary import Summary, summarize
from fieldassay.reports.findings.losses import (
    Mistake,
    WorstDocument,
    WrongValue,
    count_wrong,
    find_worst,
    list_wrong,
)
from fieldassay.reports.reported import Reported, ReportOptions
from fieldassay.reports.wording import DIAGNOSES, describe, name_diagnosis
from fieldassay.reports.writers.tables import Marked, Part, ReportTable, write_markdown
from fieldassay.runs.value_sources import LinePlace

# The failure message of a test: the gates, the worst fields, and one example of each.

MOST_FIELDS = 5
_FAILURE_NAME, _FAILURE_VALUE = 40, 60


def render_outcome(outcome: GateOutcome) -> str:
    """Return one gate's outcome on a line.

    >>> from fieldassay.metrics.catalogue.grammar import parse_gate
    >>> from fieldassay.metrics.result.decision import Verdict
    >>> gate = parse_gate("accuracy >= 0.9")
    >>> render_outcome(GateOutcome(gate, Verdict.FAIL, "0.500 is less than 0.9", 0.5, documents=2))
    'FAIL          accuracy >= 0.9: 0.500 is less than 0.9 (2 documents)'
    """
    behind = f" ({format_count(outcome.documents, 'document')})" if outcome.documents else ""
    return f"{outcome.verdict.value:<13} {outcome.gate}: {clip(outcome.rule, 300)}{behind}"


def render_failure(summary: Summary, decision: Decision) -> str:
    """Return the failures of one system: its gates, then its worst fields.

    Each field has its most frequent error and an example.
    """
    lines = [
        f"{summary.name}: the extraction by {clip(decision.system, _FAILURE_NAME)} is not good enough",
        "",
    ]
    lines += [render_outcome(outcome) for outcome in decision.outcomes]
    fields = worst_fields(summary.fields, decision.system)
    if fields:
        lines += ["", "worst fields:", *(_render_field(*one) for one in fields[:MOST_FIELDS])]
    hidden = len(fields[MOST_FIELDS:])
    return break_commands("\n".join([*lines, *([f"  and {hidden} more with errors"] if hidden else [])]))


def _render_field(field: str, accuracy: Estimate, mistake: Mistake | None) -> str:
    head = f"  {clip(field, _FAILURE_NAME):<24} {format_value(accuracy)} (n={accuracy.n})"
    if mistake is None:
        return head
    gold, pred = format_pair(mistake.gold, mistake.pred, _FAILURE_VALUE)
    kind = name_diagnosis(mistake.diagnosis)
    return f"{head}  {kind} ({mistake.count}): gold {gold}, predicted {pred}"


# Annotations of GitHub: workflow commands for gates that did not pass, and for the worst documents.

MOST = 10
"""GitHub shows so many errors of a step, and so many warnings."""

_LONG_NAME, _LONG, _LONG_VALUE = 80, 400, 60
_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}


def render_annotations(reported: Sequence[Reported], options: ReportOptions) -> Iterator[str]:  # noqa: ARG001
    """Yield workflow commands, a line each: failed gates, worst documents, undecided gates.

    Failed gates are errors, then documents up to ten errors; undecided gates are warnings.

    >>> list(render_annotations([], ReportOptions()))
    []
    """
    outcomes = [
        (run, decision, outcome)
        for run in reported
        for decision in run.decisions
        for outcome in decision.outcomes
    ]
    failed, undecided = (
        [one for one in outcomes if one[2].verdict is verdict]
        for verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE)
    )
    shown = failed if len(failed) <= MOST else failed[: MOST - 1]
    yield from (_gate("error", *one) for one in shown)
    if len(shown) < len(failed):
        yield command("error", f"{format_count(len(failed) - len(shown), 'more gate')} failed", "fieldassay")
    yield from _worst(reported, MOST - min(MOST, len(failed)))
    told = undecided if len(undecided) <= MOST else undecided[: MOST - 1]
    yield from (_gate("warning", *one) for one in told)
    if len(told) < len(undecided):
        yield command(
            "warning",
            f"{format_count(len(undecided) - len(told), 'more gate')} cannot be decided",
            "fieldassay",
        )


def command(level: str, message: str, title: str, place: LinePlace | None = None) -> str:
    r"""Return one annotation as a line; no text can start another command.

    >>> command("error", "100% wrong\n::set-output name=a::b", "x: y, z", LinePlace("gold.csv", 3))
    '::error file=gold.csv,line=3,title=x%3A y%2C z::100%25 wrong%0A::set-output name=a::b\n'
    """
    where = (
        []
        if place is None
        else [("file", place.file), *([("line", str(place.line))] if place.line is not None else [])]
    )
    properties = ",".join(f"{name}={_escape(value, _PROPERTY)}" for name, value in (*where, ("title", title)))
    return f"::{level} {properties}::{_escape(message, _DATA)}\n"


def _escape(text: str, table: Mapping[str, str]) -> str:
    return "".join(table.get(char, char) for char in text)


def _gate(level: str, run: Reported, decision: Decision, outcome: GateOutcome) -> str:
    about = f"{run.label}: " if run.label else ""
    said = {Verdict.FAIL: "failed", Verdict.INCONCLUSIVE: "cannot be decided"}[outcome.verdict]
    title = clip(f"{about}gate {said}: {outcome.gate}", 2 * _LONG_NAME)
    stands_on = (
        f" (n = {outcome.n:,}, {format_count(outcome.documents, 'document')})"
        if outcome.n or outcome.documents
        else ""
    )
    return command(
        level, f"{clip(decision.system, _LONG_NAME)}: {clip(outcome.rule, _LONG)}{stands_on}", title
    )


def _worst(reported: Sequence[Reported], most: int) -> Iterator[str]:
    """Yield the worst documents of all runs together."""
    if most <= 0:
        return
    found = [
        (at, one)
        for at, run in enumerate(reported)
        if run.evidence is not None
        for one in find_worst(run.evidence, most)
    ]
    chosen = sorted(found, key=lambda pair: (-pair[1].critical, -pair[1].wrong))[:most]
    places = [
        run.find_places([one.document for of, one in chosen if of == at]) for at, run in enumerate(reported)
    ]
    for at, document in chosen:
        label, place = reported[at].label, places[at].get(document.document)
        about = f"{clip(label, _LONG_NAME)}: " if label else ""
        yield command(
            "error",
            describe_document(document),
            f"{about}{clip(document.document, _LONG_NAME)} by {clip(document.system, _LONG_NAME)}",
            place,
        )


def describe_document(document: WorstDocument) -> str:
    """Return the errors of a document in a sentence.

    >>> value = WrongValue("total", "1", "2", "mismatch", "different", "off_by_one")
    >>> describe_document(WorstDocument("llama", "inv-1", 2, 1, (value,)))
    '2 wrong values, 1 of them critical: total: gold 1, predicted 2 (one day or month off); and 1 more'
    """
    critical = f", {document.critical:,} of them critical" if document.critical else ""
    named = "; ".join(map(_describe_value, document.values))
    hidden = document.wrong - len(document.values)
    return f"{format_count(document.wrong, 'wrong value')}{critical}: {named}" + (
        f"; and {hidden:,} more" if hidden > 0 else ""
    )


def _describe_value(value: WrongValue) -> str:
    gold, pred = format_pair(value.gold, value.pred, _LONG_VALUE)
    why = f" ({describe(DIAGNOSES, value.diagnosis)})" if value.diagnosis else ""
    return f"{clip(value.path, _LONG_NAME)}: gold {gold}, predicted {pred}{why}"


# Step summaries of workflows and comments of pull requests: the report of a run, within GitHub's limits.

COMMENT, SUMMARY = 64_000, 1_000_000
"""Bytes: GitHub takes 65,536 characters of a comment, and shows no summary of more than 1,048,576."""

MOST_CHANGES = 50
"""Fixed and broken values that are listed, of each."""

_NAME, _VALUE = 60, 80
_SIGNS = {Verdict.PASS: "✅", Verdict.FAIL: "❌", Verdict.INCONCLUSIVE: "❔", Verdict.NO_LOSS: "➖"}
_SAID = {
    Verdict.FAIL: "failed", Verdict.INCONCLUSIVE: "cannot be decided", Verdict.NO_LOSS: "show no loss",
    Verdict.PASS: "passed", Verdict.SKIPPED: "do not apply",
}  # fmt: skip
"""The verdicts in words, those that need attention first."""


def mark(name: str) -> str:
    """Return the sticky marker for finding a comment again.

    Characters other than letters, digits, `.`, `_` and `-` become `-`.

    >>> mark("invoices v2 -->")
    '<!-- fieldassay:invoices-v2 -->'
    """
    label = re.sub("-{2,}", "-", re.sub(r"[^0-9A-Za-z._-]+", "-", name[:100])).strip("-") or "report"
    return f"<!-- fieldassay:{label} -->"


def render_comment(reported: Sequence[Reported], options: ReportOptions) -> Iterator[str]:
    """Yield the comment: the marker alone on the first line, the verdict, the systems, then folded tables."""
    first = f"{mark(options.name)}\n"
    yield first
    parts = (part for run in reported for part in _parts(run, 5, 50, folds=True))
    yield from write_markdown(parts, COMMENT - len(first))


def render_step_summary(reported: Sequence[Reported], options: ReportOptions) -> Iterator[str]:
    """Yield the step summary: the verdict, numbers, worst fields and documents, gates, folded wrong values.

    It has at most `SUMMARY` bytes, less those already in the page; the rest is cut between two rows, and
    counted.
    """
    parts = (part for run in reported for part in _parts(run, 20, 2_000, folds=False))
    yield from write_markdown(parts, max(0, SUMMARY - options.used))


def _parts(run: Reported, documents: int, errors: int, *, folds: bool) -> Iterator[Part]:
    summary = summarize(run.result, run.evidence, decisions=run.decisions)
    yield _verdict(run, summary)
    yield answer_part(summary)
    for diff in run.diffs:
        yield from _changes(diff)
    details = [*_gates(run), *detail_parts(summary), *_documents(run, documents)]
    yield from (replace(part, folds=folds and bool(part.tables)) for part in details)
    yield from _errors(run, errors)
    yield from (replace(part, folds=True) for part in remarks_part(summary.warnings, summary.notes))


def _verdict(run: Reported, summary: Summary) -> Part:
    """Return the heading with the verdict, and why."""
    answer, why = describe_answers(run.decisions) or "NOT DECIDED", _count_verdicts(run)
    about = f" ({clip(run.label, 200)})" if run.label else ""
    failures = [
        f"{clip(system, _NAME)}: {text}"
        for system, text in zip(summary.systems, summary.failures, strict=True)
        if text != "none"
    ]
    lead = [f"{why[:1].upper()}{why[1:]}; {format_count(summary.documents, 'document')}."]
    lead += [f"Predictions that are missing or unusable: {'; '.join(failures)}."] if failures else []
    return Part(f"{clip(answer, 400)}: {clip(summary.name, 100)}{about}", lead=lead)


def _count_verdicts(run: Reported) -> str:
    """Return how many gates have each verdict, of all systems together."""
    verdicts = [outcome.verdict for decision in run.decisions for outcome in decision.outcomes]
    told = [f"{verdicts.count(one):,} {words}" for one, words in _SAID.items() if one in verdicts]
    return f"of {len(verdicts):,} gates {', '.join(told)}" if told else "there is no gate"


def _gates(run: Reported) -> Iterator[Part]:
    """Yield every gate of every system, those that did not pass first."""
    outcomes = [(decision, outcome) for decision in run.decisions for outcome in decision.outcomes]
    rows = [
        [
            f"{_SIGNS.get(one.verdict, '')} {one.verdict}".lstrip(), clip(decision.system, _NAME),
            one.title or str(one.gate), one.value_text, f"{one.n:,}", one.rule,
        ]
        for decision, one in sorted(outcomes, key=lambda pair: list(_SAID).index(pair[1].verdict))
    ]  # fmt: skip
    if rows:
        heads = ("verdict", "system", "gate", "value", "n", "why")
        yield Part(f"Gates ({len(rows):,})", tables=[ReportTable("", heads, rows)])


def _changes(diff: Diff) -> Iterator[Part]:
    """Yield the comparison of a system with that of an earlier run, its tables folded."""
    told = describe_diff(diff, MOST_CHANGES)
    lines: list[str] = [Marked(f"**warning:** {format_markdown(text, 600)}") for text in told.warnings]
    lines += [f"{name}: {text}" for name, text in told.systems]
    yield Part(told.title, [*lines, *told.parts[0].lines, *told.parts[-1].lines])
    yield from (replace(part, lines=(), folds=True) for part in told.parts if part.tables)


def _documents(run: Reported, most: int) -> Iterator[Part]:
    """Yield the worst documents."""
    rows = [
        [clip(one.document, _NAME), clip(one.system, _NAME), f"{one.wrong:,}", describe_document(one)]
        for one in (() if run.evidence is None else find_worst(run.evidence, most, 2))
    ]
    if rows:
        heads = ("document", "system", "wrong", "what")
        yield Part("Worst documents", tables=[ReportTable("", heads, rows, (2,))])


def _errors(run: Reported, most: int) -> Iterator[Part]:
    """Yield the wrong values, folded."""
    total = count_wrong(run.evidence) if run.evidence is not None else 0
    if run.evidence is None or not total:
        return
    rows = [
        [
            clip(document, _NAME), clip(system, _NAME), value.path,
            *format_pair(value.gold, value.pred, _VALUE),
            describe(DIAGNOSES, value.diagnosis) if value.diagnosis else value.outcome,
        ]
        for system, document, value in list_wrong(run.evidence, most)
    ]  # fmt: skip
    heads = ("document", "system", "value", "gold", "predicted", "why")
    table = ReportTable("", heads, rows, (), total)
    yield Part(f"Wrong values ({total:,})", tables=[table], folds=True)
