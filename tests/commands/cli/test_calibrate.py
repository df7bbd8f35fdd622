"""`fieldassay calibrate` as it is run."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command_runs import Files, Ran
from scored_runs import kept_folder, linked, scored_files

from fieldassay.commands.cli.main import main

Run = Callable[..., Ran]


pytestmark = pytest.mark.usefixtures("few_draws")


SPEC = "{fieldassay: 1, name: bills, data: {id_key: id}, fields: {total: money, name: text}}"


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@cache
def make_run(name: str = "a", n: int = 400, wrong: int = 40, *more: str) -> Path:
    """Return the folder of a run: confidences fall with the document's number, the last ones are wrong."""
    gold = [{"id": f"{name}{at}", "total": 5, "name": "Elm"} for at in range(n)]
    pred = [
        {**row, "total": 5 + (at >= n - wrong), "confidence": {"total": 0.99 - 0.9 * at / n, "name": 0.97}}
        for at, row in enumerate(gold)
    ]
    texts = (("bills.yaml", SPEC), ("gold.jsonl", lines(gold)), ("pred.jsonl", lines(pred)))
    inputs = ("--spec", "bills.yaml", "--gold", "gold.jsonl", "--pred", "llama=pred.jsonl")
    return scored_files(texts, (*inputs, "--quiet", "--bootstrap", "0", *more), name) / name


@cache
def make_policy(folder: Path | None = None) -> Path:
    """Return a policy of a run (the first one)."""
    policy = kept_folder() / "policy.json"
    assert main(["calibrate", str(folder or make_run()), "--risk", "0.05", "--out", str(policy)]) == 0
    return policy


def test_the_plan_needs_no_run_and_says_how_many_labels_it_takes(run: Run) -> None:
    ran = run("calibrate", "--plan", "--risk", 0.01, "--confidence", 0.95)
    assert ran.code == 0
    for number in ("299", "473", "628", "773"):
        assert number in ran.out


def test_a_run_is_calibrated_and_a_policy_written(run: Run, tmp_path: Path) -> None:
    first, policy = make_run(), tmp_path / "policy.json"
    ran = run("calibrate", first, "--risk", 0.05, "--out", policy)
    assert (ran.code, ran.err) == (0, f"policy written to {policy}\n")
    for title in (
        "Calibration",
        "Accepting without review",
        "By field",
        "Review threshold",
        "AUROC",
    ):
        assert title in ran.out


def test_too_few_labels_write_a_policy_that_reviews_everything(run: Run, tmp_path: Path) -> None:
    ran = run("calibrate", make_run("a", 60, 3), "--out", tmp_path / "policy.json")
    assert ran.code == 0 and ran.err.endswith("; it reviews everything\n")
    assert "label at least 89 more documents (149 in all)" in " ".join(ran.out.split())
    assert json.loads((tmp_path / "policy.json").read_text())["certificate"]["threshold"] is None


def test_evidence_of_errors_only_is_refused(run: Run) -> None:
    ran = run("calibrate", make_run("a", 60, 3, "--evidence", "errors"))
    assert ran.code == 2
    assert "--evidence all" in ran.err


def test_a_policy_is_not_written_into_the_run(run: Run) -> None:
    folder = make_run("a", 60, 3)
    before = sorted(path.name for path in folder.iterdir())
    assert run("calibrate", folder, "--out", folder / "policy.json").code == 2
    assert sorted(path.name for path in folder.iterdir()) == before


def new_predictions(files: Files, **confidence: float) -> Path:
    sure = [{key: value - at / 100 for key, value in confidence.items()} for at in range(3)]
    return files.write(
        "new.jsonl",
        [{"id": f"n{at}", "total": at, "name": "Elm", "confidence": one} for at, one in enumerate(sure)],
    )


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_new_predictions_become_a_queue_in_the_order_of_what_a_look_is_worth(
    run: Run, files: Files, ending: str
) -> None:
    import polars as pl

    policy, pred = make_policy(), new_predictions(files, total=0.12, name=0.99)
    out = files.folder / f"queue.{ending}"
    ran = run("calibrate", "--policy", policy, "--pred", pred, "-o", out)
    assert (ran.code, ran.err) == (0, f"queue written to {out}\n")
    rows = (pl.read_csv if ending == "csv" else pl.read_ndjson)(out).to_dicts()
    named = [(row["document"], row["path"], row["reason"]) for row in rows]
    assert named[:3] == [(f"n{at}", "total", "below the threshold") for at in (2, 1, 0)]
    assert "6 values in 3 documents" in ran.out


def test_the_queue_is_printed_without_a_file_and_knows_a_value_without_confidence(
    run: Run, files: Files
) -> None:
    policy, pred = make_policy(), new_predictions(files, total=0.12)
    ran = run(
        "calibrate",
        "--policy",
        policy,
        "--pred",
        f"llama={pred}",
        "--spec",
        make_run().with_name("bills.yaml"),
    )
    assert ran.code == 0
    assert "no confidence: 3" in ran.out and "below the threshold: 3" in ran.out
    assert ran.out.index("n2") < ran.out.rindex("n0")


MISMATCHES = {
    "no confidence": ({}, [], "no predicted value has a confidence"),
    "another system": (
        {"total": 0.5},
        ["--pred", "qwen=new.jsonl"],
        "the policy is for the system 'llama', not for 'qwen'",
    ),
    "another spec": ({"total": 0.5}, ["--pred", "new.jsonl", "--spec", "other.yaml"], "is another spec"),
    "an ending": (
        {"total": 0.5},
        ["--pred", "new.jsonl", "-o", "queue.pdf"],
        "use one of: .csv, .jsonl",
    ),
    "a risk of its own": (
        {"total": 0.5},
        ["--pred", "new.jsonl", "--risk", "0.1"],
        "--policy takes what the policy says: leave out --risk",
    ),
    "no run": ({"total": 0.5}, ["--pred", "new.jsonl"], "give the spec"),
}


@pytest.mark.parametrize("name", MISMATCHES)
def test_predictions_that_the_policy_is_not_for_are_refused(
    run: Run, files: Files, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    confidence, more, told = MISMATCHES[name]
    monkeypatch.chdir(files.folder)
    new_predictions(files, **confidence)
    (files.folder / "other.yaml").write_text("{name: bills, data: {id_key: id}, fields: {total: number}}")
    policy = make_policy()
    if name == "no run":
        policy = make_policy(folder=linked(make_run(), files.folder / "a"))
        (files.folder / "a").rename(files.folder / "elsewhere")
    ran = run("calibrate", "--policy", policy, *(more or ["--pred", "new.jsonl"]))
    assert ran.code == 2
    assert told in " ".join(ran.err.split())
