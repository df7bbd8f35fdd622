"""Inputs that other tools judge wrong, with what is right; the numbers are derived by hand.

The number in a name is the row of the table of weak spots; the words after it are what another tool says.
"""

import datetime
import math
from typing import Any


def spec_of(**fields: Any) -> dict[str, Any]:
    """Return a spec of the fields."""
    return {"fields": fields}


def rows(*names: str, **types: Any) -> dict[str, Any]:
    """Return a list of objects with text fields of these names, and fields of these types."""
    return {"type": "list", "items": {"type": "object", "fields": {**dict.fromkeys(names, "text"), **types}}}


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
SLACK_KEY = {
    **rows("name", sku={"type": "text", "compare": "levenshtein", "accept": 1}, n="number"),
    "align": {"key": {"fields": ["sku"], "min_similarity": 0.8}},
}
STRICT = spec_of(o={"type": "object", "extra": "spurious", "fields": {"a": "text", "b": "text"}})
TYPO_GOLD = {"lines": [{"sku": "AB-1001", "name": "bolt", "n": 1}, {"sku": "CD-2002", "name": "nut", "n": 2}]}
TYPO_PRED = {"lines": [{"sku": "AB-10O1", "name": "bolt", "n": 1}, {"sku": "CD-2002", "name": "nut", "n": 2}]}
PRICES = spec_of(lines=rows("sku", price="money"))
HEADER = spec_of(no="text", lines={"type": "list", "items": "text"})
HUNDRED = {"no": "1", "lines": [f"gold {at}" for at in range(100)]}

