"""`fieldassay diff`."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from command_runs import GOLD, PRED, Files, Ran, write_tiny

from fieldassay.commands.cli.main import main

Run = Callable[..., Ran]
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


def test_two_runs_are_told_on_standard_output(run: Run, runs: tuple[Path, Path]) -> None:
    ran = run("diff", *runs)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("before → after: 3 documents\n")
    assert [
        head for head in ("Overall", "By field", "Fixed and broken") if f"\n{head}\n" not in ran.out
    ] == []
    assert "2 values fixed, 0 broken, 2 wrong in both" in ran.out


def test_two_systems_of_one_run_are_compared(run: Run, files: Files) -> None:
    better = files.write("qwen.jsonl", BETTER)
    out = files.folder / "run"
    assert run("score", *files.inputs, "--pred", better, "--out", out, "--bootstrap", 50, "--quiet").code == 0
    whole = run("diff", out)
    assert whole.out == run("diff", f"{out}:llama", f"{out}:qwen").out
    assert "write: fieldassay diff BEFORE:SYSTEM AFTER:SYSTEM" in run("diff", out, "--system-a", "llama").err
    assert "llama → qwen" in whole.out
    assert "qwen → llama" in run("diff", f"{out}:qwen", f"{out}:llama").out


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


def test_a_format_goes_before_an_ending(run: Run, runs: tuple[Path, Path], tmp_path: Path) -> None:
    run("diff", *runs, "--format", "markdown", "--out", tmp_path / "diff.comment")
    assert (tmp_path / "diff.comment").read_text(encoding="utf-8").startswith("# ")


def test_the_number_of_values_is_bounded_on_the_terminal_only(run: Run, runs: tuple[Path, Path]) -> None:
    assert "1 more fixed" in run("diff", *runs, "--most", 1).out
    assert "values that were fixed" not in run("diff", *runs, "--most", 0).out
    assert run("diff", *runs, "--most", 1, "--format", "csv").out.count("\nfixed,") == 2


def test_runs_are_looked_up_in_the_store(run: Run, runs: tuple[Path, Path], tmp_path: Path) -> None:
    store = tmp_path / "store"
    for folder in runs:
        shutil.copytree(folder, store / folder.name)
    ran = run("diff", "before", "after:llama", "--runs", store)
    assert (ran.code, ran.out.split("\n")[0]) == (0, "before → after: 3 documents")


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
