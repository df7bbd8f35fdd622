"""The summary of a run, and what was asked of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.attribution.share import SuspiciousGold, find_suspicious_gold
from fieldassay.decisions.losses import Loss, Mistake, count_mistakes, find_losses
from fieldassay.io.text.shown import clip, format_count, join_names
from fieldassay.metrics.catalogue.definitions import list_groups
from fieldassay.metrics.catalogue.grammar import MetricCall, parse_metric
from fieldassay.metrics.estimate import FEW, NOTHING, SLACK, Estimate, format_share, format_value, is_narrow
from fieldassay.metrics.result.result import (
    CheckCount,
    Result,
    find_main,
    is_same_metric,
    tabulate_estimates,
    worst_first,
)
from fieldassay.metrics.result.verdicts import Decision
from fieldassay.metrics.uncertainty.bootstrap import FEW_FAMILIES, say_too_few_families
from fieldassay.reports.content.run.sections import (
    FieldsBySystem,
    RepeatsShown,
    describe_comparisons,
    list_repeats,
    tabulate_by_system,
)
from fieldassay.reports.findings.recommendation import (
    FAILURES,
    Recommendation,
    Standing,
    drop_silent,
    list_silent,
    list_standings,
    name_lost,
    recommend,
)
from fieldassay.reports.wording import hide_folders, name_call, name_metric
from fieldassay.reports.writers.tables import Part
from fieldassay.runs.run import mark_failed_answers

if TYPE_CHECKING:
    import polars as pl


# A table of requested metrics: the decision to fill a field.

MOST_ROWS = 40

PRESENCE = {
    "both empty": ("presence_gold_empty_pred_empty", "absent"),
    "only pred": ("presence_gold_empty_pred_nonempty", "spurious"),
    "only gold": ("presence_gold_nonempty_pred_empty", "missing"),
    "both": ("presence_gold_nonempty_pred_nonempty", ""),
}
DECISIONS = {"FDA": "fda", "HR": "hr", "MR": "mr", "RFA": "rfa", "out of type": "out_of_type"}


class SummaryTable(Struct, frozen=True):
    """A table of a report: title, head (the first column names the rows), rows, and number of hidden rows."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    hidden: int = 0


def list_grids(result: Result) -> tuple[SummaryTable, ...]:
    """Return the tables of the decisions to fill a field, if they were requested by name or group."""
    requested = _list_requested(result)
    if not requested & {"fda", "hr", "mr", "rfa"}:
        return ()
    return tuple(grid for system in result.systems for grid in _presence(result, system, requested))


LEVELS = {"perfect": 1.0, "0.8 and more": 0.8, "0.5 and more": 0.5, "below 0.5": 1e-6, "0": -1.0}
"""The levels of scores, each with its least score: from there to the level before."""


def share_levels(evidence: pl.LazyFrame, result: Result) -> dict[str, list[tuple[str, ...]]]:
    """Return by system each field with any score, and its share of each level.

    Where neither side has a value counts as the fields do in the spec's own metric: perfect, or not at all.
    """
    import polars as pl

    is_silent = pl.col("outcome") == "absent"
    counted = {
        estimate.system: estimate.regime == "baseline"
        for estimate in result.estimates
        if estimate.metric == "field_accuracy"
    }
    score = pl.when(is_silent).then(1.0).otherwise(pl.col("score").fill_null(0.0))
    level = pl.lit("0")
    for name, least in reversed(LEVELS.items()):
        level = pl.when(score >= least - SLACK).then(pl.lit(name)).otherwise(level)
    rows = evidence.filter((pl.col("kind") == "value") & (pl.col("outcome") != "failed"))
    level_counts = (
        rows.group_by("system", "field", level=level, silent=is_silent, maintain_order=True).len().collect()
    )
    shares: dict[str, list[tuple[str, ...]]] = {}
    for system in result.systems:
        own = level_counts.filter(
            (pl.col("system") == system) & (~pl.col("silent") | counted.get(system, False))
        )
        counts: dict[str, dict[str, int]] = {}
        for field, name, count in own.select("field", "level", "len").iter_rows():
            counts.setdefault(field, dict.fromkeys(LEVELS, 0))[name] += count
        shares[system] = [
            (field, *(format_share(number / sum(levels.values()), 0) for number in levels.values()))
            for field, levels in counts.items()
        ]
    return shares


