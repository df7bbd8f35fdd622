"""Tables of a run as files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from fieldassay.attribution.share import Suspicion, suspicious_gold_of_run
from fieldassay.errors import nearest, problem
from fieldassay.io.files.tables import WorkbookTable, csv_text, format_hidden, workbook_bytes, write_parquet
from fieldassay.io.files.whole_files import write_whole
from fieldassay.io.json_value import json_line, read_given
from fieldassay.io.text.shown import clip, format_markdown
from fieldassay.metrics.estimate import NOTHING, format_both, format_number, format_slice
from fieldassay.metrics.result.result import (
    Result,
    find_main,
)
from fieldassay.metrics.result.tables import trace_curves
from fieldassay.public import public
from fieldassay.reports.content.run.sections import decisions_of_run
from fieldassay.reports.content.run.summary import describe_method, summarize
from fieldassay.reports.export.pages import render_error_report, render_executive
from fieldassay.reports.findings.losses import find_losses
from fieldassay.reports.findings.recommendation import advise
from fieldassay.reports.writers.page import PageColumn, Screen, ScreenPage
from fieldassay.reports.writers.tables import markdown_row
from fieldassay.runs.run import Run

if TYPE_CHECKING:
    import polars as pl


# Tables of a run for other programs, and the one function that writes any of them.

_ROWS_AT_ONCE = 50_000
_BYTES_AT_ONCE = 1 << 20
_CELL, _NAME = 300, 60


class ExportRows(Struct, frozen=True, eq=False):
    """The rows of a table: what `shape` makes of any part of the rows of `source`; a note stands beside."""

    source: pl.LazyFrame
    shape: Callable[[pl.LazyFrame], pl.LazyFrame] = lambda frame: frame
    note: str = ""

    @property
    def columns(self) -> list[str]:
        """Return the names of the columns."""
        return self.shape(self.source).collect_schema().names()

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows, so many at once that memory is bounded."""
        import polars as pl

        size = int(self.source.select(pl.len()).collect().item())
        for start in range(0, size, _ROWS_AT_ONCE):
            yield from self.shape(self.source.slice(start, _ROWS_AT_ONCE)).collect().iter_rows()


Content: TypeAlias = ExportRows | dict[str, Any] | str


class RunTable(Struct, frozen=True):
    """A table of a run: its content in words, the function that makes it, and the endings of its files.

    The function takes a run and a system (None: all); it returns rows, data for JSON, or Markdown.
    """

    words: str
    make: Callable[[Run, str | None], Content]
    endings: tuple[str, ...] = (".csv", ".xlsx", ".parquet", ".json", ".md")
    is_of_all: bool = False
    """Whether it is of all systems together."""


@public
def export_run(
    folder: str | Path, target: str | Path, system: str | None = None, table: str | None = None
) -> str:
    """Write a table of a run to a file and return its content in words.

    `table` is one of `TABLES`, and the ending of the file determines its format. Without it the table has the
    judged values, beside the estimates in `.xlsx`. The file appears whole or not at all. Raises
    `ProblemsError` for another ending, an unknown system, a run that kept too little, and a target that is
    one of the run's own inputs or files.
    """
    target = Path(target)
    ending = target.suffix.lower()
    name = BY_ENDING.get(ending, "") if table is None else table
    if not name:
        said = f"the ending {target.suffix!r} is that of no table" if ending else "the name has no ending"
        raise problem(target, said, f"use one of: {', '.join(sorted(BY_ENDING))}", "unknown_format")
    chosen = find_table(name)
    if ending not in chosen.endings:
        remedy = f"use one of: {', '.join(chosen.endings)}"
        raise problem(target, f"{name} cannot be written so", remedy, "unknown_format")
    run = Run.open(Path(folder))
    run.check_target(target)
    more = [("estimates", list_estimates(run, system))] if table is None and ending == ".xlsx" else []
    write_whole(target, _write([*more, (name, _make(chosen, run, system))], ending))
    return chosen.words


def find_table(name: str) -> RunTable:
    """Return the table of a name. Raises `ProblemsError` with the nearest name."""
    if name not in TABLES:
        what = f"no table is called {name[:100]!r}"
        raise problem("--table", what, nearest(name[:100], TABLES), "unknown_name")
    return TABLES[name]


def _make(table: RunTable, run: Run, system: str | None) -> Content:
    known = run.result.systems
    if system is not None and system not in known:
        raise problem(run.folder, f"no system {system[:100]!r}", nearest(system[:100], known), "unknown_name")
    if system is not None and table.is_of_all:
        raise problem(run.folder, f"{table.words}: is of all systems", "leave out --system", "invalid_option")
    return table.make(run, system)


