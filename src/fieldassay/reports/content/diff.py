"""Runs compared: with a baseline, and with one another."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from msgspec.structs import asdict

from fieldassay.decisions.baseline import Baseline, ChangeLine, Headline
from fieldassay.decisions.diff.diff import Change, Changes, Diff, DiffSide, Tally
from fieldassay.io.text.shown import clip, format_count, format_json, visible
from fieldassay.metrics.estimate import (
    FEW,
    NOTHING,
    format_bounds,
    format_effect,
    format_in_unit,
    format_p,
    format_p_cell,
    format_points,
    format_share,
    format_signed_points,
)
from fieldassay.metrics.result.verdicts import Comparison, Decision, Ranking, decisions_data
from fieldassay.metrics.thresholds import format_change, format_changes
from fieldassay.reports.content.run.sections import count_tested, explain_p, gates_parts
from fieldassay.reports.content.run.summary import HEADLINE
from fieldassay.reports.findings.recommendation import describe_field_changes
from fieldassay.reports.wording import (
    SHORT_DIAGNOSES,
    describe,
    describe_comparison,
    describe_first,
    describe_metric,
    describe_places,
    describe_power,
    describe_power_of_fields,
    name_of,
)
from fieldassay.reports.writers.page import PageColumn, Screen, ScreenPage
from fieldassay.reports.writers.tables import Part, ReportTable, TextReport, add_part

# The output of `fieldassay baseline`: the baseline itself, and a run beside it.

_DIGITS = 12
_LONGEST_NAME, _LONG = 60, 600


def render_set(baseline: Baseline, path: str, size: int) -> str:
    """Return the summary of a written baseline in a few lines."""
    lines = [f"baseline written to {path} ({max(1, round(size / 1024)):,} kB): commit it"]
    lines += [f"  {line}" for line in _summary(baseline)]
    return "".join(f"{visible(line)}\n" for line in lines)


def render_baseline(baseline: Baseline, screen: Screen) -> str:
    """Return a baseline as text: its measurements, its foundations, and its predecessors."""
    page = ScreenPage(screen)
    page.title(f"baseline of {clip(baseline.created, 40)}")
    for line in _summary(baseline):
        page.line(clip(line, _LONG))
    page.line()
    columns = [
        PageColumn("system", is_name=True),
        PageColumn("metric"),
        PageColumn("value", is_number=True),
        PageColumn("interval"),
        PageColumn("documents", is_number=True),
    ]
    page.table(columns, [_headline_row(headline) for headline in baseline.headlines])
    page.line()
    page.pairs([(part, digest[:_DIGITS]) for part, digest in baseline.digests.items()])
    if len(baseline.history) > 1:
        page.line()
        page.title("Before")
        for entry in reversed(baseline.history[:-1]):
            page.line(
                clip(f"{entry.created}: {entry.run}" + (f": {entry.reason}" if entry.reason else ""), _LONG)
            )
    return page.text()


def render_check(
    baseline: Baseline, lines: Sequence[ChangeLine], decisions: Sequence[Decision], screen: Screen
) -> str:
    """Return a run beside its baseline as text: a line per system and metric, then the gates."""
    page = ScreenPage(screen)
    page.title(clip(f"against {baseline.label()} from {baseline.run}", _LONG))
    head = ["system", "metric", "baseline", "now", "change", "interval", "p", ""]
    rows = [_baseline_row(line) for line in lines]
    page.table([PageColumn(name, is_number=name in ("baseline", "now", "change")) for name in head], rows)
    for reason in dict.fromkeys(f"{line.system}: {line.why}" for line in lines if line.change is None):
        page.line(clip(reason, _LONG), "dim")
    for remark in dict.fromkeys(line.remark for line in lines if line.remark):
        page.line(clip(remark, _LONG), "dim")
    absent = _list_absent(baseline, lines)
    if absent:
        page.line(
            clip(f"not compared, missing in the run: {', '.join(absent)}", _LONG),
            "warning",
        )
    page.line()
    page.line(explain_p(sum(line.change is not None for line in lines)), "dim")
    for part in gates_parts(decisions):
        add_part(page, part)
    return page.text()


def baseline_data(baseline: Baseline) -> dict[str, Any]:
    """Return a baseline as JSON data, without the statistics of its documents."""
    head = {name: getattr(baseline, name) for name in ("fieldassay", "created", "run", "spec", "reason")}
    return {
        **head,
        "is_frozen": baseline.is_frozen,
        "digests": dict(baseline.digests),
        "systems": [system.name for system in baseline.systems],
        "documents": len(baseline.documents),
        "metrics": list(baseline.metrics),
        "headlines": [asdict(headline) for headline in baseline.headlines],
        "history": [asdict(entry) for entry in baseline.history],
    }


def check_data(
    baseline: Baseline, lines: Sequence[ChangeLine], decisions: Sequence[Decision]
) -> dict[str, Any]:
    """Return a run beside its baseline as JSON data.

    `change` has the sign that makes a loss negative; `comparison` is as computed.
    """
    changes = [
        {
            "system": line.system,
            "metric": line.metric,
            "change": None if line.change is None else line.change.difference,
            "interval": None
            if line.change is None or line.change.interval is None
            else list(line.change.interval),
            "comparison": None if line.change is None else line.change.comparison.to_dict(),
            "why": line.why,
        }
        for line in lines
    ]
    head = {
        "baseline": {"created": baseline.created, "run": baseline.run},
        "absent": _list_absent(baseline, lines),
    }
    return {**head, "changes": changes, **decisions_data(decisions)}


def _list_absent(baseline: Baseline, lines: Sequence[ChangeLine]) -> list[str]:
    """Return the systems of the baseline missing from the run; one compared under another name is not."""
    there = {line.system for line in lines}
    return (
        []
        if len(there) == len(baseline.systems) == 1
        else [system.name for system in baseline.systems if system.name not in there]
    )


def _summary(baseline: Baseline) -> list[str]:
    spec = f" of the spec {baseline.spec}" if baseline.spec else ""
    lines = [
        f"run {baseline.run}{spec}, "
        f"{format_count(len(baseline.documents), 'document')}, "
        f"{', '.join(system.name for system in baseline.systems)}"
    ]
    lines += ["frozen: it refuses runs of another spec or gold"] if baseline.is_frozen else []
    return [*lines, *([f"reason: {baseline.reason}"] if baseline.reason else [])]


def _headline_row(headline: Headline) -> list[str]:
    interval = "" if headline.interval is None else format_bounds(headline.interval, headline.unit)
    return [
        clip(headline.system, _LONGEST_NAME),
        clip(headline.metric, _LONGEST_NAME),
        _value(headline.value, headline.unit),
        interval,
        f"{headline.documents:,}",
    ]


def _baseline_row(line: ChangeLine) -> list[str]:
    head = [clip(line.system, _LONGEST_NAME), clip(line.metric, _LONGEST_NAME)]
    if line.change is None:
        return [*head, "—", "—", "—", "", "", "unknown"]
    comparison = line.change.comparison
    before, now = (_value(value, comparison.unit) for value in comparison.values)
    interval = (
        ""
        if comparison.interval_shown is None
        else format_changes(comparison.interval_shown, comparison.unit)
    )
    return [
        *head,
        before,
        now,
        format_change(comparison.difference or 0.0, comparison.unit),
        interval,
        "" if comparison.p_adjusted is None else format_p(comparison.p_adjusted),
        _verdict(comparison),
    ]


def _verdict(comparison: Comparison) -> str:
    """Return the verdict of a comparison in words."""
    note = " (few documents)" if "few_documents" in comparison.marks else ""
    if comparison.verdict == "identical":
        return f"identical here{note}"
    return f"{comparison.verdict.replace('_', ' ')}{note}"


def _value(value: float | None, unit: str) -> str:
    return "undefined" if value is None else format_in_unit(value, unit)


# What changed between two runs.

# The values that were fixed and broken, as a diff's report lists them.

_TITLE = "Fixed and broken"
_MOST_DOCUMENTS = _FEWEST = 5
_VALUE, _PATH, _DOCUMENT = 40, 48, 32
_HEADS = {
    "broken": ("document", "path", "gold", "before", "after", "now wrong"),
    "fixed": ("document", "path", "gold", "before", "after", "was wrong"),
}


def changes_part(diff: Diff, most: int) -> Part:
    """Return the part about the values that were fixed and broken, `most` rows of each."""
    changes = diff.changes
    if changes is None:
        return Part(_TITLE, (f"not known: {diff.reason}",))
    counts = {change: changes.count(change) for change in ("broken", "fixed")}
    lines = (describe_counts(changes),)
    if not any(counts.values()):
        return Part(_TITLE, lines)
    worst = tuple(tally for tally in changes.by_document() if tally.broken > tally.fixed)
    tables = [
        *([_losses(diff, most)] if diff.losses else []),
        _tally("values by field", "field", changes.by_field(), most),
        _tally("values by kind of error", "kind of error", changes.by_diagnosis(), most),
        *(
            [_tally("documents that lost most", "document", worst, min(most, _MOST_DOCUMENTS))]
            if worst
            else []
        ),
    ]
    for change, count in counts.items():
        if count and most:
            rows = [*map(_change_row, changes.rows(change, most))]
            part = f" ({most:,} of {count:,})" if count > most else ""
            tables.append(ReportTable(f"values that were {change}{part}", _HEADS[change], rows))
    return Part(_TITLE, lines, tuple(tables), tuple(_remarks(diff, counts, most)))


def _remarks(diff: Diff, counts: dict[str, int], most: int) -> list[str]:
    remarks = ["--most N shows more values; --out FILE.csv writes all"] if max(counts.values()) > most else []
    has_errors_only = "errors" in {side.evidence for side in diff.sides}
    return remarks + (
        ["right: the run kept only its errors, so the value itself is unknown"] if has_errors_only else []
    )


def describe_counts(changes: Changes) -> str:
    """Return how many values were fixed, broke, and are wrong in both, as a sentence."""
    sentence = (
        f"{format_count(changes.count('fixed'), 'value')} fixed, {changes.count('broken'):,} broken, "
        f"{changes.still_wrong:,} wrong in both"
    )
    more = f", {changes.undecided:,} wrong in one and not judged in the other"
    return f"{sentence}{more if changes.undecided else ''}"


def _tally(caption: str, head: str, tallies: tuple[Tally, ...], most: int) -> ReportTable:
    shown = tallies[: max(most, _FEWEST)]
    rows = [
        (
            clip(describe(SHORT_DIAGNOSES, tally.name) if head == "kind of error" else tally.name, _PATH),
            f"{tally.fixed:,}",
            f"{tally.broken:,}",
        )
        for tally in shown
    ]
    hidden = len(tallies) - len(shown)
    rows += [(f"and {hidden:,} more", "", "")] if hidden else []
    return ReportTable(caption, (head, "fixed", "broken"), tuple(rows), (1, 2))


def _losses(diff: Diff, most: int) -> ReportTable:
    """Return what fields cost of the score before and after: those that changed most."""
    shown = sorted(diff.losses, key=lambda loss: -abs(loss.before - loss.after))[: max(most, _FEWEST)]
    rows = [
        (
            clip(loss.field or "failed answers", _PATH),
            format_points(loss.before, "ratio"),
            format_points(loss.after, "ratio"),
            format_signed_points(loss.before - loss.after),
        )
        for loss in shown
    ]
    lost = "the score" if diff.lost == "score" else diff.lost
    caption = f"points of {lost} lost by field"
    return ReportTable(caption, ("field", "before", "after", "gain"), rows, (1, 2, 3))


def _change_row(change: Change) -> tuple[str, ...]:
    diagnoses = change.diagnoses_before if change.change == "fixed" else change.diagnoses_after
    mark = " (critical)" if change.critical else ""
    before = "right" if change.outcome_before == "right" else format_json(change.before, _VALUE)
    after = "right" if change.outcome_after == "right" else format_json(change.after, _VALUE)
    kind = describe(SHORT_DIAGNOSES, diagnoses[0]) if diagnoses else ""
    return (
        clip(change.doc, _DOCUMENT),
        clip(change.path, _PATH),
        format_json(change.gold, _VALUE),
        before,
        after,
        f"{clip(kind, 40)}{mark}",
    )


# The content of a diff's report before its layout: sentences and tables of texts.

NAMES = {**HEADLINE, "f1": "F1"}
"""The names of metrics in reports."""


def format_difference(comparison: Comparison) -> str:
    """Return the difference with its interval, in points for shares; a mark shows a too narrow interval."""
    if comparison.difference is None:
        return NOTHING
    bounds = [
        format_signed_points(bound, comparison.unit).lstrip("+") for bound in comparison.interval_shown or ()
    ]
    interval = f" [{', '.join(bounds)}]" if bounds else ""
    few = " few" if interval and is_narrow(comparison) else ""
    return f"{format_signed_points(comparison.difference, comparison.unit)}{interval}{few}"


def is_narrow(comparison: Comparison) -> bool:
    """Return whether the interval of a metric without bounds is too narrow: few documents."""
    return "few_documents" in comparison.marks


def verdict_of(comparison: Comparison) -> str:
    """Return the decision as a cell has it: `not shown`, and `here` for documents like these only."""
    scope = "" if comparison.is_guarded or not comparison.is_shown else " here"
    return {"no_difference_shown": "not shown"}.get(comparison.verdict, f"{comparison.verdict}{scope}")


_NAME = 48


def describe_diff(diff: Diff, most: int = 10) -> TextReport:
    """Return the report of a diff; lists of values, documents and kinds of error have at most `most` rows."""
    parts = [_overall(diff) if diff.is_pair else _many(diff)]
    parts += [_fields(diff.by_field)] if diff.by_field and diff.is_pair else []
    parts += [_slices(diff)] if diff.by_slice else []
    if diff.is_pair:
        parts.append(changes_part(diff, most))
    return TextReport(_title(diff), diff.warnings, _systems(diff.sides), tuple(parts), diff.notes)


def _title(diff: Diff) -> str:
    documents = format_count(diff.documents, "document")
    if diff.is_pair:
        before, after = (clip(side.label, _NAME) for side in diff.sides)
        return f"{before} → {after}: {documents}"
    return f"{format_count(len(diff.sides), 'system')} on {documents}"


def _systems(sides: Sequence[DiffSide]) -> tuple[tuple[str, str], ...]:
    if len(sides) != 2:
        return ()
    return tuple((name, _describe_side(side)) for name, side in zip(("before", "after"), sides, strict=True))


def _describe_side(side: DiffSide) -> str:
    own = "" if side.system == side.label else f"system {clip(side.system, _NAME)}"
    run = "" if name_of(side.run) == side.label else f"run {clip(name_of(side.run), 80)}"
    folder = "" if side.folder in side.run else f"folder {clip(name_of(side.folder), 100)}"
    return ", ".join(part for part in (clip(side.label, _NAME), own, run, folder) if part)


def _overall(diff: Diff) -> Part:
    lines = describe_field_changes(diff.by_field)
    lines += [describe_comparison(comparison, NAMES) for comparison in diff.overall]
    lines += [
        f"{describe_metric(comparison, NAMES)}: {power}"
        for comparison in diff.overall
        if (power := describe_power(comparison))
    ]
    if diff.is_identical:
        lines.insert(0, "identical in every document")
    table = _table("the systems in each metric", "metric", "metric", diff.overall)
    return Part(
        "Overall", tuple(lines), (table,), (*_adjusted(diff.overall), *_few(_all(diff)), *_method(diff))
    )


def _all(diff: Diff) -> Sequence[Comparison]:
    return (*diff.overall, *diff.by_field, *diff.by_slice)


def _method(diff: Diff) -> list[str]:
    intervals = f"{format_share(diff.level)} intervals ({diff.replicates:,} replicates, seed {diff.seed})"
    is_here = any(verdict_of(comparison).endswith(" here") for comparison in _all(diff))
    return [
        "p: how often chance alone would show such a difference",
        *(["here: on documents like these; other kinds of documents could reverse it"] if is_here else []),
        *([intervals] if diff.replicates else []),
    ]


def _few(families: Sequence[Comparison]) -> list[str]:
    return (
        [FEW]
        if any(is_narrow(comparison) and comparison.interval is not None for comparison in families)
        else []
    )


def _adjusted(family: Sequence[Comparison], rankings: Sequence[Ranking] = ()) -> list[str]:
    tested = count_tested(family, rankings)
    return [f"adjusted: p, corrected for {tested:,} tests"] if tested > 1 else []


def _fields(family: tuple[Comparison, ...]) -> Part:
    more = describe_power_of_fields(family)
    remarks = (
        f"{clip(family[0].metric, 60)} of each field",
        *_adjusted(family),
        *([more] if more else []),
    )
    return Part("By field", (), (_table("the systems field by field", "field", "field", family),), remarks)


def _slices(diff: Diff) -> Part:
    tables, remarks = [], []
    for key in dict.fromkeys(key for comparison in diff.by_slice for key in comparison.slice):
        family = [comparison for comparison in diff.by_slice if key in comparison.slice]
        name = f"{NAMES.get(family[0].metric, clip(family[0].metric, 60))} by {clip(key, 40)}"
        if diff.is_pair:
            tables.append(_table(name, "slice", clip(key, 40), family))
        else:
            values = dict.fromkeys(comparison.slice[key] for comparison in family)
            tables += [
                _slice_table(
                    key, value, [comparison for comparison in family if comparison.slice[key] == value]
                )
                for value in values
            ]
        remarks += [f"{clip(key, 40)}: {line}" for line in _adjusted(family)]
    return Part("By slice", (), tuple(tables), tuple(remarks))


def _slice_table(key: str, value: str, family: Sequence[Comparison]) -> ReportTable:
    """Return more than two systems in one slice; they have no places there."""
    table = _many_table(family, None)
    rows = tuple(row[1:] for row in table.rows)
    caption = (
        f"{clip(key, 40)}: {clip(value, 40)}, n = {max(comparison.documents for comparison in family):,}"
    )
    return ReportTable(caption, table.heads[1:], rows, tuple(at - 1 for at in table.aligned))


def _table(
    caption: str, kind: Literal["metric", "field", "slice"], head: str, family: Sequence[Comparison]
) -> ReportTable:
    """Return the comparisons of one family of two systems as a table."""
    heads = (head, "n", "before", "after", "difference", "p", "adjusted", "effect", "+/−/=", "decision")
    name: Callable[[Comparison], str] = {
        "metric": lambda comparison: describe_metric(comparison, NAMES),
        "field": lambda comparison: clip(comparison.field, 40),
        "slice": lambda comparison: clip(next(iter(comparison.slice.values()), ""), 40),
    }[kind]
    return ReportTable(
        caption,
        heads,
        tuple((name(comparison), *_comparison_row(comparison)) for comparison in family),
        (1, 2, 3, 5, 6, 7, 8),
    )


def _comparison_row(comparison: Comparison) -> tuple[str, ...]:
    before, after = (format_in_unit(value, comparison.unit) for value in comparison.values)
    return (
        f"{comparison.documents:,}",
        before,
        after,
        format_difference(comparison),
        format_p_cell(comparison.p),
        *_decision(comparison),
    )


def _decision(comparison: Comparison) -> tuple[str, str, str, str]:
    """Return adjusted p value, effect size, counts of documents (better, worse, equal), and the decision."""
    return (
        format_p_cell(comparison.p_adjusted),
        format_effect(comparison.effect_size),
        f"{comparison.wins:,}/{comparison.losses:,}/{comparison.ties:,}",
        verdict_of(comparison),
    )


def _many(diff: Diff) -> Part:
    """Return the part on more than two systems: a table by each metric.

    It has each system's possible ranks and its comparison with the reference.
    """
    families: dict[tuple[Any, ...], list[Comparison]] = {}
    for comparison in diff.overall:
        families.setdefault((comparison.metric, comparison.field, *comparison.slice.items()), []).append(
            comparison
        )
    tables = tuple(_many_table(family, _ranking_of(diff, family[0])) for family in families.values())
    ranked = (
        _describe_pairs(ranking, NAMES.get(ranking.metric, clip(ranking.metric, 60)))
        for ranking in diff.rankings
    )
    lines = (*ranked, *describe_field_changes(diff.by_field))
    places = (
        ["place: every place that chance leaves possible, from the same tests of all pairs"]
        if diff.rankings
        else []
    )
    legend = f"difference, adjusted, effect, +/−/=, decision: against {clip(diff.sides[0].label, _NAME)}"
    return Part(
        "Ranking" if diff.rankings else "Overall",
        lines,
        tables,
        (
            *filter(None, map(describe_first, diff.rankings)),
            *places,
            legend,
            *_adjusted(diff.overall, diff.rankings),
            *_few(_all(diff)),
            *_method(diff),
        ),
    )


def _ranking_of(diff: Diff, comparison: Comparison) -> Ranking | None:
    if comparison.slice or comparison.field is not None:
        return None
    return next((ranking for ranking in diff.rankings if ranking.metric == comparison.metric), None)


def _many_table(family: Sequence[Comparison], ranking: Ranking | None) -> ReportTable:
    """Return the table of more than two systems by one metric, in the order of the ranking if any."""
    name = clip(NAMES.get(family[0].metric, family[0].metric), 40)
    heads = ("place", "system", name, "difference", "adjusted", "effect", "+/−/=", "decision")
    against = {comparison.systems[1]: comparison for comparison in family}
    reference, value = family[0].systems[0], family[0].values[0]
    places = {place.system: describe_places(place) for place in ranking.places} if ranking is not None else {}
    order = list(places) or [reference, *against]
    values = {reference: value, **{system: comparison.values[1] for system, comparison in against.items()}}
    rows = [
        (
            places.get(system, NOTHING),
            clip(system, _NAME),
            format_in_unit(values[system], family[0].unit),
            *(
                (format_difference(against[system]), *_decision(against[system]))
                if system in against
                else ("", "", "", "", "reference")
            ),
        )
        for system in order
    ]
    return ReportTable(
        f"systems by {describe_metric(family[0], NAMES)}, "
        f"n = {max(comparison.documents for comparison in family):,}",
        heads,
        tuple(rows),
        (2, 4, 5, 6),
    )


def _describe_pairs(ranking: Ranking, name: str) -> str:
    shown = sum(pair.is_shown for pair in ranking.pairs)
    pairs = format_count(len(ranking.pairs), "pair")
    return f"{name}: {shown:,} of {pairs} of systems differ by more than chance"