def list_levels(evidence: pl.LazyFrame, result: Result) -> Iterator[SummaryTable]:
    """Yield the levels of the fields with any score between 0 and 1, as far as a report has room."""
    for system, every in share_levels(evidence, result).items():
        if shares := [row for row in every if {*row[2:-1]} != {format_share(0.0, 0)}]:
            hidden = max(0, len(shares) - MOST_ROWS)
            yield SummaryTable(
                f"Scores by level, {system}", ("field", *LEVELS), tuple(shares[:MOST_ROWS]), hidden
            )


def _list_requested(result: Result) -> set[str]:
    """Return the names of the metrics that the spec or the command names, groups opened."""
    groups, names = list_groups(), set[str]()
    own = set(map(str, result.run.get("definitions", ())))
    for text in result.run.get("asked", ()):
        name = parse_metric(str(text)).name
        names |= {name} if name in own else {name, *groups.get(name, ())}
    return names


def _presence(result: Result, system: str, requested: set[str]) -> list[SummaryTable]:
    """Return the four counts and their decisions, by field and over all; nothing without fields."""
    table = tabulate_estimates(result, system)
    columns = {label: name for label, name in DECISIONS.items() if name in requested}
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
    shown = rows if len(rows) <= MOST_ROWS else [*rows[: MOST_ROWS - 1], rows[-1]]
    return [SummaryTable(f"Filled or empty, {system}", head, tuple(shown), len(rows) - len(shown))]


def _count(table: Mapping[str, Mapping[str | None, Estimate]], label: str, field: str | None) -> str:
    estimate = next((table[name][field] for name in PRESENCE[label] if field in table.get(name, {})), None)
    if estimate is not None or label != "both":
        return format_value(estimate)
    parts = [table.get(name, {}).get(field) for name in ("correct", "wrong")]
    return NOTHING if None in parts else f"{sum(part.value or 0 for part in parts if part is not None):,.0f}"


# The content of a report on a result, before its layout.

HEADLINE: dict[str, str] = {
    "accuracy": "accuracy",
    "f1": "F1, strict",
    "precision": "precision",
    "recall": "recall",
    "hr": "hallucination rate",
    "mr": "missing rate",
    "item_f1": "items, F1",
    "critical_accuracy": "critical accuracy",
    "perfect_documents": "perfect documents",
    "latency_p50": "latency, median",
    "latency_p90": "latency, 90th percentile",
    "latency_p95": "latency, 95th percentile",
    "latency_p99": "latency, 99th percentile",
    "latency_mean": "latency, mean",
    "latency_min": "latency, least",
    "latency_max": "latency, most",
    "cost_usd": "cost per document",
    "total_tokens": "tokens per document",
    "prompt_tokens": "prompt tokens per document",
    "completion_tokens": "completion tokens per document",
    "embedding_tokens": "embedding tokens per document",
    "total_tokens_sum": "tokens of all documents",
    "prompt_tokens_sum": "prompt tokens of all documents",
    "completion_tokens_sum": "completion tokens of all documents",
    "embedding_tokens_sum": "embedding tokens of all documents",
    "out_of_type": "values outside their type",
    "failed": "judgements that failed",
    "check_violations": "violations of checks",
}
"""The metrics at the head of a report, in its order, and their names there."""

MOST_CHECKS = 8
MOST_LOSSES = 5
MOST_SUSPICIOUS = 10
MOST_SLICES = 12


class SummaryLine(Struct, frozen=True):
    """One metric of the head, or one slice: a label, and each system's estimate (None: there is none)."""

    label: str
    estimates: tuple[Estimate | None, ...]


class SliceTable(Struct, frozen=True):
    """One metric by the values of one slice key; `hidden` values are not listed."""

    key: str
    metric: str
    lines: tuple[SummaryLine, ...]
    hidden: int


