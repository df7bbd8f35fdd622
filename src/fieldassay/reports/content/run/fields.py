"""The fields of a run by system: how good each is, what changed, and the most frequent error."""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.decisions.losses import Mistake
from fieldassay.io.text.shown import clip, clip_apart, format_count, join_names
from fieldassay.metrics.estimate import (
    NOTHING,
    Estimate,
    format_both,
    format_in_unit,
    format_points,
    format_signed_points,
    format_value,
)
from fieldassay.metrics.result.result import Result, list_fields
from fieldassay.metrics.result.verdicts import Comparison
from fieldassay.reports.findings.recommendation import drop_silent
from fieldassay.reports.wording import SHORT_DIAGNOSES, describe
from fieldassay.reports.writers.tables import ReportTable

FEW_FIELDS, MOST_FIELDS = 6, 40
"""The most fields of an answer, and of a whole report; all others are folded into one line."""

_NAME, _FIELD = 24, 32
_SIGNS = {"better": "▲", "worse": "▼"}
_PROSE = 18
"""The least width of the column of errors."""

_CELLS = 5
"""The length of the bar of a perfect field."""


class FieldRow(Struct, frozen=True):
    """One field: the estimate, the change and the most frequent error of each system, in the table's order.

    `changes` are comparisons with the first system (None: itself, or not compared).
    """

    field: str
    estimates: tuple[Estimate | None, ...]
    changes: tuple[Comparison | None, ...]
    mistakes: tuple[Mistake | None, ...]
    error: str = ""
    """The most frequent error of all systems together, in plain words, with its counts."""

    @property
    def shown(self) -> tuple[Comparison, ...]:
        """Return the changes that are shown."""
        return tuple(change for change in self.changes if change is not None and change.is_shown)

    @property
    def lowest(self) -> float:
        """Return the value of the system that has most errors in the field."""
        return min(
            float(estimate.value)
            for estimate in self.estimates
            if estimate is not None and estimate.value is not None
        )


class FieldsBySystem(Struct, frozen=True):
    """The fields by system: those with a shown loss first, then the shown gains, then the others.

    Fields without a judged value are left out. The first system is the one that others are compared with.
    """

    systems: tuple[str, ...]
    rows: tuple[FieldRow, ...]


def tabulate_by_system(result: Result, systems: Sequence[str], mistakes: Sequence[Mistake]) -> FieldsBySystem:
    """Return the fields of a result; `systems` are in the order of the report."""
    if not systems:
        return FieldsBySystem((), ())
    reference = result.field_comparisons[0].systems[0] if result.field_comparisons else systems[0]
    ordered = (reference, *(name for name in systems if name != reference))
    estimates = {
        system: {
            field: estimate
            for field, estimate in list_fields(result, system).items()
            if estimate.value is not None
        }
        for system in ordered
    }
    compared = drop_silent(result, result.field_comparisons)
    changes = {(change.systems[1], change.field): change for change in compared}
    by_field: dict[str, list[Mistake]] = {}
    for mistake in mistakes:
        by_field.setdefault(mistake.field, []).append(mistake)
    rows = []
    for field in dict.fromkeys(field for own in estimates.values() for field in own):
        wrong = by_field.get(field, [])
        rows.append(
            FieldRow(
                field,
                _pair(
                    [estimates[system].get(field) for system in ordered], changes.get((ordered[-1], field))
                ),
                tuple(changes.get((system, field)) for system in ordered),
                tuple(
                    next((mistake for mistake in wrong if mistake.system == system), None)
                    for system in ordered
                ),
                _name_error(wrong, ordered),
            )
        )
    return FieldsBySystem(ordered, tuple(sorted(rows, key=_rank)))


def _pair(estimates: Sequence[Estimate | None], change: Comparison | None) -> tuple[Estimate | None, ...]:
    """Return the estimates of two systems with the values of their comparison, so that its change fits them.

    These are of the documents that both have a value for.
    """
    if len(estimates) != 2 or change is None or change.difference is None:
        return tuple(estimates)
    values = zip(estimates, change.values, strict=True)
    return tuple(None if estimate is None else replace(estimate, value=value) for estimate, value in values)


def _name_error(mistakes: Sequence[Mistake], systems: Sequence[str]) -> str:
    """Return the most frequent error of a field in plain words, with how often each of two makes it."""
    counts: dict[str, dict[str, int]] = {}
    for mistake in mistakes:
        counts.setdefault(mistake.diagnosis, {})[mistake.system] = mistake.count
    if not counts:
        return ""
    worst = max(counts, key=lambda diagnosis: sum(counts[diagnosis].values()))
    numbers = [counts[worst].get(system, 0) for system in systems]
    shown = " → ".join(f"{count:,}" for count in (numbers if len(numbers) == 2 else [sum(numbers)]))
    return f"{describe(SHORT_DIAGNOSES, worst)} ({shown})"


def _rank(row: FieldRow) -> tuple[int, float, str]:
    losses = [change.difference or 0.0 for change in row.shown if change.verdict == "worse"]
    if losses:
        return 0, min(losses), row.field
    gains = [change.difference or 0.0 for change in row.shown]
    return (1, -max(gains), row.field) if gains else (2, row.lowest, row.field)


# The table of fields as texts, as wide as there is room, and the line on the fields that it folds.


def fields_table(table: FieldsBySystem, most: int = MOST_FIELDS, room: int | None = None) -> ReportTable:
    """Return the first fields: a column for each system, the change of two, and the most frequent error.

    In a narrow `room` the bars go first, then a column for each of many systems.
    """
    rows, count = table.rows[:most], len(table.systems)
    with_bars = _lay_out(table, rows, has_bars=True)
    if room is None or _fits(with_bars, room):
        return with_bars
    laid_out = _lay_out(table, rows, has_bars=False)
    return laid_out if count < 3 or _fits(laid_out, room) else _count_changes(table, rows)


