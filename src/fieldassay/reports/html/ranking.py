"""The table of all systems on the summary page, the best first, their intervals on one axis with the gate."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from fieldassay.metrics.catalogue.grammar import parse_gate
from fieldassay.metrics.estimate import (
    Estimate,
    format_bounds,
    format_cost,
    format_in_unit,
    format_seconds,
    is_narrow,
)
from fieldassay.reports.findings.recommendation import Standing, count_apart
from fieldassay.reports.html.source import ReportSource
from fieldassay.reports.wording.sentences import describe_estimate

_NOTHING = "—"


class Bar(Struct, frozen=True):
    """A value with its interval as places on the axis, 0 to 100."""

    low: float
    value: float
    high: float


class RankingRow(Struct, frozen=True):
    """One system: cells in words, and its bar (None: no value)."""

    system: str
    place: str
    answer: str
    gates: str
    value: str
    interval: str
    behind: str
    title: str
    bar: Bar | None
    cells: tuple[str, ...]
    failed: int


class RankingTable(Struct, frozen=True):
    """The rows, the heads of their cells with their metrics, the ends of the axis, and the gate on it.

    `gate` is the threshold as a value of the metric, `gate_place` its place on the axis, 0 to 100.
    """

    rows: tuple[RankingRow, ...]
    heads: tuple[tuple[str, str], ...]
    low: str
    high: str
    gate: float | None
    gate_place: float | None
    threshold: str
    documents: int


_HEADS = (
    ("critical fields", "critical_accuracy"), ("perfect documents", "perfect_documents"),
    ("median time", "latency_p50"), ("cost of 1,000 documents", "cost_usd"),
)  # fmt: skip


def rank(standings: Sequence[Standing], source: ReportSource) -> RankingTable:
    """Return the table; columns that no system has a value for are left out."""
    threshold = _threshold(standings, source)
    low, high = _axis([one.main for one in standings if one.main is not None], threshold)
    documents = max((one.main.documents for one in standings if one.main is not None), default=0)
    counts = [
        count_apart([getattr(one, name) for one in standings], documents) for name in ("median", "cost")
    ]
    cells = [_cells(*row) for row in zip(standings, *counts, strict=True)]
    kept = [at for at in range(len(_HEADS)) if any(own[at] != _NOTHING for own in cells)]
    rows = tuple(
        _row(one, standings[0], tuple(own[at] for at in kept), (low, high), source)
        for one, own in zip(standings, cells, strict=True)
    )
    unit = standings[0].main.unit if standings and standings[0].main is not None else "ratio"
    return RankingTable(
        rows, tuple(_HEADS[at] for at in kept), format_in_unit(low, unit), format_in_unit(high, unit),
        threshold, None if threshold is None else _place(threshold, low, high),
        "" if threshold is None else format_in_unit(threshold, unit),
        documents,
    )  # fmt: skip


def _threshold(standings: Sequence[Standing], source: ReportSource) -> float | None:
    """Return the threshold of the gate on the main metric, if there is one."""
    main = next((one.main for one in standings if one.main is not None), None)
    texts = dict.fromkeys(str(gate["gate"]) for one in source.decisions for gate in one.get("gates", ()))
    found = [parse_gate(text) for text in texts] if main is not None else []
    fitting = [
        gate.threshold
        for gate in found
        if main is not None
        and gate.function in ("value", "lower")
        and gate.metric.name == main.metric
        and gate.metric.field is None
        and gate.metric.slice is None
    ]
    return fitting[0] if fitting else None


def _axis(found: Sequence[Estimate], threshold: float | None) -> tuple[float, float]:
    """Return the ends of the axis: all intervals and the gate, with a little room, in whole steps of 5%."""
    values = [float(one.value) for one in found if one.value is not None]
    values += [bound for one in found for bound in one.interval or ()]
    values += [] if threshold is None else [threshold]
    if not values:
        return 0.0, 1.0
    is_share = found[0].unit in ("ratio", "percent")
    top = 100.0 if found[0].unit == "percent" else 1.0
    if not is_share:
        return min(0.0, *values), max(values) or 1.0
    step = top / 20
    low = max(0.0, step * (min(values) // step) - step)
    return low, min(top, step * (max(values) // step) + 2 * step)


def _place(value: float, low: float, high: float) -> float:
    return 100 * (value - low) / (high - low) if high > low else 50.0


def _row(
    one: Standing, first: Standing, cells: tuple[str, ...], axis: tuple[float, float], source: ReportSource
) -> RankingRow:
    main = one.main
    known = main is not None and main.value is not None
    value = float(main.value or 0.0) if main is not None else 0.0
    bounds = main.interval if main is not None and main.interval is not None else None
    low, high = bounds or (value, value)
    counts = source.result.counts.get("systems")
    own = counts.get(one.system, {}) if isinstance(counts, dict) else {}
    return RankingRow(
        system=one.system,
        place=one.place,
        answer=one.answer,
        gates=f"{one.passed}/{one.gates}" if one.gates else "",
        value=format_in_unit(main.value, main.unit) if main is not None and known else _NOTHING,
        interval="" if bounds is None or main is None or low == high else format_bounds(bounds, main.unit),
        behind=_behind(one, first),
        title=""
        if main is None
        else describe_estimate(main) + (" (few documents)" if is_narrow(main) else ""),
        bar=Bar(*(_place(part, *axis) for part in (low, value, high))) if known else None,
        cells=cells,
        failed=sum(int(own.get(name) or 0) for name in ("missing", "invalid", "error", "timeout")),
    )


def _behind(one: Standing, first: Standing) -> str:
    if one.main is None or first.main is None or one.main.value is None or first.main.value is None:
        return ""
    if one.system == first.system or first.main.unit not in ("ratio", "percent"):
        return ""
    points = (one.main.value - first.main.value) * (100 if first.main.unit == "ratio" else 1)
    if abs(points) < 0.05:
        return "less than 0.1 points" if points else "the same"
    return f"{points:+.1f} points".replace("-", "−")


def _cells(one: Standing, timed: str, priced: str) -> tuple[str, ...]:
    """Return the cells in the order of `_HEADS`, the documents behind the last two with them."""
    time = _NOTHING if one.median is None or one.median.value is None else format_seconds(one.median.value)
    cost = _NOTHING if one.cost is None or one.cost.value is None else format_cost(one.cost.value)
    return (_share(one.critical), _share(one.perfect), time + timed, cost + priced)


def _share(one: Estimate | None) -> str:
    if one is None or one.value is None:
        return _NOTHING
    return f"{one.value:,.0f} of {one.n:,}" if one.unit == "count" else format_in_unit(one.value, one.unit)