class Summary(Struct, frozen=True, eq=False):
    """A result in the order of a report, the best system first.

    Sequences by system have one entry for each of `systems`.
    """

    name: str
    documents: int
    counted: str
    """The documents in words, and in how many families they are."""
    standings: tuple[Standing, ...]
    main: str
    """The name of the metric that systems are ranked by."""
    recommendation: Recommendation
    failed: tuple[int, ...]
    """The answers of each system that failed: missing, unreadable, errors, timeouts."""
    headline: tuple[SummaryLine, ...]
    failures: tuple[str, ...]
    fields: FieldsBySystem
    slices: tuple[SliceTable, ...]
    checks: tuple[CheckCount, ...]
    hidden_checks: int
    """How many violated checks are not listed."""
    method: str
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    decisions: tuple[Decision, ...] = ()
    silent: str = ""
    """The systems that never answered, in a sentence."""
    compared: Part | None = None
    """None: one system."""
    lost: str = "accuracy"
    """What losses are points of."""
    losses: tuple[tuple[Loss, ...], ...] = ()
    """The costliest losses of accuracy of each system, without intervals; empty without judged values."""
    suspicious: SuspiciousGold = SuspiciousGold()
    """Gold values that all or most systems contradict in the same way, the first ones."""
    hidden_suspicious: int = 0
    grids: tuple[SummaryTable, ...] = ()
    """Tables of requested metrics."""
    repeats: tuple[RepeatsShown, ...] = ()
    """The systems with repeated runs."""

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the names of the systems, the best by the main metric first."""
        return tuple(standing.system for standing in self.standings)


def summarize(
    result: Result,
    evidence: pl.LazyFrame | None = None,
    *,
    shows_all: bool = False,
    decisions: tuple[Decision, ...] = (),
) -> Summary:
    """Return the summary of a result; `evidence` replaces the result's own rows where these are in a file.

    `shows_all` puts every requested metric at the head instead of the usual ones.
    """
    standings = list_standings(result, decisions)
    systems = tuple(standing.system for standing in standings)
    main = next((standing.main for standing in standings if standing.main is not None), None)
    paths = input_paths(result)
    mistakes, losses, suspicious, levels = _find(result, evidence, systems)
    violated = worst_first(result.checks)
    headline = _headline(result, systems, shows_all)
    counts = [inner_mapping(inner_mapping(result.counts, "systems"), system) for system in systems]
    return Summary(
        name=str(inner_mapping(result.run, "spec").get("name") or "result"),
        documents=int(result.counts.get("documents", 0)),
        counted=_count_documents(result),
        standings=standings,
        main="value" if main is None else name_metric(main.metric, result.run),
        recommendation=recommend(result, decisions, standings),
        failed=tuple(sum(int(own.get(name) or 0) for name in FAILURES) for own in counts),
        headline=headline,
        failures=tuple(map(_failures, counts)),
        fields=tabulate_by_system(result, systems, mistakes),
        slices=_slices(result, systems, headline),
        checks=violated[:MOST_CHECKS],
        hidden_checks=max(0, len(violated) - MOST_CHECKS),
        method=_method(result),
        notes=tuple(hide_folders(text, paths) for text in _grouped(result.notes, systems)),
        warnings=tuple(hide_folders(text, paths) for text in _grouped(result.warnings, systems)),
        decisions=tuple(sorted(decisions, key=lambda decision: _place_of(decision.system, systems))),
        silent=describe_silent(result),
        compared=describe_comparisons(
            drop_silent(result, result.comparisons),
            result.rankings,
            {**HEADLINE, "f1": "F1"},
        ),
        lost=name_lost(result),
        losses=losses,
        **cut_suspicious(suspicious),
        grids=(*list_grids(result), *levels),
        repeats=list_repeats(result),
    )


def cut_suspicious(suspicious: SuspiciousGold) -> dict[str, Any]:
    """Return the first suspicious gold values and the number of the others, as a summary has them."""
    first = replace(suspicious, values=suspicious.values[:MOST_SUSPICIOUS])
    return {"suspicious": first, "hidden_suspicious": len(suspicious.values) - len(first.values)}


_Findings: TypeAlias = tuple[
    tuple[Mistake, ...], tuple[tuple[Loss, ...], ...], SuspiciousGold, tuple[SummaryTable, ...]
]


def _find(result: Result, evidence: pl.LazyFrame | None, systems: tuple[str, ...]) -> _Findings:
    """Return the mistakes, the costliest losses by system, suspicious gold values, and scores by level."""
    rows = evidence if evidence is not None or result.evidence is None else result.evidence.lazy()
    documents = result.documents
    rows = mark_failed_answers(rows, documents)
    if rows is None:
        return (), (), SuspiciousGold(), ()
    mistakes = count_mistakes(rows)
    if documents is None:
        return mistakes, (), SuspiciousGold(), ()
    suspicious = find_suspicious_gold(rows, documents, result.systems)
    losses = find_losses(rows, result, MOST_LOSSES, replicates=0)
    levels = tuple(list_levels(rows, result)) if result.has_right_values else ()
    return mistakes, tuple(losses[system] for system in systems), suspicious, levels


def describe_silent(result: Result) -> str:
    """Return which systems have no usable answer to any document; empty where all have one."""
    silent = list_silent(result)
    if not silent or len(result.systems) == 1:
        return ""
    names, is_ = join_names([clip(name, 60) for name in silent]), "is" if len(silent) == 1 else "are"
    return f"{names} answered none of the documents, and {is_} left out"


def _place_of(system: str, systems: Sequence[str]) -> int:
    """Return the place of a system; one of another run comes last."""
    return systems.index(system) if system in systems else len(systems)


def inner_mapping(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the mapping under a key; an empty one where there is none.

    >>> inner_mapping({"spec": None}, "spec")
    {}
    """
    inner = data.get(key)
    return inner if isinstance(inner, Mapping) else {}