def _fits(table: ReportTable, room: int) -> bool:
    """Return whether the columns fit, with enough left for the last one, which is prose."""
    cells = zip(*(row[:-1] for row in (table.heads, *table.rows)), strict=True)
    return sum(3 + max(map(len, column)) for column in cells) + _PROSE <= room


def _lay_out(table: FieldsBySystem, rows: Sequence[FieldRow], *, has_bars: bool) -> ReportTable:
    count = len(table.systems)
    cells = [[clip(row.field, _FIELD) for row in rows]]
    for at in range(count):
        values = [_value(row, at, count) for row in rows]
        width = max(map(len, values), default=0)
        bars = [draw_bar(row.estimates[at]) if has_bars else "" for row in rows]
        cells.append([f"{value:<{width}} {bar}".rstrip() for value, bar in zip(values, bars, strict=True)])
    cells += [[describe_change(row.changes[1]) for row in rows]] if count == 2 else []
    has_errors = any(row.error for row in rows)
    cells += [[row.error for row in rows]] if has_errors else []
    heads = [
        "field",
        *clip_apart(table.systems, _NAME),
        *(["change"] if count == 2 else []),
        *(["most often"] if has_errors else []),
    ]
    return ReportTable("", heads, list(zip(*cells, strict=True)), ())


def _value(row: FieldRow, at: int, systems: int) -> str:
    """Return the value of a system: with its interval if it is alone, with a change's sign if of many."""
    estimate, change = row.estimates[at], row.changes[at]
    if systems == 1:
        return format_both(estimate)
    sign = f" {_SIGNS[change.verdict]}" if systems > 2 and change is not None and change.is_shown else ""
    return f"{format_value(estimate)}{sign}"


def draw_bar(estimate: Estimate | None) -> str:
    """Return a share as a bar of blocks, whole for 100% alone; empty for a value in another unit."""
    share = estimate.value if estimate is not None and estimate.unit == "ratio" else None
    halves = int(2 * _CELLS * (share or 0.0))
    return "█" * (halves // 2) + "▌" * (halves % 2)


def describe_change(change: Comparison | None) -> str:
    """Return the difference of a field for a cell, with a sign of its own where it is shown."""
    if change is None or change.difference is None:
        return NOTHING
    if change.is_shown:
        return f"{_SIGNS[change.verdict]} {format_points(change.difference, change.unit)}"
    return format_signed_points(change.difference, change.unit)


def _count_changes(table: FieldsBySystem, rows: Sequence[FieldRow]) -> ReportTable:
    """Return the fields of many systems: the first, the range of the others, and who is better or worse."""
    names = dict(zip(table.systems, clip_apart(table.systems, 16), strict=True))
    heads = ["field", names[table.systems[0]], f"{len(names) - 1} others", "▼ worse", "▲ better"]
    cells = []
    for row in rows:
        values = [
            estimate.value
            for estimate in row.estimates[1:]
            if estimate is not None and estimate.value is not None
        ]
        ends = [format_in_unit(end(values)) for end in (min, max)] if values else [NOTHING] * 2
        cells.append(
            [
                clip(row.field, _FIELD),
                format_value(row.estimates[0]),
                ends[0] if ends[0] == ends[1] else f"{ends[0].removesuffix('%')} to {ends[1]}",
                *(
                    _name_systems([change for change in row.shown if change.verdict == verdict], names)
                    for verdict in ("worse", "better")
                ),
            ]
        )
    return ReportTable("", heads, cells, ())


def _name_systems(changes: Sequence[Comparison], names: Mapping[str, str]) -> str:
    named = [
        f"{names[change.systems[1]]} {format_points(change.difference or 0.0, change.unit)}"
        for change in sorted(changes, key=lambda change: -abs(change.difference or 0.0))[:2]
    ]
    return ", ".join([*named, *([f"{len(changes) - 2} more"] if len(changes) > 2 else [])])


def describe_rest(table: FieldsBySystem, most: int = MOST_FIELDS) -> list[str]:
    """Return a line on the fields that are folded, and one on the signs of changes."""
    hidden, lines = table.rows[most:], []
    tested = sum(change is not None and change.p is not None for row in table.rows for change in row.changes)
    if hidden:
        names = [clip(row.field, _FIELD) for row in hidden]
        of = " without a clear change" if tested and not any(row.shown for row in hidden) else ""
        least = min(row.lowest for row in hidden)
        range_ = f"{format_in_unit(least)} or better" if least < 1.0 else "all 100%"
        lines.append(f"and {format_count(len(hidden), 'more field')}{of}, {range_}: {join_names(names)}")
    counted = f" (corrected for {tested:,} tests)" if tested > 1 else ""
    first = clip_apart(table.systems, _NAME)[0]
    if any(row.shown for row in table.rows):
        lines.append(f"▲ better, ▼ worse than {first}, beyond chance{counted}")
    elif tested:
        lines.append(f"no field differs from {first} beyond chance{counted}")
    return lines


def worst_fields(table: FieldsBySystem, system: str) -> list[tuple[str, Estimate, Mistake | None]]:
    """Return the fields of a system with errors, the worst first, each with its most frequent error."""
    at = table.systems.index(system)
    fields = [
        (row.field, estimate, row.mistakes[at])
        for row in table.rows
        if (estimate := row.estimates[at]) is not None and estimate.value is not None and estimate.value < 1.0
    ]
    return sorted(fields, key=lambda each: (each[1].value or 0.0, -each[1].n))
