"""Several runs in one report: their systems side by side, under names of their own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.reports.html.unpacked_rows import read_blocks, read_rows

from fieldassay import score
from fieldassay.decisions.diff.diff import diff_runs
from fieldassay.decisions.gate import decide_result
from fieldassay.reports.html.page import render_html_report
from fieldassay.reports.report import read_reported, render_report, report_scored
from fieldassay.reports.reported import Reported, ReportOptions
from fieldassay.scoring.inputs.options import ScoreOptions

GOLD = [{"id": str(number), "a": number} for number in range(10)]
WRONG = [{"id": str(number), "a": -number} for number in range(10)]


def run(
    label: str, spec: str = "{fields: {a: number}, gates: [accuracy >= 0.5]}", **predictions: Any
) -> Reported:
    result = score(GOLD, predictions, spec, ScoreOptions(replicates=20))
    made = report_scored(result, None, decide_result(result))
    return Reported(made.result, made.evidence, made.decisions, made.kept, label)


def page(*runs: Reported) -> str:
    return "".join(render_html_report(runs, ReportOptions()))


def test_a_name_of_several_runs_gets_the_run_behind_it() -> None:
    blocks = read_blocks(page(run("old", model=WRONG, other=GOLD), run("new", model=GOLD)))
    assert blocks["core"]["systems"] == ["model (old)", "other", "model (new)"]
    right = {row["system"] for row in read_rows(blocks) if row["outcome"] == "match"}
    assert right == {"model (old)", "other", "model (new)"}
    assert {row["system"] for row in read_rows(blocks) if row["outcome"] == "mismatch"} == {"model (old)"}


def test_each_run_keeps_its_verdict() -> None:
    text = page(run("old", model=WRONG), run("new", model=GOLD))
    verdicts = re.findall(
        r'class="badge tone-(?:good|bad)"><span aria-hidden="true">.</span> (GO|NO-GO) ', text
    )
    assert verdicts[:2] == ["GO", "NO-GO"]


def test_runs_of_different_specs_are_told_apart() -> None:
    other = "{fields: {a: {type: number, tolerance: {absolute: 1}}}}"
    assert "the runs have different specs" in page(run("old", model=GOLD), run("new", spec=other, model=GOLD))
    assert "the runs have different specs" not in page(run("old", model=GOLD), run("new", model=GOLD))


def test_systems_of_results_without_a_folder_are_not_compared() -> None:
    text = page(run("old", model=WRONG), run("new", model=GOLD))
    assert "the systems of these runs are not compared: they are in no folder" in text
    assert "better than" not in text.split("<script type")[0]


LONG = [{"id": str(number), "a": number} for number in range(40)]


def saved(folder: Path, wrong: int, documents: int = 40, *, systems: tuple[str, ...] = ("model",)) -> Path:
    answers = [{**row, "a": -1} if at < wrong else row for at, row in enumerate(LONG[:documents])]
    result = score(LONG[:documents], dict.fromkeys(systems, answers), "fields: {a: number}", ScoreOptions())
    result.save(folder)
    return folder


@pytest.mark.parametrize(
    ("wrong", "places", "said"),
    [
        (3, ["1 to 2", "1 to 2"], "7.5 points ahead of model (old), which may be chance"),
        (20, ["1", "2"], "50.0 points ahead of model (old), beyond chance"),
    ],
    ids=["not shown", "shown"],
)
def test_two_runs_have_the_places_and_the_test_of_their_diff(
    tmp_path: Path, wrong: int, places: list[str], said: str
) -> None:
    folders = saved(tmp_path / "old", wrong), saved(tmp_path / "new", 0)
    text = "".join(render_report(read_reported(folders), "html")).split("<script type")[0]
    [verdict] = [one.verdict for one in diff_runs(*folders).overall if one.metric == "accuracy"]
    assert re.findall(r"<tr><td>([^<]+)</td><th scope=\"row\"><bdi>model", text) == places
    assert said in text
    assert ("no difference could be shown between" in text) == (verdict == "no_difference_shown")


def test_systems_of_several_runs_are_ranked_together(tmp_path: Path) -> None:
    folders = saved(tmp_path / "old", 20, systems=("model", "other")), saved(tmp_path / "new", 0)
    text = "".join(render_report(read_reported(folders), "html")).split("<script type")[0]
    assert re.findall(r"<tr><td>([^<]+)</td><th scope=\"row\">", text) == ["1", "2 to 3", "2 to 3"]


def test_runs_that_cannot_be_compared_say_why_without_their_folders(tmp_path: Path) -> None:
    folders = saved(tmp_path / "old", 3, 30), saved(tmp_path / "new", 0)
    text = "".join(render_report(read_reported(folders), "html")).split("<script type")[0]
    assert "the systems of these runs are not compared: " in text and "not tested" in text
    assert str(tmp_path) not in text