def input_paths(result: Result) -> tuple[str, ...]:
    """Return the paths of a result's gold and predictions, as they were named."""
    inputs = inner_mapping(result.run, "inputs")
    return tuple(
        str(path) for path in (inputs.get("gold"), *inner_mapping(inputs, "predictions").values()) if path
    )


def _grouped(texts: Sequence[str], systems: Sequence[str]) -> tuple[str, ...]:
    """Return sentences that differ only in the system at their beginning as one sentence."""
    groups: dict[str, list[str]] = {}
    for text in texts:
        system = next((name for name in systems if text.startswith(f"{name}: ")), "")
        said = text.removeprefix(f"{system}: ") if system else text
        alike = re.sub(r"\([0-9]+\)", "(*)", said) if system else said
        groups.setdefault(alike, []).append(text)
    return tuple(text for group in groups.values() for text in _merged(group))


def _merged(group: list[str]) -> list[str]:
    return group if len(group) < 3 else [f"{group[0]} (and likewise for {len(group) - 1} more systems)"]


def _headline(result: Result, systems: tuple[str, ...], shows_all: bool) -> tuple[SummaryLine, ...]:
    calls = [parse_metric(text) for text in result.run.get("metrics", ())]
    own = [call for call in calls if call.name in result.run.get("definitions", ()) and is_whole(call)]
    defined = {call.name for call in own}
    usual = {
        call.name: call
        for call in reversed(calls)
        if call.name in HEADLINE and call.name not in defined and is_whole(call)
    }
    if shows_all or not (usual or own):
        lines = [_line(result, systems, call, name_call(call, result.run)) for call in calls]
    else:
        lines = [_line(result, systems, call, name_call(call, result.run)) for call in own]
        lines += [
            _line(result, systems, usual[name], label) for name, label in HEADLINE.items() if name in usual
        ]
        named = {parse_metric(str(text)) for text in result.run.get("asked", ())}
        lines += [
            _line(result, systems, call, name_call(call, result.run))
            for call in calls
            if call in named and call.name not in {*defined, *HEADLINE} and is_whole(call)
        ]
    filled = [line for line in lines if any(line.estimates)]
    if shows_all:
        return tuple(filled)
    main = find_main(result)
    filled.sort(
        key=lambda line: (
            not any(main and estimate and is_same_metric(estimate, main) for estimate in line.estimates)
        )
    )
    return tuple(line for line in filled if any(_says_something(estimate) for estimate in line.estimates))


