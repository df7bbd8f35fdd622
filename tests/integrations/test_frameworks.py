"""The doors into other frameworks, against the real packages: `make test-integrations` installs and runs them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).with_name("frameworks.md")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL))
QUIET = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
}


def blocks(section: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", SECTIONS[section], re.MULTILINE | re.DOTALL)


def run(command: list[str], folder: Path) -> str:
    env = {**os.environ, **QUIET, "PROMPTFOO_PYTHON": sys.executable, "PROMPTFOO_CONFIG_DIR": str(folder)}
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode in (0, 100), done.stderr[-3000:]  # 100: promptfoo, where a test failed
    return done.stdout


@pytest.mark.parametrize("section", [name for name in SECTIONS if blocks(name, "text")])
def test_an_example_prints_what_stands_under_it(section: str, tmp_path: Path) -> None:
    [code], [said] = blocks(section, "python"), blocks(section, "text")
    assert run([sys.executable, "-W", "ignore", "-c", code], tmp_path).endswith(said)


def test_promptfoo_has_scores_by_field(tmp_path: Path) -> None:
    [code], [settings] = blocks("promptfoo", "python"), blocks("promptfoo", "yaml")
    (tmp_path / "assert.py").write_text(code)
    (tmp_path / "promptfooconfig.yaml").write_text(settings)
    program = Path(sys.prefix) / "node_modules" / ".bin" / "promptfoo"
    run([str(program), "eval", "--no-cache", "--no-table", "-o", "out.json"], tmp_path)
    found = json.loads((tmp_path / "out.json").read_text("utf-8"))["results"]
    assert [(one["success"], one["score"], one["namedScores"]) for one in found["results"]] == [
        (True, 1, {"supplier": 1, "total": 1}),
        (False, 0.5, {"supplier": 1, "total": 0}),
    ]
    assert (
        found["results"][1]["gradingResult"]["reason"] == 'total: the prediction has no value, gold is "7.00"'
    )


def test_inspect_finds_the_scorer_by_its_entry_point(tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log

    [code] = blocks("Inspect", "python")
    run([sys.executable, "-W", "ignore", "-c", code], tmp_path)
    [log] = (tmp_path / "logs").iterdir()
    inspect = [sys.executable, "-m", "inspect_ai", "score", str(log), "--scorer", "fieldassay/extraction"]
    again = [
        "-S",
        "record_spec=fields: {total: money}",
        "--output-file",
        "again.eval",
        "--action",
        "overwrite",
    ]
    run([*inspect, *again], tmp_path)
    results = read_eval_log(str(tmp_path / "again.eval")).results
    assert results is not None and results.scores[0].metrics["mean"].value == 0.5


def test_dspy_bootstraps_only_what_is_right() -> None:
    import dspy
    from dspy.utils import DummyLM

    from fieldassay.integrations.dspy import extraction_metric

    right = [("Oak", "5.50"), ("Elm", "7.00"), ("Ash", "9.25")]
    examples = [
        dspy.Example(text=name, supplier=name, total=total).with_inputs("text") for name, total in right
    ]
    answers = [{"supplier": name, "total": total} for name, total in [*right[:2], ("Ash", "9.52")]]
    metric = extraction_metric("fields: {supplier: text, total: {type: money, critical: true}}")
    with dspy.context(lm=DummyLM(answers)):
        optimizer = dspy.BootstrapFewShot(metric=metric, max_labeled_demos=0)
        program = optimizer.compile(dspy.Predict("text -> supplier, total"), trainset=examples)
    assert {demo.text for demo in program.demos} == {"Oak", "Elm"}


def test_gepa_takes_thirty_steps_with_the_feedback_of_the_metric(tmp_path: Path) -> None:
    [code], right = blocks("DSPy", "python"), '"Read the bill. The total is the last amount."'
    turns = f"turns = iter(['Read the bill.'] * 29 + [{right}] * 9)\n"
    longer = code.replace(right, "next(turns)").replace("max_metric_calls=60", "max_metric_calls=230")
    program = f"{turns}{longer}\nprint(len([*turns]))"
    said = run([sys.executable, "-W", "ignore", "-c", program], tmp_path).splitlines()
    assert said[-2:] == [f"50.0 100.0 {right.strip(chr(34))}", "8"]


def test_dspy_takes_a_field_that_holds_the_record() -> None:
    import dspy

    from fieldassay.integrations.dspy import extraction_metric

    metric = extraction_metric("fields: {total: money, paid: boolean}", field="bill")
    example = dspy.Example(text="t", bill={"total": "5.50", "paid": True}).with_inputs("text")
    assert metric(example, dspy.Prediction(bill='{"total": 5.5}')).objective_scores == {
        "total": 1.0,
        "paid": 0.0,
    }
    assert metric(example, dspy.Prediction()).score == 0.0


def test_promptfoo_is_told_which_variable_has_gold() -> None:
    from fieldassay.errors import ProblemsError
    from fieldassay.integrations.promptfoo import get_assert

    context = {"vars": {"right": '{"total": 5}', "text": "t"}, "config": {"spec": "fields: {total: money}"}}
    with pytest.raises(ProblemsError, match=r"no variable 'gold' has gold \(variables: right, text\)"):
        get_assert("{}", context)
    context["config"] |= {"gold": "right", "threshold": 0.5}
    assert get_assert('{"total": "5.00"}', context)["pass"] and not get_assert("{}", context)["pass"]
    nothing = {"vars": {"gold": {}}, "config": context["config"] | {"gold": "gold"}}
    assert get_assert("{}", nothing)["score"] == 1.0


def test_mlflow_has_the_metrics_and_the_report_of_a_result(tmp_path: Path) -> None:
    import mlflow

    import fieldassay
    from fieldassay.integrations.mlflow import log_result

    gold, answers = [{"id": 1, "total": 5}, {"id": 2, "total": 7}], [{"id": 1, "total": 5}]
    result = fieldassay.score(gold, {"a": answers, "b": gold}, "fields: {total: money}")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    mlflow.create_experiment("bills", artifact_location=str(tmp_path / "artifacts"))
    with mlflow.start_run(experiment_id=mlflow.get_experiment_by_name("bills").experiment_id) as run:
        log_result(result)
    metrics = mlflow.get_run(run.info.run_id).data.metrics
    assert (metrics["a/accuracy"], metrics["b/field_accuracy/total"]) == (0.5, 1.0)
    artifacts = {file.name: file.read_text("utf-8") for file in (tmp_path / "artifacts").rglob("*.*")}
    assert artifacts["report.html"].startswith("<!doctype html") and "accuracy" in artifacts["metrics.json"]
