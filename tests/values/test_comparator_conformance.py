"""What every comparator must do, whatever it computes."""

import pickle
from decimal import Decimal
from typing import get_type_hints

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.values.comparator_cases import LISTS, build, column, list_column, names, same_scores

from fieldassay.values.catalogue import COMPARATORS
from fieldassay.values.comparators.base import Comparator
from fieldassay.values.types.column import Column, Reading, objects

SCALARS = {
    "number": ["1", "1.0", "2", "101", "100", "-3.5", "0", "1 to 2", "1 to 2.01", "x"],
    "range": ["1", "1 to 2", "1 to 2.01", "0 to 9", "5", "x"],
    "money": ["5 EUR", "5 USD", "5", "5.00 EUR", "6 EUR", "5 $", "0 EUR"],
    "quantity": ["5 kg", "5000 g", "5 lb", "5", "5 m3/h", "5 Nm3/h", "1 to 2 kg", "1/2 kg", "2/3/4 kg"],
    "by_kind": ["1", "1.5", "100", "101", "true", '"1"', '"acme corp"', '"acme"'],
    "date": ["2024-03-04", "2024-04-03", "2024-03", "2024", "2024-03-05", "2024-03-01/2024-03-04"],
}
TEXTS = [
    "",
    "a",
    "A",
    "abc",
    "acme corp",
    "acme corp ltd",
    "ltd acme corp",
    "12 345",
    "12-345",
    "12346",
    "5 May 2025",
    "05/05/2025",
    "5",
    "é\ud800\x00",
]
CALLS = {
    **{name: [name] for name in COMPARATORS.entries if name != "cascade"},
    "cascade": [
        {
            "cascade": {
                "steps": [{"exact": {"ignore": " ,"}}, "words", "levenshtein"],
                "scores": [None, 0.95, None],
            }
        }
    ],
}
CALLS["exact"] = ["exact", {"exact": {"ignore": ",$ "}}]
CALLS["exact"].append({"exact": {"ignore": ",$ abc", "nothing_left": "equal"}})
CALLS["bare_number"] = ["bare_number", {"bare_number": {"tolerance": 0.01}}]
CALLS["synonyms"] = [{"synonyms": {"words": {"a": ["A"], "5": ["abc", "12346"]}}}]
CALLS["number"] = [
    "number",
    {"number": {"tolerance": 0.01}},
    {"number": {"tolerance": {"ulp": 1, "zero": 0.5, "absolute": 0.1}}},
]
CALLS["range"] = [{"range": {"by": by, "tolerance": 0.01}} for by in ("ends", "inside", "overlap")]
CALLS["money"] = ["money", {"money": {"currency": "strict"}}]
CALLS["quantity"] = ["quantity", {"quantity": {"strict": True}}, {"quantity": {"missing_unit": "ignored"}}]
CALLS["date"] = ["date", {"date": {"days": 2}}, {"date": {"precision": "coarsest"}}]
CALLS["token_set"] = [
    {"token_set": {"measure": measure, "repeats": repeats}}
    for measure in ("jaccard", "dice")
    for repeats in (True, False)
]
for entry in LISTS:
    CALLS[entry] = [entry, {entry: {"items": "levenshtein"}}]
CASES = [pytest.param(name, call, id=str(call)) for name, calls in CALLS.items() for call in calls]


def all_values(name):
    if name in LISTS:
        return list_column(
            [[], ["a"], ["a", "b"], ["b", "a"], ["a", "a", "b"], ["acme corp", "acme"], ["x"], ["", "a", ""]]
        )
    return column(name, SCALARS.get(name, TEXTS))


def every_pair(values):
    rows, columns = np.divmod(np.arange(len(values) ** 2), len(values))
    return values.take(rows), values.take(columns)


def test_every_comparator_is_put_to_the_test():
    assert set(CALLS) == set(COMPARATORS.entries)


@pytest.mark.parametrize(("name", "call"), CASES)
def test_scores_are_bounded_and_reasons_known(name, call):
    comparator = build(call)
    gold, pred = every_pair(all_values(name))
    scores = comparator.compare_all(gold, pred)
    assert ((scores.score >= 0) & (scores.score <= 1)).all()
    assert scores.score.dtype == np.float64
    assert scores.reason.dtype == np.int16
    assert ((scores.reason >= 0) & (scores.reason < len(comparator.reasons))).all()
    assert comparator.reasons[:2] == ("equal", "different")
    assert (scores.score[scores.reason == comparator.reasons.index("different")] == 0).all()


@pytest.mark.parametrize(("name", "call"), CASES)
def test_equal_values_score_one_with_reason_zero(name, call):
    values = all_values(name)
    scores = build(call).compare_all(values, values)
    assert scores.score.tolist() == [1.0] * len(values)
    assert scores.reason.tolist() == [0] * len(values)


