"""Pages of the HTML report: fields, changes and methods."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.decisions.diff.diff import Diff
from fieldassay.io.text.shown import format_count
from fieldassay.metrics.catalogue.catalogue import list_metrics
from fieldassay.metrics.catalogue.grammar import parse_metric
from fieldassay.metrics.estimate import Estimate, format_difference, format_share
from fieldassay.reports.content.diff import NAMES, describe_counts, describe_diff
from fieldassay.reports.content.run.summary import inner_mapping
from fieldassay.reports.findings.recommendation import describe_field_changes
from fieldassay.reports.html.chunks import LONGEST_ERROR, MOST_VALUES
from fieldassay.reports.html.source import ReportSource, encode_texts
from fieldassay.reports.wording import (
    DIAGNOSES,
    FLAGS,
    LETTERS,
    MEANINGS,
    OUTCOMES,
    SHORT_DIAGNOSES,
    describe,
    describe_comparison,
    name_of,
)
from fieldassay.reports.writers.tables import TextReport

if TYPE_CHECKING:
    import polars as pl


# The content of the page of fields: estimates, scores, kinds of error, confusions, residuals. Scores are
# shown as a distribution, kinds of error with examples.

MEASURES = (
    "field_accuracy_strict", "field_accuracy", "precision", "recall", "f1", "fda", "hr", "mr", "rfa",
    "item_precision", "item_recall", "item_f1",
)  # fmt: skip
"""The metrics of fields on the page, in its order, behind those that the spec defines itself."""

BINS = 20
MOST_EXAMPLES = 3
MOST_LABELS = 12
MOST_RESIDUALS = 400
_EXAMPLE = 400
"""The characters of a value that an example shows at most."""

_NUMERIC = ("number", "integer", "money", "quantity")
_BOTH = ("match", "partial", "mismatch")


def describe_fields(source: ReportSource) -> dict[str, Any]:
    """Return the data of the page; sequences by system are in the order of the result's systems."""
    rows = source.fields.to_dicts()
    measures = _measures(source)
    with_estimates = {field for by_field in measures.values() for field in by_field}
    listed = [row for row in rows if row["field"] in with_estimates or row["kind"] == "value"]
    data: dict[str, Any] = {"fields": listed, "measures": measures, "better": _directions(source, measures)}
    if source.diffs:
        data["changes"] = _changes(source)
    if source.evidence is None:
        return {**data, "scores": {}, "mistakes": {}, "confusions": {}, "residuals": {}}
    values = _values(source)
    return {
        **data,
        "scores": _scores(source, values),
        "mistakes": _mistakes(source),
        "confusions": _confusions(values),
        "residuals": _residuals(source, values),
    }


def _values(source: ReportSource) -> pl.LazyFrame:
    import polars as pl

    assert source.evidence is not None
    return source.evidence.filter(pl.col("kind") == "value")


def _measures(source: ReportSource) -> dict[str, dict[str, list[Any]]]:
    """Return metric -> field -> entries by system: value, low, high, n, failed, marks; null: no estimate."""
    own = tuple(source.definitions)
    place = {system: number for number, system in enumerate(source.systems)}
    measures: dict[str, dict[str, list[Any]]] = {name: {} for name in (*own, *MEASURES)}
    for estimate in source.result.estimates:
        if estimate.field is None or estimate.slice or estimate.parameters or estimate.metric not in measures:
            continue
        cells = measures[estimate.metric].setdefault(estimate.field, [None] * len(place))
        cells[place[estimate.system]] = cells[place[estimate.system]] or _cell(estimate)
    return {name: fields for name, fields in measures.items() if fields}


def _cell(estimate: Estimate) -> list[Any]:
    low, high = estimate.interval or (None, None)
    numbers = [None if number is None else round(number, 9) for number in (estimate.value, low, high)]
    return [*numbers, estimate.n, estimate.failed, list(estimate.marks)]


