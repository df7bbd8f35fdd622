"""Costs in accuracy: the gap to a perfect score, split by cause, with intervals.

A cause is an answer that is missing or unusable, a missed or invented item of a list with all its fields, or
a kind of wrong in one field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from fieldassay.metrics.uncertainty.bootstrap import (
    STEPS,
    document_keys,
    percentile_intervals,
    unseen_weights,
    weight_table,
    weights,
)
from fieldassay.reports.findings.mistakes import is_due_to_gold
from fieldassay.runs.run import unusable_answers

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

REPLICATES, SEED, LEVEL = 1000, 0, 0.95
_WEIGHTS = 1 << 22
"""Weights drawn at once, which bounds the memory of a run of many documents."""

DIGITS = 12
"""The digits of points: sums of the same losses in another sequence are equal to these."""

JUDGED = ("match", "partial", "mismatch", "missing", "spurious")


class Loss(Struct, frozen=True):
    """The cost of one cause to a system: a kind of wrong in a field, items of a list, or whole answers.

    Items are `item_…`, answers `answer_…`, without a field. `points` are the loss of accuracy (mean over
    documents, 0 to 1), `interval` is theirs. All losses of a system, and what it loses by gold that cannot be
    read, add up to 1 less its accuracy. `values` are so many values in `documents` documents, out of `of`
    documents with anything to judge. `gold` and `pred` are those of the first example, as JSON text, `doc` is
    its document. `count` are the answers or items, 0 for a kind of wrong of values. Of failed answers,
    `kinds` counts each problem, and `without` is the accuracy over all other documents (None: there are
    none).
    """

    system: str
    field: str
    diagnosis: str
    points: float
    interval: tuple[float, float] | None
    values: int
    documents: int
    of: int
    doc: str
    gold: str | None
    pred: str | None
    count: int = 0
    kinds: tuple[tuple[str, int], ...] = ()
    without: float | None = None


def find_losses(
    evidence: pl.LazyFrame,
    documents: pl.DataFrame,
    systems: Sequence[str],
    most: int = 5,
    replicates: int = REPLICATES,
) -> dict[str, tuple[Loss, ...]]:
    """Return the costliest losses of each system, the costliest first.

    A document that has n leaves loses (1 - score) / n by each of them; the cost of a cause is the mean of
    that over the documents with leaves. Each leaf has one cause: its document's answer, else the outermost
    item that is missing or unpaired, else its field and main diagnosis. Intervals are those of a mean over
    documents; none without replicates.
    """
    import polars as pl

    known = (
        documents.filter(pl.col("leaves") > 0)
        .select("system", "doc", "leaves", answer=unusable_answers(documents.columns))
        .with_columns(
            cause=pl.when(pl.col("answer").drop_nulls().n_unique().over("system") > 1)
            .then(pl.lit("answer_failed"))
            .otherwise("answer")
        )
    )
    lost = 1.0 - pl.col("score").fill_null(0.0)
    is_value = (pl.col("kind") == "value") & pl.col("outcome").is_in(JUDGED)
    wrong = evidence.filter(is_value & (lost > 0) & ~is_due_to_gold())
    diagnosis = pl.col("diagnoses").list.first().fill_null("accepted")
    path = pl.coalesce("gold_path", "pred_path")
    rows = wrong.select(
        "system", "doc", "field", "outcome", "gold", "pred", lost=lost, diagnosis=diagnosis, path=path
    )
    rows = join_items(rows.join(known.lazy(), on=["system", "doc"], maintain_order="left"), evidence)
    is_lost = pl.col("answer").is_not_null() & (pl.col("outcome") == "missing")
    is_item = ~is_lost & pl.col("item").is_not_null()
    rows = rows.with_columns(
        field=pl.when(is_lost).then(pl.lit("")).when(is_item).then("list").otherwise("field"),
        diagnosis=pl.when(is_lost)
        .then("cause")
        .when(is_item)
        .then("item_" + pl.col("outcome"))
        .otherwise("diagnosis"),
        unit=pl.when(is_lost).then(pl.lit("")).when(is_item).then("item"),
    )
    per_document = rows.group_by("system", "field", "diagnosis", "doc", maintain_order=True).agg(
        pl.len().alias("values"),
        (pl.col("lost") / pl.col("leaves")).sum().alias("loss"),
        pl.col("gold", "pred").first(),
        pl.col("unit").drop_nulls().n_unique().alias("count"),
        pl.when(pl.col("field").first() == "").then(pl.col("answer").first()).alias("answer"),
    )
    table = per_document.collect()
    return {
        system: _of_system(table.filter(pl.col("system") == system), known, system, (most, replicates))
        for system in systems
    }


def join_items(rows: pl.LazyFrame, evidence: pl.LazyFrame) -> pl.LazyFrame:
    """Return rows of values with their outermost items without a partner (`item`, null for none).

    `path` is where a value is; `list` becomes the field of that item.
    """
    import polars as pl

    alone = evidence.filter((pl.col("kind") == "item") & pl.col("outcome").is_in(("missing", "spurious")))
    items = alone.select(
        "system", "doc", "outcome", inside=pl.coalesce("gold_path", "pred_path"), is_alone=True
    ).unique()
    depth = items.select(pl.col("inside").str.count_matches(r"\[\d+\]").max()).collect().item() or 0
    rows = rows.with_columns(item=pl.lit(None, dtype=pl.String), list=pl.lit(None, dtype=pl.String))
    for level in range(1, depth + 1):
        inside = pl.col("path").str.extract(rf"^((?:.*?\[\d+\]){{{level}}})")
        joined = rows.with_columns(inside=inside).join(
            items, on=["system", "doc", "outcome", "inside"], how="left", maintain_order="left"
        )
        is_new = pl.col("is_alone") & pl.col("item").is_null()
        of_field = pl.col("field").str.extract(rf"^((?:.*?\[\]){{{level}}})")
        rows = joined.with_columns(
            item=pl.when(is_new).then("inside").otherwise("item"),
            list=pl.when(is_new).then(of_field).otherwise("list"),
        ).drop("inside", "is_alone")
    return rows


def _of_system(
    table: pl.DataFrame, known: pl.DataFrame, system: str, bounds: tuple[int, int]
) -> tuple[Loss, ...]:
    import numpy as np
    import polars as pl

    most, replicates = bounds
    names = known.filter(pl.col("system") == system)["doc"].sort()
    if not len(names) or table.is_empty():
        return ()
    groups = table.group_by("field", "diagnosis", maintain_order=True).agg(
        pl.col("loss", "values", "count").sum(),
        pl.len().alias("documents"),
        pl.col("doc", "gold", "pred").first(),
    )
    worst = find_worst(groups.to_dicts(), len(names), most)
    worst = [group if group["field"] else {**group, **_failed(table, len(names))} for group in worst]
    if not replicates:
        return tuple(make_loss(system, group, len(names), None) for group in worst)
    columns = np.zeros((len(worst), len(names)))
    for place, group in enumerate(worst):
        chosen = table.filter(
            (pl.col("field") == group["field"]) & (pl.col("diagnosis") == group["diagnosis"])
        )
        columns[place] = (
            names.to_frame()
            .join(chosen.select("doc", "loss"), on="doc", how="left", maintain_order="left")["loss"]
            .fill_null(0.0)
        )
    intervals = _intervals(columns, names.to_list(), replicates)
    return tuple(
        make_loss(system, group, len(names), bounds) for group, bounds in zip(worst, intervals, strict=True)
    )


def find_worst(groups: Iterable[dict[str, Any]], of: int, most: int) -> list[dict[str, Any]]:
    """Return the costliest groups, equal ones by name; `of` documents have anything to judge."""

    def rank(group: dict[str, Any]) -> tuple[float, str, str]:
        return -round(group["loss"] / of, DIGITS), group["field"], group["diagnosis"]

    return sorted(groups, key=rank)[:most]


def _failed(table: pl.DataFrame, of: int) -> dict[str, Any]:
    """Return the problems of one system's failed answers, and the accuracy over all other documents."""
    import polars as pl

    failed = table.filter(pl.col("field") == "")
    kinds = failed.group_by("answer").len().sort(["len", "answer"], descending=[True, False]).rows()
    others = table.join(failed.select("doc"), on="doc", how="anti")["loss"].sum()
    rest = of - len(failed)
    return {"kinds": tuple(kinds), "without": round(1 - others / rest, DIGITS) if rest else None}


