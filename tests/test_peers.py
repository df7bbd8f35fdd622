"""Cases that other tools judge wrong, one by one, and what fieldassay says; the numbers are derived by hand.

The number in an id is the row of the table of weak spots; the words after it are what a peer says.
"""

import math
from typing import Any

import polars as pl
import pytest
from tests.effort import cost, costs_at_most
from tests.judging import leaves_of, result_of, rows_of
from tests.peer_cases import (
    ABC,
    ABCD,
    HALF,
    KEYED,
    LINE,
    LINES,
    LIST,
    PAIRS,
    RECORDS,
    TREE,
    TYPO_GOLD,
    TYPO_PRED,
    rows,
    spec_of,
)

from fieldassay.metrics.result.result import Result
from fieldassay.scoring.score import score

METRICS = ("accuracy", "f1", "presence", "items", "counts", "accuracy(regime=baseline)")


def compare(spec: Any, gold: Any, pred: Any) -> Result:
    """Return the result of one document, or of several."""
    records = (one if isinstance(one, list) else [one] for one in (gold, pred))
    return result_of(spec, *records, metrics=METRICS)


@pytest.mark.parametrize(
    ("spec", "gold", "pred", "expected"), [pytest.param(*case, id=name) for name, *case in RECORDS]
)
def test_a_record_scores_this(spec: Any, gold: Any, pred: Any, expected: dict[str, float | None]) -> None:
    result = compare(spec, gold, pred)
    found = {name: result.value(name) for name in expected}
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("field", "gold", "pred", "outcome"), [pytest.param(*case, id=name) for name, *case in PAIRS]
)
def test_two_values_are_judged_so(field: Any, gold: Any, pred: Any, outcome: str) -> None:
    assert leaves_of(spec_of(v=field), {"v": gold}, {"v": pred}) == [("v", outcome)]


def test_a_day_that_could_be_a_month_is_flagged() -> None:
    row = rows_of(spec_of(v="date"), {"v": "2024-03-04"}, {"v": "03/04/2024"}).row(0, named=True)
    assert (row["pred_value"], row["flags"]) == ("2024-04-03", ["ambiguous"])


def test_a_wrong_amount_is_a_wrong_value_and_no_matter_of_format() -> None:
    """Row 29: a peer calls a wrong amount a wrong format."""
    row = rows_of(spec_of(v="money"), {"v": "1,250.00"}, {"v": "1,350.00"}).row(0, named=True)
    assert row["outcome"] == "mismatch"
    assert row["diagnoses"]
    assert not any("format" in name for name in row["diagnoses"])


@pytest.mark.parametrize("count", [50, 51, 300])
def test_long_lists_are_paired_as_well_as_short_ones(count: int) -> None:
    """Row 18: a peer pairs more than 50 rows by position and says F1 0.02."""
    lines = [{"sku": f"s{at}", "name": f"name {at}", "unit": "kg", "n": at % 7} for at in range(count)]
    assert compare(LINES, {"lines": lines}, {"lines": lines[::-1]}).value("f1") == 1.0
    equal = [LINE[0]] * count
    result = compare(LINES, {"lines": equal}, {"lines": equal[::-1]})
    assert (result.value("f1"), result.value("correct")) == (1.0, 4 * count)


def test_the_order_of_two_predicted_rows_is_no_part_of_the_score() -> None:
    """Row 20: a peer says 0.5 and 0.667 for the same rows in another order."""
    gold = {"lines": [{"sku": "a", "name": "x", "n": 1}, {"sku": "a", "name": "y", "n": 2}]}
    pred = [{"sku": "a", "name": "x", "n": 2}, {"sku": "a", "name": "x", "n": 1}]
    values = [
        compare(spec_of(lines=rows("sku", "name", n="number")), gold, {"lines": order}).value("f1")
        for order in (pred, pred[::-1])
    ]
    assert values == [5 / 6, 5 / 6]


@pytest.mark.parametrize(("gold", "pred"), [("tide", "diet"), ("diet", "tide")])
@pytest.mark.parametrize(
    ("comparator", "similarity"), [("levenshtein", 0.25), ("indel", 0.5), ("jaro_winkler", 2 / 3)]
)
def test_a_similarity_does_not_depend_on_the_side(
    gold: str, pred: str, comparator: str, similarity: float
) -> None:
    """Row 41: a peer says 0.25 one way and 0.5 the other."""
    there, back = (
        rows_of(spec_of(v={"type": "text", "compare": comparator}), {"v": first}, {"v": second})["score"][0]
        for first, second in ((gold, pred), (pred, gold))
    )
    assert there == back == pytest.approx(similarity)


