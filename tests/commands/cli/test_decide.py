"""Runs compared, baselines that are frozen, and values that need no review."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command_runs import GOLD, PRED, SPEC, Files, Ran, write_tiny
from scored_runs import kept_folder, linked, scored, scored_files

from fieldassay.commands.cli.main import main

# `fieldassay diff`.

Run = Callable[..., Ran]
pytestmark = pytest.mark.usefixtures("few_draws")
BETTER = [{**GOLD[0]}, {**PRED[1], "name": "Bo"}, PRED[2]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Return data with a run of each system in their folder."""
    made = write_tiny(tmp_path_factory.mktemp("made"))
    for name, rows in (("before", PRED), ("after", BETTER)):
        made.write("llama.jsonl", rows)
        out = ["--out", f"{made.folder / name}", "--bootstrap", "50", "--quiet"]
        assert main(["score", *made.inputs, *out]) == 0
    return made


@pytest.fixture
def runs(made: Files) -> tuple[Path, Path]:
    return made.folder / "before", made.folder / "after"


@pytest.mark.parametrize(
    ("ending", "begins"),
    [(".json", "{"), (".md", "# "), (".html", "<!doctype html>"), (".csv", "change,doc,"), (".txt", "")],
)
def test_the_ending_of_a_file_says_what_is_written(
    run: Run, runs: tuple[Path, Path], tmp_path: Path, ending: str, begins: str
) -> None:
    target = tmp_path / f"diff{ending}"
    ran = run("diff", *runs, "--out", target)
    assert (ran.code, ran.out) == (0, "")
    assert f"written to {target}" in ran.err
    assert target.read_text(encoding="utf-8").startswith(begins)
    assert list(tmp_path.glob(".*")) == []


def test_json_on_standard_output_can_be_read(run: Run, runs: tuple[Path, Path]) -> None:
    data = json.loads(run("diff", *runs, "--json").out)
    assert (data["schema_version"], data["format"], data["documents"]) == (1, "fieldassay diff", 3)
    assert {row["path"]: (row["before"], row["after"]) for row in data["changes"]["fixed_values"]} == {
        "lines[0].amount": ("7", "1"),
        "name": ('"bo"', '"Bo"'),
    }


