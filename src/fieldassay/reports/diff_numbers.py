"""The numbers of a comparison as a diff's report writes them, and what could have been found."""

from __future__ import annotations

from collections.abc import Sequence

from fieldassay.reports.numbers import NOTHING, show_count, show_number, suffix_of
from fieldassay.reports.summary import HEADLINE
from fieldassay.result.comparison import Comparison
from fieldassay.stats.power import documents_needed

NAMES = {**HEADLINE, "f1": "F1"}
"""What metrics are called in reports."""

_FEW = ("few_documents", "few_differences")


def show_one(value: float | None, unit: str) -> str:
    """Return a metric's value in its unit.

    >>> show_one(0.8125, "ratio"), show_one(None, "ratio")
    ('0.812', '—')
    """
    return NOTHING if value is None else f"{show_number(value, unit)}{suffix_of(unit)}"


def show_difference(one: Comparison) -> str:
    """Return the difference with its interval, in points of a hundred for shares; a mark says that the interval is too narrow."""
    if one.difference is None:
        return NOTHING
    interval = "" if one.interval is None else f" [{', '.join(show_points(bound, one.unit).lstrip('+') for bound in one.interval)}]"
    return f"{show_points(one.difference, one.unit)}{interval}{' few' if interval and is_narrow(one) else ''}"


def is_narrow(one: Comparison) -> bool:
    """Return whether the interval is too narrow: few documents, or few in which the systems differ."""
    return any(mark in one.marks for mark in _FEW)


def show_points(value: float, unit: str) -> str:
    """Return a signed difference: points of a hundred for shares, else in the unit of the metric.

    >>> show_points(0.061, "ratio"), show_points(-0.2, "ratio"), show_points(-1e-9, "ratio"), show_points(3.0, "count")
    ('+6.1', '−20.0', '0.0', '+3')
    """
    text = f"{100 * value:,.1f}" if unit == "ratio" else f"{value:,.1f}" if unit == "percent" else show_number(value, unit)
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
    """Return what could have been found where no difference was, and how many documents a difference as small as this takes.

    >>> tell_detectable(Comparison("f1", None, {}, ("a", "b"), (0.8, 0.81), 0.01, (-0.01, 0.03), 0.95, 0.4, 0.4, 0.1, 3, 2, 5, 100, "exchange",
    ...     "no_difference_shown", 0.03))
    'F1: a difference of 3.0 points would have been found with probability 0.8; for one of 1.0 it takes about 900 documents'
    """
    if one.verdict != "no_difference_shown" or one.detectable is None:
        return ""
    name = f"{NAMES.get(one.metric, one.metric)}" + (f" of {one.field}" if one.field else "")
    needed = documents_needed(one.documents, one.detectable, one.difference or 0.0)
    told = f"{name}: a difference of {_size(one.detectable, one.unit)} would have been found with probability 0.8"
    more = needed is not None and one.documents < needed < 10_000_000 and _plain(one.difference or 0.0, one.unit).strip("0.,")
    return told + (
        f"; for one of {_plain(one.difference or 0.0, one.unit)} it takes about {show_count(_round_up(needed or 0), 'document')}"
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
    """Return what could have been found in the fields for which no difference was, before Holm's adjustment; empty if there are none."""
    open_ = [one for one in family if one.verdict == "no_difference_shown" and one.detectable is not None]
    if not open_:
        return ""
    sizes = sorted(one.detectable or 0.0 for one in open_)
    span = _size(sizes[0], open_[0].unit) if len(sizes) == 1 else f"{_plain(sizes[0], open_[0].unit)} to {_size(sizes[-1], open_[0].unit)}"
    return f"where no difference could be shown, one of {span} would have been found with probability 0.8 in the field alone"


def _plain(value: float, unit: str) -> str:
    return show_points(value, unit).lstrip("+−")


def _size(value: float, unit: str) -> str:
    return f"{_plain(value, unit)}{' points' if unit in ('ratio', 'percent') else suffix_of(unit)}"