RECORDS = [
    ("01-recall-1.0-with-two-of-three-values-wrong", ABC, {"a": "x", "b": "y", "c": "z"},
     {"a": "x", "b": "?", "c": "!"},
     {"recall": 1 / 3, "precision": 1 / 3, "f1": 1 / 3, "accuracy": 1 / 3}),
    ("02-list-f1-1.0-with-half-of-every-row-wrong", LINES, {"lines": LINE}, {"lines": HALF},
     {"precision": 0.5, "recall": 0.5, "f1": 0.5, "accuracy": 0.5, "perfect_documents": 0.0}),
    ("03-score-0.667-for-an-empty-prediction", ABC, {"a": "x", "b": None, "c": None}, {},
     {"accuracy": 0.0, "accuracy_strict": 0.0, "recall": 0.0, "f1": 0.0, "precision": None, "mr": 1.0}),
    ("04-the-fields-of-a-bad-row-vanish", LINES, {"lines": LINE}, {"lines": LAST},
     {"recall": 13 / 16, "precision": 13 / 16, "recall[lines[].sku]": 1.0, "recall[lines[].name]": 0.75,
      "missing": 0}),
    ("07-a-text-for-a-number-cannot-be-scored", spec_of(a="text", qty="number"), {"a": "x", "qty": 12},
     {"a": "x", "qty": "12 pcs"},
     {"accuracy": 0.5, "recall": 0.5, "precision": 0.5, "f1[qty]": 0.0}),
    ("09-a-record-with-a-value-key-taken-for-an-envelope", spec_of(value="text", status="text"),
     {"value": "v", "status": "ok"}, {"value": "v", "status": "ok"}, {"accuracy": 1.0, "correct": 2}),
    ("09-an-open-record-with-a-value-key-taken-for-an-envelope", TREE,
     {"m": {"value": "v", "status": "ok"}}, {"m": {"value": "v", "status": "ok"}},
     {"accuracy": 1.0, "correct": 2}),
    ("10-accuracy-1.0-with-a-wrong-score-key", TREE, {"m": {"value": 3, "score": 9}},
     {"m": {"value": 3, "score": 1}},
     {"accuracy": 0.5, "correct": 1, "wrong": 1}),
    ("11-correct-silence-scores-0.0", spec_of(a="text"), {"a": None}, {"a": None},
     {"accuracy": None, "f1": None, "fda": 1.0, "absent": 1}),
    ("11-correct-silence-pulls-the-mean-of-a-dataset-down", spec_of(a="text"), [{"a": None}, {"a": "x"}],
     [{"a": None}, {"a": "x"}],
     {"accuracy": 1.0, "recall": 1.0, "absent": 1}),
    ("14-accuracy-1.0-because-an-open-map-is-skipped", TREE, {"m": {"x": 1}}, {"m": {"x": 2}},
     {"accuracy": 0.0, "wrong": 1}),
    ("15-the-document-is-lost-over-a-number-in-a-string", spec_of(a="text", n="number"),
     {"a": "x", "n": 12.5}, {"a": "x", "n": "12.5"},
     {"accuracy": 1.0}),
    ("15-the-document-is-lost-over-3.0-for-an-integer", spec_of(a="text", n="integer"), {"a": "x", "n": 3},
     {"a": "x", "n": 3.0},
     {"accuracy": 1.0}),
    ("15-the-document-is-lost-over-a-null", spec_of(a="text", n="number"), {"a": "x", "n": 3},
     {"a": "x", "n": None},
     {"accuracy": 0.5, "recall": 0.5, "precision": 1.0, "missing": 1}),
    ("15-the-document-is-lost-over-a-key-that-is-not-there", spec_of(a="text", n="number"),
     {"a": "x", "n": 3}, {"a": "x"},
     {"accuracy": 0.5, "recall": 0.5, "precision": 1.0, "missing": 1}),
    ("16-precision-1.0-with-three-of-four-values-wrong", ABCD, dict(zip("abcd", "wxyz", strict=True)),
     dict(zip("abcd", "w123", strict=True)),
     {"precision": 0.25, "recall": 0.25, "f1": 0.25}),
    ("17-rows-are-not-scored-offline", LINES, {"lines": LINE}, {"lines": LINE[:2]},
     {"recall": 0.5, "precision": 1.0, "items_missing": 2}),
    ("17-an-invented-key-is-invisible", STRICT, {"o": {"a": "x", "b": "y"}},
     {"o": {"a": "x", "b": "y", "iban": "DE00"}},
     {"precision": 2 / 3, "recall": 1.0, "spurious": 1}),
    ("19-a-typo-in-a-row-costs-the-whole-row", spec_of(lines=rows("sku", "name", n="number")), TYPO_GOLD,
     TYPO_PRED,
     {"f1": 5 / 6, "accuracy": 5 / 6, "items_missing": 0, "items_spurious": 0}),
    ("19-a-typo-in-a-key-costs-the-whole-row", spec_of(lines=SLACK_KEY), TYPO_GOLD, TYPO_PRED,
     {"f1": 5 / 6, "accuracy": (5 + 6 / 7) / 6, "items_missing": 0, "items_spurious": 0}),
    ("21-0.5-for-nested-rows-in-another-order", TREE, {"m": {"lines": LINE}}, {"m": {"lines": LINE[::-1]}},
     {"f1": 1.0}),
    ("21-a-list-of-texts-raises", LIST, {"tags": ["a", "b"]}, {"tags": ["b", "a"]},
     {"f1": 1.0, "correct": 2}),
    ("22-0.0-for-two-rows-swapped", LINES, {"lines": LINE[:2]}, {"lines": LINE[1::-1]}, {"f1": 1.0}),
    ("22-0.037-with-the-first-of-three-rows-dropped", LINES, {"lines": LINE[:3]}, {"lines": LINE[1:3]},
     {"recall": 2 / 3, "precision": 1.0, "accuracy": 2 / 3}),
    ("24-0.5-with-100-rows-wrong-and-the-header-right", HEADER, HUNDRED,
     {"no": "1", "lines": [f"pred {at}" for at in range(100)]},
     {"recall": 1 / 101, "precision": 1 / 101, "f1": 1 / 101, "accuracy": 1 / 201}),
    ("24-nan-and-infinity-make-the-score-nan", ABC, {"a": "x", "b": "y", "c": "z"},
     {"a": "x", "b": math.nan, "c": -math.inf},
     {"accuracy": 1 / 3, "recall": 1 / 3}),
    ("26-0.9-for-one-wrong-value-among-nine-empty-ones", spec_of(**dict.fromkeys("abcdefghij", "text")),
     {"a": "x"}, {"a": "y"},
     {"accuracy": 0.0, "f1": 0.0, "absent": 9, "accuracy(regime=baseline)": 0.9}),
    ("27-1.0-for-one-of-two-items", LIST, {"tags": ["red", "blue"]}, {"tags": "red"},
     {"accuracy": 0.5, "recall": 0.5, "precision": 1.0}),
    ("28-null-for-an-empty-list", LIST, {"tags": None}, {"tags": []},
     {"accuracy": None, "spurious": 0, "missing": 0}),
    ("28-an-empty-list-for-null-is-0.0", LIST, {"tags": []}, {"tags": None},
     {"accuracy": None, "spurious": 0, "missing": 0}),
    ("28-a-date-object-raises", spec_of(d="date"), {"d": datetime.date(2024, 3, 4)}, {"d": "4 March 2024"},
     {"accuracy": 1.0}),
    ("28-fields-score-1.0-though-a-row-is-missing", LINES, {"lines": LINE}, {"lines": LINE[:3]},
     {"field_accuracy[lines[].sku]": 0.75, "recall[lines[].n]": 0.75}),
    ("29-rows-in-another-order-are-a-wrong-value", LINES, {"lines": LINE}, {"lines": LINE[::-1]},
     {"accuracy": 1.0}),
    ("30-one-bad-type-makes-the-document-0", ABC, {"a": "x", "b": "y", "c": "z"},
     {"a": "x", "b": "y", "c": {"deep": [1]}},
     {"accuracy": 2 / 3, "f1": 2 / 3}),
    ("30-1.0-with-three-invented-rows", LINES, {"lines": LINE[:1]}, {"lines": LINE},
     {"precision": 0.25, "recall": 1.0, "accuracy": 0.25}),
    ("30-0.0-for-a-reversed-list", LIST, {"tags": ["a", "b", "c"]}, {"tags": ["c", "b", "a"]},
     {"accuracy": 1.0}),
    ("31-1.0-with-the-prices-of-two-rows-swapped", PRICES,
     {"lines": [{"sku": "a", "price": 1}, {"sku": "b", "price": 2}]},
     {"lines": [{"sku": "a", "price": 2}, {"sku": "b", "price": 1}]}, {"accuracy": 0.5, "f1": 0.5}),
    ("32-a-tax-of-0-may-be-missing", spec_of(tax="money"), {"tax": 0}, {},
     {"accuracy": 0.0, "recall": 0.0, "missing": 1}),
    ("32-two-empty-records-divide-by-zero", spec_of(tax="money"), {}, {},
     {"accuracy": None, "f1": None, "absent": 1}),
    ("32-swapped-identical-rows-cost-something", LINES, {"lines": [LINE[0], LINE[0]]},
     {"lines": [LINE[0], dict(LINE[0])]}, {"f1": 1.0}),
    ("33-0-for-two-right-values-and-three-extra-keys", STRICT, {"o": {"a": "x", "b": "y"}},
     {"o": {"a": "x", "b": "y", "c": 1, "d": 2, "e": 3}},
     {"accuracy": 0.4, "precision": 0.4, "recall": 1.0}),
    ("33-a-key-with-two-underscores-vanishes", spec_of(a__b="text", c="text"), {"a__b": "x", "c": "y"},
     {"a__b": "?", "c": "y"},
     {"accuracy": 0.5, "wrong": 1}),
    ("33-0-for-a-list-with-one-of-two-items-wrong", ORDERED, {"tags": ["a", "b"]}, {"tags": ["a", "x"]},
     {"accuracy": 0.5, "f1": 0.5}),
    ("33-0-for-a-set-with-one-of-two-items-wrong", LIST, {"tags": ["a", "b"]}, {"tags": ["a", "x"]},
     {"accuracy": 1 / 3, "f1": 0.5}),
    ("34-the-prediction-scores-less-than-itself", LIST, {"tags": ["a", "a", "b"]}, {"tags": ["a", "a", "b"]},
     {"accuracy": 1.0, "correct": 3}),
    ("35-a-repeated-item-may-be-left-out", LIST, {"tags": ["a", "a", "b"]}, {"tags": ["a", "b"]},
     {"recall": 2 / 3, "precision": 1.0, "missing": 1}),
    ("36-a-line-break-in-a-value-raises", spec_of(a="text"), {"a": "one\ntwo"}, {"a": "one\ntwo"},
     {"accuracy": 1.0}),
    ("37-1-for-values-that-are-all-wrong-but-fit-the-schema", spec_of(a="text", n="number"),
     {"a": "x", "n": 1}, {"a": "y", "n": 2},
     {"accuracy": 0.0, "f1": 0.0}),
    ("38-1.0-when-only-the-tags-are-right", spec_of(entities=rows("tag", "text")),
     {"entities": [{"tag": "PER", "text": "Ann"}, {"tag": "ORG", "text": "Acme"}]},
     {"entities": [{"tag": "PER", "text": "Bob"}, {"tag": "ORG", "text": "Apex"}]},
     {"accuracy": 0.5, "f1[entities[].tag]": 1.0, "f1[entities[].text]": 0.0}),
]  # fmt: skip

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
    ("stickler#141-a-time-zone-ends-the-run", "datetime", "2024-03-04T09:00", "2024-03-04T09:00Z",
     "mismatch"),
    ("stickler#199-exact-ignores-punctuation", {"type": "text", "compare": "exact"}, "AB/12", "AB-12",
     "mismatch"),
    ("mistral-evals#19-every-wrong-answer-gets-partial-credit", {"type": "text", "compare": "anls"}, "Paris",
     "London", "mismatch"),
]  # fmt: skip
