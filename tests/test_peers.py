"""Cases that other tools judge wrong, one by one, and what fieldassay says; the numbers are derived by hand.

The number in an id is the row of the table of weak spots; the words after it are what a peer says.
"""

from __future__ import annotations

import datetime
import math
import time
from typing import Any

import polars as pl
import pytest

from fieldassay.api.options import InputOptions, ScoreOptions
from fieldassay.api.scoring import score
from fieldassay.result.result import Result
from tests.judging import leaves_of, result_of, rows_of


def spec_of(**fields: Any) -> dict[str, Any]:
    """Return a spec of the fields."""
    return {"fields": fields}


def rows(*names: str, **types: Any) -> dict[str, Any]:
    """Return a list of objects with text fields of these names, and fields of these types."""
    return {"type": "list", "items": {"type": "object", "fields": {**dict.fromkeys(names, "text"), **types}}}


def compare(spec: Any, gold: Any, pred: Any) -> Result:
    """Return the result of one document, or of several."""
    return result_of(spec, gold if isinstance(gold, list) else [gold], pred if isinstance(pred, list) else [pred])


ABC = spec_of(a="text", b="text", c="text")
ABCD = spec_of(a="text", b="text", c="text", d="text")
LINES = spec_of(lines=rows("sku", "name", "unit", n="number"))
LINE = [{"sku": f"s{at}", "name": f"name {at}", "unit": f"u{at}", "n": at} for at in range(4)]
HALF = [{**line, "name": "wrong", "unit": "wrong"} for line in LINE]
LAST = [*LINE[:3], {"sku": "s3", "name": "wrong", "unit": "wrong", "n": -1}]
LIST = spec_of(tags={"type": "list", "items": "text"})
ORDERED = spec_of(tags={"type": "list", "items": "text", "align": "ordered"})
TREE = spec_of(m="any")
KEYED = spec_of(lines={**rows("name", sku="id", n="number"), "align": {"key": "sku"}})
SLACK_KEY = {**rows("name", sku={"type": "text", "compare": "levenshtein", "accept": 1}, n="number"), "align": {"key": {"fields": ["sku"], "min_similarity": 0.8}}}
STRICT = spec_of(o={"type": "object", "extra": "spurious", "fields": {"a": "text", "b": "text"}})
TYPO_GOLD = {"lines": [{"sku": "AB-1001", "name": "bolt", "n": 1}, {"sku": "CD-2002", "name": "nut", "n": 2}]}
TYPO_PRED = {"lines": [{"sku": "AB-10O1", "name": "bolt", "n": 1}, {"sku": "CD-2002", "name": "nut", "n": 2}]}
PRICES = spec_of(lines=rows("sku", price="money"))
HEADER = spec_of(no="text", lines={"type": "list", "items": "text"})
HUNDRED = {"no": "1", "lines": [f"gold {at}" for at in range(100)]}

