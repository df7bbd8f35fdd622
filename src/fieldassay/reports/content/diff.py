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
from fieldassay.reports.writers.tables import Part, ReportTable, Told, add_part

# The output of `fieldassay baseline`: the baseline itself, and a run beside it.

_DIGITS = 12
_LONGEST_NAME, _LONG = 60, 600


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
    rows = [_baseline_row(one) for one in lines]
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
        f"{format_count(len(held.documents), 'document')}, "
        f"{', '.join(system.name for system in held.systems)}"
    ]
    lines += ["frozen: it refuses runs of another spec or gold"] if held.is_frozen else []
    return [*lines, *([f"reason: {held.reason}"] if held.reason else [])]


def _headline_row(one: Headline) -> list[str]:
    interval = "" if one.interval is None else format_bounds(one.interval, one.unit)
    return [
        clip(one.system, _LONGEST_NAME),
        clip(one.metric, _LONGEST_NAME),
        _value(one.value, one.unit),
        interval,
        f"{one.documents:,}",
    ]


def _baseline_row(one: ChangeLine) -> list[str]:
    head = [clip(one.system, _LONGEST_NAME), clip(one.metric, _LONGEST_NAME)]
    if one.change is None:
        return [*head, "—", "—", "—", "", "", "unknown"]
    found = one.change.found
    before, now = (_value(value, found.unit) for value in found.values)
    interval = "" if found.interval_shown is None else format_changes(found.interval_shown, found.unit)
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
        return f"identical here{note}"
    return f"{found.verdict.replace('_', ' ')}{note}"


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


