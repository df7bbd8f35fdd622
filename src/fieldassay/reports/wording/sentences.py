"""Sentences about numbers: a value with its interval, and the comparison of two systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fieldassay.io.text.shown import clip, format_count
from fieldassay.metrics.estimate import (
    format_bounds,
    format_difference,
    format_in_unit,
    format_p,
    format_points,
    format_share,
    format_signed_points,
    format_size,
    points_of,
)
from fieldassay.metrics.thresholds import describe_least

if TYPE_CHECKING:
    from fieldassay.metrics.estimate import Estimate
    from fieldassay.metrics.result.comparison import Comparison, Place, Ranking

_NAME = 60
_MOST_NEEDED = 10_000_000
_FOUND = "made of documents that differ by as much as those here, is found in 8 of 10 such samples"


def describe_estimate(estimate: Estimate) -> str:
    """Return a value with its interval, or with its n where it has none.

    >>> from fieldassay.metrics.estimate import Estimate
    >>> more = ((0.8, 0.95), 0.95, ("few_documents",))
    >>> describe_estimate(Estimate("f1", "a", None, {}, None, 0.9, 12, 12, 0, None, {}, *more))
    '90.0% (95% CI 80.0 to 95.0; only 12 documents, so the interval is too narrow)'
    """
    if estimate.value is None:
        return "undefined (n = 0)"
    interval = describe_interval(estimate.interval, estimate.level, estimate.unit) or f"n = {estimate.n:,}"
    few = (
        f"; only {format_count(estimate.documents, 'document')}, so the interval is too narrow"
        if "few_documents" in estimate.marks
        else ""
    )
    return f"{format_in_unit(estimate.value, estimate.unit)} ({interval}{few})"


def describe_interval(interval: Sequence[float] | None, level: float | None, unit: str = "ratio") -> str:
    """Return an interval of values, shares in percent; the empty text where there is none.

    >>> describe_interval((0.938, 0.958), 0.95), describe_interval(None, None)
    ('95% CI 93.8 to 95.8', '')
    """
    return "" if interval is None else f"{format_share(level or 0.95)} CI {format_bounds(interval, unit)}"


def describe_comparison(one: Comparison, names: Mapping[str, str] | None = None) -> str:
    """Return one comparison as a sentence; `names` are those of metrics in reports.

    >>> from fieldassay.metrics.result.comparison import Comparison
    >>> found = Comparison("accuracy", None, {}, ("llama", "qwen"), (0.8, 0.861), 0.061, (0.02, 0.104), 0.95,
    ...     0.004, 0.004, 0.4, 20, 9, 71, 100, "halves", "better", interval_guarded=(0.01, 0.11))
    >>> describe_comparison(found)
    'qwen is better than llama by 6.1 points of accuracy (95% CI 2.0 to 10.4, p = .004)'

    Where the guarded interval includes 0, the sentence is about documents like these, and says what is open:
    `(…; if others occur, worse by 1.2 points is possible)`.
    """
    first, second = (clip(name, _NAME) for name in one.systems)
    metric = describe_metric(one, names)
    if one.verdict == "undefined" or one.difference is None:
        lacking = [name for name, value in zip((first, second), one.values, strict=True) if value is None]
        which = " and ".join(lacking)
        return f"{second} and {first} cannot be compared in {metric}: it is undefined for {which}"
    if one.verdict == "identical":
        return f"{second} and {first} are the same in {metric} (n = {one.documents:,})"
    if one.verdict == "no_difference_shown":
        detail = f"{_signed(one)}{_bounds(one, 1.0)}, {describe_p(one)}, n = {one.documents:,}"
        return f"no difference could be shown between {first} and {second} in {metric} ({detail})"
    bounds = _bounds(one, 1.0 if one.difference > 0 else -1.0).removeprefix(", ")
    detail = f"{bounds}, {describe_p(one)}" if bounds else f"{describe_p(one)}, n = {one.documents:,}"
    if one.is_guarded:
        return f"{second} is {one.verdict} than {first} by {_size(one)} of {metric} ({detail})"
    return (
        f"{second} is {one.verdict} than {first} by {_size(one)} of {metric} on documents like these "
        f"({detail}; {_not_excluded(one)})"
    )


def describe_shortly(one: Comparison) -> str:
    r"""Return the verdict on the second system for a cell of a table.

    >>> from fieldassay.metrics.result.comparison import Comparison
    >>> lost = Comparison("f1", None, {}, ("a", "b"), (0.8, 0.7), -0.1, None, 0.95, 0.0001, 0.0002,
    ...     1.0, 0, 9, 1, 10, "halves", "worse", interval_guarded=(-0.2, 0.03))
    >>> print(describe_shortly(lost).replace("; ", ";\n"))
    worse by 10.0 points on documents like these (p < .001;
    if others occur, better by 3.0 points is possible)
    """
    if one.is_shown:
        scope, doubt = ("", "") if one.is_guarded else (" on documents like these", f"; {_not_excluded(one)}")
        return f"{one.verdict} by {_size(one)}{scope} ({describe_p(one)}{doubt})"
    if one.verdict == "no_difference_shown":
        return f"no difference shown ({_signed(one)}, {describe_p(one)})"
    return {"identical": "the same", "undefined": "undefined"}[one.verdict]


def _not_excluded(one: Comparison) -> str:
    """Return what a difference that is shown on documents like these leaves open for others."""
    if "few_replicates" in one.marks:
        return "too few replicates to say what others would show"
    if one.interval_guarded is None:
        return "if others occur, nothing is excluded"
    low, high = one.interval_guarded
    opposite = max(-low if (one.difference or 0.0) > 0.0 else high, 0.0)
    if not format_points(opposite, one.unit).strip("0.,$"):
        return "if others occur, no difference is possible"
    turned = "worse" if one.verdict == "better" else "better"
    return (
        f"if others occur, {turned} by {format_size(opposite, one.unit)}{_other_unit(one.unit)} is possible"
    )


def describe_power(one: Comparison) -> str:
    r"""Return the detectable difference where none was shown, and the documents needed for this one.

    >>> from fieldassay.metrics.result.comparison import Comparison
    >>> found = Comparison("f1", None, {}, ("a", "b"), (0.8, 0.81), 0.01, (-0.01, 0.03), 0.95, 0.4, 0.4, 0.1,
    ...     3, 4, 93, 100, "halves", "no_difference_shown", 0.05, 0.03, 0.09, 840)
    >>> print(describe_power(found).replace(", ", ",\n").replace("; ", ";\n"))
    a difference of 3.0 points,
    made of documents that differ by as much as those here,
    is found in 8 of 10 such samples;
    if whole documents are lost,
    only one of 9.0;
    for one of 1.0 it takes about 840 documents
    """
    if one.verdict != "no_difference_shown" or one.interval is None:
        return ""
    if one.detectable is None:
        return describe_least(one.documents, one.p_needed or 1.0 - one.level)
    parts = [f"a difference of {format_size(one.detectable, one.unit)}, {_FOUND}"]
    whole = format_points(one.detectable_whole or 0.0, one.unit)
    if one.detectable < (one.detectable_whole or 0.0) and whole != format_points(one.detectable, one.unit):
        parts.append(f"if whole documents are lost, only one of {whole}")
    smaller, needed = format_points(one.difference or 0.0, one.unit), one.documents_needed or 0
    if one.documents < needed < _MOST_NEEDED and smaller.strip("0.,"):
        count = format_count(_round_up(needed), "document")
        parts.append(f"for one of {smaller} it takes about {count}")
    return "; ".join(parts)


def describe_power_of_fields(family: Sequence[Comparison]) -> str:
    """Return the detectable differences of the fields without a shown difference; empty if all are shown."""
    open_ = [one for one in family if one.verdict == "no_difference_shown" and one.detectable is not None]
    if not open_:
        return ""
    sizes, unit = sorted(one.detectable or 0.0 for one in open_), open_[0].unit
    span = "" if len(sizes) == 1 else f"{format_points(sizes[0], unit)} to "
    return f"where no difference could be shown, one of {span}{format_size(sizes[-1], unit)}, {_FOUND}"


def describe_metric(one: Comparison, names: Mapping[str, str] | None = None) -> str:
    """Return the metric of a comparison with its field and its slice."""
    metric = clip((names or {}).get(one.metric, one.metric), 80)
    field = f" of {clip(one.field, 40)}" if one.field is not None else ""
    where = "".join(f" where {clip(key, 30)} is {clip(value, 40)}" for key, value in one.slice.items())
    return f"{metric}{field}{where}"


def describe_places(place: Place) -> str:
    """Return the places that a system may have.

    >>> from fieldassay.metrics.result.comparison import Place
    >>> describe_places(Place("a", 0.5, 1, 3)), describe_places(Place("a", 0.5, 2, 2))
    ('1 to 3', '2')
    """
    return str(place.first) if place.first == place.last else f"{place.first} to {place.last}"


def describe_first(ranking: Ranking) -> str:
    """Return the value of the first of a ranking on new documents, and its chance to be first; else empty.

    >>> from fieldassay.metrics.result.comparison import Place, Ranking
    >>> places = (Place("qwen", 0.92, 1, 2, 0.55), Place("llama", 0.9, 1, 2, 0.45))
    >>> describe_first(Ranking("accuracy", places, (), 0.95, 100, on_new_documents=0.884))
    'first: qwen with 92.0%, on new documents about 88.4%; it is first in 55% of resamples of these documents'
    """
    first = ranking.places[0] if ranking.places else None
    if first is None or first.value is None or first.chance_first is None or ranking.on_new_documents is None:
        return ""
    here, there = (format_in_unit(value, ranking.unit) for value in (first.value, ranking.on_new_documents))
    often = f"it is first in {100 * first.chance_first:.0f}% of resamples of these documents"
    return f"first: {clip(first.system, _NAME)} with {here}, on new documents about {there}; {often}"


def describe_p(one: Comparison) -> str:
    """Return the adjusted p value."""
    return format_p(1.0 if one.p_adjusted is None else one.p_adjusted)


def _bounds(one: Comparison, sign: float) -> str:
    if one.interval is None:
        return ""
    low, high = (
        _without_plus(sign * bound, one.unit)
        for bound in sorted(one.interval, key=lambda bound: sign * bound)
    )
    few = ", few documents" if "few_documents" in one.marks else ""
    return f", {format_share(one.level)} CI {low} to {high}{few}"


def _without_plus(value: float, unit: str) -> str:
    return format_signed_points(value, unit).removeprefix("+")


def _signed(one: Comparison) -> str:
    return f"{format_difference(one.difference or 0.0, one.unit)}{_other_unit(one.unit)}"


def _size(one: Comparison) -> str:
    return f"{format_size(one.difference or 0.0, one.unit)}{_other_unit(one.unit)}"


def _other_unit(unit: str) -> str:
    """Return the name of a unit that no metric of the catalogue has."""
    return "" if points_of(unit) or unit == "count" else f" {clip(unit, 30)}"


def _round_up(count: int) -> int:
    """Return a count that comes from an estimate with two significant digits.

    >>> _round_up(15053), _round_up(43)
    (16000, 43)
    """
    unit = int(10 ** max(0, len(str(count)) - 2))
    return -(-count // unit) * unit
