"""Documents that no gate is about are said: they never pass, and never in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fieldassay.commands.cli.main import main
from fieldassay.decisions.gate import decide_result
from fieldassay.metrics.result.decision import Answer
from fieldassay.metrics.result.result import Result
from fieldassay.scoring.inputs.options import ScoreOptions
from fieldassay.scoring.score import score

EASY = "accuracy{difficulty=easy} >= 0.5 if present"


def judged(difficulties: list[str | None], gates: list[str], right: bool = True) -> Result:
    gold = [
        {"id": at, "expected": {"n": 1}, **({} if one is None else {"difficulty": one})}
        for at, one in enumerate(difficulties)
    ]
    predictions = [{"id": at, "n": 1 if right else 2} for at in range(len(gold))]
    spec = {"fields": {"n": "number"}, "data": {"gold": "expected"}, "slices": ["difficulty"], "gates": gates}
    return score(gold, {"s": predictions}, spec, ScoreOptions(replicates=0))


CASES = [
    pytest.param(["easy"], [EASY], Answer.GO, [], id="all gated"),
    pytest.param(
        ["easy", "extreme"],
        [EASY],
        Answer.INCONCLUSIVE,
        ["difficulty=extreme"],
        id="a difficulty without thresholds",
    ),
    pytest.param(
        ["easy", None], [EASY], Answer.INCONCLUSIVE, ["no difficulty"], id="a case without difficulty"
    ),
    pytest.param(
        ["extreme", None],
        [EASY],
        Answer.INCONCLUSIVE,
        ["difficulty=extreme", "no difficulty"],
        id="nothing gated",
    ),
    pytest.param(["easy", "extreme"], [EASY, "accuracy >= 0.5"], Answer.GO, [], id="a gate on everything"),
    pytest.param(
        ["easy", "extreme"],
        ["accuracy{difficulty=easy} >= 0.5"],
        Answer.GO,
        [],
        id="a gate that asks for its slice",
    ),
]


@pytest.mark.parametrize(("difficulties", "gates", "answer", "said"), CASES)
def test_documents_that_no_gate_is_about_leave_the_answer_open(
    difficulties: list[str | None], gates: list[str], answer: Answer, said: list[str]
) -> None:
    result = judged(difficulties, gates)
    (decision,) = decide_result(result)
    assert decision.answer is answer
    for text in said:
        assert any(text in reason for reason in decision.reasons)
        assert any(text in warning for warning in result.warnings)
    assert bool(said) == any("not gated" in warning for warning in result.warnings)


def test_a_gate_that_fails_still_fails_beside_them() -> None:
    (decision,) = decide_result(judged(["easy", "extreme"], [EASY], right=False))
    assert decision.answer is Answer.NO_GO


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