def print_table(folder: Path, name: str, system: str | None, screen: Screen) -> str:
    """Return a table of a run as text for a terminal."""
    run, table = Run.open(folder), find_table(name)
    content = _make(table, run, system)
    if not isinstance(content, ExportRows):
        return "".join(map(str, _write([(name, content)], table.endings[0])))
    rows = list(content)
    page, title = ScreenPage(screen), f"{table.words[:1].upper()}{table.words[1:]}"
    page.title(f"{title}: {len(rows):,}" if rows else f"{title}: nothing")
    if rows:
        are_numbers = [all(not isinstance(one, str) for one in cells) for cells in zip(*rows, strict=True)]
        columns = map(PageColumn, content.columns, are_numbers, [at in _NAMES for at in content.columns])
        page.table(list(columns), [[clip(_format(one), _CELL) for one in row] for row in rows])
    if content.note:
        page.line(content.note, "dim")
    return page.text()


_NAMES = ("doc", "path", "system", "field", "metric")
"""The columns of names, which a terminal does not break."""


def _write(contents: Sequence[tuple[str, Content]], ending: str) -> Iterator[str] | Iterator[bytes]:
    """Return the portions of a file: of a workbook with a sheet for each content, else of the last one."""
    name, content = contents[-1]
    if isinstance(content, str):
        return iter([content])
    if isinstance(content, dict):
        return iter([json_line(content, indent=1) + "\n"])
    if ending == ".xlsx":
        sheets = [(each, rows) for each, rows in contents if isinstance(rows, ExportRows)]
        return workbook_bytes([WorkbookTable(each, rows.columns, map(_show, rows)) for each, rows in sheets])
    if ending == ".parquet":
        return _parquet(content)
    return {".csv": _csv, ".json": _json, ".md": _markdown}[ending](TABLES[name].words, content)


def _csv(_: str, rows: ExportRows) -> Iterator[str]:
    """Yield CSV: a cell that a spreadsheet would take for a formula begins with an apostrophe."""
    lines = chain([rows.columns], map(_show, rows))
    while part := list(islice(lines, _ROWS_AT_ONCE)):
        yield csv_text(part)


def _json(_: str, rows: ExportRows) -> Iterator[str]:
    """Yield a JSON array with a row on each line."""
    columns, before = rows.columns, "[\n"
    for row in rows:
        yield f"{before} {json_line(dict(zip(columns, row, strict=True)))}"
        before = ",\n"
    yield "\n]\n" if before.startswith(",") else "[]\n"


def _parquet(rows: ExportRows) -> Iterator[bytes]:
    with tempfile.TemporaryDirectory(prefix="fieldassay-") as folder:
        file = Path(folder) / "rows.parquet"
        write_parquet(rows.shape(rows.source), file)
        with file.open("rb") as stream:
            while portion := stream.read(_BYTES_AT_ONCE):
                yield portion


def _markdown(words: str, rows: ExportRows) -> Iterator[str]:
    yield f"# {words[:1].upper()}{words[1:]}\n\n"
    yield f"{format_markdown(rows.note[:1].upper() + rows.note[1:], 600)}.\n\n" if rows.note else ""
    for at, line in enumerate(chain([rows.columns], rows)):
        yield markdown_row(format_markdown(_format(cell), _CELL) for cell in line)
        yield "" if at else markdown_row(["---"] * len(rows.columns))


def _show(row: Iterable[Any]) -> list[Any]:
    """Return a row without control characters and direction marks in its texts, but their line breaks."""
    return [
        "\n".join(map(format_hidden, one.split("\n")))
        if isinstance(one, str) and not one.isprintable()
        else one
        for one in row
    ]


def _format(value: Any) -> str:
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return str(value).lower()
    return format_number(value) if isinstance(value, float) else str(value)


def list_values(run: Run, system: str | None) -> ExportRows:
    """Return the judged values, one by one; values that neither side has if the main metric counts them."""
    import polars as pl

    result, rows = _with_evidence(run)
    main, outcome = find_main(result), pl.col("outcome")
    chosen = pl.col("kind") == "value"
    if system is not None:
        chosen &= pl.col("system") == system
    if main is None or main.regime != "baseline":
        chosen &= outcome != "absent"

    def shape(part: pl.LazyFrame) -> pl.LazyFrame:
        as_text = {name: pl.col(name).map_elements(_as_text, pl.String) for name in ("pred", "gold")}
        return part.filter(chosen).select(
            "doc", "system", pl.coalesce("gold_path", "pred_path", "field").alias("field"),
            as_text["pred"].alias("extracted"), as_text["gold"].alias("ground_truth"),
            outcome.is_in(["absent", "match"]).alias("correct"),
            pl.when(outcome == "absent").then(1.0).when(outcome != "failed").then("score").alias("score"),
            "outcome", "reason", pl.col("diagnoses").list.join(" | ").alias("diagnosis"),
        )  # fmt: skip

    return ExportRows(rows, shape)


