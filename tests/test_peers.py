"""Cases that other tools judge wrong, one by one, and what fieldassay says; the numbers are derived by hand.

The number in an id is the row of the table of weak spots; the words after it are what a peer says.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from rapidfuzz.distance import Indel
from tests.effort import cost, costs_at_most
from tests.judging import leaves_of, result_of, rows_of
from tests.peer_cases import (
    LINE,
    LINES,
    PAIRS,
    RECORDS,
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


@pytest.mark.parametrize("count", [50, 51, 300])
def test_long_lists_are_paired_as_well_as_short_ones(count: int) -> None:
    """Row 18: a peer pairs more than 50 rows by position and says F1 0.02."""
    lines = [{"sku": f"s{at}", "name": f"name {at}", "unit": "kg", "n": at % 7} for at in range(count)]
    assert compare(LINES, {"lines": lines}, {"lines": lines[::-1]}).value("f1") == 1.0
    equal = [LINE[0]] * count
    result = compare(LINES, {"lines": equal}, {"lines": equal[::-1]})
    assert (result.value("f1"), result.value("correct")) == (1.0, 4 * count)


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


# Published benchmarks, judged again

FINGREYLIT = Path(__file__).parents[1] / "examples/fingreylit"
NAMES = {
    "authors_found": "contributor.author", "isbn": "identifier.isbn", "eissn": "relation.eissn",
    "language": "language.iso", "publisher": "publisher", "title": "title", "year": "date.issued",
}  # fmt: skip


def judge_field(name: str, gold: Any, pred: Any) -> bool:
    """Return whether a field is right by the rules of FinGreyLit's own script, written anew."""
    if name == "authors_found":
        return set(gold or ()) <= set(pred or ()) and bool(gold) == bool(pred)
    if gold is None or pred is None:
        return gold is pred
    if name in ("isbn", "year"):
        return bool((gold[:4] if name == "year" else [gold[0].replace("-", "")]) == pred)
    gold, pred = (value[0].lower() if isinstance(value, list) else value.lower() for value in (gold, pred))
    return gold in pred or Indel.normalized_similarity(gold, pred) >= 0.95


def test_ten_records_of_fingreylit_score_as_its_own_script_says() -> None:
    records = FINGREYLIT / "records.jsonl"
    result = score(records, {"meteor": records}, FINGREYLIT / "spec.yaml", bootstrap=0)
    rows = [json.loads(line) for line in records.read_text(encoding="utf-8").splitlines()]
    for name, key in NAMES.items():
        right = [
            judge_field(name, row["ground_truth"].get(f"dc.{key}"), row["prediction"][f"dc.{key}"])
            for row in rows
        ]
        wanted = (name, None) if name == "authors_found" else ("field_accuracy_strict", name)
        assert [one.value for one in result.estimates if (one.metric, one.field) == wanted] == [
            pytest.approx(sum(right) / len(rows))
        ], name
