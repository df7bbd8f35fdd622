"""Gates: files of them, each field, chance, power and pooling."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fieldassay.commands.cli.main import main
from fieldassay.decisions.gate import (
    GateList,
    decide_result,
    read_gates_file,
    read_preset,
)
from fieldassay.decisions.gates.judge import Holder, Holdings, judge_gates, judge_result, pool_shares
from fieldassay.errors import ProblemsError
from fieldassay.metrics.catalogue.grammar import parse_gate
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.result.verdicts import GateAnswer, GateOutcome, Verdict
from fieldassay.scoring.score import score

# Gates files, and the decision that ships with the package


def read(folder: Path, text: str) -> GateList:
    path = folder / "release.yaml"
    path.write_text(text, encoding="utf-8")
    return read_gates_file(path)


def test_the_clinical_decision_has_the_six_gates_of_its_protocol() -> None:
    decision = read_preset("clinical-decision")
    assert [str(rule.gate) for rule in decision.rules] == [
        "prescription_accuracy >= 85",
        "lab_accuracy >= 75",
        "pipeline_success_rate >= 90",
        "reliability_runs >= 5",
        "offline_runs >= 1",
        "proofs >= 2",
    ]
    assert decision.pooled == {"pipeline_success_rate"}
    assert all(rule.title for rule in decision.rules)


WRONG = {
    "no gates": ("name: a", "no_gates"),
    "empty": ("gates: []", "no_gates"),
    "a mapping": ("gates: {a: b}", "wrong_kind"),
    "a list": ("- accuracy >= 0.9", "wrong_kind"),
    "unknown key": ("gate: accuracy >= 0.9", "unknown_key"),
    "unknown key of a gate": ("gates: [{gate: accuracy >= 0.9, titel: x}]", "unknown_key"),
    "no gate in it": ("gates: [{title: x}]", "missing_key"),
    "a number": ("gates: [3]", "wrong_kind"),
    "no threshold": ("gates: [accuracy]", "invalid_expression"),
    "never true": ("gates: [accuracy >= nan]", "invalid_expression"),
    "always true": ("gates: [accuracy >= -1e999]", "invalid_expression"),
    "two in one": ("gates: [accuracy >= 0.9 or f1 >= 0]", "invalid_expression"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_gates_file_that_is_wrong_is_refused(tmp_path: Path, case: str) -> None:
    text, kind = WRONG[case]
    with pytest.raises(ProblemsError) as caught:
        read(tmp_path, text)
    assert kind in [problem.kind for problem in caught.value.problems]
    assert all("release.yaml" in problem.where for problem in caught.value.problems)


def test_every_wrong_gate_is_reported_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError) as caught:
        read(tmp_path, "gates:\n  - accuracy >= 0.9\n  - accuracy >=\n  - lowr(f1) > 1\n")
    assert [problem.where.split(":")[1] for problem in caught.value.problems] == ["3", "4"]


# Documents that no gate is about are said: they never pass, and never in silence

EASY = "accuracy{difficulty=easy} >= 0.5 if present"


def judged(difficulties: list[str | None], gates: list[str], right: bool = True) -> Result:
    gold = [
        {"id": at, "expected": {"n": 1}, **({} if one is None else {"difficulty": one})}
        for at, one in enumerate(difficulties)
    ]
    predictions = [{"id": at, "n": 1 if right else 2} for at in range(len(gold))]
    spec = {
        "fields": {"n": "number"},
        "data": {"gold_key": "expected"},
        "slices": ["difficulty"],
        "gates": gates,
    }
    return score(gold, {"s": predictions}, spec, bootstrap=0)


CASES = [
    pytest.param(["easy"], [EASY], GateAnswer.GO, [], id="all gated"),
    pytest.param(
        ["easy", "extreme"],
        [EASY],
        GateAnswer.INCONCLUSIVE,
        ["difficulty=extreme"],
        id="a difficulty without thresholds",
    ),
    pytest.param(
        ["easy", None], [EASY], GateAnswer.INCONCLUSIVE, ["no difficulty"], id="a case without difficulty"
    ),
    pytest.param(
        ["extreme", None],
        [EASY],
        GateAnswer.INCONCLUSIVE,
        ["difficulty=extreme", "no difficulty"],
        id="nothing gated",
    ),
    pytest.param(
        ["easy", "extreme"], [EASY, "accuracy >= 0.5"], GateAnswer.GO, [], id="a gate on everything"
    ),
    pytest.param(
        ["easy", "extreme"],
        ["accuracy{difficulty=easy} >= 0.5"],
        GateAnswer.GO,
        [],
        id="a gate that asks for its slice",
    ),
]


@pytest.mark.parametrize(("difficulties", "gates", "answer", "said"), CASES)
def test_documents_that_no_gate_is_about_leave_the_answer_open(
    difficulties: list[str | None], gates: list[str], answer: GateAnswer, said: list[str]
) -> None:
    result = judged(difficulties, gates)
    (decision,) = decide_result(result)
    assert decision.answer is answer
    for text in said:
        assert any(text in reason for reason in decision.reasons)
        assert any(text in warning for warning in result.warnings)
    assert bool(said) == any("not gated" in warning for warning in result.warnings)


@pytest.mark.parametrize(
    ("difficulty", "value", "code"),
    [
        pytest.param("easy", 1, 0, id="passes"),
        pytest.param("easy", 2, 1, id="fails"),
        pytest.param("very hard", 1, 0, id="very hard passes"),
        pytest.param("Very Hard", 2, 1, id="very hard fails"),
        pytest.param("extreme", 2, 4, id="only ungated cases"),
        pytest.param(None, 2, 4, id="only cases without difficulty"),
    ],
)
def test_a_run_of_ungated_cases_alone_does_not_end_with_0(
    difficulty: str | None, value: int, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case: dict[str, Any] = {"test_case_id": "a", "expected_extraction": {"x": 1}, "difficulty": difficulty}
    (tmp_path / "gold.jsonl").write_text(
        json.dumps({key: one for key, one in case.items() if one is not None}) + "\n"
    )
    (tmp_path / "p.jsonl").write_text(json.dumps({"id": "a", "extraction": {"x": value}}) + "\n")
    data = [
        "--gold",
        str(tmp_path / "gold.jsonl"),
        "--pred",
        str(tmp_path / "p.jsonl"),
        "--out",
        str(tmp_path / "run"),
    ]
    assert main(["score", "--protocol", "engineering-extractor", *data]) == code
    told = capsys.readouterr()
    assert ("is not gated" in told.err) == (code == 4)
    assert ("no threshold" in told.out) == (code == 4)
    assert main(["gate", str(tmp_path / "run")]) == code
    assert (
        main(["report", str(tmp_path / "run"), "--format", "junit", "--out", str(tmp_path / "junit.xml")])
        == 0
    )


# What a gate on a bound says it would take

ACCURACY = Estimate(
    "accuracy", "a", None, {}, "filled", 0.9, 50, 50, 0, "leaf", interval=(0.8, 0.98), level=0.95
)
LATENCY = Estimate(
    "latency_mean",
    "a",
    None,
    {},
    None,
    100.0,
    50,
    50,
    0,
    "document",
    {},
    (80.0, 130.0),
    0.95,
    (),
    "ms",
    "lower",
)


def judge(gate: str, estimate: Estimate) -> GateOutcome:
    [outcome] = judge_result([parse_gate(gate)], Result((estimate,)), "a")
    return outcome


NEEDS = [
    ("lower(accuracy) >= 0.85", ACCURACY, 347),
    ("lower(accuracy) > 0.89", ACCURACY, 7575),
    ("lower(accuracy) >= 0.9", ACCURACY, None),
    ("lower(accuracy) >= 0.95", ACCURACY, None),
    ("upper(accuracy) <= 0.94", ACCURACY, 343),
    ("upper(accuracy) <= 0.5", ACCURACY, None),
    ("upper(latency_mean) <= 110", LATENCY, 639),
    ("upper(latency_mean) >= 140", LATENCY, None),
    ("lower(latency_mean) <= 50", LATENCY, None),
    (
        "upper(latency_mean) <= 300",
        replace(LATENCY, documents=3, n=3, interval=(10.0, 301.0), marks=("few_documents",)),
        20,
    ),
]


@pytest.mark.parametrize(("gate", "estimate", "needed"), NEEDS)
def test_a_bound_that_does_not_hold_says_how_many_documents_would_show_it(
    gate: str, estimate: Estimate, needed: int | None
) -> None:
    outcome = judge(gate, estimate)
    assert outcome.verdict is not Verdict.PASS and outcome.documents_needed == needed
    assert (needed is None) or f"about {needed:,} documents would show it" in outcome.rule


def test_the_number_of_documents_makes_the_bound_hold() -> None:
    outcome = judge("lower(accuracy) >= 0.85", ACCURACY)
    half = 0.1 * (50 / outcome.documents_needed) ** 0.5
    wider = replace(ACCURACY, documents=outcome.documents_needed, interval=(0.9 - half, 0.98))
    assert judge("lower(accuracy) >= 0.85", wider).verdict is Verdict.PASS


# Shares pooled over runs

GATE = parse_gate("rate >= 80")


def rate(value: float | None, n: int, unit: str = "percent") -> Estimate:
    return Estimate("rate", "a", None, {}, None, value, n, n, 0, None, unit=unit)


@given(
    st.lists(
        st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
        min_size=1,
        max_size=6,
    )
)
def test_pooling_adds_successes_and_runs(parts: list[tuple[int, int]]) -> None:
    pooled = pool_shares([(str(place), rate(100 * good / n, n)) for place, (good, n) in enumerate(parts)])
    assert pooled.estimate.value == 100 * sum(good for good, _ in parts) / sum(n for _, n in parts)


@pytest.mark.parametrize(("second", "said"), [
    (rate(None, 0), "undefined"), (rate(33.0, 10), "not a share of 10"), (rate(120.0, 10), "not a share of 10"),
    (rate(3.0, 10, "ms"), "not a share"),
    (rate(0.5, 10, "ratio"), "different units"),
])  # fmt: skip
def test_what_is_no_share_is_not_pooled(second: Estimate, said: str) -> None:
    pooled = pool_shares([("one", rate(90.0, 10)), ("two", second)])
    assert pooled.estimate is None and said in pooled.why


def over_runs(
    *estimates: Estimate | None, pooled: bool = True, records: Estimate | None = None
) -> GateOutcome:
    holders = [
        Holder(f"run{place}", Result(() if one is None else (one,)), "a")
        for place, one in enumerate(estimates)
    ]
    held = {} if records is None else {"rate": records}
    [outcome] = judge_gates([GATE], Holdings(holders, frozenset({"rate"} if pooled else ()), held))
    return outcome


RUNS = {
    "pooled over both": (over_runs(rate(100.0, 10), rate(50.0, 10)), Verdict.FAIL, 75.0),
    "exactly at the threshold": (over_runs(rate(100.0, 10), rate(60.0, 10)), Verdict.PASS, 80.0),
    "one run alone": (over_runs(rate(90.0, 10)), Verdict.PASS, 90.0),
    "one run lacks it": (over_runs(rate(90.0, 10), None), Verdict.INCONCLUSIVE, None),
    "one run has none": (over_runs(rate(90.0, 10), rate(None, 0)), Verdict.INCONCLUSIVE, None),
    "two runs, not pooled": (
        over_runs(rate(90.0, 10), rate(90.0, 10), pooled=False),
        Verdict.INCONCLUSIVE,
        None,
    ),
    "records come first": (
        over_runs(rate(100.0, 10), rate(100.0, 10), records=replace(rate(50.0, 4), system="")),
        Verdict.FAIL,
        50.0,
    ),
}


@pytest.mark.parametrize("case", RUNS)
def test_a_gate_over_several_runs(case: str) -> None:
    outcome, verdict, value = RUNS[case]
    assert (outcome.verdict, outcome.value) == (verdict, value)


def test_records_have_no_slices() -> None:
    [outcome] = judge_gates([parse_gate("rate{type=a} >= 1")], Holdings((), records={"rate": rate(50.0, 4)}))
    assert outcome.verdict is Verdict.INCONCLUSIVE and "records" in outcome.rule
