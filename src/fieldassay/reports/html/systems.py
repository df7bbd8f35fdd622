"""The page of systems: intervals, differences, slices, cost, latency, as rows for charts and tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.result.comparison import Comparison, RankedPair, Ranking
from fieldassay.reports.content.sweeps import frontier
from fieldassay.reports.html.overview import NAMES, Overview
from fieldassay.reports.html.source import ReportSource
from fieldassay.reports.wording.sentences import describe_comparison

LATENCIES = {"min": 0.0, "p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "max": 1.0}
"""The quantiles of the time of a document that the chart of latency shows."""


def describe_systems(source: ReportSource, page: Overview) -> dict[str, Any]:
    """Return the data of the page's charts."""
    whole = [one for one in source.result.estimates if one.field is None]
    main = next((line for line in page.lines if line.label == page.main), None)
    found = [one for one in (main.estimates if main else ()) if one is not None]
    return {
        "main": {
            "label": page.main.replace("_", " "),
            "unit": found[0].unit if found else "ratio",
            "better": found[0].better if found else "higher",
        },
        "intervals": [_row(one) for one in found],
        "differences": [
            *(_difference(one) for one in source.result.comparisons if one.field is None),
            *_other_references(source),
        ],
        "slices": [_row(one) for one in whole if len(one.slice) == 1 and found and _is_alike(one, found[0])],
        "gate": page.table.gate,
        "cost": _beside(whole, found, "cost_usd"),
        "latency": _latency(source),
    }


def _is_alike(one: Estimate, other: Estimate) -> bool:
    return (one.metric, one.regime, one.granularity, dict(one.parameters)) == (
        other.metric,
        other.regime,
        other.granularity,
        dict(other.parameters),
    )


def _row(one: Estimate) -> dict[str, Any]:
    low, high = one.interval or (None, None)
    key, value = next(iter(one.slice.items()), ("", ""))
    head = {
        "system": one.system,
        "slice": key,
        "group": value,
        "value": one.value,
        "low": low,
        "high": high,
        "n": one.n,
    }
    return {**head, "documents": one.documents, "few": "few_documents" in one.marks}


def _difference(one: Comparison) -> dict[str, Any]:
    low, high = one.interval or (None, None)
    key, value = next(iter(one.slice.items()), ("", ""))
    metric = NAMES.get(one.metric, one.metric.replace("_", " "))
    return {
        "metric": metric, "slice": key, "group": value, "reference": one.systems[0], "system": one.systems[1],
        "difference": one.difference, "low": low, "high": high, "p": one.p_adjusted, "verdict": one.verdict,
        "documents": one.documents,
        "wins": one.wins, "losses": one.losses, "ties": one.ties, "unit": one.unit, "better": one.better,
        "said": describe_comparison(one, NAMES),
    }  # fmt: skip


def _other_references(source: ReportSource) -> Iterator[dict[str, Any]]:
    """Yield the differences to each other system, on all documents.

    A pair without the reference of the scoring has no interval and no wins: only rankings have these pairs.
    """
    compared = [one for one in source.result.comparisons if one.field is None and not one.slice]
    known = {(one.metric, one.systems): one for one in compared}
    for ranking in source.result.rankings:
        for pair in ranking.pairs:
            orders = (pair.systems, pair.systems[::-1])
            found = next((known[key] for one in orders if (key := (ranking.metric, one)) in known), None)
            if found is not None:
                yield _difference(found.turned)
                continue
            made = _compare(ranking, pair)
            for each in (made, made.turned):
                yield {**_difference(each), "wins": None, "losses": None, "ties": None}


def _compare(ranking: Ranking, pair: RankedPair) -> Comparison:
    """Return the better of two systems of a ranking against the other, as far as the ranking says."""
    better, worse = pair.systems
    values = {place.system: place.value for place in ranking.places}
    return Comparison(
        metric=ranking.metric, field=None, slice={}, systems=(worse, better),
        values=(values.get(worse), values.get(better)), difference=pair.difference, interval=None,
        level=ranking.level, p=None, p_adjusted=pair.p_adjusted, effect_size=None, wins=0, losses=0, ties=0,
        documents=ranking.documents, method=ranking.method,
        verdict="better" if pair.is_shown else "no_difference_shown",
        unit=ranking.unit, better=ranking.better,
    )  # fmt: skip


def _beside(whole: list[Estimate], main: list[Estimate], metric: str) -> list[dict[str, Any]]:
    """Return the main metric beside another one, for the systems that have both."""
    other = {
        one.system: one.value
        for one in whole
        if one.metric == metric and not one.slice and one.value is not None
    }
    points = {
        one.system: (other[one.system], one.value if one.better == "higher" else -one.value)
        for one in main
        if one.system in other and one.value is not None
    }
    best = frontier(points) if len(points) > 1 else set()
    return [
        {**_row(one), "cost": other[one.system], "frontier": one.system in best}
        for one in main
        if one.system in points
    ]


def _latency(source: ReportSource) -> list[dict[str, Any]]:
    """Return the quantiles of the times of each system's documents, in milliseconds."""
    table = source.result.documents
    if table is None or "duration_ms" not in table.columns:
        return []
    times = {
        name: table.filter(table["system"] == name)["duration_ms"].drop_nulls() for name in source.systems
    }
    return [
        {
            "system": system,
            **{name: known.quantile(share, "linear") for name, share in LATENCIES.items()},
            "n": len(known),
        }
        for system, known in times.items()
        if len(known)
    ]