def _as_text(given: str) -> str:
    value = read_given(given)
    return "" if value is None else value if isinstance(value, str) else json_line(value)


def _with_evidence(run: Run) -> tuple[Result, pl.LazyFrame]:
    result, rows = run.result, run.evidence
    if result.evidence_table is None or rows is None:
        what, remedy = "did not keep all judged values", "score again with --evidence all"
        raise problem(run.folder, what, remedy, "missing_part")
    return result, rows


def list_estimates(run: Run, system: str | None) -> ExportRows:
    """Return every estimate of the run: of all documents and of slices, of all values and of fields."""
    import polars as pl

    lines = [
        {
            "system": one.system, "metric": one.metric, "field": one.field,
            "slice": format_slice(one.slice),
            "value": one.value, **dict(zip(("low", "high"), one.interval or (None, None), strict=True)),
            "n": one.n, "documents": one.documents, "failed": one.failed, "unit": one.unit,
            "marks": ", ".join(one.marks),
        }
        for one in run.result.estimates if system in (None, one.system)
    ]  # fmt: skip
    return ExportRows(pl.LazyFrame(lines, infer_schema_length=None))


def list_metrics_by_system(run: Run, system: str | None) -> ExportRows:
    """Return the metrics at the head of every report, with intervals, as texts: a column for each system."""
    import polars as pl

    summary = summarize(run.result)
    columns = {"metric": [line.label for line in summary.headline]}
    for at, name in enumerate(summary.systems):
        if system in (None, name):
            columns[name] = [format_both(line.estimates[at]) for line in summary.headline]
    note = f"{clip(summary.name, 100)}, {summary.counted}"
    return ExportRows(pl.LazyFrame(columns), note=f"{note}; {describe_method(summary)}")


def list_suspicious_gold(run: Run, _: str | None) -> ExportRows:
    """Return the gold values of a run that all or most of its systems contradict in the same way.

    Raises `ProblemsError` for a run of one system.
    """
    import polars as pl

    found = suspicious_gold_of_run(run)
    lines = [tuple(asdict(one).values()) for one in found.values]
    frame = pl.LazyFrame(lines, schema=Suspicion.__struct_fields__, orient="row", infer_schema_length=None)
    return ExportRows(frame, note=found.extent)


def list_curve(run: Run, system: str | None) -> ExportRows:
    """Return the steps of F(t) of a run's lists; `ProblemsError` without lists paired by similarity."""
    import polars as pl

    result, rows = _with_evidence(run)
    items = rows.filter(pl.col("kind") == "item")
    chosen = items if system is None else items.filter(pl.col("system") == system)
    steps = trace_curves(chosen.collect(), result.documents)
    if steps.is_empty():
        what = "has no list whose items were paired by similarity"
        raise problem(run.folder, what, "F(t) is of such lists", "missing_part")
    return ExportRows(steps.lazy())


def list_recommendation(run: Run, _: str | None) -> dict[str, Any]:
    """Return what every report of a run recommends."""
    return asdict(advise(run.result, decisions_of_run(run)))


def compare_for_executives(run: Run, _: str | None) -> str:
    """Return the comparison of all systems for those who decide, as Markdown."""
    result, rows = run.result, run.evidence
    losses = {}
    if rows is not None and result.documents is not None:
        losses = find_losses(rows, result.documents, result.systems, counts=result.counts)
    return render_executive(result, str(run.facts.get("started") or ""), losses, decisions_of_run(run))


TABLES: Mapping[str, RunTable] = {
    "values": RunTable("judged values", list_values),
    "estimates": RunTable("estimates", list_estimates),
    "metrics": RunTable("metrics of the systems", list_metrics_by_system),
    "curve": RunTable("F(t)", list_curve),
    "suspicious-gold": RunTable("suspicious gold", list_suspicious_gold, is_of_all=True),
    "recommendation": RunTable("recommendation", list_recommendation, (".json",), is_of_all=True),
    "comparison": RunTable("comparison of the systems", compare_for_executives, (".md",), is_of_all=True),
    "errors": RunTable("error report", render_error_report, (".md",)),
}
"""The tables by their names for `report --table`."""

BY_ENDING = dict.fromkeys((".csv", ".xlsx", ".parquet", ".json"), "values")
"""The table that a file is without a name of one."""
