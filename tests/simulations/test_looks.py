"""Gates on the best of several systems, and at many looks: false at most as often as they say."""

import pytest
from looks import BEST, LOOKS, measure_best, measure_looks
from tests.effort import trials


@pytest.mark.parametrize("name", BEST)
def test_the_best_of_equal_systems_rarely_passes_at_its_true_value(name: str) -> None:
    for rate in measure_best(trials(300, 30), 21, (name,)):
        assert rate.is_kept, rate


@pytest.mark.parametrize("number", LOOKS)
def test_no_look_lets_a_system_pass_that_is_at_the_value(number: int) -> None:
    for rate in measure_looks(trials(400, 40), 22, (number,)):
        assert rate.is_kept, rate


def test_the_simulation_can_tell_gates_that_take_no_account_of_it() -> None:
    [_, best] = measure_best(trials(200, 10), 21, ("best of 12 independent, 200 documents",))
    [*_, looks] = measure_looks(trials(400, 20), 22, (10,))
    assert best.share > 0.1
    assert looks.share > 0.05
