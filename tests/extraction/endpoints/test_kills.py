"""`kill -9` loses no answer, repeats at most what was in flight, and changes no prediction."""

from __future__ import annotations

import pytest
from tests.extraction.endpoints.kills import survive


@pytest.mark.slow
def test_a_run_that_was_killed_at_random_moments_ends_as_an_unbroken_one() -> None:
    found = survive(4, seed=1)
    assert found.kills == 4 and (found.lost, found.unexplained, found.different) == (0, 0, 0)