RECORDS = [
    ("01-recall-1.0-with-two-of-three-values-wrong", ABC, {"a": "x", "b": "y", "c": "z"}, {"a": "x", "b": "?", "c": "!"},
     {"recall": 1 / 3, "precision": 1 / 3, "f1": 1 / 3, "accuracy": 1 / 3}),
    ("02-list-f1-1.0-with-half-of-every-row-wrong", LINES, {"lines": LINE}, {"lines": HALF},
     {"precision": 0.5, "recall": 0.5, "f1": 0.5, "accuracy": 0.5, "perfect_documents": 0.0}),
    ("03-score-0.667-for-an-empty-prediction", ABC, {"a": "x", "b": None, "c": None}, {},
     {"accuracy": 0.0, "accuracy_strict": 0.0, "recall": 0.0, "f1": 0.0, "precision": None, "mr": 1.0}),
    ("04-the-fields-of-a-bad-row-vanish", LINES, {"lines": LINE}, {"lines": LAST},
     {"recall": 13 / 16, "precision": 13 / 16, "recall[lines[].sku]": 1.0, "recall[lines[].name]": 0.75, "missing": 0}),
    ("07-a-text-for-a-number-cannot-be-scored", spec_of(a="text", qty="number"), {"a": "x", "qty": 12}, {"a": "x", "qty": "12 pcs"},
     {"accuracy": 0.5, "recall": 0.5, "precision": 0.5, "f1[qty]": 0.0}),
    ("09-a-record-with-a-value-key-taken-for-an-envelope", spec_of(value="text", status="text"),
     {"value": "v", "status": "ok"}, {"value": "v", "status": "ok"}, {"accuracy": 1.0, "correct": 2}),
    ("09-an-open-record-with-a-value-key-taken-for-an-envelope", TREE,
     {"m": {"value": "v", "status": "ok"}}, {"m": {"value": "v", "status": "ok"}}, {"accuracy": 1.0, "correct": 2}),
    ("10-accuracy-1.0-with-a-wrong-score-key", TREE, {"m": {"value": 3, "score": 9}}, {"m": {"value": 3, "score": 1}},
     {"accuracy": 0.5, "correct": 1, "wrong": 1}),
    ("11-correct-silence-scores-0.0", spec_of(a="text"), {"a": None}, {"a": None}, {"accuracy": None, "f1": None, "fda": 1.0, "absent": 1}),
    ("11-correct-silence-pulls-the-mean-of-a-dataset-down", spec_of(a="text"), [{"a": None}, {"a": "x"}], [{"a": None}, {"a": "x"}],
     {"accuracy": 1.0, "recall": 1.0, "absent": 1}),
    ("14-accuracy-1.0-because-an-open-map-is-skipped", TREE, {"m": {"x": 1}}, {"m": {"x": 2}}, {"accuracy": 0.0, "wrong": 1}),
    ("15-the-document-is-lost-over-a-number-in-a-string", spec_of(a="text", n="number"), {"a": "x", "n": 12.5}, {"a": "x", "n": "12.5"},
     {"accuracy": 1.0}),
    ("15-the-document-is-lost-over-3.0-for-an-integer", spec_of(a="text", n="integer"), {"a": "x", "n": 3}, {"a": "x", "n": 3.0},
     {"accuracy": 1.0}),
    ("15-the-document-is-lost-over-a-null", spec_of(a="text", n="number"), {"a": "x", "n": 3}, {"a": "x", "n": None},
     {"accuracy": 0.5, "recall": 0.5, "precision": 1.0, "missing": 1}),
    ("15-the-document-is-lost-over-a-key-that-is-not-there", spec_of(a="text", n="number"), {"a": "x", "n": 3}, {"a": "x"},
     {"accuracy": 0.5, "recall": 0.5, "precision": 1.0, "missing": 1}),
    ("16-precision-1.0-with-three-of-four-values-wrong", ABCD, dict(zip("abcd", "wxyz", strict=True)), dict(zip("abcd", "w123", strict=True)),
     {"precision": 0.25, "recall": 0.25, "f1": 0.25}),
    ("17-rows-are-not-scored-offline", LINES, {"lines": LINE}, {"lines": LINE[:2]}, {"recall": 0.5, "precision": 1.0, "items_missing": 2}),
    ("17-an-invented-key-is-invisible", STRICT, {"o": {"a": "x", "b": "y"}}, {"o": {"a": "x", "b": "y", "iban": "DE00"}},
     {"precision": 2 / 3, "recall": 1.0, "spurious": 1}),
    ("19-a-typo-in-a-row-costs-the-whole-row", spec_of(lines=rows("sku", "name", n="number")), TYPO_GOLD, TYPO_PRED,
     {"f1": 5 / 6, "accuracy": 5 / 6, "items_missing": 0, "items_spurious": 0}),
    ("19-a-typo-in-a-key-costs-the-whole-row", spec_of(lines=SLACK_KEY), TYPO_GOLD, TYPO_PRED,
     {"f1": 5 / 6, "accuracy": (5 + 6 / 7) / 6, "items_missing": 0, "items_spurious": 0}),
    ("21-0.5-for-nested-rows-in-another-order", TREE, {"m": {"lines": LINE}}, {"m": {"lines": LINE[::-1]}}, {"f1": 1.0}),
    ("21-a-list-of-texts-raises", LIST, {"tags": ["a", "b"]}, {"tags": ["b", "a"]}, {"f1": 1.0, "correct": 2}),
    ("22-0.0-for-two-rows-swapped", LINES, {"lines": LINE[:2]}, {"lines": LINE[1::-1]}, {"f1": 1.0}),
    ("22-0.037-with-the-first-of-three-rows-dropped", LINES, {"lines": LINE[:3]}, {"lines": LINE[1:3]},
     {"recall": 2 / 3, "precision": 1.0, "accuracy": 2 / 3}),
    ("24-0.5-with-100-rows-wrong-and-the-header-right", HEADER, HUNDRED, {"no": "1", "lines": [f"pred {at}" for at in range(100)]},
     {"recall": 1 / 101, "precision": 1 / 101, "f1": 1 / 101, "accuracy": 1 / 201}),
    ("24-nan-and-infinity-make-the-score-nan", ABC, {"a": "x", "b": "y", "c": "z"}, {"a": "x", "b": math.nan, "c": -math.inf},
     {"accuracy": 1 / 3, "recall": 1 / 3}),
    ("26-0.9-for-one-wrong-value-among-nine-empty-ones", spec_of(**dict.fromkeys("abcdefghij", "text")), {"a": "x"}, {"a": "y"},
     {"accuracy": 0.0, "f1": 0.0, "absent": 9, "accuracy(regime=baseline)": 0.9}),
    ("27-1.0-for-one-of-two-items", LIST, {"tags": ["red", "blue"]}, {"tags": "red"}, {"accuracy": 0.5, "recall": 0.5, "precision": 1.0}),
    ("28-null-for-an-empty-list", LIST, {"tags": None}, {"tags": []}, {"accuracy": None, "spurious": 0, "missing": 0}),
    ("28-an-empty-list-for-null-is-0.0", LIST, {"tags": []}, {"tags": None}, {"accuracy": None, "spurious": 0, "missing": 0}),
    ("28-a-date-object-raises", spec_of(d="date"), {"d": datetime.date(2024, 3, 4)}, {"d": "4 March 2024"}, {"accuracy": 1.0}),
    ("28-fields-score-1.0-though-a-row-is-missing", LINES, {"lines": LINE}, {"lines": LINE[:3]},
     {"field_accuracy[lines[].sku]": 0.75, "recall[lines[].n]": 0.75}),
    ("29-rows-in-another-order-are-a-wrong-value", LINES, {"lines": LINE}, {"lines": LINE[::-1]}, {"accuracy": 1.0}),
    ("30-one-bad-type-makes-the-document-0", ABC, {"a": "x", "b": "y", "c": "z"}, {"a": "x", "b": "y", "c": {"deep": [1]}},
     {"accuracy": 2 / 3, "f1": 2 / 3}),
    ("30-1.0-with-three-invented-rows", LINES, {"lines": LINE[:1]}, {"lines": LINE}, {"precision": 0.25, "recall": 1.0, "accuracy": 0.25}),
    ("30-0.0-for-a-reversed-list", LIST, {"tags": ["a", "b", "c"]}, {"tags": ["c", "b", "a"]}, {"accuracy": 1.0}),
    ("31-1.0-with-the-prices-of-two-rows-swapped", PRICES, {"lines": [{"sku": "a", "price": 1}, {"sku": "b", "price": 2}]},
     {"lines": [{"sku": "a", "price": 2}, {"sku": "b", "price": 1}]}, {"accuracy": 0.5, "f1": 0.5}),
    ("32-a-tax-of-0-may-be-missing", spec_of(tax="money"), {"tax": 0}, {}, {"accuracy": 0.0, "recall": 0.0, "missing": 1}),
    ("32-two-empty-records-divide-by-zero", spec_of(tax="money"), {}, {}, {"accuracy": None, "f1": None, "absent": 1}),
    ("32-swapped-identical-rows-cost-something", LINES, {"lines": [LINE[0], LINE[0]]}, {"lines": [LINE[0], dict(LINE[0])]}, {"f1": 1.0}),
    ("33-0-for-two-right-values-and-three-extra-keys", STRICT, {"o": {"a": "x", "b": "y"}}, {"o": {"a": "x", "b": "y", "c": 1, "d": 2, "e": 3}},
     {"accuracy": 0.4, "precision": 0.4, "recall": 1.0}),
    ("33-a-key-with-two-underscores-vanishes", spec_of(a__b="text", c="text"), {"a__b": "x", "c": "y"}, {"a__b": "?", "c": "y"},
     {"accuracy": 0.5, "wrong": 1}),
    ("33-0-for-a-list-with-one-of-two-items-wrong", ORDERED, {"tags": ["a", "b"]}, {"tags": ["a", "x"]}, {"accuracy": 0.5, "f1": 0.5}),
    ("33-0-for-a-set-with-one-of-two-items-wrong", LIST, {"tags": ["a", "b"]}, {"tags": ["a", "x"]}, {"accuracy": 1 / 3, "f1": 0.5}),
    ("34-the-prediction-scores-less-than-itself", LIST, {"tags": ["a", "a", "b"]}, {"tags": ["a", "a", "b"]}, {"accuracy": 1.0, "correct": 3}),
    ("35-a-repeated-item-may-be-left-out", LIST, {"tags": ["a", "a", "b"]}, {"tags": ["a", "b"]}, {"recall": 2 / 3, "precision": 1.0, "missing": 1}),
    ("36-a-line-break-in-a-value-raises", spec_of(a="text"), {"a": "one\ntwo"}, {"a": "one\ntwo"}, {"accuracy": 1.0}),
    ("37-1-for-values-that-are-all-wrong-but-fit-the-schema", spec_of(a="text", n="number"), {"a": "x", "n": 1}, {"a": "y", "n": 2},
     {"accuracy": 0.0, "f1": 0.0}),
    ("38-1.0-when-only-the-tags-are-right", spec_of(entities=rows("tag", "text")),
     {"entities": [{"tag": "PER", "text": "Ann"}, {"tag": "ORG", "text": "Acme"}]},
     {"entities": [{"tag": "PER", "text": "Bob"}, {"tag": "ORG", "text": "Apex"}]},
     {"accuracy": 0.5, "f1[entities[].tag]": 1.0, "f1[entities[].text]": 0.0}),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "gold", "pred", "expected"), [pytest.param(*case, id=name) for name, *case in RECORDS])
