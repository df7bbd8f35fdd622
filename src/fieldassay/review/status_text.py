"""The status of a review for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from fieldassay.io.text.shown import format_count
from fieldassay.metrics.notation import format_bounds, format_in_unit, format_signed_points
from fieldassay.review.controls import Anchoring, Count, Status

_FEWEST_WRONG = 59
"""Wrong values of which none is missed that show a miss rate of at most 5 %, at 95 %."""


def render_status(status: Status) -> str:
    """Return how far a review is and what it says, one line each; what is not known yet is said."""
    return "".join(f"{line}\n" for line in _lines(status))


def _lines(status: Status) -> Iterator[str]:
    total, done = (
        sum(status.sheets.values()),
        status.sheets.get("done", 0) + status.sheets.get("adjudicated", 0),
    )
    states = ", ".join(f"{count:,} {state}" for state, count in status.sheets.items())
    yield (
        f"sheets           {done:,} of {total:,} done ({states}); "
        f"{format_count(status.labeled, 'label')}{'; closed' if status.is_closed else ''}"
    )
    if status.audits_open:
        yield f"audits           {status.audits_open:,} open: estimates are of the finished part"
    accuracy = status.accuracy
    yield "system accuracy  " + (
        "not known: nothing was labeled unseen yet"
        if accuracy.value is None
        else f"{format_in_unit(accuracy.value)}{_interval(accuracy.interval)}, from "
        f"{format_count(accuracy.n, 'value')} in "
        f"{format_count(accuracy.documents, 'document')}, labeled unseen"
    )
    if accuracy.risk is not None:
        yield f"accepted, wrong  {format_in_unit(accuracy.risk)}{_interval(accuracy.risk_interval)}"
    few = f" ({_FEWEST_WRONG} without a miss show 5 %)" if 0 < status.missed.n < _FEWEST_WRONG else ""
    yield f"missed errors    {_missed(status.missed)}{few}"
    for alias, counts in status.reviewers.items():
        right = counts["right"]
        known = (
            f"{right.found:,} of {right.n:,} right unseen{_interval(right.interval)}"
            if right.n
            else "nothing unseen with a known truth"
        )
        yield f"  {alias:<14} {known}; missed {_missed(counts['missed'])}"
    yield f"anchoring        {_anchoring(status.anchoring)}"
    yield f"residual error   {_residual(status.residual, status.residual_upper)}"
    for name, effort in status.effort.items():
        if effort.seconds is not None:
            told = "shown" if name == "prediction" else "unseen"
            keys = f"{effort.keys:g} key{'' if effort.keys == 1 else 's'}"
            per_value = f"{effort.seconds:.1f} s and {keys} a value"
            yield f"effort, {told:<8} {per_value} (median of {effort.n:,})"
    yield f"head             {status.head}"


def _anchoring(found: Anchoring) -> str:
    if found.difference is None:
        return "not known: it takes values that were shown, and some that were withheld"
    difference = f"{format_signed_points(found.difference)} points{_points(found.interval)}"
    where = f"{_count(found.shown)} where it was shown, {_count(found.withheld)} where not"
    return f"{difference}: labels equal to the prediction, {where}"


def _residual(value: float | None, upper: float | None) -> str:
    if value is None or upper is None:
        return "not known"
    return f"{format_in_unit(value)} of all values, at most {format_in_unit(upper)} at 95 %"


def _missed(count: Count) -> str:
    if count.upper is None:
        return "not known: no wrong value of a document with gold was shown yet"
    return f"{_count(count)} wrong values shown, at most {format_in_unit(count.upper)} at 95 %"


def _count(count: Count) -> str:
    return f"{count.found:,} of {count.n:,}"


def _interval(bounds: tuple[float, float] | None) -> str:
    return "" if bounds is None else f" [{format_bounds(bounds)}]"


def _points(bounds: tuple[float, float] | None) -> str:
    return "" if bounds is None else f" [{100 * bounds[0]:+.1f}, {100 * bounds[1]:+.1f}]"
