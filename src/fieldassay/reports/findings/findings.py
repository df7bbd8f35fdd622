"""Findings of a report in words, computed from numbers by fixed rules: no claim without its interval.

1. A system leads another only if their comparison is `better` or `worse`, after correction for all
comparisons made.
2. Otherwise there is no significant difference, and the sentence gives the detectable one.
3. Every value comes with its interval, or with its n where it has none.
4. A loss is the largest possible cost of a kind of wrong, with its interval.
"""

from __future__ import annotations

from fieldassay.io.text.shown import clip, format_count
from fieldassay.metrics.estimate import Estimate, format_in_unit, format_size
from fieldassay.reports.findings.losses import Loss
from fieldassay.reports.wording.sentences import describe_interval
from fieldassay.reports.wording.terms import CAUSES, DIAGNOSES, PROBLEMS, describe

_NAME = 60


ALL_VALUES = "accuracy over all values"
"""The name of what losses are points of, where the systems are ranked by another number."""


def is_of_all_values(one: Estimate) -> bool:
    """Return whether an estimate is the accuracy of which losses are points: of a whole system, by values."""
    kind = (one.metric, one.field, one.regime, one.granularity)
    return kind == ("accuracy", None, "filled", "leaf") and not (one.slice or one.parameters)


def name_lost(main: Estimate | None) -> str:
    """Return what losses are points of, beside the metric that systems are ranked by.

    >>> name_lost(None)
    'accuracy'
    """
    if main is None or is_of_all_values(main):
        return "accuracy"
    return f"{ALL_VALUES}, not of {main.metric.replace('_', ' ')}"


def describe_loss(loss: Loss, of: str = "accuracy") -> str:
    """Return the cost of one kind of wrong, as a sentence; `of` is the name of what it is points of.

    >>> describe_loss(Loss("a", "total", "separator", 0.023, (0.016, 0.031), 41, 40, 72, "d1", "1", "2"))
    'total: a decimal or thousands separator was misread, in 41 values of 40 documents.
        It costs 2.3 points of accuracy (95% CI 1.6 to 3.1).'
    """
    cost = describe_cost(loss, of)
    return f"{clip(loss.field, _NAME)}: {cost}" if loss.field else cost


def describe_cost(loss: Loss, of: str = "accuracy") -> str:
    """Return one kind of wrong with its frequency and its cost, without the name of the field."""
    sure = describe_interval(loss.interval, 0.95)
    without = ""
    if loss.without is not None:
        scale = "" if of == "accuracy" else f" of {ALL_VALUES}"
        without = f" Without them {clip(loss.system, _NAME)} has {format_in_unit(loss.without)}{scale}."
    what = f"costs {describe_points(loss)} of {of}{f' ({sure})' if sure else ''}"
    return f"{describe_cause(loss)}. It {what}.{without}"


def describe_points(loss: Loss) -> str:
    """Return the cost of a loss, in points."""
    return format_size(loss.points)


def describe_loss_shortly(loss: Loss) -> str:
    """Return the cause of a loss with its field, and no number but how often."""
    return f"{clip(loss.field, 2 * _NAME)}: {describe_cause(loss)}" if loss.field else describe_cause(loss)


def describe_cause(loss: Loss) -> str:
    """Return the error and its frequency, without the name of the field.

    >>> describe_cause(Loss("a", "", "answer_unreadable", 0.36, None, 144, 36, 100, "d1", "1", None, 36))
    '36 of 100 answers could not be read'
    >>> describe_cause(Loss("a", "lines[]", "item_missing", 0.1, None, 8, 3, 100, "d1", "1", None, 4))
    '4 items are missing, with 8 values, in 3 documents'
    """
    documents = format_count(loss.documents, "document")
    if loss.diagnosis in CAUSES:
        noun, one, several = CAUSES[loss.diagnosis]
        if noun == "answer":
            of = f"{loss.count:,} of {format_count(loss.of, noun)} {one if loss.count == 1 else several}"
            return f"{of} ({_list_problems(loss)})" if len(loss.kinds) > 1 else of
        said = f"{format_count(loss.count, noun)} {one if loss.count == 1 else several}"
        return f"{said}, with {format_count(loss.values, 'value')}, in {documents}"
    what = (
        "the value is accepted, but not the same"
        if loss.diagnosis == "accepted"
        else describe(DIAGNOSES, loss.diagnosis)
    )
    return f"{what}, in {format_count(loss.values, 'value')} of {documents}"


def _list_problems(loss: Loss) -> str:
    return ", ".join(f"{count:,} {PROBLEMS[kind][count > 1]}" for kind, count in loss.kinds)
