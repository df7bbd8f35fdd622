"""Aligners of lists."""

from __future__ import annotations

from itertools import combinations, permutations
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fieldassay.errors import ProblemsError
from fieldassay.scoring.score import score
from fieldassay.values.aligners import Assignment, Key, Ordered, Sequence
from fieldassay.values.catalogue import ALIGNERS

#

EXAMPLES = {"ordered": Ordered(), "sequence": Sequence(), "assignment": Assignment(), "key": Key(("sku",))}

shapes = st.tuples(st.integers(0, 5), st.integers(0, 5))
matrices = shapes.flatmap(
    lambda shape: arrays.arrays(np.float64, shape, elements=st.integers(0, 8).map(lambda step: step / 8))
)
floors = st.integers(1, 8).map(lambda step: step / 8)


def total(similarity, pairs):
    return float(sum(similarity[row, column] for row, column in zip(*pairs, strict=True)))


def pairings(m, n, is_ordered=False):
    for size in range(min(m, n) + 1):
        for rows in combinations(range(m), size):
            for columns in combinations(range(n), size) if is_ordered else permutations(range(n), size):
                yield rows, columns


def best_total(similarity, floor=0.0, is_ordered=False):
    allowed = np.where(similarity >= floor, similarity, 0.0)
    return max(total(allowed, pairs) for pairs in pairings(*similarity.shape, is_ordered))


def test_every_catalogue_entry_loads():
    assert {name: ALIGNERS.load(name) for name in ALIGNERS.names()} == {
        name: type(aligner) for name, aligner in EXAMPLES.items()
    }


@pytest.mark.parametrize("aligner", EXAMPLES.values(), ids=EXAMPLES)
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)], ids=str)
def test_an_empty_side_pairs_nothing(aligner, shape):
    gold, pred = aligner.pair(np.zeros(shape))
    assert len(gold) == len(pred) == 0


@pytest.mark.parametrize("aligner", EXAMPLES.values(), ids=EXAMPLES)
@given(similarity=matrices)
def test_each_position_is_paired_at_most_once(aligner, similarity):
    gold, pred = aligner.pair(similarity)
    assert len(set(gold.tolist())) == len(gold) == len(pred) == len(set(pred.tolist()))
    assert all(
        0 <= row < similarity.shape[0] and 0 <= column < similarity.shape[1]
        for row, column in zip(gold, pred, strict=True)
    )


@given(similarity=matrices)
def test_assignment_finds_the_largest_total(similarity):
    assert total(similarity, Assignment().pair(similarity)) == pytest.approx(best_total(similarity))


@given(similarity=matrices, floor=floors)
def test_a_threshold_bounds_pairs_and_keeps_the_best_of_the_allowed(similarity, floor):
    gold, pred = Assignment(floor).pair(similarity)
    assert (similarity[gold, pred] >= floor).all()
    assert total(similarity, (gold, pred)) == pytest.approx(best_total(similarity, floor))


@given(similarity=matrices)
def test_sequence_finds_the_largest_total_without_crossings(similarity):
    gold, pred = Sequence().pair(similarity)
    assert (np.diff(gold) > 0).all() and (np.diff(pred) > 0).all()
    assert total(similarity, (gold, pred)) == pytest.approx(best_total(similarity, is_ordered=True))


@given(similarity=matrices, seed=st.integers(0, 99))
def test_the_total_does_not_depend_on_the_order_of_items(similarity, seed):
    generator = np.random.default_rng(seed)
    shuffled = similarity[
        np.ix_(generator.permutation(similarity.shape[0]), generator.permutation(similarity.shape[1]))
    ]
    assert total(shuffled, Assignment().pair(shuffled)) == pytest.approx(
        total(similarity, Assignment().pair(similarity))
    )


@pytest.mark.parametrize("shape", [(1, 3), (3, 1), (2, 2), (4, 4), (3, 5), (5, 3), (20, 20)], ids=str)
@pytest.mark.parametrize("aligner", [Assignment(), Assignment(0.5), Key(("sku",)), Sequence()], ids=repr)
def test_ties_keep_the_order_of_the_items(aligner, shape):
    gold, pred = aligner.pair(np.ones(shape))
    assert gold.tolist() == pred.tolist() == list(range(min(shape)))


