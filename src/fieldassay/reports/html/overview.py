"""The content of the summary page: the verdict, each system's numbers, findings, and first remedies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.io.text.shown import clip, format_count, format_pair, join_names
from fieldassay.metrics.estimate import (
    Estimate,
    format_bounds,
    format_cost,
    format_in_unit,
    format_share,
    is_narrow,
)
from fieldassay.metrics.result.comparison import Comparison, Ranking
from fieldassay.metrics.result.result import find_main
from fieldassay.reports.content.run.summary import (
    HEADLINE,
    Line,
    Summary,
    cut_suspicious,
    describe_silent,
    summarize,
)
from fieldassay.reports.findings.findings import ALL_VALUES, describe_cost, is_of_all_values
from fieldassay.reports.findings.losses import Loss, find_losses
from fieldassay.reports.findings.ranking import list_silent
from fieldassay.reports.findings.recommendation import Recommendation, list_standings, recommend
from fieldassay.reports.html.ranking import RankingTable, rank
from fieldassay.reports.html.source import ReportSource
from fieldassay.reports.wording.sentences import (
    describe_comparison,
    describe_estimate,
    describe_first,
    describe_interval,
    describe_power,
)

MOST_CARDS = 4
"""The most systems whose losses are shown at once; more are folded."""

MOST_FINDINGS, MOST_LOSSES = 6, 5
NAMES: Mapping[str, str] = {**HEADLINE, "f1": "F1"}
ANSWERS = {"GO": ("good", "✓"), "NO-GO": ("bad", "✕"), "INCONCLUSIVE": ("unsure", "?")}
"""The tone and the sign of each answer."""


class Shown(Struct, frozen=True):
    """An estimate as pages show it; `low` and `high` are its bounds as shares of one, where it is a share."""

    text: str
    interval: str
    bounds: str
    n: int
    documents: int
    is_few: bool
    value: float | None
    low: float | None
    high: float | None
    title: str
    lack: str
    """Why there is no interval, if the reason is known."""


class Card(Struct, frozen=True):
    """One system in the table of all systems."""

    system: str
    answer: str
    failures: str


class Fix(Struct, frozen=True):
    """A loss as the page shows it: what it would add to the accuracy reached by the losses before it.

    `start` and `end` are places on the axis of all systems, 0 to 100, as are those of the interval.
    """

    loss: Loss
    sentence: str
    """The error, its frequency, and its cost, without the field, which is beside it."""
    gold: str
    pred: str
    start: float
    end: float
    interval: tuple[float, float] | None


class Fixes(Struct, frozen=True):
    """The costliest losses of a system, and its accuracy, from which they lead towards 100%."""

    accuracy: str
    losses: tuple[Fix, ...]


class Overview(Struct, frozen=True, eq=False):
    """The summary page."""

    summary: Summary
    recommendation: Recommendation
    table: RankingTable
    main: str
    listed: tuple[Card, ...]
    """The systems, the best first."""
    lines: tuple[Line, ...]
    findings: tuple[str, ...]
    fixes: Mapping[str, Fixes]
    fixes_from: str
    """Where the axis of the losses begins; it ends at 100%."""
    best: str
    method: str

    @property
    def has_intervals(self) -> bool:
        """Return whether intervals were computed."""
        return any(one is not None and one.interval for line in self.lines for one in line.estimates)


def format_estimate(one: Estimate | None) -> Shown | None:
    """Return an estimate as pages show it; None for None and for an undefined one."""
    if one is None or one.value is None:
        return None
    low, high = one.interval or (None, None)
    scale = {"ratio": 1.0, "percent": 0.01}.get(one.unit)
    bounds = [
        None if scale is None or number is None else scale * number for number in (one.value, low, high)
    ]
    interval = describe_interval(one.interval, one.level, one.unit)
    value, lowest, highest = bounds
    return Shown(
        _format(one.value, one.unit),
        interval,
        "" if one.interval is None else _format_bounds(one.interval, one.unit),
        one.n,
        one.documents,
        is_narrow(one),
        value,
        lowest,
        highest,
        describe_estimate(one),
        _explain_lack(one),
    )


def _explain_lack(one: Estimate) -> str:
    is_percentile = one.metric.startswith("latency_p") and one.metric.removeprefix("latency_p").isdigit()
    return "too few documents for an interval" if is_percentile and one.interval is None else ""


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
    summary = replace(summarize(result), **cut_suspicious(source.suspicious))
    lines = summary.headline
    main = find_main(result)
    of_main = [
        line for line in lines if main and any(one and one.metric == main.metric for one in line.estimates)
    ]
    main_line = next(iter((*of_main, *lines)), None)
    best = standings[0].system if standings else ""
    recommendation = recommend(source.result, source.decisions, standings)
    fixes, fixes_from = _fixes(source, recommendation.systems or (best,))
    failures = dict(zip(summary.systems, summary.failures, strict=True))
    return Overview(
        summary=summary,
        recommendation=recommendation,
        table=rank(standings, source),
        main="" if main_line is None else main_line.label,
        listed=tuple(Card(one.system, one.answer, failures[one.system]) for one in standings),
        lines=lines,
        findings=tuple(_findings(source, main_line, best)),
        fixes=fixes,
        fixes_from=fixes_from,
        best=best,
        method=_method(source),
    )


def _findings(source: ReportSource, line: Line | None, best: str) -> list[str]:
    if line is None:
        return []
    own = next((one for one in line.estimates if one is not None and one.system == best), None)
    if own is None or own.value is None:
        return []
    silent = {*list_silent(source.result)}
    compared = [
        one
        for one in source.result.comparisons
        if _is_about(one, own) and best in one.systems and one.field is None and not {*one.systems} & silent
    ]
    overall = [_finding(one) for one in compared if not one.slice]
    sliced = sorted((one for one in compared if one.slice), key=lambda one: -abs(one.difference or 0.0))
    ranked = [
        told
        for ranking in source.result.rankings
        if _is_about(ranking, own) and (told := _describe_ranking(ranking, best))
    ]
    return [
        _head(source, line, own),
        *filter(None, [describe_silent(source.result)]),
        *ranked[:1],
        *overall[:3],
        *(_finding(one) for one in sliced),
    ][:MOST_FINDINGS]


def _finding(one: Comparison) -> str:
    """Return a comparison as a sentence, with the detectable difference where none was shown."""
    return "; ".join(part for part in (describe_comparison(one, NAMES), describe_power(one)) if part)


def _head(source: ReportSource, line: Line, best: Estimate) -> str:
    """Return the value of the best system, and the others with exactly the same one."""
    if len(source.systems) == 1:
        return f"{_call(line).capitalize()} is {describe_estimate(best)}"
    word = "lowest" if best.better == "lower" else "highest"
    equal = [
        one.system
        for one in line.estimates
        if one is not None and one.value == best.value and one.system != best.system
    ]
    names = [clip(name, 60) for name in (best.system, *equal)]
    lead = f"{join_names(names)} {'have' if equal else 'has'} the {word} {_call(line)}"
    return f"{lead}: {describe_estimate(best)}"


def _call(line: Line) -> str:
    """Return the name of the metric of a line for a sentence."""
    return line.label.replace("_", " ")


def _is_about(one: Comparison | Ranking, estimate: Estimate) -> bool:
    return one.metric == estimate.metric or one.metric.startswith(f"{estimate.metric}(")


def _describe_ranking(ranking: Ranking, best: str) -> str:
    """Return the other systems that may be the best too; empty if none may, or for two systems."""
    others = [place.system for place in ranking.places if place.first == 1 and place.system != best]
    if len(ranking.places) < 3:
        return ""
    documents = format_count(ranking.documents, "document")
    level = f"at the {format_share(ranking.level)} level, corrected for all pairs, {documents}"
    first = f"; {told}" if (told := describe_first(ranking)) else ""
    if not others:
        is_guarded = all(pair.is_guarded for pair in ranking.pairs if best in pair.systems)
        doubt = "" if is_guarded else " on documents like these, but perhaps not on others"
        return f"{clip(best, 60)} is better than every other system{doubt} ({level}){first}"
    names = join_names([clip(name, 60) for name in others])
    return f"no difference could be shown between {clip(best, 60)} and {names} ({level}){first}"


def _fixes(source: ReportSource, first: Sequence[str]) -> tuple[dict[str, Fixes], str]:
    """Return the costliest losses of each system, those systems first, and where their axis begins."""
    if (
        source.evidence is None
        or source.result.documents is None
        or "leaves" not in source.result.documents.columns
    ):
        return {}, ""
    found = find_losses(source.evidence, source.result.documents, source.systems, MOST_LOSSES)
    order = [system for system in dict.fromkeys((*first, *source.systems)) if found[system]]
    known = {one.system: one.value for one in source.result.estimates if is_of_all_values(one)}
    reached = {
        system: 1.0 - sum(loss.points for loss in found[system])
        if (value := known.get(system)) is None
        else value
        for system in order
    }
    main = find_main(source.result)
    of = "accuracy" if main is None or is_of_all_values(main) else ALL_VALUES
    begin = math.floor(20 * min(0.95, *reached.values())) / 20 if reached else 0.0
    fixes = {
        system: Fixes(format_in_unit(reached[system]), _line_up(found[system], reached[system], begin, of))
        for system in order
    }
    return fixes, format_share(begin, 0)


def _line_up(losses: Sequence[Loss], reached: float, begin: float, of: str) -> tuple[Fix, ...]:
    """Return losses one behind the other, from the accuracy of a system on."""

    def place(accuracy: float) -> float:
        return 100 * (min(1.0, accuracy) - begin) / (1.0 - begin)

    made = []
    for loss in losses:
        gold, pred = format_pair(loss.gold, loss.pred, 60)
        bounds = None
        if loss.interval is not None:
            bounds = (place(reached + loss.interval[0]), place(reached + loss.interval[1]))
        end = reached + loss.points
        made.append(Fix(loss, describe_cost(loss, of), gold, pred, place(reached), place(end), bounds))
        reached = end
    return tuple(made)


def _method(source: ReportSource) -> str:
    bootstrap = source.result.run.get("bootstrap")
    if not isinstance(bootstrap, Mapping) or not bootstrap.get("replicates"):
        return "No intervals were computed."
    level = format_share(float(bootstrap.get("level", 0.95)))
    return (
        f"They are {level} intervals over documents, from {bootstrap['replicates']:,} bootstrap replicates."
    )
