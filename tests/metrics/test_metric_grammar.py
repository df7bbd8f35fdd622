"""The language of metrics, and the pages that document them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.doc_tables import rows
from hypothesis import example, given
from hypothesis import strategies as st

from fieldassay import score
from fieldassay.metrics.catalogue.catalogue import list_metrics
from fieldassay.metrics.catalogue.definitions import (
    DEFAULT_METRICS,
    Vocabulary,
    bind_metric,
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


@given(calls)
@example(MetricCall("f1", (("a", "true"), ("b", "1.5"), ("c", "-")), "lines[].a[3]", ("type", ']}"')))
@example(MetricCall("f1", (), "\ud800", ("\x00", "é")))
def test_a_metric_prints_and_parses_back(call: MetricCall) -> None:
    again = parse_metric(str(call))
    assert (again, hash(again)) == (call, hash(call))


@given(gates)
def test_a_gate_prints_and_parses_back(gate: Gate) -> None:
    again = parse_gate(str(gate))
    assert (again, hash(again)) == (gate, hash(gate))


@given(st.text(alphabet='abf1()[]{}=,"\\ .<>-\x00', max_size=30))
def test_any_other_text_is_a_value_error_or_a_metric(text: str) -> None:
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


@pytest.mark.parametrize("text", METRICS)
def test_metric_expression_means(text: str) -> None:
    assert parse_metric(text) == METRICS[text]


@pytest.mark.parametrize("text", GATES)
def test_gate_expression_means(text: str) -> None:
    assert parse_gate(text) == GATES[text]


@pytest.mark.parametrize("text", ["f1(granularity=slot)=0.9", " f1( granularity=slot ) = .9 "])
def test_fail_under_splits_at_the_last_sign_of_equality(text: str) -> None:
    assert parse_threshold(text) == Gate(MetricCall("f1", (("granularity", "slot"),)), "value", ">=", 0.9)


WRONG = {
    "": "expected the name of a metric",
    "f1(": "name=value",
    "f1(granularity)": "expected '='",
    "f1(a=1, a=2)": "another parameter",
    "f1[": "a field and ']'",
    "f1[]": "a field and ']'",
    "f1{type}": "expected '='",
    "f1 f1": "did not expect anything more",
    "f1(a=1e999)": "finite",
    'f1["\\x"]': "in quotes",
}
WRONG_GATES = {
    "lowest(accuracy) >= 1": "did you mean 'lower'?",
    "accuracy": "expected a comparison",
    "accuracy >= high": "expected a number",
    "accuracy >= 1e999": "expected a number",
    "lower(accuracy >= 1": "expected ')'",
    "accuracy >= 0.9 and f1 > 1": "did not expect anything more",
    "accuracy{type=a} >= 0.9 if there": "expected 'present'",
    "accuracy{type=a} >= 0.9 ifpresent": "did not expect anything more",
    "accuracy{type=a} >= 0.9if present": "expected a number",
    "accuracy >= 0.9 if present": "needs a slice",
    "accuracy{type=a} >= 0.9 if present if present": "did not expect anything more",
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
    "soft_f1": "unknown metric 'soft_f1'; write accuracy_pooled",
    "report": "write f1",
}
EXPANDED = {
    "cost, cost_usd, accuracy(regime=filled), accuracy(regime=baseline)": (
        "cost_usd", "cost_usd_total", "accuracy", "accuracy(regime=baseline)"
    ),
    "default, cost": (*DEFAULT_METRICS, "cost_usd_total"),
    "default(match=correct)": ("item_f1(match=correct)",),
    "presence(granularity=slot)": tuple(f"{name}(granularity=slot)" for name in list_groups()["presence"]),
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_malformed_metric_says_what_was_expected(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(WRONG[text])):
        parse_metric(text)


@pytest.mark.parametrize("text", WRONG_GATES)
def test_malformed_gate_says_what_was_expected(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(WRONG_GATES[text])):
        parse_gate(text)


@pytest.mark.parametrize("text", WRONG_CALLS)
def test_unknown_name_gets_the_nearest_one(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(WRONG_CALLS[text])):
        select_metrics([text])


@pytest.mark.parametrize("name", ["TotalPrice", "totalprice"])
def test_a_field_in_place_of_a_metric_gets_what_to_write(name: str) -> None:
    with pytest.raises(
        ValueError, match=re.escape(f"unknown metric {name!r}; it is a field: field_accuracy[TotalPrice]")
    ):
        select_metrics([name], Vocabulary(fields=("TotalPrice", "total")))


def test_an_endless_expression_is_refused() -> None:
    with pytest.raises(ValueError, match="at most"):
        parse_metric("f1[" + "[" * 1_000_000)


@pytest.mark.parametrize("texts", EXPANDED)
def test_a_group_stands_for_its_members_and_each_metric_comes_once(texts: str) -> None:
    assert tuple(map(str, select_metrics(texts.split(", ")))) == EXPANDED[texts]


def test_a_default_result_has_at_most_twelve_metrics_whatever_the_data() -> None:
    items = {"items": {"fields": {"sku": "id"}}}
    spec = {"fields": {"total": {"type": "money", "critical": True}, "lines": {"type": "list", **items}}}
    checked = {**spec, "checks": {"total": "number"}, "slices": ["type"]}
    gold = [{"id": at, "type": "a", "total": at, "lines": [{"sku": at}]} for at in range(3)]
    meta = {"timing": {"duration_ms": 5}, "usage": {"cost_usd": 0.1, "prompt_tokens": 7}}
    result = score(gold, {"s": [{**one, **meta} for one in gold]}, checked, bootstrap=0)
    assert len(DEFAULT_METRICS) <= 12
    assert {one.metric for one in result.estimates} == set(DEFAULT_METRICS)
    undefined = {name for name in DEFAULT_METRICS[3:] if result.value(name) is None}
    assert undefined == {"hr"}  # gold is nowhere empty


@pytest.mark.parametrize(
    "name", [metric.name for metric in list_metrics().values() if metric.group != "extras"]
)
def test_every_metric_binds_with_its_defaults_and_is_a_value(name: str) -> None:
    first, second = bind_metric(MetricCall(name)), bind_metric(parse_metric(name))
    assert (first.recipe, hash(first.recipe), first.parameters) == (second.recipe, hash(second.recipe), {})


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
DOCUMENTED = {row["metric"]: row for heading in HEADINGS for row in rows(PAGE, heading)}


def test_the_page_lists_exactly_the_catalogue() -> None:
    assert set(DOCUMENTED) == set(list_metrics())


@pytest.mark.parametrize("name", list_metrics())
def test_the_page_tells_direction_and_parameters(name: str) -> None:
    metric, row = list_metrics()[name], DOCUMENTED[name]
    assert row["better"] == metric.better
    listed = row["parameters"].replace("rows", "granularity, type, fields, critical, flag, without")
    told = {text.split(" ")[0] for text in listed.split(", ") if text}
    assert told == {parameter.name for parameter in metric.parameters}