@pytest.mark.parametrize(("name", "call"), CASES)
def test_a_batch_says_what_single_pairs_say_in_any_order(name, call):
    comparator = build(call)
    gold, pred = every_pair(all_values(name))
    whole = comparator.compare_all(gold, pred)
    singles = [comparator.compare_one(gold.reading(at), pred.reading(at)) for at in range(len(gold))]
    assert list(zip(whole.score.tolist(), names(comparator, whole), strict=True)) == singles
    order = np.random.default_rng(5).permutation(len(gold))
    shuffled = comparator.compare_all(gold.take(order), pred.take(order))
    assert shuffled.score.tolist() == whole.score[order].tolist()
    assert shuffled.reason.tolist() == whole.reason[order].tolist()


SYMMETRIC = frozenset(
    [
        "Levenshtein",
        "Indel",
        "JaroWinkler",
        "Anls",
        "TokenSet",
        "Synonyms",
        "SetComparator",
        "Bag",
        "ByPosition",
        "Sequence",
        "Embedding",
    ]
)


@pytest.mark.parametrize(
    ("name", "call"),
    [case for case in CASES if SYMMETRIC & {base.__name__ for base in type(build(case.values[1])).__mro__}],
)
def test_swapped_sides_score_the_same(name, call):
    gold, pred = every_pair(all_values(name))
    comparator = build(call)
    assert np.allclose(
        comparator.compare_all(gold, pred).score, comparator.compare_all(pred, gold).score, rtol=0, atol=1e-15
    )


@pytest.mark.parametrize(("name", "call"), CASES)
def test_by_canonical_holds_where_it_is_claimed(name, call):
    comparator = build(call)
    gold, pred = every_pair(all_values(name))
    scores = comparator.compare_all(gold, pred)
    unequal = gold.canonical != pred.canonical
    if comparator.by_canonical:
        assert set(scores.score[unequal]) <= {0.0}
        assert set(scores.reason[unequal]) <= {1}
    else:
        assert comparator.skips_equal or set(scores.extras)


HOSTILE = [
    "",
    "\x00",
    "\ud800",
    "\u202e12",
    "NaN",
    "Infinity",
    "-inf",
    "1e999999999",
    "9" * 5000,
    "x" * 3000,
    "a b " * 900,
    "((((((",
    "1/2/3/4/5" * 90,
]


@pytest.mark.parametrize(("name", "call"), CASES)
def test_hostile_texts_and_values_raise_nothing(name, call):
    values = [*HOSTILE, None, float("nan"), float("inf"), Decimal("sNaN"), Decimal("1e999999"), True, 10**400]
    hostile = Column(
        *(
            objects([str(value) for value in values]) if kind != "values" else objects(values)
            for kind in ("texts", "values", "canonical")
        )
    )
    comparator = build(call)
    gold, pred = every_pair(hostile)
    scores = comparator.compare_all(gold, pred)
    assert same_scores(scores, comparator.compare_all(gold, pred))
    assert ((scores.score >= 0) & (scores.score <= 1)).all()


@pytest.mark.parametrize(
    "name",
    [
        "exact",
        "digits",
        "words",
        "token_set",
        "indel",
        "levenshtein",
        "ratcliff",
        "jaro_winkler",
        "anls",
        "date_parts",
    ],
)
@given(pairs=st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), max_size=6))
def test_any_texts_are_scored_within_bounds(name, pairs):
    gold, pred = (
        Column.of([Reading(pair[side], pair[side], pair[side]) for pair in pairs]) for side in (0, 1)
    )
    scores = build(name).compare_all(gold, pred)
    assert ((scores.score >= 0) & (scores.score <= 1)).all()


@pytest.mark.parametrize(("name", "call"), CASES)
def test_comparators_are_values(name, call):
    assert build(call) == build(call)
    assert hash(build(call)) == hash(build(call))
    copy = pickle.loads(pickle.dumps(build(call)))
    assert (copy, copy.reasons, copy.by_canonical) == (
        build(call),
        build(call).reasons,
        build(call).by_canonical,
    )
    assert get_type_hints(type(build(call)))["reasons"]
    assert isinstance(build(call), Comparator)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"number": {"tolerance": -1}}, "0 or more"),
        ({"number": {"tolerance": {"relativ": 0.1}}}, "unknown part 'relativ'"),
        ({"number": {"tolerance": {"absolute": 1, "scale": "at_least_one"}}}, "only with `relative`"),
        ({"date": {"days": -1}}, "0 or more"),
        ({"contains": {"score": 2}}, "from 0 to 1"),
        ({"words": {"threshold": 80}}, "from 0 to 1"),
        ({"anls": {"threshold": "NaN"}}, "from 0 to 1|finite"),
        ({"jaro_winkler": {"prefix_weight": 0.5}}, "from 0 to 0.25"),
        ({"phone_digits": {"steps": [[0.6, 0.5], [0.8, 0.8]]}}, "largest share"),
        ({"date_components": {"partial": -0.1}}, "from 0 to 1"),
        ({"cascade": {"steps": []}}, "no steps"),
        ({"cascade": {"steps": ["exact"], "scores": [1, 1]}}, "one per step"),
        ({"cascade": {"steps": ["exact"], "thresholds": [7]}}, "from 0 to 1"),
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        build(call)
