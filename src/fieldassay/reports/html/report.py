"""The report as one HTML file, from run folders or from a result in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fieldassay.gates.gate import decide_result
from fieldassay.reports.html.page import render_html_report
from fieldassay.reports.report import read_reported, report_scored, write_report
from fieldassay.reports.reported import ReportOptions
from fieldassay.result.result import Result


def render_html(result: Result) -> str:
    """Return the report of a result as one HTML page; it says GO or NO-GO by the gates of the spec.

    >>> from fieldassay.scoring.score import score
    >>> page = render_html(score([{"id": 1, "n": 5}], [{"id": 1, "n": 5}], "{name: small, fields: {n: number}}"))
    >>> page[:15], "<title>small" in page
    ('<!doctype html>', True)
    """
    return "".join(render_html_report([report_scored(result, None, decide_result(result))], ReportOptions()))


def write_html_report(runs: Sequence[Path], target: Path) -> None:
    """Write the report of run folders as one HTML file, whole or not at all; the systems of several runs stand side by side.

    Raises `ProblemsError` for what is not a run, for a damaged one, and where the file cannot be written.
    """
    write_report(read_reported(runs), "html", target)
