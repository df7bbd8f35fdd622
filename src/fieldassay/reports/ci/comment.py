"""The comment of a pull request, as Markdown: found again by its marker, and short enough to be posted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fieldassay.reports.ci.changes import changes_blocks
from fieldassay.reports.ci.github_text import Block, assemble, fold_table, mark
from fieldassay.reports.ci.parts import (
    baseline_block,
    compared_block,
    documents_block,
    drop_empty,
    errors_block,
    fields_blocks,
    gates_block,
    headline_block,
    losses_block,
    remarks_block,
    summarize_run,
    systems_block,
    verdict_block,
)
from fieldassay.reports.reported import Reported, ReportOptions

LIMIT = 64_000
"""Bytes of a comment; GitHub takes at most 65,536 characters."""

MOST_DOCUMENTS, MOST_ERRORS = 5, 50


def render_comment(reported: Sequence[Reported], options: ReportOptions) -> Iterator[str]:
    """Yield the comment: the marker alone on the first line, the verdict, the systems, then folded tables."""
    first = f"{mark(options.name)}\n"
    yield first
    yield from assemble(drop_empty(block for run in reported for block in _blocks(run)), LIMIT - len(first))


def _blocks(run: Reported) -> Iterator[Block]:
    summary = summarize_run(run)
    yield verdict_block(run, summary)
    yield systems_block(summary)
    yield from changes_blocks(run)
    yield compared_block(summary)
    yield fold_table(losses_block(summary))
    yield fold_table(baseline_block(run))
    yield fold_table(headline_block(summary))
    yield from map(fold_table, fields_blocks(summary))
    yield fold_table(documents_block(run, MOST_DOCUMENTS))
    count = sum(len(decision.outcomes) for decision in run.decisions)
    yield gates_block(run, f"Gates ({count:,})")
    yield errors_block(run, MOST_ERRORS)
    yield remarks_block(summary)
