"""Fields of documents as test cases, made from evidence portion by portion."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct

from fieldassay.reports.findings.mistakes import WRONG
from fieldassay.reports.findings.wrong_values import (
    SHOWN,
    WrongValue,
    cut_values,
    is_case_row,
    read_wrong_value,
)
from fieldassay.runs.run import ANSWERS

if TYPE_CHECKING:
    import polars as pl

Status: TypeAlias = Literal["passed", "failed", "error", "skipped"]
STATUSES: tuple[Status, ...] = ("failed", "error", "passed", "skipped")
"""The statuses of a case, in the order of a file."""

ANSWER = "the whole answer"
"""The name of the case of an answer that failed."""

MOST_VALUES = 20
"""The wrong values that a case names; more are counted."""

_ROWS_AT_ONCE = 50_000
_KEY = ("system", "doc", "field")


class Case(Struct, frozen=True):
    """One field of one document, with its status.

    `failed` if a value of it is wrong, `error` if one could not be judged, `skipped` if neither side has any.
    """

    system: str
    document: str
    field: str
    status: Status
    wrong: tuple[WrongValue, ...] = ()
    hidden: int = 0
    """How many more values are wrong."""


class Cases(Struct, frozen=True, eq=False):
    """The cases of an evidence table, unread and in portions of whole documents."""

    evidence: pl.LazyFrame
    portions: tuple[tuple[int, int], ...]
    """Start and number of rows of each."""

    def count(self) -> dict[Status, int]:
        """Return how many cases have each status."""
        counts = dict.fromkeys(STATUSES, 0)
        for table in map(self._read_statuses, self.portions):
            for status, count in table["status"].value_counts().iter_rows():
                counts[status] += count
        return counts

    def list_cases(self, status: Status, most: int) -> Iterator[Case]:
        """Yield at most so many cases of a status."""
        import polars as pl

        for portion in self.portions:
            if most <= 0:
                return
            cases = self._read_statuses(portion).filter(pl.col("status") == status)
            keys = cases.head(most)
            most -= keys.height
            if status in ("passed", "skipped"):
                yield from (Case(*row) for row in keys.iter_rows())
            elif keys.height:
                yield from self._describe(portion, keys, status)

    def _read_statuses(self, portion: tuple[int, int]) -> pl.DataFrame:
        """Return the cases of a portion: `system`, `doc`, `field`, `status`, in the order of documents.

        Documents are in the order of their first rows.
        """
        import polars as pl

        rows = self._read(portion, ("kind", "outcome", "flags")).filter(is_case_row())
        outcome = pl.col("outcome")
        grouped = rows.group_by(_KEY, maintain_order=True).agg(
            outcome.is_in(WRONG).any().alias("wrong"),
            (outcome == "failed").any().alias("failed"),
            (outcome == "match").any().alias("match"),
        )
        status = (
            pl.when("wrong")
            .then(pl.lit("failed"))
            .when("failed")
            .then(pl.lit("error"))
            .when("match")
            .then(pl.lit("passed"))
        )
        cases = grouped.select(*_KEY, status=status.otherwise(pl.lit("skipped")))
        order = pl.int_range(pl.len()).min().over("system", "doc")
        return cases.sort(order, maintain_order=True)

    def _read(self, portion: tuple[int, int], columns: Collection[str]) -> pl.DataFrame:
        return self.evidence.slice(*portion).select(*_KEY, *columns).collect()

    def _describe(self, portion: tuple[int, int], keys: pl.DataFrame, status: Status) -> Iterator[Case]:
        """Yield cases with a description of their errors."""
        import polars as pl

        outcomes = WRONG if status == "failed" else ("failed",)
        wanted = is_case_row() & pl.col("outcome").is_in(outcomes)
        rows = (
            self.evidence.slice(*portion)
            .filter(wanted)
            .select(*_KEY, *SHOWN)
            .with_columns(cut_values())
            .collect()
        )
        values: dict[tuple[Any, ...], list[WrongValue]] = {}
        hidden: dict[tuple[Any, ...], int] = {}
        for row in rows.join(keys.select(_KEY), on=_KEY, how="semi", maintain_order="left").iter_rows(
            named=True
        ):
            key = row["system"], row["doc"], row["field"]
            found = values.setdefault(key, [])
            if len(found) < MOST_VALUES:
                found.append(read_wrong_value(row))
            else:
                hidden[key] = hidden.get(key, 0) + 1
        for system, document, field, _ in keys.iter_rows():
            key = system, document, field
            yield Case(system, document, field, status, tuple(values.get(key, ())), hidden.get(key, 0))


def read_cases(evidence: pl.LazyFrame) -> Cases:
    """Return the cases of an evidence table, read portion by portion.

    A portion is the rows of one batch of scoring, or about 50,000. A failed answer is one case that could not
    be judged, `ANSWER`, in place of its missing values.

    >>> import polars as pl
    >>> rows = pl.LazyFrame({"system": ["a"] * 3, "doc": ["1", "2", "1"]})
    >>> read_cases(rows).portions
    ((0, 3),)
    """
    import polars as pl

    if "diagnoses" in evidence.collect_schema():
        is_failed = pl.col("diagnoses").list.first().is_in(list(ANSWERS)).fill_null(False)
        evidence = evidence.filter(~is_failed | (pl.col("kind") == "value")).with_columns(
            field=pl.when(is_failed).then(pl.lit(ANSWER)).otherwise("field"),
            outcome=pl.when(is_failed).then(pl.lit("failed")).otherwise("outcome"),
        )
    spans = (
        evidence.with_row_index("at")
        .group_by("system", "doc")
        .agg(pl.col("at").min().alias("first"), pl.col("at").max().alias("last"))
    )
    table = spans.select("first", "last").collect().sort("first")
    portions: list[tuple[int, int]] = []
    start, end = 0, -1
    for first, last in table.iter_rows():
        if first > end and first - start >= _ROWS_AT_ONCE:
            portions.append((start, first - start))
            start = first
        end = max(end, last)
    return Cases(evidence, tuple(portions) + (((start, end + 1 - start),) if end >= start else ()))
