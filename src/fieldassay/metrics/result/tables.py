"""Tables of a result with plain values: what is wrong, the fields, gold against predictions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fieldassay.io.text.shown import DataFrame
from fieldassay.metrics.estimate import Estimate

if TYPE_CHECKING:
    import polars as pl

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
        pl.coalesce("gold_path", "pred_path").alias("path"),
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
    found = json.loads(text, parse_float=str, parse_int=str) if text.startswith('"') else text
    return str(found).encode("utf-8", "backslashreplace").decode()


def tabulate_fields(estimates: Sequence[Estimate], evidence: DataFrame) -> DataFrame:
    """Return a row for each system and field: accuracy with interval, values by outcome, the main diagnosis.

    The fields are in the order of the evidence. Without the metric `field_accuracy` there are counts alone.
    """
    import polars as pl

    accuracy = [one for one in estimates if one.metric == "field_accuracy" and one.field and not one.slice]
    bounds = [one.interval or (None, None) for one in accuracy]
    keys = ["system", "field"]
    fields = pl.DataFrame(
        {
            "system": [one.system for one in accuracy],
            "field": [one.field for one in accuracy],
            "accuracy": [one.value for one in accuracy],
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
