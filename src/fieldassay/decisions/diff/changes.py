"""The values fixed and broken between two runs on the same gold, by joining their evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fieldassay.decisions.diff.result import COLUMNS, Changes
from fieldassay.metrics.evidence import REPEAT

if TYPE_CHECKING:
    import polars as pl

_READ = ("doc", "field", "gold_path", "pred_path", "gold", "pred", "outcome", "diagnoses", "critical")
_KEY = ("doc", "field", "place", "number", REPEAT)
_WRONG = ("partial", "mismatch", "missing", "spurious")
_NOTHING, _RIGHT = "absent", "right"


def find_changes(
    before: pl.LazyFrame, after: pl.LazyFrame, documents: tuple[str, ...] | None = None
) -> Changes:
    """Return the values that went from wrong to right, and from right to wrong, between two systems.

    Both are given by their rows of evidence. Wrong are partial, mismatch, missing and spurious values; right
    are matches, and nothing where gold has nothing. A gold value is the same value in both by its path in
    gold. A spurious value is the same by its path, but inside a list, where positions mean nothing, by its
    field and its content. Rows that one of the two lacks are right there: a run that kept only its errors has
    them all. Only `documents` are compared (all without it). A value that could not be judged in one of the
    two is neither fixed nor broken. Repeated runs are compared run by run, the first with the first, as many
    as both have.
    """
    import polars as pl

    runs = min(_count_runs(before), _count_runs(after))
    first, second = (_keyed(_number_runs(frame, runs), documents) for frame in (before, after))
    joined = first.join(second, on=_KEY, how="full", suffix="_after", coalesce=True)
    is_wrong, is_failed = (
        {side: pl.col(f"outcome{side}").is_in(outcomes).fill_null(value=False) for side in ("", "_after")}
        for outcomes in (_WRONG, ("failed",))
    )
    undecided = (is_failed[""] | is_failed["_after"]) & (is_wrong[""] | is_wrong["_after"])
    change = (
        pl.when(is_failed[""] | is_failed["_after"])
        .then(None)
        .when(is_wrong[""] & ~is_wrong["_after"])
        .then(pl.lit("fixed"))
        .when(~is_wrong[""] & is_wrong["_after"])
        .then(pl.lit("broken"))
    )
    found = joined.with_columns(
        change.alias("change"),
        undecided.alias("undecided"),
        (is_wrong[""] & is_wrong["_after"]).alias("still_wrong"),
    )
    kept = found.filter(
        pl.col("change").is_not_null() | pl.col("undecided") | pl.col("still_wrong")
    ).collect()
    counts = kept.select(pl.col("still_wrong").sum(), pl.col("undecided").sum()).row(0)
    still = kept.filter("still_wrong").with_columns(change=pl.lit("still wrong"))
    changed = kept.filter(pl.col("change").is_not_null())
    return Changes(_shown(changed), int(counts[0]), int(counts[1]), _shown(still))


def _count_runs(frame: pl.LazyFrame) -> int:
    import polars as pl

    if REPEAT not in frame.collect_schema():
        return 1
    return int(frame.select(pl.col(REPEAT).max()).collect().item() or 1)


def _number_runs(frame: pl.LazyFrame, most: int) -> pl.LazyFrame:
    """Return the rows of the first runs of a system, with the number of the run; a single one is run 1."""
    import polars as pl

    if REPEAT not in frame.collect_schema():
        return frame.with_columns(pl.lit(1, pl.Int64).alias(REPEAT))
    return frame.with_columns(pl.col(REPEAT).fill_null(1)).filter(pl.col(REPEAT) <= most)


def _keyed(frame: pl.LazyFrame, documents: tuple[str, ...] | None) -> pl.LazyFrame:
    """Return the rows of values with a place, and the key for joining them with those of the other run."""
    import polars as pl

    rows = frame.filter(
        (pl.col("kind") == "value") & (pl.col("gold_path").is_not_null() | pl.col("pred_path").is_not_null())
    ).select(*_READ, REPEAT)
    if documents is not None:
        rows = rows.filter(pl.col("doc").is_in(pl.Series(documents, dtype=pl.String).implode()))
    has_gold = pl.col("gold_path").is_not_null()
    by_gold = rows.filter(has_gold).with_columns(
        pl.concat_str(pl.lit("."), "gold_path").alias("place"), pl.lit(0, pl.UInt32).alias("number")
    )
    by_value = pl.concat_str(pl.lit("="), pl.col("pred").fill_null(""))
    is_inside_list = pl.col("pred_path").str.contains("[", literal=True)
    place = pl.when(is_inside_list).then(by_value).otherwise(pl.concat_str(pl.lit("@"), "pred_path"))
    spurious = rows.filter(~has_gold).with_columns(place.alias("place"))
    number = pl.col("pred_path").rank("ordinal").over("doc", "field", "place", REPEAT).cast(pl.UInt32)
    return pl.concat([by_gold, spurious.with_columns(number.alias("number"))])


def _shown(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the changes with the columns of the table, critical ones first, then by document and path."""
    import polars as pl

    place = pl.coalesce("gold_path", "gold_path_after", "pred_path", "pred_path_after")
    empty = pl.lit([], dtype=pl.List(pl.String))
    table = rows.with_columns(
        place.alias("path"),
        pl.coalesce("gold", "gold_after").alias("gold"),
        pl.col("pred").alias("before"),
        pl.col("pred_after").alias("after"),
        _outcome("outcome").alias("outcome_before"),
        _outcome("outcome_after").alias("outcome_after"),
        pl.coalesce("diagnoses", empty).alias("diagnoses_before"),
        pl.coalesce("diagnoses_after", empty).alias("diagnoses_after"),
        pl.coalesce("critical", "critical_after").fill_null(value=False).alias("critical"),
    )
    return table.sort(
        "critical", "doc", "path", "change", "number", descending=[True, False, False, False, False]
    ).select(COLUMNS)


def _outcome(column: str) -> pl.Expr:
    """Return the outcome; for a row that one side lacks, right where gold has a value, else none."""
    import polars as pl

    has_gold = pl.col("gold_path").is_not_null() | pl.col("gold_path_after").is_not_null()
    return pl.coalesce(column, pl.when(has_gold).then(pl.lit(_RIGHT)).otherwise(pl.lit(_NOTHING)))
