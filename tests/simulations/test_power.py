"""Real differences are found more often the larger they are and the more documents there are.

They are found as often as predicted.
"""

from __future__ import annotations

from measures import measure_power
from tests.effort import is_full, trials


def test_power_grows_with_the_difference_and_with_documents_and_the_detectable_difference_is_detected() -> (
    None
):
    small, medium, large, many_small, many_medium, detectable, needed = measure_power(trials(70), 41, 120)
    assert small.share < large.share
    assert medium.share < many_medium.share
    assert large.share > 0.7
    if is_full():  # a few trials do not tell neighbors apart
        assert small.share < medium.share < large.share
        assert small.share < many_small.share < many_medium.share
    for rate in (detectable, needed):
        assert rate.is_kept, rate
