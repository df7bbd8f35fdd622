"""The first pages of the HTML report: overview, ranking, gates and systems."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.decisions.diff.diff import find_changes
from fieldassay.decisions.losses import Loss, count_mistakes, find_losses
from fieldassay.io.text.shown import format_pair
from fieldassay.metrics.catalogue.grammar import Gate
from fieldassay.metrics.estimate import (
    Estimate,
    format_bounds,
    format_cost,
    format_in_unit,
    format_seconds,
    format_share,
    is_narrow,
)
from fieldassay.metrics.result.result import Result, find_main
from fieldassay.metrics.result.verdicts import Comparison, Decision, GateOutcome, Verdict
from fieldassay.metrics.thresholds import WORDS, format_threshold
from fieldassay.reports.content.run.sections import tabulate_by_system
from fieldassay.reports.content.run.summary import (
    HEADLINE,
    Summary,
    SummaryLine,
    cut_suspicious,
    describe_silent,
    describe_units,
    summarize,
)
from fieldassay.reports.findings.recommendation import (
    Recommendation,
    Standing,
    describe_cost,
    describe_counts,
    is_compared_by,
    list_standings,
    name_lost,
    recommend,
)
from fieldassay.reports.html.source import ReportSource
from fieldassay.reports.wording import (
    describe_comparison,
    describe_estimate,
    describe_first,
)

# The table of all systems on the summary page, the best first, their intervals on one axis with the gate.

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


_HEADS = (
    ("critical fields", "critical_accuracy"), ("perfect documents", "perfect_documents"),
    ("median time", "latency_p50"), ("cost of 1,000 documents", "cost_usd"),
)  # fmt: skip


def rank(standings: Sequence[Standing], source: ReportSource) -> RankingTable:
    """Return the table; columns that no system has a value for are left out."""
    threshold = _threshold(standings, source)
    low, high = _axis([standing.main for standing in standings if standing.main is not None], threshold)
    cells = list(map(_cells, standings))
    columns = [at for at in range(len(_HEADS)) if any(own[at] != _NOTHING for own in cells)]
    rows = tuple(
        _row(standing, tuple(own[at] for at in columns), (low, high), source)
        for standing, own in zip(standings, cells, strict=True)
    )
    unit = standings[0].main.unit if standings and standings[0].main is not None else "ratio"
    return RankingTable(
        rows, tuple(_HEADS[at] for at in columns), format_in_unit(low, unit), format_in_unit(high, unit),
        threshold, None if threshold is None else _place(threshold, low, high),
        "" if threshold is None else format_in_unit(threshold, unit),
    )  # fmt: skip


def _threshold(standings: Sequence[Standing], source: ReportSource) -> float | None:
    """Return the threshold of the gate on the main metric, if there is one."""
    main = next((standing.main for standing in standings if standing.main is not None), None)
    gates = dict.fromkeys(outcome.gate for decision in source.decisions for outcome in decision.outcomes)
    fitting = [
        gate.threshold
        for gate in gates
        if main is not None
        and gate.function in ("value", "lower")
        and gate.metric.name == main.metric
        and gate.metric.field is None
        and gate.metric.slice is None
    ]
    return fitting[0] if fitting else None


def _axis(estimates: Sequence[Estimate], threshold: float | None) -> tuple[float, float]:
    """Return the ends of the axis: all intervals and the gate, with a little room, in whole steps of 5%."""
    values = [float(estimate.value) for estimate in estimates if estimate.value is not None]
    values += [bound for estimate in estimates for bound in estimate.interval or ()]
    values += [] if threshold is None else [threshold]
    if not values:
        return 0.0, 1.0
    is_share = estimates[0].unit in ("ratio", "percent")
    top = 100.0 if estimates[0].unit == "percent" else 1.0
    if not is_share:
        return min(0.0, *values), max(values) or 1.0
    step = top / 20
    low = max(0.0, step * (min(values) // step) - step)
    return low, min(top, step * (max(values) // step) + 2 * step)


def _place(value: float, low: float, high: float) -> float:
    return 100 * (value - low) / (high - low) if high > low else 50.0


def _row(
    standing: Standing, cells: tuple[str, ...], axis: tuple[float, float], source: ReportSource
) -> RankingRow:
    main = standing.main
    is_defined = main is not None and main.value is not None
    value = float(main.value or 0.0) if main is not None else 0.0
    bounds = main.interval if main is not None and main.interval is not None else None
    low, high = bounds or (value, value)
    counts = source.result.counts.get("systems")
    own = counts.get(standing.system, {}) if isinstance(counts, dict) else {}
    return RankingRow(
        system=standing.system,
        place=standing.place,
        answer=standing.answer or "",
        gates=f"{standing.passed}/{standing.gates}" if standing.gates else "",
        value=format_in_unit(main.value, main.unit) if main is not None and is_defined else _NOTHING,
        interval="" if bounds is None or main is None or low == high else format_bounds(bounds, main.unit),
        title=""
        if main is None
        else describe_estimate(main) + (" (few documents)" if is_narrow(main) else ""),
        bar=Bar(*(_place(part, *axis) for part in (low, value, high))) if is_defined else None,
        cells=cells,
        failed=sum(int(own.get(name) or 0) for name in ("missing", "invalid", "error", "timeout")),
    )


def _cells(standing: Standing) -> tuple[str, ...]:
    """Return the cells in the order of `_HEADS`."""
    time = (
        _NOTHING
        if standing.median is None or standing.median.value is None
        else format_seconds(standing.median.value)
    )
    cost = (
        _NOTHING if standing.cost is None or standing.cost.value is None else format_cost(standing.cost.value)
    )
    return (_share(standing.critical), _share(standing.perfect), time, cost)


def _share(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return _NOTHING
    return (
        f"{estimate.value:,.0f} of {estimate.n:,}"
        if estimate.unit == "count"
        else format_in_unit(estimate.value, estimate.unit)
    )


# The content of the summary page: the verdict, each system's numbers, findings, and first remedies.

MOST_CARDS = 4
"""The most systems whose losses are shown at once; more are folded."""

MOST_LOSSES = 5
NAMES: Mapping[str, str] = {**HEADLINE, "f1": "F1"}
ANSWERS = {"GO": ("good", "✓"), "NO-GO": ("bad", "✕"), "INCONCLUSIVE": ("unsure", "?")}
"""The tone and the sign of each answer."""


class PageEstimate(Struct, frozen=True):
    """An estimate as pages show it; `value` is a share of one, where it is a share."""

    text: str
    bounds: str
    is_few: bool
    value: float | None
    title: str
    lack: str
    """Why there is no interval, if the reason is known."""


class Fix(Struct, frozen=True):
    """A loss as the page shows it, with its points and their interval as lengths of its bar, 0 to 100."""

    loss: Loss
    sentence: str
    """The error, its frequency, and its cost, without the field, which is beside it."""
    gold: str
    pred: str
    length: float
    interval: tuple[float, float] | None


class Overview(Struct, frozen=True, eq=False):
    """The summary page."""

    summary: Summary
    recommendation: Recommendation
    table: RankingTable
    main: str
    lines: tuple[SummaryLine, ...]
    findings: tuple[str, ...]
    fixes: Mapping[str, tuple[Fix, ...]]
    method: str
    changed: tuple[int, int] | None
    """How many values the second of two systems breaks and fixes, where the evidence tells."""

    @property
    def has_intervals(self) -> bool:
        """Return whether intervals were computed."""
        return any(
            estimate is not None and estimate.interval for line in self.lines for estimate in line.estimates
        )


def format_estimate(estimate: Estimate | None) -> PageEstimate | None:
    """Return an estimate as pages show it; None for None and for an undefined one."""
    if estimate is None or estimate.value is None:
        return None
    scale = {"ratio": 1.0, "percent": 0.01}.get(estimate.unit)
    is_percentile = (
        estimate.metric.startswith("latency_p") and estimate.metric.removeprefix("latency_p").isdigit()
    )
    return PageEstimate(
        _format(estimate.value, estimate.unit),
        "" if estimate.interval is None else _format_bounds(estimate.interval, estimate.unit),
        is_narrow(estimate),
        None if scale is None else scale * estimate.value,
        describe_estimate(estimate),
        "too few documents for an interval" if is_percentile and estimate.interval is None else "",
    )


def _format(value: float, unit: str) -> str:
    """Return a value in the language of pages: percent, seconds, dollars for 1,000 documents."""
    return format_cost(value) if unit == "usd" else format_in_unit(value, unit)


def _format_bounds(interval: tuple[float, float], unit: str) -> str:
    if unit not in ("ms", "usd"):
        return format_bounds(interval, unit)
    if interval[0] == interval[1]:
        return ""
    low, high = (_format(bound, unit) for bound in interval)
    return f"{low.removesuffix(' s')} to {high}"


def overview(source: ReportSource) -> Overview:
    """Return the content of the summary page on a result."""
    result = replace(source.result, evidence_table=None)
    standings = list_standings(result, source.decisions)
    mistakes = () if source.evidence is None else count_mistakes(source.evidence)
    summary = summarize(result)
    summary = replace(
        summary,
        fields=tabulate_by_system(result, summary.systems, mistakes),
        **cut_suspicious(source.suspicious),
    )
    lines = summary.headline
    main = find_main(result)
    of_main = [
        line
        for line in lines
        if main and any(estimate and estimate.metric == main.metric for estimate in line.estimates)
    ]
    main_line = next(iter((*of_main, *lines)), None)
    best = standings[0].system if standings else ""
    recommendation = recommend(source.result, source.decisions, standings)
    return Overview(
        summary=summary,
        recommendation=recommendation,
        table=rank(standings, source),
        main="" if main_line is None else main_line.label,
        lines=lines,
        findings=tuple(_remarks(source.result, standings)),
        fixes=_fixes(source, recommendation.systems or (best,)),
        method=_method(source),
        changed=_count_changed(source, summary.fields.systems),
    )


def _count_changed(source: ReportSource, systems: Sequence[str]) -> tuple[int, int] | None:
    """Return how many values the second of two systems of one run breaks and fixes."""
    if source.evidence is None or len(systems) != 2:
        return None
    first, second = (source.evidence.filter(system=name) for name in systems)
    changes = find_changes(first, second)
    return changes.count("broken"), changes.count("fixed")


def _remarks(result: Result, standings: Sequence[Standing]) -> list[str]:
    """Return the documents behind times, silent systems, the chances of the first."""
    main = next((standing.main for standing in standings if standing.main is not None), None)
    ranked = [
        describe_first(ranking)
        for ranking in result.rankings
        if main is not None and is_compared_by(ranking, main)
    ]
    return [text for text in (describe_counts(standings), describe_silent(result), *ranked) if text]


def _fixes(source: ReportSource, first: Sequence[str]) -> dict[str, tuple[Fix, ...]]:
    """Return the costliest losses of each system, those systems first, on one scale."""
    if source.evidence is None:
        return {}
    losses = find_losses(source.evidence, source.result, MOST_LOSSES)
    order = [system for system in dict.fromkeys((*first, *source.systems)) if losses[system]]
    of = name_lost(source.result)
    ends = [(loss.interval or (0.0, 0.0))[1] for own in losses.values() for loss in own]
    scale = 100 / max([1e-9, *ends, *(loss.points for own in losses.values() for loss in own)])
    return {system: tuple(_fix(loss, scale, of) for loss in losses[system]) for system in order}


def _fix(loss: Loss, scale: float, of: str) -> Fix:
    gold, pred = format_pair(loss.gold, loss.pred, 60)
    interval = (
        None if loss.interval is None else (scale * max(0.0, loss.interval[0]), scale * loss.interval[1])
    )
    return Fix(loss, describe_cost(loss, of), gold, pred, scale * loss.points, interval)


def _method(source: ReportSource) -> str:
    bootstrap = source.result.run.get("bootstrap")
    if not isinstance(bootstrap, Mapping) or not bootstrap.get("replicates"):
        return "No intervals were computed."
    level = format_share(float(bootstrap.get("level", 0.95)))
    return (
        f"Below each value: its {level} interval over {describe_units(bootstrap)}, "
        f"from {bootstrap['replicates']:,} bootstrap replicates."
    )


# The gates of a report in words: what is looked at, its value, and what is needed.

SIGNS = {"PASS": "✓", "FAIL": "✕", "INCONCLUSIVE": "?", "NO LOSS SHOWN": "○", "SKIPPED": "–"}
TONES = {"PASS": "good", "FAIL": "bad", "INCONCLUSIVE": "unsure", "NO LOSS SHOWN": "none", "SKIPPED": "none"}
_FUNCTIONS = {"lower": "cautious value", "upper": "cautious value"}


class GateLine(Struct, frozen=True):
    """One gate of one system in words."""

    outcome: GateOutcome
    name: str
    sign: str
    tone: str
    needed: str
    interval: str
    why: str
    """Why there is no verdict; empty if there is one."""


def describe_gates(decision: Decision) -> list[GateLine]:
    """Return the gates of a decision in words."""
    lines = []
    for outcome in decision.outcomes:
        threshold = format_threshold(outcome.threshold, outcome.unit_shown)
        lines.append(
            GateLine(
                outcome,
                outcome.title or _name(outcome.gate),
                SIGNS[outcome.verdict],
                TONES[outcome.verdict],
                f"needs {WORDS.get(outcome.gate.operator, outcome.gate.operator)} {threshold}",
                "" if outcome.interval is None else format_bounds(outcome.interval, outcome.unit_shown),
                "" if outcome.verdict in (Verdict.PASS, Verdict.FAIL) else outcome.rule,
            )
        )
    return lines


def _name(gate: Gate) -> str:
    """Return what a gate looks at, in words."""
    metric = gate.metric
    field = "each field" if gate.is_each else metric.field or ""
    of = f" of {field}" if field else ""
    where = f", {metric.slice[0]} {metric.slice[1]}" if metric.slice else ""
    looked_at = _FUNCTIONS.get(gate.function, "" if gate.function == "value" else gate.function)
    return f"{_metric(gate)}{of}{where}{f', {looked_at}' if looked_at else ''}"


def _metric(gate: Gate) -> str:
    name = gate.metric.name
    short = name.removeprefix("field_") if gate.metric.field or gate.is_each else name
    return str(NAMES.get(short, short)).replace("_", " ")


# The page of systems: intervals, differences, slices, cost, latency, as rows for charts and tables.

LATENCIES = {"min": 0.0, "p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "max": 1.0}
"""The quantiles of the time of a document that the chart of latency shows."""


def describe_systems(source: ReportSource, page: Overview) -> dict[str, Any]:
    """Return the data of the page's charts."""
    whole = [estimate for estimate in source.result.estimates if estimate.field is None]
    main = next((line for line in page.lines if line.label == page.main), None)
    estimates = [estimate for estimate in (main.estimates if main else ()) if estimate is not None]
    return {
        "main": {
            "label": page.main.replace("_", " "),
            "unit": estimates[0].unit if estimates else "ratio",
            "better": estimates[0].better if estimates else "higher",
        },
        "intervals": [_estimate_row(estimate) for estimate in estimates],
        "differences": [
            _difference(comparison) for comparison in source.result.comparisons if comparison.field is None
        ],
        "slices": [
            _estimate_row(estimate)
            for estimate in whole
            if len(estimate.slice) == 1 and estimates and _is_alike(estimate, estimates[0])
        ],
        "gate": page.table.gate,
        "cost": _beside(whole, estimates, "cost_usd"),
        "latency": _latency(source),
    }


