"""Tables of a run as files, and the guide of a result."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict, replace

from fieldassay.attribution.share import Suspicion, suspicious_gold_of_run
from fieldassay.decisions.losses import JUDGED, find_losses
from fieldassay.errors import ProblemsError, nearest, problem
from fieldassay.io.files.tables import WorkbookTable, csv_text, format_hidden, workbook_bytes, write_parquet
from fieldassay.io.files.whole_files import write_whole
from fieldassay.io.json_value import json_line, read_given
from fieldassay.io.text.shown import clip, format_markdown
from fieldassay.metrics.catalogue.grammar import parse_metric
from fieldassay.metrics.estimate import (
    HIGHEST,
    NOTHING,
    Estimate,
    format_both,
    format_number,
    format_slice,
)
from fieldassay.metrics.evidence import COST, value_places
from fieldassay.metrics.result.result import (
    POOLED,
    Result,
    find_main,
    find_named,
    list_fields,
    tabulate_estimates,
)
from fieldassay.metrics.result.tables import trace_curves
from fieldassay.public import public
from fieldassay.reports.content.run.sections import decisions_of_run
from fieldassay.reports.content.run.summary import LEVELS, describe_method, share_levels, summarize
from fieldassay.reports.export.pages import find_kept, render_error_report, render_executive
from fieldassay.reports.findings.recommendation import advise
from fieldassay.reports.writers.page import PageColumn, Screen, ScreenPage
from fieldassay.reports.writers.tables import markdown_row
from fieldassay.runs.run import Run

if TYPE_CHECKING:
    import polars as pl


# A result in the shape of the business documents guide: per field, per image, best and worst.

MOST_FIELDS = 5
"""How many of the best and of the worst fields are listed."""


@public
def guide_result(result: Result, system: str | None = None) -> dict[str, Any]:
    """Return one system's result in the form of the guide's programmatic evaluation; any spec works.

    `overall_accuracy` is the main metric (the spec's score, else the accuracy). `overall_correct` and
    `overall_total` are its numerator and denominator, or those of the pooled accuracy; where both are means
    over documents, the sum of scores and the number of values. `scores` has every metric of the run. Each
    field has `accuracy` (or the spec's first metric by field), `correct` (a sum of scores) and `total`; each
    image its accuracy and its fields. A missing value is None, and so is an undefined figure. `best_fields`
    and `worst_fields` pair names and figures.

    Raises `ProblemsError` if the system is ambiguous, or if the result kept no evidence or not all of it.

    >>> from fieldassay.scoring.score import score
    >>> gold = [{"image_file": "a.png", "SUPPLIER_NAME": "Liberty Oil", "TOTAL_AMOUNT": "$94.87"}]
    >>> pred = [{"image_file": "a.png", "SUPPLIER_NAME": "Liberty Oil Ltd", "TOTAL_AMOUNT": "$94.87"}]
    >>> guide = guide_result(score(gold, pred, {"protocol": "business-documents"}))
    >>> round(guide["overall_accuracy"], 6), guide["images_evaluated"], guide["best_performing_image"]
    (0.95, 1, 'a.png')
    >>> guide["detailed_results"][0]["fields"]["SUPPLIER_NAME"]
    {'extracted': 'Liberty Oil Ltd', 'ground_truth': 'Liberty Oil', 'correct': True, 'accuracy_score': 0.9}
    """
    name = _choose_system(result, system)
    evidence, documents = result.evidence, result.documents
    if evidence is None or documents is None:
        raise _refusal("the result kept no evidence", "score with `evidence` set to all")
    main = find_main(result)
    overall = None if main is None else find_named(result, name, (main.metric,))
    pooled = find_named(result, name, POOLED)
    if pooled is None and overall is not None and overall.n > overall.documents:
        pooled = overall
    fields = list_fields(result, name)
    table = {
        field: {"accuracy": _share(estimate), "correct": _numerator(estimate), "total": estimate.n}
        for field, estimate in fields.items()
    }
    own = documents.filter(documents["system"] == name)
    judged = evidence["outcome"].is_in(JUDGED) & (evidence["kind"] == "value")
    values = evidence.filter(judged & (evidence["system"] == name))
    if not fields:
        scores = values.partition_by("field", as_dict=True, maintain_order=True)
        sums = {str(field): (float(rows["score"].sum()), len(rows)) for (field,), rows in scores.items()}
        table = {
            field: {"accuracy": right / n, "correct": right, "total": n} for field, (right, n) in sums.items()
        }
    perfect = find_named(result, name, ("perfect_documents",))
    guide = {
        "overall_accuracy": None if overall is None else _share(overall),
        "overall_correct": round(float(values["score"].sum()), 9) if pooled is None else _numerator(pooled),
        "overall_total": len(values) if pooled is None else pooled.n,
        "field_accuracies": table,
        "detailed_results": _images(
            own, judge_rows(evidence.lazy(), name, with_silence=counts_silence(result))
        ),
        "images_evaluated": len(own),
        "perfect_documents": int(perfect.value)
        if perfect is not None and perfect.unit == "count" and perfect.value is not None
        else int(own["perfect"].fill_null(0.0).sum()),
        **_extremes(own),
        "summary_stats": _summary(table),
        "scores": _scores(result, name),
    }
    return dict(_rounded(guide))


def _rounded(data: Any) -> Any:
    """Return the data with its numbers to nine decimals, to which sums of scores are exact."""
    if isinstance(data, dict):
        return {key: _rounded(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_rounded(value) for value in data]
    return round(data, 9) if isinstance(data, float) else data


def _scores(result: Result, system: str) -> dict[str, float | None]:
    """Return the system's value of each metric of the run over all documents and fields, as it is written."""
    by_metric = {text: result.select(parse_metric(text)) for text in result.run.get("metrics", ())}
    return {
        text: estimate.value
        for text, estimates in by_metric.items()
        for estimate in estimates
        if (estimate.system, estimate.field, estimate.slice) == (system, None, {})
    }


def _choose_system(result: Result, system: str | None) -> str:
    systems = result.systems
    if system is None and len(systems) == 1:
        return systems[0]
    if system in systems:
        return str(system)
    if system is None:
        raise _refusal("the result has several systems", f"name one of: {', '.join(systems)}")
    raise problem("guide", f"no system {system[:100]!r}", nearest(system[:100], systems), "unknown_name")


def _refusal(what: str, remedy: str) -> ProblemsError:
    return problem("guide", what, remedy, "missing_part")


def _numerator(estimate: Estimate) -> float | None:
    share = _share(estimate)
    return None if share is None else round(share * estimate.n, 9)


def _share(estimate: Estimate) -> float | None:
    """Return the value of an estimate; percent are parts of one, as the figures of images are."""
    return None if estimate.value is None else estimate.value / HIGHEST.get(estimate.unit, 1.0)


def judge_rows(evidence: pl.LazyFrame, system: str | None, *, with_silence: bool) -> pl.LazyFrame:
    """Return the judged values, of one system or of all: `correct`, and its `score` (None: failed).

    `field` is the place of the value. With `with_silence` a value that neither side has is one too: correct,
    with the score 1.
    """
    import polars as pl

    outcome = pl.col("outcome")
    chosen = pl.col("kind") == "value"
    chosen &= pl.lit(value=True) if system is None else pl.col("system") == system
    chosen &= pl.lit(value=True) if with_silence else outcome != "absent"
    score = pl.when(outcome == "absent").then(1.0).when(outcome != "failed").then(pl.col("score"))
    return evidence.filter(chosen).with_columns(
        field=pl.coalesce(value_places(), "field"),
        correct=outcome.is_in(["absent", "match"]),
        score=score,
    )


def counts_silence(result: Result) -> bool:
    """Return whether the result's main metric counts values that neither side has."""
    main = find_main(result)
    return main is not None and main.regime == "baseline"


def _images(documents: pl.DataFrame, judged: pl.LazyFrame) -> list[dict[str, Any]]:
    fields: dict[str, dict[str, Any]] = {name: {} for name in documents["doc"]}
    for row in judged.select("doc", "field", "pred", "gold", "correct", "score").collect().iter_rows():
        name, field, pred, gold, correct, score = row
        fields.setdefault(name, {})[field] = {
            "extracted": read_given(pred),
            "ground_truth": read_given(gold),
            "correct": correct,
            "accuracy_score": score,
        }
    scores = dict(zip(documents["doc"], documents["score"], strict=True))
    return [
        {"image_name": name, "overall_accuracy": scores.get(name), "fields": by_field}
        for name, by_field in fields.items()
    ]


def _extremes(documents: pl.DataFrame) -> dict[str, Any]:
    """Return the first of the best and the first of the worst documents, with their scores."""
    scored = [
        (name, score)
        for name, score in zip(documents["doc"], documents["score"], strict=True)
        if score is not None
    ]
    best = max(scored, key=lambda pair: pair[1], default=(None, None))
    worst = min(scored, key=lambda pair: pair[1], default=(None, None))
    return {
        "best_performing_image": best[0],
        "best_performance_accuracy": best[1],
        "worst_performing_image": worst[0],
        "worst_performance_accuracy": worst[1],
    }


def _summary(table: dict[str, dict[str, Any]]) -> dict[str, Any]:
    defined = [(name, figures) for name, figures in table.items() if figures["accuracy"] is not None]
    ordered = sorted(defined, key=lambda pair: -pair[1]["accuracy"])
    worst = sorted(defined, key=lambda pair: pair[1]["accuracy"])
    return {
        "best_fields": ordered[:MOST_FIELDS],
        "worst_fields": worst[:MOST_FIELDS],
        "avg_field_accuracy": sum(figures["accuracy"] for _, figures in defined) / len(defined)
        if defined
        else None,
    }


# Tables of a run for other programs and for papers, and the one function that writes any of them.

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
    endings: tuple[str, ...] = (".csv", ".xlsx", ".parquet", ".json", ".md", ".tex")
    is_of_all: bool = False
    """Whether it covers all systems together."""
    rows: Callable[[Run, str | None], ExportRows] | None = None
    """What makes its rows for other files than `.md`, where `make` makes a page."""


@public
def export_run(
    folder: str | Path, target: str | Path, system: str | None = None, table: str | None = None
) -> str:
    """Write a table of a run to a file and return its content in words.

    `table` is one of `TABLES`, and the ending of the file determines its format. Without it `.csv` and
    `.parquet` are the judged values, `.xlsx` those and the estimates, `.json` the results by system, `.tex`
    the metrics of the systems. The file appears whole or not at all. Raises `ProblemsError` for another
    ending, an unknown system, a run that kept too little, and a target that is one of the run's own inputs or
    files.

    >>> import fieldassay as fa
    >>> gold, answers = [{"id": "a", "total": 5}], [{"id": "a", "total": 6}]
    >>> result = fa.score(gold, answers, "fields: {total: number}")
    >>> folder = getfixture("tmp_path")
    >>> print(fa.export_run(result.save(folder / "run").folder, folder / "values.csv"))
    judged values
    """
    target = Path(target)
    ending = target.suffix.lower()
    name = BY_ENDING.get(ending, "") if table is None else table
    if not name:
        said = f"no table has the ending {target.suffix!r}" if ending else "the name has no ending"
        raise problem(target, said, f"use one of: {', '.join(sorted(BY_ENDING))}", "unknown_format")
    chosen = find_table(name)
    if ending not in chosen.endings:
        remedy = f"use one of: {', '.join(chosen.endings)}"
        raise problem(target, f"the table {name!r} cannot be written as {ending}", remedy, "unknown_format")
    run = Run.open(Path(folder))
    run.check_target(target)
    more = [("estimates", list_estimates(run, system))] if table is None and ending == ".xlsx" else []
    if chosen.rows is not None and ending != ".md":
        chosen = replace(chosen, make=chosen.rows)
    write_whole(target, _write([*more, (name, _make(chosen, run, system))], ending))
    return chosen.words


def find_table(name: str) -> RunTable:
    """Return the table of a name. Raises `ProblemsError` with the nearest name."""
    if name not in TABLES:
        what = f"no table is called {name[:100]!r}"
        raise problem("--table", what, nearest(name[:100], TABLES), "unknown_name")
    return TABLES[name]


def check_system(run: Run, system: str | None) -> None:
    """Raise `ProblemsError` with the nearest name for what is no system of the run."""
    systems = run.result.systems
    if system is not None and system not in systems:
        raise problem(
            run.folder, f"no system {system[:100]!r}", nearest(system[:100], systems), "unknown_name"
        )


def _make(table: RunTable, run: Run, system: str | None) -> Content:
    check_system(run, system)
    if system is not None and table.is_of_all:
        raise problem(
            run.folder, f"{table.words}: covers all systems", "leave out --system", "invalid_option"
        )
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
        are_numbers = [all(not isinstance(cell, str) for cell in cells) for cells in zip(*rows, strict=True)]
        columns = map(PageColumn, content.columns, are_numbers, [at in _NAMES for at in content.columns])
        page.table(list(columns), [[clip(_format(cell), _CELL) for cell in row] for row in rows])
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
    return {".csv": _csv, ".json": _json, ".md": _markdown, ".tex": _latex}[ending](
        TABLES[name].words, content
    )


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


def _latex(words: str, rows: ExportRows) -> Iterator[str]:
    """Yield a table of booktabs; no character of a cell is a command of LaTeX."""
    yield "% needs \\usepackage{booktabs} and \\usepackage[T1]{fontenc}\n"
    caption = escape_latex(clip(rows.note or words, 2 * _CELL))
    yield f"\\begin{{table}}\n\\centering\n\\caption{{{caption}.}}\n"
    yield f"\\begin{{tabular}}{{l{'r' * (len(rows.columns) - 1)}}}\n\\toprule\n"
    for at, line in enumerate(chain([rows.columns], rows)):
        yield f"{' & '.join(escape_latex(clip(_format(cell), _NAME)) for cell in line)} \\\\\n"
        yield "" if at else "\\midrule\n"
    yield "\\bottomrule\n\\end{tabular}\n\\end{table}\n"


_SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "—": "---", "…": r"\ldots{}",
    "−": "$-$", "→": r"$\rightarrow$", **{char: f"\\{char}" for char in "#$%&_{}"},
}  # fmt: skip


def escape_latex(text: str) -> str:
    r"""Return the text so that LaTeX prints it as it is: no character of it is a command.

    >>> print(escape_latex("50 % of a_b\\input{x}"))
    50 \% of a\_b\textbackslash{}input\{x\}
    """
    return "".join(_SPECIAL.get(char, char) for char in text)


def _show(row: Iterable[Any]) -> list[Any]:
    """Return a row without control characters and direction marks in its texts, but their line breaks."""
    return [
        "\n".join(map(format_hidden, cell.split("\n")))
        if isinstance(cell, str) and not cell.isprintable()
        else cell
        for cell in row
    ]


def _format(value: Any) -> str:
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return str(value).lower()
    return format_number(value) if isinstance(value, float) else str(value)


def list_values(run: Run, system: str | None) -> ExportRows:
    """Return the judged values, one by one; values that neither side has if the main metric counts them."""
    result, rows = _with_evidence(run)
    return ExportRows(rows, partial(_shape_values, system=system, with_silence=counts_silence(result)))


def list_wrong_values(run: Run, system: str | None) -> ExportRows:
    """Return the wrong ones of the judged values, also of a run that kept no others."""
    import polars as pl

    is_wrong = pl.col("outcome").is_in(["partial", "mismatch", "missing", "spurious"])
    wrong = find_kept(run).filter(is_wrong)
    return ExportRows(wrong, partial(_shape_values, system=system, with_silence=False))


def _shape_values(part: pl.LazyFrame, system: str | None, *, with_silence: bool) -> pl.LazyFrame:
    import polars as pl

    as_text = {name: pl.col(name).map_elements(_as_text, pl.String) for name in ("pred", "gold")}
    return judge_rows(part, system, with_silence=with_silence).select(
        "doc", "system", "field",
        as_text["pred"].alias("extracted"), as_text["gold"].alias("ground_truth"),
        "correct", "score", "outcome", "reason", pl.col("diagnoses").list.join(" | ").alias("diagnosis"),
        *([pl.col(COST).round(9)] if COST in part.collect_schema() else []),
    )  # fmt: skip


def _as_text(text: str) -> str:
    value = read_given(text)
    return "" if value is None else value if isinstance(value, str) else json_line(value)


def _with_evidence(run: Run) -> tuple[Result, pl.LazyFrame]:
    result, rows = run.result, run.evidence
    if result.evidence_table is None or rows is None:
        what, remedy = (
            "did not keep all judged values",
            "score again with --evidence all; the wrong ones: --table errors",
        )
        raise problem(run.folder, what, remedy, "missing_part")
    return result, rows


def list_estimates(run: Run, system: str | None) -> ExportRows:
    """Return every estimate of the run: of all documents and of slices, of all values and of fields."""
    import polars as pl

    lines = [
        {
            "system": estimate.system, "metric": estimate.metric, "field": estimate.field,
            "slice": format_slice(estimate.slice), "value": estimate.value,
            **dict(zip(("low", "high"), estimate.interval or (None, None), strict=True)),
            "n": estimate.n, "documents": estimate.documents, "failed": estimate.failed,
            "unit": estimate.unit, "marks": ", ".join(estimate.marks),
        }
        for estimate in run.result.estimates if system in (None, estimate.system)
    ]  # fmt: skip
    return ExportRows(pl.LazyFrame(lines, infer_schema_length=None))


def list_metrics_by_system(run: Run, system: str | None) -> ExportRows:
    """Return the metrics at the head of every report, with intervals, as texts: a column for each system."""
    import polars as pl

    summary = summarize(run.result)
    columns = {"metric": [line.label for line in summary.headline]}
    for name in run.result.systems if system is None else (system,):
        at = summary.systems.index(name)
        columns[name] = [format_both(line.estimates[at]) for line in summary.headline]
    note = f"{clip(summary.name, 100)}, {summary.counted}"
    return ExportRows(pl.LazyFrame(columns), note=f"{note}; {describe_method(summary)}")


def field_rows(run: Run, system: str | None) -> ExportRows:
    """Return precision, recall, F1 and support of each field, and their averages, as in scikit-learn.

    The numbers are those of the run's metrics; raises `ProblemsError` where it lacks one.
    """
    import polars as pl

    measures, averages = (
        ("precision", "recall", "f1"),
        {"micro": "", "macro": "macro_", "weighted": "weighted_"},
    )
    rows: list[tuple[Any, ...]] = []
    for name in run.result.systems if system is None else (system,):
        table = tabulate_estimates(run.result, name)
        lacking = [metric for metric in (*measures, "support") if not any(table.get(metric, {}))]
        means = [f"{prefix}{metric}" for prefix in ("macro_", "weighted_") for metric in measures]
        lacking += [metric for metric in means if metric not in table]
        if lacking:
            remedy = "score again with --metrics default,f1"
            raise problem(run.folder, f"has no {', '.join(lacking)}", remedy, "missing_part")
        fields = dict.fromkeys(field for metric in (*measures, "support") for field in table[metric] if field)
        rows += [
            (name, field, *(_number(table[metric].get(field)) for metric in (*measures, "support")))
            for field in fields
        ]
        rows += [
            (
                name, f"{label} avg", *(_number(table[f"{prefix}{metric}"].get(None)) for metric in measures),
                _number(table["support"].get(None)),
            )
            for label, prefix in averages.items()
        ]  # fmt: skip
    columns = ("system", "field", "precision", "recall", "f1-score", "support")
    return ExportRows(pl.LazyFrame(rows, schema=columns, orient="row", infer_schema_length=None))


def _number(estimate: Estimate | None) -> float | int | None:
    if estimate is None or estimate.value is None:
        return None
    return round(estimate.value) if estimate.unit == "count" else estimate.value


def list_suspicious_gold(run: Run, _: str | None) -> ExportRows:
    """Return the gold values of a run that all or most of its systems contradict in the same way.

    Raises `ProblemsError` for a run of one system.
    """
    import polars as pl

    suspicious = suspicious_gold_of_run(run)
    lines = [tuple(asdict(suspicion).values()) for suspicion in suspicious.values]
    frame = pl.LazyFrame(lines, schema=Suspicion.__struct_fields__, orient="row", infer_schema_length=None)
    return ExportRows(frame, note=suspicious.extent)


def list_shares_by_level(run: Run, system: str | None) -> ExportRows:
    """Return the share of each field's values at each level of scores, of fields with any between 0 and 1."""
    import polars as pl

    result, rows = _with_evidence(run)
    chosen = rows if system is None else rows.filter(pl.col("system") == system)
    lines = [(name, *row) for name, shares in share_levels(chosen, result).items() for row in shares]
    columns = ("system", "field", *LEVELS)
    return ExportRows(pl.LazyFrame(lines, schema=columns, orient="row", infer_schema_length=None))


def list_curve(run: Run, system: str | None) -> ExportRows:
    """Return the steps of F(t) of a run's lists; `ProblemsError` without lists paired by similarity."""
    import polars as pl

    result, rows = _with_evidence(run)
    items = rows.filter(pl.col("kind") == "item")
    chosen = items if system is None else items.filter(pl.col("system") == system)
    steps = trace_curves(chosen.collect(), result.documents)
    if steps.is_empty():
        what = "has no list whose items were paired by similarity"
        raise problem(run.folder, what, "declare one with `align: assignment`", "missing_part")
    return ExportRows(steps.lazy())


def list_results(run: Run, system: str | None) -> dict[str, Any]:
    """Return the results by system, in the shape of the business documents guide."""
    result, _ = _with_evidence(run)
    return {name: guide_result(result, name) for name in (result.systems if system is None else (system,))}


def list_recommendation(run: Run, _: str | None) -> dict[str, Any]:
    """Return what every report of a run recommends."""
    return asdict(advise(run.result, decisions_of_run(run)))


def compare_for_executives(run: Run, _: str | None) -> str:
    """Return the comparison of all systems for those who decide, as Markdown."""
    result, rows = run.result, run.evidence
    losses = {} if rows is None else find_losses(rows, result)
    return render_executive(result, str(run.facts.get("started") or ""), losses, decisions_of_run(run))


TABLES: Mapping[str, RunTable] = {
    "values": RunTable("judged values", list_values),
    "estimates": RunTable("estimates", list_estimates),
    "metrics": RunTable("metrics of the systems", list_metrics_by_system),
    "fields": RunTable("precision, recall and F1 of fields", field_rows),
    "levels": RunTable("values by level of their score", list_shares_by_level),
    "curve": RunTable("F(t)", list_curve),
    "suspicious-gold": RunTable("suspicious gold", list_suspicious_gold, is_of_all=True),
    "results": RunTable("results by system", list_results, (".json",)),
    "recommendation": RunTable("recommendation", list_recommendation, (".json",), is_of_all=True),
    "comparison": RunTable("comparison of the systems", compare_for_executives, (".md",), is_of_all=True),
    "errors": RunTable("wrong values", render_error_report, rows=list_wrong_values),
}
"""The tables by their names for `report --table`."""

BY_ENDING = {
    ".csv": "values", ".xlsx": "values", ".parquet": "values", ".json": "results", ".tex": "metrics",
}  # fmt: skip
"""The table that a file is without a name of one."""
