"""Which system to use, by fixed rules over gates, comparisons, time and cost; all systems, the best first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from fieldassay.reports.ranking import Lead, order_systems
from fieldassay.result.estimate import Estimate
from fieldassay.result.headline import by_system, find_main, find_named
from fieldassay.result.result import Result
from fieldassay.wording.numbers import (
    format_cost,
    format_count,
    format_in_unit,
    format_seconds,
    format_size,
)
from fieldassay.wording.sentences import describe_interval, describe_places, join_names
from fieldassay.wording.shown import clip

FEWEST = 20
"""With fewer documents nothing is recommended."""

_NAME, _NAMES = 60, 100


class Standing(Struct, frozen=True):
    """One system among all: its possible places, its gates, and the numbers that decide."""

    system: str
    place: str
    answer: str
    passed: int
    gates: int
    main: Estimate | None
    critical: Estimate | None
    perfect: Estimate | None
    median: Estimate | None
    slow: Estimate | None
    cost: Estimate | None


class Recommendation(Struct, frozen=True):
    """The answer in a sentence, what it rests on, and its tone: `good`, `bad`, `unsure` or `none`.

    `further` are those of the reasons that a table of all systems does not show.
    """

    answer: str
    reasons: tuple[str, ...]
    tone: str
    further: tuple[str, ...] = ()


def list_standings(result: Result, decisions: Sequence[Mapping[str, Any]]) -> tuple[Standing, ...]:
    """Return the systems, the best by the main metric first; those without a value last."""
    main = find_main(result)
    values = {} if main is None else by_system(result, main)
    places = {
        place.system: describe_places(place)
        for ranking in result.rankings
        if main is not None and ranking.metric.partition("(")[0] == main.metric
        for place in ranking.places
    }
    decided = {str(one["system"]): one for one in decisions}
    sign = 1.0 if main is not None and main.better == "lower" else -1.0

    def key(system: str) -> float:
        one = values.get(system)
        return float("inf") if one is None or one.value is None else sign * one.value

    ordered = sorted(result.systems, key=key)
    ranks = {system: str(_rank(system, ordered, key)) for system in ordered}
    return tuple(
        _stand(result, values.get(system), system, places.get(system, ranks[system]), decided.get(system, {}))
        for system in ordered
    )


def _rank(system: str, ordered: Sequence[str], key: Any) -> int:
    """Return the place of a system; equal values share theirs."""
    return 1 + len([other for other in ordered if key(other) < key(system)])


def _stand(
    result: Result, main: Estimate | None, system: str, place: str, decision: Mapping[str, Any]
) -> Standing:
    verdicts = [str(gate["verdict"]) for gate in decision.get("gates", ())]
    names = ("critical_accuracy", "perfect_documents", "latency_p50", "latency_p95", "cost_usd")
    found = [find_named(result, system, (name,)) for name in names]
    critical, perfect, median, slow, cost = (
        one if one is not None and one.value is not None else None for one in found
    )
    return Standing(
        system, place, str(decision.get("answer") or ""),
        verdicts.count("PASS"), len(verdicts) - verdicts.count("SKIPPED"),
        main, critical, perfect, median, slow, cost,
    )  # fmt: skip


def recommend(
    result: Result, decisions: Sequence[Mapping[str, Any]], standings: Sequence[Standing]
) -> Recommendation:
    """Return the recommendation on a result.

    1. One system passes all gates: use it. 2. Several do: use the best of them by the main metric; the
    cheapest and the fastest of those not shown to be worse are named. 3. None does: nothing is recommended,
    and the closest is named. Without gates, or with fewer than `FEWEST` documents, nothing is recommended.
    """
    documents = max((one.main.documents for one in standings if one.main is not None), default=0)
    usable = [one for one in standings if one.answer == "GO"]
    if not standings or standings[0].main is None:
        return Recommendation("There is no number to decide by", (), "none")
    first = standings[0]
    if documents < FEWEST:
        few = f"{format_count(documents, 'document')}: too few to recommend a system"
        return Recommendation(few, _facts(result, first, standings), "none")
    if not decisions:
        return Recommendation(_describe_first(standings), _facts(result, first, standings), "none")
    if usable:
        return _use(result, usable, standings)
    if len(standings) == 1:
        answer = (
            "is not decided by its gates" if first.answer == "INCONCLUSIVE" else "does not pass its gates"
        )
        told = f"{clip(first.system, _NAME)} {answer}"
    else:
        told = "No system passes all gates"
    closest = max(standings, key=lambda one: one.passed)
    tone = "unsure" if any(one.answer == "INCONCLUSIVE" for one in standings) else "bad"
    gap = (_describe_gap(closest, decisions),)
    return Recommendation(told, (*gap, *_facts(result, first, standings)), tone, gap)


def _use(result: Result, usable: Sequence[Standing], standings: Sequence[Standing]) -> Recommendation:
    first = usable[0]
    name = clip(first.system, _NAME)
    gates = format_count(first.gates, "gate")
    if len(standings) == 1:
        why = f"{name} passes all of its {gates}" if first.gates > 1 else f"{name} passes its gate"
    elif len(usable) == 1:
        why = f"Use {name}: it alone passes all gates ({first.gates})"
    else:
        others = _name_others(usable[1:])
        pass_ = "passes" if len(usable) == 2 else "pass"
        why = f"Use {name}: it is the best of those that pass all gates ({others} {pass_} them too)"
    cheaper = _cheaper(result, first, usable)
    return Recommendation(why, (*_facts(result, first, standings), *cheaper), "good", cheaper)


def _name_others(usable: Sequence[Standing]) -> str:
    """Return the names of systems, or how many they are where their names would be longer than the answer."""
    names = join_names([clip(one.system, _NAME) for one in usable])
    return names if len(names) <= _NAMES or len(usable) == 1 else f"{len(usable)} others"


def _describe_first(standings: Sequence[Standing]) -> str:
    first = standings[0]
    assert first.main is not None
    metric = first.main.metric.replace("_", " ")
    value = format_in_unit(first.main.value, first.main.unit)
    if len(standings) == 1:
        return f"{clip(first.system, _NAME)} has {value} {metric}; it has no gates, so nothing is decided"
    word = "lowest" if first.main.better == "lower" else "highest"
    return f"{clip(first.system, _NAME)} has the {word} {metric}; there are no gates, so nothing is decided"


def _facts(result: Result, one: Standing, standings: Sequence[Standing]) -> tuple[str, ...]:
    """Return the value of a system, and how far it is from the next one, in accuracy, time and cost."""
    if one.main is None:
        return ()
    sure = describe_interval(one.main.interval, one.main.level, one.main.unit)
    value = format_in_unit(one.main.value, one.main.unit)
    whose = f"{clip(one.system, _NAME)} has " if len(standings) > 1 else ""
    told = f"{whose}{value} {one.main.metric.replace('_', ' ')}{f' ({sure})' if sure else ''}"
    rival = next((other for other in standings if other.system != one.system), None)
    lead = "" if rival is None else _describe_lead(result, one, rival)
    return (f"{told}{f', {lead}' if lead else ''}", *_describe_price(one, rival))


def _describe_lead(result: Result, one: Standing, rival: Standing) -> str:
    if one.main is None or rival.main is None or one.main.value is None or rival.main.value is None:
        return ""
    certainty = _lead(result, one, rival).certainty
    name = clip(rival.system, _NAME)
    if one.main.value == rival.main.value:
        return f"as {name} has"
    is_ahead = (one.main.value > rival.main.value) == (one.main.better != "lower")
    size = format_size(one.main.value - rival.main.value, one.main.unit)
    said = {"beyond_chance": ", beyond chance", "may_be_chance": ", which may be chance", "unknown": ""}
    return f"{size} {'ahead of' if is_ahead else 'behind'} {name}{said[certainty]}"


def _lead(result: Result, one: Standing, rival: Standing) -> Lead:
    estimates = {part.system: part.main for part in (one, rival) if part.main is not None}
    order = order_systems(result, estimates)
    return order.leads[0] if order is not None else Lead(rival.system, 0.0, "unknown")


def _describe_price(one: Standing, rival: Standing | None) -> tuple[str, ...]:
    told = []
    for what, read, form in _PRICES:
        own, other = read(one), None if rival is None else read(rival)
        beside = "" if rival is None or other is None else f", {clip(rival.system, _NAME)} {form(other)}"
        if own is not None:
            told.append(f"{what} {form(own)}{beside}")
    return tuple(told)


def _cheaper(result: Result, first: Standing, usable: Sequence[Standing]) -> tuple[str, ...]:
    """Return the fastest and the cheapest of the usable systems that are not shown to be worse."""
    equal = [one for one in usable[1:] if _lead(result, first, one).certainty == "may_be_chance"]
    told = []
    for (_, read, form), word in zip(_PRICES, ("faster", "cheaper"), strict=True):
        known = {one.system: value for one in equal if (value := read(one)) is not None}
        own = read(first)
        best = min(known, key=lambda system: known[system], default=None)
        if best is not None and own is not None and known[best] < own:
            name = clip(best, _NAME)
            told.append(
                f"{name} is not shown to be worse, and {word}: {form(known[best])} against {form(own)}"
            )
    return tuple(told)


def _median(one: Standing) -> float | None:
    return None if one.median is None else one.median.value


def _cost(one: Standing) -> float | None:
    return None if one.cost is None else one.cost.value


_PRICES: tuple[tuple[str, Callable[[Standing], float | None], Callable[[float], str]], ...] = (
    ("Median time of a document", _median, format_seconds),
    ("Cost of 1,000 documents", _cost, format_cost),
)


def _describe_gap(closest: Standing, decisions: Sequence[Mapping[str, Any]]) -> str:
    """Return how many gates the closest system passes, and the first one that it fails."""
    decision = next(one for one in decisions if one["system"] == closest.system)
    reasons = [str(reason) for reason in decision.get("reasons", ())]
    passed = f"{clip(closest.system, _NAME)} passes {closest.passed} of {format_count(closest.gates, 'gate')}"
    more = f", and {len(reasons) - 1} more" if len(reasons) > 1 else ""
    return f"Closest: {passed}; {clip(reasons[0], 160)}{more}" if reasons else f"Closest: {passed}"
