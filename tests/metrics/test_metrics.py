"""Metrics: their formulas, granularity, and the traps of aggregation."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.evidence_rows import documents, estimate, evidence, value

from fieldassay.metrics.catalogue.definitions import Definition, Vocabulary, select_metrics
from fieldassay.metrics.catalogue.grammar import Applied, Literal, MetricCall, Operation, parse_formula
from fieldassay.metrics.evidence import Kind
from fieldassay.metrics.fold import FoldPlan, estimates, fold, merge
from fieldassay.metrics.statistics.columns import tabulate_rows

# Formulas: worked by hand, undefined where a part is, printed and parsed back

FIELDS = [
    value("drugs[]", 0, kind=Kind.ITEM),
    value("drugs[].name", 0),
    value("drugs[].dose", 0, type="quantity", critical=True),
    value("note", 1),
]
ROWS = [
    ("a", "drugs[]", "match"), ("a", "drugs[].name", "match"), ("a", "drugs[].dose", "mismatch"),
    ("a", "drugs[]", "missing"), ("a", "drugs[].name", "missing", None, "lone_parent"),
    ("a", "drugs[].dose", "absent", None, "lone_parent"),
    ("a", "note", "partial"),
    ("b", "drugs[]", "match"), ("b", "drugs[].name", "match"), ("b", "drugs[].dose", "absent"),
    ("b", "note", "absent"),
    ("c", "drugs[]", "spurious"), ("c", "drugs[].name", "spurious", None, "lone_parent"),
    ("c", "note", "match"),
    ("d", "drugs[]", "missing"), ("d", "drugs[].name", "missing", None, "lone_parent"),
    ("d", "note", "missing"),
]  # fmt: skip
"""Items: a has one pair and one missing, b one pair, c a spurious one, d a missing one; partial is 0.5."""

RECALL = "items_matched / (items_matched + items_missing)"
PAIRED = "(correct(fields=dose, without=lone_parent) + absent(fields=dose, without=lone_parent))"
OWN = {
    "recall_of_drugs": f"document_mean({RECALL})",
    "pooled": RECALL,
    "dose": f"document_mean(otherwise({PAIRED} / items_matched, 0), over=recall_of_drugs)",
    "score": "document_mean(0.7 * recall_of_drugs + 0.3 * dose)",
    "percent": "100 * score",
    "gap": "pooled - recall_of_drugs",
    "errors": "wrong + missing",
    "odd": "structure_errors + missing(granularity=leaf)",
    "soft": "total(column=score) / (correct + wrong)",
    "good": "document_sum(at_least(recall_of_drugs, 1))",
    "never": "items_matched / (items_matched - items_matched)",
    "filled": "otherwise(never, 0.25)",
    "rate": "accuracy_pooled(fields=note)",
    "constant": "2 * (3 + 4) / 7 - 1",
}
WORKED = {
    "recall_of_drugs": ((1 / 2 + 1 + 0) / 3, 3),
    "pooled": (2 / 4, 4),
    "dose": ((0 + 1 + 0) / 3, 3),
    "score": (((0.35 + 0) + (0.7 + 0.3) + 0) / 3, 3),
    "percent": (100 * (0.35 + 1.0) / 3, 3),
    "gap": (0.5 - 0.5, 3),
    "errors": (2 + 3, 12),
    "odd": (3, 17),
    "soft": ((3 + 0.5) / (3 + 2), 5),
    "good": (1, 4),
    "never": (None, 0),
    "filled": (0.25, 0),
    "rate": ((0.5 + 1) / 3, 3),
    "rate(regime=baseline)": ((0.5 + 1 + 1) / 4, 4),
    "constant": (1.0, 4),
    "correct(fields=name)": (2, 5),
    'correct(fields="drugs[].dose|note")': (1, 7),
    'missing(fields="**.na*")': (2, 5),
    "wrong(critical=yes)": (1, 3),
    "missing(without=lone_parent)": (1, 8),
    "share_at_least(column=score, threshold=0.5, regime=gold_nonempty)": (4 / 8, 8),
}


def vocabulary(own=None):
    return Vocabulary(
        tuple(Definition(name, formula) for name, formula in (own or OWN).items()), ("text", "quantity")
    )


def table():
    return evidence(ROWS, FIELDS, slots=("drugs", "note"))


def found(metric, judged, **plan):
    folding = FoldPlan(
        select_metrics([metric], vocabulary()), vocabulary=vocabulary(), **{"replicates": 0, **plan}
    )
    return estimates(folding, fold(folding, judged, documents(judged.documents)))


@pytest.mark.parametrize("metric", WORKED)
def test_formula_has_the_value_and_denominator_worked_by_hand(metric):
    wanted, n = WORKED[metric]
    one = next(estimate for estimate in found(metric, table()) if estimate.field is None)
    assert one.value == (None if wanted is None else pytest.approx(wanted, abs=1e-9))
    if metric not in (
        "odd",
        "correct(fields=name)",
        'correct(fields="drugs[].dose|note")',
        'missing(fields="**.na*")',
    ):
        assert one.n == n


def test_a_document_has_its_own_value_and_null_where_it_is_undefined():
    names = ("percent", "dose", "pooled", "errors")
    folding = FoldPlan(
        select_metrics(names, vocabulary()), vocabulary=vocabulary(), score="score", replicates=0
    )
    values = fold(folding, table(), documents("abcd")).documents[0].values
    assert values["score"].tolist() == [0.35, 1.0, pytest.approx(np.nan, nan_ok=True), 0.0]
    assert values["percent"].tolist() == [35.0, 100.0, pytest.approx(np.nan, nan_ok=True), 0.0]
    assert values["pooled"].tolist() == [0.5, 1.0, pytest.approx(np.nan, nan_ok=True), 0.0]
    assert values["errors"].tolist() == [3.0, 0.0, 0.0, 2.0]


def test_a_formula_has_an_interval_and_partitions_agree_to_the_bit():
    rows = [(f"d{k}", "note", ("match", "mismatch", "missing")[k % 3]) for k in range(60)]
    own = Vocabulary(
        (Definition("p", "100 * document_mean(correct / (correct + wrong + missing)) - 1", unit="points"),)
    )
    folding = FoldPlan(select_metrics(["p"], own), vocabulary=own, replicates=200)
    parts = []
    for chosen in (rows[:7], rows[7:41], rows[41:]):
        judged = evidence(chosen, FIELDS, slots=("drugs", "note"))
        parts.append(fold(folding, judged, documents(judged.documents)))
    whole = evidence(rows, FIELDS, slots=("drugs", "note"))
    (together,) = estimates(folding, reduce(merge, parts))
    (once,) = estimates(folding, fold(folding, whole, documents(whole.documents)))
    assert together == once
    assert once.interval[0] < 100 / 3 - 1 < once.interval[1]


def test_each_stands_for_every_type_and_every_step():
    assert [str(call) for call in select_metrics(["rate(type=each)"], vocabulary())] == [
        "rate(type=text)",
        "rate(type=quantity)",
    ]
    steps = select_metrics(["share_at_least(column=score, threshold=each)"])
    assert [dict(call.parameters)["threshold"] for call in steps] == [step / 20 for step in range(21)]


@pytest.mark.parametrize(
    ("own", "call", "what"),
    [
        ({"a": "b"}, "a", "unknown metric 'b'"),
        ({"a": "b", "b": "a"}, "a", "refers to itself"),
        ({"a": "a"}, "a", "refers to itself"),
        ({"a": "latency_p50 / 2"}, "a", "quantile"),
        ({"a": "correct[x]"}, "a", "leave out the field"),
        ({"a": "accuracy"}, "a(column=score)", "no parameter 'column'"),
        ({"a": "accuracy(regime=odd)"}, "a", "unknown regime"),
        ({"a": "correct +"}, "a", "expected the name of a metric"),
        ({"a": "otherwise(correct)"}, "a", "expected ','"),
        ({"a": "(" * 60 + "1" + ")" * 60}, "a", "levels of parentheses"),
        ({"a": "correct correct"}, "a", "something follows the end"),
    ],
)
def test_what_cannot_be_meant_is_said(own, call, what):
    with pytest.raises(ValueError, match=what.replace("[", r"\[").replace("(", r"\(")):
        select_metrics([call], vocabulary(own))


CALLS = st.sampled_from(
    [
        MetricCall("correct"),
        MetricCall("mean", (("column", "score"),)),
        MetricCall("a_b", (("fields", "x|y"),)),
    ]
)
NUMBERS = st.sampled_from([0.0, 1.0, 0.5, 100.0, 0.1, 1e-7, 12345678.25]).map(Literal)
FORMULAS = st.recursive(
    CALLS | NUMBERS,
    lambda inner: st.one_of(
        st.builds(Operation, st.sampled_from("+-*/"), inner, inner),
        st.builds(Applied, st.just("document_mean"), inner, st.none(), st.none() | inner),
        st.builds(Applied, st.just("at_least"), inner, st.sampled_from([0.0, 0.99, 2.0]), st.none()),
    ),
    max_leaves=12,
)


@given(FORMULAS)
@settings(derandomize=True)
def test_a_formula_prints_and_parses_back(formula):
    assert parse_formula(str(formula)) == formula


# Aggregations that other scorers get wrong, and what they come to here

FLAT = [value(f"f{number}", number) for number in range(10)]
AGGREGATION_TRAPS_ROWS = [
    value("head", 0),
    value("rows", 1, kind=Kind.LIST),
    value("rows[]", 1, kind=Kind.ITEM),
    value("rows[].sku", 1),
    value("rows[].sum", 1),
]


def flat(*outcomes):
    return [("a", f"f{number}", outcome) for number, outcome in enumerate(outcomes)]


def items(*pairs):
    return [row for sku, total in pairs for row in (("a", "rows[].sku", sku), ("a", "rows[].sum", total))]


HALF_RIGHT = items(*[("match", "mismatch")] * 4)

TRAPS = {
    "wrong values are in recall": (flat("match", "mismatch", "mismatch"), "recall", 1 / 3),
    "wrong values are in precision": (flat("match", "mismatch", "mismatch", "mismatch"), "precision", 1 / 4),
    "a row with a wrong field is no true positive: F1": (HALF_RIGHT, "f1(granularity=leaf)", 1 / 2),
    "a row with a wrong field is no true positive: recall": (HALF_RIGHT, "recall", 1 / 2),
    "nulls on both sides pay nothing to an empty prediction": (
        flat("missing", "absent", "absent"),
        "accuracy(regime=filled)",
        0.0,
    ),
    "nulls on both sides pay in the baseline, by name": (
        flat("missing", "absent", "absent"),
        "accuracy(regime=baseline)",
        2 / 3,
    ),
    "nulls do not inflate": (flat("mismatch", *["absent"] * 9), "accuracy_pooled", 0.0),
    "correct silence is undefined, not wrong": (flat("absent"), "accuracy_strict", None),
    "a long list is not one key": (
        [("a", "head", "match"), *items(*[("mismatch", "mismatch")] * 100)],
        "accuracy_pooled",
        1 / 201,
    ),
    "a whole missing row lowers the fields of the list": (
        items(("match", "match"), ("missing", "missing")),
        "field_accuracy[rows[].sku]",
        1 / 2,
    ),
    "fields of a badly matching row stay in the denominator": (
        items(("match", "mismatch"), ("match", "mismatch")),
        "recall[rows[].sku]",
        1.0,
    ),
    "extra keys cost their share and no more": (
        flat("match", "match", *["spurious"] * 3),
        "accuracy_pooled",
        2 / 5,
    ),
    "extra keys do not touch recall": (flat("match", "match", *["spurious"] * 3), "recall", 1.0),
    "one wrong item of two costs a half": (items(("match", "mismatch")), "accuracy_pooled", 1 / 2),
}


@pytest.mark.parametrize("claim", TRAPS)
def test_trap_is_avoided(claim):
    rows, metric, wanted = TRAPS[claim]
    is_flat = rows[0][1].startswith("f")
    field = metric.partition("[")[2][:-1] or None
    found = estimate(
        metric,
        evidence(
            rows, FLAT if is_flat else AGGREGATION_TRAPS_ROWS, slots=None if is_flat else ("head", "rows")
        ),
        field=field,
    )
    assert found.value == (None if wanted is None else pytest.approx(wanted, abs=1e-9))


# Slots: one score per declared top-level field

GRANULARITY_FIELDS = [
    value("total", 0, type="money"),
    value("lines", 1, kind=Kind.LIST, type="list"),
    value("lines[]", 1, kind=Kind.ITEM),
    value("lines[].sku", 1),
    value("lines[].sum", 1, critical=True),
]
SLOTS = ("total", "lines")

CASES = {
    "all leaves match": ([("a", "lines[].sku", "match"), ("a", "lines[].sum", "match")], "match", 1.0),
    "one leaf of two is wrong": (
        [("a", "lines[].sku", "match"), ("a", "lines[].sum", "mismatch")],
        "mismatch",
        0.5,
    ),
    "a missing row is in the union": (
        [("a", "lines[].sku", "match"), ("a", "lines[].sku", "missing")],
        "mismatch",
        0.5,
    ),
    "a partial leaf": ([("a", "lines[].sku", "partial")], "mismatch", 0.5),
    "a partial score that is accepted": ([("a", "lines[].sku", "match", 0.9)], "match", 0.9),
    "only gold": ([("a", "lines[].sku", "missing"), ("a", "lines[].sum", "missing")], "missing", 0.0),
    "only the prediction": ([("a", "lines[].sku", "spurious")], "spurious", 0.0),
    "different leaves on each side": (
        [("a", "lines[].sku", "spurious"), ("a", "lines[].sum", "missing")],
        "mismatch",
        0.0,
    ),
    "an absent list without leaves": ([("a", "lines", "absent")], "absent", 0.0),
    "a failed leaf alone": ([("a", "lines[].sku", "failed")], "failed", 0.0),
    "a failed leaf beside a match": (
        [("a", "lines[].sku", "failed"), ("a", "lines[].sum", "match")],
        "match",
        1.0,
    ),
    "a text where a list should be": (
        [
            ("a", "lines", "mismatch", 0.0, "wrong_kind"),
            ("a", "lines[].sku", "missing", 0.0, "under_wrong_kind"),
        ],
        "mismatch",
        0.0,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_slot_outcome_and_score(case):
    rows, outcome, score = CASES[case]
    table = tabulate_rows(evidence(rows, GRANULARITY_FIELDS, slots=SLOTS), "slot")
    assert [
        (str(found), number)
        for found, number in zip(table.outcome.tolist(), table.score.tolist(), strict=True)
    ] == [
        (
            str({"match": 0, "mismatch": 2, "missing": 3, "spurious": 4, "absent": 5, "failed": 6}[outcome]),
            pytest.approx(score),
        )
    ]


UNEVEN = [("a", "total", "mismatch"), *[("a", "lines[].sku", "match")] * 9]
OF_SLOTS = {
    "leaves weigh the same": ("accuracy(granularity=leaf, type=money|text)", UNEVEN, 0.9, 1),
    "slots weigh the same however many leaves they have": ("accuracy(granularity=slot)", UNEVEN, 0.5, 1),
    "a list is a slot": ("accuracy(granularity=slot, type=list)", UNEVEN, 1.0, 1),
    "a slot is critical if one of its rows is": (
        "critical_accuracy(granularity=slot)",
        [("a", "total", "match"), ("a", "lines[].sku", "match"), ("a", "lines[].sum", "mismatch")],
        0.0,
        1,
    ),
    "a slot without rows does not apply and counts nowhere": (
        "accuracy_pooled(granularity=slot, regime=baseline)",
        [("a", "total", "match"), ("b", "total", "match"), ("b", "lines", "absent")],
        1.0,
        3,
    ),
}


@pytest.mark.parametrize("claim", OF_SLOTS)
def test_slots_count_as_said(claim):
    metric, rows, wanted, n = OF_SLOTS[claim]
    found = estimate(metric, evidence(rows, GRANULARITY_FIELDS, slots=SLOTS))
    assert (found.value, found.n) == (pytest.approx(wanted), n)


def test_rows_outside_every_slot_are_in_no_slot():
    fields = [value("", -1, kind=Kind.OBJECT), value("total", 0)]
    judged = evidence(
        [("a", "", "mismatch", 0.0, "wrong_kind"), ("a", "total", "missing")], fields, slots=("total",)
    )
    assert tabulate_rows(judged, "slot").outcome.tolist() == [3]


COVERAGE = {
    "mean(column=coverage)": (np.mean([0.6, 1.0, 0.0, 0.0]), 4),
    "mean(column=coverage, regime=gold_nonempty)": (np.mean([0.6, 1.0, 0.0]), 3),
    "mean(column=coverage, regime=baseline)": (np.mean([0.6, 1.0, 0.0, 0.0, 1.0]), 5),
    "mean(column=coverage, regime=baseline, granularity=slot)": (np.mean([0.6, 1.0, 0.0, 0.0, 1.0]), 5),
    "mean(column=nothing_has_this, type=money)": (None, 0),
}


@pytest.mark.parametrize("metric", COVERAGE)
def test_mean_of_an_extra_column_takes_one_sided_rows_as_zero_and_silence_as_one(metric):
    rows = [
        ("a", "x", "partial"),
        ("b", "x", "match"),
        ("c", "x", "missing"),
        ("d", "x", "spurious"),
        ("e", "x", "absent"),
    ]
    judged = evidence(rows, [value("x")])
    judged = replace(judged, extras={"coverage": np.array([0.6, 1.0, np.nan, np.nan, np.nan])})
    wanted, n = COVERAGE[metric]
    found = estimate(metric, judged)
    assert (found.value, found.n) == (None if wanted is None else pytest.approx(wanted, abs=1e-9), n)
