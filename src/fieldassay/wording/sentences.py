"""Sentences about numbers: a value with its interval, and the comparison of two systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fieldassay.stats.power import documents_needed
from fieldassay.wording.numbers import (
    format_bounds,
    format_count,
    format_difference,
    format_in_unit,
    format_p,
    format_points,
    format_share,
    format_signed_points,
    format_size,
    points_of,
)
from fieldassay.wording.shown import clip

if TYPE_CHECKING:
    from fieldassay.result.comparison import Comparison, Place, Ranking
    from fieldassay.result.estimate import Estimate

_NAME = 60
_MOST_NEEDED = 10_000_000


def describe_estimate(estimate: Estimate) -> str:
    """Return a value with its interval, or with its n where it has none.

    >>> from fieldassay.result.estimate import Estimate
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

    >>> from fieldassay.result.comparison import Comparison
    >>> describe_comparison(Comparison("accuracy", None, {}, ("llama", "qwen"), (0.8, 0.861), 0.061,
    ...     (0.02, 0.104), 0.95, 0.004, 0.004, 0.4, 20, 9, 71, 100, "sign_flip", "better"))
    'qwen is better than llama by 6.1 points of accuracy (95% CI 2.0 to 10.4, p = .004)'
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
        detail = f"{_signed(one)}{_bounds(one, 1.0)}, {describe_p(one)}, n = {one.documents:,}{_doubt(one)}"
        return f"no difference could be shown between {first} and {second} in {metric} ({detail})"
    bounds = _bounds(one, 1.0 if one.difference > 0 else -1.0).removeprefix(", ")
    detail = f"{bounds}, {describe_p(one)}" if bounds else f"{describe_p(one)}, n = {one.documents:,}"
    return f"{second} is {one.verdict} than {first} by {_size(one)} of {metric} ({detail})"


def describe_shortly(one: Comparison) -> str:
    """Return the verdict on the second system for a cell of a table.

    >>> from fieldassay.result.comparison import Comparison
    >>> describe_shortly(Comparison("f1", None, {}, ("a", "b"), (0.8, 0.7), -0.1, None, 0.95, 0.0001, 0.0002,
    ...     1.0, 0, 9, 1, 10, "exchange", "worse"))
    'worse by 10.0 points (p < .001)'
    """
    if one.verdict in ("better", "worse"):
        return f"{one.verdict} by {_size(one)} ({describe_p(one)})"
    if one.verdict == "no_difference_shown":
        return f"no difference shown ({_signed(one)}, {describe_p(one)}{_doubt(one)})"
    return {"identical": "the same", "undefined": "undefined"}[one.verdict]


def _doubt(one: Comparison) -> str:
    """Return why a difference is not shown although its p value is small: its interval has 0 in it."""
    is_small = one.p_adjusted is not None and one.p_adjusted <= 1.0 - one.level + 1e-12
    return "; the interval includes 0" if is_small and one.difference else ""


def describe_power(one: Comparison) -> str:
    r"""Return the detectable difference where none was shown, and the documents needed for this one.

    >>> from fieldassay.result.comparison import Comparison
    >>> interval = (-0.01, 0.03)
    >>> print(describe_power(Comparison("f1", None, {}, ("a", "b"), (0.8, 0.81), 0.01, interval, 0.95, 0.4,
    ...     0.4, 0.1, 3, 2, 5, 100, "exchange", "no_difference_shown", 0.03)).replace("; ", ";\n"))
    a difference of 3.0 points would have been found with probability 0.8;
    for one of 1.0 it takes about 900 documents
    """
    if one.verdict != "no_difference_shown" or one.detectable is None:
        return ""
    found = (
        f"a difference of {format_size(one.detectable, one.unit)} would have been found with probability 0.8"
    )
    smaller = format_points(one.difference or 0.0, one.unit)
    needed = documents_needed(one.documents, one.detectable, one.difference or 0.0) or 0
    if not one.documents < needed < _MOST_NEEDED or not smaller.strip("0.,"):
        return found
    return f"{found}; for one of {smaller} it takes about {format_count(_round_up(needed), 'document')}"


def describe_power_of_fields(family: Sequence[Comparison]) -> str:
    """Return the detectable differences of the fields without a shown difference; empty if all are shown."""
    open_ = [one for one in family if one.verdict == "no_difference_shown" and one.detectable is not None]
    if not open_:
        return ""
    sizes, unit = sorted(one.detectable or 0.0 for one in open_), open_[0].unit
    span = "" if len(sizes) == 1 else f"{format_points(sizes[0], unit)} to "
    return (
        f"where no difference could be shown, one of {span}{format_size(sizes[-1], unit)} "
        "would have been found with probability 0.8"
    )


def describe_metric(one: Comparison, names: Mapping[str, str] | None = None) -> str:
    """Return the metric of a comparison with its field and its slice."""
    metric = clip((names or {}).get(one.metric, one.metric), 80)
    field = f" of {clip(one.field, 40)}" if one.field is not None else ""
    where = "".join(f" where {clip(key, 30)} is {clip(value, 40)}" for key, value in one.slice.items())
    return f"{metric}{field}{where}"


def describe_places(place: Place) -> str:
    """Return the places that a system may have.

    >>> from fieldassay.result.comparison import Place
    >>> describe_places(Place("a", 0.5, 1, 3)), describe_places(Place("a", 0.5, 2, 2))
    ('1 to 3', '2')
    """
    return str(place.first) if place.first == place.last else f"{place.first} to {place.last}"


def describe_first(ranking: Ranking) -> str:
    """Return the value of the first of a ranking on new documents, and its chance to be first; else empty.

    >>> from fieldassay.result.comparison import Place, Ranking
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


def join_names(names: Sequence[str], most: int = 4) -> str:
    """Return names as a list in a sentence.

    >>> join_names(["a"]), join_names(["a", "b", "c"]), join_names(list("abcdefg"))
    ('a', 'a, b and c', 'a, b, c, d and 3 more')
    """
    shown = list(names[:most]) + ([f"{len(names) - most} more"] if len(names) > most else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


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
