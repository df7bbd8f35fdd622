"""The report as one HTML file, from run folders or from a result in memory."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fieldassay.api.folder import read_run, scan_evidence
from fieldassay.api.gating import GATES, decide_result
from fieldassay.api.rereading import damage_told, result_of_run
from fieldassay.errors import Problem, ProblemsError
from fieldassay.reports.html.page import render_html as render_page
from fieldassay.reports.html.page import write_html
from fieldassay.reports.html.source import ReportSource
from fieldassay.result.decision import decisions_data
from fieldassay.result.result import Result


def render_html(result: Result) -> str:
    """Return the report of a result as one HTML page; it says GO or NO-GO by the gates of the spec.

    >>> from fieldassay.api.scoring import score
    >>> page = render_html(score([{"id": 1, "n": 5}], [{"id": 1, "n": 5}], "{name: small, fields: {n: number}}"))
    >>> page[:15], "<title>small" in page
    ('<!doctype html>', True)
    """
    evidence = result.evidence
    decisions = tuple(decisions_data(decide_result(result))["decisions"])
    return render_page(ReportSource(result, None if evidence is None else evidence.lazy(), decisions))


def write_html_report(runs: Sequence[Path], target: Path) -> None:
    """Write the report of a run folder as one HTML file.

    Raises `ProblemsError` for what is not a run, for a damaged one, and where the file cannot be written.
    """
    source = read_source(runs)
    with damage_told(runs[0]):
        _write(target, write_html(source))


def read_source(runs: Sequence[Path]) -> ReportSource:
    """Return what the report of a run folder is made from."""
    if len(runs) != 1:
        what = f"takes one run, {len(runs)} are given"
        remedy = "score the systems together (`--pred NAME=FILE` for each), or write a report for each run"
        raise ProblemsError([Problem("the HTML report", what, remedy, "one_run")])
    [folder] = runs
    facts = read_run(folder)
    return ReportSource(result_of_run(folder), scan_evidence(folder), _decisions(folder), facts)


def _decisions(folder: Path) -> tuple[Mapping[str, Any], ...]:
    """Return the decisions that a run folder holds; () if it had no gates."""
    file = folder / GATES
    if not file.is_file():
        return ()
    try:
        return tuple(json.loads(file.read_bytes())["decisions"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ProblemsError([Problem(str(file), f"is not a file of gates ({error})", "score again with `--out`", "damaged_run")]) from None


def _write(target: Path, parts: Iterable[str]) -> None:
    """Write a file as a whole or not at all."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                file.writelines(parts)
            Path(name).chmod(0o644)
            Path(name).replace(target)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise ProblemsError([Problem(str(target), f"cannot be written ({error.strerror or error})", "choose another file", "run_folder")]) from None
