"""Gold values that all or most systems contradict in the same way: possibly wrong, and worth a look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from fieldassay.errors import problem
from fieldassay.io.text.shown import clip, format_count, join_names
from fieldassay.runs.tables import unusable_answers

if TYPE_CHECKING:
    import polars as pl

    from fieldassay.runs.run import Run

FEWEST = 2
"""The fewest systems: a single one only agrees with itself, which is no evidence against gold."""

MAJORITY = 3
"""The fewest systems of a majority: more than half of those that answered, with a value."""

_WRONG = ("partial", "mismatch", "missing", "spurious")


class Suspicion(Struct, frozen=True):
    """A place where `systems` of the systems that answered (`of`) have the same typed value and gold another.

    `gold` is None where gold has none, `agreed` is None where no system has one. `is_identical`: the systems
    also wrote it in the same way. Values are JSON text; `path` is that of gold, else of the predictions.
    """

    doc: str
    path: str
    field: str
    gold: str | None
    agreed: str | None
    systems: int
    of: int
    is_identical: bool
    diagnosis: str

    @property
    def is_unanimous(self) -> bool:
        """Return whether all systems that answered agree."""
        return self.systems == self.of


class SuspiciousGold(Struct, frozen=True):
    """The suspicious values, and how many of the documents could be looked at: two systems answered.

    `silent` are the systems without any answer.
    """

    values: tuple[Suspicion, ...] = ()
    looked: int = 0
    documents: int = 0
    silent: tuple[str, ...] = ()

    @property
    def extent(self) -> str:
        """Return how many documents were looked at, and why not all.

        >>> SuspiciousGold((), 70, 72, ("oak",)).extent
        '70 of 72 documents were looked at: in the others fewer than two systems answered; oak has no answer'
        >>> SuspiciousGold((), 72, 72).extent
        'all 72 documents were looked at'
        """
        names = join_names([clip(name, 60) for name in self.silent]) if self.silent else ""
        mute = f"; {names} {'has' if len(self.silent) == 1 else 'have'} no answer" if names else ""
        if self.looked == self.documents:
            return f"all {format_count(self.documents, 'document')} were looked at{mute}"
        of = f"{self.looked:,} of {format_count(self.documents, 'document')} were looked at"
        return f"{of}: in the others fewer than two systems answered{mute}"


def find_suspicious_gold(
    evidence: pl.LazyFrame, documents: pl.DataFrame, systems: Sequence[str]
) -> SuspiciousGold:
    """Return the places where all systems with an answer, two at least, contradict gold with one value.

    Identically written values come first, then those of a majority. A system whose answer to a document is
    missing or unusable has no vote there.
    """
    import polars as pl

    usable = documents.filter(unusable_answers(documents.columns).is_null()).select("system", "doc")
    voters = usable.group_by("doc").agg(pl.len().alias("of")).filter(pl.col("of") >= FEWEST)
    known = set(usable["system"].unique())
    extent = SuspiciousGold(
        (), len(voters), documents["doc"].n_unique(), tuple(one for one in systems if one not in known)
    )
    if len(systems) < FEWEST or voters.is_empty():
        return extent
    is_wrong = (pl.col("kind") == "value") & pl.col("outcome").is_in(_WRONG)
    value = pl.coalesce("pred_value", "pred")
    place = pl.coalesce("gold_path", pl.format("{}={}", pl.col("field"), value))
    votes = (
        evidence.filter(is_wrong)
        .join(usable.lazy(), on=["system", "doc"], how="semi", maintain_order="left")
        .with_columns(place=place, value=value)
        .filter(pl.col("value").n_unique().over("system", "doc", "field", "place") == 1)
    )
    found = (
        votes.group_by("doc", "field", "place", "value", maintain_order=True)
        .agg(
            pl.coalesce("gold_path", "pred_path").first().alias("path"),
            pl.col("gold").first(),
            pl.col("pred").first().alias("agreed"),
            pl.col("system").n_unique().alias("systems"),
            (pl.col("pred").n_unique() == 1).alias("is_identical"),
            pl.col("diagnoses").first().list.first().fill_null("").alias("diagnosis"),
        )
        .join(voters.lazy(), on="doc", how="inner", maintain_order="left")
        .filter(
            (pl.col("systems") == pl.col("of"))
            | (
                pl.col("agreed").is_not_null()
                & (pl.col("systems") >= MAJORITY)
                & (2 * pl.col("systems") > pl.col("of"))
            )
        )
        .select(*Suspicion.__struct_fields__)
        .collect()
    )
    ranked = found.sort(
        pl.col("systems") / pl.col("of"), pl.col("is_identical"), pl.col("gold").is_null(),
        pl.col("agreed").is_null(), "doc",
        descending=[True, True, False, False, False], maintain_order=True,
    )  # fmt: skip
    values = tuple(Suspicion(**row) for row in ranked.to_dicts())
    return SuspiciousGold(values, extent.looked, extent.documents, extent.silent)


def suspicious_gold_of_run(run: Run) -> SuspiciousGold:
    """Return the gold values of a run that all or most of its systems contradict in the same way.

    Raises `ProblemsError` for a run of one system, and for one without judged values.
    """
    rows = run.judged_values()
    if len(run.systems) < FEWEST:
        what, remedy = "has one system, and one agrees with itself", "score two systems or more in one call"
        raise problem(run.folder, what, remedy, "missing_part")
    return find_suspicious_gold(rows, run.documents, run.systems)
