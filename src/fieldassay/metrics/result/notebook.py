"""Estimates in a notebook: one line, a small HTML table, tables of polars and of pandas."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from fieldassay.errors import MissingExtraError
from fieldassay.io.text.shown import clip, format_count
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.notation import format_bounds, format_in_unit

if TYPE_CHECKING:
    import polars as pl

_MOST_ROWS, _MOST_COLUMNS, _MOST_NAMED = 12, 8, 4
"""The most metrics and systems in a table, and the most systems in a line; further ones are counted."""

_NAME = 60
_LEFT, _CELL, _SMALL = "text-align:left", "text-align:right;white-space:nowrap", "opacity:0.7"
"""The styles of a table. No colors: the notebook's theme has them."""


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
    texts, numbers = (
        dict.fromkeys(("system", "metric", "field", "slice"), pl.String),
        dict.fromkeys(("value", "low", "high"), pl.Float64),
    )
    return pl.DataFrame(
        rows, schema={**texts, **numbers, "n": pl.Int64, "documents": pl.Int64, "unit": pl.String}
    )


def to_pandas(frame: pl.DataFrame) -> Any:
    """Return a Polars table as a pandas table, column by column, without pyarrow.

    Raises `MissingExtraError` without pandas.
    """
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise MissingExtraError(
            "tables of pandas need pandas; run `pip install 'fieldassay[pandas]'`, "
            "or use the tables of polars: `summary()`, `documents`, `evidence`"
        ) from None
    return pandas.DataFrame({name: frame[name].to_list() for name in frame.columns}, columns=frame.columns)


def list_overall(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return the estimates over all fields and all documents."""
    return [one for one in estimates if one.field is None and not one.slice]


def describe_systems(estimates: Sequence[Estimate]) -> str:
    """Return the first estimate of each system in a line.

    >>> describe_systems([Estimate("accuracy", "a", None, {}, None, 0.9487, 12, 12, 0, None)])
    'a accuracy 94.9%'
    """
    first: dict[str, Estimate] = {}
    for one in estimates:
        first.setdefault(one.system, one)
    shown = [
        f"{clip(one.system, _NAME)} {one.metric} "
        f"{'undefined' if one.value is None else format_in_unit(one.value, one.unit)}"
        for one in list(first.values())[:_MOST_NAMED]
    ]
    more = [f"{len(first) - len(shown)} more"] if len(first) > len(shown) else []
    return ", ".join([*shown, *more]) or "no system"


def format_html(estimates: Sequence[Estimate], title: str) -> str:
    """Return overall estimates as a small HTML table: a row per metric, a column per system.

    It needs nothing outside itself, and takes its colors from the page that it is in.
    """
    systems = list(dict.fromkeys(one.system for one in estimates))
    metrics = list(dict.fromkeys(one.metric for one in estimates))
    cells = {(one.metric, one.system): one for one in reversed(estimates)}
    shown = systems[:_MOST_COLUMNS]
    head = "".join(f'<th style="{_CELL}">{escape(clip(name, _NAME))}</th>' for name in shown)
    rows = "".join(
        f'<tr><th style="{_LEFT}">{escape(metric)}</th>'
        f"{''.join(_cell(cells.get((metric, system))) for system in shown)}</tr>"
        for metric in metrics[:_MOST_ROWS]
    )
    hidden = [
        format_count(len(names) - most, f"more {word}")
        for names, most, word in ((metrics, _MOST_ROWS, "metric"), (systems, _MOST_COLUMNS, "system"))
        if len(names) > most
    ]
    note = f'<div style="{_SMALL}">{" and ".join(hidden)} in <code>summary()</code></div>' if hidden else ""
    return (
        f'<table><caption style="{_LEFT}">{escape(title)}</caption>'
        f"<thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table>{note}"
    )


def _cell(one: Estimate | None) -> str:
    if one is None:
        return "<td></td>"
    if one.value is None:
        return f'<td style="{_CELL}">undefined</td>'
    bounds = "" if one.interval is None else f"{format_bounds(one.interval, one.unit)}, "
    return (
        f'<td style="{_CELL}">{escape(format_in_unit(one.value, one.unit))} '
        f'<span style="{_SMALL}">({escape(bounds)}n = {one.n:,})</span></td>'
    )
