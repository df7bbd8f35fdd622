"""A sweep as text for a terminal: quality, cost and time of each system, effects of factors, the choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fieldassay.io.text.shown import visible
from fieldassay.metrics.estimate import (
    NOTHING,
    format_both,
    format_cost,
    format_difference,
    format_in_unit,
    format_seconds,
    format_value,
)
from fieldassay.metrics.result.result import find_headline, find_named
from fieldassay.metrics.thresholds import format_changes
from fieldassay.reports.content.extractions import list_failures
from fieldassay.reports.findings.recommendation import count_apart

if TYPE_CHECKING:
    from fieldassay.metrics.result.comparison import Comparison
    from fieldassay.metrics.result.result import Result
    from fieldassay.runs.sweep import Effect, Holdout, Sweep


def render_sweep(made: Sweep) -> str:
    """Return the lines on a sweep, below the table of its run."""
    lines: list[str] = []
    if made.run is not None:
        lines += trade_offs(made)
    failures = [line for name, one in made.extractions.items() for line in list_failures(one.manifest, name)]
    lines += ["", *failures] if failures else []
    if made.effects:
        lines += ["", "Effects, averaged over the other factors"]
        lines += [f"  {line}" for line in map(_effect, made.effects)]
    if made.twins:
        lines += ["", "Degraded documents against the same documents clean"]
        lines += [f"  {line}" for line in map(describe_twins, made.twins)]
    if made.holdout is not None:
        lines += ["", _chosen(made.holdout)]
    stopped = [name for name, one in made.extractions.items() if not one.is_complete]
    if stopped:
        lines += ["", f"not complete, and so not compared: {', '.join(stopped)}; the same command goes on"]
    lines += ["", f"written to {made.folder}: {', '.join(made.extractions)}" + (", run" if made.run else "")]
    return "".join(f"{line}\n" for line in lines)


def frontier(points: dict[str, tuple[float, float]]) -> set[str]:
    """Return the systems that no other beats in one of cost and accuracy without losing in the other.

    >>> sorted(frontier({"a": (1.0, 0.8), "b": (2.0, 0.7), "c": (3.0, 0.9)}))
    ['a', 'c']
    """
    return {
        name
        for name, (cost, value) in points.items()
        if not any(
            other_cost <= cost and other >= value and (other_cost, other) != (cost, value)
            for other_cost, other in points.values()
        )
    }


def trade_offs(made: Sweep) -> list[str]:
    """Return a table of quality, cost, time and failures by system."""
    assert made.run is not None
    result = made.run.result
    names = [name for name, one in made.extractions.items() if one.is_complete]
    costs = {name: _cost(made, result, name) for name in names}
    headline = {one.system: one for one in find_headline(result)}
    documents = max((one.documents for one in headline.values()), default=0)
    priced, timed = (
        count_apart([find_named(result, name, (metric,)) for name in names], documents)
        for metric in ("cost_usd", "latency_p50")
    )
    values = {name: headline[name].value if name in headline else None for name in names}
    metric = next((one.metric for one in headline.values()), "accuracy")
    points = {
        name: (cost, value)
        for name in names
        if (cost := costs[name]) is not None and (value := values[name]) is not None
    }
    best = frontier(points) if len(points) > 1 else set()
    rows = [("", _words(metric), "cost of 1,000", "median time", "failed", "")]
    for at, name in enumerate(names):
        told = made.extractions[name].manifest
        median = find_named(result, name, ("latency_p50",))
        time = told["timings"]["p50_ms"] if median is None else median.value
        rows.append(
            (
                visible(name),
                format_value(headline.get(name)),
                "unknown" if costs[name] is None else format_cost(costs[name] or 0.0) + priced[at],
                (NOTHING if time is None else format_seconds(time)) + timed[at],
                f"{told['documents']['failed']:,}",
                "on the frontier" if name in best else "",
            )
        )
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    head = "Accuracy, cost and time" + ("; on the frontier: nothing is cheaper and as good" if best else "")
    table = [_line(row, widths) for row in rows]
    return ["", head, *(f"  {line}" for line in table)]


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    numbers = (text.rjust(width) for text, width in zip(row[1:5], widths[1:5], strict=True))
    return "  ".join([row[0].ljust(widths[0]), *numbers, row[5]]).rstrip()


def _words(metric: str) -> str:
    return metric.replace("_", " ")


def _cost(made: Sweep, result: Result, name: str) -> float | None:
    """Return the mean cost of a document; 0 only where nothing was sent."""
    found = [
        one.value
        for one in result.estimates
        if (one.metric, one.system, one.field, dict(one.slice)) == ("cost_usd", name, None, {})
    ]
    if found and found[0] is not None:
        return found[0]
    told = made.extractions[name].manifest
    answers, attempted = told["cost"]["answers_usd"], told["documents"]["attempted"]
    return None if answers is None or not attempted else answers / attempted


def _effect(one: Effect) -> str:
    told = one.comparison
    name = f"{visible(one.factor)}: {visible(one.level)} against {visible(one.against)}"
    if told.difference is None:
        return f"{name}: undefined"
    interval = "" if told.interval is None else f" ({format_changes(told.interval, told.unit)})"
    parts = [f"{format_difference(told.difference, told.unit)} of {_words(told.metric)}{interval}"]
    if one.cost_usd is not None:
        parts.append(f"{format_difference(one.cost_usd, 'usd')} a document")
    if one.latency_ms is not None:
        parts.append(f"{format_difference(one.latency_ms, 'ms')} a document")
    return f"{name}: {', '.join(parts)} ({told.verdict.replace('_', ' ')})"


def describe_twins(one: Comparison) -> str:
    """Return a line on the loss of one system under one degradation."""
    name = f"{visible(one.systems[0])}, {visible(one.slice['degradation'])}, {one.metric}"
    if one.difference is None or None in one.values:
        return f"{name}: undefined"
    before, after = (format_in_unit(value, one.unit) for value in one.values)
    interval = "" if one.interval is None else f" ({format_changes(one.interval, one.unit)})"
    verdict = one.verdict.replace("_", " ")
    change = f"{before} to {after}: {format_difference(one.difference, one.unit)}{interval}"
    return f"{name}: {change}, n = {one.documents} ({verdict})"


def _chosen(one: Holdout) -> str:
    value = one.estimate
    held = "undefined" if value.value is None else format_both(value)
    chosen = "undefined" if one.chosen_value is None else format_in_unit(one.chosen_value, value.unit)
    return (
        f"Best on {one.chosen_on:,} documents: {visible(one.system)} ({chosen}); "
        f"on the {one.held_out:,} held out: {held}"
    )
