"""A regression gate lets a loss of the margin pass about as rarely as its interval says."""

from __future__ import annotations

from measures import measure_regressions
from tests.effort import trials


def test_a_loss_of_the_margin_rarely_passes_and_no_loss_rarely_fails() -> None:
    for rate in measure_regressions(trials(100), 51, (50, 100)):
        assert rate.is_kept, rate
