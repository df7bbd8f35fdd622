"""Gates over estimates: every verdict, every boundary, and attempts to make one pass that should not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fieldassay.decisions.gates.judge import judge_result
from fieldassay.metrics.catalogue.grammar import parse_gate
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.result.verdicts import Decision, GateAnswer, GateOutcome, Verdict
from fieldassay.metrics.thresholds import format_compared, holds, slack_of

PASS, FAIL, OPEN, SKIPPED = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.SKIPPED
ACCURACY = Estimate(
    "accuracy", "a", None, {}, "filled", 0.9, 50, 50, 0, "leaf", interval=(0.85, 0.95), level=0.95
)


def judge(gate: str, *estimates: Estimate, run: dict[str, Any] | None = None) -> GateOutcome:
    [outcome] = judge_result([parse_gate(gate)], Result(estimates, run=run or {}), "a")
    return outcome


def count(name: str, value: int, n: int = 50, better: str = "lower", **more: Any) -> Estimate:
    return Estimate(
        name,
        "a",
        None,
        more.pop("slice", {}),
        None,
        value,
        n,
        50,
        0,
        "document",
        unit="count",
        better=better,
        **more,
    )


BOUNDARIES = [
    ("accuracy >= 0.9", 0.9, PASS),
    ("accuracy >= 0.9", 0.8999999999, PASS),
    ("accuracy >= 0.9", 0.899999998, FAIL),
    ("accuracy >= 0.9", 0.89996, FAIL),
    ("accuracy > 0.9", 0.9, FAIL),
    ("accuracy > 0.9", 0.9000000001, FAIL),
    ("accuracy > 0.9", 0.90000001, PASS),
    ("accuracy <= 0.9", 0.9000000001, PASS),
    ("accuracy <= 0.9", 0.90000001, FAIL),
    ("accuracy < 0.9", 0.8999999999, FAIL),
    ("accuracy < 0.9", 0.89999, PASS),
    ("accuracy == 0.9", 0.9000000001, PASS),
    ("accuracy == 0.9", 0.90001, FAIL),
    ("accuracy >= 0", 0.0, PASS),
    ("accuracy >= 1", 1.0, PASS),
]


@pytest.mark.parametrize(("gate", "value", "verdict"), BOUNDARIES)
def test_a_value_is_compared_with_the_slack_of_its_arithmetic(
    gate: str, value: float, verdict: Verdict
) -> None:
    outcome = judge(gate, replace(ACCURACY, value=value))
    assert (outcome.verdict, outcome.value, outcome.n) == (verdict, value, 50)


LOOKS = [
    ("lower(accuracy) >= 0.85", PASS, 0.85),
    ("lower(accuracy) >= 0.86", OPEN, 0.85),
    ("lower(accuracy) >= 0.96", FAIL, 0.85),
    ("upper(accuracy) <= 0.95", PASS, 0.95),
    ("upper(accuracy) < 0.95", OPEN, 0.95),
    ("upper(accuracy) < 0.8", FAIL, 0.95),
    ("n(accuracy) >= 50", PASS, 50),
    ("n(accuracy) >= 51", FAIL, 50),
    ("errors(accuracy) <= 5", PASS, 5),
    ("errors(accuracy) < 5", FAIL, 5),
    ("value(accuracy) >= 0.9", PASS, 0.9),
]


@pytest.mark.parametrize(("gate", "verdict", "value"), LOOKS)
def test_each_function_looks_at_its_part_of_the_estimate(gate: str, verdict: Verdict, value: float) -> None:
    outcome = judge(gate, ACCURACY)
    assert (outcome.verdict, outcome.value) == (verdict, pytest.approx(value))


UNDECIDED = {
    "undefined": ("accuracy >= 0", replace(ACCURACY, value=None, n=0, documents=0, interval=None),
        "undefined (n = 0)"),
    "undefined below": ("accuracy <= 1", replace(ACCURACY, value=None, n=0, documents=0, interval=None),
        "undefined (n = 0)"),
    "errors of undefined": ("errors(accuracy) == 0", replace(ACCURACY, value=None, n=0, interval=None),
        "undefined"),
    "no interval": ("lower(accuracy) >= 0", replace(ACCURACY, interval=None), "no interval"),
    "count has none": ("upper(documents_missing) <= 5", count("documents_missing", 0), "counts have none"),
    "few documents": ("lower(accuracy) >= 0.1", replace(ACCURACY, documents=3, n=3, marks=("few_documents",)),
        "3 documents are too few"),
    "few above": ("upper(accuracy) <= 1", replace(ACCURACY, marks=("few_documents",)),
        "documents are too few"),
    "regression": ("regression(accuracy) > -0.01", ACCURACY, "no baseline"),
    "missing metric": ("accuray >= 0", ACCURACY, "did you mean 'accuracy'?"),
    "missing field": ("field_accuracy[total] >= 0", replace(ACCURACY, metric="field_accuracy", field="date"),
        "the run has no field_accuracy[total]"),
    "missing slice": ("accuracy{type=a} >= 0", ACCURACY, "score with `--slice type`"),
    "missing value of a slice": ("accuracy{type=a} >= 0", replace(ACCURACY, slice={"type": "b"}),
        "the run has no accuracy{type=a}"),
    "other regime": ("accuracy >= 0", replace(ACCURACY, regime="baseline"), "the run has no accuracy"),
    "other granularity": ("accuracy >= 0", replace(ACCURACY, granularity="slot"), "the run has no accuracy"),
    "other parameters": ("accuracy >= 0", replace(ACCURACY, parameters={"type": "money"}), "the run has no accuracy"),
    "other system": ("accuracy >= 0", replace(ACCURACY, system="b"), "no metric"),
    "not a number": ("accuracy >= 0", replace(ACCURACY, value=float("inf")), "not a number"),
    "a text": ("accuracy >= 0", replace(ACCURACY, value="100"), "not a number"),  # type: ignore[arg-type]
    "true": ("accuracy >= 0", replace(ACCURACY, value=True), "not a number"),
    "count over nothing": ("documents_missing == 0", count("documents_missing", 0, n=0), "nothing to judge"),
    "n of nothing": ("n(accuracy) <= 5", replace(ACCURACY, value=None, n=0), "nothing to judge"),
    "errors of a time": ("errors(latency_p95) == 0", replace(count("latency_p95", 1), unit="ms"),
        "needs a share"),
    "errors of what is right": ("errors(correct) == 0",
        replace(count("correct", 0, better="higher"), granularity="leaf"), "counts what is right"),
}  # fmt: skip


@pytest.mark.parametrize("estimates", [[replace(count("latency_p95", 1), value=None, n=0, unit="ms")], []])
def test_the_threshold_of_an_undefined_number_is_in_its_unit(estimates: list[Estimate]) -> None:
    assert judge("latency_p95 <= 2000", *estimates).threshold_text == "<= 2 s"


@pytest.mark.parametrize("case", UNDECIDED)
def test_what_is_missing_or_undefined_never_passes(case: str) -> None:
    gate, estimate, said = UNDECIDED[case]
    outcome = judge(gate, estimate)
    assert outcome.verdict is OPEN
    assert said in outcome.rule


def test_two_regimes_of_one_name_are_not_guessed_between() -> None:
    own = [
        Estimate("obs", "a", None, {}, regime, 0.9, 50, 50, 0, "slot")
        for regime in ("baseline", "gold_nonempty")
    ]
    assert "2 estimates are called obs" in judge("obs >= 0.5", *own).rule
    assert judge("obs(regime=baseline) >= 0.5", *own).verdict is PASS


@pytest.mark.parametrize(("failed", "gate", "verdict"), [
    (0, "errors(accuracy) <= 5", PASS), (1, "errors(accuracy) <= 5", OPEN),
    (1, "errors(accuracy) <= 6", PASS), (9, "errors(accuracy) < 5", FAIL),
])  # fmt: skip
def test_judgements_that_failed_may_be_errors(failed: int, gate: str, verdict: Verdict) -> None:
    outcome = judge(gate, replace(ACCURACY, failed=failed))
    assert outcome.verdict is verdict
    assert any("failed" in line for line in outcome.evidence) is bool(failed)


@pytest.mark.parametrize("gate", ["errors(unit) == 0", "errors_unit == 0"])
@pytest.mark.parametrize(("value", "verdict"), [(0, PASS), (1, FAIL)])
def test_errors_of_a_kind_are_the_count_of_that_name(gate: str, value: int, verdict: Verdict) -> None:
    assert judge(gate, count("errors_unit", value)).verdict is verdict


SLICED = replace(ACCURACY, slice={"type": "invoice"})
EMPTY = replace(ACCURACY, slice={"type": "memo"}, value=None, n=0, documents=0, interval=None)
PRESENCE = {
    "passes where there are documents": ("{type=invoice} >= 0.9 if present", [SLICED], {}, PASS),
    "fails where there are documents": ("{type=invoice} >= 0.95 if present", [SLICED], {}, FAIL),
    "counted, none": (
        "{type=memo} >= 0.9 if present",
        [EMPTY, count("documents", 0, slice={"type": "memo"})],
        {},
        SKIPPED,
    ),
    "counted, some, undefined": (
        "{type=memo} >= 0.9 if present",
        [EMPTY, count("documents", 3, slice={"type": "memo"})],
        {},
        OPEN,
    ),
    "not counted": ("{type=memo} >= 0.9 if present", [EMPTY], {}, OPEN),
    "broken down": ("{type=memo} >= 0.9 if present", [ACCURACY, SLICED], {"slices": ["type"]}, SKIPPED),
    "not broken down": ("{type=memo} >= 0.9 if present", [ACCURACY, SLICED], {"slices": ["tag"]}, OPEN),
    "no such metric": (
        "{type=memo} >= 0.9 if present",
        [replace(ACCURACY, metric="f1")],
        {"slices": ["type"]},
        OPEN,
    ),
    "not optional": ("{type=memo} >= 0.9", [ACCURACY, SLICED], {"slices": ["type"]}, OPEN),
    "hostile slices": ("{type=memo} >= 0.9 if present", [ACCURACY], {"slices": "type"}, OPEN),
}


@pytest.mark.parametrize("case", PRESENCE)
def test_a_gate_is_skipped_only_where_its_slice_is_known_to_be_empty(case: str) -> None:
    gate, estimates, run, verdict = PRESENCE[case]
    assert judge(f"accuracy{gate}", *estimates, run=run).verdict is verdict


def test_a_skipped_gate_says_which_values_there_are() -> None:
    outcome = judge("accuracy{type=invioce} >= 0.9 if present", ACCURACY, SLICED, run={"slices": ["type"]})
    assert outcome.evidence == ("the run has type: invoice",)


DECISIONS = [
    ([], GateAnswer.INCONCLUSIVE),
    ([PASS], GateAnswer.GO),
    ([PASS, SKIPPED], GateAnswer.GO),
    ([SKIPPED, SKIPPED], GateAnswer.INCONCLUSIVE),
    ([PASS, OPEN], GateAnswer.INCONCLUSIVE),
    ([PASS, FAIL], GateAnswer.NO_GO),
    ([FAIL, OPEN, SKIPPED], GateAnswer.NO_GO),
]


@pytest.mark.parametrize(("verdicts", "answer"), DECISIONS)
def test_go_only_if_every_gate_that_applies_passes_and_one_applies(
    verdicts: list[Verdict], answer: GateAnswer
) -> None:
    outcomes = tuple(GateOutcome(parse_gate("accuracy >= 0.5"), verdict, "because") for verdict in verdicts)
    decision = Decision("a", outcomes)
    assert decision.answer is answer
    assert decision.reasons


SHOWN = [
    (89.96, 90.0, "percent", "89.96%"),
    (89.9999, 90.0, "percent", "89.9999%"),
    (90.0, 90.0, "percent", "90.0%"),
    (0.8999999999, 0.9, "ratio", "90.0%"),
    (0.89996, 0.9, "ratio", "89.996%"),
    (0.8996, 0.8995, "ratio", "89.96%"),
    (0.0, 1e-8, "ratio", "0.000000%"),
    (2000.4, 2000.0, "ms", "2.0004 s"),
    (0.4, 0.0, "count", "0.400"),
    (1e300, 1.0, "ms", "1e+297 s"),
    (1e-20, 0.0, "usd", "$1e-20"),
]


@pytest.mark.parametrize(("value", "threshold", "unit", "shown"), SHOWN)
def test_a_value_prints_like_the_threshold_only_if_it_is_equal_to_it(
    value: float, threshold: float, unit: str, shown: str
) -> None:
    assert format_compared(value, threshold, unit) == shown


@given(
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from(["ratio", "percent"]),
    st.sampled_from([">=", "<=", ">", "<"]),
)
def test_what_is_printed_and_what_is_compared_agree(
    value: float, threshold: float, unit: str, operator: str
) -> None:
    printed = float(format_compared(value, threshold, unit).removesuffix("%")) / (
        100 if unit == "ratio" else 1
    )
    if abs(value - threshold) > 1000 * slack_of(threshold, unit):
        assert holds(value, operator, threshold, unit) == holds(printed, operator, threshold, unit)


@pytest.mark.parametrize(
    ("definitions", "verdict"), [("{accuracy: f1 * 1}", PASS), ("{other: f1 * 1}", OPEN)]
)
def test_another_regime_is_taken_only_where_the_spec_defines_the_name_itself(
    definitions: str, verdict: Verdict
) -> None:
    run = {
        "definitions": [definitions[1:].split(":")[0]],
        "spec": {"text": f"name: a\nfields: {{a: text}}\ndefinitions: {definitions}\n"},
    }
    assert judge("accuracy >= 0.5", replace(ACCURACY, regime=None), run=run).verdict is verdict