def is_whole(call: MetricCall) -> bool:
    """Return whether a metric covers all values of all documents: no field, slice, or choice of values."""
    return call.field is None and call.slice is None and all(name == "regime" for name, _ in call.parameters)


def _says_something(estimate: Estimate | None) -> bool:
    """Return whether an estimate is worth a line of its own: it is defined, and no count of nothing."""
    return (
        estimate is not None
        and estimate.value is not None
        and not (estimate.unit == "count" and estimate.value == 0)
    )


def _line(result: Result, systems: tuple[str, ...], call: MetricCall, label: str) -> SummaryLine:
    estimates = {estimate.system: estimate for estimate in reversed(list(result.select(call)))}
    return SummaryLine(label, tuple(estimates.get(system) for system in systems))


def _failures(counts: Mapping[str, Any]) -> str:
    return ", ".join([f"{counts[name]:,} {name}" for name in FAILURES if counts.get(name)]) or "none"


def _slices(
    result: Result, systems: tuple[str, ...], headline: tuple[SummaryLine, ...]
) -> tuple[SliceTable, ...]:
    """Return the first metric of the head by each slice key of the run."""
    calls = [parse_metric(text) for text in result.run.get("metrics", ())]
    names = {
        line.estimates[0].metric for line in headline if line.estimates and line.estimates[0] is not None
    }
    call = next(
        (call for call in calls if call.name in names and call.field is None and call.slice is None), None
    )
    if call is None:
        return ()
    tables = []
    for key in result.run.get("slices", ()):
        values = dict.fromkeys(estimate.slice[key] for estimate in result.estimates if key in estimate.slice)
        lines = [
            _line(result, systems, MetricCall(call.name, call.parameters, None, (key, value)), value)
            for value in values
        ]
        tables.append(
            SliceTable(str(key), str(call), tuple(lines[:MOST_SLICES]), max(0, len(lines) - MOST_SLICES))
        )
    return tuple(table for table in tables if table.lines)


def describe_method(summary: Summary, most_systems: int | None = None) -> str:
    """Return how a report's intervals are computed, and the legend of `few` where a shown one has that mark.

    With more than `most_systems` a report has only the intervals of its first metric.
    """
    is_short = most_systems is not None and len(summary.systems) > most_systems
    sliced = [line for table in summary.slices for line in table.lines]
    lines = summary.headline[:1] if is_short else (*summary.headline, *sliced)
    is_marked = any(is_narrow(estimate) for line in lines for estimate in line.estimates)
    return f"{summary.method}; {FEW}" if is_marked else summary.method


def _count_documents(result: Result) -> str:
    families = inner_mapping(result.counts, "families")
    documents = format_count(int(result.counts.get("documents", 0)), "document")
    return (
        f"{documents} in {format_count(families['families'], 'family', 'families')}"
        if families
        else documents
    )


def describe_units(bootstrap: Mapping[str, Any]) -> str:
    """Return what intervals are over.

    >>> describe_units({"cluster": "vendor"}), describe_units({})
    ('families by vendor', 'documents')
    """
    return f"families by {clip(str(bootstrap['cluster']), 40)}" if bootstrap.get("cluster") else "documents"


def _method(result: Result) -> str:
    bootstrap = inner_mapping(result.run, "bootstrap")
    if not bootstrap.get("replicates"):
        return "no intervals"
    families, documents = inner_mapping(result.counts, "families"), result.counts.get("documents", 0)
    if families and families["families"] < min(FEW_FAMILIES, documents):
        return f"no intervals: {say_too_few_families(families['families'])}"
    level, units = format_share(float(bootstrap.get("level", 0.95))), describe_units(bootstrap)
    return (
        f"{level} intervals over {units} ({bootstrap['replicates']:,} bootstrap replicates, "
        f"seed {bootstrap.get('seed', 0)})"
    )
