"""What to do: rankings, findings, and one recommendation."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.decisions.losses import Loss, mean_share, read_shares
from fieldassay.io.text.shown import clip, format_count, join_names
from fieldassay.metrics.estimate import (
    HIGHEST,
    Estimate,
    format_cost,
    format_in_unit,
    format_p,
    format_seconds,
    format_size,
    format_value,
)
from fieldassay.metrics.result.result import Result, by_system, find_main, find_named
from fieldassay.metrics.result.verdicts import (
    Comparison,
    Decision,
    GateAnswer,
    Ranking,
    RankPlace,
    Verdict,
    name_changes,
)
from fieldassay.reports.wording import (
    CAUSES,
    DIAGNOSES,
    PROBLEMS,
    describe,
    describe_interval,
    describe_places,
    describe_power,
    name_metric,
)

# The best system by a metric, and whether its difference to the others is more than chance.

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
    result: Result, estimates: Mapping[str, Estimate], slice_: Mapping[str, str] | None = None
) -> Order | None:
    """Return the order of systems by one metric's estimates, over all documents or one slice.

    Systems that never answered are left out. None unless at least two are defined. Significance is taken
    from the result's comparisons and rankings; nothing is tested here.
    """
    silent = list_silent(result)
    defined = [
        estimate
        for estimate in estimates.values()
        if estimate.value is not None and estimate.system not in silent
    ]
    if len(defined) < 2:
        return None
    sign = -1.0 if defined[0].better == "lower" else 1.0
    ordered = sorted(defined, key=lambda estimate: -sign * float(estimate.value or 0.0))
    first, others = ordered[0], ordered[1:]
    leads = tuple(_find_lead(result, first, other, dict(slice_ or {})) for other in others)
    return Order(
        first.system,
        float(first.value or 0.0),
        leads,
        first.unit,
        max(estimate.documents for estimate in ordered),
    )


def _find_lead(result: Result, first: Estimate, other: Estimate, slice_: dict[str, str]) -> Lead:
    value = float(other.value or 0.0)
    for ranking in result.rankings if not slice_ else ():
        pair = next(
            (
                candidate
                for candidate in ranking.pairs
                if set(candidate.systems) == {first.system, other.system}
            ),
            None,
        )
        if is_compared_by(ranking, first) and pair is not None:
            certainty: Certainty = "beyond_chance" if pair.is_shown else "may_be_chance"
            return Lead(other.system, value, certainty, pair.p_adjusted, pair.is_guarded)
    for comparison in result.comparisons:
        if (
            comparison.field is None
            and dict(comparison.slice) == slice_
            and set(comparison.systems) == {first.system, other.system}
            and is_compared_by(comparison, first)
        ):
            return Lead(
                other.system,
                value,
                "beyond_chance" if comparison.is_shown else "may_be_chance",
                comparison.p_adjusted,
                comparison.is_guarded,
            )
    return Lead(other.system, value, "unknown")


def list_silent(result: Result) -> tuple[str, ...]:
    """Return the systems whose answer is missing or unusable in every document."""
    counted = result.counts.get("systems")
    counts = counted if isinstance(counted, Mapping) else {}
    documents = result.counts.get("documents")
    runs = {repeats.system: repeats.runs for repeats in result.repeats}
    return tuple(
        system
        for system in result.systems
        if documents
        and sum(int(counts.get(system, {}).get(name) or 0) for name in FAILURES)
        >= int(documents) * runs.get(system, 1)
    )


def drop_silent(result: Result, comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons of a result between systems that answered."""
    silent = {*list_silent(result)}
    return [comparison for comparison in comparisons if not silent & {*comparison.systems}]


def list_places(result: Result, systems: Sequence[str], estimates: Mapping[str, Estimate]) -> dict[str, str]:
    """Return the places that systems may have by one metric's estimates: apart where a difference is shown.

    Where nothing was tested they are those of the values; systems without a value come last.
    """
    defined = [estimate for estimate in estimates.values() if estimate.value is not None]
    ranking = next(
        (candidate for candidate in result.rankings if defined and is_compared_by(candidate, defined[0])),
        None,
    )
    if ranking is not None:
        return {place.system: describe_places(place) for place in ranking.places}
    first = {
        system: 1 if system in {each.system for each in defined} else 1 + len(defined) for system in systems
    }
    last = {system: len(defined) if first[system] == 1 else len(systems) for system in systems}
    for better, worse in permutations(defined, 2):
        certainty = _find_lead(result, better, worse, {}).certainty
        if certainty != "may_be_chance" and _is_ahead(better, worse):
            first[worse.system] += 1
            last[better.system] -= 1
    return {
        system: describe_places(RankPlace(system, None, first[system], last[system])) for system in systems
    }