def test_a_record_scores_this(spec: Any, gold: Any, pred: Any, expected: dict[str, float | None]) -> None:
    extra = ("accuracy", "f1", "presence", "items", "counts", "accuracy(regime=baseline)")
    records = (gold, pred) if isinstance(gold, list) else ([gold], [pred])
    result = result_of(spec, *records, metrics=extra)
    found = {name: result.value(name) for name in expected}
    assert found == pytest.approx(expected, abs=1e-9)


IBAN = "DE89370400440532013000"
IBAN_FIELD = {"type": "id", "checksum": "iban"}

PAIRS = [
    ("05-1.0-whichever-way-the-day-goes", "date", "2024-03-04", "04/03/2024", "match"),
    ("05-1.0-with-day-and-month-swapped", "date", "2024-03-04", "03/04/2024", "mismatch"),
    ("06-0-for-a-decimal-comma", "number", 1234.56, "1.234,56", "match"),
    ("06-1-for-kilograms-and-pounds", "quantity", "5 kg", "5 lb", "mismatch"),
    ("06-1-for-kilograms-and-pounds-in-a-number", "number", "5 kg", "5 lb", "mismatch"),
    ("06-1-for-dollars-and-euros", "money", "$5", "€5", "mismatch"),
    ("06-1-for-digits-scraped-together", "number", "Q3 2024", "32024", "mismatch"),
    ("06-1-for-digits-scraped-together-in-the-prediction", "number", 32024, "Q3 2024", "mismatch"),
    ("06-0-for-an-exponent", "number", 1000, "1e3", "match"),
    ("06-0-for-a-unicode-minus", "number", -5, "\N{MINUS SIGN}5", "match"),
    ("08-leading-zeros-are-noise", "id", "000123", "123", "mismatch"),
    ("08-0.81-for-an-iban-with-spaces", IBAN_FIELD, IBAN, "DE89 3704 0044 0532 0130 00", "match"),
    ("08-0.75-for-a-thousands-separator", "money", "1,234.50", "1234.5", "match"),
    ("12-equal-with-a-moved-hyphen", "id", "PO 12-3", "PO 1-23", "mismatch"),
    ("12-equal-without-the-hyphen", "id", "12-3", "123", "mismatch"),
    ("12-equal-versions", "id", "2.10.1", "2.1.01", "mismatch"),
    ("12-percent-equals-dollars", "money", "5%", "$5", "mismatch"),
    ("12-percent-equals-dollars-in-text", "text", "5%", "$5", "mismatch"),
    ("12-a-square-equals-a-digit", "number", "10²", "102", "mismatch"),
    ("12-a-square-equals-a-digit-in-text", "text", "10²", "102", "mismatch"),
    ("12-an-id-loses-its-zeros", "id", "1.000", "1", "mismatch"),
    ("12-an-hour-in-another-zone", "time", "09:00+02:00", "09:00Z", "mismatch"),
    ("12-an-instant-in-another-zone", "datetime", "2024-03-04T09:00+02:00", "2024-03-04T09:00Z", "mismatch"),
    ("13-parentheses-are-not-a-minus", "number", "(5)", -5, "match"),
    ("13-parentheses-are-a-minus-only-with-decimals", "number", "(5.00)", "-5.00", "match"),
    ("13-no-decimal-comma", "number", "1.234,56", 1234.56, "match"),
    ("13-no-dates-with-slashes", {"type": "date", "order": "dmy"}, "03/04/2024", "2024-04-03", "match"),
    ("13-no-american-dates", {"type": "date", "order": "mdy"}, "03/04/2024", "2024-03-04", "match"),
    ("23-0.9999999-for-ten-cents-off", "money", 371392.57, 371392.47, "mismatch"),
    ("23-0.99995-for-another-id", "id", 10023, 10024, "mismatch"),
    ("23-0.975-for-another-century", "integer", 2023, 1923, "mismatch"),
    ("23-true-equals-1", "any", True, 1, "mismatch"),
    ("23-true-equals-1-in-a-number", "number", 1, True, "mismatch"),
    ("25-0.955-for-a-wrong-digit-in-an-iban", IBAN_FIELD, IBAN, "DE89370400440532013001", "mismatch"),
    ("25-0.667-for-a-printed-decimal", "number", 1000, "1000.0", "match"),
    ("25-0-for-a-written-month", "date", "2024-03-04", "04 March 2024", "match"),
    ("29-euros-equal-dollars", "money", "5 EUR", "5 USD", "mismatch"),
    ("29-account-numbers-lose-zeros", "id", "00123", "123", "mismatch"),
    ("35-ids-are-parsed-as-numbers", "id", "00123", "123", "mismatch"),
    ("35-texts-are-parsed-as-numbers", "text", "1e3", "1000", "mismatch"),
    ("35-amounts-are-not-parsed", "money", "1,234.50", 1234.5, "match"),
    ("36-12.0-is-not-12", "number", 12.0, 12, "match"),
    ("stickler#117-a-month-equals-its-first-day", "date", "Jan 1, 2024", "Jan 2024", "mismatch"),
    ("stickler#141-a-time-zone-ends-the-run", "datetime", "2024-03-04T09:00", "2024-03-04T09:00Z", "mismatch"),
    ("stickler#199-exact-ignores-punctuation", {"type": "text", "compare": "exact"}, "AB/12", "AB-12", "mismatch"),
    ("mistral-evals#19-every-wrong-answer-gets-partial-credit", {"type": "text", "compare": "anls"}, "Paris", "London", "mismatch"),
]  # fmt: skip


