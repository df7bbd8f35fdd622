"""What CI shows of a run: JUnit, annotations, the step summary and the comment."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.decisions.diff.diff import Diff
from fieldassay.decisions.losses import (
    STATUSES,
    Cases,
    FieldCase,
    Mistake,
    Status,
    WorstDocument,
    WrongValue,
    count_wrong,
    find_worst,
    list_wrong,
    read_cases,
)
from fieldassay.io.text.shown import break_commands, clip, format_count, format_markdown, format_pair, visible
from fieldassay.metrics.estimate import Estimate, format_value
from fieldassay.metrics.result.verdicts import VERDICT_WORDS, Decision, GateOutcome, Verdict
from fieldassay.reports.content.diff import describe_diff
from fieldassay.reports.content.run.parts import answer_part, describe_answers, detail_parts, remarks_part
from fieldassay.reports.content.run.sections import worst_fields
from fieldassay.reports.content.run.summary import Summary, summarize
from fieldassay.reports.report import Reported, ReportOptions
from fieldassay.reports.wording import DIAGNOSES, REASONS, SHORT_DIAGNOSES, describe
from fieldassay.reports.writers.tables import Marked, Part, ReportTable, write_markdown
from fieldassay.runs.run import ANSWERS

# JUnit XML: a suite of gates and one of all documents, written portion by portion.

ALL = "all documents"
_CASE_NAME, _MESSAGE, _CASE_VALUE, _RULE = 200, 240, 1_000, 600
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_OF_VERDICT: dict[Verdict, Status] = {
    Verdict.PASS: "passed", Verdict.NO_LOSS: "passed", Verdict.FAIL: "failed",
    Verdict.INCONCLUSIVE: "error", Verdict.SKIPPED: "skipped",
}  # fmt: skip
_TAGS: dict[Status, str] = {"failed": "failure", "error": "error", "skipped": "skipped"}


class _Suite(Struct, frozen=True, eq=False):
    """One suite, with its listed cases by status."""

    name: str
    listed: Mapping[Status, int]
    properties: tuple[tuple[str, str], ...]

    @property
    def size(self) -> int:
        return sum(self.listed.values())


def render_junit(reported: Reported, options: ReportOptions) -> Iterator[str]:
    """Yield the text of a JUnit file about a run.

    A case is one field of one document of one system: it fails if a value of it is wrong, and is an error if
    one could not be judged. An answer that failed is one error. A gate is a case too: INCONCLUSIVE is an
    error. At most `options.most_cases` cases of documents are listed, failures first; a suite with omitted
    cases has a note. Every count in the file is of the listed cases.

    >>> from fieldassay.metrics.estimate import Estimate
    >>> from fieldassay.metrics.result.result import Result
    >>> estimate = Estimate("accuracy", "llama", None, {}, "filled", 0.5, 2, 2, 0, "leaf")
    >>> text = "".join(render_junit(Reported(Result((estimate,))), ReportOptions()))
    >>> text.splitlines()[1]
    '<testsuites name="fieldassay" tests="1" failures="0" errors="0" skipped="1" time="0">'
    """
    gates, (documents, cases) = _gate_suite(reported.decisions), _plan(reported, options.most_cases)
    suites = [documents] if gates is None else [gates, documents]
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="fieldassay" {_counts(suites)}>\n'
    if gates is not None:
        yield _open(gates)
        for decision in reported.decisions:
            yield from (_gate_case(decision, outcome) for outcome in decision.outcomes)
        yield "</testsuite>\n"
    yield _open(documents)
    yield from _document_cases(documents, cases)
    yield "</testsuite>\n"
    yield "</testsuites>\n"


def _plan(reported: Reported, most: int) -> tuple[_Suite, Cases | None]:
    """Return the suite of documents, counted before anything is written, and its cases."""
    if reported.evidence is None or reported.extent == "none":
        return _Suite(ALL, {"skipped": 1}, ()), None
    cases = read_cases(reported.evidence)
    suite = _suite(cases.count(), most)
    if reported.extent == "errors":
        remark = (
            "evidence",
            "errors: the run kept only its wrong values, so fields without an error are not listed",
        )
        suite = replace(suite, properties=(*suite.properties, remark))
    return suite, cases


def _gate_suite(decisions: Sequence[Decision]) -> _Suite | None:
    statuses = [_OF_VERDICT[outcome.verdict] for decision in decisions for outcome in decision.outcomes]
    if not statuses:
        return None
    answers = tuple(
        (f"answer for {clip(decision.system, _CASE_NAME)}", str(decision.answer)) for decision in decisions
    )
    return _Suite("gates", {status: statuses.count(status) for status in STATUSES}, answers)


def _suite(total: Mapping[Status, int], most: int) -> _Suite:
    """Return the suite of documents with at most so many cases: failed ones, then errors, then the others."""
    size = sum(total.values())
    failed = min(total["failed"], most)
    error = min(total["error"], most - failed)
    rest = most - failed - error
    listed: dict[Status, int] = {
        "failed": failed,
        "error": error,
        "passed": total["passed"],
        "skipped": total["skipped"],
    }
    if rest < total["passed"] + total["skipped"]:
        passed = min(rest, total["passed"])
        listed |= {"passed": passed, "skipped": min(rest - passed, total["skipped"])}
    cut = (
        (("truncated", f"lists {sum(listed.values()):,} of {size:,} cases, failures first"),)
        if sum(listed.values()) < size
        else ()
    )
    return _Suite(ALL, listed, cut)


def _document_cases(suite: _Suite, cases: Cases | None) -> Iterator[str]:
    if cases is None:
        message = "no judged values were kept; score again with --evidence all"
        yield _case(suite.name, "fields of documents", "skipped", message)
        return
    for status in STATUSES:
        for case in cases.list_cases(status, suite.listed[status]):
            yield _field_case(suite.name, case)


def _counts(suites: Sequence[_Suite]) -> str:
    def total(status: Status) -> int:
        return sum(suite.listed.get(status, 0) for suite in suites)

    tests = sum(suite.size for suite in suites)
    return (
        f'tests="{tests}" failures="{total("failed")}" errors="{total("error")}" '
        f'skipped="{total("skipped")}" time="0"'
    )


def _open(suite: _Suite) -> str:
    properties = "".join(
        f"<property name={_quote(name)} value={_quote(value)}/>\n" for name, value in suite.properties
    )
    inside = f"<properties>\n{properties}</properties>\n" if properties else ""
    return f"<testsuite name={_quote(suite.name)} {_counts([suite])}>\n{inside}"


def _gate_case(decision: Decision, outcome: GateOutcome) -> str:
    message = f"{outcome.verdict}: {clip(outcome.rule, _RULE)}"
    details = [
        f"value: {outcome.value_text}", f"threshold: {outcome.threshold_text}",
        f"n: {outcome.n:,} in {outcome.documents:,} documents",
        *(clip(line, _RULE) for line in outcome.evidence),
    ]  # fmt: skip
    return _case(
        f"gates/{_name(decision.system)}",
        _name(outcome.title or str(outcome.gate)),
        _OF_VERDICT[outcome.verdict],
        message,
        str(outcome.verdict),
        details,
    )


def _field_case(suite: str, case: FieldCase) -> str:
    place = f"{suite}/{_name(case.system)}/{_name(case.document)}"
    if case.status == "passed":
        return _case(place, _name(case.field), "passed")
    if case.status == "skipped":
        return _case(place, _name(case.field), "skipped", "neither side has a value")
    first = case.wrong[0]
    details = [_detail(value) for value in case.wrong if value.diagnosis not in ANSWERS] + (
        [f"and {case.hidden:,} more"] if case.hidden else []
    )
    return _case(
        place,
        _name(case.field),
        case.status,
        _message(first, len(case.wrong) + case.hidden),
        first.outcome,
        details,
    )


def _message(value: WrongValue, count: int) -> str:
    if value.diagnosis in ANSWERS:
        what = describe(DIAGNOSES, value.diagnosis)
        return f"{what}: {format_count(count, 'value')} {'counts' if count == 1 else 'count'} as missing"
    gold, pred = format_pair(value.gold, value.pred, 80)
    more = f" (and {count - 1:,} more in this field)" if count > 1 else ""
    said = (
        describe(DIAGNOSES, value.diagnosis)
        if value.diagnosis
        else describe(REASONS, value.reason or "different")
    )
    return clip(f"{value.outcome}: gold {gold}, predicted {pred}: {said}{more}", _MESSAGE * 2)


def _detail(value: WrongValue) -> str:
    gold, pred = format_pair(value.gold, value.pred, _CASE_VALUE)
    diagnosis = f" ({value.diagnosis})" if value.diagnosis else ""
    return (
        f"{clip(value.path, _CASE_NAME)}: {value.outcome}, {value.reason}{diagnosis}: gold {gold}, "
        f"predicted {pred}"
    )


def _case(
    place: str, name: str, status: Status, message: str = "", kind: str = "", details: Sequence[str] = ()
) -> str:
    head = f'<testcase classname={_quote(place)} name={_quote(name)} time="0"'
    if status == "passed":
        return f"{head}/>\n"
    tag = _TAGS[status]
    type_ = f" type={_quote(kind)}" if tag != "skipped" else ""
    text = "\n".join(map(_escape_xml, details)) if tag != "skipped" else ""
    return f"{head}><{tag} message={_quote(message)}{type_}>{text}</{tag}></testcase>\n"


def _name(text: str) -> str:
    """Return a name of bounded length, with a digest in place of its end.

    >>> _name("a" * 300)[-12:]
    'aaa~9835fa6b'
    """
    if len(text) <= _CASE_NAME:
        return visible(text)
    return (
        f"{clip(text, _CASE_NAME)}~{hashlib.sha256(text.encode('utf-8', 'backslashreplace')).hexdigest()[:8]}"
    )


def _quote(text: str) -> str:
    return f'"{_escape_xml(text)}"'


def _escape_xml(text: str) -> str:
    """Return the text for XML; nothing that XML cannot hold is left."""
    return "".join(_ENTITIES.get(char, char) for char in visible(text))


# GitHub: annotations, step summaries and comments.

# The failure message of a test: the gates, the worst fields, and one example of each.

MOST_FIELDS = 5
_FAILURE_NAME, _FAILURE_VALUE = 40, 60


def render_outcome(outcome: GateOutcome) -> str:
    """Return one gate's outcome on a line.

    >>> from fieldassay.metrics.catalogue.grammar import parse_gate
    >>> from fieldassay.metrics.result.verdicts import Verdict
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
        lines += ["", "worst fields:", *(_render_field(*field) for field in fields[:MOST_FIELDS])]
    hidden = len(fields[MOST_FIELDS:])
    return break_commands("\n".join([*lines, *([f"  and {hidden} more with errors"] if hidden else [])]))


