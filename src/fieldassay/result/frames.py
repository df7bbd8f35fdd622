"""A result as tables: for notebooks, and for pandas with or without pyarrow."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from fieldassay.errors import MissingExtraError
from fieldassay.result.estimate import Estimate

if TYPE_CHECKING:
    import polars as pl


_MOST_ROWS = 12
"""So many metrics stand in a notebook's table."""


def frame_estimates(estimates: Sequence[Estimate]) -> pl.DataFrame:
    """Return estimates as a table, one row each."""
    import polars as pl

    rows = [
        {
            "system": one.system,
            "metric": one.metric,
            "field": one.field,
            "slice": ", ".join(f"{key}={value}" for key, value in one.slice.items()),
            "value": one.value,
            "low": None if one.interval is None else one.interval[0],
            "high": None if one.interval is None else one.interval[1],
            "n": one.n,
            "documents": one.documents,
            "unit": one.unit,
        }
        for one in estimates
    ]
    texts, numbers = dict.fromkeys(("system", "metric", "field", "slice"), pl.String), dict.fromkeys(("value", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, schema={**texts, **numbers, "n": pl.Int64, "documents": pl.Int64, "unit": pl.String})


def to_pandas(frame: pl.DataFrame) -> Any:
    """Return a table as a pandas one, made column by column: pyarrow is not needed. Raises `MissingExtraError` without pandas."""
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise MissingExtraError("pandas is not installed: pip install pandas; the tables of polars need nothing more") from None
    return pandas.DataFrame({name: frame[name].to_list() for name in frame.columns}, columns=frame.columns)


def show_html(estimates: Sequence[Estimate], title: str) -> str:
    """Return estimates of the whole as a small HTML table: a row for each metric, a column for each system."""
    systems, metrics = (list(dict.fromkeys(getter)) for getter in ((one.system for one in estimates), (one.metric for one in estimates)))
    cells = {(one.metric, one.system): _cell(one) for one in reversed(estimates)}
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", *systems))
    rows = []
    for metric in metrics[:_MOST_ROWS]:
        values = "".join(f"<td>{cells.get((metric, system), '')}</td>" for system in systems)
        rows.append(f"<tr><th>{escape(metric)}</th>{values}</tr>")
    return f"<table><caption>{escape(title)}</caption><tr>{head}</tr>{''.join(rows)}</table>"


def _cell(one: Estimate) -> str:
    if one.value is None:
        return "undefined"
    interval = "" if one.interval is None else f" [{one.interval[0]:.3f}, {one.interval[1]:.3f}]"
    return f"{one.value:,.3f}{interval} n={one.n:,}"