def test_the_number_of_values_is_bounded_on_the_terminal_only(
    run: Run, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    assert "values that were fixed (1 of 2)" in run("diff", *runs, "--most", 1).out
    worse = run("diff", *runs[::-1], "--most", 1).out
    assert worse.index("values that were broken (1 of 2)") < worse.index("--most N shows more values")
    assert "values that were fixed" not in run("diff", *runs, "--most", 0).out
    assert run("diff", *runs, "--most", 1, "--out", tmp_path / "d.csv").code == 0
    assert (tmp_path / "d.csv").read_text(encoding="utf-8").count("\nfixed,") == 2


def test_metrics_and_slices_can_be_chosen(run: Run, files: Files) -> None:
    better = files.write("qwen.jsonl", BETTER)
    out = files.folder / "run"
    given = ["--pred", better, "--out", out, "--slice", "kind", "--bootstrap", 0, "--quiet"]
    assert run("score", *files.inputs, *given).code == 0
    data = json.loads(
        run("diff", out, "--metrics", "recall,field_accuracy[total]", "--slice", "kind", "--json").out
    )
    assert [(one["metric"], one["field"]) for one in data["overall"]] == [
        ("recall", None),
        ("field_accuracy", "total"),
    ]
    assert [one["slice"] for one in data["by_slice"]] == [{"kind": "a"}, {"kind": "b"}]


@pytest.mark.parametrize(
    "place", ["before/run.json", "before/new.md", "after/evidence.parquet", "gold.jsonl", "llama.jsonl"]
)
def test_nothing_of_a_run_is_overwritten(run: Run, made: Files, runs: tuple[Path, Path], place: str) -> None:
    target = made.folder / place
    before = target.read_bytes() if target.exists() else None
    ran = run("diff", *runs, "--json", "--out", target)
    assert (ran.code, "is an input of the run" in ran.err) == (2, True)
    assert (target.read_bytes() if target.exists() else None) == before


def test_runs_on_other_gold_are_refused_and_compared_where_they_agree(
    run: Run, files: Files, runs: tuple[Path, Path]
) -> None:
    files.write("gold.jsonl", [{**GOLD[0], "name": "Eve"}, *GOLD[1:]])
    assert run("score", *files.inputs, "--out", files.folder / "other", "--bootstrap", 0, "--quiet").code == 0
    ran = run("diff", runs[0], files.folder / "other")
    assert ran.code == 2
    assert "other gold" in ran.err
    assert "--common" in ran.err
    shared = run("diff", runs[0], files.folder / "other", "--common")
    assert shared.code == 0
    assert "WARNING: compared only on the 2 documents that all runs share with equal gold" in " ".join(
        shared.out.split()
    )


# Frozen baselines: one changed label, document or setting, and every command refuses and names it.

FAST = ("--bootstrap", "0")
REASON = "two labels were wrong"


class Frozen:
    """Files with a frozen baseline, and the commands on them."""

    def __init__(self, run: Run, files: Files) -> None:
        self.run, self.files, self.file = run, files, files.folder / "frozen.json"

    def score(self, *more: Any) -> Ran:
        return self.run("score", *self.files.inputs, *FAST, *more)

    def set(self, name: str, *more: Any) -> Ran:
        assert self.score("--quiet", "--out", self.files.folder / name).code == 0
        return self.run("baseline", "set", self.files.folder / name, "--out", self.file, *more)

    def change_spec(self, before: str, after: str) -> None:
        assert before in SPEC
        (self.files.folder / "spec.yaml").write_text(SPEC.replace(before, after), encoding="utf-8")


@pytest.fixture
def frozen(run: Run, files: Files) -> Frozen:
    made = Frozen(run, files)
    ran = run("baseline", "set", scored() / "run", "--out", made.file, "--freeze")
    assert ran.code == 0 and "frozen: it refuses runs of another spec or gold" in ran.out
    return made


def change_value(frozen: Frozen, at: int, **values: Any) -> None:
    frozen.files.write("gold.jsonl", [{**row, **values} if row is GOLD[at] else row for row in GOLD])


CHANGES: dict[str, tuple[Callable[[Frozen], object], str]] = {
    "an option of a field": (
        lambda frozen: frozen.change_spec("critical: true", "weight: 2"),
        "fields.total.critical was removed (true), fields.total.weight was added (2)",
    ),
    "a metric": (
        lambda frozen: frozen.change_spec("name: tiny", "name: tiny\nmetrics: [accuracy]"),
        'metrics was [], is now ["accuracy"]',
    ),
    "a document more": (lambda frozen: frozen.files.write("gold.jsonl", [*GOLD, {"id": "d4"}]),
        "1 document added (d4)"),
    "a document less": (lambda frozen: frozen.files.write("gold.jsonl", GOLD[:2]), "1 document removed (d3)"),
    "another id": (lambda frozen: change_value(frozen, 2, id="d4"), "1 document added (d4), 1 removed (d3)"),
    "a value": (lambda frozen: change_value(frozen, 2, name="CY"), "1 document changed (d3)"),
    "a critical path": (lambda frozen: change_value(frozen, 1, critical_fields=["name"]),
        "1 document changed (d2)"),
    "an accepted value": (lambda frozen: change_value(frozen, 0, acceptable_variations={"name": ["x"]}),
        "1 document changed (d1)"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_refused_by_every_command_and_named(name: str, frozen: Frozen, tmp_path: Path) -> None:
    change, said = CHANGES[name]
    data = frozen.file.read_bytes()
    change(frozen)
    for ran in (
        frozen.score("--baseline", frozen.file, "--out", tmp_path / "run"),
        frozen.score("--baseline", frozen.file),
        frozen.score("--baseline", frozen.file, "--fail-on-regression", "accuracy=0.9", "--exit-zero"),
    ):
        assert (ran.code, ran.out) == (2, "")
        assert said in ran.err and "baseline set RUN --freeze" in ran.err
    assert not (tmp_path / "run").exists()
    assert frozen.score("--quiet", "--out", tmp_path / "run").code == 0
    for number, rule in enumerate(("regression(accuracy) > -0.9", "accuracy >= 0")):
        (tmp_path / f"{number}.yaml").write_text(f"gates: ['{rule}']")
    gates = ("gate", tmp_path / "run", "--baseline", frozen.file, "--gates")
    for arguments in (
        ("gate", tmp_path / "run", "--baseline", frozen.file),
        (*gates, tmp_path / "0.yaml"),
        (*gates, tmp_path / "1.yaml"),
    ):
        ran = frozen.run(*arguments)
        assert (ran.code, ran.out) == (2, "") and said in ran.err
    assert frozen.file.read_bytes() == data


def test_a_frozen_baseline_is_replaced_with_a_reason_only(frozen: Frozen) -> None:
    data = frozen.file.read_bytes()
    change_value(frozen, 2, name="CY")
    for more in ((), ("--freeze",), ("--freeze", "--reason", " - ")):
        ran = frozen.set("second", *more)
        assert ran.code == 2 and "is missing or empty" in ran.err and frozen.file.read_bytes() == data
    assert frozen.set("second", "--freeze", "--reason", REASON).code == 0
    history = json.loads(frozen.file.read_bytes())["history"]
    assert [(one["reason"], one["is_frozen"]) for one in history] == [("", True), (REASON, True)]
    assert frozen.score("--baseline", frozen.file).code == 0


def test_a_file_in_the_folder_holds_no_run_that_does_not_take_it(
    frozen: Frozen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(frozen.files.folder)
    frozen.file.rename("fieldassay-baseline.json")
    change_value(frozen, 2, name="CY")
    assert frozen.score().code == 0
    frozen.change_spec("name: tiny", "name: tiny\ngates: [regression(accuracy) > -0.9]")
    assert frozen.score().code == 2


# `fieldassay calibrate`.

BILLS = "{fieldassay: 1, name: bills, data: {id_key: id}, fields: {total: money, name: text}}"


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
    texts = (("bills.yaml", BILLS), ("gold.jsonl", lines(gold)), ("pred.jsonl", lines(pred)))
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