def _render_field(field: str, accuracy: Estimate, mistake: Mistake | None) -> str:
    head = f"  {clip(field, _FAILURE_NAME):<24} {format_value(accuracy)} (n={accuracy.n})"
    if mistake is None:
        return head
    gold, pred = format_pair(mistake.gold, mistake.pred, _FAILURE_VALUE)
    kind = describe(SHORT_DIAGNOSES, mistake.diagnosis)
    return f"{head}  {kind} ({mistake.count}): gold {gold}, predicted {pred}"


# Annotations of GitHub: workflow commands for gates that did not pass, and for the worst documents.

MOST = 10
"""GitHub shows so many errors of a step, and so many warnings."""

_LONG_NAME, _LONG, _LONG_VALUE = 80, 400, 60
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def render_annotations(reported: Reported, options: ReportOptions) -> Iterator[str]:  # noqa: ARG001
    """Yield workflow commands, a line each: failed gates, worst documents, undecided gates.

    Failed gates are errors, then documents up to ten errors; undecided gates are warnings.
    """
    outcomes = [(decision, outcome) for decision in reported.decisions for outcome in decision.outcomes]
    failed, undecided = (
        [pair for pair in outcomes if pair[1].verdict is verdict]
        for verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE)
    )
    yield from _annotate_gates("error", failed, "failed")
    if len(failed) < MOST and reported.evidence is not None:
        for document in find_worst(reported.evidence, MOST - len(failed)):
            title = f"{clip(document.document, _LONG_NAME)} by {clip(document.system, _LONG_NAME)}"
            yield command("error", describe_document(document), title)
    yield from _annotate_gates("warning", undecided, "cannot be decided")