def _is_ahead(estimate: Estimate, other: Estimate) -> bool:
    """Return whether a value is better, and is shown as another."""
    sign = -1.0 if estimate.better == "lower" else 1.0
    is_better = sign * float(estimate.value or 0.0) > sign * float(other.value or 0.0)
    return is_better and format_value(estimate) != format_value(other)


def is_compared_by(compared: Comparison | Ranking, metric: Estimate) -> bool:
    """Return whether systems were compared by the metric; the name may come with parameters."""
    return compared.metric == metric.metric or compared.metric.startswith(f"{metric.metric}(")


def describe_order(order: Order) -> str:
    """Return the order as a sentence; `better` is only for significant differences to all others.

    Of differences that are not guarded it says that they are those on documents like these.

    >>> describe_order(Order("a", 0.9, (Lead("b", 0.7, "beyond_chance", 0.004, is_guarded=True),)))
    'a is best with 90.0%, ahead of b by 20.0 points (p = .004)'
    >>> describe_order(Order("a", 0.9, (Lead("b", 0.7, "unknown"),)))
    'a has 90.0%, b 70.0%; the difference was not tested'
    """
    level = [lead.other for lead in order.leads if lead.value == order.value]
    top, shown = clip(order.first, LONGEST_NAME), format_in_unit(order.value, order.unit)
    if level:
        return f"{join_names([top, *(clip(name, LONGEST_NAME) for name in level)])} are equal with {shown}"
    if all(lead.is_shown for lead in order.leads):
        firm, like_these = _sizes(order, is_guarded=True), _sizes(order, is_guarded=False)
        than = [firm] if firm else []
        if like_these:
            than.append(f"{like_these} on documents like these")
        return f"{top} is best with {shown}, ahead of {', and of '.join(than)}"
    values = [format_in_unit(lead.value, order.unit) for lead in order.leads]
    if len(values) > _MOST:
        others = f"the {len(values)} others {values[0]} to {values[-1]}"
    else:
        others = ", ".join(
            f"{clip(lead.other, LONGEST_NAME)} {value}"
            for lead, value in zip(order.leads, values, strict=True)
        )
    return f"{top} has {shown}, {others}; {_doubt(order)}"


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
    whom = "any of them" if len(open_) == len(order.leads) > _MOST else _join(open_)
    return f"no clear difference from {whom} with {format_count(order.documents, 'document')}"


# What differs between systems, overall and in which fields: the first sentence of every report.


def compare_in_words(result: Result, order: Order | None) -> str:
    """Return how systems differ by the main metric and in which fields, in a sentence; empty for one system.

    Two systems are compared from the first, the reference, to the second. Of more systems it names the fields
    that go against the whole: those of the same direction are in the table of fields.
    """
    if order is None:
        return ""
    main, of_fields = find_main(result), drop_silent(result, result.field_comparisons)
    overall = {
        comparison.systems: comparison
        for comparison in result.comparisons
        if main is not None
        and is_compared_by(comparison, main)
        and comparison.field is None
        and not comparison.slice
    }
    pair = next(iter(overall.values()), None)
    if pair is None or pair.difference is None or len(result.systems) > 2:
        against = [
            comparison
            for comparison in of_fields
            if comparison.systems in overall and comparison.verdict != overall[comparison.systems].verdict
        ]
        sentences = describe_field_changes(against, 1)
        if not sentences:
            return describe_order(order)
        if len(sentences) > _MOST:
            counts = Counter(
                (comparison.verdict, comparison.field or "") for comparison in against if comparison.is_shown
            )
            sentences = [
                " and ".join(
                    f"{format_count(count, 'system')} {'is' if count == 1 else 'are'} {verdict} in "
                    f"{clip(field)}"
                    for (verdict, field), count in counts.most_common(2)
                )
            ]
        return (
            f"{describe_order(order)}. Compared with {clip(against[0].systems[0], LONGEST_NAME)}, "
            f"{'; '.join(sentences)}"
        )
    first, second = (clip(name, LONGEST_NAME) for name in pair.systems)
    change = " → ".join(format_in_unit(value or 0.0, pair.unit) for value in pair.values)
    change += "" if pair.p_adjusted is None else f", {format_p(pair.p_adjusted)}"
    sentences = describe_field_changes(of_fields)
    if not pair.is_shown:
        none = ", nor in any field" if of_fields else ""
        fields = f", but {sentences[0]}" if sentences else none
        power = describe_power(pair)
        power = f". {power[0].upper()}{power[1:]}" if power else ""
        return f"No clear difference between {first} and {second} overall ({change}){fields}{power}"
    is_mixed = any(comparison.is_shown and comparison.verdict != pair.verdict for comparison in of_fields)
    fields = f"{', but' if is_mixed else ';'} {sentences[0]}" if sentences else ""
    return f"{second} is {pair.verdict} than {first} overall ({change}){_scope([pair])}{fields}"


