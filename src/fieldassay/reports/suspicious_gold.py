"""Gold values that all systems contradict in the same way: possibly wrong, and worth a look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from fieldassay.reports.failed_answers import unusable_answers

if TYPE_CHECKING:
    import polars as pl

FEWEST = 2
"""The fewest systems: a single one only agrees with itself, which is no evidence against gold."""

_WRONG = ("partial", "mismatch", "missing", "spurious")


class Suspicion(Struct, frozen=True):
    """A place where all systems have the same typed value and gold has another one.

    `gold` is None where gold has none, `agreed` is None where no system has one. `is_identical`: the systems
    also wrote it in the same way. Values are JSON text; `path` is that of gold, else of the predictions.
    """

    doc: str
    path: str
    field: str
    gold: str | None
    agreed: str | None
    systems: int
    is_identical: bool
    diagnosis: str


def find_suspicious_gold(
    evidence: pl.LazyFrame, documents: pl.DataFrame, systems: Sequence[str]
) -> tuple[Suspicion, ...]:
    """Return the places where all systems, two at least, contradict gold with one value.

    Identically written values come first. Documents in which an answer is missing or unusable are left out:
    such an answer agrees with no other.
    """
    import polars as pl

    if len(systems) < FEWEST:
        return ()
    lost = documents.filter(unusable_answers(documents.columns).is_not_null()).select("doc").unique()
    values = evidence.filter((pl.col("kind") == "value") & pl.col("outcome").is_in(_WRONG)).join(
        lost.lazy(), on="doc", how="anti", maintain_order="left"
    )
    value = pl.coalesce("pred_value", "pred")
    place = pl.coalesce("gold_path", pl.format("{}={}", pl.col("field"), value))
    found = (
        values.with_columns(place=place, value=value)
        .group_by("doc", "field", "place", maintain_order=True)
        .agg(
            pl.coalesce("gold_path", "pred_path").first().alias("path"),
            pl.col("gold").first(),
            pl.col("pred").first().alias("agreed"),
            pl.col("system").n_unique().alias("systems"),
            pl.col("value").n_unique().alias("readings"),
            (pl.col("pred").n_unique() == 1).alias("is_identical"),
            pl.col("diagnoses").first().list.first().fill_null("").alias("diagnosis"),
        )
        .filter((pl.col("systems") == len(systems)) & (pl.col("readings") == 1))
        .drop("place", "readings")
        .collect()
    )
    ranked = found.sort(
        pl.col("is_identical"), pl.col("gold").is_null(), pl.col("agreed").is_null(), "doc",
        descending=[True, False, False, False], maintain_order=True,
    )  # fmt: skip
    return tuple(Suspicion(**row) for row in ranked.to_dicts())
