"""Folding evidence: exact, whatever the partition and the order; shards and their results."""

import pickle
import random
import tracemalloc
from functools import reduce
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple, replace
from tests.effort import few_examples
from tests.evidence_rows import documents, estimate, evidence, value
from tests.judging import result_of

from fieldassay.errors import FieldassayError
from fieldassay.metrics.catalogue.catalogue import list_metrics
from fieldassay.metrics.catalogue.definitions import select_metrics
from fieldassay.metrics.evidence import Kind
from fieldassay.metrics.fold import FoldPlan, estimates, fold, merge
from fieldassay.metrics.result import estimation
from fieldassay.metrics.statistics.statistics import RowSum, Sum, add_sums
from fieldassay.metrics.uncertainty.bootstrap import (
    STEPS,
    document_keys,
    draw_sums,
    unseen_weights,
    weight_table,
    weights,
)
from fieldassay.scoring.engine import lists
from fieldassay.scoring.score import score

# Folding evidence: exact, whatever the partition and the order.

FIELDS = [
    value("total", 0, weight=2.0, critical=True, type="money"),
    value("name", 1),
    value("lines[]", 2, kind=Kind.ITEM),
    value("lines[].sku", 2),
    value("tags[]", 3),
]
SLOTS = ("total", "name", "lines", "tags")
GROUPS = ("accuracy", "f1", "presence", "items", "counts", "latency", "cost")
METRICS = (
    *select_metrics(GROUPS),
    *select_metrics(
        ["f1(granularity=slot)", "accuracy(regime=baseline)", "perfect_documents(threshold=0.5)", "f1{tag=x}"]
    ),
)
PLAN = FoldPlan(METRICS, ("type",), 300, 5, 0.9, keeps_statistics=True)
OUTCOMES = ("match", "partial", "mismatch", "missing", "spurious", "absent", "failed")


def texts(found):
    """Return estimates with all their values as a text, in which undefined ones are alike."""
    return repr(list(map(astuple, found)))


def judge(
    name,
):
    """Return the rows, numbers and groups of a document, made of its name alone."""
    chance = random.Random(name)
    rows = []
    for info in FIELDS:
        for _ in range(chance.randrange(1, 4) if "[]" in info.path else 1):
            outcome = chance.choices(OUTCOMES, [8, 3, 2, 1, 1, 2, 0.3])[0]
            rows.append((name, info.path, outcome, chance.random() if outcome == "partial" else None))
    tags = chance.sample(["x", "y"], chance.randrange(3))
    numbers = {
        "duration_ms": chance.expovariate(0.01),
        "cost_usd": chance.random() if chance.random() < 0.8 else np.nan,
    }
    return rows, numbers, {"type": [chance.choice("ab")], "tag": tags}


def batch(names):
    judged = [judge(name) for name in names]
    rows = [row for rows, _, _ in judged for row in rows]
    table = documents(
        names,
        {key: [numbers[key] for _, numbers, _ in judged] for key in ("duration_ms", "cost_usd")},
        groups={key: [groups[key] for _, _, groups in judged] for key in ("type", "tag")},
    )
    return evidence(rows, FIELDS, names, SLOTS), table


def fold_parts(names, parts, plan=PLAN):
    return reduce(merge, [fold(plan, *batch(names[first::parts])) for first in range(parts)])


NAMES = [f"doc-{number}" for number in range(42)]
WHOLE = estimates(PLAN, fold(PLAN, *batch(NAMES)))


@few_examples()
@given(st.lists(st.integers(0, 5), min_size=42, max_size=42), st.randoms(use_true_random=False))
def test_any_assignment_to_batches_gives_bit_identical_estimates(chosen, chance):
    groups = [
        [name for name, group in zip(NAMES, chosen, strict=True) if group == number] for number in set(chosen)
    ]
    chance.shuffle(groups)
    assert texts(estimates(PLAN, reduce(merge, [fold(PLAN, *batch(group)) for group in groups]))) == texts(
        WHOLE
    )


def test_counts_have_no_interval_and_undefined_values_neither():
    assert {found.interval for found in WHOLE if found.unit == "count" or found.value is None} == {None}
    assert {found.level for found in WHOLE if found.interval is not None} == {0.9}
    assert all(isinstance(found.value, int) for found in WHOLE if found.unit == "count")


def test_slices_are_the_estimates_of_their_documents_alone():
    members = [name for name in NAMES if judge(name)[2]["type"] == ["a"]]
    alone = estimates(replace(PLAN, slices=()), fold(replace(PLAN, slices=()), *batch(members)))
    found = [replace(one, slice={}) for one in WHOLE if one.slice == {"type": "a"}]
    assert texts(found) == texts([one for one in alone if not one.slice])