def describe_field_changes(changes: Sequence[Comparison], most: int = _MOST) -> list[str]:
    """Return for each system with shown changes in which fields it is worse and better than the reference.

    >>> test = (0.95, 0.001, 0.003, 0.4, 2, 15, 43, 60, "halves", "worse")
    >>> lost = Comparison("field_accuracy", "total", {}, ("a", "b"), (0.9, 0.7), -0.2, None, *test)
    >>> describe_field_changes([replace(lost, interval_guarded=(-0.4, -0.1))])
    ['b is worse in total (−20.0 points, p = .003)']
    """
    shown: dict[str, dict[str, list[Comparison]]] = {}
    for comparison in sorted(changes, key=lambda comparison: -abs(comparison.difference or 0.0)):
        if comparison.is_shown:
            shown.setdefault(comparison.systems[1], {"worse": [], "better": []})[comparison.verdict].append(
                comparison
            )
    sentences = []
    for system, own in shown.items():
        said = " and ".join(
            f"{verdict} in {name_changes(comparisons, most)}"
            for verdict, comparisons in own.items()
            if comparisons
        )
        sentences.append(f"{clip(system, LONGEST_NAME)} is {said}{_scope([*own['worse'], *own['better']])}")
    return sentences


def _scope(changes: Sequence[Comparison]) -> str:
    """Return the reservation where a shown difference may not be one on documents of an unseen kind."""
    return (
        ""
        if all(comparison.is_guarded for comparison in changes if comparison.is_shown)
        else " on documents like these"
    )


# Findings of a report in words, computed from numbers by fixed rules: no claim without its interval. 1. A
# system leads another only if their comparison is `better` or `worse`, after correction for all comparisons
# made. 2. Otherwise there is no significant difference, and the sentence gives the detectable one. 3. Every
# value comes with its interval, or with its n where it has none. 4. A loss is the largest possible cost of
# a kind of error, with its interval.

_NAME = 60


ALL_VALUES = "accuracy over all values"
"""The name of what losses are points of, where the systems are ranked by another number."""


def is_of_all_values(estimate: Estimate) -> bool:
    """Return whether an estimate is the accuracy of which losses are points: of a whole system, by values."""
    kind = (estimate.metric, estimate.field, estimate.regime, estimate.granularity)
    return kind == ("accuracy", None, "filled", "leaf") and not (estimate.slice or estimate.parameters)


def name_lost(result: Result) -> str:
    """Return what losses are points of: the main metric, where that is the mean score of documents."""
    main, documents = find_main(result), result.documents
    if main is None or main.value is None or documents is None:
        return "accuracy"
    if result.run.get("score") is None:
        return "accuracy" if is_of_all_values(main) else ALL_VALUES
    if main.unit not in HIGHEST:
        return "accuracy"
    shares = read_shares(result)
    own = shares.filter(shares["system"] == main.system)
    mean = mean_share(own) if len(own) else math.nan
    is_mean = math.isclose(mean, main.value / HIGHEST[main.unit], abs_tol=1e-6)
    return name_metric(main.metric, result.run) + ("" if is_mean else " of single documents")


def describe_loss(loss: Loss, of: str = "accuracy") -> str:
    """Return the cost of one kind of error, as a sentence; `of` is the name of what it is points of.

    >>> describe_loss(Loss("a", "total", "separator", 0.023, (0.016, 0.031), 41, 40, 72, "d1", "1", "2"))
    'total: the decimal point moved (41 values). It costs 2.3 points of accuracy (95% CI 1.6 to 3.1).'
    """
    cost = describe_cost(loss, of)
    return f"{clip(loss.field, _NAME)}: {cost}" if loss.field else cost


