"""Reports of a run: what they are made of, their formats, and how they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.decisions.diff.diff import Diff, diff_runs
from fieldassay.errors import problem
from fieldassay.io.files.whole_files import check_plain, convert, write_whole
from fieldassay.metrics.estimate import RecordedInputs
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.result.verdicts import Decision
from fieldassay.reports.content.run.parts import render_answer, render_terminal, report_parts
from fieldassay.reports.content.run.sections import decisions_of_run
from fieldassay.reports.content.run.summary import summarize
from fieldassay.reports.formats import find_format
from fieldassay.reports.writers.page import Screen
from fieldassay.reports.writers.tables import render_markdown
from fieldassay.runs.files import OWN_FILES, RUN, find_run
from fieldassay.runs.run import Run, mark_failed_answers
from fieldassay.runs.value_sources import ValueSources, open_value_sources

if TYPE_CHECKING:
    import polars as pl


# The sources of a report: a result, its judged values, and the decisions by its gates.

EvidenceExtent: TypeAlias = Literal["all", "errors", "none"]

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


class Reported(Struct, frozen=True, eq=False):
    """A run for reports.

    `evidence` is unread; `extent` is its choice of judged values. `facts` are those of `run.json` (empty
    for a result outside any folder). `diffs` compare the run with an earlier one, system by system.
    """

    result: Result
    evidence: pl.LazyFrame | None = None
    decisions: tuple[Decision, ...] = ()
    extent: EvidenceExtent = "all"
    facts: Mapping[str, Any] = field(default_factory=dict)
    diffs: tuple[Diff, ...] = ()
    open_sources: Callable[[], ValueSources] = ValueSources
    """Opens the sources of the values of extractions in their documents."""


def render_markdown_report(run: Reported, options: ReportOptions) -> Iterator[str]:  # noqa: ARG001
    """Yield the report of a run as Markdown."""
    yield render_markdown(report_parts(summarize(run.result, run.evidence, decisions=run.decisions)))


def render_table_report(run: Reported, options: ReportOptions) -> Iterator[str]:
    """Yield the report of a run as a terminal shows it."""
    render = render_terminal if options.is_whole else render_answer
    yield render(summarize(run.result, run.evidence, decisions=run.decisions), options.screen)


# Reports of runs for other programs and for pages: reading their sources, and writing them.

_RUN_FILES = OWN_FILES - {"report.html"}


def read_reported(folder: Path) -> Reported:
    """Return a run on disk for reports. Raises `ProblemsError` for a damaged one."""
    run = Run.open(folder)
    return Reported(
        result=run.result,
        evidence=mark_failed_answers(run.evidence, run.result.documents),
        decisions=decisions_of_run(run),
        extent=_read_extent(run.kept),
        facts=run.facts,
        open_sources=_sources_of(run.facts, run.result),
    )


def read_diffs(before: Path, after: Path, systems: Sequence[str]) -> tuple[Diff, ...]:
    """Return the diffs of a run with an earlier one: of each common system, or of the only one of both.

    Raises `ProblemsError` if they have no system in common, and for runs with another spec or other gold.
    """
    earlier = Run.open(before).result.systems
    common = [(name, name) for name in systems if name in earlier]
    pairs = common or ([(earlier[0], systems[0])] if len(earlier) == len(systems) == 1 else [])
    if not pairs:
        what = f"has none of the systems {', '.join(systems)[:200]}; it has: {', '.join(earlier)[:200]}"
        raise problem(before, what, "score the same systems in both runs", "unclear_system")
    return tuple(diff_runs(f"{before}:{first}", f"{after}:{second}") for first, second in pairs)


def render_diff(diff: Diff, store: Path) -> Iterator[str]:
    """Yield the HTML report of a run with its changes: that of the later one of two.

    Raises `ProblemsError` for systems of several other runs, which one report cannot show.
    """
    folders = dict.fromkeys(find_run(side.run, store) for side in diff.sides)
    if len(folders) > 1 and not diff.is_pair:
        remedy = "score their predictions together, or choose another format"
        raise problem(
            "diff", f"has systems of {len(folders)} runs; a page shows one", remedy, "unclear_system"
        )
    yield from render_report(replace(read_reported(list(folders)[-1]), diffs=(diff,)), "html")


def report_scored(
    result: Result,
    evidence: pl.LazyFrame | None,
    decisions: tuple[Decision, ...],
    extent: str | None = None,
) -> Reported:
    """Return a run that was just scored for reports.

    `extent` is the choice of judged values in its evidence; None: everything, if there is any.
    """
    rows = evidence if evidence is not None or result.evidence is None else result.evidence.lazy()
    rows = mark_failed_answers(rows, result.documents)
    has = _read_extent("all" if extent is None else extent) if rows is not None else "none"
    return Reported(result, rows, decisions, has, open_sources=_sources_of(result.run, result))


def _sources_of(facts: Mapping[str, Any], result: Result) -> Callable[[], ValueSources]:
    """Return a function that opens the sources of a run's values."""
    record = facts.get("inputs")
    try:
        inputs = None if record is None else convert(record, RecordedInputs)
    except ValueError:  # an old or foreign run: its report is as good without sources
        inputs = None
    spec = facts.get("spec")
    text = str(spec.get("text", "")) if isinstance(spec, Mapping) else ""
    documents = () if result.documents is None else result.documents["doc"].to_list()
    return partial(open_value_sources, inputs, text, documents)