@pytest.mark.parametrize(("field", "gold", "pred", "outcome"), [pytest.param(*case, id=name) for name, *case in PAIRS])
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
    values = [compare(spec_of(lines=rows("sku", "name", n="number")), gold, {"lines": order}).value("f1") for order in (pred, pred[::-1])]
    assert values == [5 / 6, 5 / 6]


@pytest.mark.parametrize(("gold", "pred"), [("tide", "diet"), ("diet", "tide")])
@pytest.mark.parametrize(("comparator", "similarity"), [("levenshtein", 0.25), ("indel", 0.5), ("jaro_winkler", 2 / 3)])
def test_a_similarity_does_not_depend_on_the_side(gold: str, pred: str, comparator: str, similarity: float) -> None:
    """Row 41: a peer says 0.25 one way and 0.5 the other."""
    there, back = (
        rows_of(spec_of(v={"type": "text", "compare": comparator}), {"v": first}, {"v": second})["score"][0]
        for first, second in ((gold, pred), (pred, gold))
    )
    assert there == back == pytest.approx(similarity)


@pytest.mark.parametrize(("pred", "invalid", "value"), [(["red", "blue"], 0, 1.0), (["red"], 0, 0.5), ("red", 1, 0.0)])
def test_the_root_of_a_record_plays_no_tricks(pred: Any, invalid: int, value: float) -> None:
    """Row 27: a peer gives 1.0 to a single text in place of a whole list, at the root only."""
    options = ScoreOptions(replicates=0, inputs=InputOptions(wrap="tags"))
    result = score({"1": ["red", "blue"]}, {"s": {"1": pred}}, LIST, options)
    assert (result.value("accuracy"), result.value("documents_invalid")) == (value, invalid)


