"""Certified thresholds break their guarantee at most at their level, and there are some at the sizes people have."""

import numpy as np
import pytest
from certification import (
    FLAT,
    HARD,
    WORLDS,
    Draw,
    chance_of_one_test,
    good,
    lost_whole,
    measure,
    sharp,
    unequal,
)
from rates import Rate, binomial_at_most
from tests.effort import trials

from fieldassay.decisions.calibration.certificate import Guarantee
from fieldassay.decisions.calibration.observations import Observations, discriminate

SURPRISE, MANY = 0.01, 1100
"""With so many trials a level of 5% passes in 99 of 100 runs, and one of 8% fails in 19 of 20."""


def breaks_too_often(broken: int, number: int, level: float = 0.05) -> bool:
    """Return whether a guarantee that is kept at its level is broken so often once in a hundred times."""
    return binomial_at_most(number - broken, number, 1.0 - level) < SURPRISE


@pytest.mark.parametrize("name", FLAT)
def test_what_is_just_above_the_guarantee_is_certified_at_most_at_the_level(name: str) -> None:
    draw, n = FLAT[name]
    found = measure(draw, Guarantee(0.02), n, trials(MANY, 20))
    assert not breaks_too_often(found.certified, found.trials), found


@pytest.mark.parametrize("name", HARD)
def test_guarantees_are_broken_at_most_at_their_level(name: str) -> None:
    draw, n = HARD[name]
    found = measure(draw, Guarantee(0.02), n, trials(400))
    assert not breaks_too_often(found.broken, found.trials), found


def test_a_guarantee_three_points_off_would_be_noticed() -> None:
    least = next(broken for broken in range(MANY) if breaks_too_often(broken, MANY))
    assert binomial_at_most(least - 1, MANY, 0.08) <= 0.05
    assert 1.0 - binomial_at_most(least - 1, MANY, 0.05) <= SURPRISE


CERTIFIED: dict[str, tuple[Draw, int, float, float]] = {
    "four values, 200": (good(4), 200, 0.24, 0.08),
    "four values, 300": (good(4), 300, 0.58, 0.17),
    "four values, 500": (good(4), 500, 0.88, 0.30),
    "four values, 1000": (good(4), 1000, 0.98, 0.46),
    "twelve values, 200": (good(12), 200, 0.81, 0.18),
    "twelve values, 300": (good(12), 300, 0.89, 0.28),
    "one value, 500": (good(1), 500, 0.22, 0.09),
    "sharp, 200": (sharp(4), 200, 0.97, 0.85),
    "unequal, 300": (unequal(good), 300, 0.64, 0.19),
}
"""Shares certified and accepted that are reached at the least, for a risk of 2%."""


@pytest.mark.parametrize("case", CERTIFIED)
def test_labels_that_people_have_certify_as_much_as_is_said(case: str) -> None:
    draw, n, certified, accepted = CERTIFIED[case]
    number = trials(120)
    found = measure(draw, Guarantee(0.02), n, number, seed=11)
    assert Rate("", case, found.certified, number, least=certified - 0.02).is_kept, found
    assert found.accepted >= accepted - 3.0 * (0.25 / number) ** 0.5 * accepted - 0.03, found


@pytest.mark.parametrize("name", ["useless", "upside down"])
@pytest.mark.parametrize("values", [1, 4, 12])
def test_confidences_that_know_nothing_certify_nothing_of_accepted_values(name: str, values: int) -> None:
    assert measure(WORLDS[name](values), Guarantee(0.02), 300, trials(80)).certified <= 1


def test_documents_lost_at_the_top_are_certified_more_often_with_more_labels() -> None:
    shares = [
        measure(lost_whole(0.006, 4, is_at_the_top=True), Guarantee(0.02), n, trials(100))
        for n in (300, 1000)
    ]
    assert shares[1].certified > shares[0].certified


@pytest.mark.parametrize("values", [1, 12])
def test_one_test_just_above_the_target_errs_at_most_at_its_level(values: int) -> None:
    number = trials(MANY, 20)
    for n in (149, 500):
        passed = chance_of_one_test(lost_whole(0.0201, values), Guarantee(0.02), n, number)
        assert not breaks_too_often(round(passed * number), number)


AREAS = [(1, 0.0, 0.04), (1, 1.3, 0.04), (4, 1.3, 0.012), (4, 2.0, 0.015), (10, 0.7, 0.01), (1, 3.0, 0.04)]


@pytest.mark.parametrize(("values", "apart", "error"), AREAS)
def test_an_area_has_an_interval_that_holds_it_or_none(values: int, apart: float, error: float) -> None:
    def draw(chance: np.random.Generator, n: int) -> Observations:
        hard = chance.gamma(1.0, 1.0, (n, 1)) if values > 1 else np.ones((n, 1))
        wrong = chance.random((n, values)) < np.minimum(error * hard, 0.9)
        shift = chance.normal(0.0, 0.7, (n, 1)) if values > 1 else np.zeros((n, 1))
        confidence = np.where(wrong, 0.0, apart) + shift + chance.normal(0.0, 1.0, (n, values))
        doc = np.repeat(np.arange(n, dtype=np.int32), values)
        names = tuple(map(str, range(n)))
        return Observations(names, ("f",), doc, doc * 0, confidence.ravel(), ~wrong.ravel())

    true = discriminate(draw(np.random.default_rng(0), 200_000 // values)).area
    number, found = trials(600), []
    for trial in range(number):
        interval = discriminate(draw(np.random.default_rng((3, trial)), 300)).interval
        if interval is not None:
            found.append(interval[0] <= true <= interval[1])
    assert len(found) >= number / 10
    assert Rate("", "", sum(found), len(found), least=0.93).is_kept
