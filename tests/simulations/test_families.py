"""Looking at many fields, or ranking many systems, does not make false alarms more frequent."""

from __future__ import annotations

from measures import measure_families, measure_rankings
from rates import Rate
from tests.effort import trials


def test_false_alarms_of_twelve_fields_are_rare_and_by_benjamini_hochberg_their_share_is_small() -> None:
    alone, adjusted, among_others, false_share, found = measure_families(trials(120), 31)
    for rate in (adjusted, among_others, false_share):
        assert rate.is_kept, rate
    assert not Rate("", "", alone.count, alone.trials, most=0.05).is_kept, (
        alone
    )  # without adjustment it does not hold
    assert found.share > 0.05  # nor is everything refused


def test_rankings_tell_equal_systems_apart_rarely_and_find_the_better_one() -> None:
    for rate in measure_rankings(trials(70), 32, ("accuracy",)):
        assert rate.is_kept, rate
