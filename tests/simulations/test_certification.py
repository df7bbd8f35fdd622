"""Certified thresholds break their promise at most at their level, and accept much where much is good."""

from __future__ import annotations

import pytest
from certification import BOUNDS, STARTS, TIES, WORLDS, alike, chance_of_one_test, measure, spread
from msgspec.structs import replace
from rates import Rate
from tests.effort import trials

from fieldassay.calibration.result import Bound, Promise, PromiseKind

KINDS = [
    (PromiseKind.VALUE, Bound.GAFFKE),
    (PromiseKind.VALUE, Bound.BETTING),
    (PromiseKind.DOCUMENT, Bound.GAFFKE),
    (PromiseKind.RESIDUAL, Bound.GAFFKE),
]
ACCEPTED = dict(zip(STARTS, (0.5, 0.8, 0.71, 0.43, 0.68, 0.56), strict=True))
"""Shares accepted with sequences that start where 0, 3 and 8 errors are allowed."""
PASSED = {Bound.GAFFKE: (0.8, 0.5, 0.2), Bound.BETTING: (0.08, 0.2, 0.04), Bound.BINOMIAL: (0.2, 0.2, 0.2)}
"""Least chances of one test with 600 documents, in the order of `BOUNDS`."""


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(kind))
@pytest.mark.parametrize("name", WORLDS)
def test_promises_are_broken_at_most_at_their_level(name: str, kind: tuple[PromiseKind, Bound]) -> None:
    draw, n = WORLDS[name]
    number = trials(80)
    found = measure(draw, replace(Promise(0.02), kind=kind[0], bound=kind[1]), n, number)
    assert Rate("", name, round(found.broken * number), number, most=0.05).is_kept


@pytest.mark.parametrize("case", STARTS, ids=str)
def test_an_early_error_is_no_obstacle(case: tuple[int, float, float]) -> None:
    n, risk, true = case
    found = measure(spread(true), Promise(risk), n, trials(100))
    assert found.accepted >= ACCEPTED[case] - 0.02
    assert found.broken <= 0.05


@pytest.mark.parametrize("name", TIES)
def test_few_confidences_are_certified_at_their_ties(name: str) -> None:
    share = {"97%": 0.95, "61%": 0.58, "60%": 0.85}[name.split()[1].rstrip(",")]
    found = measure(TIES[name], Promise(0.02), 1000, trials(100))
    assert found.accepted >= share and found.nothing <= 0.05


@pytest.mark.parametrize("bound", Bound)
@pytest.mark.parametrize("name", BOUNDS)
def test_all_values_of_a_document_say_more_than_one(name: str, bound: Bound) -> None:
    least = PASSED[bound][list(BOUNDS).index(name)]
    number = trials(200)
    passed = chance_of_one_test(BOUNDS[name], 0.01, bound, 600, number)
    assert Rate("", name, round(passed * number), number, least=least).is_kept


@pytest.mark.parametrize("bound", Bound)
@pytest.mark.parametrize("together", [0.0, 0.5, 1.0])
def test_one_test_at_the_target_errs_at_most_at_its_level(together: float, bound: Bound) -> None:
    number = trials(300)
    passed = chance_of_one_test(alike(0.0201, 12, together, 1.0), 0.02, bound, 500, number)
    assert Rate("", "", round(passed * number), number, most=0.05).is_kept