def _annotate_gates(level: str, gates: Sequence[tuple[Decision, GateOutcome]], said: str) -> Iterator[str]:
    """Yield the first gates, and how many more there are where GitHub would leave some out."""
    shown = gates if len(gates) <= MOST else gates[: MOST - 1]
    for decision, outcome in shown:
        counted = f" (n = {outcome.n:,}, {format_count(outcome.documents, 'document')})"
        message = f"{clip(decision.system, _LONG_NAME)}: {clip(outcome.rule, _LONG)}"
        title = clip(f"gate {said}: {outcome.gate}", 2 * _LONG_NAME)
        yield command(level, message + counted * bool(outcome.n or outcome.documents), title)
    if len(shown) < len(gates):
        yield command(level, f"{format_count(len(gates) - len(shown), 'more gate')} {said}", "fieldassay")


def command(level: str, message: str, title: str) -> str:
    r"""Return one annotation as a line; no text can start another command.

    >>> command("error", "100% wrong\n::set-output name=a::b", "x: y, z")
    '::error title=x%3A y%2C z::100%25 wrong%0A::set-output name=a::b\n'
    """
    return f"::{level} title={title.translate(_PROPERTY)}::{message.translate(_DATA)}\n"


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


def mark(name: str) -> str:
    """Return the sticky marker for finding a comment again.

    Characters other than letters, digits, `.`, `_` and `-` become `-`.

    >>> mark("invoices v2 -->")
    '<!-- fieldassay:invoices-v2 -->'
    """
    label = re.sub("-{2,}", "-", re.sub(r"[^0-9A-Za-z._-]+", "-", name[:100])).strip("-") or "report"
    return f"<!-- fieldassay:{label} -->"


