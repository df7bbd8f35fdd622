"""Tables of a result with plain values, its curves, and the result of an agreement."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, to_builtins
from msgspec import field as default

from fieldassay.io.text.shown import Brief, DataFrame
from fieldassay.metrics.estimate import Estimate, format_slice
from fieldassay.metrics.evidence import Kind, Outcome, value_places
from fieldassay.metrics.result.verdicts import Comparison

if TYPE_CHECKING:
    import polars as pl


# How far reviewers agree: by field, each number with what qualifies it.

SCHEMA_VERSION = 1


class Measure(Struct, frozen=True):
    """One number about agreement.

    `value` is None where it is undefined, for `reason`. `n` is the number of values behind it, in so many
    `documents`. `marks`: `few_replicates`, `few_families` (no interval), `sampled` (chance agreement from a
    sample of pairs of answers), `undefined_replicates=K`.
    """

    value: float | None
    n: int
    documents: int
    interval: tuple[float, float] | None = None
    marks: tuple[str, ...] = ()
    reason: str | None = None


class Confusion(Struct, frozen=True):
    """Two answers to one value that do not agree, how often, and in which documents, in the order of ids.

    `absent` and `illegible` are in brackets.
    """

    first: str
    second: str
    count: int
    documents: tuple[str, ...]


class FieldAgreement(Struct, frozen=True):
    """The agreement on one field: `observed`, `alpha` and `ac1`."""

    field: str
    type: str
    measures: Mapping[str, Measure]
    confusions: tuple[Confusion, ...] = ()
    """The most frequent ones."""
    disagreements: int = 0
    """The number of pairs of answers that do not agree."""


class Agreement(Brief, Struct, frozen=True):
    """The agreement of reviewers on the documents that at least two sheets label."""

    spec: str
    reviewers: Mapping[str, int]
    """The number of such documents by reviewer."""
    documents: int
    independent: int
    """Documents with two labels of one value that were made without seeing a value."""
    single: int
    """Documents with answers of one sheet only, which count in nothing but the shares of answers of AC1."""
    overall: Mapping[str, Measure]
    fields: tuple[FieldAgreement, ...]
    level: float
    replicates: int
    seed: int
    is_intra: bool = False
    """Whether no document was labeled by two different reviewers."""
    notes: tuple[str, ...] = default(default=())

    def field(self, path: str) -> FieldAgreement:
        """Return the agreement on a field. Raises KeyError for a field without labels."""
        by_path = {field.field: field for field in self.fields}
        return by_path[path]

    def value(self, measure: str, field: str | None = None) -> float | None:
        """Return the value of a measure, of a field or overall; None if it is undefined."""
        measures = self.overall if field is None else self.field(field).measures
        return measures[measure].value

    def to_dict(self) -> dict[str, Any]:
        """Return the agreement as plain data."""
        data = to_builtins(self)
        counts = {name: data.pop(name) for name in ("documents", "independent", "single")}
        return {"schema_version": SCHEMA_VERSION, "counts": counts, **data}


# The curve F(t) of paired items, exactly, as a table of its steps.

COLUMNS = ("system", "field", "slice", "t", "share", "reached", "n")

_MISSING = Outcome.MISSING.name.lower()
_IN_GOLD = (
    *(outcome.name.lower() for outcome in (Outcome.MATCH, Outcome.PARTIAL, Outcome.MISMATCH)),
    _MISSING,
)


def trace_curves(
    evidence: pl.DataFrame, documents: pl.DataFrame | None = None, by: str = "variant"
) -> pl.DataFrame:
    """Return the steps of F(t), the share of gold items with a pair similarity q of at least t.

    The columns are `COLUMNS`, t increases from 0 to 1. `share` = `reached` / `n` holds from the row above
    (exclusive) up to and including `t`, so the sum of share x width is the mean of q over the gold items,
    with q = 0 for one without a partner. There is one curve per system and list (its slice is ``), and one
    per value of the column `by` of `documents` (its slice is `variant=raw`) where it has any. `evidence` must
    hold all rows, not errors only. Lists not paired by similarity have no curve.

    >>> import polars as pl
    >>> rows = {"system": "a", "doc": ["1", "1", "1"], "field": "entries[]", "kind": "item"}
    >>> rows |= {"outcome": ["match", "partial", "missing"], "similarity": [1.0, 0.25, None]}
    >>> trace_curves(pl.DataFrame(rows)).select("t", "reached", "n").rows()
    [(0.0, 3, 3), (0.25, 2, 3), (1.0, 1, 3)]
    """
    import polars as pl

    text, number, count = pl.String(), pl.Float64(), pl.Int64()
    empty = pl.DataFrame(
        schema=dict(zip(COLUMNS, (text, text, text, number, number, count, count), strict=True))
    )
    if "similarity" not in evidence.columns:
        return empty
    is_gold = (pl.col("kind") == Kind.ITEM.name.lower()) & pl.col("outcome").is_in(_IN_GOLD)
    items = evidence.filter(is_gold).select("system", "doc", "field", "outcome", q="similarity")
    return pl.concat([empty, *(_steps(part, keys) for keys, part in _parts(items, documents, by))])


def _parts(
    items: pl.DataFrame, documents: pl.DataFrame | None, by: str
) -> Iterator[tuple[tuple[str, str, str], pl.DataFrame]]:
    """Yield the items of each curve with its system, field and slice.

    Systems and fields are in the order of the rows.
    """
    import polars as pl

    has_slices = documents is not None and by in documents.columns
    for (system, field), part in items.group_by("system", "field", maintain_order=True):
        if not part.filter(pl.col("q").is_null() & (pl.col("outcome") != _MISSING)).is_empty():
            continue  # paired by position
        yield (str(system), str(field), ""), part
        if documents is None or not has_slices:
            continue
        groups = (
            documents.filter(pl.col("system") == system)
            .select("doc", group=pl.col(by).cast(pl.String))
            .drop_nulls()
        )
        sliced = part.join(groups, on="doc", maintain_order="left")
        for (group,), inner in sliced.group_by("group", maintain_order=True):
            yield (str(system), str(field), f"{by}={group}"), inner


def _steps(items: pl.DataFrame, keys: tuple[str, str, str]) -> pl.DataFrame:
    """Return a curve's rows: t = 0, every q of a pair, and t = 1."""
    import numpy as np
    import polars as pl

    quality = np.sort(items["q"].fill_null(0.0).to_numpy())
    points = np.unique(np.concatenate([[0.0, 1.0], np.clip(quality, 0.0, 1.0)]))
    reached = len(quality) - np.searchsorted(quality, points, side="left")
    reached[0] = len(quality)
    named = {
        name: pl.Series([key] * len(points), dtype=pl.String)
        for name, key in zip(COLUMNS, keys, strict=False)
    }
    counted = {"reached": reached.astype(np.int64), "n": np.full(len(points), len(quality), dtype=np.int64)}
    return pl.DataFrame({**named, "t": points, "share": reached / len(quality), **counted}).select(COLUMNS)