def _is_alike(estimate: Estimate, other: Estimate) -> bool:
    return (estimate.metric, estimate.regime, estimate.granularity, dict(estimate.parameters)) == (
        other.metric,
        other.regime,
        other.granularity,
        dict(other.parameters),
    )


def _estimate_row(estimate: Estimate) -> dict[str, Any]:
    low, high = estimate.interval or (None, None)
    key, value = next(iter(estimate.slice.items()), ("", ""))
    head = {
        "system": estimate.system,
        "slice": key,
        "group": value,
        "value": estimate.value,
        "low": low,
        "high": high,
        "n": estimate.n,
    }
    return {**head, "documents": estimate.documents, "few": "few_documents" in estimate.marks}


def _difference(comparison: Comparison) -> dict[str, Any]:
    low, high = comparison.interval_shown or (None, None)
    key, value = next(iter(comparison.slice.items()), ("", ""))
    metric = NAMES.get(comparison.metric, comparison.metric.replace("_", " "))
    return {
        "metric": metric, "slice": key, "group": value,
        "reference": comparison.systems[0], "system": comparison.systems[1],
        "difference": comparison.difference, "low": low, "high": high,
        "p": comparison.p_adjusted, "verdict": comparison.verdict, "documents": comparison.documents,
        "wins": comparison.wins, "losses": comparison.losses, "ties": comparison.ties,
        "unit": comparison.unit, "better": comparison.better, "said": describe_comparison(comparison, NAMES),
    }  # fmt: skip


def _beside(whole: list[Estimate], main: list[Estimate], metric: str) -> list[dict[str, Any]]:
    """Return the main metric beside another one, for the systems that have both."""
    other = {
        estimate.system: estimate.value
        for estimate in whole
        if estimate.metric == metric and not estimate.slice and estimate.value is not None
    }
    return [
        {**_estimate_row(estimate), "cost": other[estimate.system]}
        for estimate in main
        if estimate.system in other and estimate.value is not None
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
            **{name: durations.quantile(share, "linear") for name, share in LATENCIES.items()},
            "n": len(durations),
        }
        for system, durations in times.items()
        if len(durations)
    ]
