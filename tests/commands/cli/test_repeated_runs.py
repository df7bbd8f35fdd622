"""Repeated runs of one system on the command line: scored, explained, compared, kept, shown."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from command_runs import Files, Ran

from fieldassay.commands.cli.inputs import name_predictions

Run = Callable[..., Ran]
GOLD = [{"id": f"d{at}", "name": f"name {at}", "total": at} for at in range(12)]


def make_run(wrong: dict[int, dict[str, Any]], lost: tuple[int, ...] = ()) -> list[dict[str, Any]]:
    return [{**row, **wrong.get(at, {})} for at, row in enumerate(GOLD) if at not in lost]


RUNS = {
    "1.jsonl": make_run({2: {"total": 20}, 5: {"name": "?"}}),
    "2.jsonl": make_run({2: {"total": 21}}, lost=(7,)),
    "3.jsonl": make_run({2: {"total": 20}, 5: {"name": "?"}}),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = Files(tmp_path)
    (tmp_path / "spec.yaml").write_text(
        "name: small\nfields: {name: text, total: number}\n", encoding="utf-8"
    )
    for name, rows in {"gold.jsonl": GOLD, **RUNS}.items():
        files.write(name, rows)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def score(run: Run, *more: str) -> Ran:
    return run("score", "--spec", "spec.yaml", "--gold", "gold.jsonl", "--bootstrap", "200", *more)


def test_files_separated_by_commas_are_runs_and_so_is_a_repeated_name(run: Run, folder: Path) -> None:
    one, other = (
        json.loads(score(run, *given, "--json").out)
        for given in (
            ("--pred", "m=1.jsonl,2.jsonl,3.jsonl"),
            ("--pred", "m=1.jsonl", "--pred", "m=2.jsonl, 3.jsonl"),
        )
    )
    assert one["estimates"] == other["estimates"]
    assert [(found["system"], found["runs"]) for found in one["repeats"]] == [("m", 3)]
    assert one["run"]["inputs"]["repeats"] == {"m": [f"m (run {number} of 3)" for number in (1, 2, 3)]}
    [first, *_] = one["repeats"][0]["flaky"]
    assert (first["document"], first["path"], first["right"], first["vote"]) == ("d5", "name", 1, "wrong")
    assert first["answers"] == [
        {"answer": '"?"', "runs": 2, "is_right": False},
        {"answer": '"name 5"', "runs": 1, "is_right": True},
    ]


def test_a_path_with_a_comma_that_exists_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a,b.jsonl").touch()
    assert name_predictions(["m=a,b.jsonl"]) == {"m": "a,b.jsonl"}
    assert name_predictions(["a,b.jsonl"]) == {"a,b": "a,b.jsonl"}


@pytest.fixture
def scored(run: Run, folder: Path) -> Path:
    Files(folder).write("qwen.jsonl", make_run({3: {"total": 0}}))
    assert (
        score(
            run, "--pred", "m=1.jsonl,2.jsonl,3.jsonl", "--pred", "qwen.jsonl", "--out", "r", "--quiet"
        ).code
        == 0
    )
    return folder / "r"


def test_every_report_says_what_the_runs_show(run: Run, scored: Path) -> None:
    flat = re.sub(r"\s+", " ", run("report", "r", "--format", "table", "--verbose").out)
    assert "3 runs of m" in flat
    assert "83.3% of documents are perfect in one run, 75.0% in all 3 (pass^3), 91.7% in at least one" in flat
    assert "2 x ?, 1 x name 5 (right)" in flat
    markdown = run("report", "r", "--format", "markdown").out
    assert "## 3 runs of m" in markdown
    assert "| d5 | name | 1 of 3 | wrong |" in markdown


def test_the_page_has_the_runs(run: Run, scored: Path) -> None:
    assert score(run, "--pred", "m=1.jsonl,2.jsonl", "--report", "html=page.html", "--quiet").code == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert "2 runs of m" in page
    assert "Values with different answers" in page


def test_explain_shows_all_runs_of_a_value(run: Run, scored: Path) -> None:
    text = run("explain", "r", "d5", "name", "--system", "m").out
    assert re.findall(r"^. \w+ +run (\d):", text, re.MULTILINE) == ["1", "2", "3"]
    inputs = ("--spec", "spec.yaml", "--gold", "gold.jsonl", "--pred", "m=1.jsonl,2.jsonl,3.jsonl")
    assert "run 2 of 3: no prediction for this document" in run("explain", *inputs, "d7", "name").out
    assert "in one or more runs: no prediction" in run("explain", "r", "d7", "name", "--system", "m").out


def test_a_diff_lists_each_value_once(run: Run, scored: Path) -> None:
    assert run("diff", "r:m", "r:qwen", "--out", "changes.csv").code == 0
    rows = pl.read_csv("changes.csv")
    assert not rows.select("doc", "path").is_duplicated().any()
    assert sorted(rows.select("doc", "change").rows()) == [("d2", "fixed"), ("d3", "broken"), ("d5", "fixed")]


def test_a_single_run_is_compared_with_the_means_of_a_baseline(run: Run, scored: Path) -> None:
    assert score(run, "--pred", "m=1.jsonl", "--out", "r1", "--quiet").code == 0
    assert score(run, "--pred", "m=1.jsonl,2.jsonl,3.jsonl", "--out", "all", "--quiet").code == 0
    assert run("baseline", "set", "all", "--out", "whole.json").code == 0
    assert json.loads(Path("whole.json").read_text())["systems"][0]["repeats"] == 3
    told = re.sub(r"\s+", " ", run("gate", "r1", "--baseline", "whole.json").out)
    assert "means over 3 repeated runs in the baseline and 1 now" in told
