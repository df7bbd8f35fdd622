"""In which documents the gold of two runs differs, as far as their evidence shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_COLUMNS = ("doc", "field", "gold_path", "gold", "critical", "weight")


def find_relabeled(first: pl.LazyFrame, second: pl.LazyFrame, common: tuple[str, ...]) -> frozenset[str]:
    """Return which of the common documents have another gold in the second run: another value, place, or importance of a value.

    Both frames must be complete evidence of one system. Values that are accepted beside gold are not in evidence and cannot differ here.
    """
    import polars as pl

    one, other = (_gold_rows(frame, common) for frame in (first, second))
    left = one.join(other, on=_COLUMNS, how="anti", nulls_equal=True)
    right = other.join(one, on=_COLUMNS, how="anti", nulls_equal=True)
    return frozenset(pl.concat([left.select("doc"), right.select("doc")]).unique().to_series().to_list())


def _gold_rows(frame: pl.LazyFrame, common: tuple[str, ...]) -> pl.DataFrame:
    import polars as pl

    wanted = pl.Series(common, dtype=pl.String).implode()
    has_gold = (pl.col("kind") == "value") & pl.col("gold_path").is_not_null()
    return frame.filter(has_gold & pl.col("doc").is_in(wanted)).select(_COLUMNS).collect()