def describe_cost(loss: Loss, of: str = "accuracy") -> str:
    """Return one kind of error with its frequency and its cost, without the name of the field."""
    sure = describe_interval(loss.interval, 0.95)
    what = f"costs {format_size(loss.points)} of {of}{f' ({sure})' if sure else ''}"
    return f"{describe_cause(loss)}. It {what}."


def describe_loss_shortly(loss: Loss) -> str:
    """Return the cause of a loss with its field, and no number but how often."""
    return f"{clip(loss.field, 2 * _NAME)}: {describe_cause(loss)}" if loss.field else describe_cause(loss)


def describe_cause(loss: Loss) -> str:
    """Return the error and its frequency, without the name of the field.

    >>> describe_cause(Loss("a", "", "answer_unreadable", 0.36, None, 144, 36, 100, "d1", "1", None, 36))
    '36 of 100 answers are unreadable'
    >>> describe_cause(Loss("a", "lines[]", "item_missing", 0.1, None, 8, 3, 100, "d1", "1", None, 4))
    '4 items are missing'
    """
    if loss.diagnosis in CAUSES and not loss.mend:
        noun, singular, plural = CAUSES[loss.diagnosis]
        if noun == "answer":
            of = f"{loss.count:,} of {format_count(loss.of, noun)} {singular if loss.count == 1 else plural}"
            kinds = ", ".join(f"{count:,} {PROBLEMS[kind][count > 1]}" for kind, count in loss.kinds)
            return f"{of} ({kinds})" if len(loss.kinds) > 1 else of
        return f"{format_count(loss.count, noun)} {singular if loss.count == 1 else plural}"
    what = (
        "close enough to be accepted" if loss.diagnosis == "accepted" else describe(DIAGNOSES, loss.diagnosis)
    )
    if loss.mend:
        what = f"the spec may need {loss.mend}"
    return f"{what} ({format_count(loss.values, 'value')})"


# Which system to use, by fixed rules over gates, comparisons, cost and time; all systems, the best first.

FEWEST = 20
"""With fewer documents nothing is recommended."""

_NAMES = 100

_MOST_COUNTS = 6


class Standing(Struct, frozen=True):
    """One system among all: its possible places, its gates, and the numbers that decide."""

    system: str
    place: str
    answer: GateAnswer | None
    passed: int
    gates: int
    main: Estimate | None
    critical: Estimate | None
    perfect: Estimate | None
    median: Estimate | None
    cost: Estimate | None


class Recommendation(Struct, frozen=True):
    """The answer in a sentence, what it rests on, and its tone: `good`, `bad`, `unsure` or `none`.

    `systems` are those to use, the best first; none where nothing is recommended. `comparison` says how the
    systems differ, overall and field by field; empty for a single one.
    """

    answer: str
    reasons: tuple[str, ...]
    tone: str
    systems: tuple[str, ...] = ()
    comparison: str = ""


def describe_counts(standings: Sequence[Standing]) -> str:
    """Return the documents behind times and costs in the order of the systems; empty if all have all.

    Those of systems with failures stand on other documents, and cannot be compared as they are.
    """
    documents = max(
        (standing.main.documents for standing in standings if standing.main is not None), default=0
    )
    columns = {
        "time": [standing.median for standing in standings],
        "cost": [standing.cost for standing in standings],
    }
    parts = []
    for name, estimates in columns.items():
        counts = [estimate.documents for estimate in estimates if estimate is not None]
        if any(count != documents for count in counts):
            listed = ", ".join(f"{count:,}" for count in counts)
            few = len(counts) <= _MOST_COUNTS
            parts.append(f"with a {name}: {listed if few else f'{min(counts):,} to {max(counts):,}'}")
    return f"documents {'; '.join(parts)}" if parts else ""


def list_standings(result: Result, decisions: Sequence[Decision]) -> tuple[Standing, ...]:
    """Return the systems, the best by the main metric first; those without a value last.

    Of systems with the same value the cheaper comes first, of equally expensive ones the faster.
    """
    main = find_main(result)
    values = {} if main is None else by_system(result, main)
    places = list_places(result, result.systems, values)
    decided = {decision.system: decision for decision in decisions}
    sign = 1.0 if main is not None and main.better == "lower" else -1.0
    ranked = [
        _stand(result, values.get(system), system, places[system], decided.get(system, Decision(system, ())))
        for system in result.systems
    ]

    def key(standing: Standing) -> tuple[float, float, float]:
        value = None if standing.main is None else standing.main.value
        prices = [price.read(standing) for price in _PRICES]
        cost, time = (float("inf") if price is None else price for price in prices)
        return float("inf") if value is None else sign * value, cost, time

    return tuple(sorted(ranked, key=key))


