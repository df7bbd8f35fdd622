"""Error rates of the tests on simulated documents whose fields depend on each other; fixed seeds."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from fieldassay.metrics.comparisons.families import adjust_holm
from fieldassay.metrics.uncertainty.halves import Halves
from fieldassay.metrics.uncertainty.paired import mcnemar_mid_p
from fieldassay.metrics.uncertainty.signs import sign_keys, signed_sums

Floats = npt.NDArray[np.float64]

DOCUMENTS, FIELDS = 50, 12


def clustered(rng: np.random.Generator, error: float = 0.05, bad: float = 0.06) -> Floats:
    """Return the values that an extractor has right, documents x fields: few in bad documents."""
    rate = np.where(rng.random(DOCUMENTS) < bad, 0.7, error)
    return (rng.random((DOCUMENTS, FIELDS)) >= rate[:, None]).astype(np.float64)


def allowed(trials: int, level: float = 0.05) -> float:
    """Return the largest share of rejections at a true level, in all but one of a thousand cases."""
    return level + 3.1 * math.sqrt(level * (1 - level) / trials)


def p_of(differences: Floats, seed: int = 0) -> float:
    """Return the p value of random halves of the documents."""
    whole = np.rint(differences * 2**30).astype(np.int64)[None, :]
    names = [f"d{number}" for number in range(whole.shape[1])]
    signed = signed_sums(whole, sign_keys(names, seed))[0]
    return Halves.of(np.concatenate([whole.sum() + signed, whole.sum() - signed]) / 2.0, slack=64.0).p_value()


def p_value(first: Floats, second: Floats, seed: int) -> float:
    return p_of(second.mean(axis=1) - first.mean(axis=1), seed)


def test_equal_extractors_are_told_apart_no_more_often_than_the_level_says() -> None:
    rng, trials = np.random.default_rng(1), 400
    p_values = np.array([p_value(clustered(rng), clustered(rng), trial) for trial in range(trials)])
    assert np.mean(p_values <= 0.05) <= allowed(trials)
    assert np.mean(p_values <= 0.05) >= 0.02  # nor is the test asleep
    assert np.mean(p_values <= 0.5) <= allowed(trials, 0.5)


def test_a_test_of_single_fields_would_cry_wolf() -> None:
    """The reason why documents are exchanged and not values."""
    rng, trials = np.random.default_rng(2), 300
    pairs = [(clustered(rng).ravel(), clustered(rng).ravel()) for _ in range(trials)]
    p_values = [mcnemar_mid_p(int((a > b).sum()), int((b > a).sum())) for a, b in pairs]
    assert np.mean(np.array(p_values) <= 0.05) > 0.12


def test_power_grows_with_the_difference_and_with_documents() -> None:
    rng, found = np.random.default_rng(3), []
    for shift in (0.0, 0.03, 0.08):
        p_values = [
            p_value(clustered(rng, 0.12), clustered(rng, 0.12 - shift), trial) for trial in range(120)
        ]
        found.append(np.mean(np.array(p_values) <= 0.05))
    assert found[0] < found[1] < found[2]
    assert found[2] > 0.5
    few = [p_of(rng.normal(0.4, 1.0, 15)) <= 0.05 for _ in range(100)]
    many = [p_of(rng.normal(0.4, 1.0, 50)) <= 0.05 for _ in range(100)]
    assert sum(few) < sum(many)


def test_mcnemar_on_documents_keeps_its_level() -> None:
    rng, trials = np.random.default_rng(4), 2000
    discordant = rng.binomial(DOCUMENTS, 0.2, trials)
    p_values = np.array(
        [
            mcnemar_mid_p(int(b), int(n - b))
            for n, b in zip(discordant, rng.binomial(discordant, 0.5), strict=True)
        ]
    )
    assert np.mean(p_values <= 0.05) <= allowed(trials)


def test_holm_keeps_false_alarms_of_a_family_rare_where_single_tests_do_not() -> None:
    rng, trials = np.random.default_rng(5), 150
    alone, together = 0, 0
    for trial in range(trials):
        first, second = clustered(rng, 0.3), clustered(rng, 0.3)
        p_values = [p_of(second[:, field] - first[:, field], trial) for field in range(FIELDS)]
        alone += min(p_values) <= 0.05
        together += min(adjust_holm(p_values)) <= 0.05
    assert together / trials <= allowed(trials)
    assert alone / trials > allowed(trials)


def test_the_ranking_of_equal_systems_is_left_open_and_a_better_one_stands_out() -> None:
    rng, trials, systems = np.random.default_rng(6), 150, 5
    pairs = [(one, other) for one in range(systems) for other in range(one)]
    alarms, finds = 0, 0
    for trial in range(trials):
        values = np.stack([clustered(rng, 0.12).mean(axis=1) for _ in range(systems)])
        values[0] = clustered(rng, 0.12 if trial % 2 else 0.02).mean(axis=1)
        p_values = adjust_holm([p_of(values[one] - values[other], trial) for one, other in pairs])
        shown = [pair for pair, p in zip(pairs, p_values, strict=True) if p <= 0.05]
        alarms += any(0 not in pair for pair in shown) if trial % 2 == 0 else bool(shown)
        finds += trial % 2 == 0 and any(0 in pair for pair in shown)
    assert alarms / trials <= allowed(trials)
    assert finds / (trials / 2) > 0.5