@pytest.mark.parametrize(
    ("pred", "invalid", "value"), [(["red", "blue"], 0, 1.0), (["red"], 0, 0.5), ("red", 1, 0.0)]
)
def test_the_root_of_a_record_plays_no_tricks(pred: Any, invalid: int, value: float) -> None:
    """Row 27: a peer gives 1.0 to a single text in place of a whole list, at the root only."""
    options = {"bootstrap": 0, "wrap": "tags"}
    result = score({"1": ["red", "blue"]}, {"s": {"1": pred}}, LIST, **options)
    assert (result.value("accuracy"), result.counts["systems"]["s"]["invalid"]) == (value, invalid)


@pytest.mark.parametrize(
    ("width", "depth", "bound"),
    [
        pytest.param(3, 3, 60, id="3x3x3-peer-2.0s"),
        pytest.param(4, 3, 60, id="4x4x4-peer-6.8s"),
        pytest.param(3, 4, 60, id="3^4-peer-38s"),
        pytest.param(4, 4, 160, id="4^4-peer-over-120s"),
    ],
)
def test_nested_lists_are_paired_in_time(width: int, depth: int, bound: int) -> None:
    """Row 39: a peer computes every level of nesting again for every pair above it."""
    field: Any = rows("a", "b", "c")
    for _ in range(depth - 1):
        field = {"type": "list", "items": {"type": "object", "fields": {"name": "text", "rows": field}}}

    def grow(level: int, stem: str) -> list[dict[str, Any]]:
        if level == 1:
            return [{"a": f"{stem}{at}", "b": "same", "c": str(at)} for at in range(width)]
        return [{"name": f"{stem}{at}", "rows": grow(level - 1, f"{stem}{at}")} for at in range(width)]

    def turn(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            {key: turn(value) if isinstance(value, list) else value for key, value in item.items()}
            for item in items[::-1]
        ]

    tree = grow(depth, "n")
    with costs_at_most(bound):
        result = compare(spec_of(rows=field), {"rows": tree}, {"rows": turn(tree)})
    leaves = 3 * width**depth + sum(width**level for level in range(1, depth))
    assert (result.value("f1"), result.value("correct")) == (1.0, leaves)


QUICK = ("levenshtein", "indel", "jaro_winkler", "anls", "words", "token_set", "exact")


@pytest.mark.parametrize(("comparator", "bound"), [*((name, 4) for name in QUICK), ("ratcliff", 100)])
def test_long_texts_are_compared_in_time(comparator: str, bound: int) -> None:
    """Row 40: peers need about a second for two texts of 2,000 characters."""
    spec = spec_of(v={"type": "text", "compare": comparator})
    gold, pred = (
        "".join(chr(97 + at * 7 % 26) for at in range(2000)),
        "".join(chr(97 + at * 11 % 26) for at in range(2000)),
    )
    compare(spec, {"v": "a"}, {"v": "b"})  # what is imported late is not part of the comparison
    assert min(cost(lambda: compare(spec, {"v": gold}, {"v": pred})) for _ in range(3)) < bound
    accuracy = compare(spec, {"v": gold}, {"v": pred}).value("accuracy")
    assert accuracy < 1.0


def test_a_threshold_never_makes_a_wrong_value_accurate() -> None:
    """stickler#234: with a threshold of 0 a wholly wrong prediction is perfect."""
    field = {"type": "text", "compare": "levenshtein", "accept": "> 0"}
    result = compare(spec_of(v=field), {"v": "abcd"}, {"v": "wxyz"})
    assert (result.value("accuracy"), result.value("f1")) == (0.0, 0.0)
    assert compare(spec_of(v={**field, "accept": 0}), {"v": "abcd"}, {"v": "wxyz"}).value("accuracy") == 0.0


def test_equal_records_are_right_and_nothing_else() -> None:
    """stickler#233: a false discovery beside a score of 1.0."""
    result = compare(LINES, {"lines": LINE}, {"lines": LINE})
    assert [result.value(name) for name in ("f1", "correct", "wrong", "missing", "spurious")] == [
        1.0,
        16,
        0,
        0,
        0,
    ]


def test_a_prediction_of_nothing_gets_nothing() -> None:
    """stickler#272, #345: fields empty on both sides pay, up to an F1 of 1.0 for a prediction of nothing."""
    result = compare(ABCD, [{"a": "x"}] * 3, [{}] * 3)
    assert [result.value(name) for name in ("accuracy", "accuracy_pooled", "recall", "f1")] == [
        0.0,
        0.0,
        0.0,
        0.0,
    ]
    assert result.value("precision") is None


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_a_list_of_one_is_scored_like_a_list_of_two(count: int) -> None:
    """stickler#224, #231: the same share of errors scores differently in a list of one item.

    A pair is matched and missing at once.
    """
    wrong = [{**line, "n": -5} for line in LINE[:count]]
    result = compare(LINES, {"lines": LINE[:count]}, {"lines": wrong})
    assert [result.value(name) for name in ("f1", "accuracy", "missing", "spurious")] == [0.75, 0.75, 0, 0]


