"""Intervals against known values, and how often they cover."""

from __future__ import annotations

import numpy as np
import pytest

from fieldassay.metrics.uncertainty.intervals import percentile_intervals, quantile_interval
from fieldassay.metrics.uncertainty.weights import document_keys, weight_table, weights


def test_percentiles_are_those_of_numpy_on_the_defined_replicates() -> None:
    values = np.random.default_rng(1).normal(size=(5, 301))
    values[1, ::3] = np.nan
    values[2, 1:] = np.nan
    values[3, :] = np.nan
    found = percentile_intervals(values, 0.9)
    for row in (0, 1, 2, 4):
        assert [found.low[row], found.high[row]] == pytest.approx(np.nanquantile(values[row], [0.05, 0.95]))
    assert np.isnan([found.low[3], found.high[3]]).all()
    assert found.dropped.tolist() == [0, 101, 300, 301, 0]


QUANTILES = {
    (100, 0.5): (40.0, 61.0),
    (1000, 0.5): (469.0, 532.0),
    (1000, 0.9): (881.0, 919.0),
    (6, 0.5): (1.0, 6.0),
}
"""Ranks of the order statistics; the median's are those of tables (Conover)."""


@pytest.mark.parametrize(("n", "share"), QUANTILES)
def test_order_statistics_bound_a_quantile(n: int, share: float) -> None:
    assert quantile_interval(np.arange(1.0, n + 1), share, 0.95) == QUANTILES[n, share]


@pytest.mark.parametrize("n", [60, 777, 1_000_000])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_ranks_are_those_of_the_binomial_distribution(n: int, share: float) -> None:
    from scipy.stats import binom

    interval = quantile_interval(np.arange(float(n)), share, 0.9)
    assert interval is not None
    low, high = int(interval.low), int(interval.high)
    assert binom.cdf(low, n, share) <= 0.05 < binom.cdf(low + 1, n, share)
    assert binom.cdf(high - 1, n, share) < 0.95 <= binom.cdf(high, n, share)


@pytest.mark.parametrize(("n", "share"), [(5, 0.5), (50, 0.99), (1, 0.9)])
def test_too_few_values_bound_nothing(n: int, share: float) -> None:
    assert quantile_interval(np.arange(float(n)), share, 0.95) is None


def test_order_statistics_cover_the_true_quantile_at_least_as_often_as_promised() -> None:
    generator, trials = np.random.default_rng(2), 400
    hits = 0
    for _ in range(trials):
        interval = quantile_interval(np.sort(generator.exponential(size=120)), 0.9, 0.95)
        assert interval is not None
        hits += interval.low <= np.log(10) <= interval.high
    assert hits / trials >= 0.93


def test_bootstrap_over_documents_covers_where_one_over_fields_would_not() -> None:
    """100 documents x 12 fields, 10% bad documents: weights of documents cover about 95%, of fields not."""
    generator, trials, documents, fields = np.random.default_rng(3), 200, 100, 12
    table, truth = weight_table(np.float64), 0.9 * 0.95 + 0.1 * 0.3
    covered = {"documents": 0, "fields": 0}
    for trial in range(trials):
        quality = np.where(generator.random(documents) < 0.1, 0.3, 0.95)
        right = (generator.random((documents, fields)) < quality[:, None]).astype(float)
        drawn = weights(document_keys([f"{trial}-{number}" for number in range(documents)], 0), 0, 400, table)
        replicates = (right.sum(axis=1) @ drawn) / (fields * drawn.sum(axis=0))
        bounds = percentile_intervals(replicates[None, :], 0.95)
        covered["documents"] += bool(bounds.low[0] <= truth <= bounds.high[0])
        half = 1.96 * np.sqrt(right.mean() * (1.0 - right.mean()) / right.size)
        covered["fields"] += bool(abs(right.mean() - truth) <= half)
    assert covered["documents"] / trials >= 0.9
    assert covered["fields"] / trials <= 0.8