def _intervals(
    columns: npt.NDArray[np.float64], names: Sequence[str], replicates: int
) -> list[tuple[float, float]]:
    """Return the intervals of the means of losses (causes x documents).

    Each replicate has an unseen document of the weight of any other, which a coin lets lose everything to
    the cause, or nothing.
    """
    import numpy as np

    keys, table = document_keys(names, SEED), weight_table(np.float32)
    unseen = STEPS * unseen_weights(SEED, replicates)
    width = max(4, _WEIGHTS // len(names) // 4 * 4)
    parts = []
    for first in range(0, replicates, width):
        drawn: Any = weights(keys, first, min(width, replicates - first), table)
        held = unseen[first : first + drawn.shape[1]]
        parts.append((columns @ drawn + np.maximum(-held, 0.0)) / (drawn.sum(axis=0) + np.abs(held)))
    found, means = percentile_intervals(np.concatenate(parts, axis=1), LEVEL), columns.mean(axis=1)
    low, high = np.minimum(found.low, means), np.maximum(found.high, means)
    return [(float(first), float(last)) for first, last in zip(low, high, strict=True)]


def make_loss(
    system: str, group: Mapping[str, Any], of: int, interval: tuple[float, float] | None = None
) -> Loss:
    """Return the loss of a group of values with one cause."""
    return Loss(
        system=system,
        field=group["field"],
        diagnosis=group["diagnosis"],
        points=round(group["loss"] / of, DIGITS),
        interval=interval,
        values=group["values"],
        documents=group["documents"],
        of=of,
        doc=group["doc"],
        gold=group["gold"],
        pred=group["pred"],
        count=group["count"],
        kinds=group.get("kinds", ()),
        without=group.get("without"),
    )