def test_a_metric_with_a_slice_is_estimated_there_only_and_tags_overlap():
    tagged = [found for found in WHOLE if "tag" in found.slice]
    assert {(found.metric, found.slice["tag"]) for found in tagged} == {("f1", "x")}
    assert {tag for name in NAMES for tag in judge(name)[2]["tag"]} == {"x", "y"}
    assert tagged[0].documents < 42


def test_zero_replicates_turn_every_interval_off_and_change_no_value():
    plan = replace(PLAN, replicates=0)
    found = estimates(plan, fold(plan, *batch(NAMES)))
    assert {one.interval for one in found} == {None}
    assert [one.value for one in found] == [one.value for one in WHOLE]


def test_replicates_are_the_metric_under_the_documents_weights():
    plan = FoldPlan(select_metrics(["precision"]), (), 500, 11, 0.8)
    judged, table = batch(NAMES)
    overall = estimates(plan, fold(plan, judged, table))[0]
    drawn = weights(document_keys(NAMES, 11), 0, 500, weight_table(np.float64))
    leaf, correct = judged.kind == 0, judged.outcome == 0
    has_pred = np.isin(judged.outcome, [0, 1, 2, 4])
    top = np.bincount(judged.doc[leaf & correct], minlength=42) @ drawn
    bottom = np.bincount(judged.doc[leaf & has_pred], minlength=42) @ drawn
    assert overall.interval_resampled == pytest.approx(tuple(np.quantile(top / bottom, [0.1, 0.9])))
    each = np.bincount(judged.doc[leaf & has_pred], minlength=42)
    unseen = STEPS * (each**2).sum() / each.sum() * unseen_weights(11, 500)  # right by a coin
    bounded = (top + np.maximum(unseen, 0.0)) / (bottom + np.abs(unseen))
    assert overall.interval == pytest.approx(tuple(np.quantile(bounded, [0.1, 0.9])))


def test_fields_that_differ_between_batches_are_joined_by_path():
    plan = FoldPlan(
        select_metrics(["field_accuracy(regime=filled)", "accuracy_pooled(regime=filled)"]), (), 40
    )
    rows = {"a": ("x", "match"), "b": ("y", "mismatch"), "c": ("x", "mismatch")}
    parts = []
    for name, (path, outcome) in rows.items():
        judged = evidence([(name, path, outcome)], [value(path)], slots=("root",))
        parts.append(fold(plan, judged, documents([name])))
    found = [
        estimates(plan, reduce(merge, order))
        for order in (parts, parts[::-1], [parts[1], parts[0], parts[2]])
    ]
    assert len({texts(one) for one in found}) == 1
    assert [(one.metric, one.field, one.value, one.n) for one in found[0]] == [
        ("field_accuracy", "x", 0.5, 2),
        ("field_accuracy", "y", 0.0, 1),
        ("accuracy_pooled", None, pytest.approx(1 / 3), 3),
    ]


def test_a_field_that_was_asked_for_but_never_judged_is_undefined():
    found = estimate(
        "field_accuracy[nowhere]", evidence([("a", "x", "match")], [value("x")]), field="nowhere"
    )
    assert (found.value, found.n) == (None, 0)


def test_columns_with_fractions_keep_their_unit_and_lose_four_bits():
    names, columns = ["a", "b"], np.array([[5 << 20, 7], [5 << 20, 7]])
    kept, scaled = draw_sums(columns, document_keys(names, 0), 8, [np.arange(2)], bits=[32, 0])[0]
    drawn = weights(document_keys(names, 0), 0, 8, weight_table()).astype(np.int64)
    assert (scaled == columns[1] @ drawn).all()
    assert (kept == np.array([5 << 16, 0]) @ drawn).all()  # 7 / 16 is nearer to 0


@pytest.mark.parametrize("size", [1, 300, 9000])
def test_products_are_exact_whatever_the_width_of_a_column(size):
    generator = np.random.default_rng(4)
    names = [f"d{number}" for number in range(size)]
    columns = np.stack(
        [
            generator.integers(0, 5, size),
            generator.integers(0, 2, size) << 32,
            generator.integers(0, 2**32, size),
            generator.integers(0, 2**45, size),
            -generator.integers(0, 2**45, size),
            np.zeros(size, np.int64),
        ]
    )
    subset = np.flatnonzero(generator.random(size) < 0.4)
    found = draw_sums(columns, document_keys(names, 9), 37, [np.arange(size), subset])
    drawn = weights(document_keys(names, 9), 0, 37, weight_table()).astype(object)
    assert (found[0] == columns.astype(object) @ drawn).all()
    assert (found[1] == columns[:, subset].astype(object) @ drawn[subset]).all()


def test_sums_that_would_overflow_are_refused():
    huge = {RowSum("leaf", (), "score"): Sum(("x",), np.array([[2**61]]))}
    with pytest.raises(FieldassayError, match="too large"):
        add_sums(huge, huge)


