"""Two extractors that are equally good are told apart no more often than the level says."""

from __future__ import annotations

import pytest
from measures import LEVEL, NULLS, measure_nulls
from rates import Rate
from tests.effort import is_full, trials

USUAL, *OTHERS = NULLS


def test_equal_extractors_are_rarely_told_apart_by_documents_and_often_by_single_fields() -> None:
    accuracy, f1, documents, naive = measure_nulls(trials(200), 22, (USUAL,))
    for rate in (accuracy, f1, documents):
        assert rate.is_kept, rate
    assert {"halves", "mcnemar"} == {
        rate.what.rsplit("(", 1)[1].rstrip(")") for rate in (accuracy, f1, documents)
    }
    assert min(accuracy.count, f1.count) >= max(accuracy.trials // 100, 1)  # nor are the tests asleep
    assert Rate("", "", naive.count, naive.trials, 0.2, 0.4).is_kept


@pytest.mark.parametrize("name", OTHERS)
def test_equal_extractors_are_rarely_told_apart_whatever_the_documents_are_like(name: str) -> None:
    *proper, naive = measure_nulls(trials(100), 21, (name,))
    assert len(proper) == 3
    for rate in proper:
        assert rate.is_kept, rate
    if (
        is_full() and "hard" not in name
    ):  # given how hard a document is, its fields are independent; a few trials would not show it
        assert not Rate("", naive.what, naive.count, naive.trials, most=LEVEL).is_kept, naive