@pytest.mark.parametrize(
    ("width", "depth", "bound"),
    [
        pytest.param(3, 3, 2.0, id="3x3x3-peer-2.0s"),
        pytest.param(4, 3, 2.0, id="4x4x4-peer-6.8s"),
        pytest.param(3, 4, 2.0, id="3^4-peer-38s"),
        pytest.param(4, 4, 5.0, id="4^4-peer-over-120s"),
    ],
)
def test_nested_lists_are_paired_in_time(width: int, depth: int, bound: float) -> None:
    """Row 39: a peer computes every level of nesting again for every pair above it."""
    field: Any = rows("a", "b", "c")
    for _ in range(depth - 1):
        field = {"type": "list", "items": {"type": "object", "fields": {"name": "text", "rows": field}}}

    def grow(level: int, stem: str) -> list[dict[str, Any]]:
        if level == 1:
            return [{"a": f"{stem}{at}", "b": "same", "c": str(at)} for at in range(width)]
        return [{"name": f"{stem}{at}", "rows": grow(level - 1, f"{stem}{at}")} for at in range(width)]

    def turn(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{key: turn(value) if isinstance(value, list) else value for key, value in item.items()} for item in items[::-1]]

    tree = grow(depth, "n")
    started = time.perf_counter()
    result = compare(spec_of(rows=field), {"rows": tree}, {"rows": turn(tree)})
    assert time.perf_counter() - started < bound
    leaves = 3 * width**depth + sum(width**level for level in range(1, depth))
    assert (result.value("f1"), result.value("correct")) == (1.0, leaves)


