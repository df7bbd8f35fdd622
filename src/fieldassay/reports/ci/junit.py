"""JUnit XML: a suite of gates and one of all documents, written portion by portion."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.io.text.shown import clip, format_count, format_pair, visible
from fieldassay.metrics.result.decision import Decision, GateOutcome, Verdict
from fieldassay.reports.findings.losses import STATUSES, Cases, FieldCase, Status, WrongValue, read_cases
from fieldassay.reports.reported import Reported, ReportOptions
from fieldassay.reports.wording import DIAGNOSES, REASONS, describe
from fieldassay.runs.run import ANSWERS

ALL = "all documents"
_NAME, _MESSAGE, _VALUE, _RULE = 200, 240, 1_000, 600
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


class _JunitRun(Struct, frozen=True, eq=False):
    """The part of one run in the file."""

    reported: Reported
    gates: _Suite | None
    documents: _Suite
    cases: Cases | None

    @property
    def suites(self) -> tuple[_Suite, ...]:
        return (*((self.gates,) if self.gates is not None else ()), self.documents)


def render_junit(reported: Sequence[Reported], options: ReportOptions) -> Iterator[str]:
    """Yield the text of a JUnit file about runs.

    A case is one field of one document of one system: it fails if a value of it is wrong, and is an error if
    one could not be judged. An answer that failed is one error. A gate is a case too: INCONCLUSIVE is an
    error. At most `options.most_cases` cases of documents are listed, failures first; a suite with omitted
    cases has a note. Every count in the file is of the listed cases.

    >>> from fieldassay.metrics.estimate import Estimate
    >>> from fieldassay.metrics.result.result import Result
    >>> estimate = Estimate("accuracy", "llama", None, {}, "filled", 0.5, 2, 2, 0, "leaf")
    >>> text = "".join(render_junit([Reported(Result((estimate,)))], ReportOptions()))
    >>> text.splitlines()[1]
    '<testsuites name="fieldassay" tests="1" failures="0" errors="0" skipped="1" time="0">'
    """
    share = options.most_cases // max(1, len(reported))
    runs = [_plan(run, share) for run in reported]
    suites = [suite for run in runs for suite in run.suites]
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="fieldassay" {_counts(suites)}>\n'
    for run in runs:
        if run.gates is not None:
            yield _open(run.gates)
            yield from (
                _gate_case(run.reported, decision, outcome)
                for decision in run.reported.decisions
                for outcome in decision.outcomes
            )
            yield "</testsuite>\n"
        yield _open(run.documents)
        yield from _documents(run)
        yield "</testsuite>\n"
    yield "</testsuites>\n"


def _plan(reported: Reported, most: int) -> _JunitRun:
    """Return the part of a run in the file, counted before anything is written."""
    prefix = f"{clip(reported.label, _NAME)}: " if reported.label else ""
    gates = _gate_suite(reported.decisions, prefix)
    if reported.evidence is None or reported.kept == "none":
        listed: dict[Status, int] = {"skipped": 1}
        return _JunitRun(reported, gates, _Suite(f"{prefix}{ALL}", listed, ()), None)
    cases = read_cases(reported.evidence)
    suite = _suite(f"{prefix}{ALL}", cases.count(), most)
    if reported.kept == "errors":
        remark = (
            "evidence",
            "errors: the run kept no judged value that is right, so that fields without an error are not "
            "listed",
        )
        suite = replace(suite, properties=(*suite.properties, remark))
    return _JunitRun(reported, gates, suite, cases)


def _gate_suite(decisions: Sequence[Decision], prefix: str) -> _Suite | None:
    found = [_OF_VERDICT[outcome.verdict] for decision in decisions for outcome in decision.outcomes]
    if not found:
        return None
    answers = tuple(
        (f"answer for {clip(decision.system, _NAME)}", str(decision.answer)) for decision in decisions
    )
    return _Suite(f"{prefix}gates", {status: found.count(status) for status in STATUSES}, answers)


def _suite(name: str, total: Mapping[Status, int], most: int) -> _Suite:
    """Return a suite with at most `most` listed cases: failed ones, then errors, then the others in order."""
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
    return _Suite(name, listed, cut)


def _documents(run: _JunitRun) -> Iterator[str]:
    suite = run.documents
    if run.cases is None:
        message = "no judged values were kept; score again with --evidence all"
        yield _case(suite.name, "fields of documents", "skipped", message)
        return
    for status in STATUSES:
        for case in run.cases.list_cases(status, suite.listed[status]):
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


def _gate_case(reported: Reported, decision: Decision, outcome: GateOutcome) -> str:
    parts = (reported.label, "gates", decision.run if decision.run != reported.label else "", decision.system)
    place = "/".join(_name(part) for part in parts if part)
    message = f"{outcome.verdict}: {clip(outcome.rule, _RULE)}"
    details = [
        f"value: {outcome.value_text}", f"threshold: {outcome.threshold_text}",
        f"n: {outcome.n:,} in {outcome.documents:,} documents",
        *(clip(line, _RULE) for line in outcome.evidence),
    ]  # fmt: skip
    return _case(
        place,
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
    gold, pred = format_pair(value.gold, value.pred, _VALUE)
    diagnosis = f" ({value.diagnosis})" if value.diagnosis else ""
    return (
        f"{clip(value.path, _NAME)}: {value.outcome}, {value.reason}{diagnosis}: gold {gold}, "
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
    text = "\n".join(map(_escape, details)) if tag != "skipped" else ""
    return f"{head}><{tag} message={_quote(message)}{type_}>{text}</{tag}></testcase>\n"


def _name(text: str) -> str:
    """Return a name of bounded length, with a digest in place of its end.

    >>> _name("a" * 300)[-12:]
    'aaa~9835fa6b'
    """
    if len(text) <= _NAME:
        return visible(text)
    return f"{clip(text, _NAME)}~{hashlib.sha256(text.encode('utf-8', 'backslashreplace')).hexdigest()[:8]}"


def _quote(text: str) -> str:
    return f'"{_escape(text)}"'


def _escape(text: str) -> str:
    """Return the text for XML; nothing that XML cannot hold is left."""
    return "".join(_ENTITIES.get(char, char) for char in visible(text))
