"""The content of a diff's report before its layout: sentences and tables of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from fieldassay.diffs.result import Diff, Side
from fieldassay.reports.comparisons import count_tested, say, show_p, show_places
from fieldassay.reports.diff.tables import Part, Table, Told
from fieldassay.reports.diff.values import changes_part
from fieldassay.reports.summary import HEADLINE
from fieldassay.result.comparison import Comparison, Ranking
from fieldassay.stats.power import documents_needed
from fieldassay.wording.numbers import NOTHING, show_count, show_number, suffix_of
from fieldassay.wording.shown import show

NAMES = {**HEADLINE, "f1": "F1"}
"""The names of metrics in reports."""


def show_one(value: float | None, unit: str) -> str:
    """Return a metric's value in its unit.

    >>> show_one(0.8125, "ratio"), show_one(None, "ratio")
    ('0.812', '—')
    """
    return NOTHING if value is None else f"{show_number(value, unit)}{suffix_of(unit)}"


def show_difference(one: Comparison) -> str:
    """Return the difference with its interval, in points for shares; a mark shows a too narrow interval."""
    if one.difference is None:
        return NOTHING
    interval = (
        ""
        if one.interval is None
        else f" [{', '.join(show_points(bound, one.unit).lstrip('+') for bound in one.interval)}]"
    )
    return f"{show_points(one.difference, one.unit)}{interval}{' few' if interval and is_narrow(one) else ''}"


def is_narrow(one: Comparison) -> bool:
    """Return whether the interval of a metric without bounds is too narrow: few documents."""
    return "few_documents" in one.marks


def show_points(value: float, unit: str) -> str:
    """Return a signed difference: points of a hundred for shares, else in the unit of the metric.

    >>> show_points(0.061, "ratio"), show_points(-0.2, "ratio")
    ('+6.1', '−20.0')
    >>> show_points(-1e-9, "ratio"), show_points(3.0, "count")
    ('0.0', '+3')
    """
    text = (
        f"{100 * value:,.1f}"
        if unit == "ratio"
        else f"{value:,.1f}"
        if unit == "percent"
        else show_number(value, unit)
    )
    if not float(text.replace(",", "")):
        return text.lstrip("-")
    return f"−{text[1:]}" if text.startswith("-") else f"+{text}"


def show_effect(value: float | None) -> str:
    """Return an effect size with two decimals.

    >>> show_effect(-0.456), show_effect(None)
    ('−0.46', '—')
    """
    return NOTHING if value is None else f"{value:.2f}".replace("-", "−") if round(value, 2) else "0.00"


def verdict_of(one: Comparison) -> str:
    """Return the decision as a cell has it: `not shown` where no difference could be shown."""
    return {"no_difference_shown": "not shown"}.get(one.verdict, one.verdict)


def tell_detectable(one: Comparison) -> str:
    """Return the detectable difference where none was found, and the documents needed for the present one.

    >>> tell_detectable(Comparison("f1", None, {}, ("a", "b"), (0.8, 0.81), 0.01, (-0.01, 0.03), 0.95,
    ...     0.4, 0.4, 0.1, 3, 2, 5, 100, "exchange",
    ...     "no_difference_shown", 0.03))
    'F1: a difference of 3.0 points would have been found with probability 0.8; for one of 1.0
        it takes about 900 documents'
    """
    if one.verdict != "no_difference_shown" or one.detectable is None:
        return ""
    name = f"{NAMES.get(one.metric, one.metric)}" + (f" of {one.field}" if one.field else "")
    needed = documents_needed(one.documents, one.detectable, one.difference or 0.0)
    told = (
        f"{name}: a difference of {_size(one.detectable, one.unit)} would have been found with "
        "probability 0.8"
    )
    more = (
        needed is not None
        and one.documents < needed < 10_000_000
        and _plain(one.difference or 0.0, one.unit).strip("0.,")
    )
    return told + (
        f"; for one of {_plain(one.difference or 0.0, one.unit)} it takes about "
        f"{show_count(_round_up(needed or 0), 'document')}"
        if more
        else ""
    )


def _round_up(count: int) -> int:
    """Return a count with two digits that say something: it comes from an estimate.

    >>> _round_up(15053), _round_up(43)
    (16000, 43)
    """
    unit = int(10 ** max(0, len(str(count)) - 2))
    return -(-count // unit) * unit


def tell_field_detectable(family: Sequence[Comparison]) -> str:
    """Return the detectable differences in fields without a found one, before Holm's adjustment.

    Empty without such fields.
    """
    open_ = [one for one in family if one.verdict == "no_difference_shown" and one.detectable is not None]
    if not open_:
        return ""
    sizes = sorted(one.detectable or 0.0 for one in open_)
    span = (
        _size(sizes[0], open_[0].unit)
        if len(sizes) == 1
        else f"{_plain(sizes[0], open_[0].unit)} to {_size(sizes[-1], open_[0].unit)}"
    )
    return (
        f"where no difference could be shown, one of {span} would have been found with probability 0.8 "
        "in the field alone"
    )


def _plain(value: float, unit: str) -> str:
    return show_points(value, unit).lstrip("+−")


def _size(value: float, unit: str) -> str:
    return f"{_plain(value, unit)}{' points' if unit in ('ratio', 'percent') else suffix_of(unit)}"


_NAME = 48


def tell_diff(found: Diff, most: int = 10) -> Told:
    """Return the report of a diff; lists of values, documents and kinds of wrong have at most `most` rows."""
    parts = [_overall(found) if found.is_pair else _many(found)]
    parts += [_fields(found.by_field)] if found.by_field else []
    parts += [_slices(found)] if found.by_slice else []
    if found.is_pair:
        parts.append(changes_part(found, most))
    return Told(_title(found), found.warnings, _systems(found.sides), tuple(parts), found.notes)


def _title(found: Diff) -> str:
    documents = show_count(found.documents, "document")
    if found.is_pair:
        before, after = (show(side.label, _NAME) for side in found.sides)
        return f"{before} → {after}: {documents}"
    return f"{show_count(len(found.sides), 'system')} on {documents}"


def _systems(sides: Sequence[Side]) -> tuple[tuple[str, str], ...]:
    if len(sides) != 2:
        return ()
    return tuple((name, _tell_side(side)) for name, side in zip(("before", "after"), sides, strict=True))


def _tell_side(side: Side) -> str:
    own = "" if side.system == side.label else f"system {show(side.system, _NAME)}"
    run = "" if side.run == side.label else f"run {show(side.run, 80)}"
    folder = "" if side.folder in side.run else f"folder {show(side.folder, 100)}"
    return ", ".join(part for part in (show(side.label, _NAME), own, run, folder) if part)


def _overall(found: Diff) -> Part:
    lines = [say(one, NAMES) for one in found.overall]
    lines += [told for one in found.overall if (told := tell_detectable(one))]
    if found.is_identical:
        lines.insert(0, "identical: nothing that was kept differs in any document")
    table = _table("the systems in each metric", "metric", "metric", found.overall)
    return Part(
        "Overall", tuple(lines), (table,), (*_holm(found.overall), *_few(_all(found)), *_method(found))
    )


def _all(found: Diff) -> Sequence[Comparison]:
    return (*found.overall, *found.by_field, *found.by_slice)


def _method(found: Diff) -> list[str]:
    drawn = (
        f"{100 * found.level:g} % intervals of the difference from {found.replicates:,} paired "
        f"bootstrap replicates, seed {found.seed}"
    )
    return [
        "p: two-sided test over documents, each answer as likely to be either system's",
        *([drawn] if found.replicates else []),
    ]


def _few(families: Sequence[Comparison]) -> list[str]:
    is_marked = any(is_narrow(one) and one.interval is not None for one in families)
    return ["few: too few documents, the interval is too narrow"] if is_marked else []


def _holm(family: Sequence[Comparison], rankings: Sequence[Ranking] = ()) -> list[str]:
    tested = count_tested(family, rankings)
    return [f"Holm: adjusted for {tested} comparisons"] if tested > 1 else []


def _fields(family: tuple[Comparison, ...]) -> Part:
    more = tell_field_detectable(family)
    remarks = (f"{show(family[0].metric, 60)} of each field", *_holm(family), *([more] if more else []))
    return Part("By field", (), (_table("the systems field by field", "field", "field", family),), remarks)


def _slices(found: Diff) -> Part:
    tables, remarks = [], []
    for key in dict.fromkeys(key for one in found.by_slice for key in one.slice):
        family = [one for one in found.by_slice if key in one.slice]
        name = f"{NAMES.get(family[0].metric, show(family[0].metric, 60))} by {show(key, 40)}"
        if found.is_pair:
            tables.append(_table(name, "slice", show(key, 40), family))
        else:
            values = dict.fromkeys(one.slice[key] for one in family)
            tables += [
                _slice_table(key, value, [one for one in family if one.slice[key] == value])
                for value in values
            ]
        remarks += [f"{show(key, 40)}: {line}" for line in _holm(family)]
    return Part("By slice", (), tuple(tables), tuple(remarks))


def _slice_table(key: str, value: str, family: Sequence[Comparison]) -> Table:
    """Return more than two systems in one slice; they have no places there."""
    made = _many_table(family, None)
    rows = tuple(row[1:] for row in made.rows)
    caption = f"{show(key, 40)}: {show(value, 40)}, n = {max(one.documents for one in family):,}"
    return Table(caption, made.heads[1:], rows, tuple(at - 1 for at in made.numbers))


def _table(
    caption: str, kind: Literal["metric", "field", "slice"], head: str, family: Sequence[Comparison]
) -> Table:
    """Return the comparisons of one family of two systems as a table."""
    heads = (head, "n", "before", "after", "difference", "p", "Holm", "effect", "+/−/=", "decision")
    name = {"metric": _metric, "field": _field, "slice": _slice}[kind]
    return Table(caption, heads, tuple((name(one), *_row(one)) for one in family), (1, 2, 3, 5, 6, 7, 8))


def _row(one: Comparison) -> tuple[str, ...]:
    before, after = (show_one(value, one.unit) for value in one.values)
    return (f"{one.documents:,}", before, after, show_difference(one), _p(one.p), *_decision(one))


def _field(one: Comparison) -> str:
    return show(one.field, 40)


def _slice(one: Comparison) -> str:
    return show(next(iter(one.slice.values()), ""), 40)


def _metric(one: Comparison) -> str:
    """Return the metric with its field and its slice."""
    where = "".join(f" where {show(key, 20)} is {show(value, 30)}" for key, value in one.slice.items())
    of = "" if one.field is None else f" of {show(one.field, 40)}"
    return f"{show(NAMES.get(one.metric, one.metric), 40)}{of}{where}"


def _decision(one: Comparison) -> tuple[str, str, str, str]:
    """Return adjusted p value, effect size, counts of documents (better, worse, equal), and the decision."""
    return (
        _p(one.p_adjusted),
        show_effect(one.effect_size),
        f"{one.wins:,}/{one.losses:,}/{one.ties:,}",
        verdict_of(one),
    )


def _p(value: float | None) -> str:
    return NOTHING if value is None else show_p(value).removeprefix("p ").removeprefix("= ").replace(" ", "")


def _many(found: Diff) -> Part:
    """Return the part on more than two systems: a table by each metric.

    It has each system's possible ranks and its comparison with the reference.
    """
    families: dict[tuple[Any, ...], list[Comparison]] = {}
    for one in found.overall:
        families.setdefault((one.metric, one.field, *one.slice.items()), []).append(one)
    tables = tuple(_many_table(family, _ranking_of(found, family[0])) for family in families.values())
    lines = tuple(_tell_pairs(one, NAMES.get(one.metric, show(one.metric, 60))) for one in found.rankings)
    places = (
        ["place: those that a system may really have, by the same p values, all pairs of systems among them"]
        if found.rankings
        else []
    )
    told = f"difference, Holm, effect, +/−/=, decision: against {show(found.sides[0].label, _NAME)}"
    return Part(
        "Ranking" if found.rankings else "Overall",
        lines,
        tables,
        (*places, told, *_holm(found.overall, found.rankings), *_few(_all(found)), *_method(found)),
    )


def _ranking_of(found: Diff, one: Comparison) -> Ranking | None:
    if one.slice or one.field is not None:
        return None
    return next((ranking for ranking in found.rankings if ranking.metric == one.metric), None)


def _many_table(family: Sequence[Comparison], ranking: Ranking | None) -> Table:
    """Return the table of more than two systems by one metric, in the order of the ranking if any."""
    name = show(NAMES.get(family[0].metric, family[0].metric), 40)
    heads = ("place", "system", name, "difference", "Holm", "effect", "+/−/=", "decision")
    against = {one.systems[1]: one for one in family}
    reference, value = family[0].systems[0], family[0].values[0]
    places = {place.system: show_places(place) for place in ranking.places} if ranking is not None else {}
    order = list(places) or [reference, *against]
    values = {reference: value, **{system: one.values[1] for system, one in against.items()}}
    rows = [
        (
            places.get(system, NOTHING),
            show(system, _NAME),
            show_one(values[system], family[0].unit),
            *_standing(against.get(system)),
        )
        for system in order
    ]
    return Table(
        f"systems by {_metric(family[0])}, n = {max(one.documents for one in family):,}",
        heads,
        tuple(rows),
        (2, 4, 5, 6),
    )


def _standing(one: Comparison | None) -> tuple[str, ...]:
    return ("", "", "", "", "reference") if one is None else (show_difference(one), *_decision(one))


def _tell_pairs(ranking: Ranking, name: str) -> str:
    shown = sum(
        pair.p_adjusted <= 1 - ranking.level + 1e-12 and pair.difference != 0 for pair in ranking.pairs
    )
    return (
        f"{name}: {shown:,} of {show_count(len(ranking.pairs), 'pair')} of systems differ by more than chance"
    )
