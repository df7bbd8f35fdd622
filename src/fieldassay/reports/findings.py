"""Findings of a report in words, computed from numbers by fixed rules: no claim without its interval.

1. A system leads another only if their comparison is `better` or `worse`, after correction for all
comparisons made.
2. Otherwise there is no significant difference, and the sentence gives the detectable one.
3. Every value comes with its interval, or with its n where it has none. Few documents are marked as few.
4. A loss is the largest possible cost of a kind of wrong, with its interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fieldassay.reports.comparisons import show_p
from fieldassay.reports.losses import Loss
from fieldassay.reports.wording import CAUSES, DIAGNOSES, say
from fieldassay.result.comparison import Comparison
from fieldassay.result.estimate import Estimate
from fieldassay.wording.numbers import show_count, show_number, show_percent, suffix_of
from fieldassay.wording.shown import show

_NAME = 60
_SCALES = {"ratio": 100.0, "percent": 1.0}


def say_number(value: float, unit: str = "ratio") -> str:
    """Return a number as in reports for readers: shares of one in percent.

    >>> say_number(0.94879), say_number(1234.5, "ms"), say_number(-0.012)
    ('94.9 %', '1,234 ms', '−1.2 %')
    """
    if value == 0 and unit not in _SCALES:
        return f"0{suffix_of(unit)}"
    text = (
        f"{show_percent(value, unit)} %"
        if unit in _SCALES
        else f"{show_number(value, unit)}{suffix_of(unit)}"
    )
    return text.replace("-", "−")


def say_interval(interval: tuple[float, float] | None, level: float | None, unit: str = "ratio") -> str:
    """Return an interval for the brackets behind a value; the empty text without one.

    >>> say_interval((0.938, 0.958), 0.95), say_interval(None, None)
    ('95 %: 93.8 to 95.8', '')
    """
    if interval is None:
        return ""
    low, high = (
        say_number(bound, unit).removesuffix(" %").removesuffix(suffix_of(unit)) for bound in interval
    )
    return f"{100 * (level or 0.95):g} %: {low} to {high}"


def say_estimate(estimate: Estimate) -> str:
    """Return a value with its basis.

    >>> marks = ("few_documents",)
    >>> say_estimate(Estimate("accuracy", "a", None, {}, None, 0.9, 12, 12, 0, None,
    ...     interval=(0.8, 0.95), level=0.95, marks=marks))
    '90.0 % (95 %: 80.0 to 95.0; only 12 documents, so the interval is too narrow)'
    """
    if estimate.value is None:
        return "undefined (n = 0)"
    interval = say_interval(estimate.interval, estimate.level, estimate.unit) or f"n = {estimate.n:,}"
    few = (
        f"; only {show_count(estimate.documents, 'document')}, so the interval is too narrow"
        if "few_documents" in estimate.marks
        else ""
    )
    return f"{say_number(estimate.value, estimate.unit)} ({interval}{few})"


def say_difference(value: float, unit: str) -> str:
    """Return a difference with its sign; of shares in points of a hundred.

    >>> say_difference(0.0614, "ratio"), say_difference(-3.0, "ms")
    ('+6.1 points', '−3 ms')
    """
    text = f"{_SCALES[unit] * value:+,.1f} points" if unit in _SCALES else f"{value:+,.0f}{suffix_of(unit)}"
    if not any(digit in "123456789" for digit in text):
        text = text.removeprefix("+").removeprefix("-")
    return text.replace("-", "−")


def tell_comparison(one: Comparison, names: Mapping[str, str]) -> str:
    """Return a comparison as a sentence, the leading system first.

    >>> tell_comparison(Comparison("accuracy", None, {"type": "invoice"}, ("llama", "qwen"),
    ...     (0.8, 0.861), 0.061, (0.02, 0.104), 0.95, 0.004, 0.004, 0.4, 20, 9, 71, 100,
    ...     "sign_flip", "better"), {})
    'qwen leads llama on invoice (type) in accuracy: +6.1 points (95 %: 2.0 to 10.4, p = .004)'
    """
    first, second = (show(name, _NAME) for name in one.systems)
    where = "".join(f" on {show(value, 40)} ({show(key, 30)})" for key, value in one.slice.items())
    metric = (
        f"{show(names.get(one.metric, one.metric.replace('_', ' ')), 80)}"
        f"{f' of {show(one.field, 60)}' if one.field is not None else ''}"
    )
    if one.verdict == "undefined" or one.difference is None:
        return f"{first} and {second} cannot be compared{where} in {metric}: a value is undefined"
    if one.verdict == "identical":
        return (
            f"{first} and {second} are the same{where} in {metric} in all "
            f"{show_count(one.documents, 'document')}"
        )
    if one.verdict == "no_difference_shown":
        return (
            f"No difference could be shown between {first} and {second}{where} in {metric}: {second} "
            f"stands at {_detail(one, 1.0)}{_power(one)}"
        )
    is_second = one.verdict == "better"
    sign = 1.0 if is_second else -1.0
    ahead, behind = (second, first) if is_second else (first, second)
    return f"{ahead} leads {behind}{where} in {metric}: {_detail(one, sign)}"


def _detail(one: Comparison, sign: float) -> str:
    bounds = None if one.interval is None else tuple(sorted(sign * bound for bound in one.interval))
    few = f"only {show_count(one.documents, 'document')}" if "few_documents" in one.marks else ""
    shown = say_interval((bounds[0], bounds[1]), one.level, one.unit) if bounds else f"n = {one.documents:,}"
    parts = [shown, "" if one.p_adjusted is None else show_p(one.p_adjusted), few]
    return (
        f"{say_difference(sign * float(one.difference or 0.0), one.unit)} "
        f"({', '.join(part for part in parts if part)})"
    )


def _power(one: Comparison) -> str:
    if one.detectable is None or "few_documents" in one.marks:
        return ""
    size = say_difference(abs(one.detectable), one.unit).removeprefix("+")
    return (
        f"; with {show_count(one.documents, 'document')} a difference of {size} would have been found "
        "four times out of five"
    )


def tell_loss(loss: Loss) -> str:
    """Return the cost of one kind of wrong, as a sentence.

    >>> tell_loss(Loss("a", "total", "separator", 0.023, (0.016, 0.031), 41, 40, 72, "d1", "1", "2"))
    'total: a decimal or thousands separator was misread, in 41 values of 40 documents.
        It costs 2.3 points of accuracy (95 %: 1.6 to 3.1).'
    """
    return f"{show(loss.field, _NAME)}: {tell_cost(loss)}" if loss.field else tell_cost(loss)


def tell_cost(loss: Loss) -> str:
    """Return one kind of wrong with its frequency and its cost, without the name of the field."""
    few = f"only {show_count(loss.of, 'document')}" if loss.is_marked else ""
    sure = "; ".join(part for part in (say_interval(loss.interval, 0.95), few) if part)
    return f"{tell_cause(loss)}. It costs {tell_points(loss)} of accuracy{f' ({sure})' if sure else ''}."


def tell_points(loss: Loss) -> str:
    """Return the cost of a loss, in points."""
    return say_difference(loss.points, "ratio").removeprefix("+")


def tell_loss_shortly(loss: Loss) -> str:
    """Return the cause of a loss with its field, and no number but how often."""
    return f"{show(loss.field, 2 * _NAME)}: {tell_cause(loss)}" if loss.field else tell_cause(loss)


def tell_cause(loss: Loss) -> str:
    """Return the error and its frequency, without the name of the field.

    >>> tell_cause(Loss("a", "", "answer_unreadable", 0.36, None, 144, 36, 100, "d1", "1", None, 36))
    '36 answers could not be read'
    >>> tell_cause(Loss("a", "lines[]", "item_missing", 0.1, None, 8, 3, 100, "d1", "1", None, 4))
    '4 items are missing, with 8 values, in 3 documents'
    """
    documents = show_count(loss.documents, "document")
    if loss.diagnosis in CAUSES:
        noun, one, several = CAUSES[loss.diagnosis]
        said = f"{show_count(loss.count, noun)} {one if loss.count == 1 else several}"
        return (
            said if noun == "answer" else f"{said}, with {show_count(loss.values, 'value')}, in {documents}"
        )
    what = (
        "the value is accepted, but not the same"
        if loss.diagnosis == "accepted"
        else say(DIAGNOSES, loss.diagnosis)
    )
    return f"{what}, in {show_count(loss.values, 'value')} of {documents}"


def tell_verdict(decisions: Sequence[Mapping[str, Any]]) -> str:
    """Return the gates' verdict on all systems, in a sentence.

    >>> answers = {"a": "GO", "b": "NO-GO", "c": "NO-GO"}
    >>> tell_verdict([{"system": system, "answer": answer} for system, answer in answers.items()])
    'GO for a; NO-GO for b and c'
    >>> tell_verdict([])
    'This run has no gates, so there is no verdict'
    """
    if not decisions:
        return "This run has no gates, so there is no verdict"
    found: dict[str, list[str]] = {}
    for decision in decisions:
        found.setdefault(str(decision["answer"]), []).append(show(str(decision["system"]), _NAME))
    words = {"GO": "GO for", "NO-GO": "NO-GO for", "INCONCLUSIVE": "undecided for"}
    return "; ".join(f"{words[answer]} {join_names(found[answer])}" for answer in words if answer in found)


def join_names(names: Sequence[str], most: int = 4) -> str:
    """Return names as a list in a sentence.

    >>> join_names(["a"]), join_names(["a", "b", "c"]), join_names(list("abcdefg"))
    ('a', 'a, b and c', 'a, b, c, d and 3 more')
    """
    shown = list(names[:most]) + ([f"{len(names) - most} more"] if len(names) > most else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
