"""Every metric, worked by hand; the language of metrics, and the pages that document them."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.doc_tables import rows
from tests.evidence_rows import documents, estimate, evidence, value

from fieldassay import score
from fieldassay.metrics.catalogue.catalogue import list_metrics
from fieldassay.metrics.catalogue.definitions import (
    DEFAULT_METRICS,
    Vocabulary,
    list_groups,
    select_metrics,
)
from fieldassay.metrics.catalogue.grammar import (
    GATE_FUNCTIONS,
    OPERATORS,
    Gate,
    MetricCall,
    parse_gate,
    parse_metric,
    parse_threshold,
)
from fieldassay.metrics.evidence import Kind

# Every metric, worked by hand.

FIELDS = [
    value("total", 0, weight=3.0, critical=True, type="money"),
    *(value(name, place + 1) for place, name in enumerate(("name", "date", "iban", "note"))),
]

ROWS = [
    ("a", "total", "match"), ("a", "name", "partial"), ("a", "date", "missing"),
    ("a", "iban", "spurious", None, "unreadable_pred"),
    ("a", "note", "absent"),
    ("b", "total", "mismatch", None, "unreadable_pred"),
    ("b", "name", "match"), ("b", "date", "match"), ("b", "iban", "absent"), ("b", "note", "absent"),
    *(("c", name, "absent") for name in ("total", "name", "date", "iban", "note")),
    ("d", "total", "spurious", None, "unreadable_pred"), ("d", "name", "match"),
    *(("d", name, "absent") for name in ("date", "iban", "note")),
]  # fmt: skip
"""C = 4, W = 2, M = 1, S = 2, A = 11, sum of scores T = 4.5; document c is empty on both sides."""

LINES = [
    value("lines", 0, kind=Kind.LIST),
    value("lines[]", 0, kind=Kind.ITEM),
    value("lines[].sku", 0),
    value("lines[].sum", 0),
    value("tags[]", 1),
]
ITEM_ROWS = [
    ("a", "lines[]", "match"), ("a", "lines[].sku", "match"), ("a", "lines[].sum", "match"),
    ("a", "lines[]", "partial"), ("a", "lines[].sku", "match"), ("a", "lines[].sum", "mismatch"),
    ("a", "lines[]", "missing"), ("a", "lines[].sku", "missing"), ("a", "lines[].sum", "missing"),
    ("a", "tags[]", "match"), ("a", "tags[]", "spurious"), ("a", "tags[]", "spurious"),
]  # fmt: skip


def table():
    return evidence(ROWS, FIELDS)


def items():
    return evidence(ITEM_ROWS, LINES, slots=("lines", "tags"))


OVERALL = {
    "accuracy": (np.mean([1.5 / 4, 2 / 3, 1 / 2]), 3),
    "accuracy(regime=gold_nonempty)": (np.mean([1.5 / 3, 2 / 3, 1]), 3),
    "accuracy(regime=baseline)": (np.mean([2.5 / 5, 4 / 5, 1, 4 / 5]), 4),
    "accuracy(type=money)": (np.mean([1, 0, 0]), 3),
    "accuracy_strict": (np.mean([1 / 4, 2 / 3, 1 / 2]), 3),
    "accuracy_strict(regime=baseline)": (np.mean([2 / 5, 4 / 5, 1, 4 / 5]), 4),
    "accuracy_pooled(regime=filled)": (4.5 / 9, 9),
    "accuracy_pooled(regime=gold_nonempty)": (4.5 / 7, 7),
    "accuracy_pooled(regime=baseline)": (15.5 / 20, 20),
    "accuracy_by_field": (np.mean([1 / 3, 2.5 / 3, 1 / 2, 0]), 4),
    "accuracy_weighted": (np.mean([3.5 / 6, 2 / 5, 1 / 4]), 3),
    "accuracy_weighted(regime=baseline)": (np.mean([4.5 / 7, 4 / 7, 1, 4 / 7]), 4),
    "critical_accuracy": (1 / 3, 3),
    "perfect_documents": (0.0, 3),
    "perfect_documents(threshold=0.5)": (2 / 3, 3),
    "perfect_documents(threshold=0.8, regime=baseline)": (3 / 4, 4),
    "precision": (4 / 8, 8),
    "recall": (4 / 7, 7),
    "f1(granularity=leaf)": (8 / 15, 15),
    "macro_precision": (np.mean([1 / 3, 2 / 3, 1, 0]), 4),
    "macro_recall": (np.mean([1 / 2, 2 / 3, 1 / 2]), 3),
    "macro_f1": (np.mean([2 / 5, 4 / 6, 2 / 3, 0]), 4),
    "weighted_precision": ((2 * 1 / 3 + 3 * 2 / 3 + 2 * 1) / 7, 4),
    "weighted_recall": (4 / 7, 3),
    "weighted_f1": ((2 * 2 / 5 + 3 * 4 / 6 + 2 * 2 / 3) / 7, 4),
    "support": (7, 20),
    "out_of_type": (3, 8),
    "out_of_type_rate": (3 / 8, 8),
    "out_of_type_rate(regime=gold_nonempty)": (1 / 6, 6),
    "out_of_type_rate(regime=baseline)": (3 / 20, 20),
    "fda": (17 / 20, 20),
    "hr": (2 / 13, 13),
    "mr": (1 / 7, 7),
    "rfa": (4.5 / 6, 6),
    "correct": (4, 20),
    "wrong": (2, 20),
    "missing": (1, 20),
    "spurious": (2, 20),
    "absent": (11, 20),
    "failed": (0, 20),
    "structure_errors": (0, 20),
    "unreadable_gold": (0, 20),
    "documents": (4, 4),
}

BY_FIELD = {
    ("field_accuracy", "total"): (1 / 3, 3, 3),
    ("field_accuracy", "name"): (2.5 / 3, 3, 3),
    ("field_accuracy", "note"): (None, 0, 0),
    ("field_accuracy(regime=baseline)", "note"): (1.0, 4, 4),
    ("field_accuracy_strict", "name"): (2 / 3, 3, 3),
    ("precision", "iban"): (0.0, 1, 1),
    ("recall", "iban"): (None, 0, 0),
    ("f1(granularity=slot)", "date"): (2 / 3, 3, 2),
    ("hr", "total"): (1 / 2, 2, 2),
    ("mr", "date"): (1 / 2, 2, 2),
    ("correct", "note"): (0, 4, 4),
    ("support", "total"): (2, 4, 4),
    ("support", "note"): (0, 4, 4),
    ("out_of_type", "total"): (2, 3, 3),
    ("out_of_type_rate", "iban"): (1.0, 1, 1),
    ("out_of_type_rate(regime=gold_nonempty)", "total"): (1 / 2, 2, 2),
}

ITEMS = {
    ("item_precision", None): (3 / 5, 5),
    ("item_recall", None): (3 / 4, 4),
    ("item_f1", None): (6 / 9, 9),
    ("item_f1", "lines[]"): (4 / 5, 5),
    ("item_precision", "tags[]"): (1 / 3, 3),
    ("item_recall(match=correct)", "lines[]"): (1 / 3, 3),
    ("item_f1(match=correct)", None): (4 / 9, 9),
    ("items_matched", None): (3, 6),
    ("items_missing", "lines[]"): (1, 3),
    ("items_spurious", "tags[]"): (2, 3),
}

NUMBERS = {"duration_ms": [100.0, 200.0, np.nan, 400.0], "cost_usd": [0.01, np.nan, 0.03, 0.02],
           "prompt_tokens": [900.0, 1000.0, np.nan, 500.0], "completion_tokens": [80.0, np.nan, np.nan, 20.0],
           "embedding_tokens": [np.nan, np.nan, np.nan, 7.0],
           "total_tokens": [980.0, 1000.0, np.nan, 527.0]}  # fmt: skip
CLAIMED = {"has_prediction": [True, True, False, False], "is_invalid": [True, False, False, False],
           "has_error": [False, False, True, True],
           "is_timeout": [False, False, True, False],
           "is_repaired": [True, True, True, False], "is_unparsed": [True, False, True, False]}  # fmt: skip
OF_DOCUMENTS = {
    "documents_missing": (2, 4), "documents_invalid": (1, 4), "documents_error": (2, 4),
    "documents_timeout": (1, 4),
    "documents_repaired": (3, 4), "documents_unparsed": (2, 4),
    "latency_mean": (700 / 3, 3), "latency_min": (100.0, 3), "latency_max": (400.0, 3),
    "latency_p50": (200.0, 3),
    "latency_p90": (360.0, 3), "latency_p95": (380.0, 3), "latency_p99": (396.0, 3),
    "throughput": (3 * 60_000 / 700, 3), "cost_usd": (0.02, 3),
    "cost_usd_total": (0.06, 3),
    "prompt_tokens": (800.0, 3), "completion_tokens": (50.0, 2), "embedding_tokens": (7.0, 1),
    "total_tokens": (2507 / 3, 3),
    "prompt_tokens_sum": (2400.0, 3), "completion_tokens_sum": (100.0, 2), "embedding_tokens_sum": (7.0, 1),
    "total_tokens_sum": (2507.0, 3),
}  # fmt: skip


@pytest.mark.parametrize("metric", OVERALL)
def test_overall_value_is_the_one_worked_by_hand(metric):
    wanted, n = OVERALL[metric]
    found = estimate(metric, table())
    assert (found.value, found.n) == (pytest.approx(wanted, abs=1e-9), n)


@pytest.mark.parametrize(("metric", "field"), BY_FIELD)
def test_field_value_is_the_one_worked_by_hand(metric, field):
    wanted, n, behind = BY_FIELD[metric, field]
    found = estimate(metric, table(), field=field)
    assert (found.value, found.n, found.documents) == (
        None if wanted is None else pytest.approx(wanted, abs=1e-9),
        n,
        behind,
    )


@pytest.mark.parametrize(("metric", "field"), ITEMS)
def test_item_value_is_the_one_worked_by_hand(metric, field):
    wanted, n = ITEMS[metric, field]
    found = estimate(metric, items(), field=field)
    assert (found.value, found.n, found.granularity) == (pytest.approx(wanted, abs=1e-9), n, "item")


@pytest.mark.parametrize("metric", OF_DOCUMENTS)
def test_value_of_the_document_table_is_the_one_worked_by_hand(metric):
    wanted, n = OF_DOCUMENTS[metric]
    found = estimate(metric, table(), documents("abcd", NUMBERS, CLAIMED))
    assert (found.value, found.n) == (pytest.approx(wanted, rel=1e-9), n)


def test_every_metric_has_a_worked_example():
    worked = {
        name.split("(")[0] for name in (*OVERALL, *OF_DOCUMENTS, *(name for name, _ in (*BY_FIELD, *ITEMS)))
    }
    elsewhere = (
        "extras",
        "checks",
        "repeats",
    )  # repeated runs are worked in tests/metrics/test_repeated_runs.py
    assert worked == {metric.name for metric in list_metrics().values() if metric.group not in elsewhere}


@pytest.mark.parametrize(
    "metric",
    [
        "accuracy",
        "accuracy_weighted",
        "critical_accuracy",
        "f1",
        "fda",
        "macro_f1",
        "latency_p50",
        "cost_usd",
        "cost_usd_total",
        "item_f1",
        "rfa",
    ],
)
def test_nothing_judged_is_undefined_and_not_zero(metric):
    call = metric if metric != "f1" and metric != "accuracy" else f"{metric}(granularity=slot)"
    found = estimate(call, evidence([], FIELDS, ["a"]), replicates=50)
    assert (found.value, found.n, found.interval, found.level) == (None, 0, None, None)


@pytest.mark.parametrize(
    "metric",
    [
        "accuracy(type=text)",
        "accuracy_pooled",
        "recall",
        "fda",
        "accuracy(regime=baseline, granularity=slot)",
    ],
)
def test_failed_rows_are_outside_every_denominator_and_counted(metric):
    rows = [("a", "x", "match"), ("a", "y", "failed"), ("b", "x", "mismatch"), ("b", "y", "match")]
    found = estimate(metric, evidence(rows, [value("x", 0), value("y", 1)]))
    wanted = (
        np.mean([1, 1 / 2])
        if metric.startswith("accuracy(")
        else {"accuracy_pooled": 2 / 3, "recall": 2 / 3, "fda": 1.0}[metric]
    )
    assert (found.value, found.failed) == (pytest.approx(wanted), 1)


def test_weights_move_the_weighted_accuracy_only():
    rows = [("a", "x", "match"), ("a", "y", "mismatch"), ("b", "x", "partial"), ("b", "y", "match")]
    light, heavy = (evidence(rows, [value("x", 0, weight=weight), value("y", 1)]) for weight in (1.0, 9.0))
    moved = set()
    for name in list_metrics():
        if list_metrics()[name].group == "extras":
            continue
        field = "x" if list_metrics()[name].scope == "field" else None
        if estimate(name, light, field=field).value != estimate(name, heavy, field=field).value:
            moved.add(name)
    assert moved == {"accuracy_weighted"}


# The language of metrics, and the pages that document them.

# Metric and gate expressions

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,10}", fullmatch=True)
numbers = st.floats(allow_nan=False, allow_infinity=False)
values = st.one_of(st.text(max_size=8), st.integers(-(10**17), 10**17), numbers, st.booleans())
calls = st.builds(
    lambda name, parameters, field, chosen: MetricCall(name, tuple(parameters.items()), field, chosen),
    names,
    st.dictionaries(names, values, max_size=3),
    st.none() | st.text(min_size=1, max_size=12),
    st.none() | st.tuples(st.text(max_size=6), st.text(max_size=6)),
)
gates = st.builds(
    lambda call, function, operator, threshold,
    is_optional: Gate(call, function, operator, threshold, is_optional and call.slice is not None),
    calls, st.sampled_from(GATE_FUNCTIONS), st.sampled_from(OPERATORS), numbers, st.booleans(),
)  # fmt: skip


PARSERS = {MetricCall: parse_metric, Gate: parse_gate}


@given(calls, gates)
@example(
    MetricCall("f1", (("a", "true"), ("b", "1.5"), ("c", "-")), "lines[].a[3]", ("type", ']}"')),
    Gate(MetricCall("f1", (), 'a, b]"\ud800', ("\x00", "é")), "lower", ">=", 0.5, True),
)
def test_a_metric_and_a_gate_print_and_parse_back(call, gate):
    again = parse_metric(str(call)), parse_gate(str(gate))
    assert (again, hash(again)) == ((call, gate), hash((call, gate)))


@given(st.text(alphabet='abf1()[]{}=,"\\ .<>-\x00', max_size=30))
def test_any_other_text_is_a_value_error_or_a_metric(text):
    for parse in (parse_metric, parse_gate, parse_threshold):
        try:
            parse(text)
        except ValueError:
            continue


METRICS = {
    "f1": MetricCall("f1"),
    " f1 ( granularity = slot ) ": MetricCall("f1", (("granularity", "slot"),)),
    "accuracy()": MetricCall("accuracy"),
    "field_accuracy[lines[].amount]": MetricCall("field_accuracy", (), "lines[].amount"),
    'field_accuracy["a, b]"]': MetricCall("field_accuracy", (), "a, b]"),
    "f1{type=invoice}": MetricCall("f1", (), None, ("type", "invoice")),
    "p(b=2, a=0.5, c=true)[X]{tag=1990s}": MetricCall(
        "p", (("a", 0.5), ("b", 2), ("c", True)), "X", ("tag", "1990s")
    ),
    "mean(type=text|list)": MetricCall("mean", (("type", "text|list"),)),
}

GATES = {
    "accuracy >= 0.90": Gate(MetricCall("accuracy"), "value", ">=", 0.9),
    "lower(accuracy)>=.85": Gate(MetricCall("accuracy"), "lower", ">=", 0.85),
    "regression( f1(granularity=slot) ) <= 1e-2": Gate(
        MetricCall("f1", (("granularity", "slot"),)), "regression", "<=", 0.01
    ),
    "field_accuracy[TOTAL_AMOUNT] >= 0.97": Gate(
        MetricCall("field_accuracy", (), "TOTAL_AMOUNT"), "value", ">=", 0.97
    ),
    "value(accuracy) > 0": Gate(MetricCall("accuracy"), "value", ">", 0.0),
    "errors(critical_accuracy) == 0": Gate(MetricCall("critical_accuracy"), "errors", "==", 0.0),
    "f1(granularity=slot) >= 1": Gate(MetricCall("f1", (("granularity", "slot"),)), "value", ">=", 1.0),
    "f1{type=a} >= 1 if  present": Gate(MetricCall("f1", (), None, ("type", "a")), "value", ">=", 1.0, True),
}


@pytest.mark.parametrize(("text", "meant"), [*METRICS.items(), *GATES.items()])
def test_an_expression_means(text, meant):
    assert PARSERS[type(meant)](text) == meant


WRONG_METRICS = {
    "": "expected the name of a metric",
    "f1(": "name=value",
    "f1(granularity)": "expected '='",
    "f1(a=1, a=2)": "another parameter",
    "f1[": "a field and ']'",
    "f1[]": "a field and ']'",
    "f1{type}": "expected '='",
    "f1 f1": "something follows the end",
    "f1(a=1e999)": "finite",
    'f1["\\x"]': "in quotes",
}
WRONG_GATES = {
    "lowest(accuracy) >= 1": "did you mean 'lower'?",
    "accuracy": "expected a comparison",
    "accuracy >= high": "expected a number",
    "accuracy >= 1e999": "expected a number",
    "lower(accuracy >= 1": "expected ')'",
    "accuracy >= 0.9 and f1 > 1": "something follows the end",
    "accuracy{type=a} >= 0.9 if there": "expected 'present'",
    "accuracy{type=a} >= 0.9 ifpresent": "something follows the end",
    "accuracy{type=a} >= 0.9if present": "expected a number",
    "accuracy >= 0.9 if present": "needs a slice",
    "accuracy{type=a} >= 0.9 if present if present": "something follows the end",
}
WRONG_CALLS = {
    "acuracy": "did you mean 'accuracy'?",
    "latencies": "did you mean 'latency'?",
    "accuracy(regim=filled)": "did you mean 'regime'?",
    "accuracy(regime=fild)": "did you mean 'filled'?",
    "perfect_documents(threshold=high)": "expected a number",
    "f1(granularity=2)": "expected a name",
    "accuracy(granularity=leaf|slot)": "unknown granularity",
    "documents(x=1)": "it takes none",
    "accuracy[TOTAL]": "field_accuracy[TOTAL]",
    "mean": "mean(column=…)",
    "latency(regime=filled)": "name one of: latency_p50",
}
EXPANDED = {
    "cost, cost_usd, accuracy(regime=filled), accuracy(regime=baseline)": (
        "cost_usd", "cost_usd_total", "accuracy", "accuracy(regime=baseline)"
    ),
    "default, cost": (*DEFAULT_METRICS, "cost_usd_total"),
    "default(match=correct)": ("item_f1(match=correct)",),
    "presence(granularity=slot)": tuple(f"{name}(granularity=slot)" for name in list_groups()["presence"]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("parse", "text", "told"),
    [(parse_metric, *one) for one in WRONG_METRICS.items()]
    + [(parse_gate, *one) for one in WRONG_GATES.items()],
)
def test_a_malformed_expression_says_what_was_expected(parse, text, told):
    with pytest.raises(ValueError, match=re.escape(told)):
        parse(text)


@pytest.mark.parametrize("text", WRONG_CALLS)
def test_unknown_name_gets_the_nearest_one(text):
    with pytest.raises(ValueError, match=re.escape(WRONG_CALLS[text])):
        select_metrics([text])


@pytest.mark.parametrize("name", ["TotalPrice", "totalprice"])
def test_a_field_in_place_of_a_metric_gets_what_to_write(name):
    with pytest.raises(
        ValueError, match=re.escape(f"unknown metric {name!r}; it is a field: field_accuracy[TotalPrice]")
    ):
        select_metrics([name], Vocabulary(fields=("TotalPrice", "total")))


def test_an_endless_expression_is_refused():
    with pytest.raises(ValueError, match="at most"):
        parse_metric("f1[" + "[" * 1_000_000)


@pytest.mark.parametrize("texts", EXPANDED)
def test_a_group_stands_for_its_members_and_each_metric_comes_once(texts):
    assert tuple(map(str, select_metrics(texts.split(", ")))) == EXPANDED[texts]


def test_a_default_result_has_at_most_twelve_metrics_whatever_the_data():
    items = {"items": {"fields": {"sku": "id"}}}
    spec = {"fields": {"total": {"type": "money", "critical": True}, "lines": {"type": "list", **items}}}
    checked = {**spec, "checks": {"total": "number"}, "slices": ["type"]}
    gold = [{"id": at, "type": "a", "total": at, "lines": [{"sku": at}]} for at in range(3)]
    meta = {"timing": {"duration_ms": 5}, "usage": {"cost_usd": 0.1, "prompt_tokens": 7}}
    result = score(gold, {"s": [{**one, **meta} for one in gold]}, checked, bootstrap=0)
    assert len(DEFAULT_METRICS) <= 12
    assert {one.metric for one in result.estimates} == set(DEFAULT_METRICS)
    assert not [name for name in DEFAULT_METRICS[3:] if result.value(name) is None]


def test_a_rate_of_hallucination_that_one_invented_line_makes_100_percent_is_no_default():
    """By leaf its value is the only place without gold: 100%. The protocol's places are slots: none is empty."""
    gold = [{"id": at, "type": "a", "total": at, "lines": [{"sku": at}]} for at in range(40)]
    pred = [{**gold[0], "lines": [{"sku": 0}, {"sku": 9}]}, *gold[1:]]
    spec = "fields: {type: text, total: integer, lines: {items: {fields: {sku: id}}}}"
    found = score(gold, {"s": pred}, spec, bootstrap=0)
    assert "hr" not in {one.metric for one in found.estimates}
    asked = score(gold, {"s": pred}, spec, metrics=("hr", "hr(granularity=slot)"), bootstrap=0)
    assert [(one.value, one.n) for one in asked.estimates if one.field is None] == [(1.0, 1), (None, 0)]


# The pages of the documentation have every metric, parameter and mark

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "metrics.md"
HEADINGS = (
    "Accuracy",
    "Precision, recall, F1",
    "Presence",
    "Types",
    "Items",
    "Columns",
    "Counts",
    "Latency and cost",
    "Repeated runs",
)
DOCUMENTED = {
    name.strip("` ↓"): (name, row["parameters"])
    for heading in HEADINGS
    for row in rows(PAGE, heading)
    for name in row["metric"].split(", ")
}


def test_the_page_lists_exactly_the_catalogue():
    assert set(DOCUMENTED) == set(list_metrics())


@pytest.mark.parametrize("name", list_metrics())
def test_the_page_tells_direction_and_parameters(name):
    metric, (shown, parameters) = list_metrics()[name], DOCUMENTED[name]
    assert ("lower" if "↓" in shown else "higher") == metric.better
    listed = parameters.replace("rows", "granularity, type, fields, critical, flag, without")
    told = {text.split(" ")[0] for text in listed.split(", ") if text}
    assert told == {parameter.name for parameter in metric.parameters}