def test_a_spec_says_the_same_in_every_form() -> None:
    """stickler#334, #348: the same data scores 0.0 or 0.56, depending on how the schema was written."""
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "x-fieldassay": {"compare": "levenshtein"}},
            "lines": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"sku": {"type": "string"}, "n": {"type": "number"}},
                },
            },
        },
    }
    text = (
        "fields: {name: {type: text, compare: levenshtein}, lines: {type: list, items: {type: object, "
        "fields: {sku: text, n: number}}}}"
    )
    mapping = spec_of(name={"type": "text", "compare": "levenshtein"}, lines=rows("sku", n="number"))
    gold = {"name": "abcd", "lines": [{"sku": "a", "n": 1}, {"sku": "b", "n": 2}]}
    pred = {"name": "abcx", "lines": [{"sku": "b", "n": 2}, {"sku": "a", "n": 9}]}
    values = [
        (result.value("accuracy"), result.value("f1"))
        for result in (compare(spec, gold, pred) for spec in (schema, text, mapping))
    ]
    assert values == [pytest.approx((3.75 / 5, 3 / 5))] * 3


def test_weights_move_the_weighted_accuracy_of_a_dataset() -> None:
    """stickler#122: bulk evaluation drops the weights."""
    spec = spec_of(a={"type": "text", "weight": 3}, b="text")
    result = compare(spec, [{"a": "x", "b": "y"}] * 2, [{"a": "x", "b": "?"}, {"a": "?", "b": "y"}])
    assert (result.value("accuracy_weighted"), result.value("accuracy")) == (
        pytest.approx((0.75 + 0.25) / 2),
        0.5,
    )


def test_unmatched_gold_is_part_of_f1() -> None:
    """donut#32: a published 91.5 was 83.6, since gold without a partner was left out."""
    result = compare(LINES, [{"lines": LINE}, {"lines": LINE}], [{"lines": LINE}, {"lines": []}])
    assert result.value("f1") == pytest.approx(2 * 16 / (2 * 16 + 16))


def test_a_record_of_records_equals_itself() -> None:
    """stickler#297: fields that hold objects score 0 against themselves."""
    record = {"m": {"a": {"b": {"c": 1, "d": [{"e": None, "f": "x"}]}}}}
    assert compare(TREE, record, record).value("accuracy") == 1.0


def test_empty_lists_are_no_nan() -> None:
    """json-diff#12: two empty lists compare to NaN."""
    result = compare(LIST, [{"tags": []}, {"tags": ["a"]}], [{"tags": []}, {"tags": ["a"]}])
    assert all(estimate.value is None or math.isfinite(estimate.value) for estimate in result.estimates)
    assert result.value("accuracy") == 1.0


def test_an_undeclared_key_is_counted_and_told() -> None:
    """Rows 17, 29 and 33: keys that nobody asked for are free, invisible, or cost everything."""
    result = compare(
        ABC,
        {"a": "x", "b": "y", "c": "z"},
        {"a": "x", "b": "y", "c": "z", "iban": "DE00", "bic": "X", "d": 1},
    )
    assert (result.value("accuracy"), result.counts["systems"]["s"]["undeclared"]) == (
        1.0,
        {"bic": 1, "d": 1, "iban": 1},
    )
    assert any("iban" in warning for warning in result.warnings)


def test_silence_counts_only_where_the_name_of_the_number_says_so() -> None:
    """Trap: correct silence inside a mean without saying so."""
    result = result_of(ABC, [{"a": "x"}], [{"a": "y"}], metrics=("accuracy", "accuracy(regime=baseline)"))
    assert (result.value("accuracy"), result.value("accuracy(regime=baseline)")) == (
        0.0,
        pytest.approx(2 / 3),
    )
    assert {estimate.regime for estimate in result.estimates if estimate.metric == "accuracy"} == {
        "filled",
        "baseline",
    }


def test_an_exact_key_pairs_only_exact_keys() -> None:
    """Row 19: the meaning of `key`; items without a partner are marked, and nothing of gold is lost."""
    result = compare(KEYED, TYPO_GOLD, TYPO_PRED)
    assert [result.value(name) for name in ("f1", "missing", "spurious")] == [0.5, 3, 3]


def test_the_values_of_a_row_without_a_partner_stay_in_the_denominators() -> None:
    """Row 4: at a higher threshold a peer counts fewer gold values."""
    for least in ("none", 0.1, 0.5, 0.9):
        field = {**LINES["fields"]["lines"], "align": {"assignment": {"min_similarity": least}}}
        evidence = rows_of(spec_of(lines=field), {"lines": LINE}, {"lines": HALF}).filter(kind="value")
        assert (
            evidence.filter(pl.col("outcome").is_in(["match", "partial", "mismatch", "missing"])).height == 16
        )