def test_a_number_too_large_to_be_true_names_the_document():
    table = documents(["a"], {"duration_ms": [1e300]})
    with pytest.raises(FieldassayError, match="document 'a': duration_ms"):
        estimate("latency_mean", evidence([("a", "x", "match")], [value("x")]), table)


def test_two_systems_on_the_same_documents_share_their_weights():
    judged, table = batch(NAMES)
    names = [statistic for statistic in PLAN.resampled if isinstance(statistic, RowSum)]
    both = [fold(PLAN, replace(judged, system=system), table).slices[None].sums for system in ("s", "t")]
    assert all(np.array_equal(both[0][name].values, both[1][name].values) for name in names)


@pytest.mark.parametrize("parts", [1, 2, 7])
@pytest.mark.parametrize("portion", [1, 30_000, 1 << 24])
@pytest.mark.parametrize("small", [0, 1 << 25])
def test_estimates_are_the_same_in_portions_of_any_size(monkeypatch, parts, portion, small):
    names = [f"d{at}" for at in range(12)]
    whole = texts(estimates(PLAN, fold_parts(names, 1)))
    monkeypatch.setattr(estimation, "PORTION", portion)
    monkeypatch.setattr(estimation, "SMALL_SUMS", small)
    assert texts(estimates(PLAN, fold_parts(names, parts))) == whole


def test_memory_of_intervals_grows_by_estimates_and_not_by_replicates(
    monkeypatch,
):
    monkeypatch.setattr(estimation, "PORTION", 1 << 20)
    monkeypatch.setattr(estimation, "SMALL_SUMS", 1 << 20)
    peaks = []
    for count in (20, 120):
        fields = [value(f"f{at}", at) for at in range(count)]
        rows = [(name, info.path, "match", None) for name in ("a", "b") for info in fields]
        table = evidence(rows, fields, ["a", "b"], tuple(info.path for info in fields))
        plan = FoldPlan(tuple(select_metrics(GROUPS)), replicates=2000)
        tracemalloc.start()
        estimates(plan, fold(plan, table, documents(["a", "b"])))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


# Shards and their results.

# The results of shards: whatever a spec asks for, they come back from another process as they were

GOLD = [
    {
        "id": str(at),
        "a": at,
        "b": f"t{at % 7}",
        "lines": [{"x": at}, {"x": 2}],
        "tags": ["even"] if at % 2 else [],
    }
    for at in range(450)
]
PRED = [
    {
        "id": row["id"],
        "data": {**row, "a": row["a"] + (row["a"] % 5 == 0), "b": None},
        "confidence": {"a": 0.5, "b": 0.75},
        "usage": {"input_tokens": 5, "output_tokens": 7},
        "timing": {"duration_ms": 12.5 * row["a"]},
    }
    for row in GOLD
]


def able_metrics():
    """Return the metrics of the catalogue without a parameter that must be given."""
    needy = (
        "mean",
        "percentile",
        "total",
        "share_at_least",
        "value_pass_at",
        "value_pass_hat",
        "pass_at",
        "pass_hat",
    )
    return tuple(name for name in list_metrics() if name not in needy)


@pytest.mark.parametrize(
    ("spec", "predictions", "options"),
    [
        pytest.param("fields: {a: integer, b: text}", PRED, {"metrics": able_metrics()}, id="all metrics"),
        pytest.param("fields: {a: integer, b: text}", [PRED, PRED[:9] + PRED[10:]], {}, id="repeated runs"),
        pytest.param(
            "{fields: {a: integer, lines: {items: {fields: {x: integer}}}}, checks: {a: {range: {most: 300}}}}",
            PRED,
            {"slices": ("tags",), "keeps_statistics": True},
            id="checks, slices, statistics",
        ),
        pytest.param(
            "{fields: {a: integer, b: text}, definitions: {quality: 0.5 * accuracy + 0.5 * f1}, metrics: [quality, f1]}",
            PRED,
            {},
            id="own metrics",
        ),
        pytest.param(
            "{fields: {b: text}, metrics: [accuracy, latency_p95]}", PRED, {"bootstrap": 0}, id="quantiles"
        ),
    ],
)
def test_results_that_travelled_are_the_same(spec, predictions, options, monkeypatch):
    """Work and results are pickled on their way to a worker and back."""
    given = {**{"bootstrap": 20, "batch": 40, **options}}
    here, travelled = score(GOLD, {"m": predictions}, spec, **given), []

    def run_here(function, works, workers):
        for work in works:
            travelled.append(work.number)
            yield pickle.loads(pickle.dumps(function(pickle.loads(pickle.dumps(work)))))

    monkeypatch.setattr("fieldassay.io.workers.program.run_pool", run_here)
    apart = score(GOLD, {"m": predictions}, spec, **given, workers=2)
    assert travelled == [0, 1, 2]
    assert apart.estimates == here.estimates and apart.counts == here.counts
    assert apart.checks == here.checks and apart.repeats == here.repeats
    assert apart.documents.equals(here.documents) and apart.run == here.run


