"""The comparison of several systems for decisions: accuracy, speed, slices and advice, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fieldassay.io.text.shown import clip, format_count, format_markdown
from fieldassay.metrics.estimate import (
    NOTHING,
    Estimate,
    format_cost,
    format_in_unit,
    format_seconds,
    format_value,
)
from fieldassay.metrics.result.decision import Decision
from fieldassay.metrics.result.result import TIMES, Result, by_system, find_main, find_named, list_fields
from fieldassay.reports.content.run.parts import remarks_part
from fieldassay.reports.findings.findings import describe_loss, name_lost
from fieldassay.reports.findings.losses import Loss
from fieldassay.reports.findings.ranking import describe_order, order_systems
from fieldassay.reports.findings.recommendation import list_standings, recommend
from fieldassay.reports.wording.sentences import describe_estimate
from fieldassay.reports.writers.markdown import render_markdown
from fieldassay.reports.writers.tables import Marked, Part, Table

_FAILURES = {
    "missing": "no prediction for {}",
    "invalid": "an unreadable answer for {}",
    "error": "an error instead of an answer for {}",
    "timeout": "a timeout for {}",
}

MOST_REPAIRS = 3
"""How many of the costliest kinds of wrong are recommended for repair."""


def render_executive(
    result: Result,
    generated: str = "",
    losses: Mapping[str, Sequence[Loss]] | None = None,
    decisions: Sequence[Decision] = (),
) -> str:
    """Return the comparison as GitHub-flavored Markdown. `generated` is the time of the run.

    `losses` are the costliest of each system, the costliest first. A system leads only if the difference to
    every other one is beyond chance; otherwise it is `highest`. The recommendation is that of all reports, by
    the gates' `decisions`.
    """
    spec, documents = result.run.get("spec"), result.counts.get("documents")
    name = str(spec.get("name") or "") if isinstance(spec, Mapping) else ""
    counted = format_count(documents if isinstance(documents, int) else 0, "document")
    head = [f"**Run**: {generated}"] if generated else []
    head.append(f"**Spec**: {format_markdown(name or 'unnamed')}, {counted}")
    main = find_main(result)
    keys = [] if main is None else list(map(str, result.run.get("slices", ())))
    return render_markdown(
        [
            Part("Executive comparison", lead=[Marked("  \n".join(head))], level=1),
            Part("Summary"),
            *(Part(clip(system, 100), _facts(result, main, system), level=3) for system in result.systems),
            *(part for key in keys if main is not None for part in _slice_parts(result, main, key)),
            Part("Key findings", _findings(result, main)),
            *_advice(result, [one.to_dict() for one in decisions], losses or {}),
            *remarks_part(result.warnings, result.notes),
        ]
    )


def _fact(label: str, text: str) -> Marked:
    return Marked(f"**{format_markdown(label)}**: {format_markdown(text, 600)}")


def _facts(result: Result, main: Estimate | None, system: str) -> list[str]:
    accuracy = None if main is None else by_system(result, main).get(system)
    seconds, throughput = (find_named(result, system, names) for names in (tuple(TIMES), ("throughput",)))
    perfect, cost = (find_named(result, system, (name,)) for name in ("perfect_documents", "cost_usd"))
    lines: list[str] = [
        _fact("Average accuracy", NOTHING if accuracy is None else describe_estimate(accuracy))
    ]
    if seconds is not None and seconds.value is not None:
        kind = TIMES[seconds.metric].capitalize()
        lines.append(_fact(f"{kind} processing time", f"{format_value(seconds)} (n = {seconds.n:,})"))
    if throughput is not None and throughput.value is not None:
        rate = format_value(throughput).removesuffix("/min")
        lines.append(_fact("Throughput", f"{rate} documents per minute"))
    if perfect is not None and perfect.value is not None:
        shown = (
            f"{perfect.value:,.0f} of {perfect.n:,}"
            if perfect.unit == "count"
            else format_in_unit(perfect.value, perfect.unit)
        )
        lines.append(_fact("Perfect documents", shown))
    if cost is not None and cost.value is not None:
        lines.append(_fact("Cost of 1,000 documents", f"{format_cost(cost.value)} (n = {cost.documents:,})"))
    systems = result.counts.get("systems")
    counts: Any = systems.get(system, {}) if isinstance(systems, Mapping) else {}
    told = [
        text.format(format_count(counts[name], "document"))
        for name, text in _FAILURES.items()
        if counts.get(name)
    ]
    lines += [_fact("Failures", "; ".join(told))] if told else []
    return lines


def _values(result: Result, key: str) -> list[str]:
    return list(dict.fromkeys(estimate.slice[key] for estimate in result.estimates if key in estimate.slice))


def _slice_parts(result: Result, main: Estimate, key: str) -> Iterator[Part]:
    """Yield the main metric by the values of a slice key, if there are any."""
    rows = []
    for value in _values(result, key):
        found = by_system(result, main, {key: value})
        documents = max((estimate.documents for estimate in found.values()), default=0)
        rows.append([value, f"{documents:,}", *(format_value(found.get(one)) for one in result.systems)])
    if rows:
        title = "Document type performance" if key == "type" else f"Performance by {clip(key, 100)}"
        yield Part(title, tables=[Table("", [key, "documents", *result.systems], rows)])


def _findings(result: Result, main: Estimate | None) -> list[str]:
    if main is None:
        return ["The run has no metric by which systems could be compared."]
    lines: list[str] = [_fact("Accuracy", told) for told in [_rank(result, main, None)] if told]
    for key in result.run.get("slices", ()):
        for value in _values(result, str(key)):
            told = _rank(result, main, (str(key), value))
            lines += [_fact(f"Best for {value}", told)] if told else []
    fastest = _fastest(result)
    lines += [_fact("Speed", fastest)] if fastest else []
    for system in result.systems:
        fields = [
            (estimate.value, field)
            for field, estimate in list_fields(result, system).items()
            if estimate.value is not None
        ]
        if fields:
            lowest, field = min(fields)
            lines.append(
                _fact(f"Hardest field for {system}", f"{clip(field, 100)} ({format_in_unit(lowest)})")
            )
    return lines or ["Nothing was compared."]


def _rank(result: Result, main: Estimate, chosen: tuple[str, str] | None) -> str:
    slice_ = {} if chosen is None else {chosen[0]: chosen[1]}
    order = order_systems(result, by_system(result, main, slice_), slice_)
    return "" if order is None else describe_order(order)


def _fastest(result: Result) -> str:
    found = [
        (estimate.value, system, TIMES[estimate.metric])
        for system in result.systems
        if (estimate := find_named(result, system, tuple(TIMES))) and estimate.value
    ]
    if len(found) < 2:
        return ""
    value, system, kind = min(found)
    others = ", ".join(f"{name} {format_seconds(other)}" for other, name, _ in sorted(found)[1:])
    return f"{system} has the shortest {kind} processing time, {format_seconds(value)} ({others})"


def _advice(
    result: Result, decisions: Sequence[Mapping[str, Any]], losses: Mapping[str, Sequence[Loss]]
) -> Iterator[Part]:
    """Yield the recommendation, and the costliest losses: most of the system to use, else of the best."""
    standings = list_standings(result, decisions)
    found = recommend(result, decisions, standings)
    if not standings or standings[0].main is None:
        return
    best, lost = next(iter(found.systems), standings[0].system), name_lost(standings[0].main)
    said = ". ".join(format_markdown(text, 600) for text in (found.answer, *found.further))
    lines = [Marked(f"**{said}.**")]
    for system in sorted((one.system for one in standings), key=lambda name: name != best):
        repairs = list(losses.get(system, ()))[: MOST_REPAIRS if system == best else 1]
        lines += [_fact(f"Repair first in {system}", describe_loss(loss, lost)) for loss in repairs]
    yield Part("Recommendations", lines)