def _stand(result: Result, main: Estimate | None, system: str, place: str, decision: Decision) -> Standing:
    verdicts = [outcome.verdict for outcome in decision.outcomes]
    names = ("critical_accuracy", "perfect_documents", "latency_p50", "cost_usd")
    estimates = [find_named(result, system, (name,)) for name in names]
    critical, perfect, median, cost = (
        estimate if estimate is not None and estimate.value is not None else None for estimate in estimates
    )
    return Standing(
        system, place, decision.answer if verdicts else None,
        verdicts.count(Verdict.PASS), len(verdicts) - verdicts.count(Verdict.SKIPPED),
        main, critical, perfect, median, cost,
    )  # fmt: skip


def recommend(result: Result, decisions: Sequence[Decision], standings: Sequence[Standing]) -> Recommendation:
    """Return the recommendation on a result, with how its systems differ, the same for every report."""
    main = {standing.system: standing.main for standing in standings if standing.main is not None}
    comparison = compare_in_words(result, order_systems(result, main))
    advice = _recommend(result, decisions, standings, comparison)
    return advice if advice.answer == comparison else replace(advice, comparison=comparison)


def advise(result: Result, decisions: Sequence[Decision]) -> Recommendation:
    """Return the recommendation on a result by the decisions of its gates."""
    return recommend(result, decisions, list_standings(result, decisions))


def _recommend(
    result: Result,
    decisions: Sequence[Decision],
    standings: Sequence[Standing],
    comparison: str,
) -> Recommendation:
    """Return the recommendation by fixed rules.

    1. One system passes all gates: use it. 2. Several do: use the best of them by the main metric; with it
    are named those that it is not shown to lead, else those that it leads on documents like these only.
    3. None does: nothing is recommended, and the closest is named with the gate that it fails. Without gates,
    or with fewer than `FEWEST` documents, nothing is recommended.
    """
    documents = max(
        (standing.main.documents for standing in standings if standing.main is not None), default=0
    )
    usable = [standing for standing in standings if standing.answer is GateAnswer.GO]
    main = standings[0].main if standings else None
    if main is None:
        return Recommendation("No system has a score", (), "none")
    first = standings[0]
    if documents < FEWEST and (usable or not decisions):
        are = "is" if documents == 1 else "are"
        few = f"{format_count(documents, 'document')} {are} too few to recommend a system"
        return Recommendation(few, (), "none")
    if not decisions:
        if comparison:
            return Recommendation(comparison, ("No pass/fail rules (gates) set",), "none")
        name = clip(first.system, LONGEST_NAME)
        sentence = f"{name} has {_describe_main(main)}; no pass/fail rules (gates) set"
        return Recommendation(sentence, (), "none")
    if usable:
        return _use(result, usable, standings)
    if len(standings) == 1:
        is_close = first.answer is GateAnswer.INCONCLUSIVE
        answer = "is too close to its gates to call" if is_close else "fails its gates"
        sentence = f"{clip(first.system, LONGEST_NAME)} {answer}"
    else:
        sentence = "No system passes all gates"
    closest = max(standings, key=lambda standing: standing.passed)
    tone = "unsure" if any(standing.answer is GateAnswer.INCONCLUSIVE for standing in standings) else "bad"
    gap = _describe_gap(closest, decisions, is_alone=len(standings) == 1)
    return Recommendation(sentence, (gap,), tone)


def _use(result: Result, usable: Sequence[Standing], standings: Sequence[Standing]) -> Recommendation:
    first, name = usable[0], clip(usable[0].system, LONGEST_NAME)
    if len(usable) == 1:
        gates = f"all {first.gates:,} gates" if first.gates > 1 else "the gate"
        is_alone = len(standings) == 1
        why = f"{name} passes {gates}" if is_alone else f"Use {name}: only it passes {gates}"
        return Recommendation(why, (), "good", (first.system,))
    return _choose(result, usable)


