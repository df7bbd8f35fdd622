"""Two extractors that are equally good are told apart no more often than the level says."""

from __future__ import annotations

import pytest
from measures import LEVEL, NULLS, measure_nulls
from rates import Rate

TRIALS = {"12 documents": 250, "50 documents x 12 fields, 6 % bad documents": 200}


@pytest.mark.parametrize("name", NULLS)
def test_equal_extractors_are_rarely_told_apart(name: str) -> None:
    *proper, naive = measure_nulls(TRIALS.get(name, 100), 21, (name,))
    assert len(proper) == 3
    for rate in proper:
        assert rate.is_kept, rate
    if not name.startswith("documents that are hard"):  # given how hard a document is, its fields are independent
        assert not Rate("", naive.what, naive.count, naive.trials, most=LEVEL).is_kept, naive


def test_the_tests_are_not_asleep_and_one_of_single_fields_cries_wolf_in_a_fifth_of_the_trials() -> None:
    accuracy, f1, documents, naive = measure_nulls(200, 22, ("50 documents x 12 fields, 6 % bad documents",))
    assert Rate("", "", naive.count, naive.trials, 0.15, 0.30).is_kept
    assert min(accuracy.share, f1.share) >= 0.01
    assert {"sign_flip", "exchange", "mcnemar"} == {rate.what.rsplit("(", 1)[1].rstrip(")") for rate in (accuracy, f1, documents)}
