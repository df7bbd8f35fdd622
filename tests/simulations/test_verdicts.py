"""The verdict on two systems keeps its promises, in worlds that it was not made for."""

from __future__ import annotations

import pytest
from columns import compare
from numpy import full, random
from tests.effort import is_full, trials
from verdicts import (
    RARE,
    measure_found,
    measure_gates,
    measure_margins,
    measure_more_systems,
    measure_times,
    measure_unlike,
    measure_verdicts,
)

MEASURES = {
    "level and intervals": (measure_verdicts, 160),
    "printed power": (measure_found, 120),
    "gates": (measure_gates, 200),
    "margins": (measure_margins, 120),
    "more systems and fields": (measure_more_systems, 200),
    "times and percentiles": (measure_times, 200),
    "systems that fail in unlike ways": (measure_unlike, 160),
}


@pytest.mark.parametrize("name", MEASURES)
def test_what_is_promised_of_the_verdict_is_kept(name: str) -> None:
    measure, size = MEASURES[name]
    for rate in measure(trials(size) if is_full() else size // 64, 2026):
        assert rate.is_kept, rate


def test_the_simulation_can_tell_an_interval_without_the_unseen_document() -> None:
    """Of rare disasters the verdict's own interval says nothing, which is why there is a guarded one."""
    world, [size] = RARE["1 of 75 documents lost in b alone"]
    truth, rng, held = world.truth(), random.default_rng(3), []
    for number in range(trials(200, 10)):
        one = compare(*world.draw(rng, size), seed=number)
        held.append(one.interval is not None and one.interval[0] <= truth <= one.interval[1])
    assert sum(held) / len(held) < 0.9


def test_ten_fields_and_forty_documents_are_found_as_often_as_said() -> None:
    """What was printed as found with probability 0.8 was called in 4% of samples: the interval had the last word."""
    rng, called = random.default_rng(11), []
    size, gaps = full(40, 10), []
    for number in range(trials(160)):
        first = rng.binomial(10, full(40, 0.94))
        second = rng.binomial(first, 1.0 - 0.06 / 0.94)
        one = compare(size, first, second, seed=number)
        called.append(one.verdict == "worse")
        gaps.append(one.detectable or 1.0)
    assert sorted(gaps)[len(gaps) // 2] < 0.06
    assert sum(called) / len(called) > 0.72
