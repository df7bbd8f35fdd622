"""Laws for every spec and every record: identity, bounds, order, partition, monotonicity, denominators."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import few_examples
from tests.judging import result_of, with_ids
from tests.strategies_records import (
    COVERED,
    LIST_COMPARATORS,
    OF_ANY_KIND,
    OPTIONS,
    TEXT_COMPARATORS,
    TYPED_COMPARATORS,
    VALUES,
    Maker,
    Tastes,
    chances,
    name_of,
)

from fieldassay.metrics.fold import estimates, fold, merge
from fieldassay.records.matching import batches
from fieldassay.scoring.inputs import ScoreOptions, open_inputs
from fieldassay.scoring.score import fold_plan
from fieldassay.scoring.shards import judge_batch
from fieldassay.spec.plan.compile import read_plan, with_sections
from fieldassay.values.catalogue import COMPARATORS, READERS

pytestmark = pytest.mark.slow

METRICS = (
    "accuracy",
    "f1",
    "presence",
    "items",
    "counts",
    "accuracy(regime=baseline)",
    "f1(granularity=slot)",
    "latency_p90",
)
UNORDERED = Tastes(aligners=("assignment", "key"), trees=False)
WILD = Tastes(aligners=("assignment", "key", "ordered", "sequence"))
EVERY_ALIGNER = Tastes(aligners=WILD.aligners, trees=False, odd_items=False)
HOSTILE: list[Any] = [
    None,
    "",
    "junk",
    7,
    -1.5,
    True,
    [],
    ["junk"],
    [["junk"]],
    {},
    {"a": "junk"},
    [{"a": "junk"}],
    "N/A",
    [None, 3],
]
Case = tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]


LAWS = settings(few_examples(), derandomize=True)
"""The same cases every time, so that a failure can be seen again."""


def case(chance: random.Random, tastes: Tastes, documents: int = 4) -> Case:
    """Return a random spec with gold and predictions."""
    maker = Maker(chance, tastes)
    spec = maker.spec()
    gold = [maker.record(spec) for _ in range(documents)]
    return (
        spec,
        gold,
        [{**maker.answer(spec, record), "timing": {"duration_ms": chance.randint(1, 9)}} for record in gold],
    )


def told(spec: Any, gold: Any, pred: Any, **options: Any) -> list[dict[str, Any]]:
    """Return the estimates as plain data."""
    found = result_of(spec, gold, pred, metrics=METRICS, evidence="none", **options)
    return [estimate.to_dict() for estimate in found.estimates]


def wrong_leaves(evidence: pl.DataFrame) -> list[tuple[Any, ...]]:
    """Return the value rows that are anything but right, silent or outside."""
    bad = evidence.filter(pl.col("kind") == "value", ~pl.col("outcome").is_in(["match", "absent", "failed"]))
    return bad.select("field", "outcome", "reason", "gold", "pred").rows()


FIELDS: list[tuple[str, Any, list[Any]]] = [
    *(
        (kind, {"type": kind, **options}, VALUES[kind])
        for kind in VALUES
        for options in OPTIONS.get(kind, [{}])
    ),
    *(
        (f"text-{name_of(call)}", {"type": "text", "compare": call}, VALUES["text"])
        for call in TEXT_COMPARATORS
    ),
    *(
        (f"{kind}-{name}", {"type": kind, "compare": name}, VALUES[kind])
        for kind, names in TYPED_COMPARATORS.items()
        for name in names
    ),
    *(
        (
            f"any-{name_of(name)}",
            {"type": "any", "compare": name},
            [1, "x", True, 1.5, "", [1, ["y"]], {"a": 2}],
        )
        for name in OF_ANY_KIND
    ),
    ("any", {"type": "any"}, [1, "x", True, 1.5, "", [1, [2, {"a": None}]], {"a": {"b": [3]}, "c.d": "x"}]),
]


def test_the_laws_cover_every_type_and_comparator() -> None:
    assert set(COMPARATORS.entries) == COVERED
    assert set(READERS.names()) == {*VALUES, "any"}


@pytest.mark.parametrize(
    ("field", "values"), [pytest.param(field, values, id=name) for name, field, values in FIELDS]
)
@pytest.mark.parametrize("unreadable", ["text", "failed"])
def test_gold_is_right_against_itself_alone_and_in_lists(
    field: Any, values: list[Any], unreadable: str
) -> None:
    values = [*values, "see page 2", 17, [1], {"a": 1}, None]
    aligned = {
        name: {"type": "list", "align": name, "items": field}
        for name in ("ordered", "sequence", "assignment")
    }
    spec = {"unreadable_gold": unreadable, "fields": {"v": field, **aligned}}
    gold: list[dict[str, Any]] = [{"v": value} for value in values] + [dict.fromkeys(aligned, values)]
    result = result_of(spec, gold, gold, metrics=METRICS)
    assert result.evidence is not None
    assert wrong_leaves(result.evidence) == []
    right = result.evidence.filter(pl.col("kind") == "value", pl.col("outcome") == "match")
    assert set(right["score"]) == {1.0}
    assert [result.value(name) for name in ("accuracy", "accuracy_pooled", "precision", "recall")] == [
        1.0
    ] * 4


@pytest.mark.parametrize("comparator", LIST_COMPARATORS)
@pytest.mark.parametrize("items", ["text", "number", "date"])
def test_a_list_judged_as_a_whole_is_right_against_itself(comparator: str, items: str) -> None:
    spec = {"fields": {"v": {"type": "list", "items": items, "compare": comparator}}}
    gold = [
        {"v": VALUES[items]},
        {"v": VALUES[items][:1] * 3},
        {"v": "see page 2"},
        {"v": [[1], {"a": 2}, None]},
        {"v": {"a": 1}},
        {"v": []},
    ]
    result = result_of(spec, gold, gold)
    assert result.evidence is not None
    assert (wrong_leaves(result.evidence), result.value("accuracy"), result.value("f1")) == ([], 1.0, 1.0)


@LAWS
@given(chances)
def test_gold_is_right_against_itself(chance: random.Random) -> None:
    maker = Maker(chance, WILD)
    spec = maker.spec()
    gold = [maker.record(spec) for _ in range(4)]
    result = result_of(spec, gold, gold)
    assert result.evidence is not None
    assert wrong_leaves(result.evidence) == []
    assert result.value("accuracy") in (None, 1.0)


@LAWS
@given(chances)
def test_scores_and_ratios_are_between_0_and_1(chance: random.Random) -> None:
    result = result_of(*case(chance, WILD), metrics=METRICS, bootstrap=20)
    assert result.evidence is not None
    scored = result.evidence.filter(pl.col("kind") == "value")
    assert (scored["score"].is_null() == (scored["outcome"] == "failed")).all()
    assert scored["score"].drop_nulls().is_between(0, 1).all()
    for estimate in result.estimates:
        assert estimate.n >= 0
        if estimate.unit == "ratio" and estimate.value is not None:
            assert 0 <= estimate.value <= 1
            assert estimate.interval is None or 0 <= estimate.interval[0] <= estimate.interval[1] <= 1


def shuffled(field: Any, value: Any, chance: random.Random) -> Any:
    """Return the value with the items of its lists in another order, wherever order means nothing."""
    if isinstance(value, list) and field["type"] == "list" and field.get("compare") is None:
        items = field["items"] if isinstance(field["items"], dict) else {"type": field["items"]}
        value = [shuffled(items, item, chance) for item in value]
        return chance.sample(value, len(value))
    if isinstance(value, dict) and field["type"] == "object":
        return {
            name: shuffled(field["fields"].get(name, {"type": "text"}), inner, chance)
            for name, inner in value.items()
        }
    return value


def turned(spec: Any, records: list[dict[str, Any]], chance: random.Random) -> list[dict[str, Any]]:
    """Return the records with their lists in another order."""
    return [
        {
            name: shuffled(spec["fields"].get(name, {"type": "text"}), value, chance)
            for name, value in record.items()
        }
        for record in records
    ]


@LAWS
@given(chances)
def test_the_order_of_items_does_not_show(chance: random.Random) -> None:
    spec, gold, pred = case(chance, UNORDERED)
    expected = told(spec, gold, pred)
    assert told(spec, turned(spec, gold, chance), pred) == expected
    assert told(spec, gold, turned(spec, pred, chance)) == expected


WORDS = st.sampled_from(["a", "ab", "abc", "b", "ba"])
PARTS = st.fixed_dictionaries({"x": WORDS, "y": st.sampled_from([1, 2])})
LINES = st.lists(
    st.fixed_dictionaries(
        {"name": WORDS, "n": st.sampled_from([1, 2]), "parts": st.lists(PARTS, max_size=2)}
    ),
    max_size=5,
)


@LAWS
@given(
    LINES,
    LINES,
    st.sampled_from(["exact", "levenshtein"]),
    st.sampled_from(["mean", "weighted", "product"]),
    chances,
)
def test_the_order_of_items_does_not_show_among_many_ties(
    gold: list[Any], pred: list[Any], comparator: str, combine: str, chance: random.Random
) -> None:
    text = {"type": "text", "compare": comparator}
    parts = {"type": "list", "items": {"type": "object", "fields": {"x": "text", "y": "number"}}}
    items = {"type": "object", "fields": {"name": text, "n": {"type": "number", "weight": 2}, "parts": parts}}
    spec = {"fields": {"lines": {"type": "list", "combine": combine, "items": items}}}
    expected = told(spec, [{"lines": gold}], [{"lines": pred}])
    for _ in range(3):
        other = turned(spec, [{"lines": gold}], chance), turned(spec, [{"lines": pred}], chance)
        assert told(spec, *other) == expected


@LAWS
@given(chances)
def test_batches_and_the_order_of_documents_do_not_show(chance: random.Random) -> None:
    spec, gold, pred = case(chance, EVERY_ALIGNER, 8)
    gold, pred = with_ids(gold), with_ids(pred)
    expected = told(spec, gold, pred, bootstrap=30)
    assert told(spec, gold, pred, bootstrap=30, batch=1) == expected
    assert told(spec, gold, pred, bootstrap=30, batch=3) == expected
    assert told(spec, chance.sample(gold, 8), chance.sample(pred, 8), bootstrap=30, batch=3) == expected


@LAWS
@given(chances, st.sampled_from([1, 2, 7]))
def test_parts_merge_to_the_same_in_any_order(chance: random.Random, parts: int) -> None:
    spec, gold, pred = case(chance, EVERY_ALIGNER, 10)
    plan = with_sections(read_plan(spec), bootstrap=30)
    folding = fold_plan(plan, ScoreOptions(metrics=METRICS))
    matching = open_inputs(plan, with_ids(gold), {"s": with_ids(pred)})
    order = chance.sample(range(10), 10)
    partials = []
    for positions in np.array_split(order, parts):
        for batch in batches(matching, 4, positions.tolist()):
            (judged,) = judge_batch(plan, batch, ())
            partials.append(fold(folding, judged.evidence, judged.documents))
    chance.shuffle(partials)
    assert [estimate.to_dict() for estimate in estimates(folding, merge(partials))] == told(
        spec, gold, pred, bootstrap=30
    )


def test_processes_do_not_show() -> None:
    spec, gold, pred = case(random.Random(5), EVERY_ALIGNER, 450)
    assert told(spec, gold, pred, bootstrap=50, workers=2) == told(spec, gold, pred, bootstrap=50)


def at_path(record: Any, path: list[str | int], value: Any) -> bool:
    """Put a value at a path, and return whether there was one."""
    for step in path[:-1]:
        if not isinstance(record, list if isinstance(step, int) else dict):
            return False
        record = record[step]
    if not isinstance(record, list if isinstance(path[-1], int) else dict):
        return False
    record[path[-1]] = value
    return True


def steps_of(path: str) -> list[str | int]:
    """Return the steps of a path without odd keys."""
    return [
        int(step) if step.isdigit() else step for step in path.replace("[", ".").replace("]", "").split(".")
    ]


@LAWS
@given(chances)
def test_mending_a_value_lowers_nothing(chance: random.Random) -> None:
    spec, gold, pred = case(chance, Tastes(aligners=("ordered",), trees=False, distinct=False))
    metrics = ("accuracy", "f1", "precision", "recall")
    before = result_of(spec, gold, pred, metrics=metrics)
    assert before.evidence is not None
    is_wrong = pl.col("kind").eq("value") & pl.col("outcome").is_in(["mismatch", "partial"])
    for row in before.evidence.filter(is_wrong).head(3).iter_rows(named=True):
        mended = json.loads(json.dumps(pred))
        if not at_path(mended[int(row["doc"])], steps_of(row["pred_path"]), json.loads(row["gold"])):
            continue
        after = result_of(spec, gold, mended, metrics=metrics)
        for name in ("accuracy", "accuracy_strict", "accuracy_pooled", "f1", "precision", "recall"):
            old, new = before.value(name), after.value(name)
            assert old is None or (new is not None and new >= old), (name, row)


def gold_places(spec: Any, gold: Any, pred: Any) -> list[tuple[str, str, str]]:
    """Return the (document, field, path) of every value that gold brings into the denominators."""
    evidence = result_of(spec, gold, pred, metrics=("counts",)).evidence
    assert evidence is not None
    counted = evidence.filter(
        pl.col("kind") == "value", pl.col("outcome").is_in(["match", "partial", "mismatch", "missing"])
    )
    return sorted(counted.select("doc", "field", "gold_path").rows())


@LAWS
@given(chances)
def test_no_prediction_changes_what_gold_counts(chance: random.Random) -> None:
    spec, gold, pred = case(chance, WILD)
    expected = gold_places(spec, gold, [{}] * 4)
    assert gold_places(spec, gold, pred) == expected
    assert gold_places(spec, gold, gold) == expected
    for record in pred:
        record |= {name: chance.choice(HOSTILE) for name in spec["fields"] if chance.random() < 0.5}
    assert gold_places(spec, gold, pred) == expected