# Tables of a result with plain values: what is wrong, the fields, gold against predictions.

WRONG = ("partial", "mismatch", "missing", "spurious")
"""The outcomes that are errors."""
_OUTCOMES = ("match", *WRONG, "failed")


def list_wrong(evidence: DataFrame) -> DataFrame:
    """Return the wrong values in the order of judgement, with their main diagnosis.

    Gold and prediction are as given: a text as it is, anything else as JSON has it.
    """
    import polars as pl

    is_wrong = (pl.col("kind") == "value") & pl.col("outcome").is_in(WRONG)
    return evidence.filter(is_wrong).select(
        "system", "doc", "field",
        value_places().alias("path"),
        _plain("gold").alias("gold"), _plain("pred").alias("predicted"),
        "outcome", "score",
        pl.col("diagnoses").list.first().alias("diagnosis"),
        "reason", "critical",
    )  # fmt: skip


def _plain(side: str) -> pl.Expr:
    import polars as pl

    return pl.col(side).map_elements(_bare, return_dtype=pl.String)


def _bare(text: str) -> str:
    """Return the text that JSON quotes; anything else as it is.

    >>> _bare('"Elm \\\\"A\\\\""'), _bare("5.50"), _bare("[1]")
    ('Elm "A"', '5.50', '[1]')
    """
    value = json.loads(text, parse_float=str, parse_int=str) if text.startswith('"') else text
    return str(value).encode("utf-8", "backslashreplace").decode()