QUICK = ("levenshtein", "indel", "jaro_winkler", "anls", "words", "token_set", "exact")


@pytest.mark.parametrize(("comparator", "bound"), [*((name, 0.1) for name in QUICK), ("ratcliff", 3.0)])
def test_long_texts_are_compared_in_time(comparator: str, bound: float) -> None:
    """Row 40: peers need about a second for two texts of 2,000 characters."""
    spec = spec_of(v={"type": "text", "compare": comparator})
    gold, pred = "".join(chr(97 + at * 7 % 26) for at in range(2000)), "".join(chr(97 + at * 11 % 26) for at in range(2000))
    compare(spec, {"v": "a"}, {"v": "b"})  # what is imported late is not part of the comparison
    started = time.perf_counter()
    result = compare(spec, {"v": gold}, {"v": pred})
    assert time.perf_counter() - started < bound
    accuracy = result.value("accuracy")
    assert accuracy is not None
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
    assert [result.value(name) for name in ("f1", "correct", "wrong", "missing", "spurious")] == [1.0, 16, 0, 0, 0]


def test_a_prediction_of_nothing_gets_nothing() -> None:
    """stickler#272, #345: fields empty on both sides pay, up to an F1 of 1.0 for a prediction of nothing."""
    result = compare(ABCD, [{"a": "x"}] * 3, [{}] * 3)
    assert [result.value(name) for name in ("accuracy", "accuracy_pooled", "recall", "f1")] == [0.0, 0.0, 0.0, 0.0]
    assert result.value("precision") is None


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_a_list_of_one_is_scored_like_a_list_of_two(count: int) -> None:
    """stickler#224, #231: the same share of errors scores differently in a list of one item, and a pair is matched and missing at once."""
    wrong = [{**line, "n": -5} for line in LINE[:count]]
    result = compare(LINES, {"lines": LINE[:count]}, {"lines": wrong})
    assert [result.value(name) for name in ("f1", "accuracy", "missing", "spurious")] == [0.75, 0.75, 0, 0]


