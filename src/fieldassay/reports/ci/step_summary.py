"""The step summary of a GitHub workflow, as Markdown within its limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fieldassay.reports.ci.changes import changes_blocks
from fieldassay.reports.ci.github_text import Block, assemble
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
    slices_blocks,
    summarize_run,
    systems_block,
    verdict_block,
)
from fieldassay.reports.reported import Reported, ReportOptions

LIMIT = 1_000_000
"""Bytes of a step summary; GitHub shows none that has more than 1,048,576."""

MOST_DOCUMENTS, MOST_ERRORS = 20, 2_000


def render_step_summary(reported: Sequence[Reported], options: ReportOptions) -> Iterator[str]:
    """Yield the step summary of runs: the verdict, numbers, gates, worst fields and documents, wrong values.

    Wrong values are folded. The summary has at most `LIMIT` bytes, less those already in the page; the rest
    is cut between two rows, and counted.
    """
    return assemble(
        drop_empty(block for run in reported for block in _blocks(run)), max(0, LIMIT - options.used)
    )


def _blocks(run: Reported) -> Iterator[Block]:
    summary = summarize_run(run)
    yield verdict_block(run, summary)
    yield systems_block(summary)
    yield baseline_block(run)
    yield from changes_blocks(run)
    yield losses_block(summary)
    yield compared_block(summary)
    yield gates_block(run)
    yield headline_block(summary)
    yield from fields_blocks(summary)
    yield documents_block(run, MOST_DOCUMENTS)
    yield from slices_blocks(summary)
    yield errors_block(run, MOST_ERRORS)
    yield remarks_block(summary)
