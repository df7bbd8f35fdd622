"""The significant differences between systems, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fieldassay.result.comparison import Comparison, Place, Ranking
from fieldassay.wording.numbers import show_number, suffix_of
from fieldassay.wording.shown import show

MOST_LINES, MOST_SPOKEN = 8, 3
"""The most sentences shown (`comparisons.json` has all), and the most systems before only a ranking."""

_NAME = 60


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparison of systems in a report: sentences against the reference, ranking, and method.

    The ranking is of more than two systems. For many systems it replaces the sentences, and `verdicts` are
    short results of each system against `reference`.
    """

    lines: tuple[str, ...]
    hidden: int
    ranking: Ranking | None
    reference: str
    verdicts: Mapping[str, str]
    method: str
    label: str


def summarize_comparisons(
    comparisons: Sequence[Comparison], rankings: Sequence[Ranking], names: Mapping[str, str]
) -> Compared | None:
    """Return the comparison of systems for a report, None without any; `names` are metrics' names there."""
    if not comparisons:
        return None
    overall = [one for one in comparisons if not one.slice and one.field is None] or list(comparisons)
    first, reference = overall[0].metric, overall[0].systems[0]
    main = [one for one in overall if one.metric == first]
    ranking = next((one for one in rankings if one.metric == first), None)
    spoken = list(comparisons) if ranking is None or len(main) <= MOST_SPOKEN else []
    return Compared(
        lines=tuple(say(one, names) for one in spoken[:MOST_LINES]),
        hidden=len(comparisons) - (min(len(spoken), MOST_LINES) if spoken else len(main)),
        ranking=ranking,
        reference=reference,
        verdicts={one.systems[1]: say_shortly(one) for one in main},
        method=_method(overall, rankings),
        label=names.get(first, first),
    )


def say(one: Comparison, names: Mapping[str, str] | None = None) -> str:
    """Return one comparison as a sentence.

    >>> say(Comparison("accuracy", None, {}, ("llama", "qwen"), (0.8, 0.861), 0.061, (0.02, 0.104), 0.95,
    ...     0.004, 0.004, 0.4, 20, 9, 71, 100,
    ...     "sign_flip", "better"))
    'qwen is better than llama by 6.1 points of accuracy (95 % 2.0 to 10.4, p = .004)'
    """
    first, second = (show(name, _NAME) for name in one.systems)
    metric = _place((names or {}).get(one.metric, one.metric), one)
    if one.verdict == "undefined":
        lacking = [name for name, value in zip((first, second), one.values, strict=True) if value is None]
        return (
            f"{second} and {first} cannot be compared in {metric}: it is undefined for "
            f"{' and '.join(lacking)}"
        )
    if one.verdict == "identical":
        return f"{second} and {first} are the same in {metric} (n = {one.documents:,})"
    if one.verdict == "no_difference_shown":
        gap = f"{_signed(one.difference or 0.0, one.unit)}{_unit(one.unit)}"
        return (
            f"no difference could be shown between {first} and {second} in {metric} "
            f"({gap}{_interval(one, 1.0)}, {_p(one)}, n = {one.documents:,})"
        )
    sign = 1.0 if (one.difference or 0.0) > 0 else -1.0
    size = f"{_plain(abs(one.difference or 0.0), one.unit)}{_unit(one.unit)}"
    interval = _interval(one, sign).removeprefix(", ")
    detail = f"{interval}, {_p(one)}" if interval else f"{_p(one)}, n = {one.documents:,}"
    return f"{second} is {one.verdict} than {first} by {size} of {metric} ({detail})"


def say_shortly(one: Comparison) -> str:
    """Return the second system's result for a cell of a table.

    >>> say_shortly(Comparison("f1", None, {}, ("a", "b"), (0.8, 0.7), -0.1, None, 0.95, 0.0001, 0.0002, 1.0,
    ...     0, 9, 1, 10, "exchange", "worse"))
    'worse by 10.0 points (p < .001)'
    """
    if one.verdict in ("better", "worse"):
        return f"{one.verdict} by {_plain(abs(one.difference or 0.0), one.unit)}{_unit(one.unit)} ({_p(one)})"
    if one.verdict == "no_difference_shown":
        return f"no difference shown ({_signed(one.difference or 0.0, one.unit)}{_unit(one.unit)}, {_p(one)})"
    return {"identical": "the same", "undefined": "undefined"}[one.verdict]


def show_places(place: Place) -> str:
    """Return the places that a system may have.

    >>> show_places(Place("a", 0.5, 1, 3)), show_places(Place("a", 0.5, 2, 2))
    ('1 to 3', '2')
    """
    return str(place.first) if place.first == place.last else f"{place.first} to {place.last}"


def show_p(p: float) -> str:
    """Return a p value as it is printed: three decimals, two from .1 on, never 0.

    >>> show_p(0.0041), show_p(0.00002), show_p(0.414), show_p(1.0), show_p(0.0499)
    ('p = .004', 'p < .001', 'p = .41', 'p = 1', 'p = .0499')
    """
    if p >= 0.995:
        return "p = 1"
    if p < 0.001:
        return "p < .001"
    digits = 2 if p >= 0.0995 else 4 if f"{p:.3f}" == "0.050" and p != 0.05 else 3
    return f"p = {p:.{digits}f}".replace("0.", ".", 1)


def _p(one: Comparison) -> str:
    return show_p(1.0 if one.p_adjusted is None else one.p_adjusted)


def _place(metric: str, one: Comparison) -> str:
    field = f" of {show(one.field, 40)}" if one.field is not None else ""
    where = "".join(f" where {show(key, 30)} is {show(value, 40)}" for key, value in one.slice.items())
    return f"{show(metric, 80)}{field}{where}"


def _interval(one: Comparison, sign: float) -> str:
    if one.interval is None:
        return ""
    low, high = sorted(sign * bound for bound in one.interval)
    few = ", few documents" if "few_documents" in one.marks else ""
    return f", {100 * one.level:g} % {_plain(low, one.unit)} to {_plain(high, one.unit)}{few}"


def _plain(value: float, unit: str) -> str:
    """Return a difference as a number: points of a hundred for shares."""
    text = (
        f"{100 * value:,.1f}"
        if unit == "ratio"
        else f"{value:,.1f}"
        if unit == "percent"
        else show_number(value, unit)
    )
    return text.replace("-", "−") if float(text.replace(",", "")) else text.replace("-", "")


def _signed(value: float, unit: str) -> str:
    text = _plain(value, unit)
    return text if text.startswith("−") or not float(text.replace(",", "")) else f"+{text}"


def _unit(unit: str) -> str:
    return (
        " points"
        if unit in ("ratio", "percent")
        else ""
        if unit == "count"
        else suffix_of(unit) or f" {show(unit, 30)}"
    )


def count_tested(family: Sequence[Comparison], rankings: Sequence[Ranking]) -> int:
    """Return the number of tests in Holm's adjustment of comparisons and rankings; each test counts once."""
    compared = {
        (one.metric, one.field, *one.slice.items(), frozenset(one.systems))
        for one in family
        if one.p is not None
    }
    return len(
        compared
        | {(ranking.metric, None, frozenset(pair.systems)) for ranking in rankings for pair in ranking.pairs}
    )


def _method(overall: Sequence[Comparison], rankings: Sequence[Ranking]) -> str:
    tested = count_tested(overall, rankings)
    adjusted = f", adjusted by Holm for {tested} comparisons" if tested > 1 else ""
    return (
        f"p: two-sided test over documents, each answer as likely to be either system's{adjusted}; 1 "
        "point is 0.01"
    )