def changes_part(found: Diff, most: int) -> Part:
    """Return the part about the values that were fixed and broken, `most` rows of each."""
    changes = found.changes
    if changes is None:
        return Part(_TITLE, (f"not known: {found.reason}",))
    counts = {change: changes.count(change) for change in ("broken", "fixed")}
    lines = (describe_counts(changes),)
    if not any(counts.values()):
        return Part(_TITLE, lines)
    worst = tuple(one for one in changes.by_document() if one.broken > one.fixed)
    tables = [
        *([_losses(found, most)] if found.losses else []),
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
    return Part(_TITLE, lines, tuple(tables), tuple(_remarks(found, counts, most)))


def _remarks(found: Diff, counts: dict[str, int], most: int) -> list[str]:
    told = ["--most N shows more values; --out FILE.csv writes all"] if max(counts.values()) > most else []
    has_errors_only = "errors" in {side.evidence for side in found.sides}
    return told + (
        ["right: the run kept only its errors, so the value itself is unknown"] if has_errors_only else []
    )


def describe_counts(changes: Changes) -> str:
    """Return how many values were fixed, broke, and are wrong in both, as a sentence."""
    told = (
        f"{format_count(changes.count('fixed'), 'value')} fixed, {changes.count('broken'):,} broken, "
        f"{changes.still_wrong:,} wrong in both"
    )
    more = f", {changes.undecided:,} wrong in one and not judged in the other"
    return f"{told}{more if changes.undecided else ''}"


def _tally(caption: str, head: str, tallies: tuple[Tally, ...], most: int) -> ReportTable:
    shown = tallies[: max(most, _FEWEST)]
    rows = [
        (
            clip(describe(SHORT_DIAGNOSES, one.name) if head == "kind of error" else one.name, _PATH),
            f"{one.fixed:,}",
            f"{one.broken:,}",
        )
        for one in shown
    ]
    hidden = len(tallies) - len(shown)
    rows += [(f"and {hidden:,} more", "", "")] if hidden else []
    return ReportTable(caption, (head, "fixed", "broken"), tuple(rows), (1, 2))


def _losses(found: Diff, most: int) -> ReportTable:
    """Return what fields cost of the score before and after: those that changed most."""
    shown = sorted(found.losses, key=lambda one: -abs(one.before - one.after))[: max(most, _FEWEST)]
    rows = [
        (
            clip(one.field or "failed answers", _PATH),
            format_points(one.before, "ratio"),
            format_points(one.after, "ratio"),
            format_signed_points(one.before - one.after),
        )
        for one in shown
    ]
    lost = "the score" if found.lost == "score" else found.lost
    caption = f"points of {lost} lost by field"
    return ReportTable(caption, ("field", "before", "after", "gain"), rows, (1, 2, 3))


def _change_row(one: Change) -> tuple[str, ...]:
    diagnoses = one.diagnoses_before if one.change == "fixed" else one.diagnoses_after
    mark = " (critical)" if one.critical else ""
    before = "right" if one.outcome_before == "right" else format_json(one.before, _VALUE)
    after = "right" if one.outcome_after == "right" else format_json(one.after, _VALUE)
    kind = describe(SHORT_DIAGNOSES, diagnoses[0]) if diagnoses else ""
    return (
        clip(one.doc, _DOCUMENT),
        clip(one.path, _PATH),
        format_json(one.gold, _VALUE),
        before,
        after,
        f"{clip(kind, 40)}{mark}",
    )


# The content of a diff's report before its layout: sentences and tables of texts.

NAMES = {**HEADLINE, "f1": "F1"}
"""The names of metrics in reports."""


def format_difference(one: Comparison) -> str:
    """Return the difference with its interval, in points for shares; a mark shows a too narrow interval."""
    if one.difference is None:
        return NOTHING
    bounds = [format_signed_points(bound, one.unit).lstrip("+") for bound in one.interval_shown or ()]
    interval = f" [{', '.join(bounds)}]" if bounds else ""
    few = " few" if interval and is_narrow(one) else ""
    return f"{format_signed_points(one.difference, one.unit)}{interval}{few}"


def is_narrow(one: Comparison) -> bool:
    """Return whether the interval of a metric without bounds is too narrow: few documents."""
    return "few_documents" in one.marks


def verdict_of(one: Comparison) -> str:
    """Return the decision as a cell has it: `not shown`, and `here` for documents like these only."""
    scope = "" if one.is_guarded or not one.is_shown else " here"
    return {"no_difference_shown": "not shown"}.get(one.verdict, f"{one.verdict}{scope}")


_NAME = 48


def describe_diff(found: Diff, most: int = 10) -> Told:
    """Return the report of a diff; lists of values, documents and kinds of error have at most `most` rows."""
    parts = [_overall(found) if found.is_pair else _many(found)]
    parts += [_fields(found.by_field)] if found.by_field and found.is_pair else []
    parts += [_slices(found)] if found.by_slice else []
    if found.is_pair:
        parts.append(changes_part(found, most))
    return Told(_title(found), found.warnings, _systems(found.sides), tuple(parts), found.notes)


def _title(found: Diff) -> str:
    documents = format_count(found.documents, "document")
    if found.is_pair:
        before, after = (clip(side.label, _NAME) for side in found.sides)
        return f"{before} → {after}: {documents}"
    return f"{format_count(len(found.sides), 'system')} on {documents}"


def _systems(sides: Sequence[DiffSide]) -> tuple[tuple[str, str], ...]:
    if len(sides) != 2:
        return ()
    return tuple((name, _describe_side(side)) for name, side in zip(("before", "after"), sides, strict=True))


def _describe_side(side: DiffSide) -> str:
    own = "" if side.system == side.label else f"system {clip(side.system, _NAME)}"
    run = "" if name_of(side.run) == side.label else f"run {clip(name_of(side.run), 80)}"
    folder = "" if side.folder in side.run else f"folder {clip(name_of(side.folder), 100)}"
    return ", ".join(part for part in (clip(side.label, _NAME), own, run, folder) if part)


def _overall(found: Diff) -> Part:
    lines = describe_field_changes(found.by_field)
    lines += [describe_comparison(one, NAMES) for one in found.overall]
    lines += [
        f"{describe_metric(one, NAMES)}: {power}" for one in found.overall if (power := describe_power(one))
    ]
    if found.is_identical:
        lines.insert(0, "identical in every document")
    table = _table("the systems in each metric", "metric", "metric", found.overall)
    return Part(
        "Overall", tuple(lines), (table,), (*_adjusted(found.overall), *_few(_all(found)), *_method(found))
    )


def _all(found: Diff) -> Sequence[Comparison]:
    return (*found.overall, *found.by_field, *found.by_slice)


def _method(found: Diff) -> list[str]:
    drawn = f"{format_share(found.level)} intervals ({found.replicates:,} replicates, seed {found.seed})"
    is_here = any(verdict_of(one).endswith(" here") for one in _all(found))
    return [
        "p: how often chance alone would show such a difference",
        *(["here: on documents like these; other kinds of documents could reverse it"] if is_here else []),
        *([drawn] if found.replicates else []),
    ]


def _few(families: Sequence[Comparison]) -> list[str]:
    return [FEW] if any(is_narrow(one) and one.interval is not None for one in families) else []


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


def _slices(found: Diff) -> Part:
    tables, remarks = [], []
    for key in dict.fromkeys(key for one in found.by_slice for key in one.slice):
        family = [one for one in found.by_slice if key in one.slice]
        name = f"{NAMES.get(family[0].metric, clip(family[0].metric, 60))} by {clip(key, 40)}"
        if found.is_pair:
            tables.append(_table(name, "slice", clip(key, 40), family))
        else:
            values = dict.fromkeys(one.slice[key] for one in family)
            tables += [
                _slice_table(key, value, [one for one in family if one.slice[key] == value])
                for value in values
            ]
        remarks += [f"{clip(key, 40)}: {line}" for line in _adjusted(family)]
    return Part("By slice", (), tuple(tables), tuple(remarks))


def _slice_table(key: str, value: str, family: Sequence[Comparison]) -> ReportTable:
    """Return more than two systems in one slice; they have no places there."""
    made = _many_table(family, None)
    rows = tuple(row[1:] for row in made.rows)
    caption = f"{clip(key, 40)}: {clip(value, 40)}, n = {max(one.documents for one in family):,}"
    return ReportTable(caption, made.heads[1:], rows, tuple(at - 1 for at in made.aligned))


def _table(
    caption: str, kind: Literal["metric", "field", "slice"], head: str, family: Sequence[Comparison]
) -> ReportTable:
    """Return the comparisons of one family of two systems as a table."""
    heads = (head, "n", "before", "after", "difference", "p", "adjusted", "effect", "+/−/=", "decision")
    name: Callable[[Comparison], str] = {
        "metric": lambda one: describe_metric(one, NAMES),
        "field": lambda one: clip(one.field, 40),
        "slice": lambda one: clip(next(iter(one.slice.values()), ""), 40),
    }[kind]
    return ReportTable(
        caption, heads, tuple((name(one), *_comparison_row(one)) for one in family), (1, 2, 3, 5, 6, 7, 8)
    )


def _comparison_row(one: Comparison) -> tuple[str, ...]:
    before, after = (format_in_unit(value, one.unit) for value in one.values)
    return (
        f"{one.documents:,}",
        before,
        after,
        format_difference(one),
        format_p_cell(one.p),
        *_decision(one),
    )


def _decision(one: Comparison) -> tuple[str, str, str, str]:
    """Return adjusted p value, effect size, counts of documents (better, worse, equal), and the decision."""
    return (
        format_p_cell(one.p_adjusted),
        format_effect(one.effect_size),
        f"{one.wins:,}/{one.losses:,}/{one.ties:,}",
        verdict_of(one),
    )


def _many(found: Diff) -> Part:
    """Return the part on more than two systems: a table by each metric.

    It has each system's possible ranks and its comparison with the reference.
    """
    families: dict[tuple[Any, ...], list[Comparison]] = {}
    for one in found.overall:
        families.setdefault((one.metric, one.field, *one.slice.items()), []).append(one)
    tables = tuple(_many_table(family, _ranking_of(found, family[0])) for family in families.values())
    ranked = (_describe_pairs(one, NAMES.get(one.metric, clip(one.metric, 60))) for one in found.rankings)
    lines = (*ranked, *describe_field_changes(found.by_field))
    places = (
        ["place: every place that chance leaves possible, from the same tests of all pairs"]
        if found.rankings
        else []
    )
    told = f"difference, adjusted, effect, +/−/=, decision: against {clip(found.sides[0].label, _NAME)}"
    return Part(
        "Ranking" if found.rankings else "Overall",
        lines,
        tables,
        (
            *filter(None, map(describe_first, found.rankings)),
            *places,
            told,
            *_adjusted(found.overall, found.rankings),
            *_few(_all(found)),
            *_method(found),
        ),
    )


def _ranking_of(found: Diff, one: Comparison) -> Ranking | None:
    if one.slice or one.field is not None:
        return None
    return next((ranking for ranking in found.rankings if ranking.metric == one.metric), None)


def _many_table(family: Sequence[Comparison], ranking: Ranking | None) -> ReportTable:
    """Return the table of more than two systems by one metric, in the order of the ranking if any."""
    name = clip(NAMES.get(family[0].metric, family[0].metric), 40)
    heads = ("place", "system", name, "difference", "adjusted", "effect", "+/−/=", "decision")
    against = {one.systems[1]: one for one in family}
    reference, value = family[0].systems[0], family[0].values[0]
    places = {place.system: describe_places(place) for place in ranking.places} if ranking is not None else {}
    order = list(places) or [reference, *against]
    values = {reference: value, **{system: one.values[1] for system, one in against.items()}}
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
        f"systems by {describe_metric(family[0], NAMES)}, n = {max(one.documents for one in family):,}",
        heads,
        tuple(rows),
        (2, 4, 5, 6),
    )


def _describe_pairs(ranking: Ranking, name: str) -> str:
    shown = sum(pair.is_shown for pair in ranking.pairs)
    pairs = format_count(len(ranking.pairs), "pair")
    return f"{name}: {shown:,} of {pairs} of systems differ by more than chance"
