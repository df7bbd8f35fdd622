"""The output of `fieldassay baseline`: the baseline itself, and a run beside it."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import asdict

from fieldassay.decisions.baseline.baseline import Baseline, Headline
from fieldassay.decisions.baseline.runs import ChangeLine
from fieldassay.io.text.shown import clip, format_count, visible
from fieldassay.metrics.estimate import format_bounds, format_in_unit, format_p
from fieldassay.metrics.result.comparison import Comparison
from fieldassay.metrics.result.decision import Decision, decisions_data
from fieldassay.metrics.thresholds import format_change, format_changes
from fieldassay.reports.content.run.sections import explain_p, gates_parts
from fieldassay.reports.writers.page import PageColumn, Screen, ScreenPage
from fieldassay.reports.writers.tables import add_part

_DIGITS = 12
_NAME, _LONG = 60, 600


def render_set(made: Baseline, path: str, size: int) -> str:
    """Return the summary of a written baseline in a few lines."""
    lines = [f"baseline written to {path} ({max(1, round(size / 1024)):,} kB): commit it"]
    lines += [f"  {line}" for line in _summary(made)]
    return "".join(f"{visible(line)}\n" for line in lines)


def render_baseline(held: Baseline, screen: Screen) -> str:
    """Return a baseline as text: its measurements, its foundations, and its predecessors."""
    page = ScreenPage(screen)
    page.title(f"baseline of {clip(held.created, 40)}")
    for line in _summary(held):
        page.line(clip(line, _LONG))
    page.line()
    columns = [
        PageColumn("system", is_name=True),
        PageColumn("metric"),
        PageColumn("value", is_number=True),
        PageColumn("interval"),
        PageColumn("documents", is_number=True),
    ]
    page.table(columns, [_headline_row(one) for one in held.headlines])
    page.line()
    page.pairs([(part, digest[:_DIGITS]) for part, digest in held.digests.items()])
    if len(held.history) > 1:
        page.line()
        page.title("Before")
        for entry in reversed(held.history[:-1]):
            page.line(
                clip(f"{entry.created}: {entry.run}" + (f": {entry.reason}" if entry.reason else ""), _LONG)
            )
    return page.text()


def render_check(
    held: Baseline, lines: Sequence[ChangeLine], decisions: Sequence[Decision], screen: Screen
) -> str:
    """Return a run beside its baseline as text: a line per system and metric, then the gates."""
    page = ScreenPage(screen)
    page.title(clip(f"against {held.label()} from {held.run}", _LONG))
    head = ["system", "metric", "baseline", "now", "change", "interval", "p", ""]
    rows = [_change_row(one) for one in lines]
    page.table([PageColumn(name, is_number=name in ("baseline", "now", "change")) for name in head], rows)
    for reason in dict.fromkeys(f"{one.system}: {one.why}" for one in lines if one.change is None):
        page.line(clip(reason, _LONG), "dim")
    for remark in dict.fromkeys(one.remark for one in lines if one.remark):
        page.line(clip(remark, _LONG), "dim")
    absent = _list_absent(held, lines)
    if absent:
        page.line(
            clip(f"not compared, missing in the run: {', '.join(absent)}", _LONG),
            "warning",
        )
    page.line()
    page.line(explain_p(sum(one.change is not None for one in lines)), "dim")
    for part in gates_parts(decisions):
        add_part(page, part)
    return page.text()


def baseline_data(held: Baseline) -> dict[str, Any]:
    """Return a baseline as JSON data, without the statistics of its documents."""
    head = {name: getattr(held, name) for name in ("fieldassay", "created", "run", "spec", "reason")}
    return {
        **head,
        "is_frozen": held.is_frozen,
        "digests": dict(held.digests),
        "systems": [system.name for system in held.systems],
        "documents": len(held.documents),
        "hashed": held.is_hashed,
        "metrics": list(held.metrics),
        "headlines": [asdict(one) for one in held.headlines],
        "history": [asdict(one) for one in held.history],
    }


def check_data(held: Baseline, lines: Sequence[ChangeLine], decisions: Sequence[Decision]) -> dict[str, Any]:
    """Return a run beside its baseline as JSON data.

    `change` has the sign that makes a loss negative; `comparison` is as computed.
    """
    changes = [
        {
            "system": one.system,
            "metric": one.metric,
            "change": None if one.change is None else one.change.difference,
            "interval": None
            if one.change is None or one.change.interval is None
            else list(one.change.interval),
            "comparison": None if one.change is None else one.change.found.to_dict(),
            "why": one.why,
        }
        for one in lines
    ]
    head = {"baseline": {"created": held.created, "run": held.run}, "absent": _list_absent(held, lines)}
    return {**head, "changes": changes, **decisions_data(decisions)}


def _list_absent(held: Baseline, lines: Sequence[ChangeLine]) -> list[str]:
    """Return the systems of the baseline missing from the run; one compared under another name is not."""
    there = {one.system for one in lines}
    return (
        []
        if len(there) == len(held.systems) == 1
        else [system.name for system in held.systems if system.name not in there]
    )


def _summary(held: Baseline) -> list[str]:
    spec = f" of the spec {held.spec}" if held.spec else ""
    lines = [
        f"run {held.run}{spec}, "
        f"{format_count(len(held.documents), 'document')}{' (ids hashed)' if held.is_hashed else ''}, "
        f"{', '.join(system.name for system in held.systems)}"
    ]
    lines += ["frozen: every run of another spec or gold is refused"] if held.is_frozen else []
    return [*lines, *([f"reason: {held.reason}"] if held.reason else [])]


def _headline_row(one: Headline) -> list[str]:
    interval = "" if one.interval is None else format_bounds(one.interval, one.unit)
    return [
        clip(one.system, _NAME),
        clip(one.metric, _NAME),
        _value(one.value, one.unit),
        interval,
        f"{one.documents:,}",
    ]


def _change_row(one: ChangeLine) -> list[str]:
    head = [clip(one.system, _NAME), clip(one.metric, _NAME)]
    if one.change is None:
        return [*head, "—", "—", "—", "", "", "unknown"]
    found = one.change.found
    before, now = (_value(value, found.unit) for value in found.values)
    interval = "" if found.interval is None else format_changes(found.interval, found.unit)
    return [
        *head,
        before,
        now,
        format_change(found.difference or 0.0, found.unit),
        interval,
        "" if found.p_adjusted is None else format_p(found.p_adjusted),
        _verdict(found),
    ]


def _verdict(found: Comparison) -> str:
    """Return the verdict of a comparison in words."""
    note = " (few documents)" if "few_documents" in found.marks else ""
    if found.verdict == "identical":
        return f"the same{note}"
    return f"{found.verdict.replace('_', ' ')}{note}"


def _value(value: float | None, unit: str) -> str:
    return "undefined" if value is None else format_in_unit(value, unit)
