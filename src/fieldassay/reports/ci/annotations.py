"""Annotations of GitHub: workflow commands for gates that did not pass, and for the worst documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fieldassay.io.text.shown import clip, format_count, format_pair
from fieldassay.metrics.result.decision import Decision, GateOutcome, Verdict
from fieldassay.reports.findings.wrong_values import WorstDocument, WrongValue, find_worst
from fieldassay.reports.reported import Reported, ReportOptions
from fieldassay.reports.wording.terms import DIAGNOSES, describe
from fieldassay.runs.value_sources import Place

MOST = 10
"""GitHub shows so many errors of a step, and so many warnings."""

_NAME, _LONG, _VALUE = 80, 400, 60
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


def command(level: str, message: str, title: str, place: Place | None = None) -> str:
    r"""Return one annotation as a line; no text can start another command.

    >>> command("error", "100% wrong\n::set-output name=a::b", "x: y, z", Place("gold.csv", 3))
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
    title = clip(f"{about}gate {said}: {outcome.gate}", 2 * _NAME)
    stands_on = (
        f" (n = {outcome.n:,}, {format_count(outcome.documents, 'document')})"
        if outcome.n or outcome.documents
        else ""
    )
    return command(level, f"{clip(decision.system, _NAME)}: {clip(outcome.rule, _LONG)}{stands_on}", title)


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
        about = f"{clip(label, _NAME)}: " if label else ""
        yield command(
            "error",
            describe_document(document),
            f"{about}{clip(document.document, _NAME)} by {clip(document.system, _NAME)}",
            place,
        )


def describe_document(document: WorstDocument) -> str:
    """Return the errors of a document in a sentence.

    >>> value = WrongValue("total", "1", "2", "mismatch", "different", "off_by_one")
    >>> describe_document(WorstDocument("llama", "inv-1", 2, 1, (value,)))
    '2 wrong values, 1 of them critical: total: gold 1, predicted 2 (off by one); and 1 more'
    """
    critical = f", {document.critical:,} of them critical" if document.critical else ""
    named = "; ".join(map(_describe_value, document.values))
    hidden = document.wrong - len(document.values)
    return f"{format_count(document.wrong, 'wrong value')}{critical}: {named}" + (
        f"; and {hidden:,} more" if hidden > 0 else ""
    )


def _describe_value(value: WrongValue) -> str:
    gold, pred = format_pair(value.gold, value.pred, _VALUE)
    why = f" ({describe(DIAGNOSES, value.diagnosis)})" if value.diagnosis else ""
    return f"{clip(value.path, _NAME)}: gold {gold}, predicted {pred}{why}"