def test_a_spec_says_the_same_in_every_form() -> None:
    """stickler#334, #348: the same data scores 0.0 or 0.56, depending on how the schema was written."""
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "x-fieldassay": {"compare": "levenshtein"}},
            "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}, "n": {"type": "number"}}}},
        },
    }
    text = "fields: {name: {type: text, compare: levenshtein}, lines: {type: list, items: {type: object, fields: {sku: text, n: number}}}}"
    mapping = spec_of(name={"type": "text", "compare": "levenshtein"}, lines=rows("sku", n="number"))
    gold = {"name": "abcd", "lines": [{"sku": "a", "n": 1}, {"sku": "b", "n": 2}]}
    pred = {"name": "abcx", "lines": [{"sku": "b", "n": 2}, {"sku": "a", "n": 9}]}
    values = [(result.value("accuracy"), result.value("f1")) for result in (compare(spec, gold, pred) for spec in (schema, text, mapping))]
    assert values == [pytest.approx((3.75 / 5, 3 / 5))] * 3


def test_weights_move_the_weighted_accuracy_of_a_dataset() -> None:
    """stickler#122: bulk evaluation drops the weights."""
    spec = spec_of(a={"type": "text", "weight": 3}, b="text")
    result = compare(spec, [{"a": "x", "b": "y"}] * 2, [{"a": "x", "b": "?"}, {"a": "?", "b": "y"}])
    assert (result.value("accuracy_weighted"), result.value("accuracy")) == (pytest.approx((0.75 + 0.25) / 2), 0.5)


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
    result = compare(ABC, {"a": "x", "b": "y", "c": "z"}, {"a": "x", "b": "y", "c": "z", "iban": "DE00", "bic": "X", "d": 1})
    assert (result.value("accuracy"), result.counts["systems"]["s"]["undeclared"]) == (1.0, {"bic": 1, "d": 1, "iban": 1})
    assert any("iban" in warning for warning in result.warnings)


def test_silence_counts_only_where_the_name_of_the_number_says_so() -> None:
    """Trap: correct silence inside a mean without saying so."""
    result = result_of(ABC, [{"a": "x"}], [{"a": "y"}], metrics=("accuracy", "accuracy(regime=baseline)"))
    assert (result.value("accuracy"), result.value("accuracy(regime=baseline)")) == (0.0, pytest.approx(2 / 3))
    assert {estimate.regime for estimate in result.estimates if estimate.metric == "accuracy"} == {"filled", "baseline"}


def test_an_exact_key_pairs_only_exact_keys() -> None:
    """Row 19: that is what `key` means; the items without a partner then say so, and nothing of gold is lost."""
    result = compare(KEYED, TYPO_GOLD, TYPO_PRED)
    assert [result.value(name) for name in ("f1", "missing", "spurious")] == [0.5, 3, 3]


def test_the_values_of_a_row_without_a_partner_stay_in_the_denominators() -> None:
    """Row 4: at a higher threshold a peer counts fewer gold values."""
    for least in ("none", 0.1, 0.5, 0.9):
        field = {**LINES["fields"]["lines"], "align": {"assignment": {"min_similarity": least}}}
        evidence = rows_of(spec_of(lines=field), {"lines": LINE}, {"lines": HALF}).filter(kind="value")
        assert evidence.filter(pl.col("outcome").is_in(["match", "partial", "mismatch", "missing"])).height == 16
