"""Aligners of lists, and comparators of lists."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations, permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.optimize import linear_sum_assignment
from tests.values.comparator_cases import build, list_column, list_reading

from fieldassay.errors import ProblemsError
from fieldassay.scoring.score import score
from fieldassay.values import aligners
from fieldassay.values.aligners import Assignment, Key, Ordered, SequenceAligner, load_solver
from fieldassay.values.catalogue import ALIGNERS, COMPARATORS
from fieldassay.values.comparators import lists
from fieldassay.values.comparators.base import Comparator, Scores

# Aligners of lists.

#

EXAMPLES = {
    "ordered": Ordered(),
    "sequence": SequenceAligner(),
    "assignment": Assignment(),
    "key": Key(("sku",)),
}

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


def test_the_solver_is_scipys_and_where_it_is_not_found_the_public_one_is_taken(monkeypatch):
    tied = [np.round(np.random.default_rng(seed).random((5, 6)) * 2) for seed in range(50)]
    pairings = [[side.tolist() for side in load_solver()(matrix, maximize=True)] for matrix in tied]
    public = [[side.tolist() for side in linear_sum_assignment(matrix, maximize=True)] for matrix in tied]
    assert pairings == public and load_solver() is not linear_sum_assignment
    monkeypatch.setattr(aligners.PathFinder, "find_spec", lambda *_: None)
    assert load_solver.__wrapped__() is linear_sum_assignment


@given(similarity=matrices, floor=floors)
def test_a_threshold_bounds_pairs_and_keeps_the_best_of_the_allowed(similarity, floor):
    gold, pred = Assignment(floor).pair(similarity)
    assert (similarity[gold, pred] >= floor).all()
    assert total(similarity, (gold, pred)) == pytest.approx(best_total(similarity, floor))


@given(similarity=matrices)
def test_sequence_finds_the_largest_total_without_crossings(similarity):
    gold, pred = SequenceAligner().pair(similarity)
    assert (np.diff(gold) > 0).all() and (np.diff(pred) > 0).all()
    assert total(similarity, (gold, pred)) == pytest.approx(best_total(similarity, is_ordered=True))


@pytest.mark.parametrize("shape", [(1, 3), (3, 1), (2, 2), (4, 4), (3, 5), (5, 3), (20, 20)], ids=str)
@pytest.mark.parametrize(
    "aligner", [Assignment(), Assignment(0.5), Key(("sku",)), SequenceAligner()], ids=repr
)
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


@pytest.mark.parametrize(
    "aligner", [Assignment(), Assignment(0.5), Key(("sku",)), SequenceAligner()], ids=repr
)
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
        lambda: SequenceAligner(2),
        lambda: Key(("a",), 9),
    ],
)
def test_options_out_of_range_are_refused(make):
    with pytest.raises(ValueError, match=r"min_similarity|fields"):
        make()


# Aligning by key: what is paired where keys are equal, missing, or no keys at all


def count(gold, predicted, options, metric="items_matched"):
    fields = {key: {"type": "text", "both_empty": "agree"} for key in "kab"}
    listed = {"items": {"fields": fields}, "align": {"key": {"fields": "k", **options}}}
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
        ("word", "word", "equal", 0),  # a list of gold without any object is left out
        ("word", "other", "equal", 0),
        ("word", {"a": "1"}, "equal", 0),
        ("word", "other", "alike", 0),
    ],
    ids=str,
)
def test_items_without_a_key_pair_as_keyless_says(gold, predicted, keyless, matched):
    assert count([gold], [predicted], {"keyless": keyless}) == matched


@pytest.mark.parametrize("seed", range(20))
def test_equal_keys_pair_so_that_most_fields_are_right(seed):
    draw = Random(seed)
    gold, predicted = (
        [{"k": "x", **{name: draw.choice(["1", "2", "3"]) for name in "ab"}} for _ in range(5)]
        for _ in range(2)
    )
    right = [[sum(one[name] == other[name] for name in "ab") for other in predicted] for one in gold]
    best = max(sum(right[at][to] for at, to in enumerate(order)) for order in permutations(range(5)))
    assert count(gold, predicted, {}, 'correct(fields="a|b")') == best


def test_wrong_options_are_refused():
    with pytest.raises(ProblemsError, match="'keyless' cannot be"):
        count([], [], {"keyless": "never"})
    with pytest.raises(ProblemsError, match="the items have no field 'zzz'"):
        count([], [], {"filled": ["zzz"]})


# List comparators: published worked examples, definitions by brute force, one inner call per batch.

LISTS = st.lists(st.sampled_from(["a", "b", "c", "ab", "bc"]), max_size=5)
PAIRS = st.lists(st.tuples(LISTS, LISTS), min_size=1, max_size=4)


@dataclass(frozen=True)
class Table(Comparator):
    """Cosines from a table (symmetric), 1 for equal texts; remembers how many pairs each call got."""

    cosines: dict = field(hash=False)
    calls: list = field(default_factory=list, hash=False)

    def compare(self, gold, pred):
        self.calls.append(len(gold))
        pairs = zip(gold.canonical, pred.canonical, strict=True)
        score = np.array(
            [1.0 if one == other else self.cosines.get(frozenset((one, other)), 0.0) for one, other in pairs]
        )
        return Scores(score, np.where(score == 1, 0, 1).astype(np.int16))


def soft(cosines, **options):
    return COMPARATORS.load("soft_coverage")(
        items=Table({frozenset(pair): cosine for pair, cosine in cosines.items()}), **options
    )


def test_soft_coverage_of_the_worked_example():
    scores = soft({("a", "b"): 0.2}).compare_all(list_column([["a", "b"]]), list_column([["a"]]))
    assert {name: column.tolist() for name, column in scores.extras.items()} == {
        "coverage": [0.6],
        "specificity": [1.0],
        "chamfer": [0.8],
        "sf1": [pytest.approx(0.75)],
    }
    assert scores.score.tolist() == [pytest.approx(0.75)]


def test_soft_coverage_of_negative_cosines_is_not_clipped_but_sf1_is_zero():
    comparator = soft({("a", "b"): -0.4}, score="chamfer")
    scores = comparator.compare_all(list_column([["a"]]), list_column([["b"]]))
    assert (scores.score.tolist(), scores.extras["sf1"].tolist()) == ([-0.4], [0.0])
    assert comparator.reasons[scores.reason[0]] == "different"


@pytest.mark.parametrize(
    "name", ["soft_coverage", "iou", "bag", "contained_items", "sequence", "by_position", "overlap"]
)
def test_items_are_compared_once_per_batch_on_distinct_pairs(name):
    inner = Table({})
    gold, pred = list_column([["a", "b"]] * 50 + [["c"]]), list_column([["a", "c", "d"]] * 50 + [["d"]])
    COMPARATORS.load(name)(items=inner).compare_all(gold, pred)
    # (b, c), (c, d); else {a, b} x {a, c, d} without (a, a), which is settled, and (c, d)
    assert inner.calls == [{"by_position": 2}.get(name, 6)]


def test_lists_with_too_many_candidates_are_not_judged(monkeypatch):
    monkeypatch.setattr(lists, "MOST_CANDIDATES", 5)
    comparator = build({"iou": {"items": "levenshtein"}})
    scores = comparator.compare_all(list_column([["a", "b", "c"], ["a"]]), list_column([["b", "c"], ["b"]]))
    assert np.isnan(scores.score[0])
    assert [comparator.reasons[code] for code in scores.reason] == ["too_many_items", "different"]


def matching(gold, pred, match):
    """The most one-to-one matches, by trying every assignment."""
    short, long, swapped = (gold, pred, False) if len(gold) <= len(pred) else (pred, gold, True)
    return max(
        sum(
            match(other, one) if swapped else match(one, other)
            for one, other in zip(short, order, strict=False)
        )
        for order in permutations(long)
    )


def contains(one, other):
    return one in other or other in one


def common_subsequence(gold, pred, match):
    if not gold or not pred:
        return 0
    if match(gold[0], pred[0]):
        return max(
            1 + common_subsequence(gold[1:], pred[1:], match),
            common_subsequence(gold[1:], pred, match),
            common_subsequence(gold, pred[1:], match),
        )
    return max(common_subsequence(gold[1:], pred, match), common_subsequence(gold, pred[1:], match))


def share(part, whole):
    return part / whole if whole else 0.0


def expected(name, gold, pred, match):
    if gold == pred:
        return 1.0
    longest = max(len(gold), len(pred))
    if name == "by_position":
        return share(sum(map(match, gold, pred)), longest)
    if name == "sequence":
        return share(common_subsequence(gold, pred, match), longest)
    if name == "contained_items":
        return share(sum(any(match(one, other) for one in gold) for other in pred), longest)
    if name == "bag":
        return share(matching(gold, pred, match), longest)
    gold, pred = list(dict.fromkeys(gold)), list(dict.fromkeys(pred))
    common = matching(gold, pred, match)
    return share(common, len(gold) + len(pred) - common if name == "iou" else min(len(gold), len(pred)))


@pytest.mark.parametrize("items", ["exact", "contains"])
@pytest.mark.parametrize("name", ["by_position", "sequence", "contained_items", "bag", "iou", "overlap"])
@given(pairs=PAIRS)
def test_list_scores_are_their_definitions(name, items, pairs):
    match = contains if items == "contains" else (lambda one, other: one == other)
    gold, pred = (list_column([pair[side] for pair in pairs]) for side in (0, 1))
    scores = build({name: {"items": items}}).compare_all(gold, pred)
    assert scores.score.tolist() == [expected(name, *pair, match) for pair in pairs]


@given(gold=LISTS, pred=LISTS)
def test_a_bag_of_exact_items_counts_repeats(gold, pred):
    score, _ = build({"bag": {"measure": "f1"}}).compare_one(list_reading(gold), list_reading(pred))
    assert score == (
        1.0 if gold == pred else share(2 * (Counter(gold) & Counter(pred)).total(), len(gold) + len(pred))
    )


@pytest.mark.parametrize(
    ("gold", "pred", "score", "reason"),
    [
        pytest.param(["1", "2"], ["12", "21"], 1.0, "contained_items", id="digits in numbers"),
        pytest.param(["10.00", "20.00"], ["0", "0"], 1.0, "contained_items", id="zeros in amounts"),
        pytest.param(["milk", "bread", "fuel"], ["milk"] * 3, 1.0, "shared_items", id="one for all"),
        pytest.param(["12.00", "150.00"], ["12.00", "12.00"], 1.0, "shared_items", id="one amount twice"),
        pytest.param(["1", "2", "3"], ["12", "7", "8"], 1 / 3, "contained_items", id="partly contained"),
        pytest.param(["a", "b", "c"], ["a", "a", "x"], 2 / 3, "shared_items", id="partly shared"),
        pytest.param(["a", "b"], ["b", "a"], 1.0, "same_items", id="another order"),
        pytest.param(["a", "b"], ["b", "x"], 0.5, "some_items", id="some"),
        pytest.param(["a", "b"], ["x", "y"], 0.0, "different", id="none"),
    ],
)
def test_items_that_only_contain_one_another_or_share_one_are_never_called_the_same(
    gold, pred, score, reason
):
    found = build("contained_items").compare_one(list_reading(gold), list_reading(pred))
    assert found == (pytest.approx(score), reason)
