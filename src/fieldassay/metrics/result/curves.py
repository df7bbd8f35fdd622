"""The curve F(t) of paired items, exactly, as a table of its steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fieldassay.metrics.evidence import Kind, Outcome

if TYPE_CHECKING:
    import polars as pl

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
