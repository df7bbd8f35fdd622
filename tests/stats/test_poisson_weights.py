"""Bootstrap weights are the same everywhere and for ever."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fieldassay.stats.poisson import MAX_WEIGHT, document_keys, weight_table, weights

IDS = ["invoice-0001", "a", "", "Ω/é.png", "\ud800"]

PINNED = {
    0: ["3002120113533320", "0132000210120330", "1312021111000211", "1001021011110102", "0021001001001000"],
    7: ["0002100101100101", "0310131001113100", "3100111222200011", "1102011021111110", "2231101001012001"],
}


@pytest.mark.parametrize("seed", PINNED)
def test_weights_are_the_ones_of_the_first_release(seed: int) -> None:
    drawn = weights(document_keys(IDS, seed), 0, 16, weight_table())
    assert ["".join(map(str, row)) for row in drawn] == PINNED[seed]


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


def test_the_table_is_poisson_to_sixteen_bits_and_its_mean_is_one() -> None:
    table = weight_table()
    for weight in range(MAX_WEIGHT):
        exact = math.exp(-1) * sum(1 / math.factorial(k) for k in range(weight + 1))
        assert abs(np.count_nonzero(table <= weight) / 65536 - exact) <= 2**-17
    assert (table.mean(dtype=np.float64), table.max()) == (1.0, MAX_WEIGHT)
    assert table.astype(np.float64).var() == pytest.approx(1.0, abs=1e-4)


def test_drawn_weights_have_mean_and_variance_one_and_documents_are_uncorrelated() -> None:
    drawn = weights(
        document_keys([f"doc-{number}" for number in range(200)], 0), 0, 4000, weight_table(np.float64)
    )
    assert drawn.mean() == pytest.approx(1.0, abs=0.005)
    assert drawn.var() == pytest.approx(1.0, abs=0.01)
    correlations = np.corrcoef(drawn[:40])[np.triu_indices(40, 1)]
    assert np.abs(correlations).max() < 5 / math.sqrt(4000)
