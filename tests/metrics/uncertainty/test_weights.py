"""Bootstrap weights are the same everywhere and for ever, and those of the law that they are named after."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fieldassay.metrics.statistics.sums import WEIGHT_BITS
from fieldassay.metrics.uncertainty.weights import (
    STEP_BITS,
    STEPS,
    count_table,
    document_keys,
    unseen_weights,
    weight_table,
    weights,
)

IDS = ["invoice-0001", "a", "", "Ω/é.png", "\ud800"]

COUNTS = {
    0: ["3002120113533320", "0132000210120330", "1312021111000211", "1001021011110102", "0021001001001000"],
    7: ["0002100101100101", "0310131001113100", "3100111222200011", "1102011021111110", "2231101001012001"],
}
"""Poisson counts, pinned since the first version: the draws behind both tables."""

PINNED = [[45, 6, 7, 29, 10, 22, 2, 10], [5, 16, 58, 22, 1, 3, 4, 38]]
"""Sixteenths of the first two ids under seed 0."""


@pytest.mark.parametrize("seed", COUNTS)
def test_draws_are_the_ones_of_the_first_version(seed: int) -> None:
    drawn = weights(document_keys(IDS, seed), 0, 16, count_table())
    assert ["".join(map(str, row)) for row in drawn] == COUNTS[seed]


def test_weights_are_pinned() -> None:
    drawn = weights(document_keys(IDS[:2], 0), 0, 8, weight_table())
    assert drawn.tolist() == PINNED


def test_the_key_of_an_id_is_pinned_and_wraps_negative_seeds() -> None:
    assert [hex(key) for key in document_keys(["a"], 0)] == ["0x2a2ad578af9eb97b"]
    assert document_keys(["a"], -1) == document_keys(["a"], 2**64 - 1)


def test_order_batch_and_block_do_not_matter() -> None:
    table, keys = weight_table(), document_keys(IDS, 3)
    whole = weights(keys, 0, 40, table)
    backwards = weights(keys[::-1], 0, 40, table)[::-1]
    in_parts = np.concatenate([weights(keys[:2], 0, 40, table), weights(keys[2:], 0, 40, table)])
    in_blocks = np.concatenate([weights(keys, first, 8, table) for first in range(0, 40, 8)], axis=1)
    for other in (backwards, in_parts, in_blocks, weights(keys, 0, 40, weight_table(np.float64))):
        assert np.array_equal(whole, other)


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.9, 0.99, 0.999])
def test_the_table_is_exponential_to_half_a_step(share: float) -> None:
    """A step is a sixteenth: at the quantile of each share the weight is the exact one, rounded."""
    exact = -math.log1p(-share)
    assert abs(float(weight_table()[int(share * 65536)]) / STEPS - exact) <= 0.5 / STEPS + 0.002


def test_sums_know_how_many_bits_weights_have() -> None:
    assert (WEIGHT_BITS, STEPS) == (STEP_BITS, 2**STEP_BITS)


def test_the_table_of_counts_is_poisson_to_sixteen_bits_and_its_mean_is_one() -> None:
    table = count_table()
    for weight in range(8):
        exact = math.exp(-1) * sum(1 / math.factorial(k) for k in range(weight + 1))
        assert abs(np.count_nonzero(table <= weight) / 65536 - exact) <= 2**-17
    assert (table.mean(dtype=np.float64), table.max()) == (1.0, 8)
    assert table.astype(np.float64).var() == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize(("table", "unit"), [(weight_table, STEPS), (count_table, 1)])
def test_drawn_weights_have_mean_and_variance_one_and_documents_are_uncorrelated(
    table: type, unit: int
) -> None:
    keys = document_keys([f"doc-{number}" for number in range(200)], 0)
    drawn = weights(keys, 0, 4000, table(np.float64)) / unit
    assert drawn.mean() == pytest.approx(1.0, abs=0.005)
    assert drawn.var() == pytest.approx(1.0, abs=0.015)
    correlations = np.corrcoef(drawn[:40])[np.triu_indices(40, 1)]
    assert np.abs(correlations).max() < 5 / math.sqrt(4000)


@pytest.mark.parametrize("replicates", [1, 2, 999, 2000])
def test_the_unseen_document_is_a_coin_and_an_exponential_weight_by_quantiles(replicates: int) -> None:
    """The set of draws does not depend on the seed, so that the bounds of a perfect run do not."""
    drawn, again = unseen_weights(0, replicates), unseen_weights(1, replicates)
    assert np.array_equal(np.sort(drawn), np.sort(again))
    assert replicates < 3 or not np.array_equal(drawn, again)
    ordered = np.sort(np.abs(drawn))[::-1]
    assert abs(int((drawn > 0).sum()) - int((drawn < 0).sum())) <= replicates % 2
    for rank in range(0, replicates, max(1, replicates // 7)):  # P(|g| > x) = exp(-x)
        assert math.exp(-ordered[rank]) == pytest.approx((rank + 1) / replicates, abs=1.01 / replicates)


@pytest.mark.parametrize("away", [-np.inf, np.inf])
def test_the_last_bit_of_a_logarithm_which_processors_round_differently_does_not_show(
    away: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, log1p = (weight_table.__wrapped__(), unseen_weights(0, 2000)), np.log1p
    monkeypatch.setattr(np, "log1p", lambda values: np.nextafter(log1p(values), away))
    for one, other in zip(made, (weight_table.__wrapped__(), unseen_weights(0, 2000)), strict=True):
        assert np.array_equal(one, other)
