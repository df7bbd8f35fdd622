"""The result of a diff, and the values that it changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import asdict

from fieldassay.io.text.shown import Brief
from fieldassay.metrics.evidence import REPEAT
from fieldassay.metrics.result.comparison import Comparison, Ranking

if TYPE_CHECKING:
    import polars as pl


# The result of comparing finished runs: differences with tests, and the values fixed and broken.

FORMAT = "fieldassay diff"
SCHEMA_VERSION = 1

COLUMNS = ("change", "doc", "field", "path", "gold", "before", "after", "outcome_before", "outcome_after",
           "diagnoses_before", "diagnoses_after", "critical")  # fmt: skip
"""The columns of the table of changes."""


class DiffSide(Struct, frozen=True):
    """One system of one run: its label, its own name, and the reference, folder and facts of the run."""

    label: str
    system: str
    run: str
    folder: str
    started: str
    fieldassay: str
    documents: int
    evidence: str


class Change(Struct, frozen=True):
    """One fixed or broken value, as JSON texts; None: there is no value, or it was not kept.

    `outcome_before` and `outcome_after` are outcomes of the evidence, or `right` where a run kept only its
    errors and this is none.
    """

    change: Literal["fixed", "broken"]
    doc: str
    field: str
    path: str
    gold: str | None
    before: str | None
    after: str | None
    outcome_before: str
    outcome_after: str
    diagnoses_before: tuple[str, ...]
    diagnoses_after: tuple[str, ...]
    critical: bool


class Tally(Struct, frozen=True):
    """The numbers of fixed and of broken values of a field, a diagnosis or a document."""

    name: str
    fixed: int
    broken: int


class Changes(Struct, frozen=True, eq=False):
    """The fixed and broken values: a table with the `COLUMNS`, and the counts of the others.

    The others are wrong as before (`still`, the same columns), or could not be judged in one run.
    """

    table: pl.DataFrame
    still_wrong: int = 0
    undecided: int = 0
    still: pl.DataFrame | None = None

    def count(self, change: str) -> int:
        """Return how many values were `fixed`, or `broken`."""
        import polars as pl

        return self.table.filter(pl.col("change") == change).height

    def rows(self, change: str, most: int | None = None) -> Iterator[Change]:
        """Yield at most `most` values that were `fixed`, or `broken`.

        Critical ones come first, then by document and path.
        """
        import polars as pl

        chosen = self.table.filter(pl.col("change") == change)
        for row in chosen.head(most if most is not None else chosen.height).iter_rows(named=True):
            lists = {name: tuple(row[name]) for name in ("diagnoses_before", "diagnoses_after")}
            yield Change(**{**row, **lists})

    def by_field(self) -> tuple[Tally, ...]:
        """Return the counts of each field, that with the most broken values first."""
        return _tally(self.table, "field")

    def by_document(self) -> tuple[Tally, ...]:
        """Return the counts of each document, the one that lost most first."""
        found = _tally(self.table, "doc")
        return tuple(sorted(found, key=lambda one: (one.fixed - one.broken, one.name)))

    def by_diagnosis(self) -> tuple[Tally, ...]:
        """Return the counts by main diagnosis: the former one of fixed values, the new one of broken ones."""
        import polars as pl

        wrong = (
            pl.when(pl.col("change") == "fixed")
            .then(pl.col("diagnoses_before"))
            .otherwise(pl.col("diagnoses_after"))
        )
        return _tally(
            self.table.with_columns(wrong.list.first().fill_null("different").alias("diagnosis")), "diagnosis"
        )


def _tally(table: pl.DataFrame, column: str) -> tuple[Tally, ...]:
    import polars as pl

    counts = [(pl.col("change") == change).sum().alias(change) for change in ("fixed", "broken")]
    found = table.group_by(column).agg(counts).sort("broken", "fixed", column, descending=[True, True, False])
    return tuple(Tally(*row) for row in found.select(column, "fixed", "broken").iter_rows())


class Diff(Brief, Struct, frozen=True, eq=False):
    """Two systems, the first before and the second after, or more of them, on the same documents.

    `overall`, `by_field` and `by_slice` are comparisons with the first system (of more than two: with the
    reference); p values are adjusted within each of them, of slices within each key. Of more than two systems
    there are `rankings` and no changes. `reason` explains missing changes; `notes` are for the
    reader, `warnings` against wrong conclusions.
    """

    sides: tuple[DiffSide, ...]
    documents: int
    overall: tuple[Comparison, ...]
    by_field: tuple[Comparison, ...] = ()
    by_slice: tuple[Comparison, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    changes: Changes | None = None
    reason: str = ""
    replicates: int = 2000
    seed: int = 0
    level: float = 0.95
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def is_pair(self) -> bool:
        """Return whether two systems are compared."""
        return len(self.sides) == 2

    @property
    def is_identical(self) -> bool:
        """Return whether nothing that was kept of the systems differs in any document."""
        same = all(one.verdict in ("identical", "undefined") for one in (*self.overall, *self.by_field))
        return (
            same
            and any(one.verdict == "identical" for one in self.overall)
            and (self.changes is None or not self.changes.table.height)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON data, every change included."""
        lists = {
            name: [one.to_dict() for one in getattr(self, name)]
            for name in ("overall", "by_field", "by_slice", "rankings")
        }
        return {
            "schema_version": SCHEMA_VERSION,
            "format": FORMAT,
            "systems": [asdict(side) for side in self.sides],
            "documents": self.documents,
            "identical": self.is_identical,
            "bootstrap": {"replicates": self.replicates, "seed": self.seed, "level": self.level},
            **lists,
            "changes": _changes_data(self.changes),
            "reason": self.reason,
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }


def _changes_data(changes: Changes | None) -> Mapping[str, Any] | None:
    if changes is None:
        return None
    tallies = {
        name: [asdict(one) for one in getattr(changes, name)()]
        for name in ("by_field", "by_diagnosis", "by_document")
    }
    counts = {"fixed": changes.count("fixed"), "broken": changes.count("broken")}
    rows = {f"{change}_values": [asdict(row) for row in changes.rows(change)] for change in counts}
    return {**counts, "still_wrong": changes.still_wrong, "undecided": changes.undecided, **tallies, **rows}


# The values fixed and broken between two runs on the same gold, by joining their evidence.

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
