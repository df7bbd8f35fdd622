"""The best system by a metric, and whether its difference to the others is more than chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Literal, TypeAlias

from msgspec import Struct

from fieldassay.io.text.shown import clip, format_count, join_names
from fieldassay.metrics.estimate import Estimate, format_in_unit, format_p, format_size, format_value
from fieldassay.metrics.result.comparison import Comparison, Place, Ranking
from fieldassay.metrics.result.result import Result
from fieldassay.reports.wording.sentences import describe_places

Certainty: TypeAlias = Literal["beyond_chance", "may_be_chance", "unknown"]

FAILURES = ("missing", "invalid", "error", "timeout")
"""The counts of answers that failed."""

LONGEST_NAME, _MOST = 32, 3
"""The most characters of a name, and the most systems that a sentence names beside the best one."""


class Lead(Struct, frozen=True):
    """The best system compared with one other: its value, significance, and p value (None: no test).

    `is_guarded`: the difference is shown for documents of an unseen kind, too.
    """

    other: str
    value: float
    certainty: Certainty
    p: float | None = None
    is_guarded: bool = False

    @property
    def is_shown(self) -> bool:
        """Return whether a difference is shown."""
        return self.certainty == "beyond_chance"


class Order(Struct, frozen=True):
    """The best system, its value, and its leads over the others, the best of these first.

    Values are in percent if `unit` is.
    """

    first: str
    value: float
    leads: tuple[Lead, ...]
    unit: str = "ratio"
    documents: int = 0


def order_systems(
    result: Result, found: Mapping[str, Estimate], slice_: Mapping[str, str] | None = None
) -> Order | None:
    """Return the order of systems by one metric's estimates, over all documents or one slice.

    Systems that never answered are left out. None unless at least two are defined. Significance is taken
    from the result's comparisons and rankings; nothing is tested here.
    """
    silent = list_silent(result)
    known = [one for one in found.values() if one.value is not None and one.system not in silent]
    if len(known) < 2:
        return None
    sign = -1.0 if known[0].better == "lower" else 1.0
    ordered = sorted(known, key=lambda estimate: -sign * float(estimate.value or 0.0))
    first, others = ordered[0], ordered[1:]
    leads = tuple(_lead(result, first, other, dict(slice_ or {})) for other in others)
    return Order(
        first.system,
        float(first.value or 0.0),
        leads,
        first.unit,
        max(estimate.documents for estimate in ordered),
    )


def _lead(result: Result, first: Estimate, other: Estimate, slice_: dict[str, str]) -> Lead:
    value = float(other.value or 0.0)
    for ranking in result.rankings if not slice_ else ():
        pair = next((one for one in ranking.pairs if set(one.systems) == {first.system, other.system}), None)
        if _is_of(ranking, first) and pair is not None:
            certainty: Certainty = "beyond_chance" if pair.is_shown else "may_be_chance"
            return Lead(other.system, value, certainty, pair.p_adjusted, pair.is_guarded)
    for one in result.comparisons:
        if (
            one.field is None
            and dict(one.slice) == slice_
            and set(one.systems) == {first.system, other.system}
            and _is_of(one, first)
        ):
            return Lead(
                other.system,
                value,
                "beyond_chance" if one.is_shown else "may_be_chance",
                one.p_adjusted,
                one.is_guarded,
            )
    return Lead(other.system, value, "unknown")


def list_silent(result: Result) -> tuple[str, ...]:
    """Return the systems whose answer is missing or unusable in every document."""
    counted = result.counts.get("systems")
    counts = counted if isinstance(counted, Mapping) else {}
    documents = result.counts.get("documents")
    runs = {one.system: one.runs for one in result.repeats}
    return tuple(
        system
        for system in result.systems
        if documents
        and sum(int(counts.get(system, {}).get(name) or 0) for name in FAILURES)
        >= int(documents) * runs.get(system, 1)
    )


def list_places(result: Result, systems: Sequence[str], found: Mapping[str, Estimate]) -> dict[str, str]:
    """Return the places that systems may have by one metric's estimates: apart where a difference is shown.

    Where nothing was tested they are those of the values; systems without a value come last.
    """
    known = [one for one in found.values() if one.value is not None]
    ranking = next((one for one in result.rankings if known and _is_of(one, known[0])), None)
    if ranking is not None:
        return {place.system: describe_places(place) for place in ranking.places}
    first = {one: 1 if one in {each.system for each in known} else 1 + len(known) for one in systems}
    last = {one: len(known) if first[one] == 1 else len(systems) for one in systems}
    for better, worse in permutations(known, 2):
        certainty = _lead(result, better, worse, {}).certainty
        if certainty != "may_be_chance" and _is_ahead(better, worse):
            first[worse.system] += 1
            last[better.system] -= 1
    return {one: describe_places(Place(one, None, first[one], last[one])) for one in systems}


def _is_ahead(one: Estimate, other: Estimate) -> bool:
    """Return whether a value is better, and is shown as another."""
    sign = -1.0 if one.better == "lower" else 1.0
    is_better = sign * float(one.value or 0.0) > sign * float(other.value or 0.0)
    return is_better and format_value(one) != format_value(other)


def _is_of(compared: Comparison | Ranking, metric: Estimate) -> bool:
    """Return whether systems were compared by the metric; the name may come with parameters."""
    return compared.metric == metric.metric or compared.metric.startswith(f"{metric.metric}(")


def describe_order(order: Order) -> str:
    """Return the order as a sentence; `better` is only for significant differences to all others.

    Of differences that are not guarded it says that they are those on documents like these.

    >>> describe_order(Order("a", 0.9, (Lead("b", 0.7, "beyond_chance", 0.004, is_guarded=True),)))
    'a is highest with 90.0% and better than b by 20.0 points (p = .004)'
    >>> describe_order(Order("a", 0.9, (Lead("b", 0.7, "unknown"),)))
    'a is highest with 90.0% (b 70.0%); the difference was not tested'
    """
    level = [lead.other for lead in order.leads if lead.value == order.value]
    top, shown = clip(order.first, LONGEST_NAME), format_in_unit(order.value, order.unit)
    if level:
        return f"{join_names([top, *(clip(name, LONGEST_NAME) for name in level)])} are equal with {shown}"
    if all(lead.is_shown for lead in order.leads):
        firm, like_these = _sizes(order, is_guarded=True), _sizes(order, is_guarded=False)
        than = [firm] if firm else []
        if like_these:
            than.append(f"{like_these} on documents like these, but perhaps not on others")
        return f"{top} is highest with {shown} and better than {', and than '.join(than)}"
    others = _join(
        [f"{clip(lead.other, LONGEST_NAME)} {format_in_unit(lead.value, order.unit)}" for lead in order.leads]
    )
    return f"{top} is highest with {shown} ({others}); {_doubt(order)}"


def _sizes(order: Order, *, is_guarded: bool) -> str:
    """Return by how much the first system leads others, guarded or not; empty if there are none."""
    leads = [lead for lead in order.leads if lead.is_guarded == is_guarded]
    sizes = [format_size(order.value - lead.value, order.unit) for lead in leads]
    return _join(
        [
            f"{clip(lead.other, LONGEST_NAME)} by {size}{_p(lead)}"
            for lead, size in zip(leads, sizes, strict=True)
        ]
    )


def _join(parts: Sequence[str]) -> str:
    """Return the first parts, and how many more there are: the table of systems has them all."""
    more = [f"{len(parts) - _MOST} more"] if len(parts) > _MOST else []
    return ", ".join([*parts[:_MOST], *more])


def _p(lead: Lead) -> str:
    return "" if lead.p is None else f" ({format_p(lead.p)})"


def _doubt(order: Order) -> str:
    open_ = [
        f"{clip(lead.other, LONGEST_NAME)}{_p(lead)}"
        for lead in order.leads
        if lead.certainty == "may_be_chance"
    ]
    if not open_:
        return "the difference was not tested"
    return f"no difference could be shown to {_join(open_)} in {format_count(order.documents, 'document')}"
