"""A run's judged values and comparisons as files for other programs and for readers."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from fieldassay.errors import nearest, problem
from fieldassay.io.files.tables import (
    Sheet,
    csv_text,
    format_hidden,
    show_names,
    workbook_bytes,
    write_parquet,
)
from fieldassay.io.files.whole_files import write_whole
from fieldassay.io.json_value import json_line
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.result.curves import trace_curves
from fieldassay.metrics.result.result import Result
from fieldassay.public import public
from fieldassay.reports.content.run.run_decisions import decisions_of_run
from fieldassay.reports.export.detail import list_classification_of_run
from fieldassay.reports.export.executive import render_executive
from fieldassay.reports.export.guide import guide_result
from fieldassay.reports.export.judgements import Judgement, counts_silence, list_judgements
from fieldassay.reports.export.run_errors import error_report_of_run
from fieldassay.reports.export.tables import (
    Listing,
    check_system,
    list_suspicious_gold_of_run,
)
from fieldassay.reports.findings.losses import find_losses
from fieldassay.runs.run import Run, corrupt_run_errors

if TYPE_CHECKING:
    import polars as pl


COLUMNS = (
    "doc",
    "system",
    "field",
    "extracted",
    "ground_truth",
    "correct",
    "score",
    "outcome",
    "reason",
    "diagnosis",
)
"""The columns of a CSV file of judged values."""

ESTIMATE_COLUMNS = (
    "system",
    "metric",
    "field",
    "slice",
    "value",
    "low",
    "high",
    "n",
    "documents",
    "failed",
    "unit",
    "marks",
)
"""The columns of the estimates in a workbook."""

_ROWS_AT_ONCE = 5_000
_BYTES_AT_ONCE = 1 << 20


class _Asked(Struct, frozen=True):
    """A request: the run, the file, the export, and the system (None: all)."""

    run: Run
    target: Path
    system: str | None


@public
def export_run(
    folder: str | Path, target: str | Path, system: str | None = None, table: str | None = None
) -> str:
    """Write a table of a run to a file and return its content in words.

    `table` is one of `TABLES`, and the ending of the file determines its format. Without it `.csv`, `.xlsx`
    and `.parquet` are the judged values, `.json` the results by system, `.svg` the curve F(t) of lists paired
    by similarity. The comparison has a drawing beside it: `new.svg` for `new.md`. The file appears whole or
    not at all. Raises `ProblemsError` for another ending, an unknown system, a run that kept too little, and
    a target that is one of the run's own inputs or files.
    """
    target = Path(target)
    name, ending = _choose(target, table)
    run = Run.open(Path(folder))
    _check_target(run, target)
    with corrupt_run_errors(run):
        write_whole(target, TABLES[name].writers[ending](_Asked(run, target, system)))
    return TABLES[name].held


def _choose(target: Path, table: str | None) -> tuple[str, str]:
    """Return the name and the ending of the table; raise `ProblemsError` for unknown ones."""
    ending = target.suffix.lower()
    name = BY_ENDING.get(ending, "") if table is None else table
    if table is None and not name:
        said = f"the ending {target.suffix!r} is that of no table" if ending else "the name has no ending"
        raise problem(target, said, f"use one of: {', '.join(sorted(BY_ENDING))}", "unknown_format")
    if name not in TABLES:
        raise problem(
            "--table", f"no table is called {name[:100]!r}", nearest(name[:100], TABLES), "unknown_name"
        )
    if ending not in TABLES[name].writers:
        remedy = f"use one of: {', '.join(TABLES[name].writers)}"
        raise problem(target, f"{name} cannot be written so", remedy, "unknown_format")
    return name, ending


def _check_target(run: Run, target: Path) -> None:
    inputs = run.facts.get("inputs")
    labels = [] if inputs is None else [inputs["gold"], *inputs["predictions"].values()]
    place = target.resolve()
    if not {place, *place.parents}.isdisjoint(Path(label).resolve() for label in [*labels, run.folder]):
        what = "is an input of the run, or in a folder of its inputs, or in its own"
        raise problem(target, what, "choose another file", "export_target")
    if target.is_dir():
        raise problem(target, "is a folder", "name a file", "export_target")


def _csv(asked: _Asked) -> Iterator[str]:
    result, rows = _with_evidence(asked)
    return write_csv(list_judgements(rows, asked.system, with_silence=counts_silence(result)))


def _json(asked: _Asked) -> Iterator[str]:
    result, _ = _with_evidence(asked)
    chosen = result.systems if asked.system is None else (asked.system,)
    found = {name: guide_result(result, name) for name in chosen}
    yield json_line(found, indent=1) + "\n"


def _markdown(asked: _Asked) -> Iterator[str]:
    if asked.system is not None:
        raise problem(
            asked.run.folder, "a comparison is of all systems", "leave out --system", "invalid_option"
        )
    result, rows = asked.run.result, asked.run.evidence
    losses = (
        {}
        if rows is None or result.documents is None
        else find_losses(rows, result.documents, result.systems)
    )
    started, decisions = str(asked.run.facts.get("started") or ""), decisions_of_run(asked.run)
    yield render_executive(result, started, losses, decisions)


def _errors(asked: _Asked) -> Iterator[str]:
    yield error_report_of_run(asked.run, asked.system)


def _curves(asked: _Asked) -> pl.DataFrame:
    """Return the steps of F(t) of a run's lists; `ProblemsError` without lists paired by similarity."""
    import polars as pl

    result, rows = _with_evidence(asked)
    items = rows.filter(pl.col("kind") == "item")
    chosen = items if asked.system is None else items.filter(pl.col("system") == asked.system)
    steps = trace_curves(chosen.collect(), result.documents)
    if steps.is_empty():
        raise problem(
            asked.run.folder,
            "has no list whose items were paired by similarity",
            "F(t) is of such lists",
            "missing_part",
        )
    return steps