@pytest.mark.parametrize(
    ("aligner", "pairs"),
    [
        (Assignment(), [(1, 1)]),
        (Assignment("none"), [(0, 0), (1, 1)]),
        (Assignment(0.0), [(0, 0), (1, 1)]),
        (Assignment(0.6), []),
        (Ordered(), [(0, 0), (1, 1)]),
    ],
    ids=repr,
)
def test_items_with_nothing_in_common_are_paired_only_on_request(aligner, pairs):
    gold, pred = aligner.pair(np.array([[0.0, 0.0], [0.0, 0.5]]))
    assert list(zip(gold.tolist(), pred.tolist(), strict=True)) == pairs


def test_a_mean_of_equal_keys_reaches_the_threshold_of_one():
    assert len(Key(("a", "b", "c")).pair(np.array([[(0.1 + 0.2) / 0.3 - 2e-16]]))[0]) == 1


@pytest.mark.parametrize("aligner", [Assignment(), Assignment(0.5), Key(("sku",)), Sequence()], ids=repr)
@pytest.mark.parametrize(
    "similarity", [np.array([[np.nan]]), np.array([[1.0, np.nan], [0.5, 0.5]])], ids=["one", "four"]
)
def test_nan_is_refused_in_words(aligner, similarity):
    with pytest.raises(ValueError, match="NaN"):
        aligner.pair(similarity)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Assignment(1.5),
        lambda: Assignment(-0.1),
        lambda: Key(()),
        lambda: Sequence(2),
        lambda: Key(("a",), 9),
    ],
)
def test_options_out_of_range_are_refused(make):
    with pytest.raises(ValueError, match=r"min_similarity|fields"):
        make()


# Aligning by key: what is paired where keys are equal, missing, or no keys at all


def count(
    gold: list[Any], predicted: list[Any], options: dict[str, Any], metric: str = "items_matched"
) -> Any:
    fields = {"k": "text", "a": "text", "b": "text"}
    listed = {
        "items": {"fields": fields},
        "align": {"key": {"fields": "k", **options}},
        "combine": "agreement",
    }
    result = score(
        [{"id": 1, "x": gold}],
        [{"id": 1, "x": predicted}],
        {"fields": {"x": listed}, "metrics": [metric]},
        bootstrap=0,
    )
    return next(estimate.value for estimate in result.estimates if estimate.field is None)


@pytest.mark.parametrize(
    ("gold", "predicted", "keyless", "matched"),
    [
        ({"a": "1"}, {"a": "1"}, "alike", 1),
        ({"a": "1"}, {"a": "2"}, "alike", 0),
        ({"a": "1"}, {"a": "2"}, "equal", 1),
        ({"k": "x", "a": "1"}, {"a": "1"}, "equal", 0),
        ("word", "word", "equal", 1),
        ("word", "other", "equal", 0),
        ("word", {"a": "1"}, "equal", 0),
        ("word", "other", "alike", 0),
    ],
    ids=str,
)
def test_items_without_a_key_pair_as_keyless_says(
    gold: Any, predicted: Any, keyless: str, matched: int
) -> None:
    assert count([gold], [predicted], {"keyless": keyless}) == matched


@pytest.mark.parametrize("seed", range(20))
def test_equal_keys_pair_so_that_most_fields_are_right(seed: int) -> None:
    draw = Random(seed)
    gold, predicted = (
        [{"k": "x", **{name: draw.choice(["1", "2", "3"]) for name in "ab"}} for _ in range(5)]
        for _ in range(2)
    )
    right = [[sum(one[name] == other[name] for name in "ab") for other in predicted] for one in gold]
    best = max(sum(right[at][to] for at, to in enumerate(order)) for order in permutations(range(5)))
    assert count(gold, predicted, {}, 'correct(fields="a|b")') == best


def test_silence_in_a_filled_field_decides_only_among_equally_good_pairings() -> None:
    gold = [{"k": "x", "a": "1"}, {"k": "x", "b": "1"}]
    assert count(gold, [{"k": "x", "b": "1"}], {"filled": ["b"]}, "correct(fields=b)") == 1
    assert count(gold, [{"k": "x", "a": "1"}], {"filled": ["b"]}, "correct(fields=a)") == 1


def test_wrong_options_are_refused() -> None:
    with pytest.raises(ValueError, match="keyless is 'never'"):
        Key(("k",), keyless="never")  # type: ignore[arg-type]
    with pytest.raises(ProblemsError, match="the items have no field 'zzz'"):
        count([], [], {"filled": ["zzz"]})
