"""A gate on each field: judged field by field in one family, told in one line."""

import random
from pathlib import Path
from typing import Any

import pytest
from tests.decisions.gates.test_regression import NOW

from fieldassay.decisions.baseline import Baseline, BaselineRequest, make_baseline, write_baseline
from fieldassay.decisions.gate import decide_result
from fieldassay.errors import ProblemsError
from fieldassay.metrics.catalogue.grammar import parse_gate
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.result.verdicts import GateOutcome
from fieldassay.runs.run import Run
from fieldassay.scoring.inputs import ScoreOptions
from fieldassay.scoring.score import score

FIELDS = tuple("abcdefghijkl")
SPEC = f"{{name: twelve, fields: {{{', '.join(f'{name}: text' for name in FIELDS)}, unused: text}}}}"
Rows = list[dict[str, Any]]


def gold(count: int) -> Rows:
    return [{"id": f"d{at:04d}", **{name: f"{name}{at}" for name in FIELDS}} for at in range(count)]


def spoiled(rows: Rows, rates: dict[str, float], seed: int = 1) -> Rows:
    draw = random.Random(seed)
    return [{**row, **{name: "?" for name in FIELDS if draw.random() < rates.get(name, 0.0)}} for row in rows]


def scored(rows: Rows, predictions: Rows, *gates: str) -> Result:
    return score(rows, predictions, SPEC, ScoreOptions(keeps_statistics=True, evidence="none", gates=gates))


def outcome(result: Result, gate: str, baseline: Path | None = None) -> GateOutcome:
    [decision] = decide_result(result, [parse_gate(gate)], baseline)
    [found] = decision.outcomes
    return found


def baseline_in(folder: Path, result: Result) -> Path:
    made: Baseline = make_baseline(Run.of(result, folder=Path("main")), BaselineRequest(), NOW)
    write_baseline(folder / "baseline.json", made)
    return folder / "baseline.json"


@pytest.mark.parametrize(
    ("gate", "verdict", "said"),
    [
        ("field_accuracy >= 0.9 in each field", "FAIL", "12 fields: 1 failed, 11 passed; a: 50.0%, needed at least 90%"),
        ("field_accuracy >= 0.4 in each field", "PASS", "12 fields: 12 passed; a: 50.0%, needed at least 40%"),
        ("lower(field_accuracy) >= 0.4 in each field", "INCONCLUSIVE", "12 fields: 1 undecided, 11 passed; a: too close to call"),
        ("lower(field_accuracy) >= 0.7 in each field", "FAIL", "12 fields: 1 failed, 11 passed; a: interval"),
    ],
)  # fmt: skip
def test_the_worst_field_decides_and_is_named(gate: str, verdict: str, said: str) -> None:
    rows = gold(60)
    wrong = [{**row, "a": "?"} if at % 2 else row for at, row in enumerate(rows)]
    found = outcome(scored(rows, wrong, gate), gate)
    assert (found.verdict.value, found.rule[: len(said)]) == (verdict, said)
    assert found.value is not None and found.value <= 0.5
    assert str(found.gate) == gate and len(found.parts) == 12
    assert found.evidence[-1] == "left out: 1 empty field"


def test_the_gate_is_one_line_of_the_decision() -> None:
    rows = gold(30)
    gate = "field_accuracy >= 0.9 in each field"
    [decision] = decide_result(scored(rows, rows, gate), [parse_gate(gate)])
    assert decision.reasons == ("1 gate passed, on 30 documents",)
    assert len(decision.to_dict()["gates"]) == 1


def test_the_loss_of_one_field_fails_it(tmp_path: Path) -> None:
    rows = gold(200)
    baseline = baseline_in(tmp_path, scored(rows, spoiled(rows, dict.fromkeys(FIELDS, 0.05))))
    worse = spoiled(rows, dict.fromkeys(FIELDS, 0.05))
    lost = [{**row, "a": "?"} if at < 12 else row for at, row in enumerate(worse)]
    gate = "regression(field_accuracy) >= 0 in each field"
    found = outcome(scored(rows, lost, gate), gate, baseline)
    assert len(found.parts) == 12 and found.parts[0].gate.metric.field == "a"
    single = "regression(field_accuracy[a]) >= 0"
    alone = outcome(scored(rows, lost, single), single, baseline)
    assert alone.verdict.value == "FAIL" and found.verdict.value == "FAIL"
    assert found.value == alone.value
    assert "12 fields: 1 failed" in found.rule


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ("accuracy >= 0.9 in each field", "accuracy is not a metric per field"),
        ("field_accuracy[a] >= 0.9 in each field", "goes with a metric of no field in particular"),
        ("field_accuracy >= 0.9 in each", "expected 'field'"),
    ],
)
def test_a_gate_that_makes_no_sense_is_named(gate: str, said: str) -> None:
    with pytest.raises(ProblemsError, match=said.replace("[", "\\[")):
        score(gold(3), gold(3), f"{SPEC[:-1]}, gates: ['{gate}']}}")