def tabulate_fields(estimates: Sequence[Estimate], evidence: DataFrame) -> DataFrame:
    """Return a row for each system and field: accuracy with interval, values by outcome, the main diagnosis.

    The fields are in the order of the evidence. Without the metric `field_accuracy` there are counts alone.
    """
    import polars as pl

    accuracy = [
        estimate
        for estimate in estimates
        if estimate.metric == "field_accuracy" and estimate.field and not estimate.slice
    ]
    bounds = [estimate.interval or (None, None) for estimate in accuracy]
    keys = ["system", "field"]
    fields = pl.DataFrame(
        {
            "system": [estimate.system for estimate in accuracy],
            "field": [estimate.field for estimate in accuracy],
            "accuracy": [estimate.value for estimate in accuracy],
            "low": [low for low, _ in bounds],
            "high": [high for _, high in bounds],
        },
        schema={**dict.fromkeys(keys, pl.String), **dict.fromkeys(("accuracy", "low", "high"), pl.Float64)},
    )
    values = evidence.filter((pl.col("kind") == "value") & (pl.col("outcome") != "absent"))
    counts = values.group_by(keys, maintain_order=True).agg(
        pl.len().alias("values"),
        *(pl.col("outcome").eq(name).sum().cast(pl.Int64).alias(name) for name in _OUTCOMES),
    )
    most = (
        list_wrong(evidence)
        .group_by(*keys, "diagnosis")
        .agg(pl.len().alias("times"))
        .sort("times", "diagnosis", descending=[True, False])
        .group_by(keys, maintain_order=True)
        .agg(pl.col("diagnosis").first().alias("most_often"))
    )
    joined = counts.join(fields, on=keys, how="left", maintain_order="left")
    return joined.select(*keys, "accuracy", "low", "high", *counts.columns[2:]).join(
        most, on=keys, how="left", maintain_order="left"
    )


def count_pairs(evidence: DataFrame, path: str) -> DataFrame:
    """Return how often each value of gold in a field was read as each value, the most frequent first.

    Values are as the type of the field reads them; null is no value.
    """
    import polars as pl

    is_chosen = (pl.col("kind") == "value") & (pl.col("field") == path) & (pl.col("outcome") != "absent")
    keys = ["system", "gold", "predicted"]
    return (
        evidence.filter(is_chosen)
        .select("system", "outcome", gold="gold_value", predicted="pred_value")
        .group_by(keys)
        .agg(pl.len().cast(pl.Int64).alias("count"), (pl.col("outcome") == "match").all().alias("is_match"))
        .sort("system", "count", "gold", "predicted", descending=[False, True, False, False])
    )


def frame_comparisons(comparisons: Sequence[Comparison]) -> DataFrame:
    """Return comparisons as a table, one row each."""
    import polars as pl

    rows = [
        {
            "metric": comparison.metric,
            "field": comparison.field,
            "slice": format_slice(comparison.slice),
            "first": comparison.systems[0],
            "second": comparison.systems[1],
            "value_first": comparison.values[0],
            "value_second": comparison.values[1],
            "difference": comparison.difference,
            **dict(zip(("low", "high"), comparison.interval or (None, None), strict=True)),
            "p": comparison.p_adjusted,
            "wins": comparison.wins,
            "losses": comparison.losses,
            "ties": comparison.ties,
            "documents": comparison.documents,
            "verdict": comparison.verdict,
        }
        for comparison in comparisons
    ]
    texts = dict.fromkeys(("metric", "field", "slice", "first", "second"), pl.String)
    numbers = dict.fromkeys(("value_first", "value_second", "difference", "low", "high", "p"), pl.Float64)
    counts = dict.fromkeys(("wins", "losses", "ties", "documents"), pl.Int64)
    return pl.DataFrame(rows, schema={**texts, **numbers, **counts, "verdict": pl.String})
