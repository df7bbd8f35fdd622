"""`--fail-under METRIC=VALUE`: what a metric must reach, in every system."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from fieldassay.metrics.grammar import MetricCall
    from fieldassay.result.result import Result

SLACK = 2.0**-32
"""Sums are whole numbers of this unit, so that a value may lie this much below what it is."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """A metric and the least value that it may have."""

    metric: MetricCall
    value: float


def read_thresholds(texts: Iterable[str]) -> tuple[Threshold, ...]:
    """Return the thresholds; raises UsageError for what is no metric, no number, or better when lower.

    >>> [(str(found.metric), found.value) for found in read_thresholds(["f1(granularity=slot)[TOTAL]=0.9"])]
    [('f1(granularity=slot)[TOTAL]', 0.9)]
    """
    return tuple(map(_read, texts))


def _read(text: str) -> Threshold:
    from fieldassay.metrics.grammar import parse_metric
    from fieldassay.metrics.selection import bind_metric

    name, equals, number = text.rpartition("=")
    try:
        value = float(number)
        if not equals or not name.strip() or value - value != 0:
            raise ValueError(number)
    except ValueError:
        raise click.UsageError(f"--fail-under {text}: write METRIC=VALUE, such as accuracy=0.9") from None
    try:
        call = parse_metric(name)
        metric = bind_metric(call).metric
    except ValueError as error:
        raise click.UsageError(f"--fail-under {text}: {error}") from None
    if metric.better == "lower":
        raise click.UsageError(f"--fail-under {text}: {call.name} is better when lower, so that a least value says nothing")
    return Threshold(call, value)


def find_failures(result: Result, thresholds: Sequence[Threshold]) -> list[str]:
    """Return one line per system and threshold that is not met; a metric that is undefined or missing never passes."""
    lines = []
    for threshold in thresholds:
        found = {estimate.system: estimate for estimate in result.select(threshold.metric)}
        for system in result.systems:
            estimate = found.get(system)
            if estimate is None:
                why = "there is no such estimate (no such field or slice in the data)"
            elif estimate.value is None:
                why = f"is undefined (n = {estimate.n})"
            elif estimate.value < threshold.value - SLACK:
                why = f"is {estimate.value:.6g} (n = {estimate.n:,})"
            else:
                continue
            lines.append(f"failed: {system}: {threshold.metric} {why}; at least {threshold.value:g} is asked for")
    return lines