def _directions(source: ReportSource, measures: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return by metric which way is better, and its unit."""
    return {
        estimate.metric: [estimate.better, estimate.unit]
        for estimate in source.result.estimates
        if estimate.metric in measures
    }


def _changes(source: ReportSource) -> dict[str, dict[str, list[Any]]]:
    """Return metric -> field -> by system its difference to the earlier run, in words, and its direction."""
    place = {system: number for number, system in enumerate(source.systems)}
    changes: dict[str, dict[str, list[Any]]] = {}
    for diff in source.diffs:
        at = place.get(diff.sides[-1].system) if diff.is_pair else None
        for comparison in diff.by_field if at is not None else ():
            if at is not None and comparison.difference is not None and comparison.field is not None:
                verdict = comparison.verdict if comparison.is_shown else "unclear"
                cells = changes.setdefault(comparison.metric, {}).setdefault(
                    comparison.field, [None] * len(place)
                )
                cells[at] = [format_difference(comparison.difference, comparison.unit), verdict]
    return changes


def _scores(source: ReportSource, values: pl.LazyFrame) -> dict[str, list[list[int]]]:
    """Return field -> per system the counts of scores in `BINS` bins of [0, 1).

    The last of `BINS` + 1 counts are those of 1. Fields that have only scores of 0 and 1 are left out.
    """
    import polars as pl

    scored = values.filter(pl.col("score").is_not_null() & (pl.col("outcome") != "absent"))
    scored = scored.filter(pl.col("score").is_between(0.0, 1.0, closed="none").any().over("field"))
    binned = scored.group_by(
        "field",
        "system",
        bin=(pl.col("score").clip(0.0, 1.0) * BINS).floor().cast(pl.Int64),
        maintain_order=True,
    ).agg(pl.len().alias("count"))
    place = {system: number for number, system in enumerate(source.systems)}
    scores: dict[str, list[list[int]]] = {}
    for row in binned.collect().iter_rows(named=True):
        counts = scores.setdefault(row["field"], [[0] * (BINS + 1) for _ in place])
        counts[place[row["system"]]][row["bin"]] += row["count"]
    return scores


def _mistakes(source: ReportSource) -> dict[str, list[dict[str, Any]]]:
    """Return field -> kinds of error, the most frequent first, with counts per system and examples.

    An example has system, document, gold and prediction.
    """
    import polars as pl

    assert source.wrong is not None
    named = source.wrong.select(
        "field", "system", "doc", "outcome", "diagnosis", _short("gold"), _short("pred")
    )
    grouped = named.group_by("field", "diagnosis", "system", maintain_order=True).agg(
        pl.len().alias("count"),
        pl.struct("doc", "gold", "pred", "outcome").head(MOST_EXAMPLES).alias("examples"),
    )
    place = {system: number for number, system in enumerate(source.systems)}
    mistakes: dict[str, dict[str, dict[str, Any]]] = {}
    for row in grouped.collect().iter_rows(named=True):
        entry = mistakes.setdefault(row["field"], {}).setdefault(
            row["diagnosis"], {"diagnosis": row["diagnosis"], "counts": [0] * len(place), "examples": []}
        )
        entry["counts"][place[row["system"]]] = row["count"]
        entry["examples"] += [
            [place[row["system"]], example["doc"], example["gold"], example["pred"], example["outcome"]]
            for example in row["examples"]
        ]
    return {
        field: sorted(kinds.values(), key=lambda kind: -sum(kind["counts"]))
        for field, kinds in mistakes.items()
    }


def _short(name: str) -> pl.Expr:
    import polars as pl

    return pl.col(name).str.slice(0, _EXAMPLE)


def _confusions(values: pl.LazyFrame) -> dict[str, dict[str, Any]]:
    """Return field -> labels and, per system, [gold, prediction, count] of enums and truth values.

    Rare labels are joined as null.
    """
    import polars as pl

    chosen = values.filter(pl.col("type").is_in(["enum", "boolean"]) & (pl.col("outcome") != "absent"))
    keys = ["field", "system", "gold_value", "pred_value"]
    table = (
        chosen.with_columns(pl.col("gold_value", "pred_value").str.slice(0, 200))
        .group_by(keys)
        .agg(pl.len().alias("count"))
        .sort(keys)
        .collect()
    )
    confusions: dict[str, dict[str, Any]] = {}
    for (field,), part in table.group_by("field", maintain_order=True):
        common = (
            part.group_by("gold_value")
            .agg(pl.col("count").sum())
            .drop_nulls()
            .sort(["count", "gold_value"], descending=[True, False])
        )
        labels = common["gold_value"].head(MOST_LABELS).to_list()
        confusions[str(field)] = {"labels": labels, "systems": _cells(part, labels)}
    return confusions


def _cells(part: pl.DataFrame, labels: list[str]) -> dict[str, list[list[Any]]]:
    """Return per system [gold, prediction, count]; an unlisted label is `other`, a missing value null."""
    import polars as pl

    cells: dict[str, dict[tuple[Any, Any], int]] = {}
    for row in part.iter_rows(named=True):
        gold, pred = (
            None if row[name] is None else labels.index(row[name]) if row[name] in labels else -1
            for name in ("gold_value", "pred_value")
        )
        counts = cells.setdefault(row["system"], {})
        counts[gold, pred] = counts.get((gold, pred), 0) + row["count"]
    assert isinstance(part, pl.DataFrame)
    return {
        system: [[gold, pred, count] for (gold, pred), count in counts.items()]
        for system, counts in cells.items()
    }


def _residuals(source: ReportSource, values: pl.LazyFrame) -> dict[str, list[dict[str, Any]]]:
    """Return field -> per system the number of predicted numbers equal to gold, and some others.

    There are up to `MOST_RESIDUALS` others: [document, gold, prediction].
    """
    import polars as pl

    numbers = values.filter(pl.col("type").is_in(_NUMERIC) & pl.col("outcome").is_in(_BOTH))
    read = numbers.select(
        "field", "system", "doc", gold=_number("gold_value"), pred=_number("pred_value")
    ).filter(pl.col("gold").is_finite() & pl.col("pred").is_finite())
    differs = pl.col("gold") != pl.col("pred")
    pairs = pl.struct("doc", "gold", "pred").filter(differs).head(MOST_RESIDUALS).alias("pairs")
    table = (
        read.group_by("field", "system", maintain_order=True)
        .agg((~differs).sum().alias("equal"), differs.sum().alias("other"), pairs)
        .collect()
    )
    place = {system: number for number, system in enumerate(source.systems)}
    residuals: dict[str, list[dict[str, Any]]] = {}
    for row in table.iter_rows(named=True):
        entries = residuals.setdefault(row["field"], [{"equal": 0, "other": 0, "pairs": []} for _ in place])
        pairs_of = [[pair["doc"], pair["gold"], pair["pred"]] for pair in row["pairs"]]
        entries[place[row["system"]]] = {"equal": row["equal"], "other": row["other"], "pairs": pairs_of}
    return residuals


def _number(name: str) -> pl.Expr:
    """Return the number at the head of a read value such as `12.5 AUD`; null where there is none."""
    import polars as pl

    return pl.col(name).str.slice(0, 64).str.split(" ").list.first().cast(pl.Float64, strict=False)


# The page of changes since an earlier run: values that were fixed, that broke, and that are still wrong.

_KINDS = ("broken", "fixed", "still wrong")
_OF_TESTS = ("p", "adjusted", "effect")
"""The columns that only a test of the method needs."""


class ChangesShown(Struct, frozen=True):
    """One comparison with an earlier run: its sentences for the summary, and its tables."""

    title: str
    sentences: tuple[str, ...]
    report: TextReport


def describe_changes(diffs: tuple[Diff, ...]) -> tuple[ChangesShown, ...]:
    """Return what comparisons with earlier runs say."""
    return tuple(_describe(diff) for diff in diffs)


def _describe(diff: Diff) -> ChangesShown:
    report = describe_diff(diff, 0)
    lines = [describe_comparison(comparison, NAMES) for comparison in diff.overall[:1]]
    lines += describe_field_changes(diff.by_field)
    if diff.changes is not None:
        lines.append(describe_counts(diff.changes))
    parts = tuple(
        replace(part, tables=tuple(table.without(*_OF_TESTS) for table in part.tables))
        for part in report.parts
    )
    return ChangesShown(report.title, tuple(lines), replace(report, parts=parts))


def list_changes(diffs: tuple[Diff, ...]) -> list[dict[str, Any]]:
    """Return the values of each comparison as columns of codes: broken, fixed, then those still wrong."""
    import polars as pl

    changes: list[dict[str, Any]] = []
    for diff in diffs:
        if diff.changes is None:
            changes.append({"title": describe_diff(diff, 0).title, "reason": diff.reason, "columns": {}})
            continue
        tables = [diff.changes.table, *([diff.changes.still] if diff.changes.still is not None else [])]
        rows = pl.concat(tables).with_columns(
            pl.col("gold", "before", "after").str.slice(0, LONGEST_ERROR),
            order=pl.col("change").replace_strict({name: at for at, name in enumerate(_KINDS)}),
            kind=pl.coalesce(
                pl.when(pl.col("change") == "fixed")
                .then(None)
                .otherwise(pl.col("diagnoses_after").list.first()),
                pl.col("diagnoses_before").list.first(),
                pl.lit("different"),
            ),
        )
        rows = rows.sort("order", maintain_order=True)
        changes.append(
            {"title": describe_diff(diff, 0).title, "total": len(rows), **_columns(rows.head(MOST_VALUES))}
        )
    return changes


def _columns(rows: pl.DataFrame) -> dict[str, Any]:
    import polars as pl

    sides = rows.select(pl.concat_list("gold", "before", "after").alias("texts"))["texts"]
    texts, [values] = encode_texts([sides.explode() if len(rows) else sides.cast(pl.String)])
    names = ("change", "doc", "field", "path", "kind", "outcome_before", "outcome_after")
    coded = {name: encode_texts([rows[name]]) for name in names}
    columns = {name: codes[0].to_list() for name, (_, codes) in coded.items()}
    columns |= {side: values[at::3].to_list() for at, side in enumerate(("gold", "before", "after"))}
    return {"texts": texts, "names": {name: words for name, (words, _) in coded.items()}, "columns": columns}


# The content of the page of methods: the provenance of the numbers, and their meanings.

_ALWAYS = ("accuracy", "field_accuracy")
"""The metrics that losses and changes of fields are points of, whatever the run computed."""


class MetricNote(Struct, frozen=True):
    """A metric, its meaning, and its formula; `group` is the one of the catalogue, or `spec`."""

    name: str
    meaning: str
    formula: str
    group: str


class Methods(Struct, frozen=True, eq=False):
    """The page of methods."""

    facts: tuple[tuple[str, str], ...]
    inputs: tuple[tuple[str, str, str], ...]
    versions: tuple[tuple[str, str], ...]
    spec: str
    metrics: tuple[MetricNote, ...]
    letters: Mapping[str, str]
    outcomes: Mapping[str, str]
    diagnoses: Mapping[str, str]
    flags: Mapping[str, str]


def methods(source: ReportSource) -> Methods:
    """Return the content of the page of methods."""
    run = source.result.run
    spec = inner_mapping(run, "spec")
    return Methods(
        facts=tuple(_facts(source)),
        inputs=tuple(_inputs(inner_mapping(run, "inputs"))),
        versions=tuple((str(name), str(value)) for name, value in inner_mapping(run, "versions").items()),
        spec=str(spec.get("text") or ""),
        metrics=tuple(_metrics(source)),
        letters=LETTERS,
        outcomes=OUTCOMES,
        diagnoses={describe(SHORT_DIAGNOSES, name): text for name, text in DIAGNOSES.items()},
        flags=FLAGS,
    )


def _facts(source: ReportSource) -> list[tuple[str, str]]:
    run, facts = source.result.run, source.facts
    bootstrap, spec = inner_mapping(run, "bootstrap"), inner_mapping(run, "spec")
    lines = [
        ("Spec", str(spec.get("name") or "unnamed")),
        ("Digest of the spec", str(spec.get("digest") or "")),
    ]
    lines += [
        ("Scored", str(facts.get("started") or "")),
        ("Command", _command(facts)),
    ]
    lines.append(("Documents", f"{source.result.counts.get('documents', 0):,}"))
    if facts.get("where"):
        lines.append(("Chosen documents", ", ".join(map(str, facts["where"]))))
    if facts.get("limit") is not None:
        lines.append(("Limit", f"only the first {format_count(int(facts['limit']), 'document')} were scored"))
    if bootstrap.get("replicates"):
        level = format_share(float(bootstrap.get("level", 0.95)))
        intervals = (
            f"{level}, {bootstrap['replicates']:,} bootstrap replicates over documents, seed "
            f"{bootstrap.get('seed', 0)}"
        )
        lines.append(("Intervals", intervals))
    extent = {
        "all": "every judged value",
        "errors": "errors only",
        "none": "nothing: documents cannot be shown",
    }[source.extent]
    lines.append(("Evidence in this file", extent))
    return [(name, text) for name, text in lines if text]


def _command(facts: Mapping[str, Any]) -> str:
    """Return the command that made a run, without the folders of its machine."""
    words = [re.match(r"(.*=)?(.*)", str(word), re.DOTALL) for word in facts.get("command") or ()]
    return " ".join(f"{match[1] or ''}{name_of(match[2])}" for match in words if match)


def _inputs(inputs: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    digests = inner_mapping(inputs, "sha256")
    named = [("gold", inputs.get("gold")), *inner_mapping(inputs, "predictions").items()]
    return [
        (str(name), name_of(str(path)), str(digests.get(str(path)) or "")) for name, path in named if path
    ]


def _metrics(source: ReportSource) -> list[MetricNote]:
    """Return the metrics of the run in the catalogue's order, behind those that the spec defines."""
    catalogue = list_metrics()
    own = source.definitions
    used = {parse_metric(text).name for text in source.result.run.get("metrics", ())} | set(_ALWAYS)
    notes = [MetricNote(name, *described, "spec") for name, described in own.items()]
    return notes + [
        MetricNote(name, *MEANINGS[name], metric.group)
        for name, metric in catalogue.items()
        if name in used and name not in own and name in MEANINGS
    ]
