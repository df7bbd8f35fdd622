"""Tables of requested metrics: the decision to fill a field, time, tokens, cost, precision and recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from fieldassay.metrics.catalogue.definitions import list_groups
from fieldassay.metrics.catalogue.grammar import parse_metric
from fieldassay.metrics.estimate import NOTHING, Estimate, format_value
from fieldassay.metrics.result.result import Result, tabulate_estimates

MOST_ROWS = 40

PRESENCE = {
    "both empty": ("presence_gold_empty_pred_empty", "absent"),
    "only pred": ("presence_gold_empty_pred_nonempty", "spurious"),
    "only gold": ("presence_gold_nonempty_pred_empty", "missing"),
    "both": ("presence_gold_nonempty_pred_nonempty", ""),
}
DECISIONS = {"FDA": "fda", "HR": "hr", "MR": "mr", "RFA": "rfa", "out of type": "out_of_type"}
LATENCY = {
    "p50": "latency_p50", "p90": "latency_p90", "p95": "latency_p95", "p99": "latency_p99",
    "mean": "latency_mean", "min": "latency_min",
    "max": "latency_max",
}  # fmt: skip
TOKENS = {
    "prompt": "prompt_tokens",
    "completion": "completion_tokens",
    "embedding": "embedding_tokens",
    "total": "total_tokens",
}


class Grid(Struct, frozen=True):
    """A table of a report: title, head (the first column names the rows), rows, and number of hidden rows."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    hidden: int = 0


def list_grids(result: Result) -> tuple[Grid, ...]:
    """Return the tables of metrics requested by name or group; none of those that are always computed."""
    asked = _asked(result)
    grids = [
        grid
        for system in result.systems
        if asked & {"fda", "hr", "mr", "rfa"}
        for grid in _presence(result, system, asked)
    ]
    if asked & set(LATENCY.values()):
        grids += _by_system(result, "Latency of a document", LATENCY, asked)
    if asked & {*TOKENS.values(), *(f"{name}_sum" for name in TOKENS.values())}:
        grids += _by_system(result, "Tokens of a document, on average", TOKENS, asked)
        grids += _by_system(
            result, "Tokens of all documents", {label: f"{name}_sum" for label, name in TOKENS.items()}, asked
        )
    return tuple(grids)


def _asked(result: Result) -> set[str]:
    """Return the names of the metrics that the spec or the command names, groups opened."""
    groups, found = list_groups(), set[str]()
    own = set(map(str, result.run.get("definitions", ())))
    for text in result.run.get("asked", ()):
        name = parse_metric(str(text)).name
        found |= {name} if name in own else {name, *groups.get(name, ())}
    return found


def _presence(result: Result, system: str, asked: set[str]) -> list[Grid]:
    """Return the four counts and their decisions, by field and over all; nothing without fields."""
    table = tabulate_estimates(result, system)
    columns = {label: name for label, name in DECISIONS.items() if name in asked}
    fields = list(dict.fromkeys(field for name in columns.values() for field in table.get(name, {})))
    if not any(fields):
        return []
    rows = [
        (
            "all" if field is None else field,
            *(_count(table, label, field) for label in PRESENCE),
            *(format_value(table.get(name, {}).get(field)) for name in columns.values()),
        )
        for field in (*filter(None, fields), None)
    ]
    head = ("field", *PRESENCE, *columns)
    kept = rows if len(rows) <= MOST_ROWS else [*rows[: MOST_ROWS - 1], rows[-1]]
    return [Grid(f"Filled or empty, {system}", head, tuple(kept), len(rows) - len(kept))]


def _count(table: Mapping[str, Mapping[str | None, Estimate]], label: str, field: str | None) -> str:
    found = next((table[name][field] for name in PRESENCE[label] if field in table.get(name, {})), None)
    if found is not None or label != "both":
        return format_value(found)
    parts = [table.get(name, {}).get(field) for name in ("correct", "wrong")]
    return NOTHING if None in parts else f"{sum(part.value or 0 for part in parts if part is not None):,.0f}"


def _by_system(result: Result, title: str, columns: Mapping[str, str], asked: set[str]) -> list[Grid]:
    """Return one row per system with the requested columns that have any value."""
    tables = {system: tabulate_estimates(result, system) for system in result.systems}
    known = {
        label: name
        for label, name in columns.items()
        if name in asked
        and any(
            (one := table.get(name, {}).get(None)) is not None and one.value is not None
            for table in tables.values()
        )
    }
    if not known:
        return []
    rows = [(system, *_row(tables[system], list(known.values()))) for system in result.systems]
    return [
        Grid(title, ("system", *known, "documents"), tuple(rows[:MOST_ROWS]), max(0, len(rows) - MOST_ROWS))
    ]


def _row(table: Mapping[str, Mapping[str | None, Estimate]], names: Sequence[str]) -> list[str]:
    found = [table.get(name, {}).get(None) for name in names]
    return [*map(format_value, found), f"{max((one.n for one in found if one is not None), default=0):,}"]