def _choose(result: Result, usable: Sequence[Standing]) -> Recommendation:
    """Return which of several systems that pass all gates to use."""
    first, name = usable[0], clip(usable[0].system, LONGEST_NAME)
    leads = {standing.system: _standing_lead(result, first, standing) for standing in usable[1:]}
    rivals = [standing for standing in usable[1:] if not leads[standing.system].is_shown]
    doubtful = [
        standing
        for standing in usable[1:]
        if standing not in rivals and not leads[standing.system].is_guarded
    ]
    named = [first, *(rivals or doubtful)]
    others = [standing for standing in usable if standing not in (*named, *doubtful)]
    too = f" ({_pass_too(others)})" if others else ""
    every = f"{'both' if len(named) == 2 else f'all {len(named)}'} pass all gates{too}"
    better = f"{name} is better than {_name(doubtful)} only on documents like these" if doubtful else ""
    reasons = [f"{_pass_too(doubtful)}; {better}"] if rivals and doubtful else []
    if rivals:
        metric = name_metric(first.main.metric, result.run) if first.main is not None else ""
        untested = all(leads[standing.system].certainty == "unknown" for standing in rivals)
        what = (
            "their difference was not tested" if untested else f"no clear difference in {metric} between them"
        )
        why = f"{every}, and {what}"
    else:
        why = f"{every}, and {better}" if doubtful else f"it is the best of those that pass all gates{too}"
    reasons += _cheaper(first, rivals)
    systems = tuple(standing.system for standing in named)
    return Recommendation(f"Use {_name(named, 'or')}: {why}", tuple(reasons), "good", systems)


def _pass_too(standings: Sequence[Standing]) -> str:
    return f"{_name(standings)} {'passes' if len(standings) == 1 else 'pass'} them too"


def _name(standings: Sequence[Standing], last: str = "and") -> str:
    """Return the names of systems, or how many they are where their names would be longer than the answer."""
    names = join_names([clip(standing.system, LONGEST_NAME) for standing in standings], last=last)
    if len(names) <= _NAMES or len(standings) < 3:
        return names
    return f"{clip(standings[0].system, LONGEST_NAME)} {last} {len(standings) - 1} others"


def _describe_main(main: Estimate) -> str:
    sure = describe_interval(main.interval, main.level, main.unit)
    value = format_in_unit(main.value, main.unit)
    return f"{value} {main.metric.replace('_', ' ')}{f' ({sure})' if sure else ''}"


def _standing_lead(result: Result, standing: Standing, rival: Standing) -> Lead:
    estimates = {part.system: part.main for part in (standing, rival) if part.main is not None}
    order = order_systems(result, estimates)
    return order.leads[0] if order is not None else Lead(rival.system, 0.0, "unknown")


class _Price(Struct, frozen=True):
    """What a system takes: how it is read and written, and the word for less of it."""

    read: Callable[[Standing], float | None]
    form: Callable[[float], str]
    less: str


def _cheaper(first: Standing, rivals: Sequence[Standing]) -> tuple[str, ...]:
    """Return the cheapest and the fastest of the systems that are not shown to be worse."""
    savings: dict[str, list[str]] = {}
    for price in _PRICES:
        amounts = {
            standing.system: value for standing in rivals if (value := price.read(standing)) is not None
        }
        own = price.read(first)
        best = min(amounts, key=lambda system: amounts[system], default=None)
        if best is not None and own is not None and amounts[best] < own:
            saving = f"{price.less} ({price.form(amounts[best])} against {price.form(own)})"
            savings.setdefault(best, []).append(saving)
    return tuple(
        f"{clip(system, LONGEST_NAME)} may be as good, and is {join_names(said)}"
        for system, said in savings.items()
    )


_PRICES = (
    _Price(lambda standing: None if standing.cost is None else standing.cost.value, format_cost, "cheaper"),
    _Price(
        lambda standing: None if standing.median is None else standing.median.value, format_seconds, "faster"
    ),
)


def _describe_gap(closest: Standing, decisions: Sequence[Decision], *, is_alone: bool) -> str:
    """Return how many gates the closest system passes, and the first one that it fails."""
    reasons = next(decision for decision in decisions if decision.system == closest.system).reasons
    count = f"{closest.passed} of {format_count(closest.gates, 'gate')}"
    passed = (
        f"It passes {count}" if is_alone else f"Closest: {clip(closest.system, LONGEST_NAME)} passes {count}"
    )
    more = f", and {len(reasons) - 1} more" if len(reasons) > 1 else ""
    return f"{passed}; {clip(reasons[0], 160)}{more}" if reasons else passed
