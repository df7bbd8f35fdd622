"""What repeated runs of a system clip, as sentences and a list of flaky values."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from fieldassay.io.text.shown import clip, format_count, format_json
from fieldassay.metrics.estimate import Estimate, format_in_unit, format_points
from fieldassay.metrics.repeats import AnswerCount, FlakyValue, Repeats, VarianceParts
from fieldassay.metrics.result.result import Result
from fieldassay.reports.writers.tables import Part, Table

MOST_FLAKY_SHOWN = 10
_ANSWERS = 4
_NAMES = {"accuracy": "accuracy", "perfect_documents": "the share of perfect documents"}
_MUCH, _LITTLE = 0.5, 0.2
"""From this share of the variance on, more runs help nearly as much as more documents; up to that, hardly."""


class FlakyLine(Struct, frozen=True):
    """A flaky value as reports show it."""

    document: str
    path: str
    right: str
    vote: str
    answers: str


class RepeatsShown(Struct, frozen=True):
    """The repeated runs of one system: its sentences, and its flaky values, the most divided first."""

    system: str
    title: str
    sentences: tuple[str, ...]
    flaky: tuple[FlakyLine, ...]
    hidden: int
    """How many more are in `metrics.json`."""


def list_repeats(result: Result) -> tuple[RepeatsShown, ...]:
    """Return what is to be said of each system with repeated runs."""
    return tuple(
        RepeatsShown(
            one.system,
            f"{format_count(one.runs, 'run')} of {clip(one.system, 60)}",
            tuple(_sentences(result, one)),
            tuple(_line(value, one.runs) for value in one.flaky[:MOST_FLAKY_SHOWN]),
            max(0, len(one.flaky) - MOST_FLAKY_SHOWN),
        )
        for one in result.repeats
    )


def _sentences(result: Result, repeats: Repeats) -> Iterator[str]:
    estimates = {
        (one.metric, one.parameters.get("k")): one
        for one in result.estimates
        if one.system == repeats.system and one.field is None and not one.slice
    }
    for what, prefix in (("documents are perfect", ""), ("gold values are right", "value_")):
        first, always, once = (
            estimates.get((f"{prefix}{name}", k))
            for name, k in (("pass_hat", 1), ("pass_hat", repeats.runs), ("pass_at", repeats.runs))
        )
        if first is not None and first.value is not None:
            yield (
                f"{_percent(first)} of {what} in one run; {_percent(always)} in all {repeats.runs} "
                f"(pass^{repeats.runs}), {_percent(once)} in at least one (pass@{repeats.runs})"
            )
    flaky, vote, ties = (
        estimates.get((name, None)) for name in ("flaky_values", "majority_accuracy", "majority_ties")
    )
    if flaky is not None and vote is not None and flaky.value is not None:
        tied = f", {_percent(ties)} tied" if ties is not None and ties.value else ""
        yield (
            f"the runs answer {_percent(flaky)} of gold values differently; "
            f"the majority vote has {_percent(vote)} right{tied}"
        )
    for parts in repeats.variances:
        yield describe_variance(parts)


def _percent(estimate: Estimate | None) -> str:
    return "—" if estimate is None else format_in_unit(estimate.value)


def describe_variance(parts: VarianceParts) -> str:
    """Return the sources of a mean's uncertainty, and the benefit of more runs or more documents.

    >>> for part in describe_variance(VarianceParts("accuracy", 60, 5, 0.9, 0.09, 0.002)).split(", "):
    ...     print(part)
    the standard error of accuracy is 1.8 points
    90.0% of its variance from the runs and 10.0% from the documents: with twice the documents it would be 1.3
    with twice the runs 1.4
    so more runs help nearly as much as more documents
    """
    share = parts.share_within
    name = _NAMES.get(parts.metric, parts.metric)
    if share is None:
        return f"{name} is the same in every document and run, so nothing is known of its variance"
    more, again = (
        variance**0.5
        for variance in (
            parts.variance(2 * parts.documents, parts.runs),
            parts.variance(parts.documents, 2 * parts.runs),
        )
    )
    advice = (
        "so more runs help nearly as much as more documents"
        if share >= _MUCH
        else "so more runs hardly help: add documents"
        if share <= _LITTLE
        else "so both help, documents more"
    )
    return (
        f"the standard error of {name} is {format_points(parts.error)} points, {format_in_unit(share)} of "
        f"its variance from the runs and {format_in_unit(1 - share)} from the documents: with twice the "
        f"documents it would be {format_points(more)}, with twice the runs {format_points(again)}, {advice}"
    )


def _line(value: FlakyValue, runs: int) -> FlakyLine:
    right = f"{value.right} of {runs}"
    return FlakyLine(value.document, value.path, right, value.vote, _describe_answers(value.answers))


def _describe_answers(answers: tuple[AnswerCount, ...]) -> str:
    told = [
        f"{each.runs} x {'no answer' if each.answer is None else format_json(each.answer, 24)}"
        f"{' (right)' if each.is_right else ''}"
        for each in answers[:_ANSWERS]
    ]
    more = sum(each.runs for each in answers[_ANSWERS:])
    return ", ".join([*told, *([f"{more} x others"] if more else [])])


def repeats_parts(shown: tuple[RepeatsShown, ...]) -> Iterator[Part]:
    """Yield a part for each system with repeated runs."""
    for one in shown:
        rows = [
            [clip(line.document, 40), clip(line.path, 40), line.right, line.vote, line.answers]
            for line in one.flaky
        ]
        heads = ["document", "flaky value", "right", "vote", "answers"]
        more = [f"and {one.hidden} more in metrics.json"] if one.hidden else []
        yield Part(one.title, one.sentences, [Table("", heads, rows, ())] if rows else [], end=more)
