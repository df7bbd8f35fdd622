"""The sources of a report: a result, its judged values, and the decisions by its gates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct, field

from fieldassay.decisions.diff.result import Diff
from fieldassay.metrics.result.decision import Decision
from fieldassay.metrics.result.result import Result
from fieldassay.reports.content.run.parts import report_parts
from fieldassay.reports.content.run.summary import summarize
from fieldassay.reports.content.run.terminal import render_answer, render_terminal
from fieldassay.reports.writers.page import Screen
from fieldassay.reports.writers.tables import render_markdown
from fieldassay.runs.value_sources import LinePlace, ValueSources

if TYPE_CHECKING:
    import polars as pl

Kept: TypeAlias = Literal["all", "errors", "none"]

MOST_CASES = 2_000
"""The default limit of test cases in a JUnit file."""


FILE_SCREEN = Screen(120)
"""How wide a report for a terminal is in a file."""


class ReportOptions(Struct, frozen=True):
    """The options of a report.

    `name` distinguishes comments of one pull request, `most_cases` bounds a JUnit file, `used` are the bytes
    already in the page it is appended to, `screen` is the target of a table, which has the answer
    alone unless it `is_whole`. `documents` are a folder of the
    documents (or one of them), to show where wrong values were read in a page that is in `folder`.
    """

    name: str = "report"
    most_cases: int = MOST_CASES
    used: int = 0
    screen: Screen = FILE_SCREEN
    is_whole: bool = True
    documents: Path | None = None
    folder: Path = Path()


def no_places(documents: Sequence[str]) -> Mapping[str, LinePlace]:  # noqa: ARG001
    """Return no place for any document: the places of gold are unknown."""
    return {}


class Reported(Struct, frozen=True, eq=False):
    """One run for reports.

    `evidence` is unread; `kept` is its choice of judged values. `label` names the run among several. `facts`
    are those of `run.json` (empty for a result outside any folder). `find_places` returns the places of the
    gold records of a few documents, without unknown ones. `diffs` compare the run with an earlier one, system
    by system.
    """

    result: Result
    evidence: pl.LazyFrame | None = None
    decisions: tuple[Decision, ...] = ()
    kept: Kept = "all"
    label: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    find_places: Callable[[Sequence[str]], Mapping[str, LinePlace]] = no_places
    diffs: tuple[Diff, ...] = ()
    open_sources: Callable[[], ValueSources] = ValueSources
    """Opens the sources of the values of extractions in their documents."""
    folder: Path | None = None
    """Where the run is on disk, if anywhere."""


def render_markdown_report(reported: Sequence[Reported], options: ReportOptions) -> Iterator[str]:  # noqa: ARG001
    """Yield the reports of runs as Markdown, one below the other."""
    for place, run in enumerate(reported):
        summary = summarize(run.result, run.evidence, decisions=run.decisions)
        yield ("\n" if place else "") + render_markdown(report_parts(summary))


def render_table_report(reported: Sequence[Reported], options: ReportOptions) -> Iterator[str]:
    """Yield the reports of runs as a terminal shows them, one below the other."""
    render = render_terminal if options.is_whole else render_answer

    for place, run in enumerate(reported):
        summary = summarize(run.result, run.evidence, decisions=run.decisions)
        yield ("\n" if place else "") + render(summary, options.screen)
