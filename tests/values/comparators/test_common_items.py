"""Sets compared many at once score as each pair of them does alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.values.comparators.comparator_cases import list_column

from fieldassay.values.comparators import common_items
from fieldassay.values.comparators.items import items_of
from fieldassay.values.comparators.lists import SetIou, SetOverlap

LISTS = st.lists(st.lists(st.sampled_from(["a", "b", "c", "ab", ""]), max_size=5), min_size=1, max_size=6)


@pytest.mark.parametrize("comparator", [SetIou(), SetOverlap()], ids=["iou", "overlap"])
@given(lists=LISTS)
def test_all_pairs_at_once_score_as_one_by_one(
    comparator: SetIou | SetOverlap, lists: list[list[str]]
) -> None:
    column = list_column(lists)
    gold, pred = (side.ravel() for side in np.indices((len(lists), len(lists))))
    together = comparator.compare_at(column, gold, pred)
    apart = comparator.compare(column.take(gold), column.take(pred))
    assert together.score.tolist() == apart.score.tolist()
    assert together.reason.tolist() == apart.reason.tolist()


def test_portions_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = items_of(list_column([["a", "b"], ["b", "c", "d"], [], ["d"]]), is_distinct=True)
    gold, pred = (side.ravel() for side in np.indices((4, 4)))
    whole = common_items.common_counts(sets, gold, pred)
    monkeypatch.setattr(common_items, "_AT_ONCE", 2)
    assert common_items.common_counts(sets, gold, pred).tolist() == whole.tolist()
    assert whole.reshape(4, 4).tolist() == [[2, 1, 0, 0], [1, 3, 0, 1], [0, 0, 0, 0], [0, 1, 0, 1]]
