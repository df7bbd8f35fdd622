"""The status of a review for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from fieldassay.io.text.shown import format_count
from fieldassay.metrics.estimate import format_bounds, format_in_unit, format_signed_points
from fieldassay.review.controls import Anchoring, Count, Status
from fieldassay.review.figures import FEWEST, Share

_NO_GOLD = "no wrong value of a document with gold was shown"


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
    yield f"system accuracy  {_share(status.accuracy, 'nothing was labeled unseen yet')}"
    if status.accepted.share is not None:
        risk = format_in_unit(status.accepted.share)
        yield f"accepted, wrong  {risk}{_interval(status.accepted.interval)}"
    yield f"missed errors    {_share(status.missed, _NO_GOLD)}"
    for alias, shares in status.reviewers.items():
        right = _share(shares["right"], "nothing unseen with a known truth")
        at_best = "" if status.has_gold else ", at best (no gold: what both say, or what was ruled, is right)"
        yield f"  {alias:<14} right unseen{at_best}: {right}; missed: {_share(shares['missed'], _NO_GOLD)}"
    yield f"anchoring        {_anchoring(status.anchoring)}"
    yield f"residual error   {_residual(status.residual, status.residual_upper)}"
    for name, effort in status.effort.items():
        if effort.seconds is not None:
            told = "shown" if name == "prediction" else "unseen"
            keys = f"{effort.keys:g} key{'' if effort.keys == 1 else 's'}"
            per_value = f"{effort.seconds:.1f} s and {keys} a value"
            yield f"effort, {told:<8} {per_value} (median of {effort.n:,})"


def _anchoring(found: Anchoring) -> str:
    if found.difference is None:
        return f"not known: it takes {FEWEST} documents with values shown, and {FEWEST} with values withheld"
    difference = f"{format_signed_points(found.difference)} points{_points(found.interval)}"
    where = f"{_count(found.shown)} where it was shown, {_count(found.withheld)} where not"
    return f"{difference}: labels equal to the prediction, {where}"


def _residual(value: float | None, upper: float | None) -> str:
    if value is None or upper is None:
        return "not known"
    return f"{format_in_unit(value)} of all values, at most {format_in_unit(upper)} at 95 %"


def _share(found: Share, nothing: str) -> str:
    """Return a share with its interval and what it stands on; with few documents that they are too few."""
    if not found.n:
        return f"not known: {nothing}"
    stands = f"{format_count(found.n, 'value')} in {format_count(found.documents, 'document')}"
    if found.share is None:
        return f"too few labels: {stands}; {FEWEST} documents are needed"
    return f"{format_in_unit(found.share)}{_interval(found.interval)}, from {stands}"


def _count(count: Count) -> str:
    return f"{count.found:,} of {count.n:,}"


def _interval(bounds: tuple[float, float] | None) -> str:
    return "" if bounds is None else f" [{format_bounds(bounds)}]"


def _points(bounds: tuple[float, float] | None) -> str:
    return "" if bounds is None else f" [{100 * bounds[0]:+.1f}, {100 * bounds[1]:+.1f}]"