def _read_extent(word: object) -> EvidenceExtent:
    return "all" if word == "all" else "errors" if word == "errors" else "none"


def write_report(reported: Reported, name: str, target: Path, options: ReportOptions | None = None) -> None:
    """Write a report to a file, whole or not at all.

    Raises `ProblemsError` for an unknown format, and for a target that is in the way.

    >>> from fieldassay.scoring.score import score
    >>> result = score([{"id": 1, "n": 5}], [{"id": 1, "n": 4}], "fields: {n: number}")
    >>> write_report(Reported(result), "junit", Path(getfixture("tmp_path")) / "junit.xml")
    """
    find_format(name)
    check_target(target, reported.result)
    placed = replace(options or ReportOptions(), folder=target.parent)
    write_whole(target, render_report(reported, name, placed))


def render_report(reported: Reported, name: str, options: ReportOptions | None = None) -> Iterator[str]:
    """Yield a report's text.

    Raises `ProblemsError` for an unknown format, and for documents with another format than HTML.
    """
    if options is not None and options.documents is not None and name != "html":
        what, remedy = f"cannot be shown in a {name} report", "choose the format html"
        raise problem("documents", what, remedy, "invalid_option")
    yield from find_format(name).make(reported, options or ReportOptions())


def append_report(reported: Reported, name: str, target: Path, options: ReportOptions | None = None) -> None:
    """Append a report to a shared file; raise `ProblemsError` if that is impossible."""
    _check_plain(target)
    used = target.stat().st_size if target.is_file() else 0
    text = "".join(render_report(reported, name, replace(options or ReportOptions(), used=used)))
    try:
        with target.open("ab") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        what = f"cannot be written ({error.strerror or error})"
        raise problem(target, what, "name another file with --out", "export_target") from None


def check_target(target: Path, result: Result) -> None:
    """Raise `ProblemsError` if a report would overwrite an input of a run or a file of a run folder."""
    _check_plain(target)
    place = target.resolve()
    inputs = result.run.get("inputs")
    named = [inputs["gold"], *inputs["predictions"].values()] if inputs else []
    in_run = target.name in _RUN_FILES and (place.parent / RUN).is_file()
    if in_run or place in {Path(label).resolve() for label in named}:
        raise problem(target, "is an input or a part of a run", "name another file", "export_target")


def _check_plain(target: Path) -> None:
    try:
        check_plain(target)
    except OSError as error:
        raise problem(
            target, f"cannot be written ({error.strerror})", "name another file", "export_target"
        ) from None