# Lists with too many pairs of items: what is equal is paired first, and what is left decides about failing

_ITEM = {"fields": {"k": "id", "a": "number"}}
SPECS: dict[str, dict[str, Any]] = {
    "values": {"items": "id"},
    "values in order": {"items": "id", "align": "sequence"},
    "objects": {"items": _ITEM},
    "objects in order": {"items": _ITEM, "align": "sequence"},
    "keys": {"items": _ITEM, "align": {"key": "k"}},
    "keys that may differ": {
        "items": {"fields": {"k": {"type": "text", "compare": "indel"}, "a": "number"}},
        "align": {"key": {"fields": "k", "min_similarity": 0.9}},
    },
}


def judged(listed, gold, pred):
    spec = {"fields": {"x": {"type": "list", **listed}, "y": "text"}}
    other = {"id": "other", "y": "1"}
    return result_of(spec, [{"id": "long", "x": gold}, other], [{"id": "long", "x": pred}, other])


def totals(spec, records):
    """Return the outcomes of the values and the similarity of the pairs, by document; None for a failed one."""
    sides = ([{"x": record[side]} for record in records] for side in (0, 1))
    rows = result_of({"fields": {"x": {"type": "list", **spec}}}, *sides).evidence
    found = rows.group_by("doc").agg(
        pl.col("outcome").filter(pl.col("kind") == "value").sort(),
        *(pl.col(name).sum().round(6) for name in rows.columns if name == "similarity"),
    )
    # Objects that agree in part have several pairings with one total: an equal one, or two in part.
    has_ties = spec is SPECS["objects"]
    return {
        doc: None if "failed" in outcomes else (outcomes.count("match") if has_ties else outcomes, more)
        for doc, outcomes, *more in found.rows()
    }


def drawn_item(draw, spec):
    return (
        {"k": str(draw.randint(1, 9)), "a": draw.randint(1, 2)}
        if "fields" in spec["items"]
        else draw.choice("abcdef")
    )


@pytest.mark.parametrize("name", SPECS)
def test_long_lists_are_judged_as_short_ones_are(name, monkeypatch):
    draw, records = Random(name), []
    for _ in range(200):
        gold, other = ([drawn_item(draw, SPECS[name]) for _ in range(draw.randint(2, 7))] for _ in range(2))
        records.append(
            (gold, draw.choice([other, gold[::-1], [*gold[1:], *other[:2]], [*gold[:-1], other[0]]]))
        )
    whole = totals(SPECS[name], records)
    monkeypatch.setattr(lists, "MOST_PAIRS", 8)
    split = {doc: found for doc, found in totals(SPECS[name], records).items() if found is not None}
    assert split == {doc: whole[doc] for doc in split}
    assert len(split) > 50


@pytest.mark.parametrize("name", ["values", "objects", "keys"])
def test_20_000_equal_items_are_paired(name):
    gold: list[Any] = [str(at) for at in range(20_000)]
    if name != "values":
        gold = [{"k": at, "a": int(at) % 50} for at in gold]
    pred = [*gold[:-2], gold[-1] if name == "values" else {"k": "1x", "a": 7}][::-1]
    result = judged(SPECS[name], gold, pred)
    assert result.counts["systems"]["s"]["classes"]["scored"] == 2
    assert result.value("recall") > 0.999


def test_a_list_with_too_much_left_fails_alone_and_says_why():
    gold = [{"k": str(at), "a": 1} for at in range(6_000)]
    result = judged(SPECS["objects"], gold, [{"k": f"x{at}", "a": at} for at in range(2, 6_002)])
    assert result.counts["systems"]["s"]["classes"] | {"attempted": 0} == {
        **dict.fromkeys(("attempted", "missing", "invalid", "error", "timeout"), 0),
        "scored": 1,
        "failed": 1,
    }
    assert result.value("accuracy") == 1
    assert set(result.evidence.filter(pl.col("doc") == "long", pl.col("field") != "y")["reason"]) == {
        "too_many_items"
    }
    (warning,) = result.warnings
    assert "document 'long' of s: x is not judged: 6,000 gold items and 6,000 predicted items" in warning
    keyed = judged(
        {
            "items": {"fields": {"k": {"type": "text", "compare": "indel"}, "a": "number"}},
            "align": {"key": "a"},
        },
        gold,
        [{"k": "y", "a": 1}] * 6_000,
    )
    assert "similarity" not in str(keyed.warnings)
    assert "too many to pair by a, since 6,000 and 6,000 are left when equal keys are paired first" in str(
        keyed.warnings
    )
