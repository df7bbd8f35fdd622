"""Several runs in one report: their systems side by side, under names of their own."""

from __future__ import annotations

import re
from typing import Any

from tests.reports.html.unpacked_rows import read_blocks, read_rows

from fieldassay import score
from fieldassay.gates.gate import decide_result
from fieldassay.reports.html.page import render_html_report
from fieldassay.reports.report import report_scored
from fieldassay.reports.reported import Reported, ReportOptions
from fieldassay.scoring.options import ScoreOptions

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


def test_systems_of_different_runs_are_not_said_to_differ() -> None:
    text = page(run("old", model=WRONG), run("new", model=GOLD))
    assert "are not compared with each other here" in text
    assert "better than" not in text.split("<script type")[0]
