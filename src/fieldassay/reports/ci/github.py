"""Step summaries of workflows and comments of pull requests: the report of a run, within GitHub's limits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from fieldassay.decisions.diff.result import Diff
from fieldassay.io.text.shown import clip, format_count, format_markdown, format_pair
from fieldassay.metrics.result.decision import Verdict
from fieldassay.reports.ci.annotations import describe_document
from fieldassay.reports.content.diff import describe_diff
from fieldassay.reports.content.run.answer import describe_answers
from fieldassay.reports.content.run.parts import answer_part, detail_parts, remarks_part
from fieldassay.reports.content.run.summary import Summary, summarize
from fieldassay.reports.findings.wrong_values import count_wrong, find_worst, list_wrong
from fieldassay.reports.reported import Reported, ReportOptions
from fieldassay.reports.wording.terms import DIAGNOSES, describe
from fieldassay.reports.writers.markdown import write_markdown
from fieldassay.reports.writers.tables import Marked, Part, Table

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
        yield Part(f"Gates ({len(rows):,})", tables=[Table("", heads, rows)])


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
        yield Part("Worst documents", tables=[Table("", heads, rows, (2,))])


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
    table = Table("", heads, rows, (), total)
    yield Part(f"Wrong values ({total:,})", tables=[table], folds=True)