def _workbook(asked: _Asked) -> Iterator[bytes]:
    result, rows = _with_evidence(asked)
    judged = list_judgements(rows, asked.system, with_silence=counts_silence(result))
    estimates = [one for one in result.estimates if asked.system in (None, one.system)]
    summary = [_estimate_cells(one) for one in estimates if one.field is None]
    fields = [_estimate_cells(one) for one in estimates if one.field is not None]
    return workbook_bytes(
        [
            Sheet("summary", ESTIMATE_COLUMNS, summary),
            Sheet("fields", ESTIMATE_COLUMNS, fields),
            Sheet("values", COLUMNS, map(_cells, judged)),
        ]
    )


def _estimate_cells(one: Estimate) -> Sequence[Any]:
    slice = ", ".join(f"{key}={value}" for key, value in one.slice.items())
    numbers = (one.value, *(one.interval or (None, None)), one.n, one.documents, one.failed)
    return show_names((one.system, one.metric, one.field, slice, *numbers, one.unit, ", ".join(one.marks)))


def _parquet(asked: _Asked) -> Iterator[bytes]:
    """Yield the evidence as a Parquet file, in bounded memory."""
    import polars as pl

    _, rows = _with_evidence(asked)
    with tempfile.TemporaryDirectory(prefix="fieldassay-") as folder:
        file = Path(folder) / "rows.parquet"
        write_parquet(rows if asked.system is None else rows.filter(pl.col("system") == asked.system), file)
        with file.open("rb") as stream:
            while portion := stream.read(_BYTES_AT_ONCE):
                yield portion


def _curve(asked: _Asked) -> Iterator[str]:
    steps = _curves(asked)
    yield csv_text([steps.columns, *map(show_names, steps.iter_rows())])


Writer: TypeAlias = Callable[[_Asked], Iterable[str] | Iterable[bytes]]


def _listing(listed: Callable[[Run, str | None], Listing]) -> Mapping[str, Writer]:
    def write(asked: _Asked) -> Iterator[str]:
        return listed(asked.run, asked.system).write(asked.target.suffix.lower())

    return dict.fromkeys((".json", ".csv", ".md"), write)


class Table(Struct, frozen=True):
    """A table of a run: its content in words, and its writers by the ending of the file."""

    held: str
    writers: Mapping[str, Writer]


TABLES: Mapping[str, Table] = {
    "values": Table("judged values", {".csv": _csv, ".xlsx": _workbook, ".parquet": _parquet}),
    "results": Table("results by system", {".json": _json}),
    "comparison": Table("comparison of the systems", {".md": _markdown}),
    "errors": Table("error report", {".md": _errors}),
    "curve": Table("F(t)", {".csv": _curve}),
    "fields": Table("precision, recall and F1 of fields", _listing(list_classification_of_run)),
    "suspicious-gold": Table("suspicious gold values", _listing(list_suspicious_gold_of_run)),
}
"""The tables by their names for `report --table`."""

BY_ENDING = {".csv": "values", ".xlsx": "values", ".parquet": "values", ".json": "results"}
"""The table that a file is without a name of one."""


def _with_evidence(asked: _Asked) -> tuple[Result, pl.LazyFrame]:
    folder = asked.run.folder
    result, rows = asked.run.result, asked.run.evidence
    check_system(asked.run, asked.system)
    if result.evidence_table is None or rows is None:
        raise problem(
            folder, "did not keep all judged values", "score again with --evidence all", "missing_part"
        )
    return result, rows


def write_csv(judgements: Iterable[Judgement]) -> Iterator[str]:
    """Yield the text of a CSV file of judged values, portion by portion, header first.

    A cell that a spreadsheet would take for a formula begins with an apostrophe; numbers stay as they are.

    >>> judged = Judgement("a", "1.png", "NAME", "Elm", "=1+1", False, 0.0, "mismatch",
    ...     "different", ("different",))
    >>> print("".join(write_csv([judged])), end="")
    doc,system,field,extracted,ground_truth,correct,score,outcome,reason,diagnosis
    1.png,a,NAME,'=1+1,Elm,false,0.0,mismatch,different,different
    """
    yield csv_text([COLUMNS])
    lines = map(_cells, judgements)
    while part := list(islice(lines, _ROWS_AT_ONCE)):
        yield csv_text(part)


def _cells(judged: Judgement) -> tuple[Any, ...]:
    names = map(format_hidden, (judged.document, judged.system, judged.field))
    outcome = (judged.is_correct, judged.score, judged.outcome, judged.reason, " | ".join(judged.diagnoses))
    return (*names, _shown(judged.pred), _shown(judged.gold), *outcome)


def _shown(value: Any) -> str:
    """Return a value with its own line breaks, and without other control characters."""
    text = "" if value is None else value if isinstance(value, str) else json_line(value)
    return text if text.isprintable() else "\n".join(map(format_hidden, text.split("\n")))
