"""A run of the challenge corpus as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fieldassay.documents.corpus.manifest import DIFFICULTIES, METRICS, THRESHOLDS
from fieldassay.io.text.shown import visible
from fieldassay.metrics.estimate import NOTHING, format_both, format_interval
from fieldassay.metrics.thresholds import format_compared, format_threshold, holds
from fieldassay.reports.content.sweeps import describe_twins
from fieldassay.reports.writers.page import Column, Page, Screen

if TYPE_CHECKING:
    from fieldassay.metrics.estimate import Estimate
    from fieldassay.runs.sweep import CorpusRun

TASK, DIFFICULTY = "task", "difficulty"


def render_corpus(made: CorpusRun, screen: Screen) -> str:
    """Return the accuracy by difficulty and by task, and what degradations cost."""
    page = Page(screen)
    if made.estimates:
        _tables(page, made)
    stopped = [
        f"{task}/{name}"
        for task, sweep in made.sweeps.items()
        for name, one in sweep.extractions.items()
        if not one.is_complete
    ]
    if stopped:
        page.line(
            f"not complete, and so not compared: {visible(', '.join(stopped))}; the same command goes on"
        )
    page.line("")
    page.line(f"written to {made.folder}: {', '.join(made.sweeps)}; each task has its run, with all figures")
    return page.text()


def _tables(page: Page, made: CorpusRun) -> None:
    systems = list(dict.fromkeys(one.system for one in made.estimates))
    heads = [Column("documents", is_number=True), *(Column(visible(name)) for name in systems)]
    for metric in METRICS:
        rows = []
        for value in DIFFICULTIES:
            asked = THRESHOLDS.get(value, {}).get(metric)
            cells = list(_cells(made.estimates, metric, (DIFFICULTY, value), systems, asked))
            if cells:
                rows.append((value, NOTHING if asked is None else format_threshold(asked), *cells))
        page.line(
            f"{metric.replace('_', ' ')} by difficulty, with the thresholds of the engineering protocol"
        )
        page.table([Column("difficulty"), Column("at least", is_number=True), *heads], rows)
        page.line("")
    names = dict.fromkeys(one.slice[TASK] for one in made.estimates if TASK in one.slice)
    rows = [(name, *_cells(made.estimates, "accuracy", (TASK, name), systems, None)) for name in names]
    rows.append(("all", *_cells(made.estimates, "accuracy", None, systems, None)))
    page.line("accuracy by task")
    page.table([Column("task"), *heads], rows)
    lines = [describe_twins(one) for one in made.twins if one.metric == "accuracy"]
    if lines:
        page.line("")
        page.line("Degraded documents against the same documents clean")
        for line in lines:
            page.line(f"  {line}")
    for line in failures(made):
        page.line(line)


def failures(made: CorpusRun) -> Iterator[str]:
    """Yield a line for each system and kind of failure, with the first document that failed so."""
    counts: dict[tuple[str, str], int] = {}
    first: dict[tuple[str, str], str] = {}
    for sweep in made.sweeps.values():
        for name, one in sweep.extractions.items():
            for kind, count in one.manifest["failures"].items():
                counts[name, kind] = counts.get((name, kind), 0) + count
            for kind, told in one.manifest["first_failures"].items():
                message = visible(" ".join(told["message"].split()))[:300]
                first.setdefault((name, kind), f"such as {visible(told['id'])}: {message}")
    if counts:
        yield ""
    for (name, kind), count in counts.items():
        yield f"{visible(name)}: {count:,} failed and count as empty ({kind}), {first.get((name, kind), '')}"


def _cells(
    estimates: Sequence[Estimate],
    metric: str,
    slice_: tuple[str, str] | None,
    systems: Sequence[str],
    asked: float | None,
) -> Iterator[str]:
    """Yield the number of documents, and each system's value; nothing where there is no document."""
    wanted = {} if slice_ is None else dict([slice_])
    found = {one.system: one for one in estimates if one.metric == metric and dict(one.slice) == wanted}
    if found:
        yield f"{max(one.documents for one in found.values()):,}"
        yield from (_format_value(found.get(name), asked) for name in systems)


def _format_value(one: Estimate | None, asked: float | None) -> str:
    if one is None or one.value is None:
        return NOTHING
    if asked is None:
        return format_both(one)
    interval = f" ({bounds})" if (bounds := format_interval(one)) else ""
    verdict = "PASS" if holds(one.value, ">=", asked, one.unit) else "FAIL"
    return f"{format_compared(one.value, asked, one.unit)}{interval} {verdict}"