def render_comment(reported: Reported, options: ReportOptions) -> Iterator[str]:
    """Yield the comment: the marker alone on the first line, the verdict, the systems, then folded tables."""
    first = f"{mark(options.name)}\n"
    yield first
    yield from write_markdown(_parts(reported, 5, 50, folds=True), COMMENT - len(first))


def render_step_summary(reported: Reported, options: ReportOptions) -> Iterator[str]:
    """Yield the step summary: the verdict, numbers, worst fields and documents, gates, folded wrong values.

    It has at most `SUMMARY` bytes, less those already in the page; the rest is cut between two rows, and
    counted.
    """
    yield from write_markdown(_parts(reported, 20, 2_000, folds=False), max(0, SUMMARY - options.used))


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
    verdicts = [outcome.verdict for decision in run.decisions for outcome in decision.outcomes]
    counts = [
        f"{verdicts.count(verdict):,} {words}"
        for verdict, words in VERDICT_WORDS.items()
        if verdict in verdicts
    ]
    answer = describe_answers(run.decisions) or "NOT DECIDED"
    why = f"{format_count(len(verdicts), 'gate')}: {', '.join(counts)}" if counts else "no gates"
    failures = [
        f"{clip(system, _NAME)}: {text}"
        for system, text in zip(summary.systems, summary.failures, strict=True)
        if text != "none"
    ]
    lead = [f"{why[:1].upper()}{why[1:]}; {summary.counted}."]
    lead += [f"Predictions that are missing or unusable: {'; '.join(failures)}."] if failures else []
    return Part(f"{clip(answer, 400)}: {clip(summary.name, 100)}", lead=lead)


def _gates(run: Reported) -> Iterator[Part]:
    """Yield every gate of every system, those that did not pass first."""
    outcomes = [(decision, outcome) for decision in run.decisions for outcome in decision.outcomes]
    rows = [
        [
            f"{_SIGNS.get(outcome.verdict, '')} {outcome.verdict}".lstrip(), clip(decision.system, _NAME),
            outcome.title or str(outcome.gate), outcome.value_text, f"{outcome.n:,}", outcome.rule,
        ]
        for decision, outcome in sorted(outcomes, key=lambda pair: list(VERDICT_WORDS).index(pair[1].verdict))
    ]  # fmt: skip
    if rows:
        heads = ("verdict", "system", "gate", "value", "n", "why")
        yield Part(f"Gates ({len(rows):,})", tables=[ReportTable("", heads, rows)])


def _changes(diff: Diff) -> Iterator[Part]:
    """Yield the comparison of a system with that of an earlier run, its tables folded."""
    report = describe_diff(diff, MOST_CHANGES)
    lines: list[str] = [Marked(f"**warning:** {format_markdown(text, 600)}") for text in report.warnings]
    lines += [f"{name}: {text}" for name, text in report.systems]
    yield Part(report.title, [*lines, *report.parts[0].lines, *report.parts[-1].lines])
    yield from (replace(part, lines=(), folds=True) for part in report.parts if part.tables)


def _documents(run: Reported, most: int) -> Iterator[Part]:
    """Yield the worst documents."""
    rows = [
        [
            clip(document.document, _NAME),
            clip(document.system, _NAME),
            f"{document.wrong:,}",
            describe_document(document),
        ]
        for document in (() if run.evidence is None else find_worst(run.evidence, most, 2))
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
