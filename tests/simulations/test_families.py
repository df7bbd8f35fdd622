"""Documents that come in families: intervals, halves and certificates that draw families keep their guarantees."""

import random

import numpy as np
import pytest
from means import measure_family_times
from rates import Rate
from tests.effort import trials
from vendors import WORLDS, measure_vendors

from fieldassay.decisions.calibration.certificate import Guarantee, RankedLabels, certify
from fieldassay.decisions.calibration.observations import Observations
from fieldassay.scoring.score import score


@pytest.mark.parametrize("name", WORLDS)
def test_families_are_covered_and_equal_systems_rarely_called_different(name: str) -> None:
    for rate in measure_vendors(trials(400), 7, (name,)):
        assert rate.is_kept, rate


def test_the_simulation_can_tell_documents_that_are_taken_for_independent() -> None:
    rates = list(measure_vendors(trials(200, 8), 7, ("8 vendors of 20, 1 in 10 bad",)))
    alone = {rate.what.rsplit(": ")[1]: rate.share for rate in rates if "independent" in rate.what}
    assert alone["the interval holds the truth, as if documents were independent"] < 0.6
    assert alone["equal, and called different, as if documents were independent"] > 0.4


def _vendors(chance: np.random.Generator, vendors: int, most: int, *, is_told: bool) -> Observations:
    """Return values of vendors of which 1 in 28 is bad: 2.1% of all values are wrong, whatever the confidence."""
    vendor = np.repeat(np.arange(vendors), chance.integers(1, most + 1, vendors))
    rate = np.where(chance.random(vendors) < 0.035, 0.6, 0.0)[vendor]
    doc = np.repeat(np.arange(len(vendor), dtype=np.int32), 4)
    right = chance.random(len(doc)) >= rate[doc]
    names, families = (tuple(map(str, each)) for each in (range(len(vendor)), vendor))
    return Observations(
        names, ("f",), doc, doc * 0, chance.random(len(doc)), right, families if is_told else ()
    )


@pytest.mark.parametrize(("vendors", "most"), [(30, 19), (100, 10)])
def test_a_certificate_of_families_is_rarely_false_and_one_of_documents_often(
    vendors: int, most: int
) -> None:
    number, false = trials(200, 5), {}
    for is_told in (True, False):
        drawn = (
            _vendors(np.random.default_rng((vendors, at)), vendors, most, is_told=is_told)
            for at in range(number)
        )
        false[is_told] = sum(
            certify(RankedLabels.of(seen), Guarantee(0.02)).last is not None for seen in drawn
        )
    assert Rate("", "", false[True], number, most=0.05).is_kept
    assert false[False] > 0.08 * number


def test_families_without_an_error_are_certified_once_there_are_enough() -> None:
    doc = np.arange(1500, dtype=np.int32)
    names, families = (tuple(map(str, each)) for each in (doc, doc // 10))
    seen = Observations(
        names, ("f",), doc, doc * 0, np.linspace(0.5, 1.0, 1500), np.ones(1500, bool), families
    )
    assert certify(RankedLabels.of(seen), Guarantee(0.02)).last is not None
    assert certify(RankedLabels.of(seen.take(np.arange(1400))), Guarantee(0.02)).last is None


def test_independent_documents_are_rarely_taken_for_families() -> None:
    chance, number = random.Random(4), trials(400)
    fired = 0
    for _ in range(number):
        keys = {"vendor": 15, "city": 10, "note": 30}
        gold = [
            {
                "id": f"{at // 8}-{at}",
                "total": 1,
                **{key: f"{key} {chance.randrange(most)}" for key, most in keys.items()},
            }
            for at in range(96)
        ]
        wrong = [{"id": row["id"], "total": 1 + (chance.random() < 0.1)} for row in gold]
        result = score(gold, wrong, {"fields": {"total": "integer"}}, evidence="none", bootstrap=40)
        fired += any("not independent" in warning for warning in result.warnings)
    assert Rate("", "", fired, number, most=0.05).is_kept


def test_times_of_families_are_covered() -> None:
    for rate in measure_family_times(trials(400), 5):
        assert rate.is_kept, rate
